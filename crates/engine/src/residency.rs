//! Loading and unloading circuits on request.

use std::time::Instant;

use cuzk_filecoin::CircuitId;

use crate::core::Phase;
use crate::engine::{Engine, Preloaded, Readiness};
use crate::error::EngineError;
use crate::pipeline::Pipeline;

impl<P: Pipeline> Engine<P> {
    /// Says that a circuit is to be in memory as long as the engine runs: it is not evicted, and the picture shows it, and what
    /// keeps it from being loaded. [`preload`](Self::preload) loads it.
    pub fn pin(&self, circuit: CircuitId) {
        self.shared.update(|core| core.slot(circuit).pinned = true);
    }

    /// Loads a circuit and its parameters, and answers when they are loaded. Fails at once when the memory budget has no room for them.
    pub async fn preload(&self, circuit: CircuitId) -> Result<Preloaded, EngineError> {
        let loaded = self.load(circuit).await;
        if let Err(error) = &loaded {
            let cause = match error {
                EngineError::Circuit { cause, .. } => cause.clone(),
                other => other.to_string(),
            };
            self.shared.update(|core| core.pin_failed(circuit, cause));
        }
        loaded
    }

    async fn load(&self, circuit: CircuitId) -> Result<Preloaded, EngineError> {
        let footprint = self
            .shared
            .pipeline
            .footprint(circuit)
            .map_err(|cause| EngineError::Circuit { circuit, cause })?;
        let already_loaded = self.shared.update(|core| {
            if core.phase != Phase::Serving {
                return Err(EngineError::ShuttingDown);
            }
            core.set_footprint(circuit, footprint);
            let before = core.slot(circuit).loaded();
            core.want(circuit, Instant::now())
                .map_err(|source| EngineError::Memory {
                    what: format!("circuit {circuit}"),
                    source,
                })?;
            core.slot(circuit).preloads += 1;
            Ok(before)
        })?;
        let hold = PreloadHold {
            engine: self,
            circuit,
        };
        let load_ms = self.shared.until(|core| {
            if core.phase == Phase::Closed {
                return Some(Err(EngineError::ShuttingDown));
            }
            let slot = core.slot(circuit);
            if slot.loaded() {
                return Some(Ok(slot.load_ms));
            }
            let cause = slot.last_error.clone().filter(|_| slot.absent())?;
            Some(Err(EngineError::Circuit { circuit, cause }))
        });
        let load_ms = load_ms.await;
        drop(hold);
        Ok(Preloaded {
            already_loaded,
            load_ms: if already_loaded { 0 } else { load_ms? },
        })
    }

    /// Unloads a circuit that no job uses. Answers the bytes of the budget that this freed, or `None` when it was not loaded.
    pub fn evict(&self, circuit: CircuitId) -> Result<Option<u64>, EngineError> {
        self.shared.update(|core| core.evict(circuit))
    }

    /// Which circuits can be proved: those whose parameter files are there.
    pub fn readiness(&self) -> Readiness {
        CircuitId::all()
            .map(|id| (id, self.shared.pipeline.footprint(id).map(drop)))
            .collect()
    }
}

/// Keeps a circuit from being evicted while a preload waits for it, also when the waiter goes away.
struct PreloadHold<'a, P: Pipeline> {
    engine: &'a Engine<P>,
    circuit: CircuitId,
}

impl<P: Pipeline> Drop for PreloadHold<'_, P> {
    fn drop(&mut self) {
        self.engine.shared.update(|core| {
            let slot = core.slot(self.circuit);
            slot.preloads = slot.preloads.saturating_sub(1);
        });
    }
}
