//! How much memory this process has used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Peak memory of a process, as Linux counts it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PeakMemory {
    /// Resident at the highest point, mapped files included, in bytes.
    pub(crate) resident_bytes: u64,
}

impl PeakMemory {
    /// Of this process until now; zero where `/proc` does not tell.
    pub(crate) fn of_this_process() -> Self {
        Self::in_status("/proc/self/status")
    }

    /// Of a process until now; zero where `/proc` does not tell.
    pub(crate) fn of(process: u32) -> Self {
        Self::in_status(&format!("/proc/{process}/status"))
    }

    fn in_status(file: &str) -> Self {
        let status = std::fs::read_to_string(file).unwrap_or_default();
        Self {
            resident_bytes: field(&status, "VmHWM:").unwrap_or(0),
        }
    }
}

/// Starts the peak of this process anew; the resident bytes there are now, where Linux allows it.
pub(crate) fn reset_peak() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    field(&status, "VmRSS:")
}

/// How far resident memory has risen above `before` since [`reset_peak`].
pub(crate) fn peak_above(before: u64) -> u64 {
    let peak = PeakMemory::of_this_process().resident_bytes;
    peak.saturating_sub(before)
}

/// Watches how much memory this process holds apart from mapped files. Linux keeps no peak of that.
pub(crate) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Sampler {
    const PERIOD: Duration = Duration::from_millis(5);

    pub(crate) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut peak = private_bytes();
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(Self::PERIOD);
                peak = peak.max(private_bytes());
            }
            peak
        });
        Self { stop, thread }
    }

    /// The highest number of bytes seen.
    pub(crate) fn finish(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or(0)
    }
}

fn private_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    field(&status, "RssAnon:").unwrap_or(0) + field(&status, "RssShmem:").unwrap_or(0)
}

/// The value of a line such as `VmHWM:  1234 kB`, in bytes.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::{PeakMemory, field};

    #[test]
    fn the_kernels_lines_are_read() {
        let status = "Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\n";
        assert_eq!(field(status, "VmHWM:"), Some(2 << 20));
        assert_eq!(field(status, "VmSwap:"), None);
        assert!(PeakMemory::of_this_process().resident_bytes > 0);
    }
}
