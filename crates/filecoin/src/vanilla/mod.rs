//! Makers of vanilla proofs.
//!
//! [`seal`] seals a real sector with filecoin-proofs and takes each kind of proof from it; [`synthetic`] builds valid
//! proofs of any size from sparse trees.

mod replica;
pub mod seal;
pub mod synthetic;

pub use replica::{Replica, SealInputs, replica_c1, replicas_post, update_vanilla};
pub use seal::{SealOptions, SealedSector, UpdatedSector, post_vanilla, seal_porep};

use crate::upstream::UpstreamError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Why a vanilla proof could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VanillaError {
    /// A file of the sector could not be written or read.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The storage-proofs crates refused.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// A number of sectors that no partition has.
    #[error("{found} sectors, expected 1 to {most}")]
    Sectors {
        /// How many were asked for.
        found: usize,
        /// How many fit.
        most: usize,
    },
    /// A registered proof that does not suit.
    #[error("registered proof {found}, expected {expected}")]
    RegisteredProof {
        /// Its number.
        found: u64,
        /// What would do.
        expected: String,
    },
}

/// Wraps a C1 output (inner JSON) as clients send it.
pub fn envelope(c1: &[u8], sector_number: u64, sector_size: u64) -> Vec<u8> {
    let inner = STANDARD.encode(c1);
    // Base64 needs no escapes.
    format!(
        "{{\"SectorNum\":{sector_number},\"Phase1Out\":\"{inner}\",\"SectorSize\":{sector_size}}}"
    )
    .into_bytes()
}
