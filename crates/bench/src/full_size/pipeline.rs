//! The engine's pipeline over one circuit whose keys were made on the devices and lie there already.

use std::sync::{Arc, Mutex, PoisonError};

use cuzk_cuda::CudaKey;
use cuzk_engine::{Decoded, DeviceInfo, Footprint, Opened, Pipeline, ProveFault};
use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{CircuitId, ProofRequest, RequestError, Statement, VerifiedProof};
use cuzk_groth16::{Backend, Blinding, HostGrant, PreparedVerifyingKey, Proof};
use cuzk_r1cs::{R1cs, Witness};

use crate::gpu::Gpu;

/// What does not depend on the GPU.
pub(super) struct Circuit {
    pub(super) id: CircuitId,
    pub(super) r1cs: Arc<R1cs>,
    pub(super) generator: Generator,
    pub(super) vk: PreparedVerifyingKey,
    /// Buffers of finished witnesses.
    pub(super) idle: Mutex<Vec<Witness>>,
}

impl Circuit {
    /// A used buffer where there is one.
    fn buffer(&self) -> Witness {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
            .unwrap_or_else(|| Witness::new(self.r1cs.layout().clone()))
    }
}

/// A GPU with the circuit's key on it.
pub(super) struct Prover {
    pub(super) gpu: Gpu,
    pub(super) key: CudaKey,
}

/// Everything that proves one circuit.
pub(super) struct FullSize {
    pub(super) circuit: Arc<Circuit>,
    /// By their place in the options.
    pub(super) provers: Vec<Arc<Prover>>,
}

impl Pipeline for FullSize {
    type Statement = Statement;
    type Circuit = ();
    type Key = Arc<Prover>;
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
        if circuit != self.circuit.id {
            let expected = self.circuit.id;
            return Err(format!("found circuit {circuit}, expected {expected}"));
        }
        let layout = self.circuit.r1cs.layout();
        Ok(Footprint {
            circuit: 0,
            witness: (layout.num_aux() / 8 + 32 * layout.num_wide()) as u64,
            parameters: 0,
        })
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        let info = |prover: &Arc<Prover>| {
            // What the key and its scratch memory took is all that is ever taken.
            let (used, total) = prover.gpu.used_memory().unwrap_or_default();
            DeviceInfo {
                name: prover.gpu.identity().to_string(),
                memory_total: total,
                memory_free: total - used,
                fallback: false,
            }
        };
        self.provers.iter().map(info).collect()
    }

    fn self_test(&self, device: usize) -> Result<(), String> {
        let backend = &self.provers[device].gpu.backend;
        cuzk_cuda::self_test(backend).map_err(|cause| cause.to_string())
    }

    fn open(&self, _circuit: CircuitId) -> Result<Opened<()>, String> {
        Ok(Opened {
            circuit: (),
            insecure: true,
            check: None,
        })
    }

    fn load(
        &self,
        device: usize,
        _circuit: &(),
        _grant: &HostGrant<'_>,
    ) -> Result<Arc<Prover>, String> {
        Ok(self.provers[device].clone())
    }

    fn witness(&self, statement: &Statement, k: usize, _circuit: &()) -> Result<Witness, String> {
        let mut witness = self.circuit.buffer();
        let generated = self.circuit.generator.witness(statement, k, &mut witness);
        generated.map_err(|cause| cause.to_string())?;
        Ok(witness)
    }

    fn prove(
        &self,
        _device: usize,
        prover: &Arc<Prover>,
        witness: &Witness,
    ) -> Result<Proof, ProveFault> {
        let Prover { gpu, key } = &**prover;
        let proof = gpu.backend.prove(key, witness, &Blinding::random());
        proof.map_err(|cause| ProveFault::Broken(cause.to_string()))
    }

    fn verify(
        &self,
        statement: &Statement,
        _circuit: &(),
        proofs: &[Proof],
    ) -> Result<VerifiedProof, String> {
        let verified = statement.verify(&self.circuit.vk, proofs);
        verified.map_err(|cause| cause.to_string())
    }

    fn bytes(verified: &VerifiedProof) -> Vec<u8> {
        verified.bytes().to_vec()
    }

    fn recycle(&self, _circuit: &(), witness: Witness) {
        let idle = self.circuit.idle.lock();
        idle.unwrap_or_else(PoisonError::into_inner).push(witness);
    }
}
