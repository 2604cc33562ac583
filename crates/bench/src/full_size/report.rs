//! What a run at full size found, as JSON and for people.

use cuzk_engine::Timings;
use serde::Serialize;

use super::partition::Compared;
use crate::memory::PeakMemory;
use crate::output::{self, Output, median};

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) circuit_id: String,
    pub(super) gpus: Vec<String>,
    pub(super) setup: Setup,
    pub(super) request_bytes: usize,
    /// One partition in several ways.
    pub(super) compared: Vec<Compared>,
    pub(super) whole: Option<Whole>,
    pub(super) accepted_by_upstream: Option<bool>,
    /// Of the whole run, the setup included.
    pub(super) host_peak: PeakMemory,
}

/// Whole proofs.
#[derive(Serialize)]
pub(super) struct Whole {
    pub(super) partitions: usize,
    pub(super) single: Vec<Proved>,
    pub(super) sustained: Option<Sustained>,
    /// The same on the first GPU alone.
    pub(super) on_one: Option<Sustained>,
    /// A proof's time sustained on the first GPU, in terms of that on all of them.
    pub(super) times_as_fast_as_one: Option<f64>,
    pub(super) gpus: Vec<OnGpu>,
    /// While proving, without mapped files.
    pub(super) host_private_bytes: u64,
}

/// What proofs take of a GPU.
#[derive(Serialize)]
pub(super) struct OnGpu {
    pub(super) gpu: String,
    /// Where the bases are.
    pub(super) plan: String,
    pub(super) bytes_used: u64,
    pub(super) bytes: u64,
}

#[derive(Serialize)]
pub(super) struct Setup {
    pub(super) compile_seconds: f64,
    /// By phase; what several GPUs did at the same time is there for each.
    pub(super) phases: Vec<(String, f64)>,
    pub(super) setup_seconds: f64,
    /// On each GPU.
    pub(super) bases_bytes: u64,
}

/// One proof.
#[derive(Clone, Serialize)]
pub(super) struct Proved {
    /// Decoding and checking the request, and writing it to the journal.
    pub(super) accept_seconds: f64,
    /// From request bytes to the verified proof.
    pub(super) seconds: f64,
    pub(super) timings: Timings,
    pub(super) devices: Vec<String>,
    #[serde(skip)]
    pub(super) proof: Vec<u8>,
}

#[derive(Serialize)]
pub(super) struct Sustained {
    pub(super) jobs: u32,
    pub(super) seconds: f64,
    pub(super) seconds_per_proof: f64,
    /// Share of the time that the GPUs were proving, on average.
    pub(super) device_busy: f64,
    /// Of each GPU.
    pub(super) shares: Vec<Share>,
    pub(super) proofs: Vec<Proved>,
}

/// What one of several GPUs did.
#[derive(Serialize)]
pub(super) struct Share {
    pub(super) gpu: String,
    pub(super) partitions: u64,
    /// Share of the time that it was proving.
    pub(super) busy: f64,
}

pub(super) fn say(output: Output, what: &str, proved: &Proved) {
    if output.is_text() {
        let Timings {
            queue_ms,
            witness_ms,
            prove_ms,
            verify_ms,
            ..
        } = proved.timings;
        println!(
            "{what:9} {:.3} s: accept {:.3} s, queue {queue_ms} ms, witnesses {witness_ms} ms, device {prove_ms} ms, verify {verify_ms} ms",
            proved.seconds, proved.accept_seconds
        );
    }
}

pub(super) fn print_setup(setup: &Setup) {
    for (phase, seconds) in &setup.phases {
        println!("  {phase:22} {seconds:7.2} s");
    }
    println!(
        "setup {:.1} s: bases {}",
        setup.setup_seconds,
        output::bytes(setup.bases_bytes)
    );
}

pub(super) fn print_text(report: &Report) {
    println!(
        "circuit:   {} on {}",
        report.circuit_id,
        report.gpus.join(", ")
    );
    println!("request:   {}", output::bytes(report.request_bytes as u64));
    if let Some(whole) = &report.whole {
        print_whole(whole);
    }
    println!(
        "host:      {} at the peak of the whole run",
        output::bytes(report.host_peak.resident_bytes)
    );
    let verdict = match report.accepted_by_upstream {
        Some(true) => "ACCEPTED by filecoin-proofs",
        _ => "filecoin-proofs was not asked",
    };
    println!("verdict:   {verdict}");
}

pub(super) fn print_whole(whole: &Whole) {
    let latency = median(whole.single.iter().map(|proved| proved.seconds));
    println!(
        "single:    {latency:.3} s for {} partitions (median of {})",
        whole.partitions,
        whole.single.len()
    );
    if let Some(sustained) = &whole.sustained {
        print_sustained("sustained:", sustained);
    }
    if let Some(on_one) = &whole.on_one {
        print_sustained("on one:", on_one);
    }
    if let Some(times) = whole.times_as_fast_as_one {
        let gpus = whole.gpus.len();
        println!("ratio:     {gpus} GPUs are {times:.3} times as fast as one");
    }
    for gpu in &whole.gpus {
        println!(
            "device:    {}: {} of {}",
            gpu.gpu,
            output::bytes(gpu.bytes_used),
            output::bytes(gpu.bytes)
        );
    }
    println!(
        "host:      {} private while proving",
        output::bytes(whole.host_private_bytes)
    );
}

fn print_sustained(what: &str, sustained: &Sustained) {
    println!(
        "{what:10} {:.3} s a proof over {}, {} in flight, device busy {:.1}%",
        sustained.seconds_per_proof,
        sustained.proofs.len(),
        sustained.jobs,
        100.0 * sustained.device_busy
    );
    for share in sustained
        .shares
        .iter()
        .filter(|_| sustained.shares.len() > 1)
    {
        println!(
            "           {}: {} partitions, busy {:.1}%",
            share.gpu,
            share.partitions,
            100.0 * share.busy
        );
    }
}
