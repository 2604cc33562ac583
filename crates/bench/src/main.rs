//! `cuzk-bench`: client of the proving service, developer setup, vanilla-proof makers and measurements.

// A command-line tool: standard output is its interface.
#![allow(clippy::print_stdout)]

mod batch;
mod cancel;
mod cli;
mod client;
mod error;
mod files;
mod metrics;
mod output;
mod request;
mod single;
mod srs;
mod status;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::error::Error;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", error.to_string().replace('\n', " "));
            error.exit_code()
        }
    }
}

fn run(cli: Cli) -> Result<(), Error> {
    let output = cli.output();
    match cli.command {
        Command::Single(args) => client::block_on(single::run(&cli.addr, &args, output)),
        Command::Batch(args) => client::block_on(batch::run(&cli.addr, &args, output)),
        Command::Status => client::block_on(status::run(&cli.addr, output)),
        Command::Preload(args) => client::block_on(srs::preload(&cli.addr, &args, output)),
        Command::Evict(args) => client::block_on(srs::evict(&cli.addr, &args, output)),
        Command::Cancel(args) => client::block_on(cancel::run(&cli.addr, &args, output)),
        Command::Metrics => client::block_on(metrics::run(&cli.addr, output)),
    }
}
