//! `cuzk-bench verify`: asks filecoin-proofs about a proof.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cuzk_filecoin::{FinalCheckError, ProofRequest, verify_with_filecoin_proofs};
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

    /// Folder of the verifying key; left out, $FIL_PROOFS_PARAMETER_CACHE or upstream's default.
    #[arg(long, value_name = "DIR")]
    param_cache: Option<PathBuf>,
}

#[derive(Serialize)]
struct Verdict {
    accepted: bool,
    seconds: f64,
}

/// Verifies with the key in the folder that `FIL_PROOFS_PARAMETER_CACHE` names.
pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    match &args.param_cache {
        Some(folder) if std::env::var_os(CACHE_VARIABLE).as_deref() != Some(folder.as_os_str()) => {
            return again_with(folder);
        }
        _ => {}
    }
    let request = args.request.read()?;
    let proof = files::read_input("--proof", &args.proof)?;
    let start = Instant::now();
    let accepted = verify_with_filecoin_proofs(&request, &proof).map_err(|cause| match cause {
        FinalCheckError::Request(refused) => refused.into(),
        other => Error::Failed(other.to_string()),
    })?;
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

/// Runs this process's command once more in a child, for upstream reads the folder of the keys from the environment.
fn again_with(folder: &Path) -> Result<(), Error> {
    let executable = std::env::current_exe()
        .map_err(|cause| Error::Failed(format!("this executable is not found: {cause}")))?;
    let status = Command::new(&executable)
        .args(std::env::args_os().skip(1))
        .env(CACHE_VARIABLE, folder)
        .status()
        .map_err(|source| Error::file(&executable, source))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Error::Child(u8::try_from(code).unwrap_or(1))),
        None => Err(Error::Failed(format!("the verifier died: {status}"))),
    }
}

/// Runs this command in a child process.
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
