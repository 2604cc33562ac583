//! Where the time of a witness goes.

use std::time::{Duration, Instant};

/// Time of the parts of a witness, summed over the threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GadgetTimes {
    /// What stands before the blocks.
    pub prologue: Duration,
    /// Values that are copied, bit decompositions, native digests of tree D.
    pub values: Duration,
    /// SHA-256 of tree D.
    pub tree_d: Duration,
    /// SHA-256 of labels.
    pub labels: Duration,
    /// Poseidon of columns, commitments and randomness.
    pub hashes: Duration,
    /// Poseidon of paths in trees C and R.
    pub paths: Duration,
}

impl GadgetTimes {
    /// The parts by name.
    pub fn parts(&self) -> [(&'static str, Duration); 6] {
        [
            ("prologue", self.prologue),
            ("values", self.values),
            ("tree D", self.tree_d),
            ("labels", self.labels),
            ("hashes", self.hashes),
            ("paths", self.paths),
        ]
    }
}

impl std::ops::AddAssign for GadgetTimes {
    fn add_assign(&mut self, other: Self) {
        self.prologue += other.prologue;
        self.values += other.values;
        self.tree_d += other.tree_d;
        self.labels += other.labels;
        self.hashes += other.hashes;
        self.paths += other.paths;
    }
}

/// Adds the time that `run` takes to `total`.
pub(super) fn timed<R>(total: &mut Duration, run: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = run();
    *total += start.elapsed();
    result
}
