//! Faults that real users met, each under its report. FP = github.com/filecoin-project.

use std::time::Duration;

use crate::fake::*;
use cuzk_engine::{Engine, EngineError, JobId, Outcome, StartError, Waited};
use cuzk_filecoin::ProofKind;

fn start_with(
    devices: usize,
    change: impl FnOnce(&mut cuzk_engine::Settings),
) -> (Engine<Fake>, std::sync::Arc<Script>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (mut fake, script) = Fake::new();
    fake.devices = devices;
    let mut settings = settings(dir.path());
    change(&mut settings);
    (Engine::start(fake, settings).expect("starts"), script, dir)
}

/// FP/rust-fil-proofs#1476: after one panic every later job failed on a poisoned lock.
#[test]
fn a_panicking_job_fails_alone() {
    let (engine, _script, _dir) = start_with(1, |_| ());
    let refused = engine
        .submit(submission(ProofKind::PoRep, "", "name=d panic=decode"))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("panicked: as the test wishes, in decode"),
        "{refused}"
    );
    for stage in ["witness", "prove", "verify"] {
        let bad = submit(
            &engine,
            submission(
                ProofKind::PoRep,
                "",
                &format!("name=bad partitions=3 panic={stage}"),
            ),
        );
        let good = submit(&engine, porep(&format!("good-{stage}"), 2));
        let cause = failed(&engine, bad);
        assert!(
            cause.contains(&format!("panicked: as the test wishes, in {stage}")),
            "{cause}"
        );
        completed(&engine, good);
    }
    let status = engine.status();
    // One in decode and at least one a stage: partitions of one job run side by side, so that
    // several may have panicked before the first of them failed the job.
    assert!(
        (4..=1 + 3 * 3).contains(&status.counters.panics),
        "{} panics",
        status.counters.panics
    );
    assert_eq!(
        (status.memory.reserved_bytes, status.memory.queued_bytes),
        (1000, 0)
    );
}

/// FP/rust-fil-proofs#1736: now and then a proof that does not verify.
#[test]
fn a_wrong_proof_is_retried_then_moved_then_failed_and_never_leaves() {
    let (engine, script, _dir) = start_with(2, |s| s.limits.running_jobs = 1);
    *script.wrong.lock().unwrap() = vec![0];
    let job = submit(&engine, porep("moved", 1));
    assert_eq!(completed(&engine, job).len(), PROOF_BYTES);
    assert_eq!(
        script.proved().last().map(String::as_str),
        Some("moved/0@1")
    );

    *script.wrong.lock().unwrap() = vec![0, 1];
    let job = submit(&engine, porep("wrong", 1));
    let cause = failed(&engine, job);
    assert!(
        cause.contains("does not verify: pairing equation does not hold"),
        "{cause}"
    );
    let tries = script
        .proved()
        .iter()
        .filter(|t| t.starts_with("wrong"))
        .count();
    assert!((2..=3).contains(&tries), "{:?}", script.proved());
    assert!(engine.status().counters.verify_failures >= 2);

    script.wrong.lock().unwrap().clear();
    let job = submit(&engine, porep("right", 1));
    completed(&engine, job);
}

#[test]
fn a_single_device_retries_a_wrong_proof_once() {
    let (engine, script, _dir) = start_with(1, |_| ());
    *script.wrong.lock().unwrap() = vec![0];
    let job = submit(&engine, porep("wrong", 2));
    failed(&engine, job);
    let order = script.proved();
    assert_eq!(order.len(), 4, "two partitions, twice: {order:?}");
    assert_eq!(engine.status().counters.verify_failures, 2);
}

/// FP/lotus#2913: out-of-memory, then a 45-minute retry loop.
#[test]
fn device_faults_are_retried_a_bounded_number_of_times() {
    let (engine, script, _dir) = start_with(1, |_| ());
    script.faults.lock().unwrap().insert(0, 1);
    let job = submit(&engine, porep("once", 1));
    completed(&engine, job);
    script.faults.lock().unwrap().insert(0, 1000);
    let job = submit(&engine, porep("always", 1));
    let cause = failed(&engine, job);
    assert!(cause.contains("out of device memory"), "{cause}");
    assert_eq!(
        script.proved(),
        ["once/0@0", "once/0@0", "always/0@0", "always/0@0"]
    );
    assert_eq!(engine.status().counters.device_faults, 3);
}

#[test]
fn a_failing_device_loses_its_partition_to_another() {
    let (engine, script, _dir) = start_with(2, |_| ());
    script.faults.lock().unwrap().insert(0, 1000);
    for i in 0..4 {
        let job = submit(&engine, porep(&format!("p{i}"), 3));
        completed(&engine, job);
    }
}

