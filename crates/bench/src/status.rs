//! `cuzk-bench status`.

use cuzk_proto::v1::srs_status::Tier;
use cuzk_proto::v1::{GetStatusRequest, GetStatusResponse, GpuStatus, QueueStatus, SrsStatus};
use serde::Serialize;

use crate::client::connect;
use crate::error::Error;
use crate::output::{self, Output};

#[derive(Serialize)]
struct Status {
    uptime_seconds: u64,
    proofs_completed: u64,
    proofs_failed: u64,
    memory_reserved_bytes: u64,
    memory_limit_bytes: u64,
    devices: Vec<Device>,
    parameters: Vec<Parameters>,
    queues: Vec<Queue>,
}

#[derive(Serialize)]
struct Device {
    ordinal: u32,
    name: String,
    memory_total_bytes: u64,
    memory_free_bytes: u64,
    job_id: String,
    proof_kind: String,
}

#[derive(Serialize)]
struct Parameters {
    circuit_id: String,
    tier: &'static str,
    size_bytes: u64,
    in_use_by: u32,
}

#[derive(Serialize)]
struct Queue {
    proof_kind: String,
    pending: u32,
    in_progress: u32,
}

pub(crate) async fn run(addr: &str, output: Output) -> Result<(), Error> {
    let answer = connect(addr)
        .await?
        .get_status(GetStatusRequest {})
        .await
        .map_err(|status| Error::rpc("GetStatus", &status))?
        .into_inner();
    output.print(&Status::from(answer), print_text)
}

fn print_text(status: &Status) {
    println!("uptime:  {} s", status.uptime_seconds);
    println!(
        "proofs:  {} completed, {} failed",
        status.proofs_completed, status.proofs_failed
    );
    println!(
        "memory:  {} of {} reserved",
        output::bytes(status.memory_reserved_bytes),
        output::bytes(status.memory_limit_bytes)
    );
    println!("devices:");
    for device in &status.devices {
        let work = match device.job_id.as_str() {
            "" => "idle".to_owned(),
            job => format!("{} {job}", device.proof_kind),
        };
        println!(
            "  {} {} ({} of {} free): {work}",
            device.ordinal,
            device.name,
            output::bytes(device.memory_free_bytes),
            output::bytes(device.memory_total_bytes)
        );
    }
    println!("parameters:");
    for entry in &status.parameters {
        println!(
            "  {} {} {} in use by {}",
            entry.circuit_id,
            entry.tier,
            output::bytes(entry.size_bytes),
            entry.in_use_by
        );
    }
    println!("queues:");
    for queue in &status.queues {
        println!(
            "  {} pending {} in progress {}",
            queue.proof_kind, queue.pending, queue.in_progress
        );
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
