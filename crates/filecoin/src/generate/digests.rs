//! Digests alone, many at a time, on the fastest path of the processor: what checks vanilla proofs.

use super::Isa;
use super::gadgets::Instance;
use blstrs::Scalar;
use ff::Field;

/// Poseidon of trees and columns: 2, 8 or 11 elements.
pub(crate) fn poseidon_digests<const ARITY: usize>(preimages: &[[Scalar; ARITY]]) -> Vec<Scalar> {
    let instance = match ARITY {
        11 => Instance::Eleven,
        arity => Instance::of_arity(arity),
    };
    digests(Isa::detect(), instance, preimages)
}

fn digests<const ARITY: usize>(
    isa: Isa,
    instance: Instance,
    preimages: &[[Scalar; ARITY]],
) -> Vec<Scalar> {
    let mut digests = vec![Scalar::ZERO; preimages.len()];
    instance
        .poseidon()
        .digest_many(isa, preimages, &mut digests);
    digests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merkle::poseidon;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn check<const ARITY: usize>(instance: Instance) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let edges = [
            Scalar::ZERO,
            Scalar::ONE,
            -Scalar::ONE,
            -Scalar::from(2),
            Scalar::from(u64::MAX),
        ];
        let mut element = |k: usize| match k {
            0..5 => edges[k],
            5..10 => edges[rng.gen_range(0..5)],
            _ => Scalar::random(&mut rng),
        };
        let preimages: Vec<[Scalar; ARITY]> = (0..40)
            .map(|k| std::array::from_fn(|_| element(k)))
            .collect();
        let expected: Vec<_> = preimages.iter().map(|p| poseidon(p)).collect();
        for isa in Isa::available() {
            for count in [0, 1, 8, 9, 15, 16, 17, 40] {
                let found = digests(isa, instance, &preimages[40 - count..]);
                assert_eq!(found, expected[40 - count..], "{isa:?}");
            }
        }
        assert_eq!(poseidon_digests(&preimages), expected);
    }

    #[test]
    fn digests_are_neptunes() {
        check::<2>(Instance::Two);
        check::<8>(Instance::Eight);
        check::<11>(Instance::Eleven);
    }
}
