//! The seam between scheduling and proving: what the engine asks of whoever proves.
//!
//! The engine knows jobs, partitions, devices and bytes; a [`Pipeline`] knows what they mean. [`crate::Filecoin`] is the real one. Tests
//! put in one that is slow, wrong or panics, and so test every schedule in milliseconds.
//!
//! The stages of a job are the methods, in this order:
//!
//! ```text
//! decode -> (open, load: once a circuit) -> witness(k) -> prove(k) -> verify
//! ```
//!
//! Only [`verify`](Pipeline::verify) makes a `Verified`, and only that becomes a completed job: no unverified proof can leave.

use cuzk_filecoin::{CircuitId, ProofRequest, RequestError};
use cuzk_groth16::{HostGrant, Placement};

/// How requests become proofs. All methods but the cheap ones named so may take long; the engine calls them from its own threads.
pub trait Pipeline: Send + Sync + 'static {
    /// A decoded request.
    type Statement: Send + Sync;
    /// A compiled circuit with its opened parameter file and verifying key.
    type Circuit: Send + Sync;
    /// A circuit's proving key, loaded on one device.
    type Key: Send + Sync;
    /// The assignment of one partition.
    type Witness: Send;
    /// The proof of one partition.
    type Proof: Send + Sync + Clone;
    /// The proofs of all partitions, verified.
    type Verified;

    /// Checks a request in full: what this lets pass is only refused for reasons that lie with the service.
    fn decode(&self, request: &ProofRequest) -> Result<Decoded<Self::Statement>, RequestError>;

    /// Memory that a circuit takes. Cheap: looks at files, reads no more than their headers. Fails when parameters are missing.
    fn footprint(&self, circuit: CircuitId) -> Result<Footprint, String>;

    /// The devices, in the order of their ordinals. The number never changes. Cheap.
    fn devices(&self) -> Vec<DeviceInfo>;

    /// Proves something small on a device and compares it with what must come out. Run at start-up and after a wrong proof.
    fn self_test(&self, device: usize) -> Result<(), String>;

    /// Compiles a circuit, or reads it from the cache, and opens its parameters.
    fn open(&self, circuit: CircuitId) -> Result<Opened<Self::Circuit>, String>;

    /// Loads an opened circuit's proving key on a device. Asks for the bytes of the host's memory that the key will hold beyond
    /// what the circuit's footprint says, before it takes them.
    fn load(
        &self,
        device: usize,
        circuit: &Self::Circuit,
        grant: &HostGrant<'_>,
    ) -> Result<Self::Key, String>;

    /// Where a key's bases are; none where no device keeps any. Cheap.
    fn placement(_key: &Self::Key) -> Option<Placement> {
        None
    }

    /// Generates the witness of partition `k`.
    fn witness(
        &self,
        statement: &Self::Statement,
        k: usize,
        circuit: &Self::Circuit,
    ) -> Result<Self::Witness, String>;

    /// Proves one partition.
    fn prove(
        &self,
        device: usize,
        key: &Self::Key,
        witness: &Self::Witness,
    ) -> Result<Self::Proof, ProveFault>;

    /// Verifies the proofs of all partitions.
    fn verify(
        &self,
        statement: &Self::Statement,
        circuit: &Self::Circuit,
        proofs: &[Self::Proof],
    ) -> Result<Self::Verified, String>;

    /// The encoding of a verified proof. Cheap.
    fn bytes(verified: &Self::Verified) -> Vec<u8>;

    /// Takes back the buffers of a witness that is no longer needed. Cheap.
    fn recycle(&self, _circuit: &Self::Circuit, _witness: Self::Witness) {}
}

/// A request that was found right.
#[derive(Debug, Clone)]
pub struct Decoded<S> {
    /// What is to be proved.
    pub statement: S,
    /// Its circuit.
    pub circuit: CircuitId,
    /// How many partitions it has; at least one.
    pub partitions: usize,
    /// Bytes that the statement takes in memory, estimated from above.
    pub bytes: u64,
}

/// Host memory in bytes, estimated from above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// The circuit and its keys on all devices, and what proving takes besides the witness.
    pub circuit: u64,
    /// The witness of one partition.
    pub witness: u64,
    /// Size of the parameter file; for display.
    pub parameters: u64,
}

/// An opened circuit.
#[derive(Debug)]
pub struct Opened<C> {
    /// The circuit.
    pub circuit: C,
    /// The parameters come from a developer's setup: whoever made them can forge proofs.
    pub insecure: bool,
    /// What is still to be checked of the parameters, beside loading them and proving: one thread takes a minute for 44 GiB.
    pub check: Option<LateCheck>,
}

/// A check that is made while proving goes on already. When it fails, the circuit is unloaded and its jobs fail.
pub struct LateCheck(Box<dyn FnOnce() -> Result<(), String> + Send>);

impl LateCheck {
    /// What to do; what it answers names the file, what was found and what was expected.
    pub fn new(check: impl FnOnce() -> Result<(), String> + Send + 'static) -> Self {
        Self(Box::new(check))
    }

    /// Does it.
    pub(crate) fn run(self) -> Result<(), String> {
        self.0()
    }
}

impl std::fmt::Debug for LateCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LateCheck")
    }
}

/// A device, for display.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DeviceInfo {
    /// Its name, such as `cpu (portable)`.
    pub name: String,
    /// Bytes of memory.
    pub memory_total: u64,
    /// Bytes of it that are free.
    pub memory_free: u64,
    /// Gets only the work that no other device may try.
    pub fallback: bool,
}

/// Why a partition was not proved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProveFault {
    /// The device's: another try may succeed.
    #[error("{0}")]
    Device(String),
    /// The device's, which may be lost: it is tested before it gets other work.
    #[error("{0}")]
    Broken(String),
    /// The witness's: no device can prove it.
    #[error("{0}")]
    Input(String),
}
