//! `cuzk-bench compare prover`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{CircuitId, Statement};
use cuzk_groth16::field::Isa;
use cuzk_groth16::{Backend, Blinding, CpuBackend, ParameterFile};
use cuzk_r1cs::Witness;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use super::{BELLPERSON, print_measurement, run_side};
use crate::error::Error;
use crate::memory::{PeakMemory, Sampler};
use crate::output::{self, Output, median};
use crate::parameters::{self, Files};
use crate::request::{self, InputArgs};
use crate::{files, gen_vanilla};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The circuit: porep-2k, winning-2k, wpost-2k or snap-2k.
    #[arg(long)]
    circuit: CircuitId,

    #[command(flatten)]
    input: InputArgs,

    /// Folder of the parameter files; left out, $FIL_PROOFS_PARAMETER_CACHE or upstream's default.
    #[arg(long, value_name = "DIR")]
    param_cache: Option<PathBuf>,

    /// How often each side runs, in turns.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// How many proofs a side makes each time it runs; buffers are kept between them.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,

    /// Both sides draw their blinding from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[arg(long, hide = true)]
    side: Option<String>,
}

/// One side, one round.
#[derive(Debug, Serialize, Deserialize)]
struct Measurement {
    /// Circuit and parameters.
    load_seconds: f64,
    proofs: Vec<Times>,
    peak_memory: PeakMemory,
    /// Peak without the pages of mapped files, which the system can drop at any time.
    peak_private_bytes: u64,
    proof: String,
}

/// From the decoded vanilla proof to the Groth16 proof.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Times {
    /// bellperson does not tell its synthesis apart.
    witness_seconds: Option<f64>,
    seconds: f64,
}

#[derive(Serialize)]
struct Side {
    name: String,
    median_seconds: f64,
    median_witness_seconds: Option<f64>,
    peak_resident_bytes: u64,
    peak_private_bytes: u64,
    /// How many times faster than bellperson.
    speedup: f64,
    /// Of bellperson's private memory.
    memory_ratio: f64,
    rounds: Vec<Measurement>,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    rounds: u32,
    iterations: u32,
    sides: Vec<Side>,
    equal_proofs: bool,
}

pub(super) fn run(args: &Args, output: Output) -> Result<(), Error> {
    if let Some(side) = &args.side {
        return print_measurement(&run_one(args, side)?);
    }
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    let extra = make_input(args, folder.path())?;
    let names: Vec<String> = std::iter::once(BELLPERSON.to_owned())
        .chain(
            Isa::ALL
                .into_iter()
                .filter(|isa| isa.is_available())
                .map(|isa| isa.to_string()),
        )
        .collect();

    let mut rounds: Vec<Vec<Measurement>> = names.iter().map(|_| Vec::new()).collect();
    for _ in 0..args.rounds {
        for (name, measured) in names.iter().zip(&mut rounds) {
            measured.push(run_side(name, &extra)?);
        }
    }
    let report = Report::new(args, names, rounds);
    output.print(&report, print_text)?;
    if report.equal_proofs {
        Ok(())
    } else {
        Err(Error::Failed("the sides made different proofs".to_owned()))
    }
}

/// Makes a vanilla proof when none was given; returns the options that describe it.
fn make_input(args: &Args, folder: &Path) -> Result<Vec<String>, Error> {
    if args.input.is_given() {
        return Ok(Vec::new());
    }
    let request = gen_vanilla::seal(args.circuit)?;
    let file = folder.join("vanilla");
    files::write_whole(&file, &request::file_content(&request)?)?;
    Ok(request::input_options(&request, &file))
}

fn run_one(args: &Args, side: &str) -> Result<Measurement, Error> {
    let statement = Statement::decode(&args.input.read(args.circuit.kind)?)?;
    if statement.circuit_id() != args.circuit {
        return Err(Error::input(
            "--circuit",
            args.circuit.to_string(),
            statement.circuit_id().to_string(),
        ));
    }
    let files = Files::of(
        args.circuit,
        &parameters::cache(args.param_cache.as_deref()),
    )?;
    let blinding = Blinding::from_rng(ChaCha20Rng::seed_from_u64(args.seed));
    match side {
        BELLPERSON => bellperson(args, &statement, &files, &blinding),
        isa => {
            let isa = isa
                .parse()
                .map_err(|_| Error::input("--side", isa, "bellperson or an instruction set"))?;
            ours(args, isa, &statement, &files, &blinding)
        }
    }
}

/// Makes the proofs and measures them; `prove` returns the seconds of its witness generation and the proof.
fn measure(
    iterations: u32,
    load_seconds: f64,
    mut prove: impl FnMut() -> Result<(Option<f64>, Vec<u8>), Error>,
) -> Result<Measurement, Error> {
    let sampler = Sampler::start();
    let mut proofs = Vec::new();
    let mut last = Vec::new();
    for _ in 0..iterations {
        let start = Instant::now();
        let (witness_seconds, proof) = prove()?;
        proofs.push(Times {
            witness_seconds,
            seconds: start.elapsed().as_secs_f64(),
        });
        last = proof;
    }
    Ok(Measurement {
        load_seconds,
        proofs,
        peak_private_bytes: sampler.finish(),
        peak_memory: PeakMemory::of_this_process(),
        proof: hex::encode(last),
    })
}

