//! The command line.

use clap::{Parser, Subcommand};

use crate::output::Output;
use crate::{
    batch, cancel, check, compare, compile, conformance, demo, full_size, gen_vanilla, setup,
    single, srs, synth_only, verify,
};

/// Client, benchmarks, vanilla-proof makers and developer setup for the cuzk proving service.
#[derive(Parser, Debug)]
#[command(name = "cuzk-bench", version, about, max_term_width = 120)]
pub(crate) struct Cli {
    /// Where the daemon listens: http://HOST:PORT or unix:///PATH.
    #[arg(
        long,
        global = true,
        default_value = "http://127.0.0.1:9820",
        value_name = "URL"
    )]
    pub(crate) addr: String,

    /// Print one JSON value instead of text.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    pub(crate) fn output(&self) -> Output {
        if self.json {
            Output::Json
        } else {
            Output::Text
        }
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Have one proof made and wait for it.
    Single(single::Args),
    /// Have many proofs made, some at a time, and report the throughput.
    Batch(batch::Args),
    /// Show devices, parameters, queues and totals of the daemon.
    Status,
    /// Load a circuit and its parameters before the first proof needs them.
    Preload(srs::Args),
    /// Unload a circuit's parameters.
    Evict(srs::Args),
    /// Cancel a job.
    Cancel(cancel::Args),
    /// Print the daemon's metrics in the Prometheus text format.
    Metrics,
    /// Make developer parameters for a circuit. They are insecure: whoever makes them can forge proofs.
    Setup(setup::Args),
    /// Make vanilla proofs.
    GenVanilla(gen_vanilla::Args),
    /// Ask filecoin-proofs whether it accepts a proof.
    Verify(verify::Args),
    /// Compile a circuit's R1CS and report time, memory and sizes.
    Compile(compile::Args),
    /// Check that a partition's witness satisfies every row of its circuit.
    Check(check::Args),
    /// Generate a partition's witness and report the time.
    SynthOnly(synth_only::Args),
    /// Measure against bellperson, in one run.
    Compare(compare::Args),
    /// Compare a GPU's proofs of every kind at 2 KiB with the CPU's, byte for byte.
    Conformance(conformance::Args),
    /// Prove at full size on a GPU: parameters made there, a synthetic request, the engine's whole pipeline.
    FullSize(full_size::Args),
    /// Seal 2 KiB sectors, have a daemon prove them, and let filecoin-proofs verify the proofs.
    Demo(demo::Args),
    /// Be a daemon, until standard input ends.
    #[command(hide = true)]
    Daemon(cuzk_daemon::Args),
}
