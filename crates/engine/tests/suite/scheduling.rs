//! Order, memory, residency, cancelling.

use crate::fake::*;
use cuzk_engine::{Engine, EngineError, Outcome, Priority};
use cuzk_filecoin::{CircuitId, ProofKind, SectorSize};

fn start(
    change: impl FnOnce(&mut cuzk_engine::Settings),
) -> (Engine<Fake>, std::sync::Arc<Script>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (fake, script) = Fake::new();
    let mut settings = settings(dir.path());
    change(&mut settings);
    let engine = Engine::start(fake, settings).expect("starts");
    (engine, script, dir)
}

fn circuit(kind: ProofKind) -> CircuitId {
    CircuitId::new(kind, SectorSize::S2KiB)
}

/// FP/lotus#6181.
#[test]
fn high_overtakes_normal_at_every_partition_boundary() {
    let (engine, script, _dir) = start(|_| ());
    script.close_gate();
    let normal = submit(&engine, porep("normal", 5));
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let first = submit(&engine, submission(ProofKind::WindowPoSt, "", "name=high1"));
    until(&engine, "its witness is ready", |s| {
        partition_is(s, first, "ready")
    });
    script.let_through(2);
    completed(&engine, first);
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let second = submit(&engine, submission(ProofKind::WindowPoSt, "", "name=high2"));
    until(&engine, "its witness is ready", |s| {
        partition_is(s, second, "ready")
    });
    script.open_gate();
    completed(&engine, second);
    completed(&engine, normal);
    let order = script.proved();
    let expected = [
        "normal/0@0",
        "high1/0@0",
        "normal/1@0",
        "high2/0@0",
        "normal/2@0",
    ];
    assert_eq!(order[..5], expected);
    assert_eq!(order.len(), 7);
}

/// FP/bellperson#291: a WinningPoSt does not wait behind a queue of PoReps, on any stage.
#[test]
fn critical_is_next_on_every_stage_behind_a_full_queue() {
    let (engine, script, _dir) = start(|_| ());
    script.close_gate();
    let load: Vec<_> = (0..20)
        .map(|i| submit(&engine, porep(&format!("p{i}"), 3)))
        .collect();
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let winning = submit(&engine, submission(ProofKind::WinningPoSt, "", "name=w"));
    assert_eq!(
        engine.status().pipelines[0].job_id,
        winning,
        "it stands first"
    );
    until(&engine, "its witness is ready", |s| {
        partition_is(s, winning, "ready")
    });
    script.open_gate();
    completed(&engine, winning);
    assert_eq!(script.proved()[1], "w/0@0");
    for job in load {
        completed(&engine, job);
    }
}

#[test]
fn within_a_priority_the_older_job_goes_first() {
    let (engine, script, _dir) = start(|s| s.limits.running_jobs = 1);
    script.close_gate();
    let jobs: Vec<_> = (0..4)
        .map(|i| submit(&engine, porep(&format!("p{i}"), 1)))
        .collect();
    let low = submit(&engine, with_priority(porep("low", 1), Priority::Low));
    let last = submit(&engine, porep("last", 1));
    script.open_gate();
    for job in jobs.into_iter().chain([low, last]) {
        completed(&engine, job);
    }
    let order = [
        "p0/0@0", "p1/0@0", "p2/0@0", "p3/0@0", "last/0@0", "low/0@0",
    ];
    assert_eq!(script.proved(), order);
}

#[test]
fn a_reservation_larger_than_the_whole_budget_fails_at_once() {
    let (engine, _script, _dir) = start(|s| s.memory_bytes = 1000);
    let refused = engine.submit(porep("big", 1)).unwrap_err();
    assert!(matches!(refused, EngineError::Memory { .. }), "{refused}");
    assert!(
        refused.to_string().contains("1110") && refused.to_string().contains("1000"),
        "{refused}"
    );
    assert_eq!(engine.status().memory.queued_bytes, 0);
}

/// Room for one circuit and one job: the next job waits, says for what, and nothing slips past it.
#[test]
fn what_waits_for_memory_says_so_and_is_not_overtaken() {
    let (engine, script, _dir) = start(|s| s.memory_bytes = 1115);
    script.close_gate();
    let first = submit(&engine, porep("first", 1));
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let second = submit(&engine, porep("second", 1));
    let third = submit(&engine, with_priority(porep("third", 1), Priority::Low));
    let status = engine.status();
    let reason = |i: usize| status.pipelines[i].waits_for.clone().unwrap_or_default();
    assert_eq!(status.pipelines[1].job_id, second);
    assert!(
        reason(1).contains("memory: needs 110 bytes, found 5 of 1115"),
        "{}",
        reason(1)
    );
    assert!(reason(2).contains("2 jobs go first"), "{}", reason(2));
    script.open_gate();
    for job in [first, second, third] {
        completed(&engine, job);
    }
    let status = engine.status();
    assert_eq!(
        status.memory.reserved_bytes, 1000,
        "only the circuit is left"
    );
}

