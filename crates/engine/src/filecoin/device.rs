//! Devices, whatever their backend.

use std::sync::Arc;

use cuzk_groth16::{
    Backend, Blinding, CpuBackend, HostGrant, ParameterFile, Placement, Proof, ProveError,
};
use cuzk_r1cs::{R1cs, Witness};

use crate::memory;
use crate::pipeline::{DeviceInfo, ProveFault};

/// A [`Backend`] with its key type hidden, so that different devices stand in one list.
pub trait Device: Send + Sync {
    /// Name and memory. Cheap.
    fn info(&self) -> DeviceInfo;

    /// Makes a circuit and its parameters ready; asks before it takes the host's memory for bases that stream.
    fn load(
        &self,
        circuit: Arc<R1cs>,
        params: Arc<ParameterFile>,
        grant: &HostGrant<'_>,
    ) -> Result<Box<dyn LoadedKey>, ProveError>;
}

/// A circuit and its parameters on one device.
pub trait LoadedKey: Send + Sync {
    /// Proves on that device.
    fn prove(&self, witness: &Witness, blinding: &Blinding) -> Result<Proof, ProveError>;

    /// Where its bases are; none where no device keeps any.
    fn placement(&self) -> Option<Placement>;
}

/// Bytes of memory: in all, and free.
pub type MemoryProbe = Box<dyn Fn() -> (u64, u64) + Send + Sync>;

/// Any backend as a [`Device`].
pub struct BackendDevice<B> {
    backend: Arc<B>,
    memory: MemoryProbe,
    fallback: bool,
}

struct BackendKey<B: Backend> {
    backend: Arc<B>,
    key: B::Key,
}

impl<B: Backend + 'static> BackendDevice<B> {
    /// A device of this backend; `memory` tells how much of it there is.
    pub fn new(backend: B, memory: MemoryProbe) -> Self {
        Self {
            backend: Arc::new(backend),
            memory,
            fallback: false,
        }
    }

    /// Gets only the work that no other device may try.
    #[must_use]
    pub fn as_fallback(mut self) -> Self {
        self.fallback = true;
        self
    }
}

impl BackendDevice<CpuBackend> {
    /// The CPU, with the best instruction set that it has.
    pub fn cpu() -> Self {
        let probe = || {
            let total = memory::available_to_process().unwrap_or(0);
            (total, memory::free_on_machine().unwrap_or(0).min(total))
        };
        Self::new(CpuBackend::new(), Box::new(probe))
    }
}

impl<B: Backend + 'static> Device for BackendDevice<B> {
    fn info(&self) -> DeviceInfo {
        let (memory_total, memory_free) = (self.memory)();
        DeviceInfo {
            name: self.backend.name(),
            memory_total,
            memory_free,
            fallback: self.fallback,
        }
    }

    fn load(
        &self,
        circuit: Arc<R1cs>,
        params: Arc<ParameterFile>,
        grant: &HostGrant<'_>,
    ) -> Result<Box<dyn LoadedKey>, ProveError> {
        let key = self.backend.load_granted(circuit, params, grant)?;
        let backend = self.backend.clone();
        Ok(Box::new(BackendKey { backend, key }))
    }
}

impl<B: Backend> LoadedKey for BackendKey<B> {
    fn prove(&self, witness: &Witness, blinding: &Blinding) -> Result<Proof, ProveError> {
        self.backend.prove(&self.key, witness, blinding)
    }

    fn placement(&self) -> Option<Placement> {
        self.backend.placement(&self.key)
    }
}

/// Whether another try can help.
pub(super) fn fault(error: &ProveError) -> ProveFault {
    let text = error.to_string();
    match error {
        ProveError::Params(_) | ProveError::Witness { .. } | ProveError::Domain { .. } => {
            ProveFault::Input(text)
        }
        ProveError::Device(_) => ProveFault::Broken(text),
        // A degenerate proof is bad luck with the blinding, which the next try draws anew.
        _ => ProveFault::Device(text),
    }
}
