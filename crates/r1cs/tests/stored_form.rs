//! Writing and reading compiled circuits, whole and damaged.

mod common;

use bellpepper_core::Circuit;
use common::{Listing, Step, aux, boolean, random};
use cuzk_r1cs::{FileError, R1cs, Scalar, compile, compile_periodic};
use ff::Field;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn circuit(seed: u64, wide: f64) -> R1cs {
    let listing = random(&mut ChaCha8Rng::seed_from_u64(seed), 60, wide);
    compile(|recorder| (&listing).synthesize(recorder)).expect("it compiles")
}

/// One bit a block.
fn bits() -> R1cs {
    compile_periodic(5, |copies, cs| {
        let steps = (0..copies).flat_map(|i| {
            let used = [vec![(common::input(i + 1), Scalar::ONE)], vec![], vec![]];
            [
                Step::Input(Scalar::ONE),
                Step::Aux(Scalar::ONE),
                Step::Enforce(boolean(aux(i))),
                Step::Enforce(used),
            ]
        });
        (&Listing {
            steps: steps.collect(),
        })
            .synthesize(cs)
    })
    .expect("it compiles")
}

fn read_error(bytes: &[u8]) -> FileError {
    R1cs::from_bytes(bytes).expect_err("damaged")
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("circuit.r1cs");
    assert!(bits().blocks() == 5 && bits().segments()[0].num_links() == 1);
    for circuit in [circuit(1, 0.1), circuit(2, 0.9), bits()] {
        circuit.write_to(&path).expect("it writes");
        assert_eq!(R1cs::read_from(&path).expect("it reads"), circuit);
        assert_eq!(std::fs::read(&path).expect("it reads"), circuit.to_bytes());
        assert_eq!(
            R1cs::from_bytes(&circuit.to_bytes()).expect("it reads"),
            circuit
        );
    }
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1, "no temporary file stays behind");
}

#[test]
fn different_circuits_have_different_digests() {
    let digests = [circuit(1, 0.1), circuit(2, 0.1), circuit(1, 0.9), bits()].map(|c| c.digest());
    for (i, digest) in digests.iter().enumerate() {
        assert!(!digests[..i].contains(digest));
    }
    assert_eq!(circuit(1, 0.1).digest(), digests[0]);
}

#[test]
fn errors_say_what_is_wrong() {
    let good = circuit(3, 0.1).to_bytes();
    let damage = |at: usize, mask: u8| {
        let mut bytes = good.clone();
        bytes[at] ^= mask;
        read_error(&bytes)
    };
    assert!(matches!(damage(0, 1), FileError::Magic { .. }));
    assert!(matches!(
        damage(8, 2),
        FileError::Version {
            found: 3,
            expected: 1
        }
    ));
    assert!(matches!(damage(16, 1), FileError::Length { .. }));
    assert!(matches!(damage(30, 1), FileError::Checksum { .. }));
    assert!(matches!(
        damage(good.len() - 1, 1 << 7),
        FileError::Checksum { .. } | FileError::Malformed { .. }
    ));
    assert!(matches!(
        read_error(&good[..good.len() - 1]),
        FileError::Length { .. }
    ));
    assert!(matches!(read_error(b""), FileError::Magic { .. }));
    assert!(matches!(read_error(b"cuzkr1cs"), FileError::Version { .. }));
    let longer = [&good[..], &[0]].concat();
    assert!(matches!(read_error(&longer), FileError::Length { .. }));
    let missing = R1cs::read_from("/nonexistent/circuit.r1cs").expect_err("no such file");
    assert!(
        missing
            .to_string()
            .starts_with("cannot open /nonexistent/circuit.r1cs")
    );
}

#[test]
fn a_forged_length_is_refused_before_it_is_believed() {
    let good = circuit(3, 0.1).to_bytes();
    // The counts stand behind the header of 56 bytes: any of them claims more than there is.
    for count in 0..6 {
        for huge in [u64::MAX, 1 << 62, 1 << 40] {
            let mut bytes = good.clone();
            bytes[56 + 8 * count..64 + 8 * count].copy_from_slice(&huge.to_le_bytes());
            assert!(matches!(
                read_error(&bytes),
                FileError::Malformed { .. } | FileError::Checksum { .. }
            ));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn damage_is_noticed(
        seed in 0..4u64,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..4),
    ) {
        let good = if seed == 0 { bits() } else { circuit(seed, 0.1) };
        let mut bytes = good.to_bytes();
        for (at, mask) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
        }
        if bytes != good.to_bytes() {
            prop_assert!(R1cs::from_bytes(&bytes).is_err());
        }
    }

    #[test]
    fn whatever_is_cut_off_or_put_in_is_noticed(
        at in any::<prop::sample::Index>(), remove in 0..40usize, insert in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let good = circuit(1, 0.1).to_bytes();
        let start = at.index(good.len());
        let end = good.len().min(start + remove);
        let bytes = [&good[..start], &insert, &good[end..]].concat();
        if bytes != good {
            prop_assert!(R1cs::from_bytes(&bytes).is_err());
        }
    }

    /// With the checksum made right, damage gives an error or a circuit, never a panic, and such a circuit
    /// can be used.
    #[test]
    fn a_consistent_forgery_does_no_harm(
        seed in 0..4u64,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..4),
    ) {
        let good = if seed == 0 { bits() } else { circuit(seed, 0.1) };
        let mut bytes = good.to_bytes();
        let body = bytes.len() - 56;
        for (at, mask) in damage {
            bytes[56 + at.index(body)] ^= mask;
        }
        common::seal(&mut bytes);
        if let Ok(circuit) = R1cs::from_bytes(&bytes)
            && circuit.num_rows() < 1 << 16
        {
            let witness = cuzk_r1cs::Witness::new(circuit.layout().clone());
            let mut out = vec![Scalar::ZERO; circuit.num_rows()];
            circuit.evaluate(cuzk_r1cs::Matrix::A, &witness, &mut out);
            prop_assert_eq!(R1cs::from_bytes(&circuit.to_bytes()).expect("it reads"), circuit);
        }
    }
}
