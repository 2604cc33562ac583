//! What a run at full size found, as JSON and for people.

use cuzk_engine::Timings;
use serde::Serialize;

use super::partition::Compared;
use crate::memory::PeakMemory;
use crate::output::{self, Output, median};

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) circuit_id: String,
    pub(super) gpu: String,
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
    /// Where the bases are.
    pub(super) plan: String,
    pub(super) partitions: usize,
    pub(super) single: Vec<Proved>,
    pub(super) sustained: Option<Sustained>,
    pub(super) device_bytes_used: u64,
    pub(super) device_bytes: u64,
    /// While proving, without mapped files.
    pub(super) host_private_bytes: u64,
}

#[derive(Serialize)]
pub(super) struct Setup {
    pub(super) compile_seconds: f64,
    /// By phase.
    pub(super) phases: Vec<(String, f64)>,
    pub(super) setup_seconds: f64,
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
    /// Share of the time that the device was proving.
    pub(super) device_busy: f64,
    pub(super) proofs: Vec<Proved>,
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
    println!("circuit:   {} on {}", report.circuit_id, report.gpu);
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
        println!(
            "sustained: {:.3} s a proof over {}, {} in flight, device busy {:.1}%",
            sustained.seconds_per_proof,
            sustained.proofs.len(),
            sustained.jobs,
            100.0 * sustained.device_busy
        );
    }
    println!(
        "device:    {} of {}; host: {} private while proving",
        output::bytes(whole.device_bytes_used),
        output::bytes(whole.device_bytes),
        output::bytes(whole.host_private_bytes)
    );
}