#[test]
fn an_idle_circuit_makes_room_and_a_pinned_one_does_not() {
    let (engine, _script, _dir) = start(|s| s.memory_bytes = 2500);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let pinned = runtime
        .block_on({
            engine.pin(circuit(ProofKind::WinningPoSt));
            engine.preload(circuit(ProofKind::WinningPoSt))
        })
        .unwrap();
    assert!(!pinned.already_loaded);
    for (kind, name) in [
        (ProofKind::PoRep, "a"),
        (ProofKind::SnapDeals, "b"),
        (ProofKind::PoRep, "c"),
    ] {
        let job = submit(&engine, submission(kind, "", &format!("name={name}")));
        completed(&engine, job);
    }
    let status = engine.status();
    let state = |kind| {
        status
            .circuits
            .iter()
            .find(|c| c.circuit == circuit(kind).to_string())
            .unwrap()
            .state
    };
    assert_eq!(state(ProofKind::WinningPoSt), "loaded");
    assert_eq!(state(ProofKind::PoRep), "loaded");
    assert_eq!(state(ProofKind::SnapDeals), "absent");
    assert_eq!(status.counters.evictions, 2);
    let refused = engine.evict(circuit(ProofKind::WinningPoSt)).unwrap_err();
    assert!(matches!(refused, EngineError::Pinned { .. }), "{refused}");
}

#[test]
fn preload_and_evict_do_what_they_say() {
    let (engine, script, _dir) = start(|_| ());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let id = circuit(ProofKind::PoRep);
    assert_eq!(engine.evict(id).unwrap(), None);
    assert!(!runtime.block_on(engine.preload(id)).unwrap().already_loaded);
    let again = runtime.block_on(engine.preload(id)).unwrap();
    assert!(again.already_loaded);
    assert_eq!(again.load_ms, 0);

    script.close_gate();
    let job = submit(&engine, porep("p", 1));
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let refused = engine.evict(id).unwrap_err();
    assert!(
        matches!(refused, EngineError::InUse { users: 1, .. }),
        "{refused}"
    );
    script.open_gate();
    completed(&engine, job);
    assert_eq!(engine.evict(id).unwrap(), Some(1000));
    assert_eq!(engine.status().memory.reserved_bytes, 0);

    *script.open_error.lock().unwrap() = Some("x.params: found 3 bytes, expected 5".into());
    let refused = runtime.block_on(engine.preload(id)).unwrap_err();
    assert!(
        refused.to_string().contains("found 3 bytes, expected 5"),
        "{refused}"
    );
    assert_eq!(engine.status().memory.reserved_bytes, 0);
    *script.open_error.lock().unwrap() = None;
    assert!(!runtime.block_on(engine.preload(id)).unwrap().already_loaded);
}

#[test]
fn cancel_removes_a_waiting_job_and_stops_a_running_one_at_the_partition_boundary() {
    let (engine, script, _dir) = start(|s| s.limits.running_jobs = 1);
    script.close_gate();
    let running = submit(&engine, porep("running", 6));
    let waiting = submit(&engine, porep("waiting", 1));
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    assert!(!engine.cancel(waiting).unwrap());
    assert_eq!(
        outcome(&engine, waiting),
        Outcome::Cancelled { was_running: false }
    );
    assert!(engine.cancel(running).unwrap());
    assert!(
        engine
            .status()
            .pipelines
            .iter()
            .any(|j| j.state == "ending")
    );
    script.open_gate();
    assert_eq!(
        outcome(&engine, running),
        Outcome::Cancelled { was_running: true }
    );
    assert_eq!(script.proved(), ["running/0@0"]);
    assert!(!engine.cancel(running).unwrap(), "it has ended");
    let status = engine.status();
    assert_eq!(status.counters.cancelled, 2);
    assert_eq!(
        (status.memory.reserved_bytes, status.memory.queued_bytes),
        (1000, 0)
    );
    let unknown = "00000000-0000-4000-8000-000000000000".parse().unwrap();
    assert!(matches!(
        engine.cancel(unknown),
        Err(EngineError::UnknownJob { .. })
    ));
}

#[test]
fn two_queued_jobs_never_share_a_queue_key() {
    let (engine, script, _dir) = start(|s| s.limits.running_jobs = 1);
    script.close_gate();
    let jobs: Vec<_> = (0..3)
        .map(|i| submit(&engine, porep(&format!("p{i}"), 1)))
        .chain((0..2).map(|i| {
            submit(
                &engine,
                with_priority(
                    submission(ProofKind::SnapDeals, "", &format!("name=s{i}")),
                    Priority::Low,
                ),
            )
        }))
        .collect();
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let queues = engine.status().queues;
    let picture: Vec<_> = queues
        .iter()
        .map(|q| (q.circuit.as_str(), q.pending, q.in_progress))
        .collect();
    assert_eq!(picture, [("porep-2k", 2, 1), ("snap-2k", 2, 0)]);
    script.open_gate();
    for job in jobs {
        completed(&engine, job);
    }
    assert!(engine.status().queues.is_empty());
}

/// A job that was started and waits for the device is not being proved.
#[test]
fn waiting_for_a_device_counts_as_waiting() {
    let (engine, script, _dir) = start(|_| ());
    script.close_gate();
    let first = submit(&engine, porep("first", 1));
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let second = submit(&engine, porep("second", 1));
    let waiting = |s: &cuzk_engine::Status| s.pipelines[1].clone();
    until(&engine, "the second one waits for the device", |s| {
        let job = waiting(s);
        job.waits_for.as_deref() == Some("a device") && job.timings.queue_ms >= 20
    });
    let status = engine.status();
    assert_eq!(waiting(&status).state, "partitions", "it was started");
    assert_eq!(status.pipelines[0].waits_for, None);
    script.open_gate();
    completed(&engine, first);
    completed(&engine, second);
    let ended = engine.status().recent;
    let of = |job| ended.iter().find(|j| j.job_id == job).unwrap().timings;
    assert!(of(second).queue_ms >= 20, "{:?}", of(second));
    assert!(of(first).prove_ms >= 20, "{:?}", of(first));
}
