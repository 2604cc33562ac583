//! What loading, checking and losing parameters changes.

use std::sync::Arc;
use std::time::Instant;

use cuzk_filecoin::CircuitId;

use super::{CheckTask, Core, KeyState, SlotState};
use crate::job::{Job, JobId, Step, millis};
use crate::pipeline::{Opened, Pipeline};
use crate::retry::any_left;

impl<P: Pipeline> Core<P> {
    /// Nothing is proved on a device that is left out: its keys go.
    pub(super) fn drop_keys(&mut self, device: usize) {
        for slot in self.circuits.values_mut() {
            if matches!(slot.keys[device], KeyState::Loaded(_)) {
                let key = std::mem::replace(&mut slot.keys[device], KeyState::Absent);
                self.outbox.circuits.push((SlotState::Absent, vec![key]));
                let stream = slot.streams[device].take();
                stream.map(|reservation| self.budget.release(reservation));
            }
        }
    }

    pub(crate) fn open_done(
        &mut self,
        circuit: CircuitId,
        result: Result<Opened<P::Circuit>, String>,
    ) {
        match result {
            Ok(opened) => {
                let state = Arc::new(opened.circuit);
                let slot = self.slot(circuit);
                slot.insecure = opened.insecure;
                slot.checking = opened.check.is_some();
                slot.state = SlotState::Open(state.clone());
                self.checks.extend(opened.check.map(|check| CheckTask {
                    circuit,
                    opened: state,
                    check,
                }));
                self.fail_stranded();
            }
            Err(cause) => self.slot_failed(circuit, cause),
        }
    }

    /// The rest of the check of a circuit's parameters is done. Parameters that fail it are not used any longer.
    pub(crate) fn check_done(
        &mut self,
        circuit: CircuitId,
        opened: &Arc<P::Circuit>,
        result: Result<(), String>,
    ) {
        if !self.holds(circuit, opened) {
            return;
        }
        match result {
            Ok(()) => {
                self.slot(circuit).checking = false;
                self.fail_held(circuit);
            }
            Err(cause) => self.slot_failed(circuit, cause),
        }
    }

    /// The parameters are right, so it is not for them that these jobs' proofs do not verify.
    fn fail_held(&mut self, circuit: CircuitId) {
        let of_circuit = |job: &&mut Job<P>| job.circuit == circuit;
        let held = self.jobs.values_mut().filter(of_circuit);
        let held: Vec<(JobId, String)> = held
            .filter_map(|job| Some((job.id, job.running_mut()?.doubt.take()?)))
            .collect();
        for (id, cause) in held {
            self.fail(id, cause);
        }
    }

    pub(crate) fn load_done(
        &mut self,
        circuit: CircuitId,
        device: usize,
        result: Result<P::Key, String>,
        now: Instant,
    ) {
        let name = self.devices[device].name.clone();
        let usable = self.devices[device].healthy();
        let slot = self.slot(circuit);
        let loading = matches!(slot.keys[device], KeyState::Loading);
        if !loading || !usable {
            // The circuit was unloaded or the device left out meanwhile: the key goes, without the lock.
            if loading {
                slot.keys[device] = KeyState::Absent;
                self.release_stream(circuit, device);
            }
            let key = result.map(|key| KeyState::Loaded(Arc::new(key)));
            let unused = (SlotState::Absent, key.into_iter().collect());
            self.outbox.circuits.push(unused);
            return;
        }
        match result {
            Ok(key) => {
                let first = !slot.loaded();
                slot.keys[device] = KeyState::Loaded(Arc::new(key));
                slot.last_used = now;
                if first {
                    slot.load_ms = millis(now.saturating_duration_since(slot.wanted_at));
                    self.note_load_times(circuit, now);
                }
            }
            Err(cause) => {
                tracing::error!(%circuit, device = %name, %cause, "the parameters cannot be loaded on a device");
                slot.keys[device] = KeyState::Failed(format!("{name}: {cause}"));
                self.release_stream(circuit, device);
                self.fail_stranded();
            }
        }
    }

    fn note_load_times(&mut self, circuit: CircuitId, now: Instant) {
        for job in self.jobs.values_mut().filter(|job| job.circuit == circuit) {
            job.circuit_loaded(now);
        }
    }

    /// Circuits that no device can prove any more fail, and their jobs with them.
    pub(super) fn fail_stranded(&mut self) {
        let stranded: Vec<(CircuitId, String)> = self
            .circuits
            .iter()
            .filter(|(id, slot)| slot.circuit().is_some() && self.usable_devices(**id).is_empty())
            .map(|(id, slot)| (*id, slot.key_failures()))
            .collect();
        for (circuit, causes) in stranded {
            let cause = if causes.is_empty() {
                "no device passed its self-test".into()
            } else {
                causes
            };
            self.slot_failed(circuit, cause);
        }
        for id in self.stranded_jobs() {
            self.fail(id, "no device is left that has not failed on it".into());
        }
    }

    /// Running jobs with a partition that no remaining device may try.
    fn stranded_jobs(&self) -> Vec<JobId> {
        let stranded = |job: &Job<P>| {
            let usable = self.usable_devices(job.circuit);
            let unheld = job.running().filter(|running| running.doubt.is_none());
            unheld.is_some_and(|running| {
                running.partitions.iter().any(|p| {
                    !matches!(p.step, Step::Proved(_) | Step::Proving { .. })
                        && !any_left(&p.failures, usable.iter().copied())
                })
            })
        };
        let jobs = self.jobs.values().filter(|job| stranded(job));
        jobs.map(|job| job.id).collect()
    }

    fn slot_failed(&mut self, circuit: CircuitId, cause: String) {
        tracing::error!(%circuit, %cause, "the circuit cannot be used");
        let users: Vec<JobId> = self
            .jobs
            .values()
            .filter(|job| job.circuit == circuit && job.running().is_some())
            .map(|job| job.id)
            .collect();
        self.slot(circuit).last_error = Some(cause.clone());
        self.unload(circuit);
        for id in users {
            self.fail(id, format!("{circuit}: {cause}"));
        }
    }
}

impl<P: Pipeline> super::Slot<P> {
    fn key_failures(&self) -> String {
        let failed = self.keys.iter().filter_map(|key| match key {
            KeyState::Failed(cause) => Some(cause.as_str()),
            _ => None,
        });
        failed.collect::<Vec<_>>().join("; ")
    }
}
