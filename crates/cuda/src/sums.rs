//! Sums over resident bases: multi-scalar multiplications, and sums of the bases of ones.

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use group::Group;

use crate::curve::Curve;
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::ffi::{RawLayout, RawMsm, RawOnes};
use crate::quotient::ELEMENT;

/// Points on a device, affine.
pub struct Bases<C> {
    memory: DeviceMemory,
    count: u32,
    curve: PhantomData<C>,
}

/// Encoded bytes that are decoded at a time.
const CHUNK_BYTES: usize = 64 << 20;

impl<C: Curve> Bases<C> {
    /// From a query of a parameter file: uncompressed points, of which each has to lie on the curve. With `reversed_bits`
    /// the points are put in bit-reversed order among `2^reversed_bits`, and points that are missing are at infinity.
    ///
    /// # Errors
    /// When memory runs out, the device fails, or a point is off its curve.
    pub fn load(
        device: &Arc<Device>,
        query: &'static str,
        encoded: &[u8],
        reversed_bits: Option<u32>,
    ) -> Result<Self, DeviceError> {
        let points = encoded.len() / C::POINT_BYTES;
        let places = reversed_bits.map_or(points, |bits| 1 << bits);
        assert!(points <= places, "{points} points for {places} places");
        let count = u32::try_from(places)
            .map_err(|_| DeviceError::Unsupported(format!("{places} bases")))?;
        let memory = device.allocate((places * C::POINT_BYTES) as u64)?;
        if points < places {
            memory.all().fill(0)?;
        }
        let chunk_points = CHUNK_BYTES / C::POINT_BYTES;
        let staging = device.allocate((chunk_points.min(points) * C::POINT_BYTES) as u64)?;
        for (i, chunk) in encoded.chunks(chunk_points * C::POINT_BYTES).enumerate() {
            staging.all().upload(chunk)?;
            let (first, here) = (
                (i * chunk_points) as u32,
                (chunk.len() / C::POINT_BYTES) as u32,
            );
            // SAFETY: the chunk's points lie in `staging`, and their places in `memory`, which has `places`.
            device.call(0, |api, handle, error| unsafe {
                let (to, from) = (memory.all().address(), staging.all().address());
                let bits = reversed_bits.unwrap_or(0);
                (api.decode_points)(
                    handle,
                    to,
                    from,
                    first,
                    here,
                    u32::from(C::IS_G2),
                    bits,
                    error,
                )
            })?;
        }
        let bases = Self {
            memory,
            count,
            curve: PhantomData,
        };
        match bases.first_off_curve()? {
            index if index < count => Err(DeviceError::OffCurve { query, index }),
            _ => Ok(bases),
        }
    }

    /// Many bases from few, for checks and timings: point `i` is seed `i % seeds` plus shift `k` for every bit `k` of
    /// `i / seeds`. Seeds, a power of two of them, and shifts are uncompressed points.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    ///
    /// # Panics
    /// When there are too few shifts.
    pub fn synthetic(
        device: &Arc<Device>,
        seeds: &[u8],
        shifts: &[u8],
        count: u32,
    ) -> Result<Self, DeviceError> {
        let seeds = Self::load(device, "seeds", seeds, None)?;
        let shifts = Self::load(device, "shifts", shifts, None)?;
        let (have, point) = (seeds.count.min(count), C::POINT_BYTES as u64);
        assert!(seeds.count.is_power_of_two(), "{} seeds", seeds.count);
        assert!(
            u64::from(count) <= u64::from(have) << shifts.count,
            "{} shifts for {count} points",
            shifts.count
        );
        let memory = device.allocate(point * u64::from(count + shifts.count))?;
        memory
            .all()
            .copy_from(seeds.region().part(0, point * u64::from(have)))?;
        memory
            .region(point * u64::from(count), shifts.bytes())
            .copy_from(shifts.region())?;
        // SAFETY: the memory has `count` points and the shifts.
        device.call(0, |api, handle, error| unsafe {
            (api.extend_points)(
                handle,
                memory.all().address(),
                have,
                count,
                u32::from(C::IS_G2),
                error,
            )
        })?;
        Ok(Self {
            memory,
            count,
            curve: PhantomData,
        })
    }

