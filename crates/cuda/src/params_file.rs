//! Bases in the host's memory as a standard parameter file.

use std::fs::File;
use std::io;
use std::sync::Arc;

use blst::{blst_bendian_from_fp, blst_fp};
use cuzk_groth16::VerifyingKey;
use memmap2::{MmapMut, MmapOptions};
use rayon::prelude::*;

use crate::curve::Curve;
use crate::host_bases::HostBases;
use crate::stored::HostQueries;

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

/// A query's number of points and the points; those in bit-reversed order without the last, which is at infinity.
fn encode<C: Curve>(bases: Arc<HostBases<C>>, reversed_bits: Option<u32>, out: &mut [u8]) {
    let (count, points) = out.split_at_mut(4);
    let number = points.len() / C::POINT_BYTES;
    count.copy_from_slice(&(number as u32).to_be_bytes());
    points
        .par_chunks_mut(CHUNK * C::POINT_BYTES)
        .enumerate()
        .for_each(|(chunk, out)| {
            for (i, out) in out.chunks_exact_mut(C::POINT_BYTES).enumerate() {
                let point = (chunk * CHUNK + i) as u32;
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
