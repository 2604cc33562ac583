//! The prover against bellperson's, byte for byte, and the verifiers against each other.

use std::fs;
use std::sync::Arc;

use bellpepper_core::Circuit;
use bellperson::groth16 as bellperson;
use blstrs::{Bls12, G1Affine, Scalar};
use cuzk_groth16::conformance::circuits::{BitMixer, CubeChain, RandomRows};
use cuzk_groth16::conformance::{self, Fixture};
use cuzk_groth16::field::Isa;
use cuzk_groth16::{
    Backend, Blinding, CpuBackend, ParameterFile, PreparedVerifyingKey, Proof, VerifyError, verify,
    verify_batch,
};
use ff::Field;
use group::prime::PrimeCurveAffine;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn backends() -> Vec<CpuBackend> {
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    available.map(CpuBackend::with_isa).collect()
}

fn prove(backend: &CpuBackend, fixture: &Fixture, blinding: &Blinding) -> Proof {
    let key = backend
        .load(fixture.circuit.clone(), fixture.params.clone())
        .expect("a key");
    backend
        .prove(&key, &fixture.witness, blinding)
        .expect("a proof")
}

/// The proof that bellperson makes of the same things, from the parameters as bellperson maps them.
fn bellperson_proof(
    fixture: &Fixture,
    circuit: impl Circuit<Scalar> + Send,
    blinding: &Blinding,
) -> Vec<u8> {
    let path = fixture.params_path();
    let parameters =
        bellperson::Parameters::<Bls12>::build_mapped_parameters(path, true).expect("parameters");
    let proof =
        bellperson::create_proof(circuit, &parameters, blinding.r, blinding.s).expect("a proof");
    let inputs = &fixture.witness.inputs()[1..];
    assert!(
        bellperson::verify_proof(&parameters.pvk, &proof, inputs).expect("inputs"),
        "bellperson's proof"
    );
    let mut bytes = Vec::new();
    proof.write(&mut bytes).expect("a vector");
    bytes
}

fn same_bytes(circuit: impl Circuit<Scalar> + Clone + Send, seed: u64) {
    let fixture = Fixture::new(circuit.clone());
    let blinding = Blinding::from_rng(ChaCha8Rng::seed_from_u64(seed));
    let expected = bellperson_proof(&fixture, circuit, &blinding);
    for backend in backends() {
        let proof = prove(&backend, &fixture, &blinding);
        assert_eq!(proof.to_bytes()[..], expected, "{}", backend.name());
        assert_eq!(Proof::from_bytes(&expected), Ok(proof));
    }
}

#[test]
fn same_bytes_as_bellperson_bits_and_wide_values() {
    same_bytes(
        BitMixer {
            state: 0x0123_4567_89ab_cdef,
            rounds: 100,
        },
        1,
    );
}

