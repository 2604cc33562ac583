//! How long a proof's stages take.

use std::time::{Duration, Instant};

use serde::Serialize;

/// One stage of a proof.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StageTime {
    /// `evaluate a`, `evaluate b`, `quotient`, `h`, `l`, `a`, `b_g1` or `b_g2`.
    pub name: &'static str,
    /// On the wall's clock.
    pub seconds: f64,
    /// Of all the process's threads together, whatever they did meanwhile; none where the system does not tell.
    pub processor_seconds: Option<f64>,
}

/// Notes the stages as they end.
#[derive(Default)]
pub(super) struct Stages(Vec<StageTime>);

impl Stages {
    /// Runs a stage, in a span of its name for traces.
    pub(super) fn run<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let (start, processors) = (Instant::now(), processor_time());
        let result = tracing::debug_span!("stage", name).in_scope(run);
        let since = |start: Duration| processor_time().unwrap_or_default().saturating_sub(start);
        self.0.push(StageTime {
            name,
            seconds: start.elapsed().as_secs_f64(),
            processor_seconds: processors.map(|start| since(start).as_secs_f64()),
        });
        result
    }

    pub(super) fn finish(self) -> Vec<StageTime> {
        self.0
    }
}

#[cfg(target_os = "linux")]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).ok()
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> Option<Duration> {
    None
}
