//! Who may come in: idempotency and the limits of the queue.

use super::{Core, Phase};
use crate::error::EngineError;
use crate::job::{JobId, Outcome};
use crate::payload::PayloadDigest;
use crate::pipeline::Pipeline;

/// What becomes of a submission before it is decoded.
#[derive(Debug)]
pub(crate) enum Entry {
    /// It has a job already.
    Attach(JobId),
    /// The same request id is being checked at this moment: ask again when that is done.
    Wait,
    /// It is counted against the limits and may be decoded.
    Enter,
}

impl<P: Pipeline> Core<P> {
    pub(crate) fn enter(
        &mut self,
        request_id: &str,
        digest: PayloadDigest,
        bytes: u64,
    ) -> Result<Entry, EngineError> {
        if self.phase != Phase::Serving {
            return Err(EngineError::ShuttingDown);
        }
        if !request_id.is_empty() {
            if self.door_ids.contains(request_id) {
                return Ok(Entry::Wait);
            }
            if let Some(job) = self.attach(request_id, digest)? {
                self.counters.attached += 1;
                return Ok(Entry::Attach(job));
            }
        }
        let jobs = (self.jobs.len() + self.at_door) as u64 + 1;
        check_limit("jobs", jobs, self.limits.jobs as u64)?;
        let queued = self.queued_bytes.saturating_add(bytes);
        check_limit("queued_bytes", queued, self.limits.queued_bytes)?;
        self.at_door += 1;
        self.queued_bytes = queued;
        if !request_id.is_empty() {
            self.door_ids.insert(request_id.into());
        }
        Ok(Entry::Enter)
    }

    /// The job that a repeated submission belongs to. One that failed or was cancelled is not given again: the client may retry.
    /// A running job with other content keeps its id to itself; a finished one gives it up.
    fn attach(
        &self,
        request_id: &str,
        digest: PayloadDigest,
    ) -> Result<Option<JobId>, EngineError> {
        let Some(&job_id) = self.by_request.get(request_id) else {
            return Ok(None);
        };
        if let Some(job) = self.jobs.get(&job_id) {
            if job.doom.is_some() {
                return Ok(None);
            }
            if job.digest != digest {
                let request_id = request_id.into();
                return Err(EngineError::RequestIdTaken { request_id, job_id });
            }
            return Ok(Some(job_id));
        }
        let done = self.history.get(job_id).filter(|finished| {
            finished.digest == digest && matches!(finished.outcome, Outcome::Completed { .. })
        });
        Ok(done.map(|_| job_id))
    }

    /// The submission is a job now, or was refused. In the latter case its bytes are given back.
    pub(crate) fn leave_door(&mut self, request_id: &str, bytes: u64, accepted: bool) {
        self.at_door = self.at_door.saturating_sub(1);
        self.door_ids.remove(request_id);
        if !accepted {
            self.queued_bytes = self.queued_bytes.saturating_sub(bytes);
        }
    }
}

fn check_limit(limit: &'static str, found: u64, allowed: u64) -> Result<(), EngineError> {
    if found <= allowed {
        return Ok(());
    }
    Err(EngineError::Limit {
        limit,
        found,
        allowed,
    })
}
