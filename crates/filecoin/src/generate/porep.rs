//! The PoRep circuit: a prologue and one block a challenge.
//!
//! Source of the order: `storage_proofs_porep::stacked::circuit` and the gadgets that it uses.

use super::bits::BlockBits;
use super::circuit::{Circuit, ShapeError, check_path};
use super::gadgets::{
    Instance, LabelPreimage, PathForm, Words, climb_tree_d, element_bits, truncated, words,
};
use super::plan::Plan;
use super::sink::{End, Sink, Target};
use super::{GadgetTimes, Isa};
use crate::kind::SectorSize;
use crate::merkle::{Inclusion, Path, TreeShape};
use crate::porep::{Challenge, Column, DRG_PARENTS, EXPANDER_PARENTS, PoRep};
use blstrs::Scalar;
use std::ops::Range;

/// A partition's native inputs.
pub(super) struct Partition<'i> {
    porep: &'i PoRep,
    challenges: &'i [Challenge],
    replica_id: Words,
    tree_d: TreeShape,
    tree_rc: TreeShape,
    layers: usize,
}

impl<'i> Partition<'i> {
    pub(super) fn new(porep: &'i PoRep, k: usize) -> Self {
        Partition {
            porep,
            challenges: &porep.partitions[k],
            replica_id: words(&porep.replica_id),
            tree_d: TreeShape::binary(porep.sector_size),
            tree_rc: TreeShape::octal(porep.sector_size),
            layers: porep.layers(),
        }
    }

    /// Column hashes are of arity 2 at the small sizes.
    fn column_hash(&self) -> Instance {
        if self.layers == 2 {
            Instance::Two
        } else {
            Instance::Eleven
        }
    }

    fn inclusion(&self, out: &mut impl Sink<'i>, leaf: Scalar, path: &'i Path) {
        let index = path.index(&self.tree_rc);
        out.climb(
            &self.tree_rc,
            PathForm::Allocating,
            leaf,
            index,
            &path.siblings,
        );
        out.input(Scalar::from(index));
    }

    /// The labels, from the parents' bits.
    fn labels(&self, out: &mut impl Sink<'i>, challenge: &Challenge) -> Vec<Scalar> {
        let columns: Vec<Vec<Words>> = challenge
            .parents
            .iter()
            .map(|parent| parent.labels.iter().map(words).collect())
            .collect();
        let (drg, expander) = columns.split_at(DRG_PARENTS);
        let label = |layer: usize| {
            out.gadget("label", layer);
            // Parents in the expander graph belong to the layer below; the first layer has none.
            let mut parents: Vec<Words> = drg.iter().map(|column| column[layer - 1]).collect();
            if layer > 1 {
                parents.extend(expander.iter().map(|column| column[layer - 2]));
            }
            parents.iter().for_each(|parent| element_bits(out, parent));
            let preimage = LabelPreimage {
                replica_id: self.replica_id,
                layer: layer as u32,
                node: challenge.node,
                parents,
            };
            let label = truncated(&out.label(preimage));
            out.number(label);
            label
        };
        (1..=self.layers).map(label).collect()
    }
}

