//! A statement as the vanilla proofs it could have come from.

use super::SnapDeals;
use crate::upstream::{UpstreamError, with_tree};
use filecoin_hashers::poseidon::PoseidonHasher;
use storage_proofs_core::merkle::MerkleTreeTrait;

impl SnapDeals {
    /// The vanilla proof of each partition, in bincode.
    pub(crate) fn encode(&self) -> Result<Vec<Vec<u8>>, UpstreamError> {
        fn encode<Tree>(snap: &SnapDeals, k: usize) -> Result<Vec<u8>, UpstreamError>
        where
            Tree: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static,
        {
            bincode::serialize(&snap.upstream_proof::<Tree>(k))
                .map_err(|e| UpstreamError::new("SnapDeals vanilla proof", e))
        }
        (0..self.partitions.len())
            .map(|k| with_tree!(self.sector_size, encode(self, k)))
            .collect()
    }
}