/// FP/lotus#2913 again: after bounded retries the work moves to the CPU, which otherwise gets none.
#[test]
fn a_fallback_device_gets_only_what_the_others_failed_on() {
    let dir = tempfile::tempdir().unwrap();
    let (mut fake, script) = Fake::new();
    fake.devices = 2;
    fake.fallback = Some(1);
    let engine = Engine::start(fake, settings(dir.path())).unwrap();
    completed(&engine, submit(&engine, porep("p", 4)));
    assert!(
        script.proved().iter().all(|t| t.ends_with("@0")),
        "{:?}",
        script.proved()
    );
    assert_eq!(
        engine.status().circuits[0].devices,
        [0],
        "nothing is loaded where it is not needed"
    );
    script.proved.lock().unwrap().clear();
    script.faults.lock().unwrap().insert(0, 2);
    completed(&engine, submit(&engine, porep("q", 1)));
    assert_eq!(script.proved(), ["q/0@0", "q/0@0", "q/0@1"]);
}

/// supranational/supra_seal#8 and #10, FP/curio#1038: a device that proves wrongly is left out, and said so.
#[test]
fn a_device_that_fails_its_self_test_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let (mut fake, script) = Fake::new();
    fake.devices = 2;
    *script.sick.lock().unwrap() = vec![0];
    let engine = Engine::start(fake, settings(dir.path())).unwrap();
    let job = submit(&engine, porep("p", 3));
    completed(&engine, job);
    assert!(
        script.proved().iter().all(|t| t.ends_with("@1")),
        "{:?}",
        script.proved()
    );
    let status = engine.status();
    assert_eq!(
        (status.devices[0].state, status.devices[0].cause.as_deref()),
        ("left out", Some("sick"))
    );

    let dir = tempfile::tempdir().unwrap();
    let (fake, script) = Fake::new();
    *script.sick.lock().unwrap() = vec![0];
    let refused = Engine::start(fake, settings(dir.path())).err().unwrap();
    assert!(matches!(&refused, StartError::NoDevice(_)), "{refused}");
    assert!(refused.to_string().contains("fake-0: sick"), "{refused}");
}

/// A device that turns bad is tested after a wrong proof and gets no more work; jobs that only it could do fail with the cause.
#[test]
fn a_device_that_turns_bad_is_left_out() {
    let (engine, script, _dir) = start_with(1, |_| ());
    *script.wrong.lock().unwrap() = vec![0];
    *script.sick.lock().unwrap() = vec![0];
    let job = submit(&engine, porep("p", 1));
    let cause = failed(&engine, job);
    assert!(cause.contains("self-test"), "{cause}");
    assert_eq!(engine.status().devices[0].state, "left out");
}

/// FP/curio#1116: a stale proof was served because the idempotency key did not cover everything.
#[test]
fn same_id_with_another_payload_never_gets_the_old_proof() {
    let (engine, script, _dir) = start_with(1, |_| ());
    script.close_gate();
    let first = engine
        .submit(submission(ProofKind::PoRep, "porep-1-2", "name=first"))
        .unwrap();
    let again = engine
        .submit(submission(ProofKind::PoRep, "porep-1-2", "name=first"))
        .unwrap();
    assert_eq!((again.job_id, again.attached), (first.job_id, true));

    let mut changed = submission(ProofKind::PoRep, "porep-1-2", "name=first");
    changed.request.comm_r_new = vec![1; 32];
    let refused = engine.submit(changed.clone()).unwrap_err();
    assert!(
        matches!(&refused, EngineError::RequestIdTaken { job_id, .. } if *job_id == first.job_id),
        "{refused}"
    );

    script.open_gate();
    assert_eq!(completed(&engine, first.job_id)[..5], *b"first");
    let late = engine
        .submit(submission(ProofKind::PoRep, "porep-1-2", "name=first"))
        .unwrap();
    assert_eq!(
        (late.job_id, late.attached),
        (first.job_id, true),
        "a finished job is found again"
    );

    let other = engine
        .submit(submission(ProofKind::PoRep, "porep-1-2", "name=other"))
        .unwrap();
    assert_ne!(other.job_id, first.job_id);
    assert_eq!(completed(&engine, other.job_id)[..5], *b"other");
    let newest = engine
        .submit(submission(ProofKind::PoRep, "porep-1-2", "name=other"))
        .unwrap();
    assert_eq!(newest.job_id, other.job_id);
    let no_id = engine
        .submit(submission(ProofKind::PoRep, "", "name=first"))
        .unwrap();
    let no_id_again = engine
        .submit(submission(ProofKind::PoRep, "", "name=first"))
        .unwrap();
    assert_ne!(no_id.job_id, no_id_again.job_id);
}

#[test]
fn a_failed_job_may_be_tried_again_under_its_id() {
    let (engine, script, _dir) = start_with(1, |_| ());
    script.faults.lock().unwrap().insert(0, 2);
    let first = submit(&engine, porep("p", 1));
    failed(&engine, first);
    let second = submit(&engine, porep("p", 1));
    assert_ne!(first, second);
    completed(&engine, second);
}

