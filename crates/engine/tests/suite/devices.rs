//! Several devices, and devices that go away.

use crate::fake::*;
use cuzk_engine::Engine;

fn start(devices: usize, fallback: Option<usize>) -> (Engine<Fake>, Shared, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (mut fake, script) = Fake::new();
    fake.devices = devices;
    fake.fallback = fallback;
    let mut settings = settings(dir.path());
    settings.limits.lookahead = 4;
    (Engine::start(fake, settings).unwrap(), script, dir)
}

type Shared = std::sync::Arc<Script>;

#[test]
fn partitions_of_one_proof_spread_over_the_devices_and_are_counted() {
    let (engine, script, _dir) = start(2, None);
    script.close_gate();
    let job = submit(&engine, porep("p", 4));
    until(&engine, "both devices work", |s| {
        s.devices.iter().all(|d| d.state == "proving")
    });
    script.open_gate();
    assert_eq!(completed(&engine, job).len(), 4 * PROOF_BYTES);
    let work: Vec<_> = engine.status().devices.iter().map(|d| d.work).collect();
    assert!(
        work.iter().all(|w| w.proved > 0 && w.failed == 0),
        "{work:?}"
    );
    assert_eq!(work.iter().map(|w| w.proved).sum::<u64>(), 4);
}

/// While one job's last partition is proved, the next one's are on the other device.
#[test]
fn several_proofs_are_in_flight_so_that_no_device_waits() {
    let (engine, script, _dir) = start(2, None);
    script.close_gate();
    let jobs = ["a", "b"].map(|name| submit(&engine, porep(name, 1)));
    until(&engine, "each device works on a job of its own", |s| {
        let on: Vec<_> = s.devices.iter().filter_map(|d| d.job_id).collect();
        on.len() == 2 && on[0] != on[1]
    });
    script.open_gate();
    for job in jobs {
        completed(&engine, job);
    }
}

#[test]
fn a_device_lost_in_the_middle_costs_its_partition_not_the_proof() {
    let (engine, script, _dir) = start(2, None);
    script.close_gate();
    let job = submit(&engine, porep("p", 6));
    until(&engine, "both devices work", |s| {
        s.devices.iter().all(|d| d.state == "proving")
    });
    *script.lost.lock().unwrap() = vec![0];
    script.open_gate();
    assert_eq!(completed(&engine, job).len(), 6 * PROOF_BYTES);
    let on_lost = |tried: &[String]| tried.iter().filter(|t| t.ends_with("@0")).count();
    let tried = script.proved();
    assert_eq!(on_lost(&tried), 1, "one try, which failed: {tried:?}");
    assert_eq!(
        tried.len(),
        7,
        "six partitions, one of them twice: {tried:?}"
    );

    // The other device may be done before this one has failed its self-test.
    until(&engine, "the lost device is left out", |s| {
        s.devices[0].state == "left out"
    });
    let status = engine.status();
    let lost = &status.devices[0];
    assert_eq!(
        (lost.state, lost.cause.as_deref()),
        ("left out", Some("lost"))
    );
    assert_eq!((lost.work.proved, lost.work.failed), (0, 1));
    assert_eq!(status.devices[1].work.proved, 6);
    assert_eq!(status.recent[0].devices, ["fake-1"]);
    assert_eq!(status.circuits[0].devices, [1], "its key is gone");
    completed(&engine, submit(&engine, porep("next", 3)));
    assert_eq!(on_lost(&script.proved()), 1, "it gets no more work");
}

#[test]
fn when_all_gpus_are_lost_the_cpu_takes_over() {
    let (engine, script, _dir) = start(3, Some(2));
    completed(&engine, submit(&engine, porep("before", 4)));
    assert_eq!(engine.status().devices[2].work.proved, 0);
    *script.lost.lock().unwrap() = vec![0, 1];
    completed(&engine, submit(&engine, porep("during", 4)));
    let status = engine.status();
    let states: Vec<_> = status.devices.iter().map(|d| d.state).collect();
    assert_eq!(states[2], "idle", "{states:?}");
    assert_eq!(status.devices[2].work.proved, 4, "{:?}", script.proved());
    completed(&engine, submit(&engine, porep("after", 4)));
}

#[test]
fn when_the_only_device_is_lost_jobs_fail_with_the_cause() {
    let (engine, script, _dir) = start(1, None);
    *script.lost.lock().unwrap() = vec![0];
    let first = failed(&engine, submit(&engine, porep("p", 2)));
    assert!(first.contains("no device passed its self-test"), "{first}");
    let next = failed(&engine, submit(&engine, porep("q", 1)));
    assert!(next.contains("no device passed its self-test"), "{next}");
    let lost = &engine.status().devices[0];
    assert_eq!(
        (lost.state, lost.cause.as_deref()),
        ("left out", Some("lost"))
    );
}

/// FP/lotus#2913 once more: a device that is only out of memory is not left out for it.
#[test]
fn a_device_out_of_memory_goes_on_being_used() {
    let (engine, script, _dir) = start(1, None);
    script.faults.lock().unwrap().insert(0, 1);
    completed(&engine, submit(&engine, porep("p", 2)));
    let device = &engine.status().devices[0];
    assert_eq!((device.state, device.work.failed), ("idle", 1));
}
