//! Between the wire's messages and the engine's types.

use cuzk_engine::{Finished, Outcome, Priority, Submission};
use cuzk_filecoin::{ProofKind, ProofRequest, RequestError};
use cuzk_proto::v1;
use v1::await_proof_response::Status;

/// Characters of a request id.
const MAX_REQUEST_ID: usize = 256;
const KINDS: &str =
    "POREP_SEAL_COMMIT (1), SNAP_DEALS_UPDATE (2), WINDOW_POST_PARTITION (3) or WINNING_POST (4)";
const PRIORITIES: &str = "PRIORITY_UNSPECIFIED (0), LOW (1), NORMAL (2), HIGH (3) or CRITICAL (4)";

/// A wire request as a submission. Refuses what is wrong whatever the payload says; the payload is decoded by the engine.
pub(crate) fn submission(wire: v1::SubmitProofRequest) -> Result<Submission, RequestError> {
    let kind = kind(wire.proof_kind)?;
    let length = wire.request_id.len();
    if length > MAX_REQUEST_ID {
        let found = format!("{length} bytes");
        let expected = format!("at most {MAX_REQUEST_ID} bytes");
        return Err(RequestError::new("request_id", found, expected));
    }
    let priority = priority(wire.priority)?;
    let vanilla_proofs = vanilla_proofs(kind, wire.vanilla_proof, wire.vanilla_proofs)?;
    if matches!(kind, ProofKind::WindowPoSt | ProofKind::WinningPoSt) {
        bytes32("randomness", &wire.randomness)?;
    }
    if kind == ProofKind::SnapDeals {
        bytes32("comm_r_old", &wire.comm_r_old)?;
        bytes32("comm_r_new", &wire.comm_r_new)?;
        bytes32("comm_d_new", &wire.comm_d_new)?;
    }
    Ok(Submission {
        request_id: wire.request_id,
        priority,
        request: ProofRequest {
            sector_size: wire.sector_size,
            registered_proof: wire.registered_proof,
            sector_number: wire.sector_number,
            miner_id: wire.miner_id,
            randomness: wire.randomness,
            partition_index: wire.partition_index,
            comm_r_old: wire.comm_r_old,
            comm_r_new: wire.comm_r_new,
            comm_d_new: wire.comm_d_new,
            vanilla_proofs,
            ..ProofRequest::new(kind)
        },
    })
}

fn kind(number: i32) -> Result<ProofKind, RequestError> {
    match v1::ProofKind::try_from(number) {
        Ok(v1::ProofKind::PorepSealCommit) => Ok(ProofKind::PoRep),
        Ok(v1::ProofKind::SnapDealsUpdate) => Ok(ProofKind::SnapDeals),
        Ok(v1::ProofKind::WindowPostPartition) => Ok(ProofKind::WindowPoSt),
        Ok(v1::ProofKind::WinningPost) => Ok(ProofKind::WinningPoSt),
        Ok(unspecified) => {
            let found = unspecified.as_str_name();
            Err(RequestError::new("proof_kind", found, KINDS))
        }
        Err(_) => Err(RequestError::new("proof_kind", number, KINDS)),
    }
}

fn priority(number: i32) -> Result<Option<Priority>, RequestError> {
    match v1::Priority::try_from(number) {
        Ok(v1::Priority::Unspecified) => Ok(None),
        Ok(v1::Priority::Low) => Ok(Some(Priority::Low)),
        Ok(v1::Priority::Normal) => Ok(Some(Priority::Normal)),
        Ok(v1::Priority::High) => Ok(Some(Priority::High)),
        Ok(v1::Priority::Critical) => Ok(Some(Priority::Critical)),
        Err(_) => Err(RequestError::new("priority", number, PRIORITIES)),
    }
}

