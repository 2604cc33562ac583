//! Starting jobs, and making room for circuits.
//!
//! A job gets its whole reservation or waits its turn. While the most urgent waiting job does not fit, no other starts: a small job that
//! slipped past would keep a large one waiting for ever.

use std::time::Instant;

use cuzk_filecoin::CircuitId;

use super::{Core, KeyState, Phase, Slot, SlotState};
use crate::budget::{Refused, Reservation};
use crate::job::{Job, JobId, Partition, Running, Stage, State};
use crate::pipeline::{Footprint, Pipeline};

impl<P: Pipeline> Core<P> {
    /// Starts every job whose turn it is.
    pub(crate) fn admit(&mut self, now: Instant) {
        self.blocked = None;
        if self.phase != Phase::Serving {
            return;
        }
        let queued: Vec<JobId> = self.order.iter().map(|rank| rank.job).collect();
        for id in queued {
            let Some(job) = self.jobs.get(&id) else {
                continue;
            };
            if job.running().is_some() {
                continue;
            }
            if self.running_at(job.priority) >= self.limits.running_jobs {
                let why = format!(
                    "a place among the {} jobs that run at once",
                    self.limits.running_jobs
                );
                self.blocked = Some((id, why));
                return;
            }
            if let Err(refused) = self.start(id, now) {
                self.blocked = Some((id, format!("memory: {refused}")));
                return;
            }
        }
    }

    fn start(&mut self, id: JobId, now: Instant) -> Result<(), Refused> {
        let Some(job) = self.jobs.get(&id) else {
            return Ok(());
        };
        let circuit = job.circuit;
        let bytes = self.job_bytes(job);
        let missing = self.missing_circuit_bytes(circuit);
        self.make_room(bytes.saturating_add(missing), Some(circuit), now)?;
        let reservation = self.budget.reserve(format!("job {id}"), bytes)?;
        if let Err(refused) = self.want(circuit, now) {
            self.budget.release(reservation);
            return Err(refused);
        }
        let slot = self.slot(circuit);
        slot.users += 1;
        slot.last_used = now;
        self.run(id, reservation, now);
        Ok(())
    }

    fn run(&mut self, id: JobId, reservation: Reservation, now: Instant) {
        let Some(job) = self.jobs.get_mut(&id) else {
            self.budget.release(reservation);
            return;
        };
        let stage = match &job.statement {
            Some(kept) => {
                self.statement_bytes = self.statement_bytes.saturating_sub(kept.bytes);
                Stage::Partitions
            }
            None => Stage::Decode,
        };
        let idle = job.idle_until(now);
        job.state = State::Running(Running {
            reservation,
            stage,
            partitions: (0..job.count).map(|_| Partition::new()).collect(),
            started: now,
            idle,
            doubt: None,
        });
        self.outbox.started.push(id);
    }

    /// Bytes of a job's own reservation: its statement, and the witnesses that it may hold at once.
    pub(crate) fn job_bytes(&self, job: &Job<P>) -> u64 {
        let witness = self
            .circuits
            .get(&job.circuit)
            .and_then(|slot| slot.footprint)
            .map_or(0, |footprint| footprint.witness);
        let statement = job.statement.as_ref().map_or_else(
            || job.payload_bytes.saturating_mul(STATEMENT_PER_PAYLOAD),
            |kept| kept.bytes,
        );
        let at_once = job.count.min(self.limits.lookahead) as u64;
        statement.saturating_add(witness.saturating_mul(at_once))
    }

    fn missing_circuit_bytes(&self, circuit: CircuitId) -> u64 {
        match self.circuits.get(&circuit) {
            Some(slot) if slot.absent() => slot.footprint.map_or(0, |f| f.circuit),
            _ => 0,
        }
    }

