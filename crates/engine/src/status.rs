//! A picture of the engine at one moment, for people and for metrics.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use crate::budget::Held;
use crate::core::{Core, DeviceWork, Health, KeyState, Phase, Slot};
use crate::counters::Counters;
use crate::engine::Engine;
use crate::job::{Finished, Job, JobId, Partition, Running, Stage, Step, Timings};
use crate::pipeline::{DeviceInfo, Pipeline};
use crate::priority::Priority;

/// Finished jobs that a picture shows.
const RECENT: usize = 20;

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
    /// Why it could not be loaded, last time.
    pub error: Option<String>,
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

impl<P: Pipeline> Core<P> {
    fn picture(&self, infos: Vec<DeviceInfo>, now: Instant) -> Status {
        let in_order = || self.order.iter().filter_map(|r| self.jobs.get(&r.job));
        Status {
            version: env!("CARGO_PKG_VERSION"),
            phase: match self.phase {
                Phase::Serving => "serving",
                Phase::Draining => "draining",
                Phase::Closed => "closed",
            },
            uptime_seconds: 0,
            memory: MemoryStatus {
                total_bytes: self.budget.total(),
                reserved_bytes: self.budget.reserved(),
                free_bytes: self.budget.free(),
                allocations: self.budget.held().cloned().collect(),
                queued_bytes: self.queued_bytes,
            },
            devices: infos
                .into_iter()
                .enumerate()
                .map(|(ordinal, info)| self.device_picture(ordinal, info))
                .collect(),
            circuits: self
                .circuits
                .iter()
                .map(|(id, slot)| slot.picture(id.to_string()))
                .collect(),
            queues: queues(in_order()),
            pipelines: in_order()
                .enumerate()
                .map(|(position, job)| self.job_picture(job, position, now))
                .collect(),
            recent: self.history.newest().take(RECENT).map(recent).collect(),
            finished_kept: self.history.len(),
            counters: self.counters.clone(),
        }
    }

    fn device_picture(&self, ordinal: usize, info: DeviceInfo) -> DeviceStatus {
        let device = &self.devices[ordinal];
        let (state, cause) = match (&device.health, &device.current) {
            (Health::LeftOut(cause), _) => ("left out", Some(cause.clone())),
            (Health::Suspect, _) => ("suspect", None),
            (Health::Good, Some(_)) => ("proving", None),
            (Health::Good, None) => ("idle", None),
        };
        let current = device.current.as_ref();
        DeviceStatus {
            ordinal,
            info,
            state,
            cause,
            job_id: current.map(|c| c.0),
            partition: current.map(|c| c.1),
            circuit: current.map(|c| c.2.to_string()),
            work: device.work,
        }
    }

    fn job_picture(&self, job: &Job<P>, position: usize, now: Instant) -> JobStatus {
        let state = match (&job.doom, job.running()) {
            (Some(_), _) => "ending",
            (None, None) => "queued",
            (None, Some(running)) => running.stage.name(),
        };
        let partitions = job.running().map_or(&[][..], |r| &r.partitions);
        JobStatus {
            job_id: job.id,
            request_id: job.request_id.clone(),
            circuit: job.circuit.to_string(),
            priority: job.priority,
            state,
            waits_for: self.waits_for(job, position),
            age_ms: ms(now, job.accepted),
            timings: job.timings,
            partitions: partitions
                .iter()
                .enumerate()
                .map(|(index, p)| partition_picture(index, p, now))
                .collect(),
        }
    }

    fn waits_for(&self, job: &Job<P>, position: usize) -> Option<String> {
        match (&job.doom, job.running()) {
            (Some(_), _) => Some(format!("{} tasks in flight", job.in_flight)),
            (None, Some(running)) => self.running_waits_for(job, running),
            (None, None) => Some(match &self.blocked {
                Some((id, why)) if *id == job.id => why.clone(),
                _ if self.phase != Phase::Serving => "the restart".into(),
                _ => format!("its turn: {position} jobs go first"),
            }),
        }
    }

    fn running_waits_for(&self, job: &Job<P>, running: &Running<P>) -> Option<String> {
        let loaded = self.circuits.get(&job.circuit).is_some_and(Slot::loaded);
        if !loaded {
            return Some(format!("circuit {} to be loaded", job.circuit));
        }
        if job.in_flight > 0 {
            return None;
        }
        let ready = |p: &Partition<P>| matches!(p.step, Step::Ready(_));
        match running.stage {
            Stage::Partitions if running.partitions.iter().any(ready) => Some("a device".into()),
            Stage::Partitions => {
                Some("a CPU thread and a place within the witness look-ahead".into())
            }
            Stage::Decode | Stage::Verify => Some("a CPU thread".into()),
            Stage::Decoding | Stage::Verifying => None,
        }
    }
}

impl<P: Pipeline> Slot<P> {
    fn picture(&self, circuit: String) -> CircuitStatus {
        let loaded = |d: &usize| matches!(self.keys[*d], KeyState::Loaded(_));
        CircuitStatus {
            circuit,
            state: self.state_name(),
            devices: (0..self.keys.len()).filter(loaded).collect(),
            reserved_bytes: self.reservation.as_ref().map_or(0, |r| r.bytes()),
            parameter_bytes: self.footprint.map_or(0, |f| f.parameters),
            users: self.users,
            pinned: self.pinned,
            insecure: self.insecure,
            load_ms: self.load_ms,
            error: self.last_error.clone(),
        }
    }
}

fn queues<'a, P: Pipeline>(jobs: impl Iterator<Item = &'a Job<P>>) -> Vec<QueueStatus> {
    let mut queues: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for job in jobs {
        let queue = queues.entry(job.circuit.to_string()).or_default();
        match job.running() {
            None => queue.0 += 1,
            Some(_) => queue.1 += 1,
        }
    }
    let picture = |(circuit, (pending, in_progress))| QueueStatus {
        circuit,
        pending,
        in_progress,
    };
    queues.into_iter().map(picture).collect()
}

fn partition_picture<P: Pipeline>(
    index: usize,
    partition: &Partition<P>,
    now: Instant,
) -> PartitionStatus {
    PartitionStatus {
        index,
        state: partition.step.name(),
        running_ms: partition.step.since().map(|since| ms(now, since)),
        witness_ms: partition.witness_ms,
        prove_ms: partition.prove_ms,
        device: partition.device,
        failures: partition.failures.len(),
    }
}

fn recent(finished: &std::sync::Arc<Finished>) -> RecentJob {
    RecentJob {
        job_id: finished.job_id,
        request_id: finished.request_id.clone(),
        circuit: finished.circuit.clone(),
        outcome: finished.outcome.name(),
        cause: match &finished.outcome {
            crate::Outcome::Failed { cause } => Some(cause.clone()),
            _ => None,
        },
        timings: finished.timings,
        devices: finished.devices.clone(),
        ended_at_ms: finished.ended_at_ms,
    }
}

fn ms(now: Instant, since: Instant) -> u64 {
    u64::try_from(now.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX)
}
