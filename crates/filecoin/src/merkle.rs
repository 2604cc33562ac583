//! Merkle trees over a sector's nodes: the shape of the trees, authentication paths, and their check.
//!
//! Tree D (data) is binary with SHA-256; trees C (columns) and R (replica) have arity 8 with Poseidon, and at 32 and
//! 64 GiB join eight such trees under one more node, at 64 GiB two of those under another.

use crate::generate::poseidon_digests;
use crate::kind::SectorSize;
use blstrs::Scalar;
use ff::PrimeField;
use filecoin_hashers::{POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8, POSEIDON_CONSTANTS_11};
use neptune::poseidon::Poseidon;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// From the leaf upwards: where each node stands among its siblings, and the siblings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Position of the path's node among the children of its parent, one a level.
    pub positions: Vec<u8>,
    /// The other children, `arity − 1` a level, in order.
    pub siblings: Vec<Scalar>,
}

/// A leaf and its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inclusion {
    /// The leaf.
    pub leaf: Scalar,
    /// The path from the leaf to the root.
    pub path: Path,
}

/// Arities of a tree's levels, from the leaves upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Arity of the base levels.
    pub base_arity: usize,
    /// Number of base levels.
    pub base_levels: usize,
    /// Arity of the level above the base trees; 0 when there is none.
    pub sub_arity: usize,
    /// Arity of the level above that; 0 when there is none.
    pub top_arity: usize,
}

impl TreeShape {
    /// Tree D.
    pub fn binary(size: SectorSize) -> Self {
        Self {
            base_arity: 2,
            base_levels: size.nodes().trailing_zeros() as usize,
            sub_arity: 0,
            top_arity: 0,
        }
    }

    /// Trees C and R.
    pub fn octal(size: SectorSize) -> Self {
        let (base_levels, sub_arity, top_arity) = match size {
            SectorSize::S2KiB => (2, 0, 0),
            SectorSize::S8MiB => (6, 0, 0),
            SectorSize::S512MiB => (8, 0, 0),
            SectorSize::S32GiB => (9, 8, 0),
            SectorSize::S64GiB => (9, 8, 2),
        };
        Self {
            base_arity: 8,
            base_levels,
            sub_arity,
            top_arity,
        }
    }

    /// The arities, leaf level first.
    pub fn arities(&self) -> impl DoubleEndedIterator<Item = usize> + Clone + use<> {
        let upper = [self.sub_arity, self.top_arity];
        std::iter::repeat_n(self.base_arity, self.base_levels)
            .chain(upper)
            .filter(|arity| *arity > 0)
    }

    /// Number of levels above the leaves.
    pub fn levels(&self) -> usize {
        self.arities().count()
    }

    /// Number of siblings on a path.
    pub fn siblings(&self) -> usize {
        self.arities().map(|arity| arity - 1).sum()
    }
}

/// The hash of a tree's inner nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeHash {
    /// SHA-256 of two nodes, the two top bits of the last byte cleared.
    Sha256,
    /// Poseidon of two or eight nodes.
    Poseidon,
}

impl NodeHash {
    /// The parent of these nodes.
    pub fn parent(self, children: &[Scalar]) -> Scalar {
        match self {
            Self::Poseidon => poseidon(children),
            Self::Sha256 => {
                let mut hash = Sha256::new();
                for child in children {
                    hash.update(child.to_repr());
                }
                truncated(hash)
            }
        }
    }
}

impl NodeHash {
    /// The parents of many families, on all threads.
    fn parents<const ARITY: usize>(self, families: &[[Scalar; ARITY]]) -> Vec<Scalar> {
        match self {
            Self::Poseidon => poseidon_many(families),
            Self::Sha256 => {
                let families = families.par_iter().with_min_len(TOGETHER);
                families.map(|family| self.parent(family)).collect()
            }
        }
    }
}

impl Path {
    /// Index of the leaf: the positions are its digits, the lowest first.
    pub fn index(&self, shape: &TreeShape) -> u64 {
        let (mut index, mut weight) = (0, 1);
        for (digit, base) in self.positions.iter().zip(shape.arities()) {
            index += weight * u64::from(*digit);
            weight *= base as u64;
        }
        index
    }

