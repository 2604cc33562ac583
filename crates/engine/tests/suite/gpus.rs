//! Real proofs through the engine on emulated GPUs, of a circuit that is small enough for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use cuzk_cuda::{CudaBackend, DeviceError, Platform};
use cuzk_engine::{
    BackendDevice, Decoded, Device, DeviceInfo, Engine, Footprint, HostGrant, Limits, LoadedKey,
    Opened, Outcome, Pipeline, Placement, ProveFault, Settings, Submission, Waited,
};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, RequestError, SectorSize};
use cuzk_groth16::conformance::Fixture;
use cuzk_groth16::conformance::circuits::BitMixer;
use cuzk_groth16::{
    Backend, Blinding, CpuBackend, ParameterFile, PreparedVerifyingKey, Proof, ProveError, verify,
};
use cuzk_r1cs::{R1cs, Scalar, Witness};

/// Proves one circuit, as many partitions of it as the request has bytes.
struct Small {
    fixture: Arc<Fixture>,
    vk: PreparedVerifyingKey,
    public: Vec<Scalar>,
    devices: Vec<Arc<dyn Device>>,
}

fn fixture(rounds: usize) -> Arc<Fixture> {
    let state = 77;
    Arc::new(Fixture::new(BitMixer { state, rounds }))
}

fn circuit() -> CircuitId {
    CircuitId::new(ProofKind::PoRep, SectorSize::S2KiB)
}

impl Pipeline for Small {
    type Statement = ();
    type Circuit = ();
    type Key = Box<dyn LoadedKey>;
    type Witness = ();
    type Proof = Proof;
    type Verified = Vec<u8>;

    fn decode(&self, request: &ProofRequest) -> Result<Decoded<()>, RequestError> {
        Ok(Decoded {
            statement: (),
            circuit: circuit(),
            partitions: request.vanilla_proofs[0].len(),
            bytes: 0,
        })
    }

    fn footprint(&self, _: CircuitId) -> Result<Footprint, String> {
        Ok(Footprint {
            circuit: 1000,
            witness: 0,
            parameters: 0,
        })
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        self.devices.iter().map(|device| device.info()).collect()
    }

    /// Only where there is a device to move to, for the emulation is slow.
    fn self_test(&self, device: usize) -> Result<(), String> {
        if self.devices.len() == 1 {
            return Ok(());
        }
        let key = self.load(device, &(), &|_| Ok(()))?;
        let proof = self.prove(device, &key, &());
        let proof = proof.map_err(|fault| fault.to_string())?;
        self.verify(&(), &(), &[proof]).map(drop)
    }

    fn open(&self, _: CircuitId) -> Result<Opened<()>, String> {
        Ok(Opened {
            circuit: (),
            insecure: true,
            check: None,
        })
    }

    fn load(
        &self,
        device: usize,
        _: &(),
        grant: &HostGrant<'_>,
    ) -> Result<Box<dyn LoadedKey>, String> {
        let (circuit, params) = (self.fixture.circuit.clone(), self.fixture.params.clone());
        let loaded = self.devices[device].load(circuit, params, grant);
        loaded.map_err(|error| error.to_string())
    }

    fn placement(key: &Box<dyn LoadedKey>) -> Option<Placement> {
        key.placement()
    }

    fn witness(&self, _: &(), _: usize, _: &()) -> Result<(), String> {
        Ok(())
    }

    fn prove(&self, _: usize, key: &Box<dyn LoadedKey>, _: &()) -> Result<Proof, ProveFault> {
        let proof = key.prove(&self.fixture.witness, &Blinding::random());
        proof.map_err(|error| ProveFault::Broken(error.to_string()))
    }

    fn verify(&self, _: &(), _: &(), proofs: &[Proof]) -> Result<Vec<u8>, String> {
        for proof in proofs {
            verify(&self.vk, &self.public, proof).map_err(|error| error.to_string())?;
        }
        Ok(proofs.iter().flat_map(Proof::to_bytes).collect())
    }

    fn bytes(verified: &Vec<u8>) -> Vec<u8> {
        verified.clone()
    }
}

