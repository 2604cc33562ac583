//! `cuzk-bench compare`: this project's code against bellperson's, on the same input, in one run.
//!
//! Each side runs in a process of its own, one after the other and round by round, so that neither memory nor warm
//! caches of one side count for the other. The child is this same command with the hidden option `--side`.

mod gpu;
mod prover;
mod setup;

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::output::Output;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// Developer setup against bellperson's parameter generator; the files must be equal.
    Setup(setup::Args),
    /// Our CPU prover, on every instruction set that this CPU has, against bellperson's; the proofs must be equal.
    #[command(alias = "prove")]
    Prover(prover::Args),
    /// This project's service on a GPU against the published GPU prover, with the same parameters.
    Gpu(gpu::Args),
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    match &args.what {
        What::Setup(args) => setup::run(args, output),
        What::Prover(args) => prover::run(args, output),
        What::Gpu(args) => gpu::run(args, output),
    }
}

/// The name of bellperson's side.
const BELLPERSON: &str = "bellperson";

/// Runs one side in a child process and reads what it measured.
fn run_side<T: DeserializeOwned>(side: &str, extra: &[String]) -> Result<T, Error> {
    let executable = std::env::current_exe()
        .map_err(|source| Error::file(Path::new("this executable"), source))?;
    let child = Command::new(&executable)
        .args(std::env::args_os().skip(1))
        .args(["--side", side])
        .args(extra)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::file(&executable, source))?;
    if !child.status.success() {
        return Err(Error::Failed(format!(
            "side {side} ended with {}",
            child.status
        )));
    }
    serde_json::from_slice(&child.stdout)
        .map_err(|cause| Error::Failed(format!("side {side} printed no measurement: {cause}")))
}

/// What a side prints for the process that started it.
fn print_measurement(measurement: &impl Serialize) -> Result<(), Error> {
    Output::Json.print(measurement, |_| ())
}
