//! The real [`Pipeline`]: Filecoin's statements, proved with Groth16 on the devices at hand.

mod circuit;
mod damaged;
mod device;
mod maker;
mod self_test;

pub use circuit::{OpenCircuit, Store};
pub use device::{BackendDevice, Device, LoadedKey, MemoryProbe};

use std::sync::{Arc, OnceLock};

use cuzk_filecoin::{CircuitId, ProofRequest, RequestError, Statement, VerifiedProof};
use cuzk_groth16::{Blinding, HostGrant, Placement, Proof};
use cuzk_r1cs::Witness;

use crate::payload::payload_bytes;
use crate::pipeline::{Decoded, DeviceInfo, Footprint, Opened, Pipeline, ProveFault};
use device::fault;
use self_test::SelfTest;

/// Bytes of a decoded statement for each byte of its request: what the decoders promise at most.
const STATEMENT_PER_PAYLOAD: u64 = 4;

/// Proves Filecoin's four kinds of proofs.
pub struct Filecoin {
    store: Store,
    devices: Vec<Arc<dyn Device>>,
    self_test: OnceLock<Result<SelfTest, String>>,
}

impl Filecoin {
    /// With these devices; their position is their ordinal.
    pub fn new(store: Store, devices: Vec<Arc<dyn Device>>) -> Self {
        Self {
            store,
            devices,
            self_test: OnceLock::new(),
        }
    }

    /// With the CPU as the only device.
    pub fn on_cpu(store: Store) -> Self {
        Self::new(store, vec![Arc::new(BackendDevice::cpu())])
    }
}

impl Pipeline for Filecoin {
    type Statement = Statement;
    type Circuit = OpenCircuit;
    type Key = Box<dyn LoadedKey>;
    type Witness = Witness;
    type Proof = Proof;
    type Verified = VerifiedProof;

    fn decode(&self, request: &ProofRequest) -> Result<Decoded<Statement>, RequestError> {
        let statement = Statement::decode(request)?;
        Ok(Decoded {
            circuit: statement.circuit_id(),
            partitions: statement.num_partitions(),
            bytes: payload_bytes(request).saturating_mul(STATEMENT_PER_PAYLOAD),
            statement,
        })
    }

    fn footprint(&self, circuit: CircuitId) -> Result<Footprint, String> {
        self.store.footprint(circuit)
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        self.devices.iter().map(|device| device.info()).collect()
    }

    fn self_test(&self, device: usize) -> Result<(), String> {
        let test = self.self_test.get_or_init(SelfTest::new);
        let test = test.as_ref().map_err(Clone::clone)?;
        test.run(self.devices[device].as_ref())
    }

    fn open(&self, circuit: CircuitId) -> Result<Opened<OpenCircuit>, String> {
        self.store.open(circuit)
    }

    fn load(
        &self,
        device: usize,
        circuit: &OpenCircuit,
        grant: &HostGrant<'_>,
    ) -> Result<Box<dyn LoadedKey>, String> {
        let device = &self.devices[device];
        let loaded = device.load(circuit.r1cs.clone(), circuit.params.clone(), grant);
        loaded.map_err(|e| e.to_string())
    }

    fn placement(key: &Box<dyn LoadedKey>) -> Option<Placement> {
        key.placement()
    }

    fn witness(
        &self,
        statement: &Statement,
        k: usize,
        circuit: &OpenCircuit,
    ) -> Result<Witness, String> {
        circuit.witness(statement, k)
    }

    fn prove(
        &self,
        _device: usize,
        key: &Box<dyn LoadedKey>,
        witness: &Witness,
    ) -> Result<Proof, ProveFault> {
        key.prove(witness, &Blinding::random())
            .map_err(|e| fault(&e))
    }

    fn verify(
        &self,
        statement: &Statement,
        circuit: &OpenCircuit,
        proofs: &[Proof],
    ) -> Result<VerifiedProof, String> {
        let verified = statement.verify(&circuit.vk, proofs);
        verified.map_err(|e| e.to_string())
    }

    fn bytes(verified: &VerifiedProof) -> Vec<u8> {
        verified.bytes().to_vec()
    }

    fn recycle(&self, circuit: &OpenCircuit, witness: Witness) {
        circuit.recycle(witness);
    }
}
