//! What the daemon answered, as it is printed.

use std::fmt;

use cuzk_proto::v1::srs_status::Tier;
use cuzk_proto::v1::{
    GetStatusResponse, GpuStatus, JobStatus, KeyStatus, MemoryPlan, QueueStatus, SrsStatus,
};
use serde::Serialize;

use crate::output;

#[derive(Serialize)]
pub(super) struct Status {
    pub(super) uptime_seconds: u64,
    pub(super) proofs_completed: u64,
    pub(super) proofs_failed: u64,
    pub(super) memory_reserved_bytes: u64,
    pub(super) memory_limit_bytes: u64,
    pub(super) devices: Vec<Device>,
    pub(super) parameters: Vec<Parameters>,
    pub(super) queues: Vec<Queue>,
    pub(super) jobs: Vec<Job>,
}

#[derive(Serialize)]
pub(super) struct Device {
    pub(super) ordinal: u32,
    pub(super) name: String,
    pub(super) memory_total_bytes: u64,
    pub(super) memory_free_bytes: u64,
    pub(super) job_id: String,
    pub(super) proof_kind: String,
    pub(super) state: String,
    pub(super) cause: String,
    pub(super) partitions_proved: u64,
    pub(super) partitions_failed: u64,
    pub(super) busy_ms: u64,
}

#[derive(Serialize)]
pub(super) struct Parameters {
    pub(super) circuit_id: String,
    pub(super) tier: &'static str,
    pub(super) size_bytes: u64,
    pub(super) in_use_by: u32,
    pub(super) keys: Vec<Key>,
    pub(super) error: String,
    pub(super) preloaded: bool,
    pub(super) insecure: bool,
    pub(super) check: String,
}

/// A circuit's key on one device.
#[derive(Serialize)]
pub(super) struct Key {
    pub(super) device: u32,
    pub(super) state: String,
    pub(super) error: String,
    pub(super) plan: Option<Plan>,
}

#[derive(Serialize)]
pub(super) struct Plan {
    pub(super) resident_queries: Vec<String>,
    pub(super) streamed_queries: Vec<String>,
    pub(super) resident_bytes: u64,
    pub(super) streamed_bytes: u64,
    pub(super) scratch_bytes: u64,
    pub(super) memory_cap_bytes: u64,
}

#[derive(Serialize)]
pub(super) struct Queue {
    pub(super) proof_kind: String,
    pub(super) pending: u32,
    pub(super) in_progress: u32,
}

#[derive(Serialize)]
pub(super) struct Job {
    pub(super) job_id: String,
    pub(super) request_id: String,
    pub(super) circuit_id: String,
    pub(super) priority: &'static str,
    pub(super) state: String,
    pub(super) waits_for: String,
    pub(super) age_ms: u64,
    pub(super) queue_wait_ms: u64,
    pub(super) partitions_proved: u32,
    pub(super) partitions: u32,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| match names.is_empty() {
            true => "nothing".to_owned(),
            false => names.join(", "),
        };
        write!(
            f,
            "{} resident ({}), {} streamed ({} a proof), scratch {}",
            list(&self.resident_queries),
            output::bytes(self.resident_bytes),
            list(&self.streamed_queries),
            output::bytes(self.streamed_bytes),
            output::bytes(self.scratch_bytes),
        )?;
        match self.memory_cap_bytes {
            0 => Ok(()),
            cap => write!(f, ", within {}", output::bytes(cap)),
        }
    }
}

impl From<GetStatusResponse> for Status {
    fn from(answer: GetStatusResponse) -> Self {
        Self {
            uptime_seconds: answer.uptime_seconds,
            proofs_completed: answer.total_proofs_completed,
            proofs_failed: answer.total_proofs_failed,
            memory_reserved_bytes: answer.pinned_memory_bytes,
            memory_limit_bytes: answer.pinned_memory_limit_bytes,
            devices: answer.gpus.into_iter().map(Device::from).collect(),
            parameters: answer
                .loaded_srs
                .into_iter()
                .map(Parameters::from)
                .collect(),
            queues: answer.queues.into_iter().map(Queue::from).collect(),
            jobs: answer.jobs.into_iter().map(Job::from).collect(),
        }
    }
}

impl From<GpuStatus> for Device {
    fn from(gpu: GpuStatus) -> Self {
        Self {
            ordinal: gpu.ordinal,
            name: gpu.name,
            memory_total_bytes: gpu.vram_total_bytes,
            memory_free_bytes: gpu.vram_free_bytes,
            job_id: gpu.current_job_id,
            proof_kind: gpu.current_proof_kind,
            state: gpu.state,
            cause: gpu.cause,
            partitions_proved: gpu.partitions_proved,
            partitions_failed: gpu.partitions_failed,
            busy_ms: gpu.busy_ms,
        }
    }
}

impl From<SrsStatus> for Parameters {
    fn from(srs: SrsStatus) -> Self {
        let tier = match srs.tier() {
            Tier::Hot => "HOT",
            Tier::Warm => "WARM",
            Tier::Cold => "COLD",
        };
        Self {
            circuit_id: srs.circuit_id,
            tier,
            size_bytes: srs.size_bytes,
            in_use_by: srs.ref_count,
            keys: srs.keys.into_iter().map(Key::from).collect(),
            error: srs.error,
            preloaded: srs.pinned,
            insecure: srs.insecure,
            check: srs.check,
        }
    }
}

impl From<KeyStatus> for Key {
    fn from(key: KeyStatus) -> Self {
        Self {
            device: key.ordinal,
            state: key.state,
            error: key.error,
            plan: key.plan.map(Plan::from),
        }
    }
}

impl From<MemoryPlan> for Plan {
    fn from(plan: MemoryPlan) -> Self {
        Self {
            resident_queries: plan.resident_queries,
            streamed_queries: plan.streamed_queries,
            resident_bytes: plan.resident_bytes,
            streamed_bytes: plan.streamed_bytes,
            scratch_bytes: plan.scratch_bytes,
            memory_cap_bytes: plan.memory_cap_bytes,
        }
    }
}

impl From<JobStatus> for Job {
    fn from(job: JobStatus) -> Self {
        Self {
            priority: job.priority().as_str_name(),
            job_id: job.job_id,
            request_id: job.request_id,
            circuit_id: job.circuit_id,
            state: job.state,
            waits_for: job.waits_for,
            age_ms: job.age_ms,
            queue_wait_ms: job.queue_wait_ms,
            partitions_proved: job.partitions_proved,
            partitions: job.partitions,
        }
    }
}

impl From<QueueStatus> for Queue {
    fn from(queue: QueueStatus) -> Self {
        Self {
            proof_kind: queue.proof_kind,
            pending: queue.pending,
            in_progress: queue.in_progress,
        }
    }
}
