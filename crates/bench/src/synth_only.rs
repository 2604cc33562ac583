//! `cuzk-bench synth-only`: witness generation alone.

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

    /// How often; the buffers are kept.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    partition: usize,
    aux: usize,
    wide: usize,
    witness_bytes: usize,
    decode_seconds: f64,
    compile_seconds: f64,
    /// By running upstream's circuit definition.
    synthesis_seconds: Vec<f64>,
    peak_memory: PeakMemory,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let partition = args.partition.load()?;
    let mut witness = partition.empty_witness();
    let mut synthesis_seconds = Vec::new();
    for _ in 0..args.iterations {
        let start = Instant::now();
        partition.synthesize(&mut witness)?;
        synthesis_seconds.push(start.elapsed().as_secs_f64());
    }
    let report = Report {
        circuit_id: partition.statement.circuit_id().to_string(),
        partition: partition.index,
        aux: partition.circuit.num_aux(),
        wide: partition.circuit.layout().num_wide(),
        witness_bytes: size_of_val(witness.bits()) + size_of_val(witness.wide()),
        decode_seconds: partition.decode_seconds,
        compile_seconds: partition.compile_seconds,
        synthesis_seconds,
        peak_memory: PeakMemory::of_this_process(),
    };
    output.print(&report, print_text)
}

fn print_text(report: &Report) {
    println!(
        "circuit:     {}, partition {}",
        report.circuit_id, report.partition
    );
    println!(
        "witness:     {} values, {} wide, {}",
        grouped(report.aux as u64),
        grouped(report.wide as u64),
        output::bytes(report.witness_bytes as u64)
    );
    println!("decode:      {:.3} s", report.decode_seconds);
    println!("compile:     {:.2} s", report.compile_seconds);
    for (number, seconds) in report.synthesis_seconds.iter().enumerate() {
        println!(
            "synthesis:   {seconds:.3} s ({} of {})",
            number + 1,
            report.synthesis_seconds.len()
        );
    }
    println!(
        "peak memory: {}",
        output::bytes(report.peak_memory.resident_bytes)
    );
}
