//! From a submission to a durable job.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use cuzk_filecoin::ProofRequest;

use crate::budget::Refused;
use crate::core::Entry;
use crate::engine::{Engine, Shared, Submission, Submitted};
use crate::error::EngineError;
use crate::job::{Job, JobId, Kept, Origin, unix_ms};
use crate::journal::Accepted;
use crate::payload::{PayloadDigest, payload_bytes};
use crate::pipeline::{Decoded, Footprint, Pipeline};
use crate::priority::Priority;
use crate::workers::panic_text;

impl<P: Pipeline> Engine<P> {
    /// Checks a request in full, writes it down, and queues it. When this answers, the job survives the process. Blocks: decoding takes
    /// as long as the vanilla proofs are large.
    pub fn submit(&self, submission: Submission) -> Result<Submitted, EngineError> {
        let result = self.shared.submit(submission);
        if let Err(error) = &result {
            self.shared.count_refusal(error);
        }
        result
    }
}

/// A place at the door, given back in every case.
struct Ticket<'a, P: Pipeline> {
    shared: &'a Shared<P>,
    request_id: &'a str,
    bytes: u64,
    accepted: bool,
}

impl<P: Pipeline> Drop for Ticket<'_, P> {
    fn drop(&mut self) {
        let (id, bytes, accepted) = (self.request_id, self.bytes, self.accepted);
        self.shared
            .update(|core| core.leave_door(id, bytes, accepted));
    }
}

impl<P: Pipeline> Shared<P> {
    fn submit(&self, submission: Submission) -> Result<Submitted, EngineError> {
        let Submission {
            request_id,
            priority,
            request,
        } = submission;
        let digest = PayloadDigest::of(&request);
        let bytes = payload_bytes(&request);
        if let Some(job_id) = self.knock(&request_id, digest, bytes)? {
            let position = self.lock().position(job_id);
            return Ok(Submitted {
                job_id,
                position,
                attached: true,
            });
        }
        let mut ticket = Ticket {
            shared: self,
            request_id: &request_id,
            bytes,
            accepted: false,
        };
        let decoded = self.decode(&request)?;
        let footprint = self.check_circuit(&decoded)?;
        let accepted = Accepted {
            job_id: JobId::random(),
            request_id: request_id.clone(),
            priority: priority.unwrap_or_else(|| Priority::default_for(request.kind)),
            digest,
            circuit: decoded.circuit,
            partitions: decoded.partitions,
            accepted_at_ms: unix_ms(),
        };
        self.journal.accept(&accepted, &request)?;
        drop(request);
        ticket.accepted = true;
        let position = self.enqueue(&accepted, decoded, footprint, bytes);
        Ok(Submitted {
            job_id: accepted.job_id,
            position,
            attached: false,
        })
    }

    /// Enters, or finds the job that is there already.
    fn knock(
        &self,
        request_id: &str,
        digest: PayloadDigest,
        bytes: u64,
    ) -> Result<Option<JobId>, EngineError> {
        let mut core = self.lock();
        loop {
            match core.enter(request_id, digest, bytes)? {
                Entry::Attach(job) => return Ok(Some(job)),
                Entry::Enter => return Ok(None),
                Entry::Wait => {
                    core = self.work.wait(core).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    pub(crate) fn decode(
        &self,
        request: &ProofRequest,
    ) -> Result<Decoded<P::Statement>, EngineError> {
        let _turn = self.take_decoder()?;
        match catch_unwind(AssertUnwindSafe(|| self.pipeline.decode(request))) {
            Ok(result) => Ok(result?),
            Err(panic) => {
                self.update(|core| core.counters.panics += 1);
                Err(EngineError::Panicked(panic_text(panic)))
            }
        }
    }

    fn take_decoder(&self) -> Result<DecoderTurn<'_, P>, EngineError> {
        let (limit, wait) = {
            let core = self.lock();
            (core.limits.decoders, core.limits.decoder_wait)
        };
        let busy = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut busy, waited) = self
            .decoder_free
            .wait_timeout_while(busy, wait, |busy| *busy >= limit)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(EngineError::Limit {
                limit: "decoder_wait",
                found: seconds_up(wait),
                allowed: wait.as_secs(),
            });
        }
        *busy += 1;
        Ok(DecoderTurn(self))
    }

    /// The circuit's parameters are there, and the job fits into the budget when nothing else is loaded.
    fn check_circuit(&self, decoded: &Decoded<P::Statement>) -> Result<Footprint, EngineError> {
        let circuit = decoded.circuit;
        let footprint = self
            .pipeline
            .footprint(circuit)
            .map_err(|cause| EngineError::Circuit { circuit, cause })?;
        let (total, lookahead) = {
            let core = self.lock();
            (core.budget.total(), core.limits.lookahead)
        };
        let at_once = decoded.partitions.min(lookahead) as u64;
        let needed = footprint
            .witness
            .saturating_mul(at_once)
            .saturating_add(decoded.bytes)
            .saturating_add(footprint.circuit);
        if needed > total {
            return Err(EngineError::Memory {
                what: format!("one {circuit} proof"),
                source: Refused::Never { needed, total },
            });
        }
        Ok(footprint)
    }

    fn enqueue(
        &self,
        accepted: &Accepted,
        decoded: Decoded<P::Statement>,
        footprint: Footprint,
        payload_bytes: u64,
    ) -> usize {
        let id = accepted.job_id;
        self.update(|core| {
            core.set_footprint(decoded.circuit, footprint);
            let room = core.limits.statement_bytes;
            let keep = core.statement_bytes.saturating_add(decoded.bytes) <= room;
            core.counters.accepted += 1;
            let origin = Origin {
                id,
                request_id: accepted.request_id.clone(),
                digest: accepted.digest,
                circuit: decoded.circuit,
                priority: accepted.priority,
                count: decoded.partitions,
                payload_bytes,
            };
            let statement = keep.then(|| Kept {
                statement: Arc::new(decoded.statement),
                bytes: decoded.bytes,
            });
            core.insert(Job::new(origin, statement));
            core.position(id)
        })
    }

    fn count_refusal(&self, error: &EngineError) {
        let mut core = self.lock();
        match error {
            EngineError::Request(_) | EngineError::RequestIdTaken { .. } => {
                core.counters.refused_input += 1;
            }
            _ => core.counters.refused_limit += 1,
        }
    }
}

/// One of the places to decode at.
struct DecoderTurn<'a, P: Pipeline>(&'a Shared<P>);

impl<P: Pipeline> Drop for DecoderTurn<'_, P> {
    fn drop(&mut self) {
        let mut busy = self
            .0
            .decoders
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *busy = busy.saturating_sub(1);
        self.0.decoder_free.notify_one();
    }
}

fn seconds_up(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(1)
}
