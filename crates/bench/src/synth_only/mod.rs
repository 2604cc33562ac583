//! `cuzk-bench synth-only`: from a request's bytes to the witness of a partition, alone.

mod counters;

use std::time::{Duration, Instant};

use cuzk_filecoin::generate::{Generator, Isa};
use cuzk_filecoin::{DecodeTimes, Statement};
use cuzk_r1cs::{Scalar, Witness};
use rayon::ThreadPool;
use serde::Serialize;

use crate::error::Error;
use crate::memory::{self, PeakMemory};
use crate::output::{self, Output, grouped, median};
use crate::partition::{Partition, PartitionArgs};
use counters::{Counters, Counts};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    partition: PartitionArgs,

    /// How often decoding and each path run; the buffers are kept.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,

    /// Numbers of threads, such as 1,2,4; left out, one a core.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    threads: Vec<u32>,

    /// Also run upstream's circuit definition, and compare every value with it. Takes a minute or more at 32 GiB.
    #[arg(long)]
    compare: bool,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    partition: usize,
    partitions: usize,
    aux: usize,
    wide: usize,
    witness_bytes: usize,
    compile_seconds: f64,
    bind_seconds: f64,
    decode: Vec<Decode>,
    native: Vec<Native>,
    /// Why there are no hardware counters.
    no_counters: Option<String>,
    synthesis: Option<Synthesis>,
    /// Before upstream's circuit definition ran.
    peak_memory: PeakMemory,
}

/// From a request's bytes to the checked native inputs of all partitions.
#[derive(Serialize)]
struct Decode {
    threads: usize,
    request_bytes: usize,
    /// Medians: to native inputs, then whether they are true.
    read_seconds: f64,
    check_seconds: f64,
    /// The highest resident memory above that before, where Linux tells.
    memory_bytes: Option<u64>,
}

/// One path of the native generator.
#[derive(Serialize)]
struct Native {
    path: String,
    threads: usize,
    median_seconds: f64,
    seconds: Vec<f64>,
    /// Of one more run, summed over the threads.
    gadgets: Vec<Gadget>,
    /// The highest resident memory above that before, with the witness there, where Linux tells.
    memory_bytes: Option<u64>,
    counts: Option<Counts>,
    /// How many times as long upstream's circuit definition takes.
    ratio: Option<f64>,
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
    /// The native paths whose every value is the circuit's: all of them.
    equal_paths: Vec<String>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    // Counters see only threads that come later.
    let mut counters = Counters::open();
    let pools = pools(&args.threads)?;
    let decode = decode(args, &pools)?;
    let partition = args.partition.load()?;
    let start = Instant::now();
    let generator = partition.generator()?;
    let bind_seconds = start.elapsed().as_secs_f64();

    // Touched, so that the memory of the runs is their own.
    let mut witness = partition.empty_witness();
    witness.bits_mut().fill(!0);
    witness.wide_mut().fill(Scalar::from(1));
    let mut native = Vec::new();
    for isa in Isa::available() {
        let generator = generator.clone().with_isa(isa);
        let mut run = Run {
            generator: &generator,
            partition: &partition,
            iterations: args.iterations,
            counters: counters.as_mut().ok(),
        };
        for pool in &pools {
            native.push(run.measure(pool, &mut witness)?);
        }
    }
    let peak_memory = PeakMemory::of_this_process();
    let synthesis = match args.compare {
        true => Some(Synthesis::measure(&generator, &partition, &mut witness)?),
        false => None,
    };
    if let Some(synthesis) = &synthesis {
        for path in &mut native {
            path.ratio = Some(synthesis.seconds / path.median_seconds);
        }
    }
    let report = Report {
        circuit_id: partition.statement.circuit_id().to_string(),
        partition: partition.index,
        partitions: partition.statement.num_partitions(),
        aux: partition.circuit.num_aux(),
        wide: partition.circuit.layout().num_wide(),
        witness_bytes: size_of_val(witness.bits()) + size_of_val(witness.wide()),
        compile_seconds: partition.compile_seconds,
        bind_seconds,
        decode,
        native,
        no_counters: counters.err().map(|cause| cause.to_string()),
        synthesis,
        peak_memory,
    };
    output.print(&report, print_text)
}

fn pools(threads: &[u32]) -> Result<Vec<ThreadPool>, Error> {
    let threads = if threads.is_empty() { &[0] } else { threads };
    let pool = |threads: &u32| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(*threads as usize)
            .build()
            .map_err(|cause| Error::Failed(format!("threads: {cause}")))
    };
    threads.iter().map(pool).collect()
}

/// Decodes the request over again.
fn decode(args: &Args, pools: &[ThreadPool]) -> Result<Vec<Decode>, Error> {
    let request = args.partition.read()?;
    let measure = |pool: &ThreadPool| {
        let before = memory::reset_peak();
        let times: Vec<DecodeTimes> = (0..args.iterations)
            .map(|_| pool.install(|| Statement::decode_timed(&request)))
            .map(|decoded| decoded.map(|(_, times)| times))
            .collect::<Result<_, _>>()?;
        Ok(Decode {
            threads: pool.current_num_threads(),
            request_bytes: request.vanilla_proofs.iter().map(Vec::len).sum(),
            read_seconds: median(times.iter().map(|t| t.read.as_secs_f64())),
            check_seconds: median(times.iter().map(|t| t.check.as_secs_f64())),
            memory_bytes: before.map(memory::peak_above),
        })
    };
    pools.iter().map(measure).collect()
}

