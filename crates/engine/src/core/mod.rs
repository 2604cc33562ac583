//! The engine's state and its rules, without threads, clocks of its own, files or proofs.
//!
//! Everything here runs under one lock and takes microseconds: workers ask [`Core::next_cpu`], [`Core::next_load`] and
//! [`Core::next_device`] for their next task, do it without the lock, and report back through the `*_done` functions. All three walk the
//! same [`order`](Core::order) (priority, then age) from its front, so a more urgent job gets the next free thread and the next free
//! device: at every partition boundary, on every stage.

mod admit;
mod done;
mod door;
mod end;
mod history;
mod loaded;
mod next;
mod slot;

pub(crate) use done::Verification;
pub(crate) use door::Entry;
pub(crate) use history::History;
pub(crate) use next::{CheckTask, CpuTask, DeviceTask, LoadTask};
pub(crate) use slot::{KeyState, Slot, SlotState};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_filecoin::CircuitId;

use crate::budget::Budget;
use crate::counters::Counters;
use crate::job::{Finished, Job, JobId};
use crate::limits::Limits;
use crate::pipeline::Pipeline;
use crate::priority::Priority;

pub(crate) struct Core<P: Pipeline> {
    pub(crate) limits: Limits,
    /// A circuit that nobody used for so long may be evicted for another.
    pub(crate) min_idle: Duration,
    pub(crate) budget: Budget,
    pub(crate) jobs: HashMap<JobId, Job<P>>,
    /// All jobs that have not ended, the most urgent first.
    pub(crate) order: BTreeSet<Rank>,
    pub(crate) history: History,
    /// The newest job of each request id.
    pub(crate) by_request: HashMap<String, JobId>,
    pub(crate) circuits: BTreeMap<CircuitId, Slot<P>>,
    pub(crate) devices: Vec<DeviceState>,
    /// Checks of loaded circuits' parameters that wait for their thread.
    pub(crate) checks: VecDeque<CheckTask<P>>,
    pub(crate) counters: Counters,
    /// Payload bytes of all jobs that have not ended, and of requests at the door.
    pub(crate) queued_bytes: u64,
    /// Requests at the door: checked, not accepted yet.
    pub(crate) at_door: usize,
    /// Their request ids.
    pub(crate) door_ids: HashSet<String>,
    /// Bytes of decoded statements that queued jobs keep.
    pub(crate) statement_bytes: u64,
    pub(crate) phase: Phase,
    /// The job that is next to start, and why it does not.
    pub(crate) blocked: Option<(JobId, String)>,
    pub(crate) outbox: Outbox<P>,
    /// Outboxes that are being emptied.
    pub(crate) flushing: usize,
    next_sequence: u64,
}

/// Position in the order of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) priority: Reverse<Priority>,
    pub(crate) sequence: u64,
    pub(crate) job: JobId,
}

/// What has to be done after the lock is given up: disk writes, and freeing of large memory.
pub(crate) struct Outbox<P: Pipeline> {
    pub(crate) started: Vec<JobId>,
    pub(crate) ended: Vec<Arc<Finished>>,
    pub(crate) forgotten: Vec<JobId>,
    pub(crate) circuits: Vec<(SlotState<P>, Vec<KeyState<P>>)>,
    pub(crate) jobs: Vec<Job<P>>,
}

/// Of the whole engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Takes and starts jobs.
    Serving,
    /// Finishes running jobs; takes and starts none.
    Draining,
    /// Does nothing any more.
    Closed,
}

/// A device, as the scheduler sees it.
#[derive(Clone, Debug)]
pub(crate) struct DeviceState {
    pub(crate) name: String,
    pub(crate) health: Health,
    /// Gets only the work that no other device may try.
    pub(crate) fallback: bool,
    pub(crate) current: Option<(JobId, usize, CircuitId)>,
    pub(crate) work: DeviceWork,
}

/// What a device has done since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DeviceWork {
    /// Partitions that it proved.
    pub proved: u64,
    /// Partitions that it failed on.
    pub failed: u64,
    /// Milliseconds that it worked on partitions, those included that it failed on.
    pub busy_ms: u64,
}

/// Whether a device may prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// Passed its self-test.
    Good,
    /// Had a hand in a proof that does not verify: tested again before it gets more work.
    Suspect,
    /// Failed its self-test.
    LeftOut(String),
}

