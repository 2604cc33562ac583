//! A picture of the engine at one moment, for people and for metrics.

mod picture;

use std::time::Instant;

use cuzk_groth16::Placement;
use serde::Serialize;

use crate::budget::Held;
use crate::core::DeviceWork;
use crate::counters::Counters;
use crate::engine::Engine;
use crate::job::{JobId, Timings};
use crate::pipeline::{DeviceInfo, Pipeline};
use crate::priority::Priority;

/// The engine at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Version of the program.
    pub version: &'static str,
    /// `serving`, `draining` or `closed`.
    pub phase: &'static str,
    /// Since the start.
    pub uptime_seconds: u64,
    /// The memory budget.
    pub memory: MemoryStatus,
    /// Devices, by ordinal.
    pub devices: Vec<DeviceStatus>,
    /// Circuits that were asked for since the start.
    pub circuits: Vec<CircuitStatus>,
    /// Jobs that have not ended, counted by circuit. No two have the same circuit.
    pub queues: Vec<QueueStatus>,
    /// Jobs that have not ended, the most urgent first.
    pub pipelines: Vec<JobStatus>,
    /// Jobs that ended last, the newest first.
    pub recent: Vec<RecentJob>,
    /// Finished jobs whose results can still be had.
    pub finished_kept: usize,
    /// Totals.
    pub counters: Counters,
}

/// The memory budget, in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryStatus {
    /// The whole budget.
    pub total_bytes: u64,
    /// Reserved.
    pub reserved_bytes: u64,
    /// Not reserved.
    pub free_bytes: u64,
    /// Who holds it.
    pub allocations: Vec<Held>,
    /// Payload bytes of jobs that have not ended.
    pub queued_bytes: u64,
}

/// A device.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceStatus {
    /// Its explicit index.
    pub ordinal: usize,
    /// Name and memory.
    #[serde(flatten)]
    pub info: DeviceInfo,
    /// `idle`, `proving`, `suspect` or `left out`.
    pub state: &'static str,
    /// Why it is left out.
    pub cause: Option<String>,
    /// The job it works for.
    pub job_id: Option<JobId>,
    /// The partition it proves.
    pub partition: Option<usize>,
    /// The circuit of that job.
    pub circuit: Option<String>,
    /// What it has done since the start.
    pub work: DeviceWork,
}

/// A circuit's place in memory.
#[derive(Clone, Debug, Serialize)]
pub struct CircuitStatus {
    /// Its id.
    pub circuit: String,
    /// `absent`, `opening`, `loading` or `loaded`.
    pub state: &'static str,
    /// Ordinals of the devices that its key is loaded on.
    pub devices: Vec<usize>,
    /// The same key by key, with what became of it.
    pub keys: Vec<KeyStatus>,
    /// Bytes of the budget.
    pub reserved_bytes: u64,
    /// Bytes of the parameter file.
    pub parameter_bytes: u64,
    /// Running jobs.
    pub users: usize,
    /// Never evicted.
    pub pinned: bool,
    /// Parameters of a developer's setup.
    pub insecure: bool,
    /// Milliseconds that loading took.
    pub load_ms: u64,
    /// Of its parameters, once they are open: `checked`, or `checking` while the rest of the check goes on beside proving.
    pub check: Option<&'static str>,
    /// Why it could not be loaded, last time.
    pub error: Option<String>,
}

/// A circuit's key on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyStatus {
    /// The device's ordinal.
    pub device: usize,
    /// `loading`, `loaded` or `failed`.
    pub state: &'static str,
    /// Why it failed.
    pub error: Option<String>,
    /// Where its bases are, on devices with memory of their own.
    pub placement: Option<Placement>,
}

/// Jobs of one circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueStatus {
    /// Its id.
    pub circuit: String,
    /// Jobs that have not been started.
    pub pending: usize,
    /// Jobs that have.
    pub in_progress: usize,
}

/// A job that has not ended.
#[derive(Clone, Debug, Serialize)]
pub struct JobStatus {
    /// Its id.
    pub job_id: JobId,
    /// The client's id.
    pub request_id: String,
    /// Its circuit.
    pub circuit: String,
    /// Its priority.
    pub priority: Priority,
    /// `queued`, `decode`, `partitions`, `verify` or `ending`.
    pub state: &'static str,
    /// What it waits for, when it waits.
    pub waits_for: Option<String>,
    /// Since acceptance, or the restart.
    pub age_ms: u64,
    /// Where the time went so far.
    pub timings: Timings,
    /// Its partitions, once it has been started.
    pub partitions: Vec<PartitionStatus>,
}

/// A partition of a running job.
#[derive(Clone, Debug, Serialize)]
pub struct PartitionStatus {
    /// Its index.
    pub index: usize,
    /// `waiting`, `witness`, `ready`, `proving` or `proved`.
    pub state: &'static str,
    /// How long it has been in that state, where that is work.
    pub running_ms: Option<u64>,
    /// Witness generation so far.
    pub witness_ms: u64,
    /// Proving so far.
    pub prove_ms: u64,
    /// The device that proves or proved it.
    pub device: Option<usize>,
    /// Tries that failed.
    pub failures: usize,
}

/// A job that has ended, without its proof.
#[derive(Clone, Debug, Serialize)]
pub struct RecentJob {
    /// Its id.
    pub job_id: JobId,
    /// The client's id.
    pub request_id: String,
    /// Its circuit.
    pub circuit: String,
    /// `completed`, `failed` or `cancelled`.
    pub outcome: &'static str,
    /// Why it failed.
    pub cause: Option<String>,
    /// Where the time went.
    pub timings: Timings,
    /// Devices that made the proof.
    pub devices: Vec<String>,
    /// Milliseconds since the Unix epoch.
    pub ended_at_ms: u64,
}

impl<P: Pipeline> Engine<P> {
    /// A picture of this moment.
    pub fn status(&self) -> Status {
        let infos = self.shared.pipeline.devices();
        let core = self.shared.lock();
        let mut status = core.picture(infos, Instant::now());
        status.uptime_seconds = self.shared.started.elapsed().as_secs();
        status
    }

    /// Name of the device that works on a job at this moment.
    pub fn device_of(&self, job: JobId) -> Option<String> {
        let core = self.shared.lock();
        let works = |current: &Option<_>| matches!(current, Some((id, _, _)) if *id == job);
        let device = core.devices.iter().find(|d| works(&d.current));
        device.map(|d| d.name.clone())
    }
}
