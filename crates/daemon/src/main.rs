//! The `cuzk-daemon` command.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cuzk_daemon::run(cuzk_daemon::Args::parse())
}