/// What is run, and how often.
struct Run<'r> {
    generator: &'r Generator,
    partition: &'r Partition,
    iterations: u32,
    counters: Option<&'r mut Counters>,
}

impl Run<'_> {
    fn measure(&mut self, pool: &ThreadPool, witness: &mut Witness) -> Result<Native, Error> {
        let (generator, partition) = (self.generator, self.partition);
        let before = memory::reset_peak();
        let mut seconds = Vec::new();
        for _ in 0..self.iterations {
            let start = Instant::now();
            pool.install(|| partition.generate(generator, witness))?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        let mut last = || {
            let inputs = partition.statement.inputs();
            pool.install(|| generator.witness_from(inputs, partition.index, witness))
        };
        let (times, counts) = match &mut self.counters {
            Some(counters) => counters.count(last),
            None => (last(), None),
        };
        let times = times.map_err(|cause| Error::Failed(cause.to_string()))?;
        let gadget = |(name, time): (&'static str, Duration)| Gadget {
            name,
            seconds: time.as_secs_f64(),
        };
        Ok(Native {
            path: path_name(generator.isa()),
            threads: pool.current_num_threads(),
            median_seconds: median(seconds.iter().copied()),
            seconds,
            gadgets: times.parts().into_iter().map(gadget).collect(),
            memory_bytes: before.map(memory::peak_above),
            counts,
            ratio: None,
        })
    }
}

impl Synthesis {
    /// Runs the definition, then each native path once more, into the buffer `native`.
    fn measure(
        generator: &Generator,
        partition: &Partition,
        native: &mut Witness,
    ) -> Result<Self, Error> {
        let mut own = partition.empty_witness();
        let start = Instant::now();
        partition.synthesize(&mut own)?;
        let seconds = start.elapsed().as_secs_f64();
        let mut equal_paths = Vec::new();
        for isa in Isa::available() {
            let generator = generator.clone().with_isa(isa);
            partition.generate(&generator, native)?;
            if own != *native {
                // Where it differs, once more with names.
                drop(own);
                let difference = generator.compare(&partition.statement, partition.index, native);
                let difference = difference.err().map(|difference| difference.to_string());
                let unnamed =
                    || "the witnesses differ where the circuit assigns nothing".to_owned();
                let difference = difference.unwrap_or_else(unnamed);
                return Err(Error::Failed(format!("{}: {difference}", path_name(isa))));
            }
            equal_paths.push(path_name(isa));
        }
        Ok(Self {
            seconds,
            equal_paths,
        })
    }
}

fn path_name(isa: Isa) -> String {
    format!("{isa:?}").to_lowercase()
}

fn print_text(report: &Report) {
    println!(
        "circuit:     {}, partition {} of {}",
        report.circuit_id, report.partition, report.partitions
    );
    println!(
        "witness:     {} values, {} wide, {}",
        grouped(report.aux as u64),
        grouped(report.wide as u64),
        output::bytes(report.witness_bytes as u64)
    );
    for decode in &report.decode {
        println!(
            "decode:      {} in {:.1} + {:.1} ms (read + check) on {} threads{}",
            output::bytes(decode.request_bytes as u64),
            decode.read_seconds * 1e3,
            decode.check_seconds * 1e3,
            decode.threads,
            memory_text(decode.memory_bytes)
        );
    }
    println!("compile:     {:.2} s", report.compile_seconds);
    println!("bind:        {:.3} s", report.bind_seconds);
    report.native.iter().for_each(print_path);
    if let Some(cause) = &report.no_counters {
        println!("counters:    not available ({cause})");
    }
    if let Some(synthesis) = &report.synthesis {
        println!(
            "synthesis:   {:.2} s; every value of the native witness is the circuit's ({})",
            synthesis.seconds,
            synthesis.equal_paths.join(", ")
        );
    }
    println!(
        "peak memory: {}",
        output::bytes(report.peak_memory.resident_bytes)
    );
}

fn print_path(path: &Native) {
    let times = path.seconds.iter().map(|s| format!("{:.2}", s * 1e3));
    let ratio = path.ratio.map_or(String::new(), |ratio| {
        format!(", {ratio:.0} times as fast as synthesis")
    });
    println!(
        "{:12} {:.2} ms on {} threads ({}){}{ratio}",
        format!("{}:", path.path),
        path.median_seconds * 1e3,
        path.threads,
        times.collect::<Vec<_>>().join(", "),
        memory_text(path.memory_bytes)
    );
    let gadgets = path.gadgets.iter();
    let gadgets = gadgets.map(|g| format!("{} {:.2}", g.name, g.seconds * 1e3));
    println!("             {} ms", gadgets.collect::<Vec<_>>().join(", "));
    if let Some(counts) = &path.counts {
        println!(
            "             {} cycles, {:.2} instructions a cycle, {} branch misses, {} cache misses",
            grouped(counts.cycles),
            counts.instructions as f64 / counts.cycles as f64,
            grouped(counts.branch_misses),
            grouped(counts.cache_misses)
        );
    }
}

fn memory_text(bytes: Option<u64>) -> String {
    bytes.map_or(String::new(), |bytes| {
        format!(", {} more", output::bytes(bytes))
    })
}
