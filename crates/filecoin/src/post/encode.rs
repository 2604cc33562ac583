//! A statement as the vanilla proofs it could have come from.

use super::{PoSt, Sector};
use crate::merkle::TreeShape;
use crate::upstream::{UpstreamError, merkle_proof, with_tree};
use filecoin_proofs::FallbackPoStSectorProof;
use filecoin_proofs::constants::DefaultTreeHasher;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_post::fallback::{self, SectorProof};

impl PoSt {
    /// The vanilla proof of each sector, in bincode.
    pub(crate) fn encode(&self) -> Result<Vec<Vec<u8>>, UpstreamError> {
        fn encode<Tree>(sector: &Sector, shape: &TreeShape) -> Result<Vec<u8>, UpstreamError>
        where
            Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
        {
            bincode::serialize(&vanilla_proof::<Tree>(sector, shape))
                .map_err(|e| UpstreamError::new("PoSt vanilla proof", e))
        }
        let shape = TreeShape::octal(self.sector_size);
        let sectors = self.sectors.iter();
        sectors
            .map(|sector| with_tree!(self.sector_size, encode(sector, &shape)))
            .collect()
    }
}

fn vanilla_proof<Tree>(sector: &Sector, shape: &TreeShape) -> FallbackPoStSectorProof<Tree>
where
    Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
{
    let inclusions = sector.inclusions.iter();
    let inclusions = inclusions.map(|i| merkle_proof(i.leaf, sector.comm_r_last, &i.path, shape));
    FallbackPoStSectorProof {
        sector_id: sector.number.into(),
        comm_r: sector.comm_r.into(),
        vanilla_proof: fallback::Proof {
            sectors: vec![SectorProof {
                inclusion_proofs: inclusions.collect(),
                comm_c: sector.comm_c.into(),
                comm_r_last: sector.comm_r_last.into(),
            }],
        },
    }
}
