//! Parameters: what is checked late, what streams from the host's memory, and what `srs.preload` cannot load.

use std::sync::mpsc;

use crate::fake::*;
use cuzk_engine::{CircuitStatus, Engine};
use cuzk_filecoin::{CircuitId, ProofKind, SectorSize};

fn start(
    memory_bytes: u64,
    change: impl FnOnce(&Script),
) -> (Engine<Fake>, std::sync::Arc<Script>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (fake, script) = Fake::new();
    change(&script);
    let mut settings = settings(dir.path());
    settings.memory_bytes = memory_bytes;
    (Engine::start(fake, settings).unwrap(), script, dir)
}

fn circuit(engine: &Engine<Fake>) -> CircuitStatus {
    engine.status().circuits.swap_remove(0)
}

fn porep_2k() -> CircuitId {
    CircuitId::new(ProofKind::PoRep, SectorSize::S2KiB)
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
}

#[test]
fn proving_goes_on_while_the_digest_of_the_parameters_is_computed() {
    let (found, late) = mpsc::channel();
    let (engine, _script, _dir) = start(1 << 20, |s| *s.late_check.lock().unwrap() = Some(late));
    completed(&engine, submit(&engine, porep("meanwhile", 2)));
    assert_eq!(circuit(&engine).check, Some("checking"));
    found.send(Ok(())).unwrap();
    until(&engine, "the check is done", |s| {
        s.circuits[0].check == Some("checked")
    });
    completed(&engine, submit(&engine, porep("afterwards", 2)));
}

/// FP/rust-fil-proofs#1185, lotus#5351: corrupt parameters surface as something else, minutes later.
#[test]
fn parameters_found_damaged_late_are_dropped_and_their_jobs_fail() {
    let (found, late) = mpsc::channel();
    let (engine, script, _dir) = start(1 << 20, |s| *s.late_check.lock().unwrap() = Some(late));
    script.close_gate();
    let job = submit(&engine, porep("during", 3));
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let cause = "x.params: found digest 12, expected 34";
    found.send(Err(cause.into())).unwrap();
    until(&engine, "the circuit is unloaded", |s| {
        s.circuits[0].state == "absent"
    });
    script.open_gate();
    let failure = failed(&engine, job);
    assert_eq!(failure, format!("porep-2k: {cause}"));
    assert_eq!(circuit(&engine).error.as_deref(), Some(cause));
    assert_eq!(engine.status().memory.reserved_bytes, 0);
    // The file was replaced.
    completed(&engine, submit(&engine, porep("replaced", 1)));
    assert_eq!(circuit(&engine).check, Some("checked"));
}

/// A proof that does not verify is blamed on the parameters when these turn out damaged, and on nothing else when they do not.
#[test]
fn a_proof_that_does_not_verify_waits_for_the_verdict_on_the_parameters() {
    let damaged = "x.params: found digest 12, expected 34";
    for (verdict, expected) in [
        (Err(damaged.to_owned()), damaged),
        (Ok(()), "does not verify: pairing equation does not hold"),
    ] {
        let (found, late) = mpsc::channel();
        let (engine, _script, _dir) = start(1 << 20, |s| {
            *s.late_check.lock().unwrap() = Some(late);
            *s.wrong.lock().unwrap() = vec![0];
        });
        let job = submit(&engine, porep("p", 2));
        until(&engine, "the job is held", |s| {
            let job = s.pipelines.first();
            let reason = job.and_then(|job| job.waits_for.clone());
            reason.is_some_and(|reason| reason.starts_with("the check of the parameters"))
        });
        found.send(verdict).unwrap();
        let cause = failed(&engine, job);
        assert!(cause.contains(expected), "{cause}");
    }
}

#[test]
fn a_late_verdict_on_what_was_unloaded_is_not_held_against_what_is_loaded_now() {
    let (found, late) = mpsc::channel();
    let (engine, script, _dir) = start(1 << 20, |s| *s.late_check.lock().unwrap() = Some(late));
    completed(&engine, submit(&engine, porep("p", 1)));
    engine.evict(porep_2k()).unwrap().expect("was loaded");
    completed(&engine, submit(&engine, porep("q", 1)));
    found.send(Err("damaged".into())).unwrap();
    // The next check waits until that one was reported.
    let (found, late) = mpsc::channel();
    engine.evict(porep_2k()).unwrap().expect("was loaded");
    *script.late_check.lock().unwrap() = Some(late);
    completed(&engine, submit(&engine, porep("r", 1)));
    found.send(Ok(())).unwrap();
    until(&engine, "the check is done", |s| {
        s.circuits[0].check == Some("checked")
    });
    assert_eq!(circuit(&engine).state, "loaded");
    assert_eq!(engine.status().counters.failed, 0);
}

