//! Bases that stream from the host, whatever the plan: the CPU prover's bytes.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_cuda::{
    BasesSource, CudaBackend, DeviceError, HostQueries, MemoryPlan, QueryBases, Resident,
};
use cuzk_groth16::conformance::circuits::{BitMixer, CubeChain};
use cuzk_groth16::conformance::{assign, compile};
use cuzk_groth16::field::Isa;
use cuzk_groth16::setup::{ToxicWaste, generate_with};
use cuzk_groth16::{
    Backend, Blinding, CpuBackend, NoProgress, ParameterFile, Proof, ProveError, assemble,
};
use cuzk_r1cs::{R1cs, Witness};

use crate::support::{device, rng};

/// A circuit with parameters, a witness, and the CPU's proof.
struct Case {
    circuit: Arc<R1cs>,
    params: Arc<ParameterFile>,
    witness: Witness,
    blinding: Blinding,
    expected: Proof,
    _file: tempfile::NamedTempFile,
}

impl Case {
    fn new(circuit: R1cs, witness: Witness) -> Self {
        let (circuit, toxic) = (Arc::new(circuit), ToxicWaste::random(rng(31)));
        let file = tempfile::NamedTempFile::new().expect("a file");
        let out = &mut file.as_file();
        generate_with(&circuit, &toxic, Isa::detect(), out, &NoProgress).expect("a setup");
        let params = Arc::new(ParameterFile::open(file.path()).expect("parameters"));
        let blinding = Blinding::from_rng(rng(32));
        let cpu = CpuBackend::new();
        let key = cpu.load(circuit.clone(), params.clone()).expect("a key");
        let expected = cpu.prove(&key, &witness, &blinding).expect("a proof");
        Self {
            circuit,
            params,
            witness,
            blinding,
            expected,
            _file: file,
        }
    }

    /// Puts the circuit on the device within so many bytes, proves, compares.
    fn check(&self, source: BasesSource<'_>, available: u64) -> Result<MemoryPlan, ProveError> {
        let backend = CudaBackend::new(device()).expect("a backend");
        let circuit = self.circuit.clone();
        let resident = Resident::new(backend.device(), circuit, source, || Ok(available), &|_| {
            Ok(())
        })?;
        backend.reserve(&resident)?;
        for round in 0..2 {
            let sums = backend.sums(&resident, &self.witness)?;
            let proof = assemble(self.params.vk(), &sums, &self.blinding)?;
            assert_eq!(
                proof.to_bytes(),
                self.expected.to_bytes(),
                "{}, round {round}",
                resident.plan()
            );
        }
        Ok(resident.plan().clone())
    }

    /// The least that any plan needs.
    fn least(&self) -> u64 {
        let refused = self.check(BasesSource::File(&self.params), 0).err();
        let Some(ProveError::DeviceMemory(cause)) = refused else {
            panic!("nothing fits in no memory");
        };
        match cause.downcast_ref::<DeviceError>() {
            Some(DeviceError::NoRoom {
                available: 0,
                least,
            }) => *least,
            other => panic!("{other:?}"),
        }
    }

    fn check_all(&self) {
        let (device, log) = (device(), self.circuit.log_domain());
        let least = self.least();
        let plan = self
            .check(BasesSource::File(&self.params), least)
            .expect("what is least does");
        assert!(plan.streamed.contains(&true), "{plan}");
        assert!(plan.slice_points < 1 << log, "{plan}");
        let on_device = || QueryBases::load(&device, &self.params, log).expect("bases");
        let on_host = HostQueries::copy_of(&on_device()).expect("bases");
        let whole = self
            .check(BasesSource::Device(on_device()), u64::MAX)
            .expect("all fits");
        assert_eq!(whole.streamed, [false; 5], "{whole}");
        assert_eq!(
            whole.resident_bytes(),
            whole.query_bytes.iter().sum::<u64>()
        );
        for step in 0..3 {
            let available = least + (whole.bytes() - least) * step / 3;
            let plan = self.check(BasesSource::Host(&on_host), available);
            let plan = plan.expect("at least the least");
            assert!(plan.bytes() <= available, "{plan} in {available}");
        }
        self.check(BasesSource::Device(on_device()), least)
            .expect("what lies on the device may be sent off it");
    }
}

#[test]
fn a_packed_witness() {
    let mixer = BitMixer {
        state: 77,
        rounds: 20,
    };
    let circuit = compile(mixer.clone());
    let witness = assign(&circuit, mixer);
    Case::new(circuit, witness).check_all();
}

#[test]
fn a_dense_witness() {
    let chain = CubeChain {
        start: Scalar::from(5),
        rounds: 600,
    };
    let circuit = compile(chain.clone());
    let witness = assign(&circuit, chain);
    Case::new(circuit, witness).check_all();
}

#[test]
fn a_capped_backend_loads_and_proves() {
    let mixer = BitMixer {
        state: 9,
        rounds: 20,
    };
    let circuit = compile(mixer.clone());
    let witness = assign(&circuit, mixer);
    let case = Case::new(circuit, witness);
    // The circuit itself and what is kept back for the driver come on top.
    let cap = case.least() + (32 << 20);
    let backend = CudaBackend::with_memory_cap(device(), Some(cap)).expect("a backend");
    let key = backend
        .load(case.circuit.clone(), case.params.clone())
        .expect("a key");
    assert!(backend.device().allocated() <= cap);
    let proof = backend
        .prove(&key, &case.witness, &case.blinding)
        .expect("a proof");
    assert_eq!(proof.to_bytes(), case.expected.to_bytes());

    let too_little = CudaBackend::with_memory_cap(device(), Some(1 << 20)).expect("a backend");
    let refused = too_little.load(case.circuit.clone(), case.params.clone());
    let text = refused.err().expect("too little memory").to_string();
    assert!(text.contains("bytes of device memory"), "{text}");
}