#[test]
fn same_bytes_as_bellperson_all_wide() {
    same_bytes(
        CubeChain {
            start: Scalar::from(11),
            rounds: 3000,
        },
        2,
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn same_bytes_as_bellperson_random_rows(shape_seed: u64, value_seed: u64, rows in 1usize..600) {
        same_bytes(RandomRows { shape_seed, value_seed, rows }, shape_seed ^ value_seed);
    }
}

#[test]
fn backends_conform() {
    for backend in backends() {
        conformance::check(&backend);
    }
}

#[test]
fn every_stage_is_timed() {
    let fixture = Fixture::new(BitMixer {
        state: 5,
        rounds: 3,
    });
    let blinding = Blinding::from_rng(ChaCha8Rng::seed_from_u64(4));
    let backend = CpuBackend::new();
    let key = backend
        .load(fixture.circuit.clone(), fixture.params.clone())
        .expect("a key");
    let (proof, stages) = backend
        .prove_timed(&key, &fixture.witness, &blinding)
        .expect("a proof");
    assert_eq!(proof, prove(&backend, &fixture, &blinding));
    let names: Vec<_> = stages.iter().map(|stage| stage.name).collect();
    let expected = [
        "evaluate a",
        "evaluate b",
        "quotient",
        "h",
        "l",
        "a",
        "b_g1",
        "b_g2",
    ];
    assert_eq!(names, expected);
}

/// Parameters that bellperson generated and wrote.
#[test]
fn proves_with_bellperson_parameters() {
    let circuit = BitMixer {
        state: 77,
        rounds: 12,
    };
    let mut fixture = Fixture::new(circuit.clone());
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    let parameters =
        bellperson::generate_random_parameters::<Bls12, _, _>(circuit, rng).expect("parameters");
    let path = fixture.params_path().with_extension("theirs");
    let mut bytes = Vec::new();
    parameters.write(&mut bytes).expect("a vector");
    fs::write(&path, bytes).expect("a file");
    fixture.params = Arc::new(ParameterFile::open(&path).expect("parameters"));
    let proof = prove(&CpuBackend::new(), &fixture, &Blinding::random());
    let inputs = &fixture.witness.inputs()[1..];
    verify(
        &PreparedVerifyingKey::new(fixture.params.vk()),
        inputs,
        &proof,
    )
    .expect("our verifier");
    let pvk = bellperson::prepare_verifying_key(&parameters.vk);
    let theirs =
        bellperson::Proof::read(&proof.to_bytes()[..]).expect("bellperson reads our proof");
    assert!(
        bellperson::verify_proof(&pvk, &theirs, inputs).expect("inputs"),
        "bellperson's verifier"
    );
}

struct Proved {
    vk: PreparedVerifyingKey,
    inputs: Vec<Scalar>,
    proof: Proof,
}

fn proved() -> Proved {
    let fixture = Fixture::new(CubeChain {
        start: Scalar::from(5),
        rounds: 20,
    });
    Proved {
        vk: PreparedVerifyingKey::new(fixture.params.vk()),
        inputs: fixture.witness.inputs()[1..].to_vec(),
        proof: prove(&CpuBackend::new(), &fixture, &Blinding::random()),
    }
}

#[test]
fn anything_but_the_proof_is_rejected() {
    let Proved { vk, inputs, proof } = proved();
    verify(&vk, &inputs, &proof).expect("the proof itself");
    let rejected = Err(VerifyError::Rejected { proof: 0 });
    assert_eq!(verify(&vk, &[inputs[0] + Scalar::ONE], &proof), rejected);
    for changed in [
        Proof {
            a: -proof.a,
            ..proof
        },
        Proof {
            b: -proof.b,
            ..proof
        },
        Proof {
            c: -proof.c,
            ..proof
        },
        Proof {
            a: proof.c,
            c: proof.a,
            ..proof
        },
    ] {
        assert_eq!(verify(&vk, &inputs, &changed), rejected);
    }
    let short = verify(&vk, &[], &proof);
    assert_eq!(
        short,
        Err(VerifyError::Inputs {
            proof: 0,
            found: 0,
            expected: 1
        })
    );
    let infinite = Proof {
        c: G1Affine::identity(),
        ..proof
    };
    assert_eq!(
        verify(&vk, &inputs, &infinite),
        Err(VerifyError::Point {
            proof: 0,
            point: 'C'
        })
    );
    // On the curve, but of another order.
    let candidates = (1..).filter_map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
    });
    let mut outside = candidates.filter(|point| !bool::from(point.is_torsion_free()));
    let a = outside.next().expect("half of all x have a y");
    assert_eq!(
        verify(&vk, &inputs, &Proof { a, ..proof }),
        Err(VerifyError::Point {
            proof: 0,
            point: 'A'
        })
    );
}

#[test]
fn a_batch_names_the_proof_that_fails() {
    let Proved { vk, inputs, proof } = proved();
    let all = vec![inputs.clone(); 5];
    verify_batch(&vk, &all, &[proof; 5]).expect("five good proofs");
    for wrong in 0..5 {
        let mut proofs = [proof; 5];
        proofs[wrong].c = -proof.c;
        assert_eq!(
            verify_batch(&vk, &all, &proofs),
            Err(VerifyError::Rejected { proof: wrong })
        );
    }
    // Two errors that would cancel without random weights.
    let mut proofs = [proof; 2];
    let shift = G1Affine::generator();
    proofs[0].c = (proof.c + blstrs::G1Projective::from(shift)).into();
    proofs[1].c = (proof.c - blstrs::G1Projective::from(shift)).into();
    assert!(verify_batch(&vk, &all[..2], &proofs).is_err());
    assert_eq!(
        verify_batch(&vk, &all, &proofs),
        Err(VerifyError::Proofs {
            found: 2,
            expected: 5
        })
    );
    assert!(verify_batch::<Vec<Scalar>>(&vk, &[], &[]).is_err());
}

#[test]
fn undecodable_proofs_are_refused() {
    let Proved { proof, .. } = proved();
    let bytes = proof.to_bytes();
    assert_eq!(Proof::from_bytes(&bytes), Ok(proof));
    assert!(Proof::from_bytes(&bytes[1..]).is_err());
    assert!(Proof::from_bytes(&[]).is_err());
    for point in [0, 48, 144] {
        let mut infinite = bytes;
        let end = if point == 48 { 144 } else { point + 48 };
        infinite[point..end].fill(0);
        infinite[point] = 0xc0;
        assert!(Proof::from_bytes(&infinite).is_err(), "infinity at {point}");
        let mut flags = bytes;
        flags[point] ^= 0x80;
        assert!(
            Proof::from_bytes(&flags).is_err(),
            "uncompressed at {point}"
        );
    }
}
