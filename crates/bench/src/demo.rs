//! `cuzk-bench demo`: the whole main job on really sealed sectors.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use cuzk_filecoin::{CircuitId, ParseNameError, ProofKind, ProofRequest, SectorSize};
use serde::Serialize;

use crate::client::{block_on, connect};
use crate::daemon::Daemon;
use crate::error::Error;
use crate::output::{self, Output};
use crate::progress::Bar;
use crate::request::{self, to_wire};
use crate::single::{self, ProofResult};
use crate::{files, gen_vanilla, parameters, verify};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What to prove: porep, snap, wpost, winning, or all of them; may be given more than once.
    #[arg(long = "type", value_name = "KIND", default_value = "all")]
    kinds: Vec<Kinds>,

    /// Folder for parameters and the daemon's state, kept for the next time; left out, cuzk-demo in the user's cache.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// One kind or all of them.
#[derive(Clone, Copy, Debug)]
enum Kinds {
    One(ProofKind),
    All,
}

impl FromStr for Kinds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            _ => text
                .parse()
                .map(Self::One)
                .map_err(|cause: ParseNameError| format!("{cause}, or all")),
        }
    }
}

impl Kinds {
    fn list(&self) -> &[ProofKind] {
        match self {
            Self::One(kind) => std::slice::from_ref(kind),
            Self::All => &ProofKind::ALL,
        }
    }
}

#[derive(Serialize)]
struct Report {
    dir: PathBuf,
    proofs: Vec<Proved>,
    total_seconds: f64,
}

/// One kind, from parameters to upstream's verdict.
#[derive(Serialize)]
struct Proved {
    circuit_id: String,
    parameters_reused: bool,
    parameters_seconds: f64,
    sealing_seconds: f64,
    result: ProofResult,
    accepted_by: &'static str,
    verify_seconds: f64,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let start = Instant::now();
    let mut demo = Demo::open(args.dir.as_deref(), output)?;
    let mut proofs = Vec::new();
    for kind in args.kinds.iter().flat_map(Kinds::list) {
        proofs.push(demo.prove(CircuitId::new(*kind, SectorSize::S2KiB))?);
    }
    demo.stop_daemon();
    let report = Report {
        dir: demo.root,
        proofs,
        total_seconds: start.elapsed().as_secs_f64(),
    };
    output.print(&report, |report| {
        println!("demo done in {:.1} s", report.total_seconds)
    })
}

/// The files that the demo works with and keeps, and the executable that its child processes run.
struct Demo {
    root: PathBuf,
    parameters: PathBuf,
    executable: PathBuf,
    /// Started for the first proof and kept for the others.
    daemon: Option<Daemon>,
    output: Output,
}

impl Demo {
    fn open(option: Option<&Path>, output: Output) -> Result<Self, Error> {
        let root = option.map_or_else(default_folder, Path::to_owned);
        std::fs::create_dir_all(&root).map_err(|source| Error::file(&root, source))?;
        // Absolute, for the child processes' sake.
        let root = root
            .canonicalize()
            .map_err(|source| Error::file(&root, source))?;
        Ok(Self {
            parameters: root.join("parameters"),
            root,
            executable: std::env::current_exe()
                .map_err(|source| Error::file(Path::new("this executable"), source))?,
            daemon: None,
            output,
        })
    }

    fn say(&self, text: &str) {
        if self.output.is_text() {
            println!("{text}");
        }
    }

    fn prove(&mut self, id: CircuitId) -> Result<Proved, Error> {
        self.say(&format!(
            "[1/5] {id}: parameters in {}",
            self.parameters.display()
        ));
        let (parameters_reused, parameters_seconds) = self.make_parameters(id)?;

        self.say(&format!("[2/5] {id}: sealing with filecoin-proofs"));
        let step = Instant::now();
        let request = gen_vanilla::seal(id)?;
        let vanilla = self.root.join(format!("{id}.vanilla.json"));
        let content = request::file_content(&request)?;
        files::write_whole(&vanilla, &content)?;
        let sealing_seconds = step.elapsed().as_secs_f64();
        let size = output::bytes(content.len() as u64);
        self.say(&format!(
            "      sealed in {sealing_seconds:.1} s, vanilla proof of {size}"
        ));

        self.say(&format!("[3/5] {id}: the daemon"));
        let daemon = match self.daemon.take() {
            Some(daemon) => daemon,
            None => self.start_daemon()?,
        };
        let (pid, addr) = (daemon.pid(), daemon.addr());
        self.say(&format!("      process {pid} serves {addr}"));

        self.say(&format!("[4/5] {id}: proving over gRPC"));
        let result = submit(&daemon, request.clone())?;
        self.daemon = Some(daemon);
        if self.output.is_text() {
            single::print_text(&result);
        }
        result.succeeded()?;

        self.say(&format!("[5/5] {id}: verifying with filecoin-proofs"));
        let step = Instant::now();
        let proof = self.root.join(format!("{id}.proof"));
        files::write_whole(&proof, &result.proof)?;
        verify::in_child(
            &self.executable,
            &self.parameters,
            &request,
            &vanilla,
            &proof,
        )?;
        let verify_seconds = step.elapsed().as_secs_f64();
        let verifier = verifier(id.kind);
        self.say(&format!(
            "      ACCEPTED by {verifier} in {verify_seconds:.1} s"
        ));
        Ok(Proved {
            circuit_id: id.to_string(),
            parameters_reused,
            parameters_seconds,
            sealing_seconds,
            result,
            accepted_by: verifier,
            verify_seconds,
        })
    }

    /// Returns whether there were parameters, and the seconds it took.
    fn make_parameters(&self, id: CircuitId) -> Result<(bool, f64), Error> {
        let step = Instant::now();
        let bar = Bar::new();
        let report = parameters::make(id, &self.parameters, None, &bar)?.report;
        drop(bar);
        let seconds = step.elapsed().as_secs_f64();
        let origin = if report.reused { "found" } else { "made" };
        let size = output::bytes(report.params_bytes);
        self.say(&format!(
            "      {origin} in {seconds:.1} s ({size}); INSECURE: {}",
            report.marker.warning
        ));
        Ok((report.reused, seconds))
    }

    fn start_daemon(&self) -> Result<Daemon, Error> {
        let parameters = self.parameters.to_string_lossy();
        let state = self.root.join("state");
        let state = state.to_string_lossy();
        let options = ["--param-cache", &*parameters, "--state-dir", &*state];
        Daemon::start(&self.executable, &options, &self.root.join("daemon.log"))
    }

    fn stop_daemon(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.stop();
        }
    }
}

fn submit(daemon: &Daemon, request: ProofRequest) -> Result<ProofResult, Error> {
    block_on(async {
        let mut client = connect(&daemon.addr()).await?;
        single::prove(&mut client, to_wire(request)).await
    })
    .map_err(|error| Error::Failed(format!("{error} (daemon: {})", daemon.log_end())))
}

/// The function of filecoin-proofs that decides about a kind.
fn verifier(kind: ProofKind) -> &'static str {
    match kind {
        ProofKind::PoRep => "filecoin-proofs' verify_seal",
        ProofKind::SnapDeals => "filecoin-proofs' verify_empty_sector_update_proof",
        ProofKind::WindowPoSt => "filecoin-proofs' verify_window_post",
        ProofKind::WinningPoSt => "filecoin-proofs' verify_winning_post",
    }
}

/// `$XDG_CACHE_HOME/cuzk-demo`, `~/.cache/cuzk-demo`, or the working folder's `cuzk-demo` for users without a home.
fn default_folder() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    cache.or_else(home).unwrap_or_default().join("cuzk-demo")
}
