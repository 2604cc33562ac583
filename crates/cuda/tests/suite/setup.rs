//! Parameters made on the device against those that the CPU's setup writes.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_cuda::{Bases, CudaBackend, Curve, DeviceParameters, HostQueries, QueryBases};
use cuzk_groth16::conformance::circuits::{BitMixer, CubeChain};
use cuzk_groth16::conformance::{assign, compile};
use cuzk_groth16::field::Isa;
use cuzk_groth16::setup::{ToxicWaste, generate_with};
use cuzk_groth16::{Backend, Blinding, CpuBackend, NoProgress, ParameterFile};
use cuzk_r1cs::{R1cs, Witness};

use crate::support::{device, rng};

fn bytes<C: Curve>(bases: &Bases<C>) -> Vec<u8> {
    let mut bytes = vec![0; bases.bytes() as usize];
    bases.region().download(&mut bytes).expect("download");
    bytes
}

/// The same points as the CPU's, and a proof with them is the CPU prover's.
fn check(circuit: R1cs, witness: &Witness) {
    let (device, circuit) = (device(), Arc::new(circuit));
    let toxic = ToxicWaste::random(rng(9));
    let file = tempfile::NamedTempFile::new().expect("a file");
    let vk = generate_with(
        &circuit,
        &toxic,
        Isa::Portable,
        &mut file.as_file(),
        &NoProgress,
    )
    .expect("the CPU's setup");
    let params = Arc::new(ParameterFile::open(file.path()).expect("parameters"));

    let made = DeviceParameters::generate(&device, &circuit, &toxic, &NoProgress).expect("setup");
    assert_eq!(made.vk, vk);
    let expected = QueryBases::load(&device, &params, circuit.log_domain()).expect("bases");
    assert!(bytes(&made.bases.h) == bytes(&expected.h), "h");
    assert!(bytes(&made.bases.l) == bytes(&expected.l), "l");
    assert!(bytes(&made.bases.a) == bytes(&expected.a), "a");
    assert!(bytes(&made.bases.b_g1) == bytes(&expected.b_g1), "b_g1");
    assert!(bytes(&made.bases.b_g2) == bytes(&expected.b_g2), "b_g2");

    let written = tempfile::NamedTempFile::new().expect("a file");
    let on_host = HostQueries::copy_of(&made.bases).expect("bases");
    let size = on_host.write_params(&made.vk, written.as_file());
    let written = std::fs::read(written.path()).expect("a file");
    assert_eq!(size.expect("parameters"), written.len() as u64);
    assert!(
        written == params.bytes(),
        "the file that the CPU's setup wrote"
    );

    let mut streamed = Vec::new();
    let same = DeviceParameters {
        vk: vk.clone(),
        bases: expected,
    };
    let key = same.write_params(&mut streamed, &NoProgress);
    assert_eq!(key.expect("parameters"), vk);
    assert!(streamed == written, "the file as a stream");

    let blinding = Blinding::from_rng(rng(10));
    let backend = CudaBackend::new(device).expect("a backend");
    let key = backend.adopt(circuit.clone(), made).expect("a key");
    let found = backend.prove(&key, witness, &blinding).expect("a proof");
    let cpu = CpuBackend::new();
    let key = cpu.load(circuit, params).expect("a key");
    let expected = cpu.prove(&key, witness, &blinding).expect("a proof");
    assert_eq!(found.to_bytes(), expected.to_bytes());
}

#[test]
fn a_circuit_of_bits() {
    let mixer = BitMixer {
        state: 77,
        rounds: 3,
    };
    let circuit = compile(mixer.clone());
    let witness = assign(&circuit, mixer);
    check(circuit, &witness);
}

#[test]
fn a_wide_circuit() {
    let chain = CubeChain {
        start: Scalar::from(5),
        rounds: 40,
    };
    let circuit = compile(chain.clone());
    let witness = assign(&circuit, chain);
    check(circuit, &witness);
}
