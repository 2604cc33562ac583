//! What a free thread or device does next: the most urgent job that has something for it.

use std::sync::Arc;
use std::time::Instant;

use cuzk_filecoin::CircuitId;

use super::{Core, Health, KeyState, Phase, SlotState};
use crate::job::{Job, JobId, Partition, Stage, Step};
use crate::pipeline::{LateCheck, Pipeline};
use crate::priority::Priority;
use crate::retry::{any_left, may_try};

/// Work for a CPU thread.
pub(crate) enum CpuTask<P: Pipeline> {
    Decode {
        job: JobId,
    },
    Witness {
        job: JobId,
        k: usize,
        statement: Arc<P::Statement>,
        circuit: Arc<P::Circuit>,
    },
    Verify {
        job: JobId,
        statement: Arc<P::Statement>,
        circuit: Arc<P::Circuit>,
        proofs: Vec<P::Proof>,
    },
}

/// Work for the loader.
pub(crate) enum LoadTask<P: Pipeline> {
    Open {
        circuit: CircuitId,
    },
    Load {
        circuit: CircuitId,
        device: usize,
        opened: Arc<P::Circuit>,
    },
}

/// Work for the thread that checks parameters.
pub(crate) struct CheckTask<P: Pipeline> {
    pub(crate) circuit: CircuitId,
    pub(crate) opened: Arc<P::Circuit>,
    pub(crate) check: LateCheck,
}

/// Work for a device's thread.
pub(crate) enum DeviceTask<P: Pipeline> {
    SelfTest,
    Prove {
        job: JobId,
        k: usize,
        key: Arc<P::Key>,
        circuit: Arc<P::Circuit>,
        witness: P::Witness,
    },
}

impl<P: Pipeline> Core<P> {
    pub(crate) fn next_cpu(&mut self, now: Instant) -> Option<CpuTask<P>> {
        if self.phase == Phase::Closed {
            return None;
        }
        let ids: Vec<JobId> = self.order.iter().map(|rank| rank.job).collect();
        ids.into_iter().find_map(|id| self.cpu_task_of(id, now))
    }

    fn cpu_task_of(&mut self, id: JobId, now: Instant) -> Option<CpuTask<P>> {
        let job = self.jobs.get(&id)?;
        let held = self.witnesses_at(job.priority);
        let lookahead = self.limits.lookahead;
        match job.workable()?.stage {
            Stage::Decode => {
                let job = self.jobs.get_mut(&id)?;
                job.task_begins(now);
                job.running_mut()?.stage = Stage::Decoding;
                Some(CpuTask::Decode { job: id })
            }
            Stage::Partitions if held < lookahead => self.witness_task(id, now),
            Stage::Verify => self.verify_task(id, now),
            Stage::Partitions | Stage::Decoding | Stage::Verifying | Stage::Held => None,
        }
    }

    fn witness_task(&mut self, id: JobId, now: Instant) -> Option<CpuTask<P>> {
        let job = self.jobs.get_mut(&id)?;
        let slot = self.circuits.get(&job.circuit)?;
        let circuit = slot.circuit().filter(|_| slot.loaded())?.clone();
        let statement = job.statement.as_ref()?.statement.clone();
        let partitions = &mut job.running_mut()?.partitions;
        let k = partitions
            .iter()
            .position(|p| matches!(p.step, Step::Waiting))?;
        partitions[k].step = Step::Witness { since: now };
        job.task_begins(now);
        Some(CpuTask::Witness {
            job: id,
            k,
            statement,
            circuit,
        })
    }

