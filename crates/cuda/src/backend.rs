//! Proofs on a device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuzk_groth16::{
    Backend, Blinding, HostGrant, ParameterFile, Placement, Proof, ProveError, QuerySums,
    VerifyingKey, assemble,
};
use cuzk_r1cs::{R1cs, Witness, WitnessLayout};

use crate::device::{Device, DeviceMemory, Platform};
use crate::error::DeviceError;
use crate::identity::DeviceIdentity;
use crate::resident::Resident;
use crate::setup::DeviceParameters;
use crate::stored::{BasesSource, HostQueries};

impl From<DeviceError> for ProveError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::OutOfMemory { .. } | DeviceError::NoRoom { .. } => {
                Self::DeviceMemory(Box::new(error))
            }
            _ => Self::Device(Box::new(error)),
        }
    }
}

/// Proves on one device. Keys are resident; a proof sends the witness up and gets points down, and allocates nothing on the
/// device. Proofs take turns.
pub struct CudaBackend {
    device: Arc<Device>,
    identity: DeviceIdentity,
    /// Bytes of device memory that may be used, what the driver takes included.
    memory_cap: Option<u64>,
    /// Bytes that were in use, beside what is allocated through `device`.
    taken_before: u64,
    /// What every proof works in, as large as the largest key's needs. Whoever holds the lock is proving.
    scratch: Mutex<Option<DeviceMemory>>,
}

/// A circuit and its parameters on a device.
pub struct CudaKey {
    vk: VerifyingKey,
    resident: Resident,
}

impl CudaKey {
    /// What verifies its proofs.
    pub fn vk(&self) -> &VerifyingKey {
        &self.vk
    }

    /// What of it is on the device.
    pub fn resident(&self) -> &Resident {
        &self.resident
    }
}

impl CudaBackend {
    /// A backend on an open device.
    ///
    /// # Errors
    /// When the device does not say what it is.
    pub fn new(device: Arc<Device>) -> Result<Self, DeviceError> {
        Self::with_memory_cap(device, None)
    }

