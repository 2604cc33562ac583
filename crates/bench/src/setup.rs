//! `cuzk-bench setup`: developer parameters, insecure by construction.

use std::path::PathBuf;

use cuzk_filecoin::{CircuitId, ProofKind, SectorSize};
use serde::Serialize;

use crate::error::Error;
use crate::gpu::GpuArgs;
use crate::memory::PeakMemory;
use crate::output::{self, Output};
use crate::parameters::{self, Made};
use crate::progress::Bar;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What the parameters prove: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND")]
    kind: ProofKind,

    /// Size of the sectors, such as 2KiB.
    #[arg(long)]
    sector_size: SectorSize,

    /// Folder for the files; left out, $FIL_PROOFS_PARAMETER_CACHE or upstream's default.
    #[arg(long, value_name = "DIR")]
    param_cache: Option<PathBuf>,

    /// Make the same parameters every time. Left out, the system's randomness is used.
    #[arg(long)]
    seed: Option<u64>,

    /// Make them on the GPU of this number instead of the CPU; the files are the same for the same seed.
    #[arg(long)]
    device: Option<u32>,

    /// The CPU in a GPU's place, running the same kernels. Needs feature `emulate`.
    #[arg(long, hide = true)]
    emulated: bool,
}

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    /// Where they were made, if not on the CPU.
    gpu: Option<String>,
    params: PathBuf,
    vk: PathBuf,
    params_bytes: u64,
    /// Intact files of an earlier setup were kept.
    reused: bool,
    insecure: bool,
    warning: String,
    compile_seconds: f64,
    setup_seconds: f64,
    peak_memory: PeakMemory,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let id = CircuitId::new(args.kind, args.sector_size);
    let folder = parameters::cache(args.param_cache.as_deref());
    let gpu = GpuArgs::chosen(args.device, args.emulated);
    let gpu = gpu.map(|gpu| gpu.open()).transpose()?;
    let bar = Bar::new();
    let made = parameters::make_on(gpu.as_ref(), id, &folder, args.seed, &bar)?;
    drop(bar);
    let gpu = gpu.map(|gpu| gpu.identity().to_string());
    output.print(&Report::new(id, gpu, made), print_text)
}

impl Report {
    fn new(id: CircuitId, gpu: Option<String>, made: Made) -> Self {
        Self {
            circuit_id: id.to_string(),
            gpu,
            params: made.files.params,
            vk: made.files.vk,
            params_bytes: made.report.params_bytes,
            reused: made.report.reused,
            insecure: true,
            warning: made.report.marker.warning,
            compile_seconds: made.compile_seconds,
            setup_seconds: made.setup_seconds,
            peak_memory: PeakMemory::of_this_process(),
        }
    }
}

fn print_text(report: &Report) {
    println!("circuit:     {}", report.circuit_id);
    if let Some(gpu) = &report.gpu {
        println!("made on:     {gpu}");
    }
    println!(
        "params:      {} ({})",
        report.params.display(),
        output::bytes(report.params_bytes)
    );
    println!("vk:          {}", report.vk.display());
    if report.reused {
        println!("kept:        an earlier setup's files, intact");
    }
    println!("compile:     {:.2} s", report.compile_seconds);
    println!("setup:       {:.2} s", report.setup_seconds);
    println!(
        "peak memory: {}",
        output::bytes(report.peak_memory.resident_bytes)
    );
    println!("INSECURE:    {}", report.warning);
}
