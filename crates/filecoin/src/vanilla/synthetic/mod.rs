//! Valid vanilla proofs of any sector size, in seconds, without a sector.
//!
//! A vanilla proof opens a few nodes of trees that nobody sees as a whole. So everything but the opened nodes and
//! their ancestors may follow a pattern, whose hashes repeat and need to be computed once a level.

mod porep;
mod post;
mod snap;
mod sparse;

use super::VanillaError;
use crate::kind::{CircuitId, ProofKind, SectorSize};
use crate::registered;
use crate::request::ProofRequest;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What distinguishes one synthetic request from another.
#[derive(Clone, Debug)]
pub struct SyntheticOptions {
    /// Number of the registered proof; `None` is the latest of the kind.
    pub registered_proof: Option<u64>,
    /// Miner actor id.
    pub miner_id: u64,
    /// Sector number, of the first sector where there are several.
    pub sector_number: u64,
    /// Number of sectors of a WindowPoSt; `None` is a full partition.
    pub sectors: Option<usize>,
    /// Index of the partition of a WindowPoSt.
    pub partition_index: u32,
    /// Seed of all values.
    pub seed: u64,
}

impl Default for SyntheticOptions {
    fn default() -> Self {
        Self {
            registered_proof: None,
            miner_id: 1000,
            sector_number: 1,
            sectors: None,
            partition_index: 0,
            seed: 0,
        }
    }
}

/// A complete request with vanilla proofs that upstream's verifiers accept.
pub fn request(id: CircuitId, options: &SyntheticOptions) -> Result<ProofRequest, VanillaError> {
    let number = options
        .registered_proof
        .unwrap_or_else(|| registered::latest(id));
    if registered::sector_size_of(id.kind, number) != Some(id.sector_size) {
        return Err(VanillaError::RegisteredProof {
            found: number,
            expected: format!("one of {id}, for instance {}", registered::latest(id)),
        });
    }
    let base = ProofRequest {
        sector_size: id.sector_size.bytes(),
        registered_proof: number,
        miner_id: options.miner_id,
        ..ProofRequest::new(id.kind)
    };
    let rng = ChaCha8Rng::seed_from_u64(options.seed);
    match id.kind {
        ProofKind::PoRep => porep::request(base, options, rng),
        ProofKind::SnapDeals => snap::request(base, options, rng),
        ProofKind::WindowPoSt | ProofKind::WinningPoSt => post::request(base, options, rng),
    }
}

/// The sector size of a request that was made here.
fn size(request: &ProofRequest) -> SectorSize {
    SectorSize::from_bytes(request.sector_size).expect("made from a sector size")
}
