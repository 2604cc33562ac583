//! Merkle trees of which only a few leaves are set; the others follow a pattern.

use crate::merkle::{Inclusion, NodeHash, Path, TreeShape};
use blstrs::Scalar;
use std::collections::HashMap;

/// A row of a tree whose nodes repeat: node `i` is `values[(i >> shift) % values.len()]`.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// A power of two of them.
    values: Vec<Scalar>,
    /// Log of the length of a run of equal nodes.
    shift: u32,
}

impl Pattern {
    /// These values over and over.
    pub(super) fn periodic(values: Vec<Scalar>) -> Self {
        Self { values, shift: 0 }
    }

    /// Each value `2^shift` times.
    pub(super) fn runs(values: Vec<Scalar>, shift: u32) -> Self {
        Self { values, shift }
    }

    fn get(&self, i: u64) -> Scalar {
        self.values[(i >> self.shift) as usize % self.values.len()]
    }

    /// The row above.
    fn parents(&self, arity: usize, hash: NodeHash) -> Self {
        let log_arity = arity.trailing_zeros();
        if self.shift >= log_arity {
            let parent = |value: &Scalar| hash.parent(&vec![*value; arity]);
            return Self {
                values: self.values.iter().map(parent).collect(),
                shift: self.shift - log_arity,
            };
        }
        let period = self.values.len() << self.shift;
        let parents = (period / arity).max(1) as u64;
        let arity = arity as u64;
        let parent = |p: u64| {
            let children: Vec<_> = (0..arity).map(|j| self.get(p * arity + j)).collect();
            hash.parent(&children)
        };
        Self::periodic((0..parents).map(parent).collect())
    }
}

/// The rows of a tree that follows its pattern everywhere.
#[derive(Debug)]
pub(super) struct Background {
    shape: TreeShape,
    hash: NodeHash,
    rows: Vec<Pattern>,
}

impl Background {
    pub(super) fn new(shape: TreeShape, hash: NodeHash, leaves: Pattern) -> Self {
        let mut rows = vec![leaves];
        for arity in shape.arities() {
            rows.push(rows[rows.len() - 1].parents(arity, hash));
        }
        Self { shape, hash, rows }
    }

    /// The tree with these leaves in place of the pattern's.
    pub(super) fn with_leaves(&self, leaves: HashMap<u64, Scalar>) -> SparseTree<'_> {
        let mut tree = SparseTree {
            background: self,
            rows: vec![leaves],
        };
        for (level, arity) in self.shape.arities().enumerate() {
            let arity = arity as u64;
            let mut row = HashMap::new();
            for node in tree.rows[level].keys() {
                let parent = node / arity;
                row.entry(parent).or_insert_with(|| {
                    let first = parent * arity;
                    let children: Vec<_> =
                        (first..first + arity).map(|c| tree.get(level, c)).collect();
                    self.hash.parent(&children)
                });
            }
            tree.rows.push(row);
        }
        tree
    }

    /// A node of a tree that follows its pattern everywhere.
    pub(super) fn get(&self, level: usize, node: u64) -> Scalar {
        self.rows[level].get(node)
    }
}

/// A tree with some leaves of its own.
#[derive(Debug)]
pub(super) struct SparseTree<'a> {
    background: &'a Background,
    rows: Vec<HashMap<u64, Scalar>>,
}

impl SparseTree<'_> {
    /// A node, leaves being level 0.
    pub(super) fn get(&self, level: usize, node: u64) -> Scalar {
        let own = self.rows[level].get(&node).copied();
        own.unwrap_or_else(|| self.background.get(level, node))
    }

    pub(super) fn root(&self) -> Scalar {
        self.get(self.background.shape.levels(), 0)
    }

    /// A leaf and its path.
    pub(super) fn inclusion(&self, leaf: u64) -> Inclusion {
        let mut path = Path::default();
        let mut node = leaf;
        for (level, arity) in self.background.shape.arities().enumerate() {
            let arity = arity as u64;
            let first = node / arity * arity;
            path.positions.push((node - first) as u8);
            let siblings = (first..first + arity).filter(|c| *c != node);
            path.siblings.extend(siblings.map(|c| self.get(level, c)));
            node /= arity;
        }
        Inclusion {
            leaf: self.get(0, leaf),
            path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::SectorSize;

    /// The root of a tree with all leaves given.
    fn dense_root(mut row: Vec<Scalar>, shape: TreeShape, hash: NodeHash) -> Scalar {
        for arity in shape.arities() {
            row = row.chunks(arity).map(|c| hash.parent(c)).collect();
        }
        assert_eq!(row.len(), 1);
        row[0]
    }

    #[test]
    fn sparse_trees_are_trees() {
        let size = SectorSize::S2KiB;
        let value = |i: usize| Scalar::from(1000 + i as u64);
        let patterns = [
            Pattern::periodic(vec![value(0)]),
            Pattern::periodic((0..4).map(value).collect()),
            Pattern::periodic((0..64).map(value).collect()),
            Pattern::runs((0..2).map(value).collect(), 5),
            Pattern::runs((0..32).map(value).collect(), 1),
            Pattern::runs((0..8).map(value).collect(), 3),
        ];
        for (shape, hash) in [
            (TreeShape::binary(size), NodeHash::Sha256),
            (TreeShape::octal(size), NodeHash::Poseidon),
        ] {
            for pattern in &patterns {
                let mut leaves: Vec<_> = (0..64).map(|i| pattern.get(i)).collect();
                let background = Background::new(shape, hash, pattern.clone());
                let plain = background.with_leaves(HashMap::new());
                assert_eq!(plain.root(), dense_root(leaves.clone(), shape, hash));
                let own = HashMap::from([(3, value(90)), (17, value(91)), (18, value(92))]);
                for (i, leaf) in &own {
                    leaves[*i as usize] = *leaf;
                }
                let tree = background.with_leaves(own);
                let root = tree.root();
                assert_eq!(root, dense_root(leaves.clone(), shape, hash));
                for i in [0, 3, 17, 40, 63] {
                    let inclusion = tree.inclusion(i);
                    assert_eq!(inclusion.leaf, leaves[i as usize]);
                    assert_eq!(inclusion.path.index(&shape), i);
                    assert_eq!(inclusion.path.root(inclusion.leaf, &shape, hash), root);
                }
            }
        }
    }
}
