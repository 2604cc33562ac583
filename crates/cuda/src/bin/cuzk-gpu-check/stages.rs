//! How long the stages of proofs take: listens to the spans that the library opens for them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Milliseconds by stage, in order of first appearance.
#[derive(Clone, Default)]
pub(crate) struct Stages(Arc<Inner>);

#[derive(Default)]
struct Inner {
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spans: BTreeMap<u64, (String, Instant)>,
    totals: Vec<(String, f64)>,
}

impl Stages {
    /// Listens from now on, in the whole process.
    pub(crate) fn listen() -> Self {
        let stages = Self::default();
        // another listener, if any, was here first and stays
        let _ = tracing::subscriber::set_global_default(stages.clone());
        stages
    }

    pub(crate) fn clear(&self) {
        self.take();
    }

    /// What came together since it was taken last.
    pub(crate) fn take(&self) -> Vec<(String, f64)> {
        std::mem::take(&mut self.state().totals)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a span's one field.
struct Name(String);

impl Visit for Name {
    fn record_str(&mut self, _: &Field, text: &str) {
        self.0 = text.into();
    }

    fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
        self.0 = format!("{value:?}");
    }
}

impl Subscriber for Stages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
            && metadata.name() == "stage"
            && metadata.target().starts_with("cuzk_cuda")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut name = Name(String::new());
        attributes.record(&mut name);
        let id = self.0.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.state().spans.insert(id, (name.0, Instant::now()));
        Id::from_u64(id)
    }

    fn exit(&self, id: &Id) {
        let mut state = self.state();
        let Some((name, start)) = state.spans.remove(&id.into_u64()) else {
            return;
        };
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        match state.totals.iter_mut().find(|(known, _)| *known == name) {
            Some((_, total)) => *total += milliseconds,
            None => state.totals.push((name, milliseconds)),
        }
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
}