/// PoRep's single proof has a field of its own.
fn vanilla_proofs(
    kind: ProofKind,
    single: Vec<u8>,
    several: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, RequestError> {
    let given = |proofs: &[Vec<u8>]| format!("{} proofs", proofs.len());
    if kind == ProofKind::PoRep {
        if single.is_empty() {
            let expected = "a C1 output (JSON)";
            return Err(RequestError::new("vanilla_proof", "no bytes", expected));
        }
        if !several.is_empty() {
            let expected = "none for POREP_SEAL_COMMIT, whose proof goes into vanilla_proof";
            return Err(RequestError::new(
                "vanilla_proofs",
                given(&several),
                expected,
            ));
        }
        return Ok(vec![single]);
    }
    if !single.is_empty() {
        let found = format!("{} bytes", single.len());
        let expected = "no bytes for this kind, whose proofs go into vanilla_proofs";
        return Err(RequestError::new("vanilla_proof", found, expected));
    }
    if several.is_empty() {
        return Err(RequestError::new(
            "vanilla_proofs",
            "no proofs",
            "at least 1",
        ));
    }
    if let Some(empty) = several.iter().position(Vec::is_empty) {
        let field = format!("vanilla_proofs[{empty}]");
        return Err(RequestError::new(field, "no bytes", "a vanilla proof"));
    }
    Ok(several)
}

fn bytes32(field: &str, bytes: &[u8]) -> Result<(), RequestError> {
    if bytes.len() == 32 {
        return Ok(());
    }
    let found = format!("{} bytes", bytes.len());
    Err(RequestError::new(field, found, "32 bytes"))
}

/// An error of the payload in the words of the wire: PoRep's proof has its own field there.
pub(crate) fn in_wire_terms(kind: i32, mut error: RequestError) -> RequestError {
    if kind == v1::ProofKind::PorepSealCommit as i32
        && let Some(rest) = error.field.strip_prefix("vanilla_proofs[0]")
    {
        error.field = format!("vanilla_proof{rest}");
    }
    error
}

/// A job's end as the wire says it.
pub(crate) fn ended(finished: &Finished) -> v1::AwaitProofResponse {
    let (status, proof, error_message) = match &finished.outcome {
        Outcome::Completed { proof } => (Status::Completed, proof.clone(), String::new()),
        Outcome::Failed { cause } => (Status::Failed, Vec::new(), cause.clone()),
        Outcome::Cancelled { .. } => (Status::Cancelled, Vec::new(), "cancelled".into()),
    };
    let timings = finished.timings;
    v1::AwaitProofResponse {
        job_id: finished.job_id.to_string(),
        status: status.into(),
        proof,
        error_message,
        queue_wait_ms: timings.queue_ms,
        srs_load_ms: timings.load_ms,
        synthesis_ms: timings.witness_ms,
        gpu_compute_ms: timings.prove_ms,
        total_ms: timings.total_ms,
        devices: finished.devices.join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn porep() -> v1::SubmitProofRequest {
        v1::SubmitProofRequest {
            proof_kind: v1::ProofKind::PorepSealCommit.into(),
            vanilla_proof: b"{}".to_vec(),
            ..Default::default()
        }
    }

    fn post() -> v1::SubmitProofRequest {
        v1::SubmitProofRequest {
            proof_kind: v1::ProofKind::WindowPostPartition.into(),
            vanilla_proofs: vec![vec![1], vec![2]],
            randomness: vec![0; 32],
            ..Default::default()
        }
    }

    #[test]
    fn good_requests_pass() {
        let porep = submission(porep()).expect("passes");
        assert_eq!(porep.request.vanilla_proofs, [b"{}"]);
        assert_eq!(porep.priority, None);
        let high = v1::SubmitProofRequest {
            priority: v1::Priority::High.into(),
            ..post()
        };
        let post = submission(high).expect("passes");
        assert_eq!(
            (post.priority, post.request.vanilla_proofs.len()),
            (Some(Priority::High), 2)
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        type Change = fn(&mut v1::SubmitProofRequest);
        let cases: [(v1::SubmitProofRequest, Change, &str); 10] = [
            (
                porep(),
                |r| r.proof_kind = 0,
                "proof_kind: found PROOF_KIND_UNSPECIFIED, expected POREP_SEAL_COMMIT",
            ),
            (
                porep(),
                |r| r.proof_kind = 9,
                "proof_kind: found 9, expected",
            ),
            (porep(), |r| r.priority = -1, "priority: found -1, expected"),
            (
                porep(),
                |r| r.vanilla_proof.clear(),
                "vanilla_proof: found no bytes, expected a C1 output",
            ),
            (
                porep(),
                |r| r.vanilla_proofs.push(vec![1]),
                "vanilla_proofs: found 1 proofs, expected none",
            ),
            (
                porep(),
                |r| r.request_id = "x".repeat(300),
                "request_id: found 300 bytes, expected at most 256",
            ),
            (
                post(),
                |r| r.vanilla_proofs.clear(),
                "vanilla_proofs: found no proofs, expected at least 1",
            ),
            (
                post(),
                |r| r.vanilla_proofs[1].clear(),
                "vanilla_proofs[1]: found no bytes",
            ),
            (
                post(),
                |r| r.vanilla_proof = vec![1],
                "vanilla_proof: found 1 bytes, expected no bytes",
            ),
            (
                post(),
                |r| r.randomness.truncate(31),
                "randomness: found 31 bytes, expected 32",
            ),
        ];
        for (mut request, change, expected) in cases {
            change(&mut request);
            let error = submission(request).expect_err("is refused").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn porep_errors_name_the_field_of_the_wire() {
        let error = RequestError::new("vanilla_proofs[0].Phase1Out", "x", "y");
        let renamed = in_wire_terms(1, error.clone());
        assert_eq!(renamed.field, "vanilla_proof.Phase1Out");
        assert_eq!(in_wire_terms(3, error.clone()), error);
    }
}
