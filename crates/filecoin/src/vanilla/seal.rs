//! Real sectors, sealed with filecoin-proofs, and the vanilla proofs taken from them.
//!
//! Upstream keeps a cache of the graph's parents, per sector size, where its settings say (`FIL_PROOFS_PARENT_CACHE`).

use super::VanillaError;
use super::replica::{
    Replica, SealInputs, replica_c1, replicas_post, unpadded, update_proof, update_vanilla, whole,
};
use crate::kind::{CircuitId, ProofKind, SectorSize};
use crate::porep::prover_id;
use crate::registered;
use crate::upstream::UpstreamError;
use filecoin_proofs_api::seal::{
    SealPreCommitPhase2Output, add_piece, generate_synth_proofs, seal_pre_commit_phase1,
    seal_pre_commit_phase2,
};
use filecoin_proofs_api::update::empty_sector_update_encode_into;
use filecoin_proofs_api::{ApiFeature, PieceInfo, RegisteredSealProof, UnpaddedBytesAmount};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What distinguishes one sealed sector from another.
#[derive(Clone, Debug)]
pub struct SealOptions {
    /// Number of the registered seal proof; `None` is V1_1 of the sector size.
    pub registered_proof: Option<u64>,
    /// Miner actor id.
    pub miner_id: u64,
    /// Sector number.
    pub sector_number: u64,
    /// Randomness of the replica id.
    pub ticket: [u8; 32],
    /// Interactive randomness of the challenges.
    pub porep_seed: [u8; 32],
    /// Seed of the sector's data.
    pub data_seed: u64,
}

impl Default for SealOptions {
    fn default() -> Self {
        Self {
            registered_proof: None,
            miner_id: 1000,
            sector_number: 1,
            ticket: [1; 32],
            porep_seed: [2; 32],
            data_seed: 0,
        }
    }
}

/// A sealed sector on disk.
#[derive(Clone, Debug)]
pub struct SealedSector {
    /// The registered proof it was sealed under.
    pub registered: RegisteredSealProof,
    /// Its size.
    pub size: SectorSize,
    /// The options it was sealed with.
    pub options: SealOptions,
    /// CommR.
    pub comm_r: [u8; 32],
    /// CommD.
    pub comm_d: [u8; 32],
    /// The sealed replica.
    pub replica: PathBuf,
    /// Folder of the trees.
    pub cache: PathBuf,
}

/// A sector whose data was replaced by an empty sector update.
#[derive(Clone, Debug)]
pub struct UpdatedSector {
    /// CommR before the update.
    pub comm_r_old: [u8; 32],
    /// CommR after the update.
    pub comm_r_new: [u8; 32],
    /// CommD after the update.
    pub comm_d_new: [u8; 32],
    /// The vanilla proof of each partition, in bincode.
    pub vanilla_proofs: Vec<Vec<u8>>,
    /// The updated replica.
    pub replica: PathBuf,
    /// Folder of its trees.
    pub cache: PathBuf,
}

/// Seals a sector and gives its C1 output in the envelope that clients send.
pub fn seal_porep(
    size: SectorSize,
    options: &SealOptions,
    work_dir: &Path,
) -> Result<Vec<u8>, VanillaError> {
    SealedSector::seal(size, options, work_dir)?.c1()
}

impl SealedSector {
    /// Fills a sector with random data and seals it (pre-commit 1 and 2) below `work_dir`.
    pub fn seal(
        size: SectorSize,
        options: &SealOptions,
        work_dir: &Path,
    ) -> Result<Self, VanillaError> {
        let registered = seal_proof(size, options.registered_proof)?;
        let dir = work_dir.join(format!("s-{}-{}", options.miner_id, options.sector_number));
        let (cache, replica, staged) = (dir.join("cache"), dir.join("sealed"), dir.join("staged"));
        create_dir(&cache)?;
        create(&replica)?;
        let pieces = stage(registered, size, options.data_seed, &staged)?;
        let upstream = |e| UpstreamError::new("sealing", e);
        let phase1 = seal_pre_commit_phase1(
            registered,
            &cache,
            &staged,
            &replica,
            prover_id(options.miner_id),
            options.sector_number.into(),
            options.ticket,
            &pieces,
        )
        .map_err(upstream)?;
        let phase2 = seal_pre_commit_phase2(phase1, &cache, &replica).map_err(upstream)?;
        let sector = Self {
            registered,
            size,
            options: options.clone(),
            comm_r: phase2.comm_r,
            comm_d: phase2.comm_d,
            replica,
            cache,
        };
        if registered.feature_enabled(ApiFeature::SyntheticPoRep) {
            sector.generate_synthetic(phase2)?;
        }
        Ok(sector)
    }

    /// Synthetic PoRep draws its vanilla proofs from a set that is made before the seed is known.
    fn generate_synthetic(&self, phase2: SealPreCommitPhase2Output) -> Result<(), VanillaError> {
        generate_synth_proofs(
            &self.cache,
            &self.replica,
            prover_id(self.options.miner_id),
            self.options.sector_number.into(),
            self.options.ticket,
            phase2,
            &[whole(self.comm_d, self.size.bytes())],
        )
        .map_err(|e| UpstreamError::new("synthetic proofs", e).into())
    }

