use super::*;
use crate::job::{Outcome, Timings, unix_ms};
use crate::payload::PayloadDigest;
use crate::priority::Priority;
use cuzk_filecoin::{CircuitId, ProofKind, SectorSize};

fn accepted(request: &ProofRequest) -> Accepted {
    Accepted {
        job_id: JobId::random(),
        request_id: "porep-1-2".into(),
        priority: Priority::Normal,
        digest: PayloadDigest::of(request),
        circuit: CircuitId::new(ProofKind::PoRep, SectorSize::S2KiB),
        partitions: 1,
        accepted_at_ms: unix_ms(),
    }
}

fn finished(accepted: &Accepted) -> Finished {
    Finished {
        job_id: accepted.job_id,
        request_id: accepted.request_id.clone(),
        digest: accepted.digest,
        circuit: "porep-2k".into(),
        priority: accepted.priority,
        outcome: Outcome::Completed {
            proof: vec![7; 192],
        },
        timings: Timings::default(),
        devices: vec!["cpu".into()],
        ended_at_ms: unix_ms(),
    }
}

#[test]
fn accepted_jobs_come_back_and_finished_ones_do_not() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let request = ProofRequest::new(ProofKind::PoRep);
    let (first, second) = (accepted(&request), accepted(&request));
    {
        let (journal, recovered) = Journal::open(dir.path()).expect("opens");
        assert!(recovered.jobs.is_empty() && recovered.finished.is_empty());
        journal.accept(&first, &request).expect("accepts");
        journal.accept(&second, &request).expect("accepts");
        journal.start(second.job_id).expect("starts");
        journal.finish(&finished(&first)).expect("finishes");
    }
    let (journal, recovered) = Journal::open(dir.path()).expect("opens again");
    let id = second.job_id;
    let expected = RecoveredJob {
        accepted: second,
        payload_bytes: 0,
        starts: 1,
    };
    assert_eq!(recovered.jobs, [expected]);
    assert_eq!(journal.request(id).expect("reads"), request);
    assert_eq!(recovered.finished.len(), 1);
    assert_eq!(recovered.finished[0].job_id, first.job_id);
    journal.forget(first.job_id).expect("forgets");
    drop(journal);
    let (_, recovered) = Journal::open(dir.path()).expect("opens");
    assert!(recovered.finished.is_empty());
}

#[test]
fn one_process_at_a_time() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let (_held, _) = Journal::open(dir.path()).expect("opens");
    let second = Journal::open(dir.path()).expect_err("is refused");
    assert!(matches!(second, JournalError::InUse { .. }), "{second}");
}

#[test]
fn a_damaged_record_is_set_aside() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let request = ProofRequest::new(ProofKind::PoRep);
    let (good, bad) = (accepted(&request), accepted(&request));
    let path = {
        let (journal, _) = Journal::open(dir.path()).expect("opens");
        journal.accept(&good, &request).expect("accepts");
        journal.accept(&bad, &request).expect("accepts");
        journal.path(bad.job_id, "request")
    };
    let mut bytes = fs::read(&path).expect("reads");
    bytes[20] ^= 1;
    fs::write(&path, bytes).expect("writes");
    fs::write(dir.path().join(".writing-half"), b"half").expect("writes");
    let (_, recovered) = Journal::open(dir.path()).expect("opens");
    assert_eq!(recovered.jobs.len(), 1);
    assert_eq!(recovered.jobs[0].accepted, good);
    assert!(!path.exists() && path.with_extension("request.damaged").exists());
    assert!(!dir.path().join(".writing-half").exists());
}