#[test]
fn host_memory_that_streams_to_a_device_is_counted_in_the_budget() {
    let (engine, _script, _dir) = start(5000, |s| *s.stream_bytes.lock().unwrap() = 3000);
    completed(&engine, submit(&engine, porep("p", 1)));
    let memory = engine.status().memory;
    assert_eq!(memory.reserved_bytes, 1000 + 3000);
    let owners: Vec<_> = memory.allocations.iter().map(|a| &a.owner[..]).collect();
    assert_eq!(
        owners,
        [
            "circuit porep-2k",
            "bases of porep-2k that stream to fake-0"
        ]
    );
    assert_eq!(circuit(&engine).reserved_bytes, 4000);
    assert_eq!(engine.evict(porep_2k()).unwrap(), Some(4000));
    assert_eq!(engine.status().memory.reserved_bytes, 0);
}

#[test]
fn what_streams_evicts_what_is_idle_and_is_refused_where_there_is_no_room() {
    let (engine, script, _dir) = start(5000, |_| ());
    let snap = submission(ProofKind::SnapDeals, "", "name=s");
    completed(&engine, submit(&engine, snap));
    *script.stream_bytes.lock().unwrap() = 3500;
    completed(&engine, submit(&engine, porep("p", 1)));
    let status = engine.status();
    let held = status.circuits.iter().map(|c| c.reserved_bytes);
    assert_eq!(held.collect::<Vec<_>>(), [4500, 0], "snap-2k made room");

    engine.evict(porep_2k()).unwrap().expect("was loaded");
    *script.stream_bytes.lock().unwrap() = 4500;
    let cause = failed(&engine, submit(&engine, porep("q", 1)));
    assert!(
        cause.contains("memory.total_budget: needs 4500 bytes, found"),
        "{cause}"
    );
    assert_eq!(engine.status().memory.reserved_bytes, 0);
}

/// What `srs.preload` cannot load is shown as long as it is not there.
#[test]
fn a_pinned_circuit_that_cannot_be_loaded_says_why() {
    let (engine, script, _dir) = start(1 << 20, |s| {
        *s.open_error.lock().unwrap() = Some("x.params: found 3 bytes, expected 5".into());
    });
    engine.pin(porep_2k());
    let waiting = circuit(&engine);
    assert_eq!((waiting.state, waiting.pinned), ("absent", true));
    runtime().block_on(engine.preload(porep_2k())).unwrap_err();
    let refused = circuit(&engine);
    assert_eq!(
        refused.error.as_deref(),
        Some("x.params: found 3 bytes, expected 5")
    );
    *script.open_error.lock().unwrap() = None;
    runtime().block_on(engine.preload(porep_2k())).unwrap();
    let loaded = circuit(&engine);
    assert_eq!((loaded.state, loaded.error), ("loaded", None));
}

#[test]
fn a_pinned_circuit_that_has_no_room_says_so() {
    let (engine, _script, _dir) = start(500, |_| ());
    engine.pin(porep_2k());
    runtime().block_on(engine.preload(porep_2k())).unwrap_err();
    let error = circuit(&engine).error.expect("says why");
    assert!(error.contains("needs 1000 bytes"), "{error}");
}

#[test]
fn the_picture_shows_where_the_bases_of_a_key_are() {
    let (engine, _script, _dir) = start(1 << 20, |_| ());
    completed(&engine, submit(&engine, porep("p", 1)));
    let key = circuit(&engine).keys.swap_remove(0);
    assert_eq!((key.device, key.state), (0, "loaded"));
    let placement = key.placement.expect("a device with memory of its own");
    assert_eq!(placement.streamed, ["H", "A", "B in G1"]);
    assert_eq!(placement.memory_cap_bytes, Some(20));
}
