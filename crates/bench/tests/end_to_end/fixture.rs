//! What the tests share: developer parameters, a sealed sector and a daemon, each made once.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use cuzk_bench::client::{Client, connect};
use cuzk_bench::{Daemon, Error, file_content, to_wire, verify_in_child};
use cuzk_filecoin::{ProofKind, ProofRequest};
use cuzk_proto::v1;

pub(crate) const MINER_ID: u64 = 1000;
pub(crate) const SECTOR_NUMBER: u64 = 1;

/// The executable under test.
pub(crate) fn bench() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cuzk-bench"))
}

/// A folder that is kept between runs, for the parameters take long to make.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo")
}

/// Runs the executable to its end.
pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Output {
    Command::new(bench())
        .args(args)
        .output()
        .expect("cuzk-bench runs")
}

/// Runs the executable, which must succeed; returns what it printed.
pub(crate) fn run_ok<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> String {
    let output = run(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {stderr}", output.status);
    String::from_utf8(output.stdout).expect("the output is text")
}

/// The folder of the developer parameters of all kinds at 2 KiB. An earlier run's are kept when they are intact.
pub(crate) fn parameters() -> &'static Path {
    static PARAMETERS: OnceLock<PathBuf> = OnceLock::new();
    PARAMETERS.get_or_init(|| {
        let folder = kept().join("parameters");
        let cache = folder.to_str().expect("a printable path");
        for kind in ProofKind::ALL {
            let kind = kind.name();
            run_ok(&[
                "setup",
                "--type",
                kind,
                "--sector-size",
                "2KiB",
                "--param-cache",
                cache,
            ]);
        }
        folder
    })
}

/// Whether filecoin-proofs accepts a proof of a request.
pub(crate) fn upstream_accepts(request: &ProofRequest, proof: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (vanilla, file) = (folder.path().join("vanilla"), folder.path().join("proof"));
    let content = file_content(request).expect("vanilla proofs can be written");
    std::fs::write(&vanilla, content).expect("written");
    std::fs::write(&file, proof).expect("written");
    match verify_in_child(bench(), parameters(), request, &vanilla, &file) {
        Ok(()) => true,
        Err(Error::Failed(reason)) if reason.ends_with("filecoin-proofs rejects the proof") => {
            false
        }
        Err(other) => panic!("no verdict: {other}"),
    }
}

/// Has a daemon prove a request; the proof.
pub(crate) async fn prove(client: &mut Client, request: ProofRequest) -> Vec<u8> {
    let job_id = client
        .submit_proof(to_wire(request))
        .await
        .expect("a good request is accepted")
        .into_inner()
        .job_id;
    let wait = v1::AwaitProofRequest {
        job_id,
        timeout_ms: 0,
    };
    let end = client.await_proof(wait).await.expect("an end").into_inner();
    assert_eq!(
        end.status(),
        v1::await_proof_response::Status::Completed,
        "{}",
        end.error_message
    );
    end.proof
}

/// A file with the C1 output of a sector that was sealed for this run.
pub(crate) fn c1_file() -> &'static Path {
    static C1: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let made = C1.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("c1.json");
        let out = file.to_str().expect("a printable path");
        run_ok(&[
            "gen-vanilla",
            "porep",
            "--sector-size",
            "2KiB",
            "--out",
            out,
        ]);
        (folder, file)
    });
    &made.1
}

/// Starts a daemon with these parameters and a state folder of its own.
pub(crate) fn start_daemon(parameters: &Path, folder: &Path) -> Daemon {
    let parameters = parameters.to_str().expect("a printable path");
    let state = folder.join("state");
    let state = state.to_str().expect("a printable path");
    Daemon::start(
        bench(),
        &["--param-cache", parameters, "--state-dir", state],
        &folder.join("daemon.log"),
    )
    .expect("the daemon starts")
}

/// The URL of the daemon that most tests talk to. It stops when this process ends.
pub(crate) fn daemon() -> &'static str {
    static DAEMON: OnceLock<(tempfile::TempDir, Daemon, String)> = OnceLock::new();
    let started = DAEMON.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let daemon = start_daemon(parameters(), folder.path());
        let addr = daemon.addr();
        (folder, daemon, addr)
    });
    &started.2
}

pub(crate) async fn client(addr: &str) -> Client {
    connect(addr).await.expect("the daemon answers")
}

/// The request that is proved when nothing is wrong with it.
pub(crate) fn good_request() -> v1::SubmitProofRequest {
    v1::SubmitProofRequest {
        proof_kind: v1::ProofKind::PorepSealCommit.into(),
        sector_size: 2048,
        sector_number: SECTOR_NUMBER,
        miner_id: MINER_ID,
        vanilla_proof: std::fs::read(c1_file()).expect("the C1 output"),
        ..v1::SubmitProofRequest::default()
    }
}
