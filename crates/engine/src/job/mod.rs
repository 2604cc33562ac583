//! A job, from its acceptance to its end.
//!
//! ```text
//!             reservation granted            all partitions proved          verified
//!   Queued ------------------------> Running ----------------------> Running ---------> Completed
//!     |                              |  decode (only when the          |  verify
//!     |                              |  statement was dropped)         |
//!     |                              |  partition k: waiting ->        |  does not verify: back to waiting,
//!     |                              |  witness -> ready -> proving    |  a bounded number of times
//!     |                              |  -> proved                      |
//!     |                              |                                 |
//!     +---------- doomed: cancelled, or failed with a cause -----------+----------> Cancelled / Failed
//! ```
//!
//! A doomed job gets no more work; it ends when the work in flight has come back, for until then its memory is in use.

mod finished;
mod id;

pub(crate) use finished::unix_ms;
pub use finished::{Finished, Outcome, Timings};
pub use id::JobId;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cuzk_filecoin::CircuitId;

use crate::budget::Reservation;
use crate::payload::PayloadDigest;
use crate::pipeline::Pipeline;
use crate::priority::Priority;

/// A job that has not ended.
pub(crate) struct Job<P: Pipeline> {
    pub(crate) id: JobId,
    pub(crate) request_id: String,
    pub(crate) digest: PayloadDigest,
    pub(crate) circuit: CircuitId,
    pub(crate) priority: Priority,
    /// Number of partitions.
    pub(crate) count: usize,
    pub(crate) payload_bytes: u64,
    pub(crate) statement: Option<Kept<P::Statement>>,
    pub(crate) state: State<P>,
    /// How it will end, once the work in flight is back.
    pub(crate) doom: Option<Outcome>,
    pub(crate) in_flight: usize,
    pub(crate) accepted: Instant,
    pub(crate) timings: Timings,
    pub(crate) devices: Vec<usize>,
    /// Set when the job ends. Whoever waits holds it, so that the result reaches them however short the history is.
    pub(crate) end: Arc<OnceLock<Arc<Finished>>>,
}

/// A decoded statement and the bytes it counts for.
pub(crate) struct Kept<S> {
    pub(crate) statement: Arc<S>,
    pub(crate) bytes: u64,
}

pub(crate) enum State<P: Pipeline> {
    /// Holds nothing but, perhaps, its statement.
    Queued,
    /// Holds its reservation and uses its circuit.
    Running(Running<P>),
}

pub(crate) struct Running<P: Pipeline> {
    pub(crate) reservation: Reservation,
    pub(crate) stage: Stage,
    pub(crate) partitions: Vec<Partition<P>>,
    pub(crate) started: Instant,
}

/// What a running job as a whole is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The statement has to be decoded again.
    Decode,
    /// That is being done.
    Decoding,
    /// Partitions are worked on, each at its own pace.
    Partitions,
    /// All partitions are proved.
    Verify,
    /// They are being verified.
    Verifying,
}

pub(crate) struct Partition<P: Pipeline> {
    pub(crate) step: Step<P>,
    /// Devices that failed on it, in order.
    pub(crate) failures: Vec<usize>,
    pub(crate) witness_ms: u64,
    pub(crate) prove_ms: u64,
    pub(crate) device: Option<usize>,
}

/// What one partition is at.
pub(crate) enum Step<P: Pipeline> {
    Waiting,
    Witness { since: Instant },
    Ready(P::Witness),
    Proving { since: Instant },
    Proved(P::Proof),
}

impl<P: Pipeline> Job<P> {
    pub(crate) fn running(&self) -> Option<&Running<P>> {
        match &self.state {
            State::Queued => None,
            State::Running(running) => Some(running),
        }
    }

    pub(crate) fn running_mut(&mut self) -> Option<&mut Running<P>> {
        match &mut self.state {
            State::Queued => None,
            State::Running(running) => Some(running),
        }
    }

    /// The state that work may be taken from: running, and not doomed.
    pub(crate) fn workable(&self) -> Option<&Running<P>> {
        self.running().filter(|_| self.doom.is_none())
    }
}

impl<P: Pipeline> Partition<P> {
    pub(crate) fn new() -> Self {
        Self {
            step: Step::Waiting,
            failures: Vec::new(),
            witness_ms: 0,
            prove_ms: 0,
            device: None,
        }
    }

    /// Its witness is ready or in the making: it counts against the look-ahead.
    pub(crate) fn holds_witness(&self) -> bool {
        matches!(self.step, Step::Witness { .. } | Step::Ready(_))
    }
}

impl<P: Pipeline> Step<P> {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Witness { .. } => "witness",
            Self::Ready(_) => "ready",
            Self::Proving { .. } => "proving",
            Self::Proved(_) => "proved",
        }
    }

    pub(crate) fn since(&self) -> Option<Instant> {
        match self {
            Self::Witness { since } | Self::Proving { since } => Some(*since),
            _ => None,
        }
    }
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Decode | Self::Decoding => "decode",
            Self::Partitions => "partitions",
            Self::Verify | Self::Verifying => "verify",
        }
    }
}
