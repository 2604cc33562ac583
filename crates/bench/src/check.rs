//! `cuzk-bench check`: does a partition's witness satisfy every row of its circuit?

use std::time::Instant;

use serde::Serialize;

use crate::error::Error;
use crate::memory::PeakMemory;
use crate::output::{self, Output, grouped};
use crate::partition::PartitionArgs;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    partition: PartitionArgs,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    partition: usize,
    partitions: usize,
    rows: usize,
    satisfied: bool,
    unsatisfied: Option<String>,
    /// The witness's public inputs are those that upstream's verifier derives.
    public_inputs_equal: bool,
    decode_seconds: f64,
    compile_seconds: f64,
    /// Generated natively, or else by running upstream's circuit definition.
    native_witness: bool,
    witness_seconds: f64,
    check_seconds: f64,
    peak_memory: PeakMemory,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let partition = args.partition.load()?;
    let mut witness = partition.empty_witness();
    let start = Instant::now();
    // The circuit's own definition is the way out where the native generator does not fit.
    let native = match partition.generator() {
        Ok(generator) => {
            partition.generate(&generator, &mut witness)?;
            true
        }
        Err(mismatch) => {
            eprintln!("no native witness: {mismatch}");
            partition.synthesize(&mut witness)?;
            false
        }
    };
    let witness_seconds = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let unsatisfied = partition
        .circuit
        .check(&witness)
        .err()
        .map(|row| row.to_string());
    let check_seconds = start.elapsed().as_secs_f64();
    let expected = partition
        .statement
        .public_inputs(partition.index)
        .map_err(|cause| Error::Failed(format!("public inputs: {cause}")))?;

    let report = Report {
        circuit_id: partition.statement.circuit_id().to_string(),
        partition: partition.index,
        partitions: partition.statement.num_partitions(),
        rows: partition.circuit.num_rows(),
        satisfied: unsatisfied.is_none(),
        unsatisfied,
        public_inputs_equal: witness.inputs()[1..] == expected[..],
        decode_seconds: partition.decode_seconds,
        compile_seconds: partition.compile_seconds,
        native_witness: native,
        witness_seconds,
        check_seconds,
        peak_memory: PeakMemory::of_this_process(),
    };
    output.print(&report, print_text)?;
    match (&report.unsatisfied, report.public_inputs_equal) {
        (Some(row), _) => Err(Error::Failed(row.clone())),
        (None, false) => Err(Error::Failed(
            "the public inputs differ from upstream's".to_owned(),
        )),
        (None, true) => Ok(()),
    }
}

fn print_text(report: &Report) {
    println!(
        "circuit:       {}, partition {} of {}",
        report.circuit_id, report.partition, report.partitions
    );
    let rows = grouped(report.rows as u64);
    match &report.unsatisfied {
        None => println!("rows:          {rows}, all satisfied"),
        Some(row) => println!("rows:          {rows}, NOT satisfied: {row}"),
    }
    println!(
        "public inputs: {}",
        if report.public_inputs_equal {
            "equal to upstream's"
        } else {
            "DIFFERENT"
        }
    );
    println!("decode:        {:.3} s", report.decode_seconds);
    println!("compile:       {:.2} s", report.compile_seconds);
    let path = if report.native_witness {
        "native"
    } else {
        "synthesis"
    };
    println!("witness:       {:.3} s ({path})", report.witness_seconds);
    println!("check:         {:.2} s", report.check_seconds);
    println!(
        "peak memory:   {}",
        output::bytes(report.peak_memory.resident_bytes)
    );
}