    fn verify_task(&mut self, id: JobId, now: Instant) -> Option<CpuTask<P>> {
        let job = self.jobs.get_mut(&id)?;
        let circuit = self.circuits.get(&job.circuit)?.circuit()?.clone();
        let statement = job.statement.as_ref()?.statement.clone();
        let running = job.running_mut()?;
        let proofs = running
            .partitions
            .iter()
            .map(|p| match &p.step {
                Step::Proved(proof) => Some(proof.clone()),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()?;
        running.stage = Stage::Verifying;
        job.task_begins(now);
        Some(CpuTask::Verify {
            job: id,
            statement,
            circuit,
            proofs,
        })
    }

    /// Witnesses ready or in the making, of jobs at this priority or above. Only these count against the look-ahead: the witnesses of
    /// less urgent jobs never keep an urgent one waiting.
    fn witnesses_at(&self, priority: Priority) -> usize {
        let holds = |job: &Job<P>| {
            job.running().map_or(0, |r| {
                r.partitions.iter().filter(|p| p.holds_witness()).count()
            })
        };
        self.jobs
            .values()
            .filter(|job| job.priority >= priority)
            .map(holds)
            .sum()
    }

    pub(crate) fn next_load(&mut self) -> Option<LoadTask<P>> {
        if self.phase == Phase::Closed {
            return None;
        }
        let urgent = self
            .order
            .iter()
            .filter_map(|rank| self.jobs.get(&rank.job))
            .filter(|job| job.workable().is_some())
            .map(|job| job.circuit);
        let mut circuits: Vec<CircuitId> = urgent.collect();
        circuits.extend(self.circuits.keys());
        circuits.into_iter().find_map(|id| self.load_task_of(id))
    }

    /// The check that waits longest, of those whose circuit is still the one that it was.
    pub(crate) fn next_check(&mut self) -> Option<CheckTask<P>> {
        while self.phase != Phase::Closed {
            let task = self.checks.pop_front()?;
            if self.holds(task.circuit, &task.opened) {
                return Some(task);
            }
        }
        None
    }

    /// Whether a circuit has not been unloaded since it was opened as this.
    pub(crate) fn holds(&self, circuit: CircuitId, opened: &Arc<P::Circuit>) -> bool {
        let slot = self.circuits.get(&circuit);
        slot.and_then(|slot| slot.circuit())
            .is_some_and(|now| Arc::ptr_eq(now, opened))
    }

    fn load_task_of(&mut self, circuit: CircuitId) -> Option<LoadTask<P>> {
        let fallback = self.needs_fallback(circuit);
        let wanted: Vec<bool> = self
            .devices
            .iter()
            .map(|d| d.healthy() && (fallback || !d.fallback))
            .collect();
        let slot = self.circuits.get_mut(&circuit)?;
        if matches!(slot.state, SlotState::Wanted) {
            slot.state = SlotState::Opening;
            return Some(LoadTask::Open { circuit });
        }
        let opened = slot.circuit()?.clone();
        let device = (0..slot.keys.len())
            .find(|&d| wanted[d] && matches!(slot.keys[d], KeyState::Absent))?;
        slot.keys[device] = KeyState::Loading;
        Some(LoadTask::Load {
            circuit,
            device,
            opened,
        })
    }

    /// Whether there is work on this circuit that only a fallback device may try.
    fn needs_fallback(&self, circuit: CircuitId) -> bool {
        let primary = self.primary_devices(circuit);
        let needs = |job: &Job<P>| {
            job.workable().is_some_and(|running| {
                let left = |p: &Partition<P>| any_left(&p.failures, primary.iter().copied());
                running.partitions.iter().any(|p| !left(p))
            })
        };
        let of_circuit = |job: &&Job<P>| job.circuit == circuit;
        primary.is_empty() || self.jobs.values().filter(of_circuit).any(needs)
    }

    pub(crate) fn next_device(&mut self, device: usize, now: Instant) -> Option<DeviceTask<P>> {
        if self.phase == Phase::Closed {
            return None;
        }
        match self.devices[device].health {
            Health::LeftOut(_) => return None,
            Health::Suspect => return Some(DeviceTask::SelfTest),
            Health::Good => {}
        }
        let ids: Vec<JobId> = self.order.iter().map(|rank| rank.job).collect();
        ids.into_iter()
            .find_map(|id| self.prove_task(id, device, now))
    }

    fn prove_task(&mut self, id: JobId, device: usize, now: Instant) -> Option<DeviceTask<P>> {
        let circuit = self
            .jobs
            .get(&id)
            .filter(|j| j.workable().is_some())?
            .circuit;
        let others = match self.devices[device].fallback {
            true => self.primary_devices(circuit),
            false => Vec::new(),
        };
        let job = self.jobs.get_mut(&id)?;
        let slot = self.circuits.get(&job.circuit)?;
        let key = slot.key(device)?.clone();
        let circuit = slot.circuit()?.clone();
        let partitions = &mut job.running_mut()?.partitions;
        let k = partitions.iter().position(|p| {
            matches!(p.step, Step::Ready(_))
                && may_try(&p.failures, device)
                && !any_left(&p.failures, others.iter().copied())
        })?;
        let proving = Step::Proving { since: now };
        let Step::Ready(witness) = std::mem::replace(&mut partitions[k].step, proving) else {
            return None;
        };
        partitions[k].device = Some(device);
        job.task_begins(now);
        self.devices[device].current = Some((id, k, job.circuit));
        Some(DeviceTask::Prove {
            job: id,
            k,
            key,
            circuit,
            witness,
        })
    }
}