    /// Number of points.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// The points, each coordinate in Montgomery form.
    pub fn region(&self) -> Region<'_> {
        self.memory.all()
    }

    fn device(&self) -> &Arc<Device> {
        self.region().device()
    }

    fn first_off_curve(&self) -> Result<u32, DeviceError> {
        let mut first = 0;
        // SAFETY: the memory holds `count` points.
        self.device().call(0, |api, device, error| unsafe {
            let points = self.region().address();
            (api.first_off_curve)(
                device,
                points,
                self.count,
                u32::from(C::IS_G2),
                &raw mut first,
                error,
            )
        })?;
        Ok(first)
    }
}

/// Numbers on a device, all below a bound.
pub struct IndexList {
    memory: DeviceMemory,
    bound: u32,
}

impl IndexList {
    /// A copy of `indices`.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn new(device: &Arc<Device>, indices: &[u32]) -> Result<Self, DeviceError> {
        let bound = indices.iter().max().map_or(0, |most| most + 1);
        Ok(Self {
            memory: device.allocate_copy(indices)?,
            bound,
        })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        (self.memory.bytes() / 4) as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Which scalars meet which bases: term `i` is scalar `scalar_of[i]` times base `base_of[i]`, or number `i` where there is
/// no list.
#[derive(Default)]
pub struct Pairing {
    /// Number of terms.
    pub count: u32,
    /// The terms' scalars.
    pub scalar_of: Option<IndexList>,
    /// The terms' bases.
    pub base_of: Option<IndexList>,
}

impl Pairing {
    /// Scalar `i` with base `i`.
    pub fn straight(count: u32) -> Self {
        Self {
            count,
            ..Self::default()
        }
    }

    fn check(&self, scalars: u64, bases: u32) {
        let count = u64::from(self.count);
        let lists = [
            (&self.scalar_of, scalars),
            (&self.base_of, u64::from(bases)),
        ];
        for (list, limit) in lists {
            let (len, bound) = list
                .as_ref()
                .map_or((count, count), |l| (l.len() as u64, u64::from(l.bound)));
            assert!(
                len == count && bound <= limit,
                "{count} terms, {len} listed below {bound}, of {limit}"
            );
        }
    }
}

/// How the scalars' bits are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Windows of 256 / `count` bits: 10 to 51.
    pub count: u32,
    /// Windows that are sorted and added together.
    pub per_batch: u32,
}

fn raw_msm<C: Curve>(count: u32, windows: Option<Windows>) -> RawMsm {
    RawMsm {
        is_g2: u32::from(C::IS_G2),
        windows: windows.map_or(0, |w| w.count),
        windows_per_batch: windows.map_or(0, |w| w.per_batch),
        bases_count: 0,
        count,
        bases: ptr::null(),
        scalars: ptr::null(),
        scalar_of: ptr::null(),
        base_of: ptr::null(),
    }
}

/// Bytes of workspace that a multiplication of `count` terms needs.
///
/// # Errors
/// When the windows are impossible.
pub fn msm_workspace<C: Curve>(
    device: &Device,
    count: u32,
    windows: Option<Windows>,
) -> Result<u64, DeviceError> {
    Ok(plan_msm::<C>(device, count, windows)?.0)
}

