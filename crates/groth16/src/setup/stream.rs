//! Queries computed block by block while the block before is written.

use std::io::Write;
use std::ops::Range;

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::SetupError;
use crate::msm::Group;
use crate::msm::fixed_base::Table;
use crate::progress::Progress;

/// Points computed between two writes.
const BLOCK: usize = 1 << 16;
/// Scalars and points that a task handles.
const CHUNK: usize = 1 << 10;

/// Writes the scalars of a range.
type Fill<'a> = &'a (dyn Fn(Range<usize>, &mut [Scalar]) + Sync);

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

    /// Writes a query: its length, then the base times each scalar. No scalar may be zero.
    pub(super) fn query<G: Group>(
        &mut self,
        base: &Table<G>,
        len: usize,
        progress: &dyn Progress,
        fill: Fill<'_>,
    ) -> Result<(), SetupError> {
        let count = u32::try_from(len).map_err(|_| SetupError::QueryLength { found: len })?;
        self.bytes(&count.to_be_bytes())?;
        let (mut computed, mut written) = (Vec::new(), Vec::new());
        let mut scalars = Vec::new();
        for start in (0..len).step_by(BLOCK) {
            let range = start..len.min(start + BLOCK);
            let (result, ()) = rayon::join(
                || self.bytes(&written),
                || encode_block(base, range.clone(), fill, &mut scalars, &mut computed),
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

fn encode_block<G: Group>(
    base: &Table<G>,
    range: Range<usize>,
    fill: Fill<'_>,
    scalars: &mut Vec<Scalar>,
    out: &mut Vec<u8>,
) {
    scalars.resize(range.len(), Scalar::ZERO);
    let chunks = scalars.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(chunk, scalars)| {
        let start = range.start + chunk * CHUNK;
        fill(start..start + scalars.len(), scalars);
    });
    let points = base.multiply(scalars);
    let bytes = size_of::<G::Encoding>();
    out.resize(points.len() * bytes, 0);
    let chunks = out.par_chunks_mut(CHUNK * bytes);
    chunks
        .zip(points.par_chunks(CHUNK))
        .for_each(|(out, points)| {
            for (out, point) in out.chunks_exact_mut(bytes).zip(points) {
                out.copy_from_slice(G::encode(point).as_ref());
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Isa;
    use crate::msm::G1;
    use crate::params::G1_BYTES;
    use crate::progress::NoProgress;
    use blstrs::G1Affine;
    use group::prime::PrimeCurveAffine;

    /// Blocks and chunks come out in order, whole and broken ones.
    #[test]
    fn a_query_of_several_blocks_is_in_order() {
        let base = Table::<G1>::new(Isa::detect(), &G1Affine::generator(), 1 << 17);
        let len = 2 * BLOCK + CHUNK + 5;
        let scalar = |i: usize| Scalar::from(1 + (i % 1000) as u64);
        let mut bytes = Vec::new();
        let mut stream = Stream::new(&mut bytes);
        let fill = |range: Range<usize>, out: &mut [Scalar]| {
            range.zip(out).for_each(|(i, out)| *out = scalar(i));
        };
        let written = stream.query(&base, len, &NoProgress, &fill);
        written.expect("a vector takes all that is written");
        let mut multiple = blstrs::G1Projective::from(G1Affine::generator());
        let expected: Vec<_> = (0..1000)
            .map(|_| {
                let encoding = G1Affine::from(multiple).to_uncompressed();
                multiple += G1Affine::generator();
                encoding
            })
            .collect();
        let (count, points) = bytes.split_at(4);
        assert_eq!(count, (len as u32).to_be_bytes());
        assert_eq!(points.len(), len * G1_BYTES);
        for (i, point) in points.chunks_exact(G1_BYTES).enumerate() {
            assert_eq!(point, expected[i % 1000]);
        }
    }
}
