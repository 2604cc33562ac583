//! Why the engine does not do what it was asked.

use std::path::PathBuf;

use cuzk_filecoin::{CircuitId, RequestError};

use crate::budget::Refused;
use crate::job::JobId;
use crate::journal::JournalError;

/// Why the engine does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The request itself is wrong.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The request id belongs to a job with other content.
    #[error(
        "request_id: found {request_id:?} with a new payload, expected the payload of job {job_id}, which has not ended; cancel that job first"
    )]
    RequestIdTaken {
        /// The client's id.
        request_id: String,
        /// The job that has it.
        job_id: JobId,
    },
    /// Over one of [`crate::Limits`].
    #[error("over the limit {limit}: found {found}, at most {allowed}")]
    Limit {
        /// The limit's name, as in the configuration.
        limit: &'static str,
        /// What this request would make of it.
        found: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// The memory budget does not allow it.
    #[error("memory for {what}: {source}")]
    Memory {
        /// What the memory is for.
        what: String,
        /// The budget's answer.
        source: Refused,
    },
    /// Parameters are missing or wrong, or the circuit cannot be compiled.
    #[error("{circuit}: {cause}")]
    Circuit {
        /// The circuit.
        circuit: CircuitId,
        /// What is wrong and what to do.
        cause: String,
    },
    /// No such job: it never was, or it ended so long ago that it was forgotten.
    #[error("no job {job_id:?} is known; finished jobs are kept for a bounded time")]
    UnknownJob {
        /// What was asked for.
        job_id: String,
    },
    /// A circuit that jobs use cannot be evicted.
    #[error("{circuit} is in use by {users} running jobs or loads")]
    InUse {
        /// The circuit.
        circuit: CircuitId,
        /// Jobs that use it and requests that load it.
        users: usize,
    },
    /// A circuit that the configuration pins cannot be evicted.
    #[error("{circuit} is pinned by srs.preload in the configuration")]
    Pinned {
        /// The circuit.
        circuit: CircuitId,
    },
    /// The process is about to end. Accepted jobs are in the journal.
    #[error("the service is shutting down; accepted jobs are kept and go on after the restart")]
    ShuttingDown,
    /// Decoding panicked.
    #[error("decoding the request panicked: {0}")]
    Panicked(String),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Why an engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The journal's.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Every device failed its self-test.
    #[error("no device passed its self-test: {}", .0.join("; "))]
    NoDevice(Vec<String>),
    /// The operating system gives no threads.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A folder cannot be made.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