impl<P: Pipeline> Core<P> {
    pub(crate) fn new(
        limits: Limits,
        min_idle: Duration,
        budget: Budget,
        devices: Vec<DeviceState>,
    ) -> Self {
        Self {
            min_idle,
            budget,
            jobs: HashMap::new(),
            order: BTreeSet::new(),
            history: History::new(limits.finished_jobs, limits.finished_age),
            limits,
            by_request: HashMap::new(),
            circuits: BTreeMap::new(),
            devices,
            checks: VecDeque::new(),
            counters: Counters::default(),
            queued_bytes: 0,
            at_door: 0,
            door_ids: HashSet::new(),
            statement_bytes: 0,
            phase: Phase::Serving,
            blocked: None,
            outbox: Outbox::default(),
            flushing: 0,
            next_sequence: 0,
        }
    }

    /// Puts a job into the order. Its payload bytes are counted already.
    pub(crate) fn insert(&mut self, job: Job<P>) {
        let rank = Rank {
            priority: Reverse(job.priority),
            sequence: self.next_sequence,
            job: job.id,
        };
        self.next_sequence += 1;
        self.order.insert(rank);
        self.statement_bytes += job.statement.as_ref().map_or(0, |kept| kept.bytes);
        if !job.request_id.is_empty() {
            self.by_request.insert(job.request_id.clone(), job.id);
        }
        self.jobs.insert(job.id, job);
    }

    /// Jobs that have not ended and go before this one.
    pub(crate) fn position(&self, job: JobId) -> usize {
        self.order
            .iter()
            .position(|rank| rank.job == job)
            .unwrap_or(0)
    }

    /// The slot of a circuit, made when it is the first time that anyone asks.
    pub(crate) fn slot(&mut self, circuit: CircuitId) -> &mut Slot<P> {
        let devices = self.devices.len();
        self.circuits
            .entry(circuit)
            .or_insert_with(|| Slot::new(devices))
    }

    /// Devices that may prove this circuit now or once its key is loaded.
    pub(crate) fn usable_devices(&self, circuit: CircuitId) -> Vec<usize> {
        let slot = self.circuits.get(&circuit);
        let key_failed = |d: usize| {
            slot.and_then(|s| s.keys.get(d))
                .is_some_and(|k| matches!(k, KeyState::Failed(_)))
        };
        (0..self.devices.len())
            .filter(|&d| self.devices[d].healthy() && !key_failed(d))
            .collect()
    }

    /// The usable devices that are no fallback.
    pub(crate) fn primary_devices(&self, circuit: CircuitId) -> Vec<usize> {
        let mut devices = self.usable_devices(circuit);
        devices.retain(|&d| !self.devices[d].fallback);
        devices
    }

    /// Jobs that run, at this priority or above.
    pub(crate) fn running_at(&self, priority: Priority) -> usize {
        self.jobs
            .values()
            .filter(|job| job.priority >= priority && job.running().is_some())
            .count()
    }

    /// No job runs, and what became of those that did is on the disk.
    pub(crate) fn at_rest(&self) -> bool {
        self.flushing == 0 && self.jobs.values().all(|job| job.running().is_none())
    }

    /// Things that time brings about: old jobs are forgotten, jobs that waited too long fail.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.expire_queued(now);
        self.expire_finished();
    }
}

impl DeviceState {
    pub(crate) fn healthy(&self) -> bool {
        !matches!(self.health, Health::LeftOut(_))
    }
}

impl DeviceWork {
    pub(crate) fn add(&mut self, proved: bool, took_ms: u64) {
        match proved {
            true => self.proved += 1,
            false => self.failed += 1,
        }
        self.busy_ms += took_ms;
    }
}

impl<P: Pipeline> Outbox<P> {
    pub(crate) fn has_writes(&self) -> bool {
        !(self.started.is_empty() && self.ended.is_empty() && self.forgotten.is_empty())
    }
}

impl<P: Pipeline> Default for Outbox<P> {
    fn default() -> Self {
        Self {
            started: Vec::new(),
            ended: Vec::new(),
            forgotten: Vec::new(),
            circuits: Vec::new(),
            jobs: Vec::new(),
        }
    }
}
