//! The engine's pipeline over one circuit whose key was made on the device and lies there already.

use std::sync::{Arc, Mutex, PoisonError};

use cuzk_cuda::CudaKey;
use cuzk_engine::{Decoded, DeviceInfo, Footprint, Opened, Pipeline, ProveFault};
use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{CircuitId, ProofRequest, RequestError, Statement, VerifiedProof};
use cuzk_groth16::{Backend, Blinding, PreparedVerifyingKey, Proof};
use cuzk_r1cs::{R1cs, Witness};

use crate::gpu::Gpu;

/// Everything that proves one circuit on one device.
pub(super) struct FullSize {
    pub(super) id: CircuitId,
    pub(super) gpu: Gpu,
    pub(super) circuit: Arc<R1cs>,
    pub(super) generator: Generator,
    pub(super) key: Arc<CudaKey>,
    pub(super) vk: PreparedVerifyingKey,
    /// Buffers of finished witnesses.
    pub(super) idle: Mutex<Vec<Witness>>,
}

impl FullSize {
    /// A used buffer where there is one.
    fn buffer(&self) -> Witness {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
            .unwrap_or_else(|| Witness::new(self.circuit.layout().clone()))
    }
}

impl Pipeline for FullSize {
    type Statement = Statement;
    type Circuit = ();
    type Key = Arc<CudaKey>;
    type Witness = Witness;
    type Proof = Proof;
    type Verified = VerifiedProof;

    fn decode(&self, request: &ProofRequest) -> Result<Decoded<Statement>, RequestError> {
        let statement = Statement::decode(request)?;
        let payload: usize = request.vanilla_proofs.iter().map(Vec::len).sum();
        Ok(Decoded {
            circuit: statement.circuit_id(),
            partitions: statement.num_partitions(),
            bytes: 4 * payload as u64,
            statement,
        })
    }

    fn footprint(&self, circuit: CircuitId) -> Result<Footprint, String> {
        if circuit != self.id {
            return Err(format!("found circuit {circuit}, expected {}", self.id));
        }
        let layout = self.circuit.layout();
        Ok(Footprint {
            circuit: 0,
            witness: (layout.num_aux() / 8 + 32 * layout.num_wide()) as u64,
            parameters: 0,
        })
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        // What the key and its scratch memory took is all that is ever taken.
        let (used, total) = self.gpu.used_memory().unwrap_or_default();
        vec![DeviceInfo {
            name: self.gpu.identity().to_string(),
            memory_total: total,
            memory_free: total - used,
            fallback: false,
        }]
    }

    fn self_test(&self, _device: usize) -> Result<(), String> {
        cuzk_cuda::self_test(&self.gpu.backend).map_err(|cause| cause.to_string())
    }

    fn open(&self, _circuit: CircuitId) -> Result<Opened<()>, String> {
        Ok(Opened {
            circuit: (),
            insecure: true,
        })
    }

    fn load(&self, _device: usize, _circuit: &()) -> Result<Arc<CudaKey>, String> {
        Ok(self.key.clone())
    }

    fn witness(&self, statement: &Statement, k: usize, _circuit: &()) -> Result<Witness, String> {
        let mut witness = self.buffer();
        let generated = self.generator.witness(statement, k, &mut witness);
        generated.map_err(|cause| cause.to_string())?;
        Ok(witness)
    }

    fn prove(
        &self,
        _device: usize,
        key: &Arc<CudaKey>,
        witness: &Witness,
    ) -> Result<Proof, ProveFault> {
        let proof = self.gpu.backend.prove(key, witness, &Blinding::random());
        proof.map_err(|cause| ProveFault::Device(cause.to_string()))
    }

    fn verify(
        &self,
        statement: &Statement,
        _circuit: &(),
        proofs: &[Proof],
    ) -> Result<VerifiedProof, String> {
        let verified = statement.verify(&self.vk, proofs);
        verified.map_err(|cause| cause.to_string())
    }

    fn bytes(verified: &VerifiedProof) -> Vec<u8> {
        verified.bytes().to_vec()
    }

    fn recycle(&self, _circuit: &(), witness: Witness) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(witness);
    }
}
