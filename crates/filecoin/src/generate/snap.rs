//! The circuit of an empty sector update: a long prologue and one block a challenge.
//!
//! Source of the order: `storage_proofs_update::{circuit, gadgets}`.

use super::circuit::{Circuit, ShapeError, check_path};
use super::gadgets::{Instance, PathForm, climb_tree_d, element_bits, tree_d_node, words};
use super::jobs::PATHS;
use super::plan::Plan;
use super::sink::{End, Sink, Target};
use super::{GadgetTimes, Isa};
use crate::kind::SectorSize;
use crate::merkle::{Inclusion, Path, TreeShape};
use crate::registered;
use crate::snap::{self, Challenge, SnapDeals, challenges_per_partition};
use blstrs::Scalar;
use ff::{Field, PrimeField};
use std::ops::Range;
use storage_proofs_update::constants::{apex_leaf_count, h_default, hs, partition_count};

/// A partition's native inputs.
pub(super) struct Partition<'i> {
    snap: &'i SnapDeals,
    /// Its number.
    k: usize,
    partition: &'i snap::Partition,
    tree_r: TreeShape,
    /// Bits of a node's index: all, those that number its partition, those that number its apex leaf.
    node_bits: usize,
    partition_bits: usize,
    apex_bits: usize,
    /// The numbers of high bits that the circuit can choose a node's factor by, and the one that is chosen.
    high_bits: [usize; 6],
    chosen: usize,
    /// Challenges of the circuit, which the prologue derives together.
    challenges: usize,
}

/// What the prologue leaves for the challenges.
pub(super) struct Context {
    phi: Scalar,
    /// The challenged nodes.
    nodes: Vec<u64>,
}

impl<'i> Partition<'i> {
    pub(super) fn new(snap: &'i SnapDeals, k: usize) -> Self {
        let nodes = snap.sector_size.nodes() as usize;
        let high_bits = hs(nodes);
        let chosen = high_bits
            .iter()
            .position(|h| *h == h_default(nodes))
            .expect("the default is possible");
        Partition {
            snap,
            k,
            partition: &snap.partitions[k],
            tree_r: TreeShape::octal(snap.sector_size),
            node_bits: nodes.trailing_zeros() as usize,
            partition_bits: partition_count(nodes).trailing_zeros() as usize,
            apex_bits: apex_leaf_count(nodes).trailing_zeros() as usize,
            high_bits,
            chosen,
            challenges: challenges_per_partition(snap.sector_size),
        }
    }

