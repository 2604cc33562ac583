//! What is too much. Each limit has a name, and whoever runs into one is told which.

use std::time::Duration;

/// The limits of an engine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Jobs that wait or run.
    pub jobs: usize,
    /// Payload bytes of these jobs, and of requests that are being decoded.
    pub queued_bytes: u64,
    /// Bytes of decoded statements that waiting jobs keep; beyond it they are decoded again when their turn comes.
    pub statement_bytes: u64,
    /// Requests that are decoded at the same time.
    pub decoders: usize,
    /// How long a request waits for a decoder.
    pub decoder_wait: Duration,
    /// How long a job may wait before it fails.
    pub queue_wait: Duration,
    /// Finished jobs that are remembered.
    pub finished_jobs: usize,
    /// How long a finished job is remembered.
    pub finished_age: Duration,
    /// Times that a process may end while the same job runs, before the job is given up.
    pub starts: u64,
    /// Partitions whose witness is ready or in the making, within one priority and those above it.
    pub lookahead: usize,
    /// Jobs that run at the same time, within one priority and those above it.
    pub running_jobs: usize,
}

impl Limits {
    /// The defaults for so many devices, of which none is to wait: a witness lies ready for each, and while one job is checked
    /// and the next begins, another one's partitions are proved.
    pub fn for_devices(devices: usize) -> Self {
        let default = Self::default();
        Self {
            lookahead: default.lookahead.max(devices),
            running_jobs: default.running_jobs.max(devices.saturating_add(1)),
            ..default
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            jobs: 1024,
            queued_bytes: 16 << 30,
            statement_bytes: 1 << 30,
            decoders: 2,
            decoder_wait: Duration::from_secs(60),
            queue_wait: Duration::from_secs(24 * 3600),
            finished_jobs: 1000,
            finished_age: Duration::from_secs(24 * 3600),
            starts: 3,
            lookahead: 2,
            running_jobs: 2,
        }
    }
}
