//! From the bytes of a sector's vanilla proof (bincode `FallbackPoStSectorProof`) to field elements.

use crate::decode::MerkleProof;
use crate::decode::bincode::Reader;
use crate::kind::SectorSize;
use crate::merkle::TreeShape;
use crate::request::RequestError;
use blstrs::Scalar;

/// A sector's vanilla proof as it came.
pub(super) struct Sector {
    pub(super) number: u64,
    pub(super) comm_r: Scalar,
    pub(super) comm_c: Scalar,
    pub(super) comm_r_last: Scalar,
    pub(super) inclusions: Vec<MerkleProof>,
}

/// Reads a vanilla proof with so many challenges.
pub(super) fn sector(
    bytes: &[u8],
    size: SectorSize,
    challenges: usize,
) -> Result<Sector, RequestError> {
    let mut reader = Reader::new(bytes);
    let shape = TreeShape::octal(size);
    let number = reader.integer("sector_id")?;
    let comm_r = reader.element("comm_r")?;
    reader.length("sectors", 1)?;
    reader.length("inclusion_proofs", challenges)?;
    let inclusions = (0..challenges)
        .map(|i| reader.merkle_proof(&format!("inclusion_proofs[{i}]"), &shape))
        .collect::<Result<_, _>>()?;
    let comm_c = reader.element("comm_c")?;
    let comm_r_last = reader.element("comm_r_last")?;
    reader.end()?;
    Ok(Sector {
        number,
        comm_r,
        comm_c,
        comm_r_last,
        inclusions,
    })
}
