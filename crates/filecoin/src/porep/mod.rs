//! PoRep: the second commit phase of sealing (C2).
//!
//! The input is the output of the first commit phase (C1): per partition the challenged nodes of the sector's graph
//! with their labels, their parents' columns and the paths that lead from all of them to CommD and CommR.
//! Protocol: "Stacked DRG PoRep", Filecoin specification, section 2.6.4 (sector sealing).

mod check;
mod circuit;
mod decode;
mod encode;
mod label;
mod origin;
mod prover_id;

pub(crate) use label::{label, label_parents};
pub(crate) use prover_id::replica_id;

pub(crate) use circuit::{cache_identifier, challenges_per_partition, synthesize_blank};
pub use prover_id::prover_id;

use crate::kind::SectorSize;
use crate::merkle::{Inclusion, Path};
use crate::request::{ProofRequest, RequestError};
use blstrs::Scalar;
use filecoin_proofs_api::RegisteredSealProof;

/// Number of parents of a node in the depth-robust graph of its own layer.
pub const DRG_PARENTS: usize = 6;
/// Number of parents of a node in the expander graph of the layer below.
pub const EXPANDER_PARENTS: usize = 8;

/// What the proofs of a sealed sector are made of: the native inputs of all partitions.
#[derive(Clone, Debug)]
pub struct PoRep {
    /// The registered proof.
    pub registered: RegisteredSealProof,
    /// The sector size.
    pub sector_size: SectorSize,
    /// The miner that sealed it.
    pub miner_id: u64,
    /// The sector's number.
    pub sector_number: u64,
    /// The replica id.
    pub replica_id: Scalar,
    /// Root of tree D, the sector's data.
    pub comm_d: Scalar,
    /// CommR = Poseidon(CommC, CommRLast).
    pub comm_r: Scalar,
    /// Root of tree C, the hashes of the columns.
    pub comm_c: Scalar,
    /// Root of tree R, the replica.
    pub comm_r_last: Scalar,
    /// Interactive randomness that the challenges are drawn from.
    pub seed: [u8; 32],
    /// Randomness that the replica id was drawn from.
    pub ticket: [u8; 32],
    /// The challenges of every partition.
    pub partitions: Vec<Vec<Challenge>>,
}

/// A challenged node.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// Index of the node within the sector.
    pub node: u64,
    /// The data node and its path in tree D.
    pub data: Inclusion,
    /// The path of the encoded node in tree R.
    pub replica: Path,
    /// The path of the node's column hash in tree C.
    pub column: Path,
    /// The columns of the six parents in the depth-robust graph, then of the eight in the expander graph.
    pub parents: Vec<Column>,
}

/// The labels of a node, one a layer, and the path of their hash in tree C.
#[derive(Clone, Debug)]
pub struct Column {
    /// One label a layer, first layer first.
    pub labels: Vec<Scalar>,
    /// The path of the column's hash.
    pub path: Path,
}

impl PoRep {
    /// Reads, and checks, the C1 output of a request; `done` is called in between.
    pub(crate) fn decode(
        request: &ProofRequest,
        done: impl FnOnce(),
    ) -> Result<Self, RequestError> {
        let [payload] = request.vanilla_proofs.as_slice() else {
            let found = format!("{} vanilla proofs", request.vanilla_proofs.len());
            return Err(RequestError::new("vanilla_proofs", found, "1 C1 output"));
        };
        let c1 = decode::decode(payload)?;
        done();
        let registered = c1.registered(request)?;
        check::check(c1, registered, request)
    }

    /// Number of layers of labels.
    pub fn layers(&self) -> usize {
        circuit::layers(self.sector_size)
    }
}
