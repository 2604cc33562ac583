//! `cuzk-baseline-gpu JOB`: makes proofs with the published crates, filecoin-proofs-api on bellperson, which proves with
//! supraseal-c2 on the GPU, and prints what they took as JSON.
//!
//! JOB is a JSON file (see [`job`]). Parameters are read from $FIL_PROOFS_PARAMETER_CACHE, as upstream does.

mod job;
mod timeline;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;

use job::Job;

#[derive(Serialize)]
struct Measurement {
    prover: &'static str,
    /// In order; parameters are loaded within the first.
    proofs: Vec<Proved>,
    peak_resident_bytes: u64,
}

#[derive(Serialize)]
struct Proved {
    /// From the vanilla proof's bytes to the proof's.
    seconds: f64,
    synthesis_seconds: f64,
    proving_seconds: f64,
    /// In hexadecimal.
    proof: String,
}

fn main() -> ExitCode {
    match run() {
        Ok(measurement) => match serde_json::to_writer(std::io::stdout(), &measurement) {
            Ok(()) => ExitCode::SUCCESS,
            Err(cause) => failed(&cause.to_string()),
        },
        Err(cause) => failed(&cause),
    }
}

fn failed(cause: &str) -> ExitCode {
    eprintln!("error: {cause}");
    ExitCode::FAILURE
}

fn run() -> Result<Measurement, String> {
    let [path]: [String; 1] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|found: Vec<_>| {
            format!("found {} arguments, expected the job's file", found.len())
        })?;
    let job: Job = serde_json::from_slice(&job::read(Path::new(&path))?)
        .map_err(|cause| format!("{path}: {cause}"))?;
    let statement = job.statement.load()?;
    timeline::listen()?;

    let mut proofs = Vec::with_capacity(job.proofs);
    for _ in 0..job.proofs {
        let begun = Instant::now();
        let proof = statement.prove()?;
        let seconds = begun.elapsed().as_secs_f64();
        let parts = timeline::take()?;
        proofs.push(Proved {
            seconds,
            synthesis_seconds: parts.synthesis.as_secs_f64(),
            proving_seconds: parts.proving.as_secs_f64(),
            proof: hex(&proof),
        });
    }
    Ok(Measurement {
        prover: PROVER,
        proofs,
        peak_resident_bytes: peak_resident_bytes()?,
    })
}

const PROVER: &str = if cfg!(feature = "cuda-supraseal") {
    "bellperson + supraseal-c2"
} else {
    "bellperson on the CPU"
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The highest point of this process's memory, mapped files included.
fn peak_resident_bytes() -> Result<u64, String> {
    let status = String::from_utf8(job::read(Path::new("/proc/self/status"))?);
    let status = status.map_err(|cause| format!("/proc/self/status: {cause}"))?;
    status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmHWM:")?
                .trim()
                .strip_suffix("kB")?
                .trim()
                .parse()
                .ok()
        })
        .map(|kib: u64| kib * 1024)
        .ok_or_else(|| "/proc/self/status: found no VmHWM, expected the peak".to_owned())
}
