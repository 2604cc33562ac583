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
use sha2::{Digest, Sha256};

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

/// The roots that paths lead to from their leaves, all of one shape. The hashes of a level do not depend on each other
/// and are done together.
pub(crate) fn roots(paths: &[(Scalar, &Path)], shape: &TreeShape, hash: NodeHash) -> Vec<Scalar> {
    if hash == NodeHash::Sha256 {
        return paths
            .iter()
            .map(|(leaf, path)| path.root(*leaf, shape, hash))
            .collect();
    }
    let mut nodes: Vec<Scalar> = paths.iter().map(|(leaf, _)| *leaf).collect();
    let mut first = 0;
    for (level, arity) in shape.arities().enumerate() {
        nodes = match arity {
            2 => poseidon_many(&families::<2>(paths, &nodes, level, first)),
            8 => poseidon_many(&families::<8>(paths, &nodes, level, first)),
            other => unreachable!("no tree has arity {other}"),
        };
        first += arity - 1;
    }
    nodes
}

/// The nodes among their siblings, in a level whose siblings start at `first`.
fn families<const ARITY: usize>(
    paths: &[(Scalar, &Path)],
    nodes: &[Scalar],
    level: usize,
    first: usize,
) -> Vec<[Scalar; ARITY]> {
    let family = |((_, path), node): (&(Scalar, &Path), &Scalar)| {
        let at = usize::from(path.positions[level]);
        let siblings = &path.siblings[first..first + ARITY - 1];
        std::array::from_fn(|i| match i {
            i if i < at => siblings[i],
            i if i == at => *node,
            i => siblings[i - 1],
        })
    };
    paths.iter().zip(nodes).map(family).collect()
}

/// [`poseidon`] of many preimages, in lanes where the processor has them.
pub(crate) fn poseidon_many<const ARITY: usize>(preimages: &[[Scalar; ARITY]]) -> Vec<Scalar> {
    poseidon_digests(preimages)
}

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
