//! The terms of a block in the order of their buckets.
//!
//! Two passes, by the high and by the low bits of the bucket's number: in both the places that are written to are few
//! enough for the L1 cache and the TLB.

use super::digits::{Recoded, Window};
use super::kernel::{Leaf, NEGATIVE};
use crate::memory;

/// Bits of a bucket's number within its group.
const LOW_BITS: u32 = 8;
const GROUP: usize = 1 << LOW_BITS;

/// Bits of a term's number, below the sign and the low bits of its bucket.
const TERM_BITS: u32 = 31 - LOW_BITS;

/// Magnitudes of digits that have a bucket: `low + 1 ..= low + count`.
#[derive(Clone, Copy)]
pub(super) struct Buckets {
    pub(super) low: usize,
    pub(super) count: usize,
}

/// Terms by group, in no order within one; to be used again and again.
#[derive(Default)]
pub(super) struct Sorted {
    /// Bucket and sign of every term.
    keys: Vec<u32>,
    /// Low bits of the bucket, sign, term; beyond those that have a bucket, the others.
    entries: Vec<u32>,
    /// Where each group begins, and the end.
    starts: Vec<u32>,
}

impl Sorted {
    /// Sorts by the digits of one window.
    ///
    /// # Panics
    /// Beyond 2^23 terms.
    pub(super) fn fill(&mut self, recoded: &[Recoded], window: Window, buckets: Buckets) {
        let Sorted {
            keys,
            entries,
            starts,
        } = self;
        assert!(recoded.len() <= 1 << TERM_BITS, "too many terms for a sort");
        let groups = buckets.count.div_ceil(GROUP);
        // Terms of no bucket here go to one more group, behind the last; no branch, which would be mispredicted.
        let none = groups << LOW_BITS;
        keys.clear();
        memory::reserve(keys, recoded.len());
        let mut next = vec![0u32; groups + 2];
        keys.extend(recoded.iter().map(|scalar| {
            let (digit, negative) = window.digit(scalar);
            let bucket = (digit as usize).wrapping_sub(buckets.low + 1);
            let outside = usize::from(bucket >= buckets.count).wrapping_neg();
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

    /// Number of terms that have a bucket.
    pub(super) fn len(&self) -> usize {
        self.starts.last().map_or(0, |end| *end as usize)
    }

    /// Hands out the buckets that are not empty, in order.
    pub(super) fn for_each_bucket(&self, mut visit: impl FnMut(u32, &[Leaf])) {
        let mut leaves: Vec<Leaf> = Vec::new();
        for (group, ends) in self.starts.windows(2).enumerate() {
            let entries = &self.entries[ends[0] as usize..ends[1] as usize];
            let low = |entry: u32| (entry >> (TERM_BITS + 1)) as usize;
            let mut next = [0u32; GROUP + 1];
            for entry in entries {
                next[low(*entry) + 1] += 1;
            }
            for bucket in 0..GROUP {
                next[bucket + 1] += next[bucket];
            }
            leaves.resize(entries.len(), 0);
            for &entry in entries {
                let place = &mut next[low(entry)];
                leaves[*place as usize] =
                    entry & ((1 << TERM_BITS) - 1) | entry << LOW_BITS & NEGATIVE;
                *place += 1;
            }
            // Each bucket's place has moved to its end.
            let mut start = 0;
            for (bucket, &end) in next[..GROUP].iter().enumerate() {
                if end > start {
                    let number = (group << LOW_BITS) + bucket;
                    visit(number as u32, &leaves[start as usize..end as usize]);
                }
                start = end;
            }
        }
    }
}
