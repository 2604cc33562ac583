//! The seam between the prover's arithmetic and whoever schedules it.

use std::sync::Arc;

use cuzk_r1cs::{R1cs, Witness};

use crate::params::{ParameterFile, ParamsError};
use crate::proof::{Blinding, Proof};

/// Proves on one device.
///
/// A proof is determined by circuit, parameters, witness and blinding: every backend gives the same bytes, which
/// `conformance::check` tests. What a device keeps resident is its own affair, behind [`Key`](Self::Key).
pub trait Backend: Send + Sync {
    /// A circuit and its parameters, ready to prove with.
    type Key: Send + Sync;

    /// Names the device for logs and status.
    fn name(&self) -> String;

    /// Makes a circuit and its parameters ready. Fails when the counts of the two do not agree.
    fn load(&self, circuit: Arc<R1cs>, params: Arc<ParameterFile>)
    -> Result<Self::Key, ProveError>;

    /// [`load`](Self::load), which asks before it takes memory of the host that the key is to hold as long as it lives.
    fn load_granted(
        &self,
        circuit: Arc<R1cs>,
        params: Arc<ParameterFile>,
        _grant: &HostGrant<'_>,
    ) -> Result<Self::Key, ProveError> {
        self.load(circuit, params)
    }

    /// Where a key's bases are; none where no device keeps any.
    fn placement(&self, _key: &Self::Key) -> Option<Placement> {
        None
    }

    /// Proves that `witness` satisfies the circuit. An unsatisfying witness gives a proof that does not verify: whoever
    /// hands out proofs verifies them first.
    fn prove(
        &self,
        key: &Self::Key,
        witness: &Witness,
        blinding: &Blinding,
    ) -> Result<Proof, ProveError>;
}

/// Asked for bytes of the host's memory; a refusal says why.
pub type HostGrant<'a> = dyn Fn(u64) -> Result<(), String> + 'a;

/// Where a key's bases are. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Placement {
    /// Queries whose bases stay on the device: of H, L, A, B in G1 and B in G2.
    pub resident: Vec<&'static str>,
    /// Queries whose bases come from the host's memory for every proof.
    pub streamed: Vec<&'static str>,
    /// Bases that stay.
    pub resident_bytes: u64,
    /// Bases that come, and wait in the host's memory.
    pub streamed_bytes: u64,
    /// What a proof works in on the device, which all keys share.
    pub scratch_bytes: u64,
    /// What of the device's memory may be used, where that is not all of it.
    pub memory_cap_bytes: Option<u64>,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The parameters cannot be used with this circuit.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The witness is laid out for another circuit.
    #[error("witness: found {found}, expected {expected} for this circuit")]
    Witness {
        /// The witness's shape.
        found: String,
        /// The circuit's.
        expected: String,
    },
    /// The circuit needs a larger domain than the prover or the field has.
    #[error("found a domain of 2^{found} points, expected at most 2^{expected}")]
    Domain {
        /// Binary logarithm of the domain.
        found: u32,
        /// The largest one.
        expected: u32,
    },
    /// A point of the proof came out at infinity: astronomically unlikely unless the blinding was chosen for it.
    #[error("found point {point} of the proof at infinity, expected a finite point")]
    Degenerate {
        /// `A`, `B` or `C`.
        point: char,
    },
    /// The host's memory for bases that stream to the device was not granted.
    #[error("host memory for bases that stream to the device: {0}")]
    HostMemory(String),
    /// The device has not enough memory; others may have taken it.
    #[error("device: {0}")]
    DeviceMemory(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The device failed, and may be lost.
    #[error("device: {0}")]
    Device(#[source] Box<dyn std::error::Error + Send + Sync>),
}
