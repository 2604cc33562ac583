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
use std::time::{Duration, Instant};

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
    /// Tasks that are being done for it.
    in_flight: usize,
    pub(crate) accepted: Instant,
    /// Since when nothing is being done for it; none while something is.
    idle_since: Option<Instant>,
    /// How long nothing was done for it before that.
    idle: Duration,
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
    /// How long nothing had been done for it by then.
    pub(crate) idle: Duration,
    /// What a held job fails with when its parameters turn out right.
    pub(crate) doubt: Option<String>,
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
    /// They do not verify, and the check of the circuit's parameters, which may say why, is still under way.
    Held,
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

/// What a job begins as.
pub(crate) struct Origin {
    pub(crate) id: JobId,
    pub(crate) request_id: String,
    pub(crate) digest: PayloadDigest,
    pub(crate) circuit: CircuitId,
    pub(crate) priority: Priority,
    pub(crate) count: usize,
    pub(crate) payload_bytes: u64,
}

impl<P: Pipeline> Job<P> {
    /// A job that waits from now on.
    pub(crate) fn new(origin: Origin, statement: Option<Kept<P::Statement>>) -> Self {
        let now = Instant::now();
        Self {
            id: origin.id,
            request_id: origin.request_id,
            digest: origin.digest,
            circuit: origin.circuit,
            priority: origin.priority,
            count: origin.count,
            payload_bytes: origin.payload_bytes,
            statement,
            state: State::Queued,
            doom: None,
            in_flight: 0,
            accepted: now,
            idle_since: Some(now),
            idle: Duration::ZERO,
            timings: Timings::default(),
            devices: Vec::new(),
            end: Arc::default(),
        }
    }

    /// Tasks that are being done for it.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub(crate) fn task_begins(&mut self, now: Instant) {
        self.in_flight += 1;
        self.idle = self.idle_until(now);
        self.idle_since = None;
    }

    pub(crate) fn task_ended(&mut self, now: Instant) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.idle_since = Some(now);
        }
    }

    /// How long nothing was done for it, so far.
    pub(crate) fn idle_until(&self, now: Instant) -> Duration {
        let since = self.idle_since;
        self.idle + since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Its circuit has been loaded: from its start until now it waited for that and for nothing else.
    pub(crate) fn circuit_loaded(&mut self, now: Instant) {
        let Some((started, idle)) = self
            .running()
            .map(|running| (running.started, running.idle))
        else {
            return;
        };
        self.timings.load_ms = millis(now.saturating_duration_since(started));
        self.idle = idle;
        self.idle_since = self.idle_since.map(|_| now);
    }

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

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
            Self::Verify | Self::Verifying | Self::Held => "verify",
        }
    }
}
