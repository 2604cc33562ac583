//! `cuzk-bench compare gpu`: this project on a GPU against bellperson with supraseal-c2, in one run.
//!
//! The published prover is a program of its own, `cuzk-baseline-gpu`, since its kernels and its features of upstream's
//! crates do not go into one program with these. Both read the same parameter files and prove the same statement, in turns;
//! filecoin-proofs must accept every proof of either side.

mod ours;
mod published;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use cuzk_filecoin::{CircuitId, ProofRequest};

use super::{print_measurement, run_side};
use crate::error::Error;
use crate::gpu::{GpuArgs, failed};
use crate::output::Output;
use crate::parameters;
use crate::progress::Bar;
use crate::request::{self, InputArgs};
use crate::{files, gen_vanilla, verify};
use ours::{Parts, Service};
use published::Measurement;
use report::{Report, print_text};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The circuit: porep-2k or winning-2k.
    #[arg(long)]
    circuit: CircuitId,

    /// The published prover, as `baseline-gpu/build` makes it.
    #[arg(long, value_name = "PROGRAM")]
    baseline: PathBuf,

    #[command(flatten)]
    gpu: GpuArgs,

    #[command(flatten)]
    input: InputArgs,

    /// Folder of the parameter files; made there where they are missing. Left out, $FIL_PROOFS_PARAMETER_CACHE or
    /// upstream's default.
    #[arg(long, value_name = "DIR")]
    param_cache: Option<PathBuf>,

    /// How often each side is started, in turns.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// How many proofs a side makes each time, after a first one, which loads the parameters and is reported apart.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,

    /// Writes the report here too, as JSON with every time.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[arg(long, hide = true)]
    side: Option<String>,
}

impl Args {
    /// Number of proofs of a side each time.
    fn proofs_each(&self) -> u32 {
        self.iterations + 1
    }
}

/// One turn of both sides.
#[derive(serde::Serialize)]
struct Round {
    published: Measurement,
    service: Service,
    parts: Parts,
}

pub(super) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let id = args.circuit;
    let param_cache = parameters::cache(args.param_cache.as_deref());
    if args.side.is_some() {
        let request = args.input.read(id.kind)?;
        return print_measurement(&ours::prove_parts(args, id, &request, &param_cache)?);
    }
    published::check_kind(id.kind)?;
    let say = |text: String| {
        if output.is_text() {
            println!("{text}");
        }
    };
    let begun = Instant::now();
    let bar = Bar::new();
    parameters::make(id, &param_cache, None, &bar)?;
    drop(bar);
    let seconds = begun.elapsed().as_secs_f64();
    let shown = param_cache.display();
    say(format!("{id}: parameters in {shown} after {seconds:.1} s"));

    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    let folder = folder.path();
    let (request, vanilla, given) = make_input(args, folder)?;
    let job = published::write_job(&request, args.proofs_each(), folder)?;
    let mut rounds = Vec::new();
    for number in 1..=args.rounds {
        say(format!("round {number} of {}", args.rounds));
        rounds.push(Round {
            published: published::run(&args.baseline, &job, &param_cache)?,
            service: ours::serve(args, &request, &param_cache, folder)?,
            parts: run_side("cuzk", &given)?,
        });
    }
    check_devices(args, &rounds)?;
    let verified = ask_upstream(&rounds, &request, &param_cache, &vanilla, folder)?;
    let report = Report::new(id, rounds, verified);
    if let Some(out) = &args.out {
        let json = serde_json::to_vec_pretty(&report).map_err(|cause| failed("JSON", &cause))?;
        files::write_whole(out, &json)?;
    }
    output.print(&report, print_text)
}

/// The request, a file with its vanilla proofs, and the options for a side that say so again.
fn make_input(args: &Args, folder: &Path) -> Result<(ProofRequest, PathBuf, Vec<String>), Error> {
    let given = args.input.is_given();
    let request = match given {
        true => args.input.read(args.circuit.kind)?,
        false => gen_vanilla::seal(args.circuit)?,
    };
    let vanilla = folder.join("vanilla");
    files::write_whole(&vanilla, &request::file_content(&request)?)?;
    let options = match given {
        true => Vec::new(),
        false => request::input_options(&request, &vanilla),
    };
    Ok((request, vanilla, options))
}

/// The daemon must have proved on the GPU that the parts were measured on.
fn check_devices(args: &Args, rounds: &[Round]) -> Result<(), Error> {
    let differs = |round: &Round| {
        let devices = round.service.proofs.iter().map(|proof| &proof.devices);
        devices
            .into_iter()
            .find(|found| **found != round.parts.gpu)
            .cloned()
    };
    match rounds.iter().find_map(differs) {
        Some(found) if args.gpu.ordinal().is_some() => Err(Error::Failed(format!(
            "found proofs of the daemon by {found}, expected them by {}",
            rounds[0].parts.gpu
        ))),
        _ => Ok(()),
    }
}

/// Has filecoin-proofs verify all proofs; returns how many there were.
fn ask_upstream(
    rounds: &[Round],
    request: &ProofRequest,
    param_cache: &Path,
    vanilla: &Path,
    folder: &Path,
) -> Result<usize, Error> {
    let executable = std::env::current_exe()
        .map_err(|source| Error::file(Path::new("this executable"), source))?;
    let file = folder.join("proof");
    let mut verified = 0;
    for round in rounds {
        let published = round.published.proofs.iter().map(|proof| &proof.proof);
        let ours = round.service.proofs.iter().map(|proof| &proof.proof);
        for proof in published.chain(ours) {
            files::write_whole(&file, proof)?;
            verify::in_child(&executable, param_cache, request, vanilla, &file)?;
            verified += 1;
        }
    }
    Ok(verified)
}