/// A GPU that is lost after so many proofs.
struct Losable {
    gpu: Box<dyn Device>,
    proofs_left: Arc<AtomicI64>,
}

struct LosableKey {
    key: Box<dyn LoadedKey>,
    proofs_left: Arc<AtomicI64>,
}

impl Device for Losable {
    fn info(&self) -> DeviceInfo {
        self.gpu.info()
    }

    fn load(
        &self,
        circuit: Arc<R1cs>,
        params: Arc<ParameterFile>,
        grant: &HostGrant<'_>,
    ) -> Result<Box<dyn LoadedKey>, ProveError> {
        let key = self.gpu.load(circuit, params, grant)?;
        let proofs_left = self.proofs_left.clone();
        Ok(Box::new(LosableKey { key, proofs_left }))
    }
}

impl LoadedKey for LosableKey {
    fn prove(&self, witness: &Witness, blinding: &Blinding) -> Result<Proof, ProveError> {
        if self.proofs_left.fetch_sub(1, Ordering::Relaxed) > 0 {
            return self.key.prove(witness, blinding);
        }
        Err(DeviceError::Cuda {
            code: 719,
            text: "unspecified launch failure".into(),
            call: "cudaStreamSynchronize".into(),
            file: "api.cu".into(),
            line: 1,
        }
        .into())
    }

    fn placement(&self) -> Option<Placement> {
        self.key.placement()
    }
}

fn gpu(ordinal: u32, cap: Option<u64>) -> BackendDevice<CudaBackend> {
    let device = cuzk_cuda::Device::open(Platform::Emulated, ordinal).expect("feature emulate");
    let backend = CudaBackend::with_memory_cap(device, cap).expect("a backend");
    BackendDevice::new(backend, Box::new(|| (0, 0)))
}

fn start(
    fixture: &Arc<Fixture>,
    devices: Vec<Arc<dyn Device>>,
    memory_bytes: u64,
) -> (Engine<Small>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        limits: Limits::for_devices(devices.len()),
        memory_bytes,
        eviction_min_idle: Duration::ZERO,
        cpu_threads: 2,
        journal_dir: dir.path().join("journal"),
    };
    let small = Small {
        vk: PreparedVerifyingKey::new(fixture.params.vk()),
        public: fixture.witness.inputs()[1..].to_vec(),
        fixture: fixture.clone(),
        devices,
    };
    (Engine::start(small, settings).expect("starts"), dir)
}

fn prove(engine: &Engine<Small>, partitions: usize) -> Result<usize, String> {
    let request = ProofRequest {
        vanilla_proofs: vec![vec![0; partitions]],
        ..ProofRequest::new(ProofKind::PoRep)
    };
    let job = engine.submit(Submission {
        request_id: String::new(),
        priority: None,
        request,
    });
    let job = job.expect("accepted").job_id;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().build().unwrap();
    let limit = Some(Duration::from_secs(120));
    match runtime.block_on(engine.wait(job, limit)).expect("known") {
        Waited::Ended(finished) => match &finished.outcome {
            Outcome::Completed { proof } => Ok(proof.len() / 192),
            Outcome::Failed { cause } => Err(cause.clone()),
            Outcome::Cancelled { .. } => Err("cancelled".into()),
        },
        Waited::TimedOut => panic!("{:#?}", engine.status()),
    }
}

