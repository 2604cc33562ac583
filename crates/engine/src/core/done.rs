//! What a finished task changes.

use std::sync::Arc;
use std::time::Instant;

use cuzk_groth16::PROOF_BYTES;

use super::{Core, Health};
use crate::job::{JobId, Kept, Outcome, Partition, Stage, Step};
use crate::pipeline::{Decoded, Pipeline, ProveFault};
use crate::retry::any_left;

/// How verification ended.
pub(crate) enum Verification {
    /// The encoding of the verified proof.
    Verified(Vec<u8>),
    /// The proofs are wrong.
    Wrong(String),
    /// It could not be done.
    Panicked(String),
}

impl<P: Pipeline> Core<P> {
    pub(crate) fn decode_done(
        &mut self,
        id: JobId,
        result: Result<Decoded<P::Statement>, String>,
        took_ms: u64,
    ) {
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        job.task_ended(Instant::now());
        job.timings.decode_ms += took_ms;
        let count = job.count;
        let result = result.and_then(|decoded| match decoded.partitions {
            found if found == count => Ok(decoded),
            found => Err(format!("found {found} partitions, expected {count}")),
        });
        match result {
            Ok(decoded) => {
                job.statement = Some(Kept {
                    statement: Arc::new(decoded.statement),
                    bytes: decoded.bytes,
                });
                if let Some(running) = job.running_mut() {
                    running.stage = Stage::Partitions;
                }
                self.settle(id);
            }
            Err(cause) => self.fail(id, format!("decoding again: {cause}")),
        }
    }

    pub(crate) fn witness_done(
        &mut self,
        id: JobId,
        k: usize,
        result: Result<P::Witness, String>,
        took_ms: u64,
    ) {
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        job.task_ended(Instant::now());
        job.timings.witness_ms += took_ms;
        let circuit = job.circuit;
        match result {
            Ok(witness) => {
                if let Some(running) = job.running_mut() {
                    running.partitions[k].witness_ms += took_ms;
                    running.partitions[k].step = Step::Ready(witness);
                }
                self.counters.circuit(circuit).witness(took_ms);
                self.settle(id);
            }
            Err(cause) => self.fail(id, format!("witness of partition {k}: {cause}")),
        }
    }

    pub(crate) fn prove_done(
        &mut self,
        device: usize,
        id: JobId,
        k: usize,
        result: Result<P::Proof, (ProveFault, P::Witness)>,
        took_ms: u64,
    ) {
        let state = &mut self.devices[device];
        state.current = None;
        state.work.add(result.is_ok(), took_ms);
        if matches!(result, Err((ProveFault::Broken(_), _))) && state.healthy() {
            state.health = Health::Suspect;
        }
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        job.task_ended(Instant::now());
        job.timings.prove_ms += took_ms;
        let circuit = job.circuit;
        let usable = self.usable_devices(circuit);
        let name = self.devices[device].name.clone();
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        let Some(running) = job.running_mut() else {
            return;
        };
        let partition = &mut running.partitions[k];
        partition.prove_ms += took_ms;
        match result {
            Ok(proof) => {
                partition.step = Step::Proved(proof);
                if running.all_proved() {
                    running.stage = Stage::Verify;
                }
                job.used(device);
                self.counters.circuit(circuit).prove(took_ms);
                self.settle(id);
            }
            Err((ProveFault::Input(cause), _)) => {
                self.fail(id, format!("partition {k} on {name}: {cause}"));
            }
            Err((ProveFault::Device(cause) | ProveFault::Broken(cause), witness)) => {
                partition.failures.push(device);
                let left = any_left(&partition.failures, usable.into_iter());
                partition.step = Step::Ready(witness);
                self.counters.device_faults += 1;
                tracing::warn!(job = %id, partition = k, device = %name, %cause, retry = left, "a partition failed on its device");
                if left {
                    self.counters.retries += 1;
                    self.settle(id);
                } else {
                    self.fail(id, format!("partition {k} on {name}: {cause}"));
                }
            }
        }
    }

    pub(crate) fn verify_done(&mut self, id: JobId, result: Verification, took_ms: u64) {
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        job.task_ended(Instant::now());
        job.timings.verify_ms += took_ms;
        let expected = job.count * PROOF_BYTES;
        match result {
            Verification::Verified(proof) if proof.len() == expected => {
                self.doom(id, Outcome::Completed { proof });
            }
            Verification::Verified(proof) => {
                let found = proof.len();
                self.fail(
                    id,
                    format!("found a proof of {found} bytes, expected {expected}"),
                );
            }
            Verification::Panicked(cause) => self.fail(id, cause),
            Verification::Wrong(cause) => self.unverified(id, &cause),
        }
    }

    /// The proof does not verify: every partition goes back to its start, where devices are left that may try, and the devices that had a
    /// hand in it are tested before they get other work.
    fn unverified(&mut self, id: JobId, cause: &str) {
        self.counters.verify_failures += 1;
        let Some(circuit) = self.jobs.get(&id).map(|job| job.circuit) else {
            return;
        };
        let usable = self.usable_devices(circuit);
        let Some(running) = self.jobs.get_mut(&id).and_then(|job| job.running_mut()) else {
            return;
        };
        let mut hands = Vec::new();
        let mut left = true;
        for partition in &mut running.partitions {
            hands.extend(partition.device);
            partition.failures.extend(partition.device.take());
            partition.step = Step::Waiting;
            left &= any_left(&partition.failures, usable.iter().copied());
        }
        running.stage = Stage::Partitions;
        for device in hands {
            if self.devices[device].healthy() {
                self.devices[device].health = Health::Suspect;
            }
        }
        tracing::error!(job = %id, %circuit, %cause, retry = left, "a proof does not verify");
        if left {
            self.counters.retries += 1;
            self.settle(id);
        } else if self.slot(circuit).checking && self.hold(id, cause) {
            self.settle(id);
        } else {
            self.fail(id, format!("the proof does not verify: {cause}"));
        }
    }

    /// Damaged parameters would be the cause, and the check of them is not done: the job waits for that.
    fn hold(&mut self, id: JobId, cause: &str) -> bool {
        let running = self.jobs.get_mut(&id).and_then(|job| job.running_mut());
        running.is_some_and(|running| {
            running.stage = Stage::Held;
            running.doubt = Some(format!("the proof does not verify: {cause}"));
            true
        })
    }

    pub(crate) fn self_test_done(&mut self, device: usize, result: Result<(), String>) {
        let state = &mut self.devices[device];
        match result {
            Ok(()) => state.health = Health::Good,
            Err(cause) => {
                tracing::error!(device, name = %state.name, %cause, "the device failed its self-test and is left out");
                state.health = Health::LeftOut(cause);
                self.drop_keys(device);
                self.fail_stranded();
            }
        }
    }

    pub(super) fn fail(&mut self, id: JobId, cause: String) {
        self.doom(id, Outcome::Failed { cause });
    }
}

impl<P: Pipeline> crate::job::Running<P> {
    fn all_proved(&self) -> bool {
        let proved = |p: &Partition<P>| matches!(p.step, Step::Proved(_));
        self.partitions.iter().all(proved)
    }
}

impl<P: Pipeline> crate::job::Job<P> {
    fn used(&mut self, device: usize) {
        if !self.devices.contains(&device) {
            self.devices.push(device);
        }
    }
}
