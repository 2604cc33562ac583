//! A block written in two passes: first everything but the hashes, then the hashes, many at a time.
//!
//! Every position is known before a value is, so the order of work is free.

use super::GadgetTimes;
use super::bits::BitSink;
use super::gadgets::{
    self, Instance, LabelPreimage, PathForm, Words, helper_bits, levels, num_picks,
};
use super::sha256::Digest;
use super::sink::{Cursor, End, Sink};
use crate::merkle::TreeShape;
use blstrs::Scalar;
use ff::Field;
use sha2::{Digest as _, Sha256};
use std::time::Instant;

/// Writes what is not a hash, and notes where the hashes go.
pub(super) struct Plan<'t, 'a, 'i> {
    cursor: Cursor<'t, 'a>,
    started: Instant,
    jobs: Jobs<'i>,
}

/// The hashes of a block. Ranks count the wide variables from the block's start.
#[derive(Default)]
pub(super) struct Jobs<'i> {
    pub(super) nodes: Vec<(usize, [Words; 2])>,
    pub(super) labels: Vec<Label>,
    pub(super) hashes: Vec<Hash>,
    pub(super) climbs: Vec<Climb<'i>>,
    pub(super) times: GadgetTimes,
}

/// A label: slot of its hash's first bit, rank of the label itself.
pub(super) struct Label {
    pub(super) slot: usize,
    pub(super) rank: usize,
    pub(super) preimage: LabelPreimage,
}

/// A Poseidon hash that is not part of a path.
pub(super) struct Hash {
    pub(super) rank: usize,
    pub(super) instance: Instance,
    pub(super) preimage: Vec<Scalar>,
}

/// A path in tree C or R.
pub(super) struct Climb<'i> {
    /// Rank of its first wide variable.
    pub(super) rank: usize,
    pub(super) shape: TreeShape,
    pub(super) form: PathForm,
    pub(super) leaf: Scalar,
    pub(super) index: u64,
    pub(super) siblings: &'i [Scalar],
}

impl<'t, 'a, 'i> Plan<'t, 'a, 'i> {
    pub(super) fn new(cursor: Cursor<'t, 'a>) -> Self {
        Plan {
            cursor,
            started: Instant::now(),
            jobs: Jobs::default(),
        }
    }

    pub(super) fn close(self) -> (End, Jobs<'i>) {
        let (end, mut jobs) = (self.cursor.close(), self.jobs);
        jobs.times.values = self.started.elapsed();
        (end, jobs)
    }
}

impl BitSink for Plan<'_, '_, '_> {
    fn bits(&mut self, value: u64, count: u32) {
        self.cursor.bits(value, count);
    }
}

/// Results that are not known before the second pass are zero in the first.
impl<'i> Sink<'i> for Plan<'_, '_, 'i> {
    fn number(&mut self, value: Scalar) {
        self.cursor.number(value);
    }

    fn small_number(&mut self, value: Scalar) {
        self.cursor.small_number(value);
    }

    fn input(&mut self, value: Scalar) {
        self.cursor.input(value);
    }

    fn poseidon(&mut self, instance: Instance, preimage: &[Scalar]) -> Scalar {
        let rank = self.cursor.skip_numbers(instance.poseidon().slots());
        self.jobs.hashes.push(Hash {
            rank,
            instance,
            preimage: preimage.to_vec(),
        });
        Scalar::ZERO
    }

    /// The digest is needed at once, for the next level's bits: computed here without the circuit's intermediates.
    fn node(&mut self, children: &[Words; 2]) -> Digest {
        let slot = self.cursor.skip_bits(gadgets::node().slots());
        self.jobs.nodes.push((slot, *children));
        let mut hash = Sha256::new();
        children
            .iter()
            .flatten()
            .for_each(|word| hash.update(word.to_be_bytes()));
        let digest = hash.finalize();
        std::array::from_fn(|i| {
            u32::from_be_bytes(digest[4 * i..4 * i + 4].try_into().expect("4 bytes"))
        })
    }

    fn label(&mut self, preimage: LabelPreimage) -> Digest {
        let slot = self.cursor.skip_bits(gadgets::label().slots());
        // The label itself is allocated right behind.
        self.jobs.labels.push(Label {
            slot,
            rank: self.cursor.rank(),
            preimage,
        });
        Digest::default()
    }

    fn climb(
        &mut self,
        shape: &TreeShape,
        form: PathForm,
        leaf: Scalar,
        index: u64,
        siblings: &'i [Scalar],
    ) -> Scalar {
        let rank = self.cursor.rank();
        for (arity, position, siblings) in levels(shape, index, siblings) {
            let own = if form == PathForm::Allocating {
                siblings.len()
            } else {
                0
            };
            let after = num_picks(arity) + Instance::of_arity(arity).poseidon().slots();
            if self.cursor.is_dense() {
                let bits = level_bits(form, arity, position)
                    .map(|(_, count)| count as usize)
                    .sum::<usize>();
                self.cursor.skip_numbers(bits + own + after);
                continue;
            }
            let mut bits = level_bits(form, arity, position);
            if form == PathForm::Allocating {
                let (value, count) = bits.next().expect("a position");
                self.cursor.bits(value, count);
                self.cursor.skip_numbers(own);
            }
            bits.for_each(|(value, count)| self.cursor.bits(value, count));
            self.cursor.skip_numbers(after);
        }
        self.jobs.climbs.push(Climb {
            rank,
            shape: *shape,
            form,
            leaf,
            index,
            siblings,
        });
        Scalar::ZERO
    }
}

/// The bits of a level: its position, if the path allocates it, and the two that insertion allocates.
pub(super) fn level_bits(
    form: PathForm,
    arity: usize,
    position: u64,
) -> impl Iterator<Item = (u64, u32)> {
    let own = (form == PathForm::Allocating).then_some((position, arity.trailing_zeros()));
    own.into_iter()
        .chain(helper_bits(arity, position).map(|bits| (bits, 2)))
}
