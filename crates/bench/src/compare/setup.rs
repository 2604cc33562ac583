//! `cuzk-bench compare setup`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use cuzk_filecoin::CircuitId;
use cuzk_groth16::NoProgress;
use cuzk_groth16::field::Isa;
use cuzk_groth16::setup::{ToxicWaste, generate_with};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use super::{BELLPERSON, print_measurement, run_side};
use crate::error::Error;
use crate::memory::PeakMemory;
use crate::output::{self, Output};
use crate::parameters;

const OURS: &str = "cuzk";

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The circuit, such as winning-2k.
    #[arg(long)]
    circuit: CircuitId,

    /// Both sides draw their toxic waste from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[arg(long, hide = true)]
    side: Option<String>,

    /// Where a side writes its parameters.
    #[arg(long, hide = true, requires = "side")]
    side_out: Option<PathBuf>,
}

/// From nothing to a parameter file on disk.
#[derive(Debug, Serialize, Deserialize)]
struct Measurement {
    /// Part of `seconds`; bellperson does not tell its synthesis apart.
    compile_seconds: Option<f64>,
    seconds: f64,
    peak_memory: PeakMemory,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    bellperson: Measurement,
    cuzk: Measurement,
    /// How many times faster than bellperson.
    speedup: f64,
    equal_files: bool,
    params_bytes: u64,
}

pub(super) fn run(args: &Args, output: Output) -> Result<(), Error> {
    if let (Some(side), Some(out)) = (args.side.as_deref(), args.side_out.as_deref()) {
        return print_measurement(&run_one(args, side, out)?);
    }
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    let measure = |side: &str| -> Result<(Measurement, PathBuf), Error> {
        let out = folder.path().join(side);
        let measurement = run_side(
            side,
            &["--side-out".into(), out.to_string_lossy().into_owned()],
        )?;
        Ok((measurement, out))
    };
    let (cuzk, our_file) = measure(OURS)?;
    let (bellperson, their_file) = measure(BELLPERSON)?;
    let report = Report {
        circuit_id: args.circuit.to_string(),
        speedup: bellperson.seconds / cuzk.seconds,
        bellperson,
        cuzk,
        equal_files: equal(&our_file, &their_file)?,
        params_bytes: our_file
            .metadata()
            .map_err(|source| Error::file(&our_file, source))?
            .len(),
    };
    output.print(&report, print_text)?;
    if report.equal_files {
        Ok(())
    } else {
        Err(Error::Failed("the two parameter files differ".to_owned()))
    }
}

fn run_one(args: &Args, side: &str, out: &Path) -> Result<Measurement, Error> {
    let toxic = ToxicWaste::random(ChaCha20Rng::seed_from_u64(args.seed));
    let file = File::create(out).map_err(|source| Error::file(out, source))?;
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let start = Instant::now();
    let compile_seconds = if side == BELLPERSON {
        cuzk_baseline::generate(args.circuit, toxic, &mut file)
            .map_err(|cause| Error::Failed(cause.to_string()))?;
        None
    } else {
        Some(ours(args.circuit, &toxic, &mut file)?)
    };
    file.flush().map_err(|source| Error::file(out, source))?;
    Ok(Measurement {
        compile_seconds,
        seconds: start.elapsed().as_secs_f64(),
        peak_memory: PeakMemory::of_this_process(),
    })
}

/// Returns the seconds of the circuit's compilation.
fn ours(id: CircuitId, toxic: &ToxicWaste, out: &mut BufWriter<File>) -> Result<f64, Error> {
    let start = Instant::now();
    let circuit = parameters::compile(id)?;
    let compile_seconds = start.elapsed().as_secs_f64();
    generate_with(&circuit, toxic, Isa::detect(), out, &NoProgress)
        .map_err(|cause| Error::Failed(format!("setup of {id}: {cause}")))?;
    Ok(compile_seconds)
}

fn equal(left: &Path, right: &Path) -> Result<bool, Error> {
    const CHUNK: usize = 1 << 20;
    let open = |path: &Path| {
        File::open(path)
            .map(BufReader::new)
            .map_err(|source| Error::file(path, source))
    };
    let (mut left_file, mut right_file) = (open(left)?, open(right)?);
    loop {
        let (mut left_chunk, mut right_chunk) =
            (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        for (path, file, chunk) in [
            (left, &mut left_file, &mut left_chunk),
            (right, &mut right_file, &mut right_chunk),
        ] {
            file.take(CHUNK as u64)
                .read_to_end(chunk)
                .map_err(|source| Error::file(path, source))?;
        }
        if left_chunk != right_chunk {
            return Ok(false);
        }
        if left_chunk.is_empty() {
            return Ok(true);
        }
    }
}

fn print_text(report: &Report) {
    println!(
        "circuit:    {} (parameters of {})",
        report.circuit_id,
        output::bytes(report.params_bytes)
    );
    for (name, side) in [(BELLPERSON, &report.bellperson), (OURS, &report.cuzk)] {
        println!(
            "{name:10}  {:8.2} s, peak memory {}",
            side.seconds,
            output::bytes(side.peak_memory.resident_bytes)
        );
    }
    println!("speedup:    {:.1}", report.speedup);
    println!(
        "files:      {}",
        if report.equal_files {
            "equal"
        } else {
            "DIFFERENT"
        }
    );
}
