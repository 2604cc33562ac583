//! The engine's picture as a wire message.

use cuzk_engine::{
    CircuitStatus, DeviceStatus, JobStatus, KeyStatus, Placement, Priority, QueueStatus, Status,
};
use cuzk_proto::v1;
use v1::srs_status::Tier;

pub(crate) fn status(status: Status) -> v1::GetStatusResponse {
    v1::GetStatusResponse {
        gpus: status.devices.iter().map(device).collect(),
        loaded_srs: status.circuits.iter().map(srs).collect(),
        queues: status.queues.into_iter().map(queue).collect(),
        total_proofs_completed: status.counters.completed,
        total_proofs_failed: status.counters.failed,
        uptime_seconds: status.uptime_seconds,
        pinned_memory_bytes: status.memory.reserved_bytes,
        pinned_memory_limit_bytes: status.memory.total_bytes,
        jobs: status.pipelines.iter().map(job).collect(),
    }
}

fn device(device: &DeviceStatus) -> v1::GpuStatus {
    let kind = device.circuit.as_deref().and_then(|c| c.split('-').next());
    v1::GpuStatus {
        ordinal: number(device.ordinal),
        name: device.info.name.clone(),
        vram_total_bytes: device.info.memory_total,
        vram_free_bytes: device.info.memory_free,
        current_job_id: device.job_id.map_or_else(String::new, |id| id.to_string()),
        current_proof_kind: kind.unwrap_or_default().into(),
        state: device.state.into(),
        cause: device.cause.clone().unwrap_or_default(),
        partitions_proved: device.work.proved,
        partitions_failed: device.work.failed,
        busy_ms: device.work.busy_ms,
    }
}

fn srs(circuit: &CircuitStatus) -> v1::SrsStatus {
    let tier = match circuit.state {
        "loaded" => Tier::Hot,
        "loading" => Tier::Warm,
        _ => Tier::Cold,
    };
    v1::SrsStatus {
        circuit_id: circuit.circuit.clone(),
        tier: tier.into(),
        size_bytes: circuit.parameter_bytes,
        ref_count: number(circuit.users),
        keys: circuit.keys.iter().map(key).collect(),
        error: circuit.error.clone().unwrap_or_default(),
        pinned: circuit.pinned,
        insecure: circuit.insecure,
        check: circuit.check.unwrap_or_default().into(),
    }
}

fn key(key: &KeyStatus) -> v1::KeyStatus {
    v1::KeyStatus {
        ordinal: number(key.device),
        state: key.state.into(),
        error: key.error.clone().unwrap_or_default(),
        plan: key.placement.as_ref().map(plan),
    }
}

fn plan(placement: &Placement) -> v1::MemoryPlan {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    v1::MemoryPlan {
        resident_queries: owned(&placement.resident),
        streamed_queries: owned(&placement.streamed),
        resident_bytes: placement.resident_bytes,
        streamed_bytes: placement.streamed_bytes,
        scratch_bytes: placement.scratch_bytes,
        memory_cap_bytes: placement.memory_cap_bytes.unwrap_or(0),
    }
}

fn job(job: &JobStatus) -> v1::JobStatus {
    let proved = job.partitions.iter().filter(|p| p.state == "proved");
    v1::JobStatus {
        job_id: job.job_id.to_string(),
        request_id: job.request_id.clone(),
        circuit_id: job.circuit.clone(),
        priority: priority(job.priority).into(),
        state: job.state.into(),
        waits_for: job.waits_for.clone().unwrap_or_default(),
        age_ms: job.age_ms,
        queue_wait_ms: job.timings.queue_ms,
        partitions_proved: number(proved.count()),
        partitions: number(job.partitions.len()),
    }
}

fn priority(priority: Priority) -> v1::Priority {
    match priority {
        Priority::Low => v1::Priority::Low,
        Priority::Normal => v1::Priority::Normal,
        Priority::High => v1::Priority::High,
        Priority::Critical => v1::Priority::Critical,
    }
}

fn number(count: usize) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}

fn queue(queue: QueueStatus) -> v1::QueueStatus {
    v1::QueueStatus {
        proof_kind: queue.circuit,
        pending: number(queue.pending),
        in_progress: number(queue.in_progress),
    }
}
