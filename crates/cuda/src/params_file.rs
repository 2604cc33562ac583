//! Bases as a standard parameter file.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use blst::{blst_bendian_from_fp, blst_fp};
use cuzk_groth16::setup::SetupError;
use cuzk_groth16::{Progress, VerifyingKey};
use memmap2::{MmapMut, MmapOptions};
use rayon::prelude::*;

use crate::bases::Bases;
use crate::curve::Curve;
use crate::host_bases::HostBases;
use crate::setup::{DeviceParameters, DeviceSetupError};
use crate::stored::{HostQueries, QueryBases};

/// Points that a task encodes.
const CHUNK: usize = 1 << 14;
const COMPONENT_BYTES: usize = 48;

impl HostQueries {
    /// Writes bellperson's `.params`, on all cores, and lets go of each query's memory when it is written, unless others
    /// hold it. Returns the file's size.
    ///
    /// # Errors
    /// When the file cannot be made so large or mapped.
    pub fn write_params(self, vk: &VerifyingKey, file: &File) -> io::Result<u64> {
        let vk = vk.to_bytes();
        let points = |bytes: usize, count: u32| 4 + (bytes * count as usize) as u64;
        let lengths = [
            points(96, self.h.count() - 1),
            points(96, self.l.count()),
            points(96, self.a.count()),
            points(96, self.b_g1.count()),
            points(192, self.b_g2.count()),
        ];
        let total = vk.len() as u64 + lengths.iter().sum::<u64>();
        file.set_len(total)?;
        // SAFETY: the caller's file, which nobody else writes or cuts meanwhile.
        let mut map: MmapMut = unsafe { MmapOptions::new().map_mut(file)? };
        let (front, mut rest) = map.split_at_mut(vk.len());
        front.copy_from_slice(&vk);
        let mut parts = lengths.map(|length| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(length as usize);
            rest = behind;
            part
        });
        let log_domain = self.h.count().trailing_zeros();
        let [h, l, a, b_g1, b_g2] = &mut parts;
        encode(self.h, Some(log_domain), h);
        encode(self.l, None, l);
        encode(self.a, None, a);
        encode(self.b_g1, None, b_g1);
        encode(self.b_g2, None, b_g2);
        Ok(total)
    }
}

/// Points that are encoded while those before are written.
const BLOCK: usize = 1 << 20;

impl DeviceParameters {
    /// Streams bellperson's `.params` to `out` and returns the verifying key. A query at a time goes through the host's
    /// memory, and leaves the device: H, the largest, is 12.9 GB at 32 GiB.
    ///
    /// # Errors
    /// When the device fails or `out` takes no more.
    pub fn write_params(
        self,
        out: &mut (dyn Write + Send),
        progress: &dyn Progress,
    ) -> Result<VerifyingKey, DeviceSetupError> {
        let Self { vk, bases } = self;
        let QueryBases {
            h,
            l,
            a,
            b_g1,
            b_g2,
        } = bases;
        out.write_all(&vk.to_bytes()).map_err(SetupError::Write)?;
        let log_domain = h.count().trailing_zeros();
        let mut stream = Stream { out, progress };
        stream.query("writing query H", h, Some(log_domain))?;
        stream.query("writing query L", l, None)?;
        stream.query("writing query A", a, None)?;
        stream.query("writing query B in G1", b_g1, None)?;
        stream.query("writing query B in G2", b_g2, None)?;
        out.flush().map_err(SetupError::Write)?;
        Ok(vk)
    }
}

/// Where queries go.
struct Stream<'a> {
    out: &'a mut (dyn Write + Send),
    progress: &'a dyn Progress,
}

