//! Taking the picture.

use std::collections::BTreeMap;
use std::time::Instant;

use cuzk_groth16::Placement;

use super::{
    CircuitStatus, DeviceStatus, JobStatus, KeyStatus, MemoryStatus, PartitionStatus, QueueStatus,
    RecentJob, Status,
};
use crate::core::{Core, Health, KeyState, Phase, Slot};
use crate::job::{Finished, Job, Partition, Running, Stage, Step, Timings, millis};
use crate::pipeline::{DeviceInfo, Pipeline};

/// Finished jobs that a picture shows.
const RECENT: usize = 20;

impl<P: Pipeline> Core<P> {
    pub(super) fn picture(&self, infos: Vec<DeviceInfo>, now: Instant) -> Status {
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
            timings: Timings {
                queue_ms: millis(job.idle_until(now)),
                ..job.timings
            },
            partitions: partitions
                .iter()
                .enumerate()
                .map(|(index, p)| partition_picture(index, p, now))
                .collect(),
        }
    }

    fn waits_for(&self, job: &Job<P>, position: usize) -> Option<String> {
        match (&job.doom, job.running()) {
            (Some(_), _) => Some(format!("{} tasks in flight", job.in_flight())),
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
        if job.in_flight() > 0 {
            return None;
        }
        let ready = |p: &Partition<P>| matches!(p.step, Step::Ready(_));
        match running.stage {
            Stage::Partitions if running.partitions.iter().any(ready) => Some("a device".into()),
            Stage::Partitions => {
                Some("a CPU thread and a place within the witness look-ahead".into())
            }
            Stage::Decode | Stage::Verify => Some("a CPU thread".into()),
            Stage::Held => Some("the check of the parameters, as its proof does not verify".into()),
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
            keys: (0..self.keys.len())
                .filter_map(|d| self.key_picture(d))
                .collect(),
            reserved_bytes: self.reserved_bytes(),
            parameter_bytes: self.footprint.map_or(0, |f| f.parameters),
            users: self.users,
            pinned: self.pinned,
            insecure: self.insecure,
            load_ms: self.load_ms,
            check: self.circuit().map(|_| match self.checking {
                true => "checking",
                false => "checked",
            }),
            error: self.last_error.clone(),
        }
    }

    fn key_picture(&self, device: usize) -> Option<KeyStatus> {
        let picture = |state, error, placement: Option<Placement>| KeyStatus {
            device,
            state,
            error,
            placement,
        };
        match &self.keys[device] {
            KeyState::Absent => None,
            KeyState::Loading => Some(picture("loading", None, None)),
            KeyState::Loaded(key) => Some(picture("loaded", None, P::placement(key))),
            KeyState::Failed(cause) => Some(picture("failed", Some(cause.clone()), None)),
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
    millis(now.saturating_duration_since(since))
}