    /// The root that this path leads to from `leaf`.
    ///
    /// The path must have the levels of `shape`, which decoding sees to.
    pub fn root(&self, leaf: Scalar, shape: &TreeShape, hash: NodeHash) -> Scalar {
        let mut node = leaf;
        let mut siblings = self.siblings.as_slice();
        let mut children = [Scalar::default(); 8];
        for (position, arity) in self.positions.iter().zip(shape.arities()) {
            let (level, rest) = siblings.split_at(arity - 1);
            let at = usize::from(*position);
            children[..at].copy_from_slice(&level[..at]);
            children[at] = node;
            children[at + 1..arity].copy_from_slice(&level[at..]);
            node = hash.parent(&children[..arity]);
            siblings = rest;
        }
        node
    }
}

/// A leaf and its path in one of several trees of a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'p> {
    /// Number of the tree.
    pub(crate) tree: usize,
    pub(crate) leaf: Scalar,
    pub(crate) path: &'p Path,
}

/// The roots that paths lead to from their leaves, all of one shape.
///
/// The hashes of a level do not depend on each other and are done together. Where paths of a tree have met, what is above
/// is hashed once: of a PoRep's 28,800 hashes in trees C and R a third is left out.
pub(crate) fn roots(starts: &[Start<'_>], shape: &TreeShape, hash: NodeHash) -> Vec<Scalar> {
    let mut nodes: Vec<Scalar> = starts.iter().map(|start| start.leaf).collect();
    let mut places: Vec<u64> = starts.iter().map(|s| s.path.index(shape)).collect();
    let mut first = 0;
    for (level, arity) in shape.arities().enumerate() {
        places.iter_mut().for_each(|place| *place /= arity as u64);
        nodes = match arity {
            2 => parents::<2>(starts, &nodes, &places, (level, first), hash),
            8 => parents::<8>(starts, &nodes, &places, (level, first), hash),
            other => unreachable!("no tree has arity {other}"),
        };
        first += arity - 1;
    }
    nodes
}

/// The parents of nodes, which stand at `places`, in a level whose siblings start at `first`.
fn parents<const ARITY: usize>(
    starts: &[Start<'_>],
    nodes: &[Scalar],
    places: &[u64],
    (level, first): (usize, usize),
    hash: NodeHash,
) -> Vec<Scalar> {
    let mut families = Vec::with_capacity(starts.len());
    let mut met = HashMap::with_capacity(starts.len());
    let mut family_of = Vec::with_capacity(starts.len());
    for ((start, node), place) in starts.iter().zip(nodes).zip(places) {
        let at = usize::from(start.path.positions[level]);
        let siblings = &start.path.siblings[first..first + ARITY - 1];
        let family: [Scalar; ARITY] = std::array::from_fn(|i| match i {
            i if i < at => siblings[i],
            i if i == at => *node,
            i => siblings[i - 1],
        });
        let new = families.len();
        let known = *met.entry((start.tree, *place)).or_insert(new);
        // Of one place there can be only one true family, but this is what finds that out.
        if known < new && families[known] == family {
            family_of.push(known);
        } else {
            families.push(family);
            family_of.push(new);
        }
    }
    let hashes = hash.parents(&families);
    family_of.into_iter().map(|family| hashes[family]).collect()
}

/// [`poseidon`] of many preimages, in lanes where the processor has them, on all threads.
pub(crate) fn poseidon_many<const ARITY: usize>(preimages: &[[Scalar; ARITY]]) -> Vec<Scalar> {
    preimages
        .par_chunks(TOGETHER)
        .flat_map_iter(poseidon_digests)
        .collect()
}

/// Hashes done together: they fill the lanes of four calls.
const TOGETHER: usize = 64;

/// Poseidon with the constants of the sector's trees and columns: 2, 8 or 11 elements.
pub fn poseidon(preimage: &[Scalar]) -> Scalar {
    match preimage.len() {
        2 => Poseidon::new_with_preimage(preimage, &*POSEIDON_CONSTANTS_2).hash(),
        8 => Poseidon::new_with_preimage(preimage, &*POSEIDON_CONSTANTS_8).hash(),
        11 => Poseidon::new_with_preimage(preimage, &*POSEIDON_CONSTANTS_11).hash(),
        other => unreachable!("no Poseidon instance for {other} elements"),
    }
}

/// The digest as a field element: its two top bits cleared.
pub fn truncated(hash: Sha256) -> Scalar {
    let mut digest: [u8; 32] = hash.finalize().into();
    digest[31] &= 0x3f;
    Option::from(Scalar::from_repr(digest)).expect("254 bits are below the modulus")
}