    /// Reserves a circuit's memory and has it loaded, unless that was done.
    pub(crate) fn want(&mut self, circuit: CircuitId, now: Instant) -> Result<(), Refused> {
        let slot = self.slot(circuit);
        if !slot.absent() {
            return Ok(());
        }
        let bytes = slot.footprint.map_or(0, |f| f.circuit);
        self.make_room(bytes, Some(circuit), now)?;
        let reservation = self.budget.reserve(format!("circuit {circuit}"), bytes)?;
        let slot = self.slot(circuit);
        slot.reservation = Some(reservation);
        slot.state = SlotState::Wanted;
        slot.wanted_at = now;
        slot.last_error = None;
        Ok(())
    }

    /// Evicts circuits that nobody uses, the longest unused first, until so many bytes are free. Evicts none when that cannot do.
    fn make_room(
        &mut self,
        bytes: u64,
        keep: Option<CircuitId>,
        now: Instant,
    ) -> Result<(), Refused> {
        let Err(refused) = self.budget.check(bytes) else {
            return Ok(());
        };
        if matches!(refused, Refused::Never { .. }) {
            return Err(refused);
        }
        let mut idle: Vec<(Instant, CircuitId, u64)> = self
            .circuits
            .iter()
            .filter(|(id, slot)| Some(**id) != keep && !slot.pinned && !slot.busy())
            .filter(|(_, slot)| now.saturating_duration_since(slot.last_used) >= self.min_idle)
            .filter_map(|(id, slot)| {
                slot.reservation.as_ref()?;
                Some((slot.last_used, *id, slot.reserved_bytes()))
            })
            .collect();
        idle.sort();
        let possible = idle
            .iter()
            .fold(self.budget.free(), |sum, (_, _, b)| sum.saturating_add(*b));
        if possible < bytes {
            return Err(refused);
        }
        for (_, circuit, _) in idle {
            if self.budget.check(bytes).is_ok() {
                break;
            }
            self.unload(circuit);
            self.counters.evictions += 1;
        }
        self.budget.check(bytes)
    }

    /// Empties a slot; answers how many bytes of the budget that freed.
    pub(crate) fn unload(&mut self, circuit: CircuitId) -> u64 {
        let Some(slot) = self.circuits.get_mut(&circuit) else {
            return 0;
        };
        let (state, keys, reservations) = slot.clear();
        self.outbox.circuits.push((state, keys));
        let freed = reservations.into_iter().map(|r| self.budget.release(r));
        freed.sum()
    }

    /// Reserves the host's memory that a key under way will stream to its device from.
    pub(crate) fn grant_stream(
        &mut self,
        circuit: CircuitId,
        device: usize,
        bytes: u64,
        now: Instant,
    ) -> Result<(), String> {
        let loading = |slot: &Slot<P>| matches!(slot.keys[device], KeyState::Loading);
        if !self.circuits.get(&circuit).is_some_and(loading) {
            return Err(format!("{circuit} was unloaded meanwhile"));
        }
        self.release_stream(circuit, device);
        let name = &self.devices[device].name;
        let what = format!("bases of {circuit} that stream to {name}");
        let granted = self
            .make_room(bytes, Some(circuit), now)
            .and_then(|()| self.budget.reserve(what, bytes));
        let reservation = granted.map_err(|refused| format!("memory.total_budget: {refused}"))?;
        self.slot(circuit).streams[device] = Some(reservation);
        Ok(())
    }

    /// A key does not stream any more, or never did.
    pub(crate) fn release_stream(&mut self, circuit: CircuitId, device: usize) {
        if let Some(reservation) = self.slot(circuit).streams[device].take() {
            self.budget.release(reservation);
        }
    }

    /// Notes what a circuit needs. Kept from the first time on while the circuit is in memory, so that its reservation stays true.
    pub(crate) fn set_footprint(&mut self, circuit: CircuitId, footprint: Footprint) {
        let slot = self.slot(circuit);
        if slot.absent() || slot.footprint.is_none() {
            slot.footprint = Some(footprint);
        }
    }
}

/// Bytes of a decoded statement for each byte of its request; the decoders' promise.
const STATEMENT_PER_PAYLOAD: u64 = 4;