impl Stream<'_> {
    fn query<C: Curve>(
        &mut self,
        phase: &str,
        bases: Bases<C>,
        reversed_bits: Option<u32>,
    ) -> Result<(), DeviceSetupError> {
        let points = bases.count() - u32::from(reversed_bits.is_some());
        self.progress.begin(phase, points.into());
        let on_host = HostBases::copy_of(&bases)?;
        drop(bases);
        self.points(&on_host, reversed_bits, points as usize, BLOCK)
            .map_err(SetupError::Write)?;
        Ok(())
    }

    /// A query's number of points and the points, `block` of them at a time.
    fn points<C: Curve>(
        &mut self,
        bases: &HostBases<C>,
        reversed_bits: Option<u32>,
        points: usize,
        block: usize,
    ) -> io::Result<()> {
        self.out.write_all(&(points as u32).to_be_bytes())?;
        let (mut encoded, mut written) = (Vec::new(), Vec::new());
        for first in (0..points).step_by(block) {
            let count = block.min(points - first);
            encoded.resize(count * C::POINT_BYTES, 0);
            let (result, ()) = rayon::join(
                || self.out.write_all(&written),
                || encode_points(bases, reversed_bits, first, &mut encoded),
            );
            result?;
            self.progress.advance(count as u64);
            std::mem::swap(&mut encoded, &mut written);
        }
        self.out.write_all(&written)
    }
}

/// A query's number of points and the points; those in bit-reversed order without the last, which is at infinity.
fn encode<C: Curve>(bases: Arc<HostBases<C>>, reversed_bits: Option<u32>, out: &mut [u8]) {
    let (count, points) = out.split_at_mut(4);
    let number = points.len() / C::POINT_BYTES;
    count.copy_from_slice(&(number as u32).to_be_bytes());
    encode_points(&bases, reversed_bits, 0, points);
}

/// The points from number `first` on, on all cores.
fn encode_points<C: Curve>(
    bases: &HostBases<C>,
    reversed_bits: Option<u32>,
    first: usize,
    out: &mut [u8],
) {
    out.par_chunks_mut(CHUNK * C::POINT_BYTES)
        .enumerate()
        .for_each(|(chunk, out)| {
            for (i, out) in out.chunks_exact_mut(C::POINT_BYTES).enumerate() {
                let point = (first + chunk * CHUNK + i) as u32;
                let place = match reversed_bits {
                    None | Some(0) => point,
                    Some(bits) => point.reverse_bits() >> (u32::BITS - bits),
                };
                encode_point::<C>(bases.part(&(place..place + 1)), out);
            }
        });
}

/// From coordinates in Montgomery form, an Fp2 coordinate's first component first, to big-endian ones, its second first.
fn encode_point<C: Curve>(point: &[u8], out: &mut [u8]) {
    for (i, component) in point.chunks_exact(COMPONENT_BYTES).enumerate() {
        let mut fp = blst_fp::default();
        let limbs = component.as_chunks().0;
        for (limb, bytes) in fp.l.iter_mut().zip(limbs) {
            *limb = u64::from_le_bytes(*bytes);
        }
        let place = COMPONENT_BYTES * if C::IS_G2 { i ^ 1 } else { i };
        let to = &mut out[place..place + COMPONENT_BYTES];
        // SAFETY: 48 bytes are written to 48 bytes.
        unsafe { blst_bendian_from_fp(to.as_mut_ptr(), &raw const fp) }
    }
}

#[cfg(test)]
mod tests {
    use cuzk_groth16::NoProgress;
    use group::Group;

    use super::*;
    use crate::curve::{G1, G2};
    use crate::device::{Device, Platform};

    /// What is read from a file, `block` points at a time, is the file's.
    fn check<C: Curve>(points: usize, reversed_bits: Option<u32>, block: usize) {
        let device = Device::open(Platform::Emulated, 0).expect("feature emulate");
        let generator = C::Point::generator();
        let multiples = std::iter::successors(Some(generator), |point| Some(*point + generator));
        let file = C::encode(&multiples.take(points).collect::<Vec<_>>());
        let bases = HostBases::<C>::load(&device, "q", &file, reversed_bits).expect("bases");
        let mut out = Vec::new();
        let mut stream = Stream {
            out: &mut out,
            progress: &NoProgress,
        };
        let written = stream.points(&bases, reversed_bits, points, block);
        written.expect("a vector takes all that is written");
        let (count, found) = out.split_at(4);
        assert_eq!(count, (points as u32).to_be_bytes());
        assert!(found == file, "{points} points in blocks of {block}");
    }

    #[test]
    fn blocks_come_in_order() {
        for block in [1, 5, 8, 31, 40] {
            check::<G1>(31, Some(5), block);
            check::<G1>(24, None, block);
            check::<G2>(13, None, block);
        }
    }
}
