//! The processor's own counters, where the kernel lets a process read them.

use serde::Serialize;

/// What one run took, over all threads, in user mode.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Counts {
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) branch_misses: u64,
    pub(crate) cache_misses: u64,
}

#[cfg(target_os = "linux")]
mod imp {
    use super::Counts;
    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};

    /// Counters of the threads that are started after them.
    pub(crate) struct Counters([Counter; 4]);

    impl Counters {
        /// # Errors
        /// Virtual machines often have no counters, and kernels may keep them to the administrator.
        pub(crate) fn open() -> std::io::Result<Self> {
            let open = |event| Builder::new(event).inherit(true).build();
            Ok(Self([
                open(Hardware::CPU_CYCLES)?,
                open(Hardware::INSTRUCTIONS)?,
                open(Hardware::BRANCH_MISSES)?,
                open(Hardware::CACHE_MISSES)?,
            ]))
        }

        /// Counts while `run` runs.
        pub(crate) fn count<R>(&mut self, run: impl FnOnce() -> R) -> (R, Option<Counts>) {
            let before = self.read();
            let started = self.0.iter_mut().try_for_each(Counter::enable);
            let result = run();
            let stopped = self.0.iter_mut().try_for_each(Counter::disable);
            let counted = started.and(stopped).ok().and(before.zip(self.read()));
            let counts = counted.map(|(before, after)| {
                let [cycles, instructions, branch_misses, cache_misses] =
                    std::array::from_fn(|i| after[i] - before[i]);
                Counts {
                    cycles,
                    instructions,
                    branch_misses,
                    cache_misses,
                }
            });
            (result, counts)
        }

        fn read(&mut self) -> Option<[u64; 4]> {
            let mut values = [0; 4];
            for (value, counter) in values.iter_mut().zip(&mut self.0) {
                *value = counter.read().ok()?;
            }
            Some(values)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::Counts;

    /// None on this system.
    pub(crate) struct Counters;

    impl Counters {
        /// # Errors
        /// Always.
        pub(crate) fn open() -> std::io::Result<Self> {
            Err(std::io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn count<R>(&mut self, run: impl FnOnce() -> R) -> (R, Option<Counts>) {
            (run(), None)
        }
    }
}

pub(crate) use imp::Counters;
