//! What survives the process. FP/rust-fil-proofs#740: panic after kill and restart.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::fake::*;
use cuzk_engine::{Engine, EngineError, JobId, JournalError, StartError};

/// What a `kill -9` at this moment would leave on the disk.
fn snapshot(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    fs::create_dir(to.path().join("journal")).unwrap();
    for entry in fs::read_dir(from.join("journal")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(
            &path,
            to.path().join("journal").join(path.file_name().unwrap()),
        )
        .unwrap();
    }
    to
}

fn fresh(dir: &Path) -> (Engine<Fake>, std::sync::Arc<Script>) {
    let (fake, script) = Fake::new();
    (Engine::start(fake, settings(dir)).expect("starts"), script)
}

#[test]
fn after_kill_9_accepted_jobs_complete_under_their_old_ids() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, script) = fresh(dir.path());
    let done = submit(&engine, porep("done", 1));
    let proof = completed(&engine, done);
    script.close_gate();
    let running = submit(&engine, porep("running", 3));
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let waiting = submit(&engine, porep("waiting", 1));
    let cancelled = submit(&engine, porep("cancelled", 1));
    engine.cancel(cancelled).unwrap();
    until(&engine, "it ended", |s| s.pipelines.len() == 2);

    let crashed = snapshot(dir.path());
    let (second, script) = fresh(crashed.path());
    assert_eq!(completed(&second, done), proof, "finished results are kept");
    assert_eq!(completed(&second, running).len(), 3 * PROOF_BYTES);
    completed(&second, waiting);
    assert_eq!(second.status().counters.recovered, 2);
    assert!(
        script
            .proved()
            .iter()
            .all(|t| !t.starts_with("done") && !t.starts_with("cancelled"))
    );
    let again = second.submit(porep("running", 3)).unwrap();
    assert_eq!(
        (again.job_id, again.attached),
        (running, true),
        "idempotency survives too"
    );
}

#[test]
fn a_job_that_ends_every_process_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, script) = fresh(dir.path());
    script.close_gate();
    let job = submit(&engine, porep("p", 1));
    let mut state = dir.path().to_path_buf();
    let mut kept = Vec::new();
    let mut engine = engine;
    for _ in 0..2 {
        until(&engine, "the device works", |s| {
            s.devices[0].state == "proving"
        });
        let crashed = snapshot(&state);
        state = crashed.path().to_path_buf();
        kept.push(crashed);
        let (fake, script) = Fake::new();
        script.close_gate();
        engine = Engine::start(fake, settings(&state)).unwrap();
    }
    until(&engine, "the device works", |s| {
        s.devices[0].state == "proving"
    });
    let last = snapshot(&state);
    let (engine, _script) = fresh(last.path());
    let cause = failed(&engine, job);
    assert!(cause.contains("limit starts: 3 processes ended"), "{cause}");
}

#[test]
fn an_orderly_end_finishes_what_runs_and_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let (running, waiting): (JobId, JobId) = {
        let (fake, script) = Fake::new();
        let mut settings = settings(dir.path());
        settings.limits.running_jobs = 1;
        let engine = Engine::start(fake, settings).unwrap();
        script.close_gate();
        let running = submit(&engine, porep("running", 2));
        let waiting = submit(&engine, porep("waiting", 1));
        until(&engine, "the device works", |s| {
            s.devices[0].state == "proving"
        });
        let drained = runtime.block_on(async {
            let drain = engine.drain(Duration::from_secs(30));
            let release = async {
                let refused = engine.submit(porep("late", 1));
                script.open_gate();
                refused
            };
            let (drained, refused) = tokio::join!(drain, release);
            assert!(matches!(refused, Err(EngineError::ShuttingDown)));
            drained
        });
        assert!(drained);
        engine.close();
        let waited = runtime.block_on(engine.wait(waiting, None));
        assert!(matches!(waited, Err(EngineError::ShuttingDown)));
        (running, waiting)
    };
    let after = snapshot(dir.path());
    let (engine, script) = fresh(after.path());
    completed(&engine, running);
    completed(&engine, waiting);
    assert_eq!(script.proved(), ["waiting/0@0"]);
}

/// A statement that there was no room to keep is decoded again from the journal.
#[test]
fn statements_beyond_their_limit_are_decoded_when_their_turn_comes() {
    let dir = tempfile::tempdir().unwrap();
    let (fake, script) = Fake::new();
    let mut settings = settings(dir.path());
    settings.limits.statement_bytes = 150;
    settings.limits.running_jobs = 1;
    let engine = Engine::start(fake, settings).unwrap();
    script.close_gate();
    let jobs: Vec<_> = ["a", "b", "c"].map(|n| submit(&engine, porep(n, 1))).into();
    script.open_gate();
    for job in jobs {
        completed(&engine, job);
    }
    assert_eq!(*script.decoded.lock().unwrap(), ["a", "b", "c", "c"]);
}

#[test]
fn one_journal_serves_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let (_engine, _script) = fresh(dir.path());
    let (fake, _script) = Fake::new();
    let refused = Engine::start(fake, settings(dir.path())).err().unwrap();
    assert!(
        matches!(refused, StartError::Journal(JournalError::InUse { .. })),
        "{refused}"
    );
}

const CHILD: &str = "CUZK_ENGINE_TEST_CHILD";

/// The same with a real process and a real `kill -9`: this test runs itself as the process that is killed.
#[test]
fn a_killed_process_loses_nothing() {
    if let Some(dir) = std::env::var_os(CHILD) {
        let (engine, script) = fresh(Path::new(&dir));
        script.close_gate();
        let job = submit(&engine, porep("killed", 2));
        until(&engine, "the device works", |s| {
            s.devices[0].state == "proving"
        });
        fs::write(Path::new(&dir).join("job"), job.to_string()).unwrap();
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "restart::a_killed_process_loses_nothing",
            "--nocapture",
        ])
        .env(CHILD, dir.path())
        .spawn()
        .unwrap();
    let said = dir.path().join("job");
    let job: JobId = loop {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the child ended by itself"
        );
        if let Ok(job) = fs::read_to_string(&said).unwrap_or_default().parse() {
            break job;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let (engine, _script) = fresh(dir.path());
    assert_eq!(completed(&engine, job).len(), 2 * PROOF_BYTES);
}
