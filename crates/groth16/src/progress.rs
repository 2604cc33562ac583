//! How long work reports where it is.

/// Receives the state of a long operation. `advance` is called from several threads, a few thousand times a phase at most.
pub trait Progress: Sync {
    /// A phase of `total` units begins; the one before is over.
    fn begin(&self, phase: &str, total: u64);

    /// `count` more units of the current phase are finished.
    fn advance(&self, count: u64);
}

/// Reports nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _phase: &str, _total: u64) {}

    fn advance(&self, _count: u64) {}
}
