//! An independent last word: filecoin-proofs' own verifiers, which read their verifying keys themselves.

use crate::request::{ProofRequest, RequestError};
use crate::statement::{Inputs, Statement};
use crate::upstream::UpstreamError;
use ff::PrimeField;
use filecoin_proofs_api::{ApiFeature, PublicReplicaInfo, post, seal, update};
use std::collections::BTreeMap;

/// Why filecoin-proofs gave no verdict.
#[derive(Debug, thiserror::Error)]
pub enum FinalCheckError {
    /// The request is none.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// filecoin-proofs failed, for instance for want of the verifying key.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// filecoin-proofs verifies non-interactive PoReps in aggregated form only.
    #[error("a non-interactive PoRep, expected a proof that filecoin-proofs verifies by itself")]
    NonInteractive,
}

/// Whether filecoin-proofs accepts the proof of a request, as the chain would (`verify_seal` and its like).
///
/// Upstream reads the `.vk` from the folder that `FIL_PROOFS_PARAMETER_CACHE` names when the process first asks for
/// its settings, so this is for a process of its own.
pub fn verify_with_filecoin_proofs(
    request: &ProofRequest,
    proof: &[u8],
) -> Result<bool, FinalCheckError> {
    let statement = Statement::decode(request)?;
    let accepted = match statement.inputs() {
        Inputs::PoRep(porep) => {
            if porep
                .registered
                .feature_enabled(ApiFeature::NonInteractivePoRep)
            {
                return Err(FinalCheckError::NonInteractive);
            }
            seal::verify_seal(
                porep.registered,
                porep.comm_r.to_repr(),
                porep.comm_d.to_repr(),
                crate::porep::prover_id(porep.miner_id),
                porep.sector_number.into(),
                porep.ticket,
                porep.seed,
                proof,
            )
        }
        Inputs::SnapDeals(snap) => update::verify_empty_sector_update_proof(
            snap.registered,
            proof,
            snap.comm_r_old.to_repr(),
            snap.comm_r_new.to_repr(),
            snap.comm_d_new.to_repr(),
        ),
        Inputs::PoSt(post) => {
            let replica = |s: &crate::post::Sector| {
                let info = PublicReplicaInfo::new(post.registered, s.comm_r.to_repr());
                (s.number.into(), info)
            };
            let replicas: BTreeMap<_, _> = post.sectors.iter().map(replica).collect();
            let randomness = &post.randomness;
            match post.kind {
                crate::ProofKind::WinningPoSt => {
                    post::verify_winning_post(randomness, proof, &replicas, post.prover_id)
                }
                _ => {
                    let proofs = [(post.registered, proof)];
                    post::verify_window_post(randomness, &proofs, &replicas, post.prover_id)
                }
            }
        }
    };
    Ok(accepted.map_err(|e| UpstreamError::new("filecoin-proofs' verifier", e))?)
}
