//! What is in memory of one circuit.
//!
//! ```text
//!   Absent --job or preload, memory reserved--> Wanted --> Opening --> Open, with one key a device:
//!     ^                                           |           |          Absent -> Loading -> Loaded | Failed
//!     +------- failed: users fail with the cause -+-----------+----------+
//!     +------- evicted: nobody uses it, not pinned ----------------------+
//! ```

use std::sync::Arc;
use std::time::Instant;

use crate::budget::Reservation;
use crate::pipeline::{Footprint, Pipeline};

pub(crate) struct Slot<P: Pipeline> {
    pub(crate) state: SlotState<P>,
    /// By device.
    pub(crate) keys: Vec<KeyState<P>>,
    /// Held in every state but `Absent`.
    pub(crate) reservation: Option<Reservation>,
    /// By device: of the host's memory that streams to it.
    pub(crate) streams: Vec<Option<Reservation>>,
    pub(crate) footprint: Option<Footprint>,
    pub(crate) pinned: bool,
    /// Running jobs of this circuit.
    pub(crate) users: usize,
    /// Preload requests that wait for it.
    pub(crate) preloads: usize,
    pub(crate) insecure: bool,
    /// Part of the check of its parameters is still under way.
    pub(crate) checking: bool,
    pub(crate) last_used: Instant,
    pub(crate) wanted_at: Instant,
    pub(crate) load_ms: u64,
    pub(crate) last_error: Option<String>,
}

pub(crate) enum SlotState<P: Pipeline> {
    Absent,
    Wanted,
    Opening,
    Open(Arc<P::Circuit>),
}

pub(crate) enum KeyState<P: Pipeline> {
    Absent,
    Loading,
    Loaded(Arc<P::Key>),
    Failed(String),
}

impl<P: Pipeline> Slot<P> {
    pub(crate) fn new(devices: usize) -> Self {
        let now = Instant::now();
        Self {
            state: SlotState::Absent,
            keys: (0..devices).map(|_| KeyState::Absent).collect(),
            reservation: None,
            streams: (0..devices).map(|_| None).collect(),
            footprint: None,
            pinned: false,
            users: 0,
            preloads: 0,
            insecure: false,
            checking: false,
            last_used: now,
            wanted_at: now,
            load_ms: 0,
            last_error: None,
        }
    }

    pub(crate) fn absent(&self) -> bool {
        matches!(self.state, SlotState::Absent)
    }

    pub(crate) fn circuit(&self) -> Option<&Arc<P::Circuit>> {
        match &self.state {
            SlotState::Open(circuit) => Some(circuit),
            _ => None,
        }
    }

    pub(crate) fn key(&self, device: usize) -> Option<&Arc<P::Key>> {
        match self.keys.get(device) {
            Some(KeyState::Loaded(key)) => Some(key),
            _ => None,
        }
    }

    /// At least one device can prove with it.
    pub(crate) fn loaded(&self) -> bool {
        self.keys.iter().any(|k| matches!(k, KeyState::Loaded(_)))
    }

    /// Work on it is going on, so it cannot be taken away.
    pub(crate) fn busy(&self) -> bool {
        let loading = self.keys.iter().any(|k| matches!(k, KeyState::Loading));
        let opening = matches!(self.state, SlotState::Wanted | SlotState::Opening);
        self.users > 0 || self.preloads > 0 || loading || opening
    }

    /// Bytes of the budget that it holds.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        let streams = self.streams.iter().flatten();
        let held = self.reservation.iter().chain(streams);
        held.map(Reservation::bytes).sum()
    }

    /// Empties it. The caller releases the reservations and drops the parts without the lock.
    pub(crate) fn clear(&mut self) -> (SlotState<P>, Vec<KeyState<P>>, Vec<Reservation>) {
        let keys = self.keys.iter().map(|_| KeyState::Absent).collect();
        self.checking = false;
        (
            std::mem::replace(&mut self.state, SlotState::Absent),
            std::mem::replace(&mut self.keys, keys),
            self.streams
                .iter_mut()
                .chain([&mut self.reservation])
                .filter_map(Option::take)
                .collect(),
        )
    }

    pub(crate) fn state_name(&self) -> &'static str {
        match self.state {
            SlotState::Absent => "absent",
            SlotState::Wanted | SlotState::Opening => "opening",
            SlotState::Open(_) if self.loaded() => "loaded",
            SlotState::Open(_) => "loading",
        }
    }
}