    /// A backend that takes a device for one with so many bytes of memory.
    ///
    /// # Errors
    /// When the device does not say what it is.
    pub fn with_memory_cap(
        device: Arc<Device>,
        memory_cap: Option<u64>,
    ) -> Result<Self, DeviceError> {
        let identity = DeviceIdentity::of(&device)?;
        let (free, total) = device.memory()?;
        let taken_before = match device.platform() {
            Platform::Cuda => (total - free).saturating_sub(device.allocated()),
            // Where tests share the memory.
            Platform::Emulated => 0,
        };
        Ok(Self {
            device,
            identity,
            memory_cap,
            taken_before,
            scratch: Mutex::new(None),
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What it is.
    pub fn identity(&self) -> &DeviceIdentity {
        &self.identity
    }

    /// The cap on its memory.
    pub fn memory_cap(&self) -> Option<u64> {
        self.memory_cap
    }

    /// Bytes that a circuit's bases and the scratch memory may take, where `counted` bytes that are in use already are among
    /// them.
    fn available(&self, counted: u64) -> Result<u64, DeviceError> {
        let (free, total) = self.device.memory()?;
        let scratch = self.lock_scratch().as_ref().map_or(0, DeviceMemory::bytes);
        let cap = self.memory_cap.unwrap_or(total).min(total);
        let below_cap =
            (cap + scratch + counted).saturating_sub(self.taken_before + self.device.allocated());
        // What the driver takes later, for code and for gaps.
        let kept_back = total / 512;
        Ok(below_cap
            .min(free + scratch + counted)
            .saturating_sub(kept_back))
    }

    /// A circuit with its bases, as much of them on the device as there is room for, and the scratch memory that it needs.
    ///
    /// # Errors
    /// As [`Resident::new`].
    pub fn place(
        &self,
        circuit: Arc<R1cs>,
        source: BasesSource<'_>,
    ) -> Result<Resident, ProveError> {
        self.place_granted(circuit, source, &|_| Ok(()))
    }

    fn place_granted(
        &self,
        circuit: Arc<R1cs>,
        source: BasesSource<'_>,
        grant: &HostGrant<'_>,
    ) -> Result<Resident, ProveError> {
        let counted = match &source {
            BasesSource::Device(bases) => bases.bytes(),
            _ => 0,
        };
        let available = || self.available(counted);
        let resident = Resident::new(&self.device, circuit, source, available, grant)?;
        tracing::info!(device = %self.identity, plan = %resident.plan(), "memory plan");
        self.reserve(&resident)?;
        Ok(resident)
    }

    fn lock_scratch(&self) -> MutexGuard<'_, Option<DeviceMemory>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the scratch memory as large as a resident circuit needs, when no proof is under way.
    ///
    /// # Errors
    /// When there is not so much left; then it is as large as before.
    pub fn reserve(&self, resident: &Resident) -> Result<(), DeviceError> {
        let bytes = resident.scratch_bytes();
        let mut scratch = self.lock_scratch();
        if scratch
            .as_ref()
            .is_some_and(|memory| memory.bytes() >= bytes)
        {
            return Ok(());
        }
        // The old one first: there may not be room for both.
        let before = scratch.take().map_or(0, |memory| memory.bytes());
        match self.device.allocate(bytes) {
            Ok(memory) => {
                *scratch = Some(memory);
                Ok(())
            }
            Err(error) => {
                *scratch = Some(self.device.allocate(before)?);
                Err(error)
            }
        }
    }

    /// A key from parameters that were made on the device.
    ///
    /// # Errors
    /// When they are another circuit's, memory runs out, or the device fails.
    pub fn adopt(
        &self,
        circuit: Arc<R1cs>,
        parameters: DeviceParameters,
    ) -> Result<CudaKey, ProveError> {
        let DeviceParameters { vk, bases } = parameters;
        let resident = self.place(circuit, BasesSource::Device(bases))?;
        Ok(CudaKey { vk, resident })
    }

    /// A key from bases that lie in the host's memory.
    ///
    /// # Errors
    /// As [`Resident::new`].
    pub fn adopt_host(
        &self,
        circuit: Arc<R1cs>,
        vk: VerifyingKey,
        bases: &HostQueries,
    ) -> Result<CudaKey, ProveError> {
        let resident = self.place(circuit, BasesSource::Host(bases))?;
        Ok(CudaKey { vk, resident })
    }

    /// The five sums of a proof.
    ///
    /// # Errors
    /// When the witness is laid out for another circuit, or the device fails.
    pub fn sums(&self, resident: &Resident, witness: &Witness) -> Result<QuerySums, ProveError> {
        check_layout(resident.circuit(), witness)?;
        let scratch = self.lock_scratch();
        match scratch.as_ref() {
            Some(memory) if memory.bytes() >= resident.scratch_bytes() => {
                Ok(resident.sums(witness, memory)?)
            }
            _ => Err(DeviceError::Unsupported(
                "a circuit that no scratch memory was reserved for".into(),
            )
            .into()),
        }
    }
}

impl Backend for CudaBackend {
    type Key = CudaKey;

    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn load(&self, circuit: Arc<R1cs>, params: Arc<ParameterFile>) -> Result<CudaKey, ProveError> {
        self.load_granted(circuit, params, &|_| Ok(()))
    }

    fn load_granted(
        &self,
        circuit: Arc<R1cs>,
        params: Arc<ParameterFile>,
        grant: &HostGrant<'_>,
    ) -> Result<CudaKey, ProveError> {
        params.check_circuit(&circuit)?;
        let resident = self.place_granted(circuit, BasesSource::File(&params), grant)?;
        let vk = params.vk().clone();
        Ok(CudaKey { vk, resident })
    }

    fn placement(&self, key: &CudaKey) -> Option<Placement> {
        let plan = key.resident.plan();
        Some(Placement {
            resident: plan.queries(false),
            streamed: plan.queries(true),
            resident_bytes: plan.resident_bytes(),
            streamed_bytes: plan.streamed_bytes(),
            scratch_bytes: plan.scratch_bytes(),
            memory_cap_bytes: self.memory_cap,
        })
    }

    fn prove(
        &self,
        key: &CudaKey,
        witness: &Witness,
        blinding: &Blinding,
    ) -> Result<Proof, ProveError> {
        assemble(&key.vk, &self.sums(&key.resident, witness)?, blinding)
    }
}

/// The witness must be laid out as the circuit says.
fn check_layout(circuit: &R1cs, witness: &Witness) -> Result<(), ProveError> {
    let (found, expected) = (witness.layout(), circuit.layout());
    if Arc::ptr_eq(found, expected) || found == expected {
        return Ok(());
    }
    let shape = |layout: &WitnessLayout| {
        let (inputs, aux, wide) = (layout.num_inputs(), layout.num_aux(), layout.num_wide());
        format!("{inputs} inputs and {aux} private variables, {wide} of them wide")
    };
    Err(ProveError::Witness {
        found: shape(found),
        expected: shape(expected),
    })
}