impl<'i> Circuit<'i> for Partition<'i> {
    type Context = ();

    fn blocks(&self) -> usize {
        self.challenges.len()
    }

    /// Their 22 labels leave fewer lanes idle than twice 11.
    fn group(&self) -> usize {
        2
    }

    fn check(&self) -> Result<(), ShapeError> {
        for challenge in self.challenges {
            check_path("data path", &challenge.data.path, &self.tree_d)?;
            check_path("replica path", &challenge.replica, &self.tree_rc)?;
            check_path("column path", &challenge.column, &self.tree_rc)?;
            let parents = DRG_PARENTS + EXPANDER_PARENTS;
            ShapeError::check("parents", challenge.parents.len(), parents)?;
            for parent in &challenge.parents {
                check_path("parent's path", &parent.path, &self.tree_rc)?;
                ShapeError::check("labels of a parent", parent.labels.len(), self.layers)?;
            }
        }
        Ok(())
    }

    fn prologue(&self, out: &mut impl Sink<'i>) {
        let porep = self.porep;
        out.gadget("commitment", 0);
        out.number(porep.replica_id);
        element_bits(out, &self.replica_id);
        for value in [porep.comm_d, porep.comm_r, porep.comm_r_last, porep.comm_c] {
            out.number(value);
        }
        for value in [porep.replica_id, porep.comm_d, porep.comm_r] {
            out.input(value);
        }
        out.poseidon(Instance::Two, &[porep.comm_c, porep.comm_r_last]);
    }

    fn block(&self, _: &(), k: usize, out: &mut impl Sink<'i>) {
        let challenge = &self.challenges[k];
        let data = &challenge.data;
        out.gadget("data path", 0);
        out.number(data.leaf);
        let index = data.path.index(&self.tree_d);
        climb_tree_d(
            out,
            PathForm::Allocating,
            data.leaf,
            index,
            &data.path.siblings,
        );
        out.input(Scalar::from(index));

        for (i, parent) in challenge.parents.iter().enumerate() {
            out.gadget("parent column", i);
            parent.labels.iter().for_each(|label| out.number(*label));
            let column = out.poseidon(self.column_hash(), &parent.labels);
            self.inclusion(out, column, &parent.path);
        }

        out.gadget("node", 0);
        out.bits(challenge.node, 64);
        out.input(Scalar::from(challenge.node));
        let labels = self.labels(out, challenge);

        out.gadget("replica path", 0);
        let encoded = labels[self.layers - 1] + data.leaf;
        out.number(encoded);
        self.inclusion(out, encoded, &challenge.replica);

        out.gadget("column path", 0);
        let column = out.poseidon(self.column_hash(), &labels);
        self.inclusion(out, column, &challenge.column);
    }

    /// Fourteen parents' columns, the node's own, and its encoded value: sixteen chains of Poseidon.
    fn write(
        &self,
        _: &(),
        blocks: Range<usize>,
        target: &mut Target<'_>,
        isa: Isa,
    ) -> (End, GadgetTimes) {
        let mut plan = Plan::new(target.cursor());
        for k in blocks.clone() {
            self.block(&(), k, &mut plan);
        }
        let (end, mut jobs) = plan.close();
        let bits: &mut BlockBits<'_> = target.bits.as_mut().expect("bound to a packed layout");
        jobs.run_nodes(isa, bits);
        let labels = jobs.run_labels(isa, bits, target.wide);

        let chains = DRG_PARENTS + EXPANDER_PARENTS + 2;
        for (i, (k, labels)) in blocks.zip(labels.chunks_exact(self.layers)).enumerate() {
            // Hashes: parents', own. Paths: parents', replica, own column.
            jobs.hashes[(chains - 1) * i + chains - 2].preimage = labels.to_vec();
            let replica = &mut jobs.climbs[chains * i + chains - 2];
            replica.leaf = labels[self.layers - 1] + self.challenges[k].data.leaf;
            target.wide[replica.rank - 1] = replica.leaf;
        }
        let columns = jobs.run_hashes(isa, target.wide);
        for (climbs, columns) in jobs
            .climbs
            .chunks_exact_mut(chains)
            .zip(columns.chunks_exact(chains - 1))
        {
            let (parents, own) = climbs.split_at_mut(chains - 2);
            parents
                .iter_mut()
                .zip(columns)
                .for_each(|(climb, column)| climb.leaf = *column);
            own[1].leaf = columns[chains - 2];
        }
        jobs.run_climbs(isa, false, target.wide);
        (end, jobs.times)
    }
}

/// A statement of zeros with one challenge.
pub(super) fn blank(size: SectorSize) -> PoRep {
    let path = |shape: TreeShape| Path {
        positions: vec![0; shape.levels()],
        siblings: vec![Scalar::default(); shape.siblings()],
    };
    let octal = || path(TreeShape::octal(size));
    let zero = Scalar::default();
    let mut porep = PoRep {
        registered: crate::registered::seal(size as u64).expect("every size has a V1 seal proof"),
        sector_size: size,
        replica_id: zero,
        comm_d: zero,
        comm_r: zero,
        comm_c: zero,
        comm_r_last: zero,
        seed: [0; 32],
        ticket: [0; 32],
        miner_id: 0,
        sector_number: 0,
        partitions: Vec::new(),
    };
    let column = Column {
        labels: vec![zero; porep.layers()],
        path: octal(),
    };
    porep.partitions.push(vec![Challenge {
        node: 0,
        data: Inclusion {
            leaf: zero,
            path: path(TreeShape::binary(size)),
        },
        replica: octal(),
        column: octal(),
        parents: vec![column; DRG_PARENTS + EXPANDER_PARENTS],
    }]);
    porep
}
