//! Where a C1 output comes from: who sealed which sector, and whether it has all its parts.

use super::decode::C1;
use super::prover_id::{ReplicaIdInputs, SEARCHED_MINERS};
use crate::request::{ProofRequest, RequestError};
use ff::PrimeField;
use filecoin_proofs_api::RegisteredSealProof;

type Result<T> = std::result::Result<T, RequestError>;

/// The replica id commits to miner, sector, ticket, CommD and registered proof. Gives the miner and the sector.
pub(super) fn check_origin(
    c1: &C1,
    registered: RegisteredSealProof,
    request: &ProofRequest,
) -> Result<(u64, u64)> {
    let sector_number = match c1.envelope {
        Some((inner, _)) if request.sector_number != 0 && request.sector_number != inner => {
            let expected = format!("{inner}, as vanilla_proofs[0].SectorNum says");
            return Err(RequestError::new(
                "sector_number",
                request.sector_number,
                expected,
            ));
        }
        Some((inner, _)) => inner,
        None => request.sector_number,
    };
    let inputs = ReplicaIdInputs {
        sector_number,
        ticket: &c1.ticket,
        comm_d: &c1.comm_d,
        porep_id: &registered.as_v1_config().porep_id,
    };
    let found = c1.replica_id.to_repr();
    let (sealer, miner) = match request.miner_id {
        0 => (
            inputs.find_miner(&found),
            format!("any miner below {SEARCHED_MINERS} (miner_id was not given)"),
        ),
        miner => (
            (inputs.replica_id(miner) == found).then_some(miner),
            format!("miner {miner}"),
        ),
    };
    if let Some(sealer) = sealer {
        return Ok((sealer, sector_number));
    }
    let expected = format!(
        "that of {miner}, sector {sector_number}, ticket {}, comm_d {} and {registered:?}",
        hex::encode(c1.ticket),
        hex::encode(c1.comm_d),
    );
    Err(RequestError::new("replica_id", hex::encode(found), expected).within(c1.place))
}

pub(super) fn check_counts(c1: &C1, registered: RegisteredSealProof) -> Result<()> {
    let wrong = |found: usize, what: &str, expected: usize| {
        let expected = format!("{expected} {what} for {registered:?}");
        RequestError::new("", format!("{found} {what}"), expected)
    };
    let expected = usize::from(registered.partitions());
    if c1.partitions.len() != expected {
        let e = wrong(c1.partitions.len(), "partitions", expected);
        return Err(e.within("vanilla_proofs").within(c1.place));
    }
    let expected = super::challenges_per_partition(c1.sector_size);
    for (k, challenges) in c1.partitions.iter().enumerate() {
        if challenges.len() != expected {
            let e = wrong(challenges.len(), "challenges", expected);
            return Err(e.within(format!("vanilla_proofs[{k}]")).within(c1.place));
        }
    }
    Ok(())
}
