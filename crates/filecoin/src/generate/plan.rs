//! A block written in two passes: first everything but the hashes, then the hashes, many at a time.
//!
//! Every position is known before a value is, so the order of work is free.

use super::Isa;
use super::bits::{BitSink, BlockBits};
use super::gadgets::{
    self, Instance, LabelPreimage, PathForm, Words, helper_bits, insert, levels, num_picks,
    truncated,
};
use super::poseidon::Poseidon;
use super::sha256::Digest;
use super::sink::{Cursor, End, Sink};
use crate::merkle::TreeShape;
use blstrs::Scalar;
use ff::Field;
use sha2::{Digest as _, Sha256};

/// Paths climbed together: as many as the widest Poseidon kernel takes.
pub(super) const PATHS: usize = 16;

/// Writes what is not a hash, and notes where the hashes go.
pub(super) struct Plan<'t, 'a, 'i> {
    cursor: Cursor<'t, 'a>,
    jobs: Jobs<'i>,
}

/// The hashes of a block. Ranks count the wide variables from the block's start.
#[derive(Default)]
pub(super) struct Jobs<'i> {
    nodes: Vec<(usize, [Words; 2])>,
    pub(super) labels: Vec<Label>,
    pub(super) hashes: Vec<Hash>,
    pub(super) climbs: Vec<Climb<'i>>,
}

/// A label: slot of its hash's first bit, rank of the label itself.
pub(super) struct Label {
    slot: usize,
    pub(super) rank: usize,
    preimage: LabelPreimage,
}

/// A Poseidon hash that is not part of a path.
pub(super) struct Hash {
    rank: usize,
    instance: Instance,
    pub(super) preimage: Vec<Scalar>,
}

/// A path in tree C or R.
pub(super) struct Climb<'i> {
    /// Rank of its first wide variable.
    pub(super) rank: usize,
    shape: TreeShape,
    form: PathForm,
    pub(super) leaf: Scalar,
    index: u64,
    siblings: &'i [Scalar],
}

impl<'t, 'a, 'i> Plan<'t, 'a, 'i> {
    pub(super) fn new(cursor: Cursor<'t, 'a>) -> Self {
        Plan {
            cursor,
            jobs: Jobs::default(),
        }
    }

    pub(super) fn close(self) -> (End, Jobs<'i>) {
        (self.cursor.close(), self.jobs)
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
fn level_bits(form: PathForm, arity: usize, position: u64) -> impl Iterator<Item = (u64, u32)> {
    let own = (form == PathForm::Allocating).then_some((position, arity.trailing_zeros()));
    own.into_iter()
        .chain(helper_bits(arity, position).map(|bits| (bits, 2)))
}

impl Jobs<'_> {
    /// The bits of tree D's hashes.
    pub(super) fn run_nodes(&self, isa: Isa, bits: &mut BlockBits<'_>) {
        let slots: Vec<usize> = self.nodes.iter().map(|(slot, _)| *slot).collect();
        gadgets::node().hash_many(isa, bits, &slots, |k, j| {
            gadgets::node_block(&self.nodes[k].1, j)
        });
    }

    /// The bits of the labels' hashes, and the labels.
    pub(super) fn run_labels(
        &self,
        isa: Isa,
        bits: &mut BlockBits<'_>,
        wide: &mut [Scalar],
    ) -> Vec<Scalar> {
        let slots: Vec<usize> = self.labels.iter().map(|label| label.slot).collect();
        let message = |k: usize, j| self.labels[k].preimage.block(j);
        let digests = gadgets::label().hash_many(isa, bits, &slots, message);
        let labels: Vec<Scalar> = digests.iter().map(truncated).collect();
        for (job, label) in self.labels.iter().zip(&labels) {
            wide[job.rank] = *label;
        }
        labels
    }

    /// The Poseidon hashes outside of paths, all of one instance; returns the digests.
    pub(super) fn run_hashes(&self, isa: Isa, wide: &mut [Scalar]) -> Vec<Scalar> {
        let Some(first) = self.hashes.first() else {
            return Vec::new();
        };
        assert!(
            self.hashes
                .iter()
                .all(|hash| hash.instance == first.instance)
        );
        let poseidon = first.instance.poseidon();
        let preimages = self.hashes.iter().map(|hash| hash.preimage.as_slice());
        let mut outs = carve(
            wide,
            self.hashes.iter().map(|hash| (hash.rank, poseidon.slots())),
        );
        match first.preimage.len() {
            2 => hash_slices::<2>(poseidon, isa, preimages, &mut outs),
            11 => hash_slices::<11>(poseidon, isa, preimages, &mut outs),
            other => unreachable!("no hash of {other} elements outside of paths"),
        }
        outs.iter().map(|out| out[poseidon.slots() - 1]).collect()
    }

    /// The paths in trees C and R.
    pub(super) fn run_climbs(&self, isa: Isa, dense: bool, wide: &mut [Scalar]) {
        let outs = self
            .climbs
            .iter()
            .map(|climb| (climb.rank, climb.wide(dense)));
        let mut outs = carve(wide, outs);
        for (climbs, outs) in self.climbs.chunks(PATHS).zip(outs.chunks_mut(PATHS)) {
            climb_group(isa, dense, climbs, outs);
        }
    }
}

impl Climb<'_> {
    /// Wide variables of the path.
    fn wide(&self, dense: bool) -> usize {
        let level = |(arity, position, siblings): (usize, u64, &[Scalar])| {
            let bits: u32 = level_bits(self.form, arity, position)
                .map(|(_, count)| count)
                .sum();
            let own = if self.form == PathForm::Allocating {
                siblings.len()
            } else {
                0
            };
            let bits = if dense { bits as usize } else { 0 };
            bits + own + num_picks(arity) + Instance::of_arity(arity).poseidon().slots()
        };
        levels(&self.shape, self.index, self.siblings)
            .map(level)
            .sum()
    }
}

