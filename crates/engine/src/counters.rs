//! What has happened since the process started.

use std::collections::BTreeMap;

use cuzk_filecoin::CircuitId;
use serde::Serialize;

use crate::job::{Outcome, Timings};

/// Totals since the process started.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counters {
    /// Jobs accepted.
    pub accepted: u64,
    /// Submissions that were attached to a job that was there.
    pub attached: u64,
    /// Submissions refused for what they hold.
    pub refused_input: u64,
    /// Submissions refused for a limit, the budget, or the service's state.
    pub refused_limit: u64,
    /// Jobs that came back from the journal.
    pub recovered: u64,
    /// Jobs completed.
    pub completed: u64,
    /// Jobs failed.
    pub failed: u64,
    /// Jobs cancelled.
    pub cancelled: u64,
    /// Proofs that did not verify. None of them left the process.
    pub verify_failures: u64,
    /// Partitions that a device failed on.
    pub device_faults: u64,
    /// Partitions or proofs tried again.
    pub retries: u64,
    /// Stages that panicked.
    pub panics: u64,
    /// Circuits unloaded.
    pub evictions: u64,
    /// By circuit id.
    pub circuits: BTreeMap<String, CircuitTotals>,
}

/// Totals of one circuit. Times are sums in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct CircuitTotals {
    /// Jobs completed.
    pub completed: u64,
    /// Jobs failed.
    pub failed: u64,
    /// Jobs cancelled.
    pub cancelled: u64,
    /// Waiting of completed jobs.
    pub queue_ms: u64,
    /// Acceptance to end of completed jobs.
    pub total_ms: u64,
    /// Witnesses generated.
    pub witnesses: u64,
    /// Time that took.
    pub witness_ms: u64,
    /// Partitions proved.
    pub partitions: u64,
    /// Time that took.
    pub prove_ms: u64,
}

impl Counters {
    pub(crate) fn circuit(&mut self, circuit: CircuitId) -> &mut CircuitTotals {
        self.circuits.entry(circuit.to_string()).or_default()
    }

    pub(crate) fn ended(&mut self, circuit: CircuitId, outcome: &Outcome, timings: &Timings) {
        let totals = self.circuits.entry(circuit.to_string()).or_default();
        match outcome {
            Outcome::Completed { .. } => {
                self.completed += 1;
                totals.completed += 1;
                totals.queue_ms += timings.queue_ms;
                totals.total_ms += timings.total_ms;
            }
            Outcome::Failed { .. } => {
                self.failed += 1;
                totals.failed += 1;
            }
            Outcome::Cancelled { .. } => {
                self.cancelled += 1;
                totals.cancelled += 1;
            }
        }
    }
}

impl CircuitTotals {
    pub(crate) fn witness(&mut self, ms: u64) {
        self.witnesses += 1;
        self.witness_ms += ms;
    }

    pub(crate) fn prove(&mut self, ms: u64) {
        self.partitions += 1;
        self.prove_ms += ms;
    }
}