    /// The C1 output (commit 1) in its envelope.
    pub fn c1(&self) -> Result<Vec<u8>, VanillaError> {
        replica_c1(&self.seal_inputs(), &self.as_replica())
    }

    /// What it was sealed under.
    pub fn seal_inputs(&self) -> SealInputs {
        SealInputs {
            registered_proof: self
                .options
                .registered_proof
                .unwrap_or_else(|| latest(self.size)),
            miner_id: self.options.miner_id,
            comm_d: self.comm_d,
            ticket: self.options.ticket,
            seed: self.options.porep_seed,
        }
    }

    /// The WinningPoSt vanilla proof, in bincode.
    pub fn winning_post(&self, randomness: &[u8; 32]) -> Result<Vec<u8>, VanillaError> {
        let number = registered::latest(CircuitId::new(ProofKind::WinningPoSt, self.size));
        let mut proofs = post_vanilla(number, std::slice::from_ref(self), randomness)?;
        Ok(proofs.remove(0))
    }

    /// The sector's files.
    pub fn as_replica(&self) -> Replica {
        Replica {
            sector_number: self.options.sector_number,
            comm_r: self.comm_r,
            cache: self.cache.clone(),
            replica: self.replica.clone(),
        }
    }

    /// Replaces the sector's data by other random data and gives the proofs of it. Writes below `work_dir`.
    pub fn update(&self, data_seed: u64, work_dir: &Path) -> Result<UpdatedSector, VanillaError> {
        let number = registered::latest(CircuitId::new(ProofKind::SnapDeals, self.size));
        let registered = update_proof(number)?;
        let dir = work_dir.join(format!("u-{}", self.options.sector_number));
        let (cache, replica, staged) = (dir.join("cache"), dir.join("sealed"), dir.join("staged"));
        create_dir(&cache)?;
        create(&replica)?
            .set_len(self.size.bytes())
            .map_err(|e| file_error("extend", &replica, e))?;
        let pieces = stage(self.registered, self.size, data_seed, &staged)?;
        let encoded = empty_sector_update_encode_into(
            registered,
            &replica,
            &cache,
            &self.replica,
            &self.cache,
            &staged,
            &pieces,
        )
        .map_err(|e| UpstreamError::new("empty sector update", e))?;
        let (comm_r_new, comm_d_new) = (encoded.comm_r_new, encoded.comm_d_new);
        let new = Replica {
            sector_number: self.options.sector_number,
            comm_r: comm_r_new,
            cache,
            replica,
        };
        Ok(UpdatedSector {
            comm_r_old: self.comm_r,
            comm_r_new,
            comm_d_new,
            vanilla_proofs: update_vanilla(number, &self.as_replica(), &new, comm_d_new)?,
            replica: new.replica,
            cache: new.cache,
        })
    }
}

/// The PoSt vanilla proofs of sectors, in the order of their numbers, in bincode.
///
/// `registered_proof` is go-state-types' number of a WindowPoSt or WinningPoSt proof; the sectors are those of
/// partition 0.
pub fn post_vanilla(
    registered_proof: u64,
    sectors: &[SealedSector],
    randomness: &[u8; 32],
) -> Result<Vec<Vec<u8>>, VanillaError> {
    let replicas: Vec<_> = sectors.iter().map(SealedSector::as_replica).collect();
    let miner_id = sectors.first().map_or(0, |sector| sector.options.miner_id);
    replicas_post(registered_proof, miner_id, &replicas, randomness)
}

/// Writes a staged file: one piece of random data that fills the sector.
fn stage(
    registered: RegisteredSealProof,
    size: SectorSize,
    seed: u64,
    path: &Path,
) -> Result<Vec<PieceInfo>, VanillaError> {
    let length = unpadded(size.bytes());
    let mut data = vec![0; length as usize];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut data);
    let amount = UnpaddedBytesAmount(length);
    let (piece, _) = add_piece(registered, data.as_slice(), create(path)?, amount, &[])
        .map_err(|e| UpstreamError::new("staging", e))?;
    Ok(vec![piece])
}

fn latest(size: SectorSize) -> u64 {
    registered::latest(CircuitId::new(ProofKind::PoRep, size))
}

fn seal_proof(size: SectorSize, number: Option<u64>) -> Result<RegisteredSealProof, VanillaError> {
    let latest = latest(size);
    let number = number.unwrap_or(latest);
    let fits = registered::sector_size_of(ProofKind::PoRep, number) == Some(size);
    fits.then(|| registered::seal(number))
        .flatten()
        .ok_or_else(|| VanillaError::RegisteredProof {
            found: number,
            expected: format!("a seal proof of {size}, for instance {latest}"),
        })
}

fn create(path: &Path) -> Result<File, VanillaError> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(|e| file_error("create", path, e))
}

/// An empty folder.
fn create_dir(path: &Path) -> Result<(), VanillaError> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(|e| file_error("clear", path, e))?;
    }
    fs::create_dir_all(path).map_err(|e| file_error("create", path, e))
}

fn file_error(what: &'static str, path: &Path, source: std::io::Error) -> VanillaError {
    VanillaError::File {
        what,
        path: path.display().to_string(),
        source,
    }
}