/// Paths of one shape, level by level.
fn climb_group(isa: Isa, dense: bool, climbs: &[Climb<'_>], outs: &mut [&mut [Scalar]]) {
    let shape = climbs[0].shape;
    assert!(climbs.iter().all(|climb| climb.shape == shape));
    let mut paths: Vec<_> = climbs
        .iter()
        .map(|c| levels(&c.shape, c.index, c.siblings))
        .collect();
    let mut nodes: Vec<Scalar> = climbs.iter().map(|climb| climb.leaf).collect();
    for arity in shape.arities() {
        let instance = Instance::of_arity(arity);
        let hash_slots = instance.poseidon().slots();
        let mut children = Vec::with_capacity(climbs.len());
        let mut hashes = Vec::with_capacity(climbs.len());
        for (((path, climb), node), out) in paths.iter_mut().zip(climbs).zip(&nodes).zip(&mut *outs)
        {
            let (_, position, siblings) = path.next().expect("all paths have the shape's levels");
            let mut bits = level_bits(climb.form, arity, position);
            if climb.form == PathForm::Allocating {
                let (value, count) = bits.next().expect("a position");
                if dense {
                    write_bits(take(out, count as usize), value);
                }
                take(out, siblings.len()).copy_from_slice(siblings);
            }
            if dense {
                bits.for_each(|(value, count)| write_bits(take(out, count as usize), value));
            }
            children.push(insert(
                arity,
                position,
                *node,
                siblings,
                take(out, num_picks(arity)),
            ));
            hashes.push(take(out, hash_slots));
        }
        let preimages = children.iter().map(|children| &children[..arity]);
        match arity {
            2 => hash_slices::<2>(instance.poseidon(), isa, preimages, &mut hashes),
            _ => hash_slices::<8>(instance.poseidon(), isa, preimages, &mut hashes),
        }
        nodes
            .iter_mut()
            .zip(&hashes)
            .for_each(|(node, hash)| *node = hash[hash_slots - 1]);
    }
}

fn hash_slices<'p, const ARITY: usize>(
    poseidon: &Poseidon,
    isa: Isa,
    preimages: impl Iterator<Item = &'p [Scalar]>,
    outs: &mut [&mut [Scalar]],
) {
    let preimages: Vec<[Scalar; ARITY]> = preimages
        .map(|p| p.try_into().expect("the arity"))
        .collect();
    poseidon.hash_many(isa, &preimages, outs);
}

fn write_bits(slots: &mut [Scalar], value: u64) {
    for (i, slot) in slots.iter_mut().enumerate() {
        *slot = if value >> i & 1 == 1 {
            Scalar::ONE
        } else {
            Scalar::ZERO
        };
    }
}

/// Takes the first `count` values off a slice.
fn take<'s>(slice: &mut &'s mut [Scalar], count: usize) -> &'s mut [Scalar] {
    let (taken, rest) = std::mem::take(slice).split_at_mut(count);
    *slice = rest;
    taken
}

/// Disjoint parts of a slice, given by start and length in ascending order.
fn carve<'s>(
    slice: &'s mut [Scalar],
    parts: impl Iterator<Item = (usize, usize)>,
) -> Vec<&'s mut [Scalar]> {
    let (mut rest, mut at) = (slice, 0);
    parts
        .map(|(start, length)| {
            take(&mut rest, start - at);
            at = start + length;
            take(&mut rest, length)
        })
        .collect()
}
