use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use cuzk_filecoin::{ProofKind, ProofRequest};
use cuzk_proto::v1;

use crate::fixture::{
    self, MINER_ID, c1_file, client, daemon, good_request, parameters, run, run_ok,
};

/// Whether filecoin-proofs accepts a proof of the fixture's sector.
fn upstream_accepts(proof: &[u8]) -> bool {
    let request = ProofRequest {
        miner_id: MINER_ID,
        vanilla_proofs: vec![std::fs::read(c1_file()).expect("the C1 output")],
        ..ProofRequest::new(ProofKind::PoRep)
    };
    fixture::upstream_accepts(&request, proof)
}

#[test]
fn a_sealed_sector_is_proved_and_upstream_accepts_it() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let out = file.path().to_str().expect("a printable path");
    let c1 = c1_file().to_str().expect("a printable path");
    let miner = MINER_ID.to_string();
    let printed = run_ok(&[
        "--addr",
        daemon(),
        "single",
        "--type",
        "porep",
        "--c1",
        c1,
        "--miner-id",
        &miner,
        "--out",
        out,
    ]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "=== Proof Result ===");
    assert_eq!(lines[1], "status:    COMPLETED");
    assert!(lines[2].starts_with("job_id:    "), "{}", lines[2]);
    assert!(lines[3].starts_with("timings:   total="), "{}", lines[3]);
    assert!(lines[4].starts_with("wall time: "), "{}", lines[4]);
    assert!(
        lines[5].starts_with("proof:     192 bytes (hex: "),
        "{}",
        lines[5]
    );

    let keys = parameters().to_str().expect("a printable path");
    let verify = |folder: &str| {
        let options = ["--type", "porep", "--c1", c1, "--miner-id", &miner];
        let files = ["--proof", out, "--param-cache", folder];
        run(&[&["verify"], &options[..], &files].concat())
    };
    let verdict = verify(keys);
    assert!(verdict.status.success(), "{verdict:?}");
    assert!(String::from_utf8_lossy(&verdict.stdout).contains("accepted"));
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let keyless = verify(elsewhere.path().to_str().expect("a printable path"));
    assert_eq!(keyless.status.code(), Some(1), "{keyless:?}");
    let stderr = String::from_utf8_lossy(&keyless.stderr);
    assert_eq!(stderr.matches("error: ").count(), 1, "{stderr}");
    assert_eq!(stderr.matches("filecoin-proofs").count(), 1, "{stderr}");

    let mut proof = std::fs::read(file.path()).expect("the proof");
    assert_eq!(proof.len(), 192);
    assert!(upstream_accepts(&proof));
    proof.copy_within(..48, 144);
    assert!(
        !upstream_accepts(&proof),
        "upstream's verifier accepts anything"
    );
}

#[test]
fn a_batch_reports_every_proof() {
    let c1 = c1_file().to_str().expect("a printable path");
    let miner = MINER_ID.to_string();
    let printed = run_ok(&[
        "--addr",
        daemon(),
        "--json",
        "batch",
        "--type",
        "porep",
        "--c1",
        c1,
        "--miner-id",
        &miner,
        "-c",
        "2",
        "-j",
        "2",
    ]);
    let report: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(report["completed"], 2);
    assert_eq!(report["failed"], 0);
    let jobs: Vec<&str> = report["proofs"]
        .as_array()
        .expect("proofs")
        .iter()
        .filter_map(|p| p["job_id"].as_str())
        .collect();
    assert_eq!(jobs.len(), 2);
    assert_ne!(jobs[0], jobs[1], "two requests without an id are two jobs");
}

