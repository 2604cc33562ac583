//! Digests alone, many at a time, on the fastest path of the processor: what checks vanilla proofs.

use super::Isa;
use super::gadgets::Instance;
use blstrs::Scalar;
use ff::Field;

/// Hashes whose intermediate values are kept at a time: as many as the widest kernel takes.
const TOGETHER: usize = 16;

/// Poseidon of trees and columns: 2, 8 or 11 elements.
pub(crate) fn poseidon_digests<const ARITY: usize>(preimages: &[[Scalar; ARITY]]) -> Vec<Scalar> {
    let instance = match ARITY {
        11 => Instance::Eleven,
        arity => Instance::of_arity(arity),
    };
    let (poseidon, isa) = (instance.poseidon(), Isa::detect());
    let slots = poseidon.slots();
    let mut values = vec![Scalar::ZERO; slots * TOGETHER.min(preimages.len())];
    let mut digests = Vec::with_capacity(preimages.len());
    for chunk in preimages.chunks(TOGETHER) {
        let outs = values.chunks_exact_mut(slots).take(chunk.len());
        let mut outs: Vec<&mut [Scalar]> = outs.collect();
        poseidon.hash_many(isa, chunk, &mut outs);
        digests.extend(outs.iter().map(|out| out[slots - 1]));
    }
    digests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merkle::poseidon;

    fn check<const ARITY: usize>() {
        for count in [0, 1, 15, 16, 17, 40] {
            let element =
                |k: usize, i: usize| Scalar::from((k * ARITY + i) as u64).square() - Scalar::ONE;
            let preimages: Vec<[Scalar; ARITY]> = (0..count)
                .map(|k| std::array::from_fn(|i| element(k, i)))
                .collect();
            let expected: Vec<_> = preimages.iter().map(|p| poseidon(p)).collect();
            assert_eq!(poseidon_digests(&preimages), expected);
        }
    }

    #[test]
    fn digests_are_neptunes() {
        check::<2>();
        check::<8>();
        check::<11>();
    }
}
