//! The second pass over a block: its hashes, many at a time.

use super::Isa;
use super::bits::BlockBits;
use super::gadgets::{self, Instance, PathForm, insert, levels, num_picks, truncated};
use super::plan::{Climb, Hash, Jobs, Label, level_bits};
use super::poseidon::Poseidon;
use super::times::timed;
use blstrs::Scalar;
use ff::Field;

/// Paths climbed together: as many as the widest Poseidon kernel takes.
pub(super) const PATHS: usize = 16;

impl Jobs<'_> {
    /// The bits of tree D's hashes.
    pub(super) fn run_nodes(&mut self, isa: Isa, bits: &mut BlockBits<'_>) {
        let slots: Vec<usize> = self.nodes.iter().map(|(slot, _)| *slot).collect();
        let message = |k: usize, j| gadgets::node_block(&self.nodes[k].1, j);
        timed(&mut self.times.tree_d, || {
            gadgets::node().hash_many(isa, bits, &slots, message)
        });
    }

    /// The bits of the labels' hashes, and the labels.
    pub(super) fn run_labels(
        &mut self,
        isa: Isa,
        bits: &mut BlockBits<'_>,
        wide: &mut [Scalar],
    ) -> Vec<Scalar> {
        timed(&mut self.times.labels, || {
            run_labels(&self.labels, isa, bits, wide)
        })
    }

    /// The Poseidon hashes outside of paths, all of one instance; returns the digests.
    pub(super) fn run_hashes(&mut self, isa: Isa, wide: &mut [Scalar]) -> Vec<Scalar> {
        timed(&mut self.times.hashes, || {
            run_hashes(&self.hashes, isa, wide)
        })
    }

    /// The paths in trees C and R.
    pub(super) fn run_climbs(&mut self, isa: Isa, dense: bool, wide: &mut [Scalar]) {
        timed(&mut self.times.paths, || {
            run_climbs(&self.climbs, isa, dense, wide)
        });
    }
}

fn run_labels(
    labels: &[Label],
    isa: Isa,
    bits: &mut BlockBits<'_>,
    wide: &mut [Scalar],
) -> Vec<Scalar> {
    let slots: Vec<usize> = labels.iter().map(|label| label.slot).collect();
    let message = |k: usize, j| labels[k].preimage.block(j);
    let digests = gadgets::label().hash_many(isa, bits, &slots, message);
    let values: Vec<Scalar> = digests.iter().map(truncated).collect();
    for (job, label) in labels.iter().zip(&values) {
        wide[job.rank] = *label;
    }
    values
}

fn run_hashes(hashes: &[Hash], isa: Isa, wide: &mut [Scalar]) -> Vec<Scalar> {
    let Some(first) = hashes.first() else {
        return Vec::new();
    };
    assert!(hashes.iter().all(|hash| hash.instance == first.instance));
    let poseidon = first.instance.poseidon();
    let preimages = hashes.iter().map(|hash| hash.preimage.as_slice());
    let mut outs = carve(
        wide,
        hashes.iter().map(|hash| (hash.rank, poseidon.slots())),
    );
    match first.preimage.len() {
        2 => hash_slices::<2>(poseidon, isa, preimages, &mut outs),
        11 => hash_slices::<11>(poseidon, isa, preimages, &mut outs),
        other => unreachable!("no hash of {other} elements outside of paths"),
    }
    outs.iter().map(|out| out[poseidon.slots() - 1]).collect()
}

fn run_climbs(climbs: &[Climb<'_>], isa: Isa, dense: bool, wide: &mut [Scalar]) {
    let mut outs = carve(
        wide,
        climbs.iter().map(|climb| (climb.rank, climb.wide(dense))),
    );
    for (climbs, outs) in climbs.chunks(PATHS).zip(outs.chunks_mut(PATHS)) {
        climb_group(isa, dense, climbs, outs);
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
fn carve(slice: &mut [Scalar], parts: impl Iterator<Item = (usize, usize)>) -> Vec<&mut [Scalar]> {
    let (mut rest, mut at) = (slice, 0);
    parts
        .map(|(start, length)| {
            take(&mut rest, start - at);
            at = start + length;
            take(&mut rest, length)
        })
        .collect()
}
