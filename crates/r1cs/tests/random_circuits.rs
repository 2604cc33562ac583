//! Random circuits, evaluated by the compiled form and the long way.

mod common;

use bellpepper_core::{Circuit, Variable};
use common::{Listing, random};
use cuzk_r1cs::{Matrix, R1cs, Scalar, Witness, WitnessAssigner, compile, row_digest};
use ff::Field;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn compiled(listing: &Listing) -> R1cs {
    compile(|recorder| listing.synthesize(recorder)).expect("a random circuit compiles")
}

fn assigned(listing: &Listing, circuit: &R1cs) -> Witness {
    let mut witness = Witness::new(circuit.layout().clone());
    let mut assigner = WitnessAssigner::new(&mut witness);
    listing
        .synthesize(&mut assigner)
        .expect("every closure has a value");
    assigner.finish().expect("bits are bits");
    witness
}

fn case() -> impl Strategy<Value = (Listing, ChaCha8Rng)> {
    (
        any::<u64>(),
        1..120usize,
        prop_oneof![Just(0.05), Just(0.4), Just(1.0)],
    )
        .prop_map(|(seed, size, wide)| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            (random(&mut rng, size, wide), rng)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn evaluates_as_the_rows_do((listing, _) in case()) {
        let circuit = compiled(&listing);
        let witness = assigned(&listing, &circuit);
        let untouched = Scalar::from(77);
        for (i, matrix) in Matrix::ALL.into_iter().enumerate() {
            let expected = listing.evaluate(i);
            prop_assert_eq!(circuit.num_rows(), expected.len());
            let mut found = vec![untouched; circuit.num_rows() + 3];
            circuit.evaluate(matrix, &witness, &mut found);
            prop_assert_eq!(&found[..expected.len()], &expected[..]);
            prop_assert_eq!(&found[expected.len()..], &[untouched; 3][..]);
        }
    }

    #[test]
    fn finds_the_first_unsatisfied_row((mut listing, mut rng) in case()) {
        let circuit = compiled(&listing);
        let mut witness = assigned(&listing, &circuit);
        prop_assert_eq!(circuit.check(&witness), Ok(()));
        let i = rng.gen_range(0..circuit.num_aux());
        let value = if circuit.layout().is_wide(i) {
            Scalar::random(&mut rng)
        } else {
            Scalar::ONE - witness.aux(i)
        };
        witness.set_aux(i, &value).expect("bits stay bits");
        listing.set_aux(i, value);
        let [a, b, c] = [0, 1, 2].map(|i| listing.evaluate(i));
        let expected = (0..a.len()).find(|&i| a[i] * b[i] != c[i]);
        let found = circuit.check(&witness).err();
        prop_assert_eq!(found.as_ref().map(|e| e.row), expected);
        if let Some(error) = found {
            let row = error.row;
            prop_assert_eq!((error.a, error.b, error.c), (a[row], b[row], c[row]));
            prop_assert_eq!(error.block, None);
        }
    }

    #[test]
    fn combines_rows_as_the_transposed_matrix_does((listing, mut rng) in case()) {
        let circuit = compiled(&listing);
        let weights: Vec<_> = (0..circuit.num_rows()).map(|_| Scalar::random(&mut rng)).collect();
        for (i, matrix) in Matrix::ALL.into_iter().enumerate() {
            prop_assert_eq!(circuit.combine_rows(matrix, &weights), listing.combine(i, &weights));
        }
    }

    #[test]
    fn densities_are_the_variables_that_occur((listing, _) in case()) {
        let circuit = compiled(&listing);
        let densities = circuit.densities();
        let bools = |bits: &cuzk_r1cs::BitVec| (0..bits.len()).map(|i| bits.get(i)).collect::<Vec<_>>();
        prop_assert_eq!(bools(&densities.a_aux), listing.occurs(0).1);
        let (inputs, aux) = listing.occurs(1);
        prop_assert_eq!(bools(&densities.b_inputs), inputs);
        prop_assert_eq!(bools(&densities.b_aux), aux);
    }

    #[test]
    fn packed_and_plain_witness_agree((listing, _) in case()) {
        let circuit = compiled(&listing);
        let layout = circuit.layout();
        let witness = assigned(&listing, &circuit);
        let (inputs, aux) = (listing.inputs(), listing.aux());
        prop_assert_eq!(witness.to_dense(), (inputs.clone(), aux.clone()));
        let packed = Witness::from_dense(layout.clone(), &inputs, &aux).expect("bits are bits");
        prop_assert_eq!(&packed, &witness);
        for (i, value) in aux.iter().enumerate() {
            prop_assert_eq!(&witness.aux(i), value);
        }
        let wide: Vec<_> = witness.wide_slots().map(|(i, v)| (i, *v)).collect();
        let expected: Vec<_> = (0..aux.len()).filter(|&i| layout.is_wide(i)).map(|i| (i, aux[i])).collect();
        prop_assert_eq!(wide, expected);
        let ones: Vec<_> = witness.ones().collect();
        let expected: Vec<_> = (0..aux.len()).filter(|&i| !layout.is_wide(i) && aux[i] == Scalar::ONE).collect();
        prop_assert_eq!(ones, expected);
    }

    #[test]
    fn rows_come_back_as_recorded((listing, _) in case()) {
        let circuit = compiled(&listing);
        let rows = listing.rows();
        let mut count = 0;
        circuit.for_each_row(|i, found| {
            assert_eq!(i, count);
            count += 1;
            for (found, entries) in found.into_iter().zip(&rows[i]) {
                let mut merged: Vec<(Variable, Scalar)> = Vec::new();
                for &(v, c) in entries {
                    match merged.iter_mut().find(|(w, _)| *w == v) {
                        Some((_, sum)) => *sum += c,
                        None => merged.push((v, c)),
                    }
                }
                merged.retain(|(_, c)| *c != Scalar::ZERO);
                assert_eq!(found.len(), merged.len());
                assert!(merged.iter().all(|entry| found.contains(entry)));
            }
        });
        prop_assert_eq!(count, rows.len());
        let hashed = row_digest(|recorder| listing.synthesize(recorder)).expect("it compiles");
        prop_assert_eq!(circuit.row_digest(), hashed);
    }
}
