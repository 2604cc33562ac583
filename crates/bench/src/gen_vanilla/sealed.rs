//! From really sealed sectors to requests.

use std::path::Path;

use cuzk_filecoin::vanilla::{SealOptions, SealedSector, VanillaError, post_vanilla};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, registered};

use super::commitments;

/// Sectors of a 2 KiB WindowPoSt partition.
const WINDOW_SECTORS: u64 = 2;

/// PoSt randomness; the two top bits of a field element's last byte are zero.
pub(super) const RANDOMNESS: [u8; 32] = {
    let mut bytes = [3; 32];
    bytes[31] = 0;
    bytes
};

/// Seals one or two sectors below `folder` and takes the vanilla proofs that the circuit proves.
pub(super) fn request(
    id: CircuitId,
    registered_proof: Option<u64>,
    options: &SealOptions,
    randomness: &[u8; 32],
    folder: &Path,
) -> Result<ProofRequest, VanillaError> {
    let latest = registered::latest(id);
    let registered_proof = registered_proof.unwrap_or(latest);
    if registered::sector_size_of(id.kind, registered_proof) != Some(id.sector_size) {
        return Err(VanillaError::RegisteredProof {
            found: registered_proof,
            expected: format!("a number of {id}, for instance {latest}"),
        });
    }
    // What a sector was sealed under is of no matter to the other kinds.
    let options = &SealOptions {
        registered_proof: (id.kind == ProofKind::PoRep).then_some(registered_proof),
        ..options.clone()
    };
    let request = ProofRequest {
        sector_size: id.sector_size.bytes(),
        registered_proof,
        sector_number: options.sector_number,
        miner_id: options.miner_id,
        ..ProofRequest::new(id.kind)
    };
    let sector = seal(id, options, folder)?;
    Ok(match id.kind {
        ProofKind::PoRep => ProofRequest {
            vanilla_proofs: vec![sector.c1()?],
            ..request
        },
        ProofKind::SnapDeals => {
            let updated = sector.update(options.data_seed + 1, folder)?;
            note(&updated.replica, &updated.comm_d_new, &updated.comm_r_new)?;
            ProofRequest {
                comm_r_old: updated.comm_r_old.to_vec(),
                comm_r_new: updated.comm_r_new.to_vec(),
                comm_d_new: updated.comm_d_new.to_vec(),
                vanilla_proofs: updated.vanilla_proofs,
                ..request
            }
        }
        ProofKind::WinningPoSt => ProofRequest {
            randomness: randomness.to_vec(),
            vanilla_proofs: vec![sector.winning_post(randomness)?],
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
                sectors.push(seal(id, &options, folder)?);
            }
            ProofRequest {
                randomness: randomness.to_vec(),
                vanilla_proofs: post_vanilla(registered_proof, &sectors, randomness)?,
                ..request
            }
        }
    })
}

fn seal(id: CircuitId, options: &SealOptions, folder: &Path) -> Result<SealedSector, VanillaError> {
    let sector = SealedSector::seal(id.sector_size, options, folder)?;
    note(&sector.replica, &sector.comm_d, &sector.comm_r)?;
    Ok(sector)
}

/// Leaves the commitments beside a replica.
fn note(replica: &Path, comm_d: &[u8; 32], comm_r: &[u8; 32]) -> Result<(), VanillaError> {
    let path = replica.with_file_name(commitments::FILE_NAME);
    std::fs::write(&path, commitments::file_content(comm_d, comm_r)).map_err(|source| {
        VanillaError::File {
            what: "write",
            path: path.display().to_string(),
            source,
        }
    })
}
