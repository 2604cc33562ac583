//! Jobs that have ended, for as long and as many as the limits say.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::job::{Finished, JobId, unix_ms};

/// Jobs that have ended, in the order of their ends.
pub(crate) struct History {
    most: usize,
    oldest: Duration,
    jobs: HashMap<JobId, Arc<Finished>>,
    order: VecDeque<JobId>,
}

impl History {
    pub(crate) fn new(most: usize, oldest: Duration) -> Self {
        Self {
            most,
            oldest,
            jobs: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    pub(crate) fn insert(&mut self, job: Arc<Finished>) {
        self.order.push_back(job.job_id);
        self.jobs.insert(job.job_id, job);
    }

    pub(crate) fn get(&self, job: JobId) -> Option<&Arc<Finished>> {
        self.jobs.get(&job)
    }

    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The newest first.
    pub(crate) fn newest(&self) -> impl Iterator<Item = &Arc<Finished>> {
        self.order.iter().rev().filter_map(|id| self.jobs.get(id))
    }

    /// Takes out what is too much or too old.
    pub(crate) fn expire(&mut self) -> Vec<Arc<Finished>> {
        let oldest = u64::try_from(self.oldest.as_millis()).unwrap_or(u64::MAX);
        let cutoff = unix_ms().saturating_sub(oldest);
        let mut gone = Vec::new();
        while let Some(id) = self.order.front() {
            let stale = self.jobs.get(id).is_none_or(|f| f.ended_at_ms < cutoff);
            if !stale && self.jobs.len() <= self.most {
                break;
            }
            gone.extend(self.jobs.remove(id));
            self.order.pop_front();
        }
        gone
    }
}
