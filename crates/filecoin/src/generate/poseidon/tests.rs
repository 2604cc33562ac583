//! Every path against neptune's circuit and its native hash.

use super::*;
use bellpepper_core::ConstraintSystem;
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::test_cs::TestConstraintSystem;
use filecoin_hashers::{POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8, POSEIDON_CONSTANTS_11};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn check<A: Arity<Scalar>, const ARITY: usize>(
    constants: &PoseidonConstants<Scalar, A>,
    slots: usize,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let poseidon = Poseidon::new(constants);
    assert_eq!(poseidon.slots(), slots);
    let edges = [
        Scalar::ZERO,
        Scalar::ONE,
        -Scalar::ONE,
        -Scalar::from(2),
        Scalar::from(u64::MAX),
    ];
    let preimages: Vec<[Scalar; ARITY]> = (0..27)
        .map(|k| {
            std::array::from_fn(|_| match k {
                0..5 => edges[k],
                5..10 => edges[rng.gen_range(0..5)],
                _ => Scalar::random(&mut rng),
            })
        })
        .collect();
    let expected: Vec<Vec<Scalar>> = preimages.iter().map(|p| circuit(constants, p)).collect();
    for isa in Isa::available() {
        // Full and partly idle groups.
        for count in [1, 3, 8, 9, 16, 27] {
            let mut values = vec![Scalar::ONE; count * slots];
            let mut outs: Vec<&mut [Scalar]> = values.chunks_exact_mut(slots).collect();
            poseidon.hash_many(isa, &preimages[27 - count..], &mut outs);
            for (k, out) in outs.iter().enumerate() {
                let expected = &expected[27 - count + k];
                let wrong =
                    (0..slots).find(|i| out[*i].to_bytes_le() != expected[*i].to_bytes_le());
                assert_eq!(wrong, None, "{isa:?} arity {ARITY} hash {k} of {count}");
            }
        }
    }
    let native = neptune::Poseidon::new_with_preimage(&preimages[20], constants).hash();
    assert_eq!(
        poseidon.hash(&preimages[20], &mut vec![Scalar::ZERO; slots]),
        native
    );
}

/// The values that the circuit allocates after its preimage.
fn circuit<A: Arity<Scalar>>(
    constants: &PoseidonConstants<Scalar, A>,
    preimage: &[Scalar],
) -> Vec<Scalar> {
    let mut cs = TestConstraintSystem::<Scalar>::new();
    let numbers: Vec<_> = preimage
        .iter()
        .enumerate()
        .map(|(i, v)| {
            let cs = cs.namespace(|| format!("element {i}"));
            AllocatedNum::alloc(cs, || Ok(*v)).unwrap()
        })
        .collect();
    neptune::circuit::poseidon_hash(&mut cs, numbers, constants).unwrap();
    cs.scalar_aux().split_off(preimage.len())
}

#[test]
fn arity_2() {
    check::<_, 2>(&POSEIDON_CONSTANTS_2, 311);
    check::<_, 2>(
        &storage_proofs_update::constants::POSEIDON_CONSTANTS_GEN_RANDOMNESS,
        311,
    );
}

#[test]
fn arity_8() {
    check::<_, 8>(&POSEIDON_CONSTANTS_8, 505);
}

#[test]
fn arity_11() {
    check::<_, 11>(&POSEIDON_CONSTANTS_11, 598);
}
