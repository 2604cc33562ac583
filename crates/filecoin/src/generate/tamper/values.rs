//! Every value of a statement's native inputs, with its place.
//!
//! The structures are taken apart field by field, so that a new field does not compile until it is told what it is.

use crate::kind::ProofKind;
use crate::merkle::{Inclusion, Path, TreeShape};
use crate::porep::{self, Column, PoRep};
use crate::post::{self, PoSt};
use crate::snap::{self, SnapDeals};
use crate::statement::Inputs;
use blstrs::Scalar;
use ff::PrimeField;

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The field.
    pub(super) name: &'static str,
    /// The block that it belongs to; the first of those of a value that several share.
    pub(super) block: usize,
    /// Which of the field's values.
    pub(super) index: usize,
}

/// Something to change.
#[derive(Debug)]
pub(super) enum Value<'v> {
    Element(&'v mut Scalar),
    /// Place among so many siblings.
    Position(&'v mut u8, usize),
    /// Index of a node.
    Node(&'v mut u64),
}

impl Value<'_> {
    /// Changes one byte, a different one for each `turn`.
    pub(super) fn change(&mut self, turn: usize) {
        let bit = 1 << (turn % 8);
        match self {
            Value::Element(element) => {
                let mut bytes = element.to_repr();
                let byte = turn % bytes.len();
                bytes[byte] ^= bit;
                // Above the modulus no element would be left: the lowest byte changes instead.
                **element = Option::from(Scalar::from_repr(bytes)).unwrap_or_else(|| {
                    bytes[byte] ^= bit;
                    bytes[0] ^= bit;
                    Scalar::from_repr(bytes).expect("the modulus does not end in the lowest byte")
                });
            }
            Value::Position(position, arity) => {
                **position ^= 1 << (turn % arity.trailing_zeros() as usize);
            }
            Value::Node(node) => **node ^= u64::from(bit) << (8 * (turn % 8)),
        }
    }
}

/// Collects values.
#[derive(Default)]
struct Walk<'v> {
    values: Vec<(Place, Value<'v>)>,
    block: usize,
}

/// All values of the only partition, or of the first one, in the order of the circuit.
pub(super) fn values(inputs: &mut Inputs) -> Vec<(Place, Value<'_>)> {
    let mut walk = Walk::default();
    match inputs {
        Inputs::PoRep(porep) => walk.porep(porep),
        Inputs::SnapDeals(snap) => walk.snap(snap),
        Inputs::PoSt(post) => walk.post(post),
    }
    walk.values
}

impl<'v> Walk<'v> {
    fn push(&mut self, name: &'static str, values: impl IntoIterator<Item = Value<'v>>) {
        let block = self.block;
        let place = |index| Place { name, block, index };
        let values = values.into_iter().enumerate();
        self.values
            .extend(values.map(|(i, value)| (place(i), value)));
    }

    fn element(&mut self, name: &'static str, element: &'v mut Scalar) {
        self.push(name, [Value::Element(element)]);
    }

    fn elements(&mut self, name: &'static str, elements: &'v mut [Scalar]) {
        self.push(name, elements.iter_mut().map(Value::Element));
    }

    /// Positions and siblings under a name each.
    fn path(&mut self, names: [&'static str; 2], path: &'v mut Path, shape: &TreeShape) {
        let Path {
            positions,
            siblings,
        } = path;
        let positions = positions.iter_mut().zip(shape.arities());
        self.push(
            names[0],
            positions.map(|(at, arity)| Value::Position(at, arity)),
        );
        self.elements(names[1], siblings);
    }

    fn inclusion(
        &mut self,
        [leaf_name, positions, siblings]: [&'static str; 3],
        inclusion: &'v mut Inclusion,
        shape: &TreeShape,
    ) {
        let Inclusion { leaf, path } = inclusion;
        self.element(leaf_name, leaf);
        self.path([positions, siblings], path, shape);
    }

    fn porep(&mut self, porep: &'v mut PoRep) {
        let PoRep {
            sector_size,
            replica_id,
            comm_d,
            comm_r,
            comm_c,
            comm_r_last,
            partitions,
            // Not the circuit's, but what its values are derived from.
            registered: _,
            miner_id: _,
            sector_number: _,
            seed: _,
            ticket: _,
        } = porep;
        self.element("replica id", replica_id);
        self.element("comm_d", comm_d);
        self.element("comm_r", comm_r);
        self.element("comm_c", comm_c);
        self.element("comm_r_last", comm_r_last);
        let (binary, octal) = (
            TreeShape::binary(*sector_size),
            TreeShape::octal(*sector_size),
        );
        for (k, challenge) in partitions[0].iter_mut().enumerate() {
            self.block = k;
            let porep::Challenge {
                node,
                data,
                replica,
                column,
                parents,
            } = challenge;
            self.inclusion(["data", "data position", "data sibling"], data, &binary);
            for Column { labels, path } in parents {
                self.elements("parent's label", labels);
                self.path(["parent's position", "parent's sibling"], path, &octal);
            }
            self.push("node", [Value::Node(node)]);
            self.path(["replica position", "replica sibling"], replica, &octal);
            self.path(["column position", "column sibling"], column, &octal);
        }
    }

    fn post(&mut self, post: &'v mut PoSt) {
        let PoSt {
            kind,
            sector_size,
            sectors,
            // Not the circuit's, but what the challenges are drawn from.
            registered: _,
            randomness: _,
            prover_id: _,
            partition_index: _,
        } = post;
        let shape = TreeShape::octal(*sector_size);
        for (k, sector) in sectors.iter_mut().enumerate() {
            let post::Sector {
                number: _,
                comm_r,
                comm_c,
                comm_r_last,
                inclusions,
            } = sector;
            self.block = k;
            self.element("comm_r", comm_r);
            self.element("comm_c", comm_c);
            self.element("comm_r_last", comm_r_last);
            for (n, inclusion) in inclusions.iter_mut().enumerate() {
                if *kind == ProofKind::WinningPoSt {
                    self.block = n;
                }
                self.inclusion(["leaf", "position", "sibling"], inclusion, &shape);
            }
        }
    }

    fn snap(&mut self, snap: &'v mut SnapDeals) {
        let SnapDeals {
            registered: _,
            sector_size,
            comm_r_old,
            comm_r_new,
            comm_d_new,
            partitions,
        } = snap;
        self.element("comm_r_old", comm_r_old);
        self.element("comm_r_new", comm_r_new);
        self.element("comm_d_new", comm_d_new);
        let snap::Partition {
            comm_c,
            root_r_old,
            root_r_new,
            apex_leaves,
            challenges,
        } = &mut partitions[0];
        self.element("comm_c", comm_c);
        self.element("old root", root_r_old);
        self.element("new root", root_r_new);
        self.elements("apex leaf", apex_leaves);
        let (binary, octal) = (
            TreeShape::binary(*sector_size),
            TreeShape::octal(*sector_size),
        );
        for (k, challenge) in challenges.iter_mut().enumerate() {
            self.block = k;
            let snap::Challenge {
                node,
                old,
                data,
                new,
            } = challenge;
            self.push("node", [Value::Node(node)]);
            self.inclusion(["old leaf", "old position", "old sibling"], old, &octal);
            self.inclusion(["new leaf", "new position", "new sibling"], new, &octal);
            self.inclusion(["data", "data position", "data sibling"], data, &binary);
        }
    }
}
