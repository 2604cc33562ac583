//! Multi-scalar multiplications over resident bases.

use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use group::Group;

use crate::bases::{Bases, BasesPart};
use crate::curve::Curve;
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::ffi::{RawLayout, RawMsm};
use crate::quotient::ELEMENT;

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

    pub(crate) fn check(&self, scalars: u64, bases: u32) {
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
    pairing.check(scalars.bytes() / ELEMENT, bases.count());
    let (all, terms) = (bases.part(&(0..bases.count())), 0..pairing.count);
    msm_on::<C>(
        bases.device(),
        all,
        scalars,
        pairing,
        terms,
        windows,
        workspace,
    )
}

/// [`msm`] over some of the terms, whose bases all lie in `bases`, in another order of work on the bases' device.
///
/// # Panics
/// When the workspace is smaller than [`msm_workspace`] says for as many terms.
pub(crate) fn msm_on<C: Curve>(
    device: &Device,
    bases: BasesPart<'_>,
    scalars: Region<'_>,
    pairing: &Pairing,
    terms: Range<u32>,
    windows: Option<Windows>,
    workspace: Region<'_>,
) -> Result<C::Point, DeviceError> {
    if terms.is_empty() {
        return Ok(C::point(C::Jacobian::default()));
    }
    let count = terms.len() as u32;
    let (needed, layout) = plan_msm::<C>(device, count, windows)?;
    assert!(
        needed <= workspace.bytes(),
        "{} bytes of workspace, {needed} needed",
        workspace.bytes()
    );
    let here = (bases.region.bytes() / C::POINT_BYTES as u64) as u32;
    let list = |list: &Option<IndexList>| {
        list.as_ref().map_or(ptr::null(), |l| {
            let region = l
                .memory
                .region(4 * u64::from(terms.start), 4 * u64::from(count));
            region.address().cast_const().cast()
        })
    };
    // Lists name bases by their numbers in the query, so the address is that of number 0. Without a list, term i's base is
    // number i.
    let first_named = if pairing.base_of.is_some() {
        0
    } else {
        assert!(
            terms.start >= bases.first && terms.end <= bases.first + here,
            "{terms:?} of {here} bases from {} on",
            bases.first
        );
        terms.start
    };
    let back = (bases.first as usize).wrapping_sub(first_named as usize);
    let first_scalar = match pairing.scalar_of {
        Some(_) => 0,
        None => ELEMENT * u64::from(terms.start),
    };
    let scalars = scalars.part(first_scalar, scalars.bytes() - first_scalar);
    let address = bases.region.address().cast::<u8>();
    let raw = RawMsm {
        bases_count: bases.first + here - first_named,
        bases: address
            .wrapping_sub(back.wrapping_mul(C::POINT_BYTES))
            .cast(),
        scalars: scalars.address(),
        scalar_of: list(&pairing.scalar_of),
        base_of: list(&pairing.base_of),
        ..raw_msm::<C>(count, windows)
    };
    let mut points = vec![C::Jacobian::default(); 3 * layout.tiles as usize];
    // SAFETY: the regions are live and hold what the terms name; there is room for three points of the curve's size a tile.
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
