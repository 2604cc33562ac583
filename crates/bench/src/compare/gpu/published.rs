//! The published prover: jobs for `cuzk-baseline-gpu`, and what it measures.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use cuzk_filecoin::porep::prover_id;
use cuzk_filecoin::{ProofKind, ProofRequest, SectorSize};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files;
use crate::gpu::failed;
use crate::parameters::CACHE_VARIABLE;

/// The file that tells the program what to prove.
#[derive(Serialize)]
struct Job {
    proofs: u32,
    statement: Statement,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Statement {
    PoRep {
        c1: PathBuf,
        prover_id: [u8; 32],
        sector_number: u64,
    },
    Winning {
        registered_proof: String,
        vanilla: Vec<PathBuf>,
        prover_id: [u8; 32],
        randomness: Vec<u8>,
    },
}

/// What the program prints.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Measurement {
    pub(super) prover: String,
    /// In order; parameters are loaded within the first.
    pub(super) proofs: Vec<Proved>,
    pub(super) peak_resident_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Proved {
    /// From the vanilla proof's bytes to the proof's.
    pub(super) seconds: f64,
    pub(super) synthesis_seconds: f64,
    pub(super) proving_seconds: f64,
    #[serde(with = "hex::serde")]
    pub(super) proof: Vec<u8>,
}

/// Whether the program proves this kind.
pub(super) fn check_kind(kind: ProofKind) -> Result<(), Error> {
    match kind {
        ProofKind::PoRep | ProofKind::WinningPoSt => Ok(()),
        ProofKind::SnapDeals | ProofKind::WindowPoSt => Err(no_job(kind)),
    }
}

fn no_job(kind: ProofKind) -> Error {
    let found = kind.to_string();
    Error::input("--circuit", found, "one of kind porep or winning")
}

/// Writes the job of a request, with its vanilla proofs in files beside it; returns the job's file.
pub(super) fn write_job(
    request: &ProofRequest,
    proofs: u32,
    folder: &Path,
) -> Result<PathBuf, Error> {
    let prover_id = prover_id(request.miner_id);
    let write = |name: String, bytes: &[u8]| -> Result<PathBuf, Error> {
        let path = folder.join(name);
        files::write_whole(&path, bytes)?;
        Ok(path)
    };
    let statement = match request.kind {
        ProofKind::PoRep => Statement::PoRep {
            c1: write("c1.json".to_owned(), &bare_c1(request)?)?,
            prover_id,
            sector_number: request.sector_number,
        },
        ProofKind::WinningPoSt => Statement::Winning {
            registered_proof: registered_winning_post(request)?,
            vanilla: request
                .vanilla_proofs
                .iter()
                .enumerate()
                .map(|(i, proof)| write(format!("vanilla.{i}"), proof))
                .collect::<Result<_, _>>()?,
            prover_id,
            randomness: request.randomness.clone(),
        },
        kind => return Err(no_job(kind)),
    };
    let job = serde_json::to_vec(&Job { proofs, statement });
    write(
        "job.json".to_owned(),
        &job.map_err(|cause| failed("job", &cause))?,
    )
}

/// The C1 output as filecoin-proofs-api writes it, out of its envelope.
fn bare_c1(request: &ProofRequest) -> Result<Vec<u8>, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Envelope {
        phase1_out: String,
    }
    let bytes = request
        .vanilla_proofs
        .first()
        .map_or(&[][..], Vec::as_slice);
    let envelope: Envelope =
        serde_json::from_slice(bytes).map_err(|cause| failed("C1 envelope", &cause))?;
    BASE64
        .decode(envelope.phase1_out)
        .map_err(|cause| failed("C1 envelope, Phase1Out", &cause))
}

fn registered_winning_post(request: &ProofRequest) -> Result<String, Error> {
    match SectorSize::from_bytes(request.sector_size) {
        Some(size) => Ok(format!("StackedDrgWinning{}V1", size.name())),
        None => Err(failed("sector size", &request.sector_size)),
    }
}

/// Runs the program on a job.
pub(super) fn run(program: &Path, job: &Path, param_cache: &Path) -> Result<Measurement, Error> {
    let output = Command::new(program)
        .arg(job)
        .env(CACHE_VARIABLE, param_cache)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::file(program, source))?;
    if !output.status.success() {
        let what = format!("{} ended with {}", program.display(), output.status);
        return Err(Error::Failed(what));
    }
    // supraseal-c2 prints lines of its own before.
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|cause| failed(&program.display().to_string(), &cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program reads, field by field: it is built apart from this one.
    #[test]
    fn jobs_say_what_to_prove() {
        let folder = tempfile::tempdir().expect("a folder");
        let job = |request: &ProofRequest| -> serde_json::Value {
            let file = write_job(request, 3, folder.path()).expect("a job");
            serde_json::from_slice(&std::fs::read(file).expect("the job")).expect("JSON")
        };
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();

        let porep = ProofRequest {
            sector_number: 9,
            miner_id: 1000,
            vanilla_proofs: vec![
                br#"{"SectorNum":9,"Phase1Out":"eyJ4IjoxfQ==","SectorSize":2048}"#.to_vec(),
            ],
            ..ProofRequest::new(ProofKind::PoRep)
        };
        let found = job(&porep);
        assert_eq!(found["proofs"], 3);
        let found = &found["statement"]["porep"];
        assert_eq!(found["c1"], path("c1.json"));
        assert_eq!(found["sector_number"], 9);
        // 1000 in LEB128.
        assert_eq!(found["prover_id"][0], 0xe8);
        assert_eq!(found["prover_id"][1], 0x07);
        assert_eq!(std::fs::read(path("c1.json")).expect("C1"), br#"{"x":1}"#);

        let winning = ProofRequest {
            sector_size: 2048,
            randomness: vec![7; 32],
            vanilla_proofs: vec![vec![1, 2]],
            ..ProofRequest::new(ProofKind::WinningPoSt)
        };
        let found = &job(&winning)["statement"]["winning"];
        assert_eq!(found["registered_proof"], "StackedDrgWinning2KiBV1");
        assert_eq!(found["vanilla"][0], path("vanilla.0"));
        assert_eq!(found["randomness"].as_array().map(Vec::len), Some(32));

        for kind in [ProofKind::SnapDeals, ProofKind::WindowPoSt] {
            assert!(check_kind(kind).is_err());
            assert!(write_job(&ProofRequest::new(kind), 1, folder.path()).is_err());
        }
    }
}
