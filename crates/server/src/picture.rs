//! The engine's picture as a wire message.

use cuzk_engine::{CircuitStatus, DeviceStatus, QueueStatus, Status};
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
    }
}

fn device(device: &DeviceStatus) -> v1::GpuStatus {
    let kind = device.circuit.as_deref().and_then(|c| c.split('-').next());
    v1::GpuStatus {
        ordinal: device.ordinal.try_into().unwrap_or(u32::MAX),
        name: device.info.name.clone(),
        vram_total_bytes: device.info.memory_total,
        vram_free_bytes: device.info.memory_free,
        current_job_id: device.job_id.map_or_else(String::new, |id| id.to_string()),
        current_proof_kind: kind.unwrap_or_default().into(),
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
        ref_count: circuit.users.try_into().unwrap_or(u32::MAX),
    }
}

fn queue(queue: QueueStatus) -> v1::QueueStatus {
    v1::QueueStatus {
        proof_kind: queue.circuit,
        pending: queue.pending.try_into().unwrap_or(u32::MAX),
        in_progress: queue.in_progress.try_into().unwrap_or(u32::MAX),
    }
}
