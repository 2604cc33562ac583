//! The border to the storage-proofs crates: tree types by sector size, and our values in their types.

use crate::merkle::{Path, TreeShape};
use bellpepper_core::SynthesisError;
use blstrs::Scalar;
use filecoin_hashers::{Hasher, PoseidonArity};
use storage_proofs_core::merkle::MerkleProof;

/// A failure inside the storage-proofs crates, with their text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {text}")]
pub struct UpstreamError {
    what: &'static str,
    text: String,
}

impl UpstreamError {
    /// Tells what was being done when upstream failed.
    pub(crate) fn new(what: &'static str, error: impl std::fmt::Display) -> Self {
        // `{:#}` is anyhow's whole chain of causes.
        Self {
            what,
            text: format!("{error:#}"),
        }
    }

    /// As the error of a synthesis, which has room for an I/O error only.
    pub(crate) fn synthesis(self) -> SynthesisError {
        SynthesisError::IoError(std::io::Error::other(self))
    }
}

/// Calls a function that is generic over the tree type, with the type of trees C and R of a sector size.
macro_rules! with_tree {
    ($size:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        use ::filecoin_proofs::constants as shapes;
        use $crate::kind::SectorSize;
        match $size {
            SectorSize::S2KiB | SectorSize::S8MiB | SectorSize::S512MiB => {
                $function::<shapes::SectorShapeBase>($($argument),*)
            }
            SectorSize::S32GiB => $function::<shapes::SectorShapeSub8>($($argument),*),
            SectorSize::S64GiB => $function::<shapes::SectorShapeTop2>($($argument),*),
        }
    }};
}
pub(crate) use with_tree;

/// A Merkle proof in upstream's type.
pub(crate) fn merkle_proof<H, A, B, C>(
    leaf: Scalar,
    root: Scalar,
    path: &Path,
    shape: &TreeShape,
) -> MerkleProof<H, A, B, C>
where
    H: Hasher,
    A: PoseidonArity,
    B: PoseidonArity,
    C: PoseidonArity,
{
    let mut siblings = path.siblings.iter().copied().map(H::Domain::from);
    let levels = path.positions.iter().zip(shape.arities());
    let levels = levels
        .map(|(position, arity)| {
            let level = siblings.by_ref().take(arity - 1).collect();
            (level, usize::from(*position))
        })
        .collect();
    MerkleProof::from_parts(leaf.into(), root.into(), levels)
}
