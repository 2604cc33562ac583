//! What neptune's legacy Poseidon circuit allocates for one hash, in order.
//!
//! In a full round each lane allocates its S-box input (only if that is a linear combination, so not in the first
//! round), its square, its fourth power, and its fifth power plus the next round key. A partial round allocates the
//! same four for lane 0 only. The domain tag is a constant and allocates nothing in the first round. Everything
//! between S-boxes is a linear combination without a variable of its own, so it may be computed in any form that
//! gives the same S-box inputs.
//!
//! Rounds, and round keys pushed through the linear layer: Grassi et al., "Poseidon" (2019/458), appendix B, as neptune 11
//! prepares them.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod field;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod linear;
mod portable;

pub(crate) use field::element;

use super::Isa;
use blstrs::Scalar;
use ff::Field;
use linear::{Mds, PartialRounds};
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
    mds: Mds,
    /// Divides a sum of [`Mds::numerators`]' multiples that [`field::WordSum::reduce`] has divided by 2^64.
    word_scale: Scalar,
    /// The row of the matrix that gives the digest.
    digest_row: Vec<Scalar>,
    partial: PartialRounds<Scalar>,
    #[cfg(target_arch = "x86_64")]
    avx512: Option<[ifma::Constants; 2]>,
    #[cfg(target_arch = "x86_64")]
    avx2: Option<avx2::Constants>,
}

impl Poseidon {
    pub(super) fn new<A: Arity<Scalar>>(constants: &PoseidonConstants<Scalar, A>) -> Poseidon {
        let width = constants.width();
        let keys = constants.compressed_round_constants.clone();
        let matrix = &constants.mds_matrices.m;
        let mds = Mds::new(matrix);
        let tag = constants.domain_tag + keys[0];
        let mut poseidon = Poseidon {
            width,
            half_full_rounds: constants.half_full_rounds,
            partial_rounds: constants.partial_rounds,
            tag_power: tag.square().square() * tag + keys[width],
            keys,
            word_scale: mds.scale * Scalar::from(2).pow_vartime([64]),
            mds,
            // The matrix is symmetric; the digest is lane 1.
            digest_row: matrix[1].clone(),
            partial: PartialRounds::new(matrix),
            #[cfg(target_arch = "x86_64")]
            avx512: None,
            #[cfg(target_arch = "x86_64")]
            avx2: None,
        };
        assert_eq!(
            poseidon.keys.len(),
            2 * poseidon.half_full_rounds * width + poseidon.partial_rounds
        );
        #[cfg(target_arch = "x86_64")]
        if Isa::Avx512.is_available() {
            let forms = [ifma::Form::Stored, ifma::Form::DigestOnly];
            poseidon.avx512 = Some(forms.map(|form| ifma::Constants::new(&poseidon, form)));
        }
        #[cfg(target_arch = "x86_64")]
        if Isa::Avx2.is_available() {
            poseidon.avx2 = Some(avx2::Constants::new(&poseidon));
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
        match (isa, &self.avx512, &self.avx2) {
            (Isa::Avx512, Some([stored, _]), _) => return stored.hash_many(preimages, outs),
            (Isa::Avx2, _, Some(avx2)) => return avx2.hash_many(preimages, outs),
            _ => {}
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
        if let (Isa::Avx512, Some([_, digest_only])) = (isa, &self.avx512) {
            return digest_only.digest_many(preimages, digests);
        }
        // The other paths keep every value.
        let mut values = vec![Scalar::default(); 16 * self.slots()];
        for (preimages, digests) in preimages.chunks(16).zip(digests.chunks_mut(16)) {
            let outs = values.chunks_exact_mut(self.slots());
            let mut outs: Vec<&mut [Scalar]> = outs.take(preimages.len()).collect();
            self.hash_many(isa, preimages, &mut outs);
            for (digest, out) in digests.iter_mut().zip(outs) {
                *digest = out[out.len() - 1];
            }
        }
    }
}

/// Variables of one hash: 311, 505, 598 for arity 2, 8, 11.
const fn slots(arity: usize, half_full_rounds: usize, partial_rounds: usize) -> usize {
    3 * arity + 4 * (arity + 1) * (2 * half_full_rounds - 1) + 4 * partial_rounds + 1
}

#[cfg(test)]
mod tests;
