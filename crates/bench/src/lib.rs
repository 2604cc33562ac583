//! `cuzk-bench`: client of the proving service, developer setup, vanilla-proof makers and measurements.
//!
//! A library so that its tests can start daemons and talk to them as the commands do.

// A command-line tool: standard output is its interface.
#![allow(clippy::print_stdout)]

mod batch;
mod cancel;
mod check;
mod cli;
pub mod client;
mod compare;
mod compile;
mod conformance;
mod daemon;
mod demo;
mod error;
mod files;
mod full_size;
mod gen_vanilla;
mod gpu;
mod memory;
mod metrics;
mod output;
mod parameters;
mod partition;
mod progress;
mod request;
mod setup;
mod single;
mod srs;
mod status;
mod synth_only;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::client::block_on;

pub use crate::daemon::Daemon;
pub use crate::error::Error;
pub use crate::request::{file_content, options, to_wire};
pub use crate::verify::in_child as verify_in_child;

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Command::Daemon(args) = cli.command {
        return daemon::run(args);
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error @ Error::Child(_)) => error.exit_code(),
        Err(error) => {
            eprintln!("error: {}", error.to_string().replace('\n', " "));
            error.exit_code()
        }
    }
}

fn run(cli: Cli) -> Result<(), Error> {
    let output = cli.output();
    match cli.command {
        Command::Single(args) => block_on(single::run(&cli.addr, &args, output)),
        Command::Batch(args) => block_on(batch::run(&cli.addr, &args, output)),
        Command::Status => block_on(status::run(&cli.addr, output)),
        Command::Preload(args) => block_on(srs::preload(&cli.addr, &args, output)),
        Command::Evict(args) => block_on(srs::evict(&cli.addr, &args, output)),
        Command::Cancel(args) => block_on(cancel::run(&cli.addr, &args, output)),
        Command::Metrics => block_on(metrics::run(&cli.addr, output)),
        Command::Setup(args) => setup::run(&args, output),
        Command::GenVanilla(args) => gen_vanilla::run(&args, output),
        Command::Verify(args) => verify::run(&args, output),
        Command::Compile(args) => compile::run(&args, output),
        Command::Check(args) => check::run(&args, output),
        Command::SynthOnly(args) => synth_only::run(&args, output),
        Command::Compare(args) => compare::run(&args, output),
        Command::Conformance(args) => conformance::run(&args, output),
        Command::FullSize(args) => full_size::run(&args, output),
        Command::Demo(args) => demo::run(&args, output),
        // Answered in `main`: the daemon has its own exit codes.
        Command::Daemon(_) => Ok(()),
    }
}
