use cuzk_filecoin::{ProofKind, ProofRequest};
use cuzk_proto::v1;

use crate::fixture::{self, MINER_ID, c1_file, client, daemon, good_request, parameters, run_ok};

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