/// Bytes of workspace, and how the result is cut.
fn plan_msm<C: Curve>(
    device: &Device,
    count: u32,
    windows: Option<Windows>,
) -> Result<(u64, RawLayout), DeviceError> {
    let raw = raw_msm::<C>(count, windows);
    let mut layout = RawLayout {
        windows: 0,
        side_bits: 0,
        tiles: 0,
        bits: [0; 64],
        tiles_of_window: [0; 64],
    };
    let mut bytes = 0;
    // SAFETY: only the counts are looked at; the other pointers are to live values.
    device.call(0, |api, handle, error| unsafe {
        (api.msm_bytes)(
            handle,
            &raw const raw,
            &raw mut bytes,
            &raw mut layout,
            error,
        )
    })?;
    Ok((bytes, layout))
}

/// From a multiplication's tiles to its sum, highest window first: each step doubles by as many bits as the next points are
/// apart, 2^bits to the next window's tiles, 2^side_bits to its rows, as many to its columns.
fn combine<C: Curve>(layout: &RawLayout, points: &[C::Jacobian]) -> C::Point {
    let shifted = |mut point: C::Point, bits: u32| {
        for _ in 0..bits {
            point = point.double();
        }
        point
    };
    let mut tiles = points
        .chunks_exact(3)
        .map(|tile| [tile[0], tile[1], tile[2]].map(C::point))
        .rev();
    let mut sum = C::Point::identity();
    for w in (0..layout.windows as usize).rev() {
        // Tile t's buckets are worth t·4^side_bits more: each tile's sum counts in every tile that is left.
        let (mut above, mut whole_tiles) = (C::Point::identity(), C::Point::identity());
        let (mut rows, mut columns) = (C::Point::identity(), C::Point::identity());
        for t in (0..layout.tiles_of_window[w]).rev() {
            let [row, column, all] = tiles.next().expect("three points a tile");
            rows += row;
            columns += column + all;
            if t > 0 {
                above += all;
                whole_tiles += above;
            }
        }
        sum = shifted(sum, layout.bits[w] - 2 * layout.side_bits) + whole_tiles;
        sum = shifted(sum, layout.side_bits) + rows;
        sum = shifted(sum, layout.side_bits) + columns;
    }
    sum
}

/// `Σ scalar·base` over the terms. `scalars`: 32 bytes each, little-endian, below r, not in Montgomery form.
///
/// # Errors
/// When the device fails.
///
/// # Panics
/// When the workspace is smaller than [`msm_workspace`] says, or the pairing names what is not there.
pub fn msm<C: Curve>(
    bases: &Bases<C>,
    scalars: Region<'_>,
    pairing: &Pairing,
    windows: Option<Windows>,
    workspace: Region<'_>,
) -> Result<C::Point, DeviceError> {
    msm_on(bases.device(), bases, scalars, pairing, windows, workspace)
}

/// [`msm`] in another order of work on the bases' device.
pub(crate) fn msm_on<C: Curve>(
    device: &Device,
    bases: &Bases<C>,
    scalars: Region<'_>,
    pairing: &Pairing,
    windows: Option<Windows>,
    workspace: Region<'_>,
) -> Result<C::Point, DeviceError> {
    if pairing.count == 0 {
        return Ok(C::point(C::Jacobian::default()));
    }
    pairing.check(scalars.bytes() / ELEMENT, bases.count);
    let (needed, layout) = plan_msm::<C>(device, pairing.count, windows)?;
    assert!(
        needed <= workspace.bytes(),
        "{} bytes of workspace, {needed} needed",
        workspace.bytes()
    );
    let list = |list: &Option<IndexList>| {
        list.as_ref().map_or(ptr::null(), |l| {
            l.memory.all().address().cast_const().cast()
        })
    };
    let raw = RawMsm {
        bases_count: bases.count,
        bases: bases.region().address(),
        scalars: scalars.address(),
        scalar_of: list(&pairing.scalar_of),
        base_of: list(&pairing.base_of),
        ..raw_msm::<C>(pairing.count, windows)
    };
    let mut points = vec![C::Jacobian::default(); 3 * layout.tiles as usize];
    // SAFETY: the regions are live and hold what the counts say; there is room for three points of the curve's size a tile.
    device.call(0, |api, handle, error| unsafe {
        (api.msm_run)(
            handle,
            &raw const raw,
            workspace.address(),
            points.as_mut_ptr().cast(),
            error,
        )
    })?;
    Ok(combine::<C>(&layout, &points))
}

