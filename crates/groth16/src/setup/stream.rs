//! Queries computed block by block while the block before is written.

use std::io::Write;
use std::ops::Range;

use blstrs::{G1Projective, G2Projective, Scalar};
use group::UncompressedEncoding;
use group::prime::PrimeCurve;
use rayon::prelude::*;

use super::SetupError;
use super::fixed_base::FixedBase;
use crate::params::{G1_BYTES, G2_BYTES};
use crate::progress::Progress;

/// Points computed between two writes.
const BLOCK: usize = 1 << 16;
/// Points normalised together.
const CHUNK: usize = 1 << 10;

/// A group whose points go into a parameter file.
pub(super) trait Encode: PrimeCurve<Scalar = Scalar, Affine: UncompressedEncoding> {
    /// Bytes of an uncompressed point.
    const BYTES: usize;
}

impl Encode for G1Projective {
    const BYTES: usize = G1_BYTES;
}

impl Encode for G2Projective {
    const BYTES: usize = G2_BYTES;
}

/// Where the parameters go.
pub(super) struct Stream<'a> {
    out: &'a mut (dyn Write + Send),
}

impl<'a> Stream<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), SetupError> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes a query: its length, then `base` times each scalar. `fill` appends the scalars of a range; none is zero.
    pub(super) fn query<C: Encode>(
        &mut self,
        base: &FixedBase<C>,
        len: usize,
        progress: &dyn Progress,
        fill: &(dyn Fn(Range<usize>, &mut Vec<Scalar>) + Sync),
    ) -> Result<(), SetupError> {
        let count = u32::try_from(len).map_err(|_| SetupError::QueryLength { found: len })?;
        self.bytes(&count.to_be_bytes())?;
        let (mut computed, mut written) = (Vec::new(), Vec::new());
        for start in (0..len).step_by(BLOCK) {
            let range = start..len.min(start + BLOCK);
            let (result, ()) = rayon::join(
                || self.bytes(&written),
                || encode_block(base, range.clone(), fill, &mut computed),
            );
            result?;
            progress.advance(range.len() as u64);
            std::mem::swap(&mut computed, &mut written);
        }
        self.bytes(&written)
    }

    pub(super) fn finish(self) -> Result<(), SetupError> {
        Ok(self.out.flush()?)
    }
}

fn encode_block<C: Encode>(
    base: &FixedBase<C>,
    range: Range<usize>,
    fill: &(dyn Fn(Range<usize>, &mut Vec<Scalar>) + Sync),
    out: &mut Vec<u8>,
) {
    out.resize(range.len() * C::BYTES, 0);
    out.par_chunks_mut(CHUNK * C::BYTES)
        .enumerate()
        .for_each(|(chunk, out)| {
            let start = range.start + chunk * CHUNK;
            let mut scalars = Vec::with_capacity(CHUNK);
            fill(start..start + out.len() / C::BYTES, &mut scalars);
            let points = base.multiply(&scalars);
            for (point, out) in points.iter().zip(out.chunks_exact_mut(C::BYTES)) {
                out.copy_from_slice(point.to_uncompressed().as_ref());
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use group::Group;

    /// Blocks and chunks come out in order, whole and broken ones.
    #[test]
    fn a_query_of_several_blocks_is_in_order() {
        let base = FixedBase::new(G1Projective::generator(), 1 << 12);
        let len = 2 * BLOCK + CHUNK + 5;
        let scalar = |i: usize| Scalar::from(1 + (i % 1000) as u64);
        let mut bytes = Vec::new();
        let mut stream = Stream::new(&mut bytes);
        stream
            .query(&base, len, &NoProgress, &|range, out| {
                out.extend(range.map(scalar))
            })
            .expect("a vector");
        let expected = base.multiply(&(0..1000).map(scalar).collect::<Vec<_>>());
        let (count, points) = bytes.split_at(4);
        assert_eq!(count, (len as u32).to_be_bytes());
        assert_eq!(points.len(), len * G1_BYTES);
        for (i, point) in points.chunks_exact(G1_BYTES).enumerate() {
            assert_eq!(point, expected[i % 1000].to_uncompressed());
        }
    }
}
