//! The proving daemon: configuration, wiring, signals.

mod args;

pub use args::Args;

use std::process::ExitCode;

/// Runs the daemon until a signal ends it.
pub fn run(_args: Args) -> ExitCode {
    eprintln!("cuzk-daemon: serving is not built yet");
    ExitCode::FAILURE
}
