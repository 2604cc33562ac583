use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use cuzk_proto::v1::{self, SubmitProofRequest};
use serde_json::Value;
use tonic::Code;

use crate::fixture::{client, daemon, good_request};

/// No job has this id.
const UNKNOWN_JOB: &str = "00000000-0000-4000-8000-000000000000";

/// The good request with one thing changed.
fn with(change: impl FnOnce(&mut SubmitProofRequest)) -> SubmitProofRequest {
    let mut request = good_request();
    change(&mut request);
    request
}

/// The good request whose C1 output, inside its envelope, has one thing changed.
fn with_c1(change: impl FnOnce(&mut Value)) -> SubmitProofRequest {
    with(|request| {
        let mut envelope: Value =
            serde_json::from_slice(&request.vanilla_proof).expect("the envelope is JSON");
        let encoded = envelope["Phase1Out"].as_str().expect("base64").to_owned();
        let mut c1: Value = serde_json::from_slice(&BASE64.decode(encoded).expect("base64"))
            .expect("the C1 output is JSON");
        change(&mut c1);
        envelope["Phase1Out"] = BASE64.encode(c1.to_string()).into();
        request.vanilla_proof = envelope.to_string().into_bytes();
    })
}

fn with_envelope(change: impl FnOnce(&mut Value)) -> SubmitProofRequest {
    with(|request| {
        let mut envelope: Value =
            serde_json::from_slice(&request.vanilla_proof).expect("the envelope is JSON");
        change(&mut envelope);
        request.vanilla_proof = envelope.to_string().into_bytes();
    })
}

/// What is wrong, the request, and what the refusal must name.
fn bad_requests() -> Vec<(&'static str, SubmitProofRequest, &'static str)> {
    vec![
        (
            "no bytes",
            with(|request| request.vanilla_proof.clear()),
            "vanilla_proof",
        ),
        (
            "not JSON",
            with(|request| request.vanilla_proof = b"not JSON".to_vec()),
            "vanilla_proof",
        ),
        (
            "cut off",
            with(|request| request.vanilla_proof.truncate(1000)),
            "vanilla_proof",
        ),
        (
            "broken base64",
            with_envelope(|envelope| envelope["Phase1Out"] = "%%%".into()),
            "Phase1Out",
        ),
        (
            "no C1 inside",
            with_envelope(|envelope| envelope["Phase1Out"] = "e30=".into()),
            "Phase1Out",
        ),
        (
            "another sector number",
            with(|request| request.sector_number = 7),
            "sector_number",
        ),
        (
            "another sector size",
            with(|request| request.sector_size = 8 << 20),
            "sector_size",
        ),
        (
            "no sector size at all",
            with(|request| request.sector_size = 12345),
            "sector_size",
        ),
        (
            "another registered proof",
            with(|request| request.registered_proof = 8),
            "registered_proof",
        ),
        (
            "no registered proof",
            with(|request| request.registered_proof = 99),
            "registered_proof",
        ),
        (
            "no kind",
            with(|request| request.proof_kind = 0),
            "proof_kind",
        ),
        (
            "an unknown kind",
            with(|request| request.proof_kind = 77),
            "proof_kind",
        ),
        (
            "two payloads",
            with(|request| request.vanilla_proofs = vec![vec![1]]),
            "vanilla_proofs",
        ),
        (
            "another ticket",
            with_c1(|c1| flip(&mut c1["ticket"])),
            "ticket",
        ),
        (
            "another seed",
            with_c1(|c1| flip(&mut c1["seed"])),
            "vanilla_proof",
        ),
        (
            "another CommR",
            with_c1(|c1| flip(&mut c1["comm_r"])),
            "comm_r",
        ),
        (
            "another CommD",
            with_c1(|c1| flip(&mut c1["comm_d"])),
            "comm_d",
        ),
        (
            "another replica id",
            with_c1(|c1| flip(&mut c1["replica_id"])),
            "replica_id",
        ),
        (
            "no vanilla proofs",
            with_c1(|c1| c1["vanilla_proofs"] = Value::Array(Vec::new())),
            "vanilla_proofs",
        ),
    ]
}

/// Changes one bit of a byte array or of a text of digits.
fn flip(value: &mut Value) {
    match value {
        Value::Array(bytes) => {
            let byte = bytes[0].as_u64().expect("a byte");
            bytes[0] = (byte ^ 1).into();
        }
        Value::String(text) => {
            let first = if text.starts_with('1') { "2" } else { "1" };
            text.replace_range(0..1, first);
        }
        other => panic!("cannot change {other}"),
    }
}

#[tokio::test]
async fn every_bad_request_is_refused_by_name_and_the_daemon_goes_on() {
    let mut client = client(daemon()).await;
    for (what, request, names) in bad_requests() {
        let status = match client.submit_proof(request).await {
            Ok(_) => panic!("{what}: accepted"),
            Err(status) => status,
        };
        assert_eq!(status.code(), Code::InvalidArgument, "{what}: {status}");
        assert!(
            status.message().contains(names),
            "{what}: {} does not name {names}",
            status.message()
        );
        assert!(
            status.message().contains("expected"),
            "{what}: {}",
            status.message()
        );
    }

    let job = client
        .submit_proof(good_request())
        .await
        .expect("a good request is accepted")
        .into_inner();
    client
        .cancel_proof(v1::CancelProofRequest { job_id: job.job_id })
        .await
        .expect("the daemon goes on serving");
}

#[tokio::test]
async fn unknown_jobs_and_circuits_are_not_found_or_invalid() {
    let mut client = client(daemon()).await;
    let unknown = || UNKNOWN_JOB.to_owned();
    let awaited = client
        .await_proof(v1::AwaitProofRequest {
            job_id: unknown(),
            timeout_ms: 1,
        })
        .await
        .expect_err("no such job");
    let cancelled = client
        .cancel_proof(v1::CancelProofRequest { job_id: unknown() })
        .await
        .expect_err("no such job");
    for status in [awaited, cancelled] {
        assert_eq!(status.code(), Code::NotFound, "{status}");
        assert!(status.message().contains(UNKNOWN_JOB), "{status}");
    }
    let status = client
        .preload_srs(v1::PreloadSrsRequest {
            circuit_id: "porep-3k".to_owned(),
        })
        .await
        .expect_err("no such circuit");
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    assert!(
        status.message().contains("circuit_id") && status.message().contains("porep-3k"),
        "{status}"
    );
}