    /// The upper end of every path in tree D, from the partition's apex to the root.
    fn partition_path(&self) -> &'i [Scalar] {
        &self.partition.challenges[0].data.path.siblings[self.node_bits - self.partition_bits..]
    }

    /// The tree over the apex leaves, and its root's path in tree D.
    fn apex_tree(&self, out: &mut impl Sink<'i>) {
        let mut row = self.partition.apex_leaves.clone();
        for level in 0..self.apex_bits {
            out.gadget("apex tree row", level);
            row = row
                .chunks_exact(2)
                .map(|pair| tree_d_node(out, [pair[0], pair[1]]))
                .collect();
        }
        out.gadget("partition path", 0);
        climb_tree_d(
            out,
            PathForm::Given,
            row[0],
            self.k as u64,
            self.partition_path(),
        );
    }

    /// Nodes drawn from the new CommR: as many from each digest as it has bits for.
    fn challenged_nodes(&self, out: &mut impl Sink<'i>) -> Vec<u64> {
        let bits = self.node_bits - self.partition_bits;
        let per_digest = Scalar::CAPACITY as usize / bits;
        let digests = self.challenges.div_ceil(per_digest);
        let mut nodes = Vec::with_capacity(self.challenges);
        for j in 0..digests {
            out.gadget("challenge digest", j);
            let index = Scalar::from((self.k * digests + j) as u64);
            out.small_number(index);
            let digest = out.poseidon(Instance::Randomness, &[self.snap.comm_r_new, index]);
            element_bits(out, &words(&digest));
            let bytes = digest.to_repr();
            let bit = |i: usize| u64::from(bytes[i / 8] >> (i % 8) & 1);
            for c in 0..per_digest.min(self.challenges - nodes.len()) {
                let low = (0..bits).fold(0, |node, i| node | bit(c * bits + i) << i);
                nodes.push(low | (self.k as u64) << bits);
            }
        }
        nodes
    }

    /// The high bits of a node that its factor is drawn from: for each possible number of them, then the chosen ones.
    fn chosen_high_bits(&self, out: &mut impl Sink<'i>, node: u64) -> Scalar {
        let high = |h: usize| Scalar::from(node >> (self.node_bits - h));
        for (i, h) in self.high_bits.into_iter().enumerate() {
            out.small_number(high(h));
            out.small_number(if i == self.chosen {
                high(h)
            } else {
                Scalar::ZERO
            });
        }
        let chosen = high(self.high_bits[self.chosen]);
        out.small_number(chosen);
        chosen
    }

    /// A path in tree R whose siblings are allocated first.
    fn replica_path(&self, out: &mut impl Sink<'i>, leaf: Scalar, node: u64, path: &'i Path) {
        path.siblings
            .iter()
            .for_each(|sibling| out.number(*sibling));
        out.climb(&self.tree_r, PathForm::Given, leaf, node, &path.siblings);
    }
}

impl<'i> Circuit<'i> for Partition<'i> {
    type Context = Context;

    fn blocks(&self) -> usize {
        self.partition.challenges.len()
    }

    /// Two paths in tree R each.
    fn group(&self) -> usize {
        PATHS / 2
    }

    fn check(&self) -> Result<(), ShapeError> {
        let tree_d = TreeShape::binary(self.snap.sector_size);
        ShapeError::check(
            "apex leaves",
            self.partition.apex_leaves.len(),
            1 << self.apex_bits,
        )?;
        ShapeError::check(
            "challenges",
            self.partition.challenges.len(),
            self.challenges,
        )?;
        for challenge in &self.partition.challenges {
            check_path("path in the old tree R", &challenge.old.path, &self.tree_r)?;
            check_path("path in the new tree R", &challenge.new.path, &self.tree_r)?;
            check_path("path in tree D", &challenge.data.path, &tree_d)?;
        }
        Ok(())
    }

    fn prologue(&self, out: &mut impl Sink<'i>) -> Context {
        let (snap, partition) = (self.snap, self.partition);
        out.gadget("public input", 0);
        let k_and_h = self.k as u64 | 1 << (self.partition_bits + self.chosen);
        out.number(Scalar::from(k_and_h));
        out.input(Scalar::from(k_and_h));
        out.bits(k_and_h, (self.partition_bits + self.high_bits.len()) as u32);
        out.small_number(Scalar::from(self.k as u64));
        for value in [snap.comm_r_old, snap.comm_d_new, snap.comm_r_new] {
            out.number(value);
            out.input(value);
        }
        out.gadget("phi", 0);
        let phi = out.poseidon(Instance::Randomness, &[snap.comm_d_new, snap.comm_r_old]);

        out.gadget("private input", 0);
        let roots = [partition.comm_c, partition.root_r_old, partition.root_r_new];
        roots
            .iter()
            .chain(&partition.apex_leaves)
            .chain(self.partition_path())
            .for_each(|v| out.number(*v));
        out.gadget("commitment", 0);
        out.poseidon(Instance::Two, &[partition.comm_c, partition.root_r_old]);
        out.poseidon(Instance::Two, &[partition.comm_c, partition.root_r_new]);
        self.apex_tree(out);
        Context {
            phi,
            nodes: self.challenged_nodes(out),
        }
    }

    fn block(&self, context: &Context, k: usize, out: &mut impl Sink<'i>) {
        let Challenge { old, data, new, .. } = &self.partition.challenges[k];
        let node = context.nodes[k];
        out.gadget("factor", 0);
        let chosen = self.chosen_high_bits(out, node);
        let rho = out.poseidon(Instance::Randomness, &[context.phi, chosen]);

        out.gadget("encoding", 0);
        let scaled = data.leaf * rho;
        let encoded = old.leaf + scaled;
        for value in [old.leaf, data.leaf, scaled, encoded] {
            out.number(value);
        }
        out.gadget("old replica path", 0);
        self.replica_path(out, old.leaf, node, &old.path);
        out.gadget("new replica path", 0);
        self.replica_path(out, encoded, node, &new.path);

        out.gadget("apex leaf", 0);
        let low_bits = self.node_bits - self.partition_bits - self.apex_bits;
        select(
            out,
            &self.partition.apex_leaves,
            node >> low_bits,
            self.apex_bits,
        );
        out.gadget("data path", 0);
        let siblings = &data.path.siblings[..low_bits];
        siblings.iter().for_each(|sibling| out.number(*sibling));
        climb_tree_d(out, PathForm::Given, data.leaf, node, siblings);
    }

    fn write(
        &self,
        context: &Context,
        blocks: Range<usize>,
        target: &mut Target<'_>,
        isa: Isa,
    ) -> (End, GadgetTimes) {
        let mut plan = Plan::new(target.cursor());
        for k in blocks.clone() {
            self.block(context, k, &mut plan);
        }
        let (end, mut jobs) = plan.close();
        jobs.run_nodes(isa, target.bits.as_mut().expect("bound to a packed layout"));
        let factors = jobs.run_hashes(isa, target.wide);
        for ((k, rho), paths) in blocks.zip(factors).zip(jobs.climbs.chunks_exact_mut(2)) {
            let Challenge { old, data, .. } = &self.partition.challenges[k];
            let scaled = data.leaf * rho;
            let encoded = old.leaf + scaled;
            // Both stand before the siblings of the old path.
            let at = paths[0].rank - old.path.siblings.len() - 2;
            target.wide[at..at + 2].copy_from_slice(&[scaled, encoded]);
            paths[1].leaf = encoded;
        }
        jobs.run_climbs(isa, false, target.wide);
        (end, jobs.times)
    }
}