#[test]
fn a_batch_stops_at_a_request_that_is_refused() {
    let c1 = c1_file().to_str().expect("a printable path");
    let output = run(&[
        "--addr",
        daemon(),
        "batch",
        "--type",
        "porep",
        "--c1",
        c1,
        "--registered-proof",
        "99",
        "-c",
        "20",
        "-j",
        "2",
    ]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let sent = printed.matches("/20] ERROR").count();
    assert!((1..=2).contains(&sent), "{printed}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("more are not sent"), "{stderr}");
    assert!(stderr.contains("registered_proof: found 99"), "{stderr}");
}

#[test]
fn a_job_is_named_while_it_is_waited_for_and_can_be_cancelled_once() {
    let c1 = c1_file().to_str().expect("a printable path");
    let miner = MINER_ID.to_string();
    let single = ["--addr", daemon(), "single", "--type", "porep"];
    let mut waiting = Command::new(fixture::bench())
        .args(single)
        .args(["--c1", c1, "--miner-id", &miner, "--priority", "low"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut stderr = BufReader::new(waiting.stderr.take().expect("piped"));
    stderr.read_line(&mut line).expect("a line");
    let job_id = line.split_whitespace().nth(1).expect("an id").to_owned();
    assert_eq!(line, format!("job {job_id} is accepted\n"));

    let cancel = || {
        let printed = run_ok(&["--addr", daemon(), "--json", "cancel", "--job-id", &job_id]);
        let answer: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(answer["job_id"], *job_id);
        let found = answer["found"].as_str().expect("a text").to_owned();
        (found, answer["was_running"] == true)
    };
    let first = cancel();
    let either = [("RUNNING", true), ("WAITING", false)];
    assert!(either.contains(&(first.0.as_str(), first.1)), "{first:?}");
    let end = waiting.wait_with_output().expect("it ends");
    assert_eq!(end.status.code(), Some(1));
    line.clear();
    stderr.read_to_string(&mut line).expect("text");
    assert!(line.contains("is CANCELLED"), "{line}");
    let printed = String::from_utf8_lossy(&end.stdout);
    assert!(printed.contains("status:    CANCELLED"), "{printed}");
    assert_eq!(cancel(), ("CANCELLED".to_owned(), false));
}

#[tokio::test]
async fn the_same_request_attaches_to_its_job() {
    let mut client = client(daemon()).await;
    let request = v1::SubmitProofRequest {
        request_id: "porep-1000-1".to_owned(),
        ..good_request()
    };
    let first = client
        .submit_proof(request.clone())
        .await
        .expect("accepted")
        .into_inner();
    let again = client
        .submit_proof(request.clone())
        .await
        .expect("attached")
        .into_inner();
    assert_eq!(first.job_id, again.job_id);
    let other = v1::SubmitProofRequest {
        registered_proof: 5,
        ..request
    };
    let status = client
        .submit_proof(other)
        .await
        .expect_err("the id is taken");
    assert_eq!(status.code(), tonic::Code::AlreadyExists, "{status}");

    let wait = |timeout_ms| v1::AwaitProofRequest {
        job_id: first.job_id.clone(),
        timeout_ms,
    };
    let early = client
        .await_proof(wait(1))
        .await
        .expect("an answer")
        .into_inner();
    assert_eq!(early.status(), v1::await_proof_response::Status::Timeout);
    let end = client
        .await_proof(wait(0))
        .await
        .expect("an answer")
        .into_inner();
    assert_eq!(
        end.status(),
        v1::await_proof_response::Status::Completed,
        "{}",
        end.error_message
    );
    assert!(upstream_accepts(&end.proof));
}

#[test]
fn status_and_metrics_answer_in_both_forms() {
    let addr = daemon();
    assert!(run_ok(&["--addr", addr, "status"]).contains("uptime:"));
    let status: serde_json::Value =
        serde_json::from_str(&run_ok(&["--addr", addr, "--json", "status"])).expect("JSON");
    assert!(
        status["devices"]
            .as_array()
            .is_some_and(|devices| !devices.is_empty())
    );
    assert!(run_ok(&["--addr", addr, "metrics"]).contains("# TYPE"));
    let loaded = run_ok(&[
        "--addr",
        addr,
        "--json",
        "preload",
        "--circuit-id",
        "porep-2k",
    ]);
    assert!(loaded.contains("already_loaded"), "{loaded}");
}

#[test]
fn a_daemon_ends_with_its_parent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut daemon = fixture::start_daemon(parameters(), folder.path());
    assert!(daemon.is_running());
    let process = std::path::PathBuf::from(format!("/proc/{}", daemon.pid()));
    assert!(process.exists());
    // Closes the pipe that is the child's standard input, as the end of this process would.
    daemon.stop();
    assert!(!process.exists());
}
