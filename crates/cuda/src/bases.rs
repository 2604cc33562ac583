//! Points that stay on a device.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::curve::Curve;
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;

/// Points on a device, affine.
pub struct Bases<C> {
    memory: DeviceMemory,
    count: u32,
    curve: PhantomData<C>,
}

/// Consecutive points of a query, wherever they came from.
#[derive(Clone, Copy)]
pub(crate) struct BasesPart<'a> {
    /// The points.
    pub(crate) region: Region<'a>,
    /// The first's number in the query.
    pub(crate) first: u32,
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

    /// Room for `count` points, all at infinity.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn at_infinity(device: &Arc<Device>, count: usize) -> Result<Self, DeviceError> {
        let memory = device.allocate((count * C::POINT_BYTES) as u64)?;
        memory.all().fill(0)?;
        Ok(Self {
            memory,
            count: u32::try_from(count)
                .map_err(|_| DeviceError::Unsupported(format!("{count} bases")))?,
            curve: PhantomData,
        })
    }

    /// Room for `count` points, which are nothing yet.
    pub(crate) fn uninitialized(device: &Arc<Device>, count: u32) -> Result<Self, DeviceError> {
        Ok(Self {
            memory: device.allocate(u64::from(count) * C::POINT_BYTES as u64)?,
            count,
            curve: PhantomData,
        })
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

    /// Points of a range, which panics where there are none.
    pub(crate) fn part(&self, points: &std::ops::Range<u32>) -> BasesPart<'_> {
        let point = C::POINT_BYTES as u64;
        let (first, count) = (u64::from(points.start), points.len() as u64);
        BasesPart {
            region: self.region().part(point * first, point * count),
            first: points.start,
        }
    }

    /// Their device.
    pub fn device(&self) -> &Arc<Device> {
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
