//! Vanilla proofs of sectors that somebody else sealed, given as paths.

use super::{VanillaError, envelope};
use crate::porep::prover_id;
use crate::registered;
use crate::upstream::UpstreamError;
use filecoin_proofs_api::seal::{SealPreCommitPhase2Output, seal_commit_phase1};
use filecoin_proofs_api::update::generate_partition_proofs;
use filecoin_proofs_api::{
    PieceInfo, PrivateReplicaInfo, RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof,
    UnpaddedBytesAmount, post,
};
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

/// What a sector was sealed under, beside its number and CommR.
#[derive(Clone, Debug)]
pub struct SealInputs {
    /// Number of the registered seal proof.
    pub registered_proof: u64,
    /// Miner actor id.
    pub miner_id: u64,
    /// CommD, the raw 32 bytes.
    pub comm_d: [u8; 32],
    /// Randomness of the replica id.
    pub ticket: [u8; 32],
    /// Interactive randomness of the challenges.
    pub seed: [u8; 32],
}

/// The C1 output (commit 1) of a sealed sector, in the envelope that clients send.
pub fn replica_c1(inputs: &SealInputs, replica: &Replica) -> Result<Vec<u8>, VanillaError> {
    let registered = seal_proof(inputs.registered_proof)?;
    let size = u64::from(registered.sector_size());
    let phase2 = SealPreCommitPhase2Output {
        registered_proof: registered,
        comm_r: replica.comm_r,
        comm_d: inputs.comm_d,
    };
    let upstream = |e: String| UpstreamError::new("commit 1", e);
    let c1 = seal_commit_phase1(
        &replica.cache,
        &replica.replica,
        prover_id(inputs.miner_id),
        replica.sector_number.into(),
        inputs.ticket,
        inputs.seed,
        phase2,
        &[whole(inputs.comm_d, size)],
    )
    .map_err(|e| upstream(format!("{e:#}")))?;
    let json = serde_json::to_vec(&c1).map_err(|e| upstream(e.to_string()))?;
    Ok(envelope(&json, replica.sector_number, size))
}

/// One piece that fills a sector: whatever pieces it was staged from, their CommD is this one's commitment.
pub(super) fn whole(comm_d: [u8; 32], sector_bytes: u64) -> PieceInfo {
    PieceInfo {
        commitment: comm_d,
        size: UnpaddedBytesAmount(unpadded(sector_bytes)),
    }
}

/// The bytes of data in a sector: 127 of each 128.
pub(super) fn unpadded(sector_bytes: u64) -> u64 {
    sector_bytes / 128 * 127
}

/// [`post_vanilla`](super::post_vanilla) for sectors given as paths.
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

fn seal_proof(number: u64) -> Result<RegisteredSealProof, VanillaError> {
    registered::seal(number).ok_or_else(|| VanillaError::RegisteredProof {
        found: number,
        expected: "a seal proof, 0 to 19".into(),
    })
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