/// Which variables of a circuit have a base: variable `i` if bit `i % 64` of word `i / 64` is set. Their bases lie in their
/// order, from number `first_base` on.
pub struct Density {
    words: DeviceMemory,
    /// Dense variables before each word.
    ranks: DeviceMemory,
    num_words: u32,
    first_base: u32,
    count: u32,
}

impl Density {
    /// A copy of `words`.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn new(device: &Arc<Device>, words: &[u64], first_base: u32) -> Result<Self, DeviceError> {
        let mut count = 0;
        let ranks: Vec<u32> = words
            .iter()
            .map(|word| {
                let before = count;
                count += word.count_ones();
                before
            })
            .collect();
        Ok(Self {
            words: device.allocate_copy(words)?,
            ranks: device.allocate_copy(&ranks)?,
            num_words: words.len() as u32,
            first_base,
            count,
        })
    }

    /// Number of bases in front of the variables' and of them.
    pub fn bases(&self) -> u32 {
        self.first_base + self.count
    }

    fn raw<C: Curve>(&self) -> RawOnes {
        RawOnes {
            is_g2: u32::from(C::IS_G2),
            bases_count: self.bases(),
            words: self.num_words,
            first_base: self.first_base,
            bases: ptr::null(),
            bits: ptr::null(),
            density: self.words.all().address().cast(),
            ranks: self.ranks.all().address().cast(),
        }
    }

    /// Bytes of workspace that a sum over ones needs.
    ///
    /// # Errors
    /// When the device fails.
    pub fn workspace<C: Curve>(&self) -> Result<u64, DeviceError> {
        let raw = self.raw::<C>();
        let mut bytes = 0;
        let device = self.words.all().device();
        device.call(0, |api, device, error| {
            // SAFETY: only the counts are looked at.
            unsafe { (api.ones_bytes)(device, &raw const raw, &raw mut bytes, error) }
        })?;
        Ok(bytes)
    }

    /// The sum of the bases of dense variables whose bit is one. `bits`: of all variables, as words of 64.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When there are more or fewer bases than dense variables, fewer bits than variables, or the workspace is smaller
    /// than [`Density::workspace`] says.
    pub fn sum_ones<C: Curve>(
        &self,
        bases: &Bases<C>,
        bits: Region<'_>,
        workspace: Region<'_>,
    ) -> Result<C::Point, DeviceError> {
        self.sum_ones_on(bases.device(), bases, bits, workspace)
    }

    /// [`Density::sum_ones`] in another order of work on the bases' device.
    pub(crate) fn sum_ones_on<C: Curve>(
        &self,
        device: &Device,
        bases: &Bases<C>,
        bits: Region<'_>,
        workspace: Region<'_>,
    ) -> Result<C::Point, DeviceError> {
        assert_eq!(bases.count, self.bases(), "a base for every dense variable");
        assert!(
            bits.bytes() >= 8 * u64::from(self.num_words),
            "a bit for every variable"
        );
        let needed = self.workspace::<C>()?;
        assert!(
            needed <= workspace.bytes(),
            "{} bytes of workspace, {needed} needed",
            workspace.bytes()
        );
        let raw = RawOnes {
            bases: bases.region().address(),
            bits: bits.address().cast(),
            ..self.raw::<C>()
        };
        let mut sum = C::Jacobian::default();
        // SAFETY: the regions are live and hold what the counts say; the sum has the curve's size.
        device.call(0, |api, handle, error| unsafe {
            (api.ones_run)(
                handle,
                &raw const raw,
                workspace.address(),
                (&raw mut sum).cast(),
                error,
            )
        })?;
        Ok(C::point(sum))
    }
}
