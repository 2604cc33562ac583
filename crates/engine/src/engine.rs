//! The engine as its callers see it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cuzk_filecoin::{CircuitId, ProofRequest};
use tokio::sync::watch;

use crate::budget::Budget;
use crate::core::{Core, DeviceState, DeviceWork, Health, Outbox, Phase};
use crate::error::{EngineError, StartError};
use crate::job::{Finished, JobId};
use crate::journal::Journal;
use crate::limits::Limits;
use crate::pipeline::Pipeline;
use crate::priority::Priority;
use crate::{recover, workers};

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The limits.
    pub limits: Limits,
    /// Bytes of memory that circuits and jobs may reserve.
    pub memory_bytes: u64,
    /// A circuit that nobody used for so long may be evicted to make room for another.
    pub eviction_min_idle: Duration,
    /// Threads that decode, generate witnesses and verify.
    pub cpu_threads: usize,
    /// Folder of the journal.
    pub journal_dir: PathBuf,
}

/// A request to prove something.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The client's own id. Empty: always a new job.
    pub request_id: String,
    /// `None`: the kind's default.
    pub priority: Option<Priority>,
    /// What to prove.
    pub request: ProofRequest,
}

/// The job that a submission became or was attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The job.
    pub job_id: JobId,
    /// Jobs that go first.
    pub position: usize,
    /// It was there before.
    pub attached: bool,
}

/// How waiting ended.
#[derive(Clone, Debug)]
pub enum Waited {
    /// The job has ended.
    Ended(Arc<Finished>),
    /// The time is over; the job goes on.
    TimedOut,
}

/// Accepts requests, schedules them onto threads and devices, and keeps what comes out. Cheap to clone; all clones are the same engine.
pub struct Engine<P: Pipeline> {
    pub(crate) shared: Arc<Shared<P>>,
}

pub(crate) struct Shared<P: Pipeline> {
    pub(crate) pipeline: P,
    core: Mutex<Core<P>>,
    /// Notified whenever there may be new work.
    pub(crate) work: Condvar,
    /// Changes whenever a job ended, a circuit was loaded or the phase changed.
    changed: watch::Sender<u64>,
    pub(crate) journal: Journal,
    pub(crate) decoders: Mutex<usize>,
    pub(crate) decoder_free: Condvar,
    pub(crate) started: Instant,
}

impl<P: Pipeline> Clone for Engine<P> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<P: Pipeline> Engine<P> {
    /// Tests the devices, takes over what the journal holds, and starts the threads.
    pub fn start(pipeline: P, settings: Settings) -> Result<Self, StartError> {
        let devices = test_devices(&pipeline)?;
        let (journal, recovered) = Journal::open(&settings.journal_dir)?;
        let mut core = Core::new(
            settings.limits,
            settings.eviction_min_idle,
            Budget::new(settings.memory_bytes),
            devices,
        );
        recover::restore(&mut core, &pipeline, recovered);
        let shared = Arc::new(Shared {
            pipeline,
            core: Mutex::new(core),
            work: Condvar::new(),
            changed: watch::Sender::new(0),
            journal,
            decoders: Mutex::new(0),
            decoder_free: Condvar::new(),
            started: Instant::now(),
        });
        shared.update(|_| ());
        workers::spawn(&shared, settings.cpu_threads.max(1)).map_err(StartError::Thread)?;
        Ok(Self { shared })
    }

    /// Waits until a job has ended, at most `timeout` long.
    pub async fn wait(&self, job: JobId, timeout: Option<Duration>) -> Result<Waited, EngineError> {
        let live = self.shared.lock().jobs.get(&job).map(|j| j.end.clone());
        let ended = self.shared.until(|core| {
            let kept = live.as_ref().and_then(|end| end.get());
            if let Some(finished) = kept.or_else(|| core.history.get(job)) {
                return Some(Ok(finished.clone()));
            }
            if !core.jobs.contains_key(&job) {
                let job_id = job.to_string();
                return Some(Err(EngineError::UnknownJob { job_id }));
            }
            (core.phase == Phase::Closed).then_some(Err(EngineError::ShuttingDown))
        });
        match timeout {
            None => ended.await.map(Waited::Ended),
            Some(limit) => match tokio::time::timeout(limit, ended).await {
                Ok(result) => result.map(Waited::Ended),
                Err(_elapsed) => Ok(Waited::TimedOut),
            },
        }
    }

    /// Cancels a job: a waiting one at once, a running one when the partitions in flight are done. Answers whether it was running.
    pub fn cancel(&self, job: JobId) -> Result<bool, EngineError> {
        self.shared.update(|core| core.cancel(job))
    }