/// Selects one of `from` by the low bits of `index`, the highest bit first.
fn select<'i>(out: &mut impl Sink<'i>, from: &[Scalar], index: u64, bits: usize) {
    let mut left = from.to_vec();
    for bit in (0..bits).rev() {
        let (lower, upper) = left.split_at(left.len() / 2);
        left = if index >> bit & 1 == 1 {
            upper.to_vec()
        } else {
            lower.to_vec()
        };
        left.iter().for_each(|value| out.number(*value));
    }
}

/// A statement of zeros with one partition.
pub(super) fn blank(size: SectorSize) -> SnapDeals {
    let zero = Scalar::default();
    let inclusion = |shape: TreeShape| Inclusion {
        leaf: zero,
        path: Path {
            positions: vec![0; shape.levels()],
            siblings: vec![zero; shape.siblings()],
        },
    };
    let octal = || inclusion(TreeShape::octal(size));
    let challenge = Challenge {
        node: 0,
        old: octal(),
        data: inclusion(TreeShape::binary(size)),
        new: octal(),
    };
    SnapDeals {
        registered: registered::update(size as u64).expect("every size has an update proof"),
        sector_size: size,
        comm_r_old: zero,
        comm_r_new: zero,
        comm_d_new: zero,
        partitions: vec![snap::Partition {
            comm_c: zero,
            root_r_old: zero,
            root_r_new: zero,
            apex_leaves: vec![zero; apex_leaf_count(size.nodes() as usize)],
            challenges: vec![challenge; challenges_per_partition(size)],
        }],
    }
}
