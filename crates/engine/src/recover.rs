//! Taking over what an earlier process left in the journal.

use std::sync::Arc;

use crate::core::Core;
use crate::job::{Job, Origin, Outcome};
use crate::journal::{Recovered, RecoveredJob};
use crate::pipeline::Pipeline;

/// Puts unfinished jobs back into the queue, oldest first, under their old ids, and finished ones into the history.
pub(crate) fn restore<P: Pipeline>(core: &mut Core<P>, pipeline: &P, recovered: Recovered) {
    for finished in recovered.finished {
        if !finished.request_id.is_empty() {
            core.by_request
                .insert(finished.request_id.clone(), finished.job_id);
        }
        core.history.insert(Arc::new(finished));
    }
    for job in recovered.jobs {
        requeue(core, pipeline, job);
    }
    core.expire_finished();
}

fn requeue<P: Pipeline>(core: &mut Core<P>, pipeline: &P, job: RecoveredJob) {
    let (accepted, starts) = (job.accepted, job.starts);
    let (id, circuit) = (accepted.job_id, accepted.circuit);
    tracing::info!(job = %id, %circuit, starts, "a job from the journal is queued again");
    core.counters.recovered += 1;
    core.queued_bytes = core.queued_bytes.saturating_add(job.payload_bytes);
    let origin = Origin {
        id,
        request_id: accepted.request_id,
        digest: accepted.digest,
        circuit,
        priority: accepted.priority,
        count: accepted.partitions,
        payload_bytes: job.payload_bytes,
    };
    core.insert(Job::new(origin, None));
    if starts >= core.limits.starts {
        let cause = format!(
            "over the limit starts: {starts} processes ended while they worked on this job"
        );
        return core.doom(id, Outcome::Failed { cause });
    }
    match pipeline.footprint(circuit) {
        Ok(footprint) => core.set_footprint(circuit, footprint),
        Err(cause) => core.doom(id, Outcome::Failed { cause }),
    }
}