#[test]
fn one_proof_is_made_by_two_gpus_until_one_is_lost_and_then_by_the_other() {
    let fixture = fixture(3);
    let proofs_left = Arc::new(AtomicI64::new(i64::MAX));
    let losable = Losable {
        gpu: Box::new(gpu(0, None)),
        proofs_left: proofs_left.clone(),
    };
    let devices: Vec<Arc<dyn Device>> = vec![Arc::new(losable), Arc::new(gpu(1, None))];
    let (engine, _dir) = start(&fixture, devices, 1 << 30);
    let work = || {
        engine
            .status()
            .devices
            .iter()
            .map(|d| d.work)
            .collect::<Vec<_>>()
    };
    assert_eq!(prove(&engine, 6), Ok(6));
    let spread = work();
    assert!(spread.iter().all(|w| w.proved > 0), "{spread:?}");
    let status = engine.status();
    assert_eq!(
        status.circuits[0].devices,
        [0, 1],
        "each has a key of its own"
    );
    assert_eq!(status.devices[1].info.name, "emulated:1 emulated device");

    proofs_left.store(1, Ordering::Relaxed);
    assert_eq!(prove(&engine, 6), Ok(6));
    let status = engine.status();
    let (lost, other) = (&status.devices[0], &status.devices[1]);
    assert_eq!(lost.state, "left out");
    let cause = lost.cause.as_deref().unwrap_or_default();
    assert!(cause.contains("CUDA error 719"), "{cause}");
    assert_eq!(lost.work.proved, spread[0].proved + 1);
    assert_eq!(lost.work.failed, 1);
    assert_eq!(other.work.proved, spread[1].proved + 5);
}

/// The least memory that a device can prove with, and what the circuit takes of it beside bases and scratch memory.
fn least_memory(fixture: &Fixture) -> u64 {
    let load = |cap| {
        let device = cuzk_cuda::Device::open(Platform::Emulated, 0).expect("feature emulate");
        let backend = CudaBackend::with_memory_cap(device.clone(), cap).expect("a backend");
        let key = backend.load(fixture.circuit.clone(), fixture.params.clone());
        let total = device.memory().expect("memory").1;
        key.map(|key| (device.allocated() - key.resident().plan().bytes(), total))
    };
    let Err(ProveError::DeviceMemory(refused)) = load(Some(1)) else {
        panic!("nothing fits in one byte");
    };
    let Some(DeviceError::NoRoom { least, .. }) = refused.downcast_ref() else {
        panic!("{refused}");
    };
    let (circuit, total) = load(None).expect("fits");
    // The backend leaves the driver a part in 512.
    least + circuit + total / 512
}

#[test]
fn what_streams_to_a_small_gpu_is_shown_and_counted_in_the_memory_budget() {
    // Fewer rounds need so few bases that all stay wherever there is room to prove at all.
    let fixture = fixture(20);
    let cap = least_memory(&fixture);
    let start = |memory| start(&fixture, vec![Arc::new(gpu(0, Some(cap)))], memory);
    let (engine, _dir) = start(1 << 30);
    assert_eq!(prove(&engine, 1), Ok(1));
    let status = engine.status();
    let key = &status.circuits[0].keys[0];
    let placement = key.placement.as_ref().expect("a GPU");
    assert!(!placement.streamed.is_empty(), "{placement:?}");
    assert_eq!(placement.resident.len() + placement.streamed.len(), 5);
    assert_eq!(placement.memory_cap_bytes, Some(cap));
    let held = status.memory.allocations.last().expect("allocations");
    assert_eq!(
        (held.owner.as_str(), held.bytes),
        (
            "bases of porep-2k that stream to emulated:0 emulated device",
            placement.streamed_bytes
        )
    );
    assert!(held.bytes > 0);
    let all = 1000 + placement.streamed_bytes;
    assert_eq!(status.memory.reserved_bytes, all);
    assert_eq!(engine.evict(circuit()).unwrap(), Some(all));
    assert_eq!(engine.status().memory.reserved_bytes, 0);

    let (engine, _dir) = start(all - 1);
    let cause = prove(&engine, 1).expect_err("no room");
    assert!(cause.contains("memory.total_budget: needs"), "{cause}");
}

/// The CPU keeps nothing on a device.
#[test]
fn on_the_cpu_there_is_no_placement() {
    let fixture = fixture(3);
    let cpu = BackendDevice::new(CpuBackend::new(), Box::new(|| (0, 0)));
    let (engine, _dir) = start(&fixture, vec![Arc::new(cpu)], 1 << 30);
    assert_eq!(prove(&engine, 1), Ok(1));
    assert_eq!(engine.status().circuits[0].keys[0].placement, None);
}
