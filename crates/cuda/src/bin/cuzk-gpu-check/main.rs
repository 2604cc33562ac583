//! Checks a device against the CPU and against identities, then times it; prints a table last and writes it as JSON.

mod checks;
mod circuit;
mod proofs;
mod stages;
mod synthetic;
mod table;
mod timings;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use cuzk_cuda::{CudaBackend, Device, DeviceLock, Platform, Telemetry, self_test};

use crate::stages::Stages;
use crate::synthetic::Inputs;
use crate::table::Table;

/// Checks and times one device.
#[derive(Parser)]
struct Arguments {
    /// The device's number.
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// Where `gpu-check.json` goes.
    #[arg(long, default_value = ".")]
    out: PathBuf,
    /// Binary logarithm of the largest size.
    #[arg(long, default_value_t = 27)]
    largest: u32,
    /// The CPU in place of a device: to try the program itself.
    #[arg(long)]
    emulated: bool,
    /// Only the checks.
    #[arg(long)]
    no_timings: bool,
    /// Not the whole suite of proofs, which takes long under a memory checker.
    #[arg(long)]
    no_conformance: bool,
    /// Time only what has this in its name.
    #[arg(long, default_value = "")]
    only: String,
    /// A compiled circuit, to be checked and timed at its real size; may be given several times.
    #[arg(long)]
    circuit: Vec<PathBuf>,
    /// Also time multiplications with other windows than those chosen.
    #[arg(long)]
    tune: bool,
    /// Only the timings.
    #[arg(long)]
    no_checks: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut table = Table::new();
    let result = run(&arguments, &mut table);
    if let Err(error) = &result {
        table.failed("run", error.as_ref());
    }
    table.print();
    let written = table.write(&arguments.out.join("gpu-check.json"));
    if let Err(error) = &written {
        table::say(&format!("gpu-check.json: {error}"));
    }
    match (result.is_ok() && !table.any_failed(), written.is_ok()) {
        (true, true) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn run(arguments: &Arguments, table: &mut Table) -> Outcome {
    let platform = if arguments.emulated {
        Platform::Emulated
    } else {
        Platform::Cuda
    };
    let device = Device::open(platform, arguments.device)?;
    let backend = CudaBackend::new(device.clone())?;
    let identity = backend.identity();
    let _lock = DeviceLock::take_in_common(identity)?;
    let (free, total) = device.memory()?;
    table.note(
        "device",
        &format!("{identity}, {} of {} MiB free", free >> 20, total >> 20),
    );
    match Telemetry::of(identity) {
        Ok(seen) => table.note(
            "driver",
            &format!(
                "{} of {}, {} MiB used",
                seen.driver,
                seen.uuid,
                seen.used_bytes >> 20
            ),
        ),
        Err(error) => table.note("driver", &error.to_string()),
    }
    table.check("self-test", || Ok(self_test(&backend)?));

    let inputs = Inputs::new(arguments.largest);
    let stages = Stages::listen();
    if !arguments.no_checks {
        checks::run(&device, &inputs, arguments.largest, table);
    }
    if !arguments.no_checks && !arguments.no_conformance {
        table.check("conformance", || {
            cuzk_groth16::conformance::check(&backend);
            Ok(())
        });
    }
    if !arguments.no_timings {
        table.only = arguments.only.clone();
        timings::run(&device, &inputs, arguments.largest, table);
        if arguments.tune {
            timings::tune(&device, &inputs, arguments.largest, table);
        }
        proofs::run(&backend, arguments.largest, table);
    }
    for path in &arguments.circuit {
        if let Err(error) = circuit::run(&backend, &inputs, path, &stages, table) {
            table.failed(&path.display().to_string(), error.as_ref());
        }
    }
    Ok(())
}
