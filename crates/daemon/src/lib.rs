//! The proving daemon: configuration, wiring, signals.
//!
//! [`run`] reads the configuration, starts the engine, binds, serves, and after SIGTERM or SIGINT drains and ends with success.

mod args;
mod config;
mod devices;
mod logging;
mod ready;
mod serve;

pub use args::Args;

use std::process::ExitCode;

use config::Config;

/// Runs the daemon until a signal ends it. What goes wrong is one line on stderr.
pub fn run(args: Args) -> ExitCode {
    match try_run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cuzk-daemon: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(args: &Args) -> Result<(), serve::Error> {
    let config = Config::load(args, |name| std::env::var_os(name))?;
    logging::start(&config)?;
    for warning in &config.warnings {
        tracing::warn!("configuration: {warning}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(serve::Error::Runtime)?;
    let result = runtime.block_on(serve::serve(&config, args.ready_file.as_deref()));
    // A partition that is being proved cannot be interrupted; its job is in the journal.
    runtime.shutdown_background();
    result
}
