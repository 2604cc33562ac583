//! Strict readers of the two encodings that vanilla proofs come in. Neither builds an intermediate tree.

pub(crate) mod base64;
pub(crate) mod bincode;
mod bytes32;
pub(crate) mod json;

use crate::generate::element;
use crate::merkle::{Path, Start};
use crate::request::RequestError;
use blstrs::Scalar;
use ff::PrimeField;

/// A Merkle proof as upstream serialises it: leaf, path and the root it claims.
#[derive(Debug, Default)]
pub(crate) struct MerkleProof {
    pub(crate) root: Scalar,
    pub(crate) leaf: Scalar,
    pub(crate) path: Path,
}

impl MerkleProof {
    /// Leaf and path, in a tree of this number.
    pub(crate) fn start(&self, tree: usize) -> Start<'_> {
        Start {
            tree,
            leaf: self.leaf,
            path: &self.path,
        }
    }
}

/// An element as errors show it: 32 little-endian bytes in hexadecimal, as it was sent.
pub(crate) fn show(element: &Scalar) -> String {
    hex::encode(element.to_repr())
}

/// The field element of 32 little-endian bytes, which must be below the modulus.
pub(crate) fn field_element(bytes: &[u8; 32]) -> Result<Scalar, RequestError> {
    element(bytes).ok_or_else(|| {
        let found = hex::encode(bytes);
        RequestError::new(
            "",
            found,
            "a field element below the modulus (little-endian)",
        )
    })
}

/// Names of the three tree layouts: one base tree, base trees under one node, those under one more.
pub(crate) const LAYOUTS: [&str; 3] = ["Single", "Sub", "Top"];

/// Index into [`LAYOUTS`] of a tree with these arities.
pub(crate) fn layout(shape: &crate::merkle::TreeShape) -> usize {
    usize::from(shape.sub_arity > 0) + usize::from(shape.top_arity > 0)
}
