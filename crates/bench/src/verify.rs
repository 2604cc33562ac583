//! `cuzk-bench verify`: asks filecoin-proofs about a proof.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cuzk_filecoin::{ProofRequest, verify_with_filecoin_proofs};
use serde::Serialize;

use crate::error::Error;
use crate::files;
use crate::output::Output;
use crate::parameters::CACHE_VARIABLE;
use crate::request::{self, RequestArgs};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    request: RequestArgs,

    /// The proof, as `single --out` writes it.
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,
}

#[derive(Serialize)]
struct Verdict {
    accepted: bool,
    seconds: f64,
}

/// Verifies with the key in the folder that `FIL_PROOFS_PARAMETER_CACHE` names.
pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let request = args.request.read()?;
    let proof = files::read_input("--proof", &args.proof)?;
    let start = Instant::now();
    let accepted = verify_with_filecoin_proofs(&request, &proof)
        .map_err(|cause| Error::Failed(format!("filecoin-proofs: {cause}")))?;
    let verdict = Verdict {
        accepted,
        seconds: start.elapsed().as_secs_f64(),
    };
    output.print(&verdict, |verdict| {
        let word = if verdict.accepted {
            "accepted"
        } else {
            "REJECTED"
        };
        println!("filecoin-proofs: {word} in {:.0} ms", verdict.seconds * 1e3);
    })?;
    if accepted {
        Ok(())
    } else {
        Err(Error::Failed(
            "filecoin-proofs rejects the proof".to_owned(),
        ))
    }
}

/// Runs this command in a child process, for upstream reads the folder of the keys from the environment.
///
/// `vanilla` and `proof` are files that hold the request's vanilla proofs and the proof.
pub fn in_child(
    executable: &Path,
    param_cache: &Path,
    request: &ProofRequest,
    vanilla: &Path,
    proof: &Path,
) -> Result<(), Error> {
    let child = Command::new(executable)
        .arg("verify")
        .args(request::options(request, vanilla))
        .arg("--proof")
        .arg(proof)
        .env(CACHE_VARIABLE, param_cache)
        .output()
        .map_err(|source| Error::file(executable, source))?;
    if child.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&child.stderr);
    Err(Error::Failed(
        message.lines().last().unwrap_or("no message").to_owned(),
    ))
}
