//! Many multiples of one point, made on a device.

use std::sync::Arc;

use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;

use crate::bases::Bases;
use crate::curve::Curve;
use crate::device::{Device, DeviceMemory};
use crate::error::DeviceError;
use crate::ffi::RawMultiples;
use crate::quotient::ELEMENT;

/// Scalars that are brought to the device at a time.
const CHUNK: usize = 1 << 23;
/// From so many multiples on, additions saved are worth a table of 2^20 entries.
const LARGE: usize = 1 << 19;
const SCALAR_BITS: u32 = 256;

/// For every window of a scalar's digits, the point's multiples by every digit; and room for scalars.
pub struct Multiples<C> {
    table: Bases<C>,
    digit_bits: u32,
    scalars: DeviceMemory,
}

impl<C: Curve> Multiples<C> {
    /// A table that suits about `count` multiples of `point`.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn new(device: &Arc<Device>, point: C::Point, count: usize) -> Result<Self, DeviceError> {
        let digit_bits = if count < LARGE { 8 } else { 16 };
        Self::with_digits(device, point, digit_bits, count.min(CHUNK))
    }

    /// With digits of 1, 2, 4, 8 or 16 bits, and room for so many scalars.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn with_digits(
        device: &Arc<Device>,
        point: C::Point,
        digit_bits: u32,
        room: usize,
    ) -> Result<Self, DeviceError> {
        let shifted = |point: &C::Point| Some((0..digit_bits).fold(*point, |p, _| p.double()));
        let windows = std::iter::successors(Some(point), shifted);
        let windows: Vec<_> = windows.take((SCALAR_BITS / digit_bits) as usize).collect();
        let encoded: Vec<u8> = windows
            .par_iter()
            .flat_map_iter(|point| C::encode(&first_multiples(point, 1 << digit_bits)))
            .collect();
        Ok(Self {
            table: Bases::load(device, "multiples", &encoded, None)?,
            digit_bits,
            scalars: device.allocate(ELEMENT * room.max(1) as u64)?,
        })
    }

    /// Sets base `first + i` to `scalars[i]` times the point.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When there are fewer bases.
    pub fn write(
        &self,
        bases: &Bases<C>,
        first: usize,
        scalars: &[Scalar],
    ) -> Result<(), DeviceError> {
        let room = (self.scalars.bytes() / ELEMENT) as usize;
        let mut first = first;
        for scalars in scalars.chunks(room) {
            self.write_chunk(bases, first, scalars)?;
            first += scalars.len();
        }
        Ok(())
    }

    fn write_chunk(
        &self,
        bases: &Bases<C>,
        first: usize,
        scalars: &[Scalar],
    ) -> Result<(), DeviceError> {
        let count = scalars.len() as u64;
        let point = C::POINT_BYTES as u64;
        let out = bases.region().part(point * first as u64, point * count);
        let plain = self.scalars.region(0, ELEMENT * count);
        plain.upload(scalars)?;
        let device = bases.device();
        // SAFETY: the region holds `count` elements.
        device.call(0, |api, handle, error| unsafe {
            (api.make_plain)(handle, plain.address(), count, error)
        })?;
        let raw = RawMultiples {
            is_g2: u32::from(C::IS_G2),
            digit_bits: self.digit_bits,
            count: count as u32,
            points: out.address(),
            table: self.table.region().address(),
            scalars: plain.address(),
        };
        // SAFETY: `count` points and scalars, and a table of all windows of such digits.
        device.call(0, |api, handle, error| unsafe {
            (api.multiply_fixed)(handle, &raw const raw, error)
        })
    }
}

/// Zero to `count - 1` times a point.
fn first_multiples<P: Group>(point: &P, count: usize) -> Vec<P> {
    let next = |multiple: &P| Some(*multiple + point);
    std::iter::successors(Some(P::identity()), next)
        .take(count)
        .collect()
}
