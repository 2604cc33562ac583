//! What is left of a job when it has ended.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::JobId;
use crate::payload::PayloadDigest;
use crate::priority::Priority;

/// A job that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// The job.
    pub job_id: JobId,
    /// The client's own id; may be empty.
    pub request_id: String,
    /// What was to be proved.
    pub digest: PayloadDigest,
    /// The circuit's id, such as `porep-32g`.
    pub circuit: String,
    /// Its priority.
    pub priority: Priority,
    /// How it ended.
    pub outcome: Outcome,
    /// Where the time went.
    pub timings: Timings,
    /// Names of the devices that made the proof.
    pub devices: Vec<String>,
    /// Milliseconds since the Unix epoch.
    pub ended_at_ms: u64,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome")]
pub enum Outcome {
    /// With a proof that was verified. Only made from the pipeline's verified type, or read back from a checksummed record of one.
    Completed {
        /// 192 bytes a partition.
        #[serde(with = "hex::serde")]
        proof: Vec<u8>,
    },
    /// Without a proof.
    Failed {
        /// Why.
        cause: String,
    },
    /// On a client's request.
    Cancelled {
        /// Whether it had been started by then.
        was_running: bool,
    },
}

/// Milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    /// While nothing was being done for the job: before its start, and where it waited for a thread or a device afterwards. After
    /// a restart it counts from there.
    pub queue_ms: u64,
    /// Decoding, where it had to be repeated for a job that waited long or outlived a restart.
    pub decode_ms: u64,
    /// From the job's start until circuit and parameters were loaded; 0 when they were resident.
    pub load_ms: u64,
    /// Witness generation, summed over the partitions.
    pub witness_ms: u64,
    /// Proving on devices, summed over the partitions.
    pub prove_ms: u64,
    /// Verification of the whole proof.
    pub verify_ms: u64,
    /// From acceptance to the end.
    pub total_ms: u64,
}

impl Outcome {
    /// `completed`, `failed` or `cancelled`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

pub(crate) fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
