//! The threads: some for CPU work, one that loads, one that checks what was loaded, one a device.
//!
//! Each asks the core for the most urgent task, does it without the lock, catches its panic, and reports. A panic ends one job.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::core::{CheckTask, Core, CpuTask, DeviceTask, LoadTask, Phase, Verification};
use crate::engine::Shared;
use crate::job::JobId;
use crate::pipeline::{Pipeline, ProveFault};

/// How often the loader looks after things that only time brings about.
const TICK: Duration = Duration::from_secs(1);

pub(crate) fn spawn<P: Pipeline>(shared: &Arc<Shared<P>>, cpu_threads: usize) -> io::Result<()> {
    let devices = shared.lock().devices.len();
    for n in 0..cpu_threads {
        start(shared, format!("cpu-{n}"), |shared| {
            run(shared, |core| core.next_cpu(Instant::now()), do_cpu_task);
        })?;
    }
    for device in 0..devices {
        start(shared, format!("device-{device}"), move |shared| {
            let next = |core: &mut Core<P>| core.next_device(device, Instant::now());
            run(shared, next, |shared, task| {
                do_device_task(shared, device, task);
            });
        })?;
    }
    start(shared, "checker".into(), |shared| {
        run(shared, Core::next_check, do_check_task);
    })?;
    start(shared, "loader".into(), |shared| {
        run(shared, Core::next_load, do_load_task);
    })
}

fn start<P: Pipeline>(
    shared: &Arc<Shared<P>>,
    name: String,
    body: impl FnOnce(&Shared<P>) + Send + 'static,
) -> io::Result<()> {
    let shared = shared.clone();
    let thread = thread::Builder::new().name(name);
    thread.spawn(move || body(&shared)).map(drop)
}

fn run<P: Pipeline, T>(
    shared: &Shared<P>,
    mut next: impl FnMut(&mut Core<P>) -> Option<T>,
    mut work: impl FnMut(&Shared<P>, T),
) {
    let mut core = shared.lock();
    loop {
        if core.phase == Phase::Closed {
            return;
        }
        if let Some(task) = next(&mut core) {
            drop(core);
            work(shared, task);
            core = shared.lock();
            continue;
        }
        let (back, waited) = shared
            .work
            .wait_timeout(core, TICK)
            .unwrap_or_else(PoisonError::into_inner);
        core = back;
        if waited.timed_out() {
            drop(core);
            shared.update(|core| core.tick(Instant::now()));
            core = shared.lock();
        }
    }
}

fn do_cpu_task<P: Pipeline>(shared: &Shared<P>, task: CpuTask<P>) {
    let pipeline = &shared.pipeline;
    let begun = Instant::now();
    match task {
        CpuTask::Decode { job } => {
            let result = guarded(shared, || {
                let request = shared.journal.request(job).map_err(|e| e.to_string())?;
                pipeline.decode(&request).map_err(|e| e.to_string())
            });
            shared.update(|core| core.decode_done(job, flat(result), ms_since(begun)));
        }
        CpuTask::Witness {
            job,
            k,
            statement,
            circuit,
        } => {
            let result = guarded(shared, || pipeline.witness(&statement, k, &circuit));
            let took = ms_since(begun);
            shared.update(|core| core.witness_done(job, k, flat(result), took));
        }
        CpuTask::Verify {
            job,
            statement,
            circuit,
            proofs,
        } => {
            let result = guarded(shared, || pipeline.verify(&statement, &circuit, &proofs));
            let result = match result {
                Ok(Ok(verified)) => Verification::Verified(P::bytes(&verified)),
                Ok(Err(cause)) => Verification::Wrong(cause),
                Err(panic) => Verification::Panicked(panic),
            };
            shared.update(|core| core.verify_done(job, result, ms_since(begun)));
        }
    }
}

fn do_device_task<P: Pipeline>(shared: &Shared<P>, device: usize, task: DeviceTask<P>) {
    match task {
        DeviceTask::SelfTest => {
            let result = guarded(shared, || shared.pipeline.self_test(device));
            shared.update(|core| core.self_test_done(device, flat(result)));
        }
        DeviceTask::Prove {
            job,
            k,
            key,
            circuit,
            witness,
        } => prove(shared, device, (job, k), &key, &circuit, witness),
    }
}

fn prove<P: Pipeline>(
    shared: &Shared<P>,
    device: usize,
    (job, k): (JobId, usize),
    key: &P::Key,
    circuit: &P::Circuit,
    witness: P::Witness,
) {
    let begun = Instant::now();
    let proved = guarded(shared, || shared.pipeline.prove(device, key, &witness));
    let proved = proved.unwrap_or_else(|panic| Err(ProveFault::Input(panic)));
    let took = ms_since(begun);
    let result = match proved {
        Ok(proof) => {
            shared.pipeline.recycle(circuit, witness);
            Ok(proof)
        }
        Err(fault) => Err((fault, witness)),
    };
    shared.update(|core| core.prove_done(device, job, k, result, took));
}

fn do_load_task<P: Pipeline>(shared: &Shared<P>, task: LoadTask<P>) {
    match task {
        LoadTask::Open { circuit } => {
            let result = guarded(shared, || shared.pipeline.open(circuit));
            shared.update(|core| core.open_done(circuit, flat(result)));
        }
        LoadTask::Load {
            circuit,
            device,
            opened,
        } => {
            let grant = |bytes| {
                let now = Instant::now();
                shared.update(|core| core.grant_stream(circuit, device, bytes, now))
            };
            let result = guarded(shared, || shared.pipeline.load(device, &opened, &grant));
            let now = Instant::now();
            shared.update(|core| core.load_done(circuit, device, flat(result), now));
        }
    }
}

fn do_check_task<P: Pipeline>(shared: &Shared<P>, task: CheckTask<P>) {
    let CheckTask {
        circuit,
        opened,
        check,
    } = task;
    let result = flat(guarded(shared, || check.run()));
    shared.update(|core| core.check_done(circuit, &opened, result));
}

/// Runs a stage; a panic becomes its text.
fn guarded<P: Pipeline, T>(shared: &Shared<P>, stage: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(stage)).map_err(|panic| {
        shared.lock().counters.panics += 1;
        panic_text(panic)
    })
}

fn flat<T>(result: Result<Result<T, String>, String>) -> Result<T, String> {
    result.and_then(|inner| inner)
}

pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.unwrap_or_else(|| "no message".into()))
}

fn ms_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