/// FP/lotus#7968: an empty proof was submitted.
#[test]
fn completed_never_carries_an_empty_or_short_proof() {
    let (engine, script, _dir) = start_with(1, |_| ());
    *script.short_proofs.lock().unwrap() = true;
    let job = submit(&engine, porep("p", 2));
    let cause = failed(&engine, job);
    assert!(
        cause.contains("found a proof of 0 bytes, expected 384"),
        "{cause}"
    );
}

#[test]
fn parameters_that_cannot_be_used_fail_the_jobs_that_need_them_with_the_cause() {
    let (engine, script, _dir) = start_with(1, |_| ());
    *script.open_error.lock().unwrap() = Some("a.params: found digest x, expected y".into());
    let job = submit(&engine, porep("p", 1));
    let cause = failed(&engine, job);
    assert!(cause.contains("found digest x, expected y"), "{cause}");
    assert_eq!(engine.status().memory.reserved_bytes, 0);
    *script.open_error.lock().unwrap() = None;
    let job = submit(&engine, porep("q", 1));
    completed(&engine, job);
}

#[test]
fn over_a_limit_is_an_error_that_names_it() {
    let (engine, script, _dir) = start_with(1, |s| {
        s.limits.jobs = 2;
        s.limits.queued_bytes = 100;
        s.limits.finished_jobs = 1;
    });
    script.close_gate();
    let long = format!("name={}", "x".repeat(100));
    let refused = engine
        .submit(submission(ProofKind::PoRep, "", &long))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("queued_bytes: found 105, at most 100"),
        "{refused}"
    );
    let jobs = [
        submit(&engine, porep("a", 1)),
        submit(&engine, porep("b", 1)),
    ];
    let refused = engine.submit(porep("c", 1)).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("limit jobs: found 3, at most 2"),
        "{refused}"
    );
    script.open_gate();
    until(&engine, "both ended", |s| s.pipelines.is_empty());
    assert_eq!(engine.status().finished_kept, 1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    // The one that ended first is forgotten; which one that is, is open.
    let forgotten = |&job: &JobId| {
        let end = runtime.block_on(engine.wait(job, None));
        matches!(end, Err(EngineError::UnknownJob { .. }))
    };
    assert_eq!(jobs.iter().filter(|job| forgotten(job)).count(), 1);
    assert_eq!(engine.status().counters.refused_limit, 2);
}

#[test]
fn who_waits_gets_the_result_however_short_the_history() {
    let (engine, script, _dir) = start_with(2, |s| s.limits.finished_jobs = 1);
    script.close_gate();
    let jobs = ["a", "b", "c"].map(|name| submit(&engine, porep(name, 1)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let wait = |job| engine.wait(job, Some(Duration::from_secs(30)));
    // Polled in order: all three wait before the gate opens, and are polled again when all have ended.
    let ends = runtime.block_on(async {
        let all_ended = async {
            script.open_gate();
            until(&engine, "all ended", |s| s.pipelines.is_empty());
        };
        let (a, b, c, ()) = tokio::join!(wait(jobs[0]), wait(jobs[1]), wait(jobs[2]), all_ended);
        [a, b, c]
    });
    for end in ends {
        assert!(matches!(end, Ok(Waited::Ended(_))), "{end:?}");
    }
    assert_eq!(engine.status().finished_kept, 1);
}

#[test]
fn waiting_honours_its_timeout_and_late_callers_get_the_result() {
    let (engine, script, _dir) = start_with(1, |_| ());
    script.close_gate();
    let job = submit(&engine, porep("p", 1));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let waited = runtime
        .block_on(engine.wait(job, Some(Duration::from_millis(5))))
        .unwrap();
    assert!(matches!(waited, Waited::TimedOut));
    script.open_gate();
    completed(&engine, job);
    for _ in 0..3 {
        completed(&engine, job);
    }
}

#[test]
fn bad_input_is_refused_at_the_door() {
    let (engine, script, _dir) = start_with(1, |_| ());
    let refused = engine
        .submit(submission(ProofKind::PoRep, "id", "nonsense"))
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "vanilla_proofs[0]: found no name, expected a name"
    );
    let status = engine.status();
    assert_eq!(
        (status.counters.refused_input, status.memory.queued_bytes),
        (1, 0)
    );
    assert!(script.proved().is_empty());
    completed(
        &engine,
        submit(&engine, submission(ProofKind::PoRep, "id", "name=good")),
    );
}

#[test]
fn a_job_that_waits_too_long_fails_naming_the_limit() {
    let (engine, script, _dir) = start_with(1, |s| {
        s.limits.running_jobs = 1;
        s.limits.queue_wait = Duration::from_millis(1);
    });
    script.close_gate();
    let first = submit(&engine, porep("first", 1));
    let second = submit(&engine, porep("second", 1));
    let cause = failed(&engine, second);
    assert!(cause.contains("queue_wait"), "{cause}");
    script.open_gate();
    assert!(matches!(outcome(&engine, first), Outcome::Completed { .. }));
}
