//! From the bytes of a partition's vanilla proof (bincode `PartitionProof`) to field elements.

use super::circuit::{apex_leaves, challenges_per_partition};
use crate::decode::MerkleProof;
use crate::decode::bincode::Reader;
use crate::kind::SectorSize;
use crate::merkle::TreeShape;
use crate::request::RequestError;
use blstrs::Scalar;

/// A partition's vanilla proof as it came.
pub(super) struct Partition {
    pub(super) comm_c: Scalar,
    pub(super) apex_leaves: Vec<Scalar>,
    pub(super) challenges: Vec<Challenge>,
}

pub(super) struct Challenge {
    pub(super) old: MerkleProof,
    pub(super) data: MerkleProof,
    pub(super) new: MerkleProof,
}

/// Reads a vanilla proof.
pub(super) fn partition(bytes: &[u8], size: SectorSize) -> Result<Partition, RequestError> {
    let mut reader = Reader::new(bytes);
    let (binary, octal) = (TreeShape::binary(size), TreeShape::octal(size));
    let comm_c = reader.element("comm_c")?;
    reader.length("apex_leafs", apex_leaves(size))?;
    let apex_leaves = (0..apex_leaves(size))
        .map(|i| reader.element(&format!("apex_leafs[{i}]")))
        .collect::<Result<_, _>>()?;
    let expected = challenges_per_partition(size);
    reader.length("challenge_proofs", expected)?;
    let challenges = (0..expected)
        .map(|i| {
            challenge(&mut reader, &binary, &octal)
                .map_err(|e| e.within(format!("challenge_proofs[{i}]")))
        })
        .collect::<Result<_, _>>()?;
    reader.end()?;
    Ok(Partition {
        comm_c,
        apex_leaves,
        challenges,
    })
}

fn challenge(
    reader: &mut Reader<'_>,
    binary: &TreeShape,
    octal: &TreeShape,
) -> Result<Challenge, RequestError> {
    Ok(Challenge {
        old: reader.merkle_proof("proof_r_old", octal)?,
        data: reader.merkle_proof("proof_d_new", binary)?,
        new: reader.merkle_proof("proof_r_new", octal)?,
    })
}
