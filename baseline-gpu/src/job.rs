//! What is proved, and how often.

use std::path::{Path, PathBuf};

use filecoin_proofs_api::seal::SealCommitPhase1Output;
use filecoin_proofs_api::{RegisteredPoStProof, SectorId};
use serde::Deserialize;

/// The content of the job's file.
#[derive(Deserialize)]
pub struct Job {
    /// How many proofs are made, the first included.
    pub proofs: usize,
    /// What they prove.
    pub statement: Statement,
}

/// A vanilla proof and what it belongs to.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statement {
    /// A sealed sector.
    PoRep {
        /// File with the C1 output, as filecoin-proofs-api writes it in JSON.
        c1: PathBuf,
        prover_id: [u8; 32],
        sector_number: u64,
    },
    /// WinningPoSt.
    Winning {
        registered_proof: RegisteredPoStProof,
        /// Files with the sectors' vanilla proofs.
        vanilla: Vec<PathBuf>,
        prover_id: [u8; 32],
        randomness: [u8; 32],
    },
}

/// A statement whose files are in memory.
pub enum Loaded {
    PoRep {
        c1: Vec<u8>,
        prover_id: [u8; 32],
        sector: SectorId,
    },
    Winning {
        registered_proof: RegisteredPoStProof,
        vanilla: Vec<Vec<u8>>,
        prover_id: [u8; 32],
        randomness: [u8; 32],
    },
}

impl Statement {
    /// Reads the files.
    pub fn load(self) -> Result<Loaded, String> {
        Ok(match self {
            Self::PoRep {
                c1,
                prover_id,
                sector_number,
            } => Loaded::PoRep {
                c1: read(&c1)?,
                prover_id,
                sector: SectorId::from(sector_number),
            },
            Self::Winning {
                registered_proof,
                vanilla,
                prover_id,
                randomness,
            } => Loaded::Winning {
                registered_proof,
                vanilla: vanilla
                    .iter()
                    .map(|path| read(path))
                    .collect::<Result<_, _>>()?,
                prover_id,
                randomness,
            },
        })
    }
}

impl Loaded {
    /// Proves as upstream's users do, from the bytes of the vanilla proof. A PoRep's proof is verified before it is
    /// returned; a WinningPoSt's is not, as published.
    pub fn prove(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::PoRep {
                c1,
                prover_id,
                sector,
            } => {
                let c1: SealCommitPhase1Output =
                    serde_json::from_slice(c1).map_err(|cause| format!("C1 output: {cause}"))?;
                filecoin_proofs_api::seal::seal_commit_phase2(c1, *prover_id, *sector)
                    .map(|output| output.proof)
                    .map_err(|cause| format!("seal_commit_phase2: {cause:#}"))
            }
            Self::Winning {
                registered_proof,
                vanilla,
                prover_id,
                randomness,
            } => filecoin_proofs_api::post::generate_winning_post_with_vanilla(
                *registered_proof,
                randomness,
                *prover_id,
                vanilla,
            )
            .map(|proofs| proofs.into_iter().flat_map(|(_, proof)| proof).collect())
            .map_err(|cause| format!("generate_winning_post_with_vanilla: {cause:#}")),
        }
    }
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|cause| format!("{}: {cause}", path.display()))
}
