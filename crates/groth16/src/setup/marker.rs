//! The note beside parameters that nobody should trust.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use cuzk_r1cs::R1cs;
use serde::{Deserialize, Serialize};

/// Appended to the parameter file's name.
pub const MARKER_SUFFIX: &str = ".insecure.json";

const WARNING: &str =
    "developer setup: whoever ran it can forge proofs; never use it in production";

/// Says that a parameter file came from a developer setup, and which file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsecureMarker {
    /// For whoever finds the file.
    pub warning: String,
    /// Digest of the circuit, in hexadecimal.
    pub circuit: String,
    /// Digest of the `.params` file, as `parameters.json` would state it.
    pub params_digest: String,
    /// Digest of the `.vk` file, likewise.
    pub vk_digest: String,
    /// The seed when the setup was run with one, so that it can be repeated.
    pub seed: Option<u64>,
    /// When the setup ran, in seconds since 1970 UTC.
    pub created_unix: u64,
}

impl InsecureMarker {
    pub(super) fn new(
        circuit: &R1cs,
        params_digest: String,
        vk_digest: String,
        seed: Option<u64>,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            warning: WARNING.into(),
            circuit: circuit_name(circuit),
            params_digest,
            vk_digest,
            seed,
            created_unix: now.map_or(0, |since| since.as_secs()),
        }
    }

    /// The marker beside a parameter file; `None` when there is none.
    pub fn beside(params: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(marker_path(params)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Where the marker of a parameter file stands.
pub fn marker_path(params: &Path) -> PathBuf {
    let mut name = params.as_os_str().to_owned();
    name.push(MARKER_SUFFIX);
    name.into()
}

/// The circuit's digest as it appears in markers and errors.
pub(crate) fn circuit_name(circuit: &R1cs) -> String {
    circuit
        .digest()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
