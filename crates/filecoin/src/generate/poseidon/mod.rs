//! What neptune's legacy Poseidon circuit allocates for one hash, in order.
//!
//! In a full round each lane allocates its S-box input (only if that is a linear combination, so not in the first
//! round), its square, its fourth power, and its fifth power plus the next round key. A partial round allocates the
//! same four for lane 0 only. The domain tag is a constant and allocates nothing in the first round. Everything
//! between S-boxes is a linear combination without a variable of its own, so it may be computed in any form that
//! gives the same S-box inputs.
//!
//! Rounds, round keys pushed through the linear layer, and the sparse form of the partial rounds: Grassi et al.,
//! "Poseidon" (2019/458), appendix B, as neptune 11 prepares them.

mod field;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod portable;

pub(crate) use field::element;

use super::Isa;
use blstrs::Scalar;
use ff::Field;
use neptune::poseidon::{Arity, PoseidonConstants};

/// Widest state: arity 11 and the domain tag.
const MAX_WIDTH: usize = 12;

/// Poseidon of one arity and domain tag.
pub(super) struct Poseidon {
    width: usize,
    half_full_rounds: usize,
    partial_rounds: usize,
    /// Lane 0 after its first S-box: a constant.
    tag_power: Scalar,
    /// Round keys in the order of use, `width` before the first S-boxes.
    keys: Vec<Scalar>,
    /// Row j holds the coefficients of output lane j.
    mds: Vec<Scalar>,
    /// Matrix of the last full round before the partial ones.
    pre_sparse: Vec<Scalar>,
    blocks: Vec<Block<Scalar>>,
    #[cfg(target_arch = "x86_64")]
    lanes: Option<[ifma::Constants; 2]>,
}

impl Poseidon {
    pub(super) fn new<A: Arity<Scalar>>(constants: &PoseidonConstants<Scalar, A>) -> Poseidon {
        let width = constants.width();
        let rows = |m: &Vec<Vec<Scalar>>| {
            (0..width * width)
                .map(|k| m[k % width][k / width])
                .collect()
        };
        let keys = constants.compressed_round_constants.clone();
        let sparse = constants.sparse_matrixes.iter();
        let sparse: Vec<_> = sparse.map(|s| (&s.w_hat[..], &s.v_rest[..])).collect();
        let tag = constants.domain_tag + keys[0];
        let mut poseidon = Poseidon {
            width,
            half_full_rounds: constants.half_full_rounds,
            partial_rounds: constants.partial_rounds,
            tag_power: tag.square().square() * tag + keys[width],
            keys,
            mds: rows(&constants.mds_matrices.m),
            pre_sparse: rows(&constants.pre_sparse_matrix),
            blocks: sparse.chunks(BLOCK).map(Block::new).collect(),
            #[cfg(target_arch = "x86_64")]
            lanes: None,
        };
        assert_eq!(
            poseidon.keys.len(),
            2 * poseidon.half_full_rounds * width + poseidon.partial_rounds
        );
        #[cfg(target_arch = "x86_64")]
        if Isa::Avx512.is_available() {
            let forms = [ifma::Form::Stored, ifma::Form::DigestOnly];
            poseidon.lanes = Some(forms.map(|form| ifma::Constants::new(&poseidon, form)));
        }
        poseidon
    }

    /// Variables allocated by one hash; the last one is the digest.
    pub(super) const fn slots(&self) -> usize {
        slots(self.width - 1, self.half_full_rounds, self.partial_rounds)
    }

    /// One hash in portable code. `out` takes the allocated values.
    pub(super) fn hash(&self, preimage: &[Scalar], out: &mut [Scalar]) -> Scalar {
        assert_eq!((preimage.len() + 1, out.len()), (self.width, self.slots()));
        match self.width {
            3 => portable::hash::<3>(self, preimage, out),
            9 => portable::hash::<9>(self, preimage, out),
            12 => portable::hash::<12>(self, preimage, out),
            other => unreachable!("no circuit hashes with width {other}"),
        }
        out[out.len() - 1]
    }