fn ours(
    args: &Args,
    isa: Isa,
    statement: &Statement,
    files: &Files,
    blinding: &Blinding,
) -> Result<Measurement, Error> {
    let failed = |what: &str, cause: String| Error::Failed(format!("{isa}, {what}: {cause}"));
    let start = Instant::now();
    let circuit = Arc::new(parameters::compile(args.circuit)?);
    let params = ParameterFile::open(&files.params)
        .map_err(|cause| failed("parameters", cause.to_string()))?;
    let backend = CpuBackend::with_isa(isa);
    let key = backend
        .load(circuit.clone(), Arc::new(params))
        .map_err(|cause| failed("loading", cause.to_string()))?;
    let load_seconds = start.elapsed().as_secs_f64();

    let generator = Generator::bind(&circuit, args.circuit)
        .map_err(|cause| failed("witness generator", cause.to_string()))?;
    let mut witness = Witness::new(circuit.layout().clone());
    measure(args.iterations, load_seconds, || {
        let start = Instant::now();
        generator
            .witness(statement, 0, &mut witness)
            .map_err(|cause| failed("witness", cause.to_string()))?;
        let witness_seconds = start.elapsed().as_secs_f64();
        let proof = backend
            .prove(&key, &witness, blinding)
            .map_err(|cause| failed("proof", cause.to_string()))?;
        Ok((Some(witness_seconds), proof.to_bytes().to_vec()))
    })
}

fn bellperson(
    args: &Args,
    statement: &Statement,
    files: &Files,
    blinding: &Blinding,
) -> Result<Measurement, Error> {
    let failed = |cause: cuzk_baseline::Error| Error::Failed(cause.to_string());
    let start = Instant::now();
    let prover = cuzk_baseline::Prover::open(&files.params).map_err(failed)?;
    let load_seconds = start.elapsed().as_secs_f64();
    measure(args.iterations, load_seconds, || {
        let proof = prover.prove(statement, 0, blinding).map_err(failed)?;
        Ok((None, proof.to_vec()))
    })
}

impl Side {
    fn new(name: String, rounds: Vec<Measurement>) -> Self {
        let times = || rounds.iter().flat_map(|round| &round.proofs);
        let witness: Vec<f64> = times().filter_map(|times| times.witness_seconds).collect();
        let peak = |of: fn(&Measurement) -> u64| rounds.iter().map(of).max().unwrap_or(0);
        Self {
            name,
            median_seconds: median(times().map(|times| times.seconds)),
            median_witness_seconds: (!witness.is_empty()).then(|| median(witness)),
            peak_resident_bytes: peak(|round| round.peak_memory.resident_bytes),
            peak_private_bytes: peak(|round| round.peak_private_bytes),
            speedup: 1.0,
            memory_ratio: 1.0,
            rounds,
        }
    }
}

impl Report {
    fn new(args: &Args, names: Vec<String>, rounds: Vec<Vec<Measurement>>) -> Self {
        let mut sides: Vec<Side> = names
            .into_iter()
            .zip(rounds)
            .map(|(name, rounds)| Side::new(name, rounds))
            .collect();
        let (base_seconds, base_bytes) =
            (sides[0].median_seconds, sides[0].peak_private_bytes as f64);
        for side in &mut sides {
            side.speedup = base_seconds / side.median_seconds;
            side.memory_ratio = side.peak_private_bytes as f64 / base_bytes;
        }
        let first = sides[0].rounds[0].proof.clone();
        let mut proofs = sides
            .iter()
            .flat_map(|side| &side.rounds)
            .map(|round| &round.proof);
        Self {
            circuit_id: args.circuit.to_string(),
            rounds: args.rounds,
            iterations: args.iterations,
            equal_proofs: !first.is_empty() && proofs.all(|proof| *proof == first),
            sides,
        }
    }
}

fn print_text(report: &Report) {
    println!(
        "circuit: {}, {} rounds of {} proofs",
        report.circuit_id, report.rounds, report.iterations
    );
    println!(
        "{:12} {:>10} {:>10} {:>8} {:>12} {:>12} {:>7}",
        "side", "proof", "witness", "speedup", "resident", "private", "memory"
    );
    for side in &report.sides {
        let witness = side
            .median_witness_seconds
            .map_or("-".to_owned(), |seconds| format!("{seconds:.3} s"));
        println!(
            "{:12} {:>10} {:>10} {:>8.2} {:>12} {:>12} {:>7.2}",
            side.name,
            format!("{:.3} s", side.median_seconds),
            witness,
            side.speedup,
            output::bytes(side.peak_resident_bytes),
            output::bytes(side.peak_private_bytes),
            side.memory_ratio
        );
    }
    println!(
        "proofs:  {}",
        if report.equal_proofs {
            "equal"
        } else {
            "DIFFERENT"
        }
    );
}
