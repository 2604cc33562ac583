//! `cuzk-bench synth-only`: witness generation alone.

use std::time::{Duration, Instant};

use cuzk_filecoin::generate::{Generator, Isa};
use cuzk_r1cs::Witness;
use serde::Serialize;

use crate::error::Error;
use crate::memory::PeakMemory;
use crate::output::{self, Output, grouped, median};
use crate::partition::{Partition, PartitionArgs};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    partition: PartitionArgs,

    /// How often each path runs; the buffers are kept.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,

    /// Threads of the native paths; left out, one a core.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,

    /// Also run upstream's circuit definition, and compare every value with it. Takes a minute or more at 32 GiB.
    #[arg(long)]
    compare: bool,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    partition: usize,
    aux: usize,
    wide: usize,
    witness_bytes: usize,
    threads: usize,
    decode_seconds: f64,
    compile_seconds: f64,
    bind_seconds: f64,
    native: Vec<Native>,
    synthesis: Option<Synthesis>,
    peak_memory: PeakMemory,
}

/// One path of the native generator.
#[derive(Serialize)]
struct Native {
    path: String,
    median_seconds: f64,
    /// The first is with cold buffers.
    seconds: Vec<f64>,
    /// Of one more run, summed over the threads.
    gadgets: Vec<Gadget>,
}

/// The share of one kind of gadget.
#[derive(Serialize)]
struct Gadget {
    name: &'static str,
    seconds: f64,
}

/// Upstream's circuit definition, run with values.
#[derive(Serialize)]
struct Synthesis {
    seconds: f64,
    /// How many times slower than the fastest native path.
    ratio: f64,
    /// Every value of the native witness is the circuit's.
    equal: bool,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let partition = args.partition.load()?;
    let start = Instant::now();
    let generator = partition.generator()?;
    let bind_seconds = start.elapsed().as_secs_f64();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.unwrap_or(0) as usize)
        .build()
        .map_err(|cause| Error::Failed(format!("threads: {cause}")))?;

    let mut witness = partition.empty_witness();
    let mut native = Vec::new();
    for isa in [Isa::Portable, Isa::Avx512]
        .into_iter()
        .filter(|isa| isa.is_available())
    {
        let generator = generator.clone().with_isa(isa);
        let run = || Native::measure(&generator, &partition, args.iterations, &mut witness);
        native.push(pool.install(run)?);
    }
    let peak_memory = PeakMemory::of_this_process();
    let fastest = native
        .iter()
        .map(|path| path.median_seconds)
        .fold(f64::INFINITY, f64::min);
    let synthesis = match args.compare {
        true => Some(Synthesis::measure(
            &generator, &partition, &witness, fastest,
        )?),
        false => None,
    };
    let report = Report {
        circuit_id: partition.statement.circuit_id().to_string(),
        partition: partition.index,
        aux: partition.circuit.num_aux(),
        wide: partition.circuit.layout().num_wide(),
        witness_bytes: size_of_val(witness.bits()) + size_of_val(witness.wide()),
        threads: pool.current_num_threads(),
        decode_seconds: partition.decode_seconds,
        compile_seconds: partition.compile_seconds,
        bind_seconds,
        native,
        synthesis,
        peak_memory,
    };
    output.print(&report, print_text)
}

impl Native {
    fn measure(
        generator: &Generator,
        partition: &Partition,
        iterations: u32,
        witness: &mut Witness,
    ) -> Result<Self, Error> {
        let mut seconds = Vec::new();
        for _ in 0..iterations {
            let start = Instant::now();
            partition.generate(generator, witness)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        let times = generator
            .witness_from(partition.statement.inputs(), partition.index, witness)
            .map_err(|cause| Error::Failed(cause.to_string()))?;
        let gadget = |(name, time): (&'static str, Duration)| Gadget {
            name,
            seconds: time.as_secs_f64(),
        };
        Ok(Self {
            path: format!("{:?}", generator.isa()).to_lowercase(),
            median_seconds: median(seconds.iter().copied()),
            seconds,
            gadgets: times.parts().into_iter().map(gadget).collect(),
        })
    }
}

impl Synthesis {
    fn measure(
        generator: &Generator,
        partition: &Partition,
        witness: &Witness,
        fastest: f64,
    ) -> Result<Self, Error> {
        let mut other = partition.empty_witness();
        let start = Instant::now();
        partition.synthesize(&mut other)?;
        let seconds = start.elapsed().as_secs_f64();
        drop(other);
        generator
            .compare(&partition.statement, partition.index, witness)
            .map_err(|difference| Error::Failed(difference.to_string()))?;
        Ok(Self {
            seconds,
            ratio: seconds / fastest,
            equal: true,
        })
    }
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
    println!("bind:        {:.3} s", report.bind_seconds);
    for path in &report.native {
        let times: Vec<String> = path
            .seconds
            .iter()
            .map(|s| format!("{:.2}", s * 1e3))
            .collect();
        println!(
            "{:12} {:.2} ms on {} threads ({})",
            format!("{}:", path.path),
            path.median_seconds * 1e3,
            report.threads,
            times.join(", ")
        );
        let gadgets = path
            .gadgets
            .iter()
            .map(|g| format!("{} {:.2}", g.name, g.seconds * 1e3));
        println!("             {} ms", gadgets.collect::<Vec<_>>().join(", "));
    }
    if let Some(synthesis) = &report.synthesis {
        println!(
            "synthesis:   {:.2} s, {:.0} times as long",
            synthesis.seconds, synthesis.ratio
        );
        println!("comparison:  every value is the circuit's");
    }
    println!(
        "peak memory: {}",
        output::bytes(report.peak_memory.resident_bytes)
    );
}
