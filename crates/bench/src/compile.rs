//! `cuzk-bench compile`: records a circuit's R1CS and says what it takes.

use std::path::PathBuf;
use std::time::Instant;

use cuzk_filecoin::{CircuitId, ProofKind, SectorSize, synthesize_blank};
use cuzk_r1cs::{R1cs, row_digest};
use serde::Serialize;

use crate::error::Error;
use crate::memory::PeakMemory;
use crate::output::{self, Output, grouped};
use crate::parameters;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What the circuit proves: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND")]
    kind: ProofKind,

    /// Size of the sectors, such as 32GiB.
    #[arg(long)]
    sector_size: SectorSize,

    /// Also run the whole circuit through a hash of its rows, and compare. Takes minutes at 32 GiB.
    #[arg(long)]
    full: bool,

    /// Keep the compiled circuit here.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    digest: String,
    rows: usize,
    log_domain: u32,
    inputs: usize,
    aux: usize,
    wide: usize,
    nonzeros: [u64; 3],
    dense_a: usize,
    dense_b: usize,
    blocks: usize,
    coefficients: usize,
    compile_seconds: f64,
    /// Of the compilation alone.
    peak_memory: PeakMemory,
    file_bytes: u64,
    write_seconds: f64,
    reload_seconds: f64,
    full: Option<Full>,
}

/// The comparison with every row of upstream's circuit.
#[derive(Serialize)]
struct Full {
    equal: bool,
    seconds: f64,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let id = CircuitId::new(args.kind, args.sector_size);
    let start = Instant::now();
    let circuit = parameters::compile(id)?;
    let compile_seconds = start.elapsed().as_secs_f64();
    let peak_memory = PeakMemory::of_this_process();
    let stored = Stored::measure(id, &circuit, args.out.as_deref())?;
    let full = if args.full {
        Some(compare_rows(id, &circuit)?)
    } else {
        None
    };

    let densities = circuit.densities();
    let report = Report {
        circuit_id: id.to_string(),
        digest: hex::encode(circuit.digest()),
        rows: circuit.num_rows(),
        log_domain: circuit.log_domain(),
        inputs: circuit.num_inputs(),
        aux: circuit.num_aux(),
        wide: circuit.layout().num_wide(),
        nonzeros: circuit.num_nonzeros(),
        dense_a: densities.a_aux.count_ones(),
        dense_b: densities.b_inputs.count_ones() + densities.b_aux.count_ones(),
        blocks: circuit.blocks(),
        coefficients: circuit.dictionary().len(),
        compile_seconds,
        peak_memory,
        file_bytes: stored.bytes,
        write_seconds: stored.write_seconds,
        reload_seconds: stored.reload_seconds,
        full,
    };
    output.print(&report, print_text)?;
    match report.full {
        Some(Full { equal: false, .. }) => Err(Error::Failed(format!(
            "the compiled {id} is not upstream's circuit"
        ))),
        _ => Ok(()),
    }
}

/// Size and times of a compiled circuit's file.
struct Stored {
    bytes: u64,
    write_seconds: f64,
    reload_seconds: f64,
}

impl Stored {
    fn measure(
        id: CircuitId,
        circuit: &R1cs,
        out: Option<&std::path::Path>,
    ) -> Result<Self, Error> {
        let failed = |cause: String| Error::Failed(format!("the file of {id}: {cause}"));
        let folder = tempfile::tempdir().map_err(|cause| failed(cause.to_string()))?;
        let path = out.map_or_else(|| folder.path().join("circuit"), PathBuf::from);

        let start = Instant::now();
        circuit
            .write_to(&path)
            .map_err(|cause| failed(cause.to_string()))?;
        let write_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let again = R1cs::read_from(&path).map_err(|cause| failed(cause.to_string()))?;
        let reload_seconds = start.elapsed().as_secs_f64();
        if again.digest() != circuit.digest() {
            return Err(failed(
                "it holds another circuit than was written".to_owned(),
            ));
        }
        let metadata = path.metadata().map_err(|cause| failed(cause.to_string()))?;
        Ok(Self {
            bytes: metadata.len(),
            write_seconds,
            reload_seconds,
        })
    }
}

fn compare_rows(id: CircuitId, circuit: &R1cs) -> Result<Full, Error> {
    let start = Instant::now();
    let upstream = row_digest(|cs| synthesize_blank(id, cs))
        .map_err(|cause| Error::Failed(format!("hashing the rows of {id}: {cause}")))?;
    Ok(Full {
        equal: upstream == circuit.row_digest(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn print_text(report: &Report) {
    let [a, b, c] = report.nonzeros.map(grouped);
    let count = |number: usize| grouped(number as u64);
    println!(
        "circuit:      {} ({})",
        report.circuit_id,
        &report.digest[..16]
    );
    println!(
        "rows:         {} (domain 2^{})",
        count(report.rows),
        report.log_domain
    );
    println!("inputs:       {}", count(report.inputs));
    println!(
        "aux:          {} ({} wide)",
        count(report.aux),
        count(report.wide)
    );
    println!("non-zeros:    A {a}, B {b}, C {c}");
    println!(
        "density:      A {}, B {}",
        count(report.dense_a),
        count(report.dense_b)
    );
    println!("blocks:       {}", report.blocks);
    println!("coefficients: {}", report.coefficients);
    println!("compile:      {:.2} s", report.compile_seconds);
    println!(
        "peak memory:  {}",
        output::bytes(report.peak_memory.resident_bytes)
    );
    println!("file:         {}", output::bytes(report.file_bytes));
    println!("write:        {:.2} s", report.write_seconds);
    println!("reload:       {:.2} s", report.reload_seconds);
    if let Some(full) = &report.full {
        let word = if full.equal {
            "equal to"
        } else {
            "NOT EQUAL to"
        };
        println!(
            "full check:   {word} upstream's circuit, row by row, in {:.1} s",
            full.seconds
        );
    }
}
