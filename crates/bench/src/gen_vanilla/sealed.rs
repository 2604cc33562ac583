//! From really sealed sectors to requests.

use std::path::Path;

use cuzk_filecoin::vanilla::{SealOptions, SealedSector, VanillaError, post_vanilla};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, registered};

/// Sectors of a 2 KiB WindowPoSt partition.
const WINDOW_SECTORS: u64 = 2;

/// PoSt randomness; the two top bits of a field element's last byte are zero.
const RANDOMNESS: [u8; 32] = {
    let mut bytes = [3; 32];
    bytes[31] = 0;
    bytes
};

/// Seals one or two sectors below `folder` and takes the vanilla proofs that the circuit proves.
pub(super) fn request(
    id: CircuitId,
    options: &SealOptions,
    folder: &Path,
) -> Result<ProofRequest, VanillaError> {
    let registered_proof = match id.kind {
        ProofKind::PoRep => options
            .registered_proof
            .unwrap_or_else(|| registered::latest(id)),
        _ => registered::latest(id),
    };
    let request = ProofRequest {
        sector_size: id.sector_size.bytes(),
        registered_proof,
        sector_number: options.sector_number,
        miner_id: options.miner_id,
        ..ProofRequest::new(id.kind)
    };
    let sector = SealedSector::seal(id.sector_size, options, folder)?;
    Ok(match id.kind {
        ProofKind::PoRep => ProofRequest {
            vanilla_proofs: vec![sector.c1()?],
            ..request
        },
        ProofKind::SnapDeals => {
            let updated = sector.update(options.data_seed + 1, folder)?;
            ProofRequest {
                comm_r_old: updated.comm_r_old.to_vec(),
                comm_r_new: updated.comm_r_new.to_vec(),
                comm_d_new: updated.comm_d_new.to_vec(),
                vanilla_proofs: updated.vanilla_proofs,
                ..request
            }
        }
        ProofKind::WinningPoSt => ProofRequest {
            randomness: RANDOMNESS.to_vec(),
            vanilla_proofs: vec![sector.winning_post(&RANDOMNESS)?],
            ..request
        },
        ProofKind::WindowPoSt => {
            let mut sectors = vec![sector];
            for offset in 1..WINDOW_SECTORS {
                let options = SealOptions {
                    sector_number: options.sector_number + offset,
                    data_seed: options.data_seed + offset,
                    ..options.clone()
                };
                sectors.push(SealedSector::seal(id.sector_size, &options, folder)?);
            }
            ProofRequest {
                randomness: RANDOMNESS.to_vec(),
                vanilla_proofs: post_vanilla(registered_proof, &sectors, &RANDOMNESS)?,
                ..request
            }
        }
    })
}
