//! How jobs end.

use std::sync::Arc;
use std::time::Instant;

use cuzk_filecoin::CircuitId;

use super::{Core, Rank};
use crate::error::EngineError;
use crate::job::{Finished, Job, JobId, Outcome, State, millis, unix_ms};
use crate::pipeline::Pipeline;

impl<P: Pipeline> Core<P> {
    /// Decides how a job ends. The first decision counts. It ends now, or when the work in flight is back.
    pub(crate) fn doom(&mut self, id: JobId, outcome: Outcome) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.doom.get_or_insert(outcome);
        }
        self.settle(id);
    }

    /// Ends a doomed job of which nothing is in flight.
    pub(crate) fn settle(&mut self, id: JobId) {
        let ready = |job: &Job<P>| job.doom.is_some() && job.in_flight() == 0;
        if !self.jobs.get(&id).is_some_and(ready) {
            return;
        }
        if let Some(mut job) = self.jobs.remove(&id)
            && let Some(outcome) = job.doom.take()
        {
            self.end(job, outcome);
        }
    }

    fn end(&mut self, mut job: Job<P>, outcome: Outcome) {
        let rank = self.order.iter().find(|rank| rank.job == job.id).copied();
        rank.map(|rank: Rank| self.order.remove(&rank));
        self.queued_bytes = self.queued_bytes.saturating_sub(job.payload_bytes);
        match std::mem::replace(&mut job.state, State::Queued) {
            State::Running(running) => {
                self.budget.release(running.reservation);
                let slot = self.slot(job.circuit);
                slot.users = slot.users.saturating_sub(1);
                slot.last_used = Instant::now();
            }
            State::Queued => {
                let kept = job.statement.as_ref().map_or(0, |kept| kept.bytes);
                self.statement_bytes = self.statement_bytes.saturating_sub(kept);
            }
        }
        let now = Instant::now();
        job.timings.queue_ms = millis(job.idle_until(now));
        job.timings.total_ms = millis(now.saturating_duration_since(job.accepted));
        self.counters.ended(job.circuit, &outcome, &job.timings);
        let devices = job.devices.iter().map(|&d| self.devices[d].name.clone());
        let finished = Arc::new(Finished {
            job_id: job.id,
            request_id: job.request_id.clone(),
            digest: job.digest,
            circuit: job.circuit.to_string(),
            priority: job.priority,
            outcome,
            timings: job.timings,
            devices: devices.collect(),
            ended_at_ms: unix_ms(),
        });
        // Set once: a job is taken out of `jobs` before it comes here.
        let _ = job.end.set(finished.clone());
        self.history.insert(finished.clone());
        self.outbox.ended.push(finished);
        self.outbox.jobs.push(job);
        self.expire_finished();
    }

    /// Ends a job at a client's wish. Answers whether it was running.
    pub(crate) fn cancel(&mut self, id: JobId) -> Result<bool, EngineError> {
        if self.history.get(id).is_some() {
            return Ok(false);
        }
        let job = self.jobs.get(&id).ok_or_else(|| EngineError::UnknownJob {
            job_id: id.to_string(),
        })?;
        let was_running = job.running().is_some();
        self.doom(id, Outcome::Cancelled { was_running });
        Ok(was_running)
    }

    /// Unloads a circuit. Answers the bytes freed, or `None` when nothing was loaded.
    pub(crate) fn evict(&mut self, circuit: CircuitId) -> Result<Option<u64>, EngineError> {
        let Some(slot) = self.circuits.get(&circuit).filter(|slot| !slot.absent()) else {
            return Ok(None);
        };
        if slot.busy() {
            let users = (slot.users + slot.preloads).max(1);
            return Err(EngineError::InUse { circuit, users });
        }
        if slot.pinned {
            return Err(EngineError::Pinned { circuit });
        }
        self.counters.evictions += 1;
        Ok(Some(self.unload(circuit)))
    }

    /// A pinned circuit shows why it is not there.
    pub(crate) fn pin_failed(&mut self, circuit: CircuitId, cause: String) {
        let slot = self.circuits.get_mut(&circuit);
        if let Some(slot) = slot.filter(|slot| slot.pinned && slot.absent()) {
            slot.last_error = Some(cause);
        }
    }

    pub(crate) fn expire_queued(&mut self, now: Instant) {
        let limit = self.limits.queue_wait;
        let late: Vec<JobId> = self
            .jobs
            .values()
            .filter(|job| job.running().is_none())
            .filter(|job| now.saturating_duration_since(job.accepted) > limit)
            .map(|job| job.id)
            .collect();
        for id in late {
            let cause = format!(
                "over the limit queue_wait: waited longer than {} s",
                limit.as_secs()
            );
            self.doom(id, Outcome::Failed { cause });
        }
    }

    pub(crate) fn expire_finished(&mut self) {
        for gone in self.history.expire() {
            if self.by_request.get(&gone.request_id) == Some(&gone.job_id) {
                self.by_request.remove(&gone.request_id);
            }
            self.outbox.forgotten.push(gone.job_id);
        }
    }
}