    /// Whether new jobs are taken.
    pub fn serving(&self) -> bool {
        self.shared.lock().phase == Phase::Serving
    }

    /// Takes no more jobs and waits until those that run have ended, at most `timeout` long. Waiting jobs stay in the journal. Answers
    /// whether all running jobs ended.
    pub async fn drain(&self, timeout: Duration) -> bool {
        self.shared.update(|core| core.phase = Phase::Draining);
        let idle = self.shared.until(|core| core.at_rest().then_some(()));
        tokio::time::timeout(timeout, idle).await.is_ok()
    }

    /// Ends all work that is not in flight and all waiting. Jobs that have not ended stay in the journal.
    pub fn close(&self) {
        let cut_off = self.shared.update(|core| {
            core.phase = Phase::Closed;
            let running = core.jobs.values().filter(|job| job.running().is_some());
            running.map(|job| job.id).collect::<Vec<_>>()
        });
        for job in cut_off {
            // An orderly end says nothing against the job.
            if let Err(error) = self.shared.journal.unstart(job) {
                tracing::warn!(%error, %job, "cannot clear a job's start count");
            }
        }
    }
}

impl<P: Pipeline> Shared<P> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core<P>> {
        // Nothing that can panic runs under the lock but for bugs, and one job's bug must not stop the others.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, starts what can start then, and does the writes that follow from it, without the lock.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut Core<P>) -> R) -> R {
        let (result, outbox) = {
            let mut core = self.lock();
            let result = change(&mut core);
            core.admit(Instant::now());
            let outbox = std::mem::take(&mut core.outbox);
            core.flushing += usize::from(outbox.has_writes());
            (result, outbox)
        };
        self.work.notify_all();
        if outbox.has_writes() {
            self.flush(outbox);
            self.lock().flushing -= 1;
        }
        self.changed
            .send_modify(|version| *version = version.wrapping_add(1));
        result
    }

    fn flush(&self, outbox: Outbox<P>) {
        let note = |what: &str, job: JobId, result: Result<(), crate::JournalError>| {
            if let Err(error) = result {
                tracing::error!(%job, %error, "cannot write down that a job {what}");
            }
        };
        for job in outbox.started {
            note("was started", job, self.journal.start(job));
        }
        for finished in outbox.ended {
            log_end(&finished);
            note("has ended", finished.job_id, self.journal.finish(&finished));
        }
        for job in outbox.forgotten {
            note("is forgotten", job, self.journal.forget(job));
        }
    }

    /// Waits until `check` answers.
    pub(crate) async fn until<R>(&self, mut check: impl FnMut(&mut Core<P>) -> Option<R>) -> R {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if let Some(result) = check(&mut self.lock()) {
                return result;
            }
            // The sender lives in `self`, so this cannot fail.
            let _ = changed.changed().await;
        }
    }
}

fn log_end(finished: &Finished) {
    let (job, outcome) = (finished.job_id, finished.outcome.name());
    let (circuit, ms) = (&finished.circuit, finished.timings.total_ms);
    match &finished.outcome {
        crate::Outcome::Failed { cause } => {
            tracing::error!(%job, %circuit, %cause, total_ms = ms, "job failed");
        }
        _ => tracing::info!(%job, %circuit, total_ms = ms, "job {outcome}"),
    }
}

fn test_devices<P: Pipeline>(pipeline: &P) -> Result<Vec<DeviceState>, StartError> {
    let mut states = Vec::new();
    for (ordinal, info) in pipeline.devices().into_iter().enumerate() {
        let tested = catch_unwind(AssertUnwindSafe(|| pipeline.self_test(ordinal)))
            .unwrap_or_else(|panic| Err(workers::panic_text(panic)));
        let health = match tested {
            Ok(()) => Health::Good,
            Err(cause) => {
                tracing::error!(ordinal, name = %info.name, %cause, "the device failed its self-test and is left out");
                Health::LeftOut(cause)
            }
        };
        states.push(DeviceState {
            name: info.name,
            health,
            fallback: info.fallback,
            current: None,
            work: DeviceWork::default(),
        });
    }
    if states.iter().any(DeviceState::healthy) {
        return Ok(states);
    }
    let causes = states.into_iter().map(|s| match s.health {
        Health::LeftOut(cause) => format!("{}: {cause}", s.name),
        _ => s.name,
    });
    Err(StartError::NoDevice(causes.collect()))
}

/// A circuit that is wanted in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preloaded {
    /// It was there before.
    pub already_loaded: bool,
    /// Milliseconds that loading took; 0 when it was.
    pub load_ms: u64,
}

/// Names of circuits, and what is missing of those that cannot be proved.
pub type Readiness = Vec<(CircuitId, Result<(), String>)>;