    /// Independent hashes: `outs[k]` takes the allocated values of `preimages[k]`.
    pub(super) fn hash_many<const ARITY: usize>(
        &self,
        isa: Isa,
        preimages: &[[Scalar; ARITY]],
        outs: &mut [&mut [Scalar]],
    ) {
        assert_eq!((ARITY + 1, preimages.len()), (self.width, outs.len()));
        #[cfg(target_arch = "x86_64")]
        if let (Isa::Avx512, Some([stored, _])) = (isa, &self.lanes) {
            return stored.hash_many(preimages, outs);
        }
        let _ = isa;
        for (preimage, out) in preimages.iter().zip(outs) {
            self.hash(preimage, out);
        }
    }

    /// The digests of independent hashes.
    pub(super) fn digest_many<const ARITY: usize>(
        &self,
        isa: Isa,
        preimages: &[[Scalar; ARITY]],
        digests: &mut [Scalar],
    ) {
        assert_eq!((ARITY + 1, preimages.len()), (self.width, digests.len()));
        #[cfg(target_arch = "x86_64")]
        if let (Isa::Avx512, Some([_, digest_only])) = (isa, &self.lanes) {
            return digest_only.digest_many(preimages, digests);
        }
        let _ = isa;
        let mut values = vec![Scalar::default(); self.slots()];
        for (preimage, digest) in preimages.iter().zip(digests) {
            *digest = self.hash(preimage, &mut values);
        }
    }
}

/// Partial rounds taken together. Lanes 1.. change only by multiples of the S-box outputs y of lane 0, so within a block
/// they stay as they were and their share of lane 0 goes into coefficients of the earlier y: one reduction a round for
/// lane 0, and one a block for each other lane.
const BLOCK: usize = 8;

/// The linear layers of [`BLOCK`] partial rounds, or fewer.
struct Block<T> {
    /// Per round k: `width` coefficients of the state at the block's start (lane 0 being y_k), then those of
    /// y_0..y_{k-1}.
    first_lane: Vec<Vec<T>>,
    /// Per lane 1..: coefficients of all y.
    other_lanes: Vec<Vec<T>>,
}

impl Block<Scalar> {
    /// Of rounds in sparse form: coefficients of lane 0, and the multiples of lane 0 added to the other lanes.
    fn new(rounds: &[(&[Scalar], &[Scalar])]) -> Self {
        let first_lane = |(k, (first, _)): (usize, &(&[Scalar], &[Scalar]))| {
            let earlier = rounds[..k].iter().map(|(_, others)| {
                let products = first[1..].iter().zip(*others);
                products.map(|(w, v)| w * v).sum::<Scalar>()
            });
            first.iter().copied().chain(earlier).collect()
        };
        let other_lane = |j: usize| rounds.iter().map(|(_, others)| others[j]).collect();
        Block {
            first_lane: rounds.iter().enumerate().map(first_lane).collect(),
            other_lanes: (0..rounds[0].1.len()).map(other_lane).collect(),
        }
    }

    /// The same in another form.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    fn map<T>(&self, form: impl Fn(&Scalar) -> T) -> Block<T> {
        let rows = |rows: &[Vec<Scalar>]| -> Vec<Vec<T>> {
            rows.iter()
                .map(|row| row.iter().map(&form).collect())
                .collect()
        };
        Block {
            first_lane: rows(&self.first_lane),
            other_lanes: rows(&self.other_lanes),
        }
    }
}

/// Variables of one hash: 311, 505, 598 for arity 2, 8, 11.
const fn slots(arity: usize, half_full_rounds: usize, partial_rounds: usize) -> usize {
    3 * arity + 4 * (arity + 1) * (2 * half_full_rounds - 1) + 4 * partial_rounds + 1
}

#[cfg(test)]
mod tests;
