//! `cuzk-bench demo`: the whole main job on a really sealed sector.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize};
use serde::Serialize;

use crate::client::{block_on, connect};
use crate::daemon::Daemon;
use crate::error::Error;
use crate::output::{self, Output};
use crate::progress::Bar;
use crate::request::to_wire;
use crate::single::{self, ProofResult};
use crate::{files, gen_vanilla, parameters, verify};

const SECTOR_NUMBER: u64 = 1;
const MINER_ID: u64 = 1000;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Folder for parameters and the daemon's state, kept for the next time; left out, cuzk-demo in the user's cache.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    dir: PathBuf,
    parameters_reused: bool,
    parameters_seconds: f64,
    sealing_seconds: f64,
    proof: ProofResult,
    accepted_by: &'static str,
    verify_seconds: f64,
    total_seconds: f64,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let start = Instant::now();
    let id = CircuitId::new(ProofKind::PoRep, SectorSize::S2KiB);
    let folder = Folder::open(args.dir.as_deref())?;
    let executable = std::env::current_exe()
        .map_err(|source| Error::file(Path::new("this executable"), source))?;
    let say = |text: String| {
        if output.is_text() {
            println!("{text}");
        }
    };

    say(format!(
        "[1/5] parameters of {id} in {}",
        folder.parameters.display()
    ));
    let step = Instant::now();
    let bar = Bar::new();
    let made = parameters::make(id, &folder.parameters, None, &bar)?;
    drop(bar);
    let parameters_seconds = step.elapsed().as_secs_f64();
    let origin = if made.report.reused { "found" } else { "made" };
    let size = output::bytes(made.report.params_bytes);
    say(format!(
        "      {origin} in {parameters_seconds:.1} s ({size}, INSECURE: {})",
        made.report.marker.warning
    ));
    drop(made.circuit);
    let parameters_reused = made.report.reused;

    say(format!(
        "[2/5] sealing a 2 KiB sector (number {SECTOR_NUMBER}, miner {MINER_ID}) with filecoin-proofs"
    ));
    let step = Instant::now();
    let c1 = gen_vanilla::seal(id.sector_size, SECTOR_NUMBER, MINER_ID)?;
    files::write_whole(&folder.c1, &c1)?;
    let sealing_seconds = step.elapsed().as_secs_f64();
    say(format!(
        "      sealed in {sealing_seconds:.1} s, C1 of {}",
        output::bytes(c1.len() as u64)
    ));

    say("[3/5] starting a daemon".to_owned());
    let mut daemon = folder.start_daemon(&executable)?;
    say(format!(
        "      process {} serves {}",
        daemon.pid(),
        daemon.addr()
    ));

    say("[4/5] proving over gRPC".to_owned());
    let proof = prove(&daemon, c1)?;
    if output.is_text() {
        single::print_text(&proof);
    }
    proof.succeeded()?;
    daemon.stop();

    say("[5/5] verifying with filecoin-proofs' verify_seal".to_owned());
    let step = Instant::now();
    files::write_whole(&folder.proof, &proof.proof)?;
    verify::porep_in_child(
        &executable,
        &folder.parameters,
        &folder.c1,
        MINER_ID,
        &folder.proof,
    )?;
    let verify_seconds = step.elapsed().as_secs_f64();
    say(format!("      ACCEPTED in {verify_seconds:.1} s"));

    let report = Report {
        dir: folder.root,
        parameters_reused,
        parameters_seconds,
        sealing_seconds,
        proof,
        accepted_by: "filecoin-proofs verify_seal",
        verify_seconds,
        total_seconds: start.elapsed().as_secs_f64(),
    };
    output.print(&report, |report| {
        println!("demo done in {:.1} s", report.total_seconds);
    })
}

fn prove(daemon: &Daemon, c1: Vec<u8>) -> Result<ProofResult, Error> {
    let request = ProofRequest {
        sector_size: SectorSize::S2KiB.bytes(),
        sector_number: SECTOR_NUMBER,
        miner_id: MINER_ID,
        vanilla_proofs: vec![c1],
        ..ProofRequest::new(ProofKind::PoRep)
    };
    block_on(async {
        let mut client = connect(&daemon.addr()).await?;
        single::prove(&mut client, to_wire(request), 0).await
    })
    .map_err(|error| Error::Failed(format!("{error} (daemon: {})", daemon.log_end())))
}

/// What the demo keeps.
struct Folder {
    root: PathBuf,
    parameters: PathBuf,
    state: PathBuf,
    log: PathBuf,
    c1: PathBuf,
    proof: PathBuf,
}

impl Folder {
    fn open(option: Option<&Path>) -> Result<Self, Error> {
        let root = option.map_or_else(default_folder, Path::to_owned);
        std::fs::create_dir_all(&root).map_err(|source| Error::file(&root, source))?;
        // Absolute, for the child processes' sake.
        let root = root
            .canonicalize()
            .map_err(|source| Error::file(&root, source))?;
        Ok(Self {
            parameters: root.join("parameters"),
            state: root.join("state"),
            log: root.join("daemon.log"),
            c1: root.join("c1.json"),
            proof: root.join("proof.bin"),
            root,
        })
    }

    fn start_daemon(&self, executable: &Path) -> Result<Daemon, Error> {
        let parameters = self.parameters.to_string_lossy();
        let state = self.state.to_string_lossy();
        Daemon::start(
            executable,
            &["--param-cache", &parameters, "--state-dir", &state],
            &self.log,
        )
    }
}

/// `$XDG_CACHE_HOME/cuzk-demo`, `~/.cache/cuzk-demo`, or the working folder's `cuzk-demo` for users without a home.
fn default_folder() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    cache.or_else(home).unwrap_or_default().join("cuzk-demo")
}
