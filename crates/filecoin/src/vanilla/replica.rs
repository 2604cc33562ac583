//! Vanilla proofs of sectors that somebody else sealed, given as paths.

use super::VanillaError;
use crate::porep::prover_id;
use crate::registered;
use crate::upstream::UpstreamError;
use filecoin_proofs_api::update::generate_partition_proofs;
use filecoin_proofs_api::{PrivateReplicaInfo, RegisteredPoStProof, RegisteredUpdateProof, post};
use std::path::PathBuf;

/// A sealed sector that somebody else made.
#[derive(Clone, Debug)]
pub struct Replica {
    /// Sector number.
    pub sector_number: u64,
    /// CommR, the raw 32 bytes.
    pub comm_r: [u8; 32],
    /// Folder of the trees.
    pub cache: PathBuf,
    /// The sealed (or updated) replica.
    pub replica: PathBuf,
}

/// [`post_vanilla`] for sectors given as paths.
pub fn replicas_post(
    registered_proof: u64,
    miner_id: u64,
    replicas: &[Replica],
    randomness: &[u8; 32],
) -> Result<Vec<Vec<u8>>, VanillaError> {
    let registered = post_proof(registered_proof)?;
    let upstream = |e| UpstreamError::new("PoSt vanilla proof", e);
    let mut replicas: Vec<_> = replicas.iter().collect();
    replicas.sort_by_key(|replica| replica.sector_number);
    let ids: Vec<_> = replicas.iter().map(|r| r.sector_number.into()).collect();
    let prover = prover_id(miner_id);
    let challenges =
        post::generate_fallback_sector_challenges(registered, randomness, &ids, prover)
            .map_err(upstream)?;
    let prove = |(replica, id): (&Replica, _)| {
        let info = PrivateReplicaInfo::new(
            registered,
            replica.comm_r,
            replica.cache.clone(),
            replica.replica.clone(),
        );
        post::generate_single_vanilla_proof(registered, id, &info, &challenges[&id])
            .map_err(|e| upstream(e).into())
    };
    replicas
        .into_iter()
        .zip(ids.iter().copied())
        .map(prove)
        .collect()
}

/// The SnapDeals vanilla proofs of an update given as paths, one a partition, in bincode.
pub fn update_vanilla(
    registered_proof: u64,
    old: &Replica,
    new: &Replica,
    comm_d_new: [u8; 32],
) -> Result<Vec<Vec<u8>>, VanillaError> {
    let proofs = generate_partition_proofs(
        update_proof(registered_proof)?,
        old.comm_r,
        new.comm_r,
        comm_d_new,
        &old.replica,
        &old.cache,
        &new.replica,
        &new.cache,
    )
    .map_err(|e| UpstreamError::new("empty sector update", e))?;
    Ok(proofs.into_iter().map(|p| p.0).collect())
}

fn post_proof(number: u64) -> Result<RegisteredPoStProof, VanillaError> {
    registered::post(number).ok_or_else(|| VanillaError::RegisteredProof {
        found: number,
        expected: "a PoSt proof, 0 to 14".into(),
    })
}

pub(super) fn update_proof(number: u64) -> Result<RegisteredUpdateProof, VanillaError> {
    registered::update(number).ok_or_else(|| VanillaError::RegisteredProof {
        found: number,
        expected: "an update proof, 0 to 4".into(),
    })
}
