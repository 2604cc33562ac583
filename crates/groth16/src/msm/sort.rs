//! Terms in the order of their buckets.
//!
//! Two passes, by the high and by the low bits of the bucket's number: in both the places that are written to are few
//! enough for the cache and the TLB. The first is done for short ranges of terms, each on its own, the second where the
//! buckets are filled, for as many groups of buckets as a task has.

use super::digits::{Recoded, Window};
use super::kernel::{Leaf, NEGATIVE};
use crate::memory;
use std::ops::Range;

/// Bits of a bucket's number within its group.
const LOW_BITS: u32 = 8;
const GROUP: usize = 1 << LOW_BITS;

/// Bits of a term's number, below the sign and the low bits of its bucket.
const TERM_BITS: u32 = 31 - LOW_BITS;

/// A range of terms by group of their buckets in one window, in no order within a group; to be used again and again.
#[derive(Default)]
pub(super) struct Sorted {
    /// Low bits of the bucket, sign, term; beyond those that have a bucket, the others.
    entries: Vec<u32>,
    /// Where each group begins, and the end.
    starts: Vec<u32>,
}

/// Groups that so many buckets make.
pub(super) fn groups(buckets: usize) -> usize {
    buckets.div_ceil(GROUP)
}

impl Sorted {
    /// Sorts by the digits of one window, which has so many buckets. `keys` is scratch.
    ///
    /// # Panics
    /// Beyond 2^23 terms.
    pub(super) fn fill(
        &mut self,
        recoded: &[Recoded],
        window: Window,
        buckets: usize,
        keys: &mut Vec<u32>,
    ) {
        let Sorted { entries, starts } = self;
        assert!(recoded.len() <= 1 << TERM_BITS, "too many terms for a sort");
        let groups = groups(buckets);
        // Terms of no bucket go to one more group, behind the last; no branch, which would be mispredicted.
        let none = groups << LOW_BITS;
        keys.clear();
        memory::reserve(keys, recoded.len());
        let mut next = vec![0u32; groups + 2];
        keys.extend(recoded.iter().map(|scalar| {
            let (digit, negative) = window.digit(scalar);
            let bucket = (digit as usize).wrapping_sub(1);
            let outside = usize::from(bucket >= buckets).wrapping_neg();
            let bucket = bucket & !outside | none & outside;
            next[(bucket >> LOW_BITS) + 1] += 1;
            (bucket as u32) << 1 | u32::from(negative)
        }));
        for group in 0..=groups {
            next[group + 1] += next[group];
        }
        starts.clear();
        starts.extend_from_slice(&next[..=groups]);
        memory::reserve(entries, recoded.len());
        entries.resize(recoded.len(), 0);
        for (term, key) in keys.iter().enumerate() {
            let place = &mut next[(key >> (LOW_BITS + 1)) as usize];
            entries[*place as usize] = key << TERM_BITS | term as u32;
            *place += 1;
        }
    }

    fn group(&self, group: usize) -> &[u32] {
        &self.entries[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    /// Number of terms in some groups.
    fn len(&self, groups: &Range<usize>) -> usize {
        (self.starts[groups.end] - self.starts[groups.start]) as usize
    }
}

/// Groups of buckets, filled out of several ranges of terms that were sorted by the same window.
pub(super) struct Groups<'a> {
    /// Number of the first term, and the range.
    pub(super) ranges: Vec<(u32, &'a Sorted)>,
    pub(super) groups: Range<usize>,
}

impl Groups<'_> {
    /// Number of terms.
    pub(super) fn len(&self) -> usize {
        let lens = self
            .ranges
            .iter()
            .map(|(_, sorted)| sorted.len(&self.groups));
        lens.sum()
    }

    /// Hands out the buckets that are not empty, in order, numbered from the first group's first.
    pub(super) fn for_each_bucket(&self, mut visit: impl FnMut(u32, &[Leaf])) {
        let mut leaves: Vec<Leaf> = Vec::new();
        let low = |entry: u32| (entry >> (TERM_BITS + 1)) as usize;
        for group in self.groups.clone() {
            let mut next = [0u32; GROUP + 1];
            for (_, sorted) in &self.ranges {
                for entry in sorted.group(group) {
                    next[low(*entry) + 1] += 1;
                }
            }
            for bucket in 0..GROUP {
                next[bucket + 1] += next[bucket];
            }
            leaves.resize(next[GROUP] as usize, 0);
            for (first, sorted) in &self.ranges {
                for &entry in sorted.group(group) {
                    let place = &mut next[low(entry)];
                    let term = first + (entry & ((1 << TERM_BITS) - 1));
                    leaves[*place as usize] = term | entry << LOW_BITS & NEGATIVE;
                    *place += 1;
                }
            }
            // Each bucket's place has moved to its end.
            let mut start = 0;
            for (bucket, &end) in next[..GROUP].iter().enumerate() {
                if end > start {
                    let number = ((group - self.groups.start) << LOW_BITS) + bucket;
                    visit(number as u32, &leaves[start as usize..end as usize]);
                }
                start = end;
            }
        }
    }
}
