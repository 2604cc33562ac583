//! SnapDeals: an empty sector update, which encodes new data into a sealed sector.
//!
//! Protocol: FIP-0019, "Snap deals". A partition opens, at places drawn from the new CommR, a node of the old replica,
//! of the new data and of the new replica, which is `old + data · rho`.

mod check;
mod circuit;
mod decode;
mod encode;

pub(crate) use circuit::{cache_identifier, challenges_per_partition, synthesize_blank};

use crate::kind::SectorSize;
use crate::merkle::Inclusion;
use crate::registered;
use crate::request::{ProofRequest, RequestError, bytes32};
use crate::statement::commitment;
use blstrs::Scalar;
use filecoin_proofs_api::RegisteredUpdateProof;
use rayon::prelude::*;

/// What the proofs of an empty sector update are made of: the native inputs of all partitions.
#[derive(Clone, Debug)]
pub struct SnapDeals {
    /// The registered proof.
    pub registered: RegisteredUpdateProof,
    /// The sector size.
    pub sector_size: SectorSize,
    /// CommR before the update.
    pub comm_r_old: Scalar,
    /// CommR after the update.
    pub comm_r_new: Scalar,
    /// CommD after the update.
    pub comm_d_new: Scalar,
    /// The partitions, in order.
    pub partitions: Vec<Partition>,
}

/// One partition: a contiguous part of the sector.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Root of tree C, which the update keeps.
    pub comm_c: Scalar,
    /// Root of the old tree R.
    pub root_r_old: Scalar,
    /// Root of the new tree R.
    pub root_r_new: Scalar,
    /// A row of the new tree D: the partition's share of it.
    pub apex_leaves: Vec<Scalar>,
    /// The challenges.
    pub challenges: Vec<Challenge>,
}

/// A challenged node.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// Index of the node within the sector.
    pub node: u64,
    /// The old replica's node.
    pub old: Inclusion,
    /// The new data's node.
    pub data: Inclusion,
    /// The new replica's node.
    pub new: Inclusion,
}

impl SnapDeals {
    /// Reads, and checks, the vanilla proofs of a request; `done` is called in between.
    pub(crate) fn decode(
        request: &ProofRequest,
        done: impl FnOnce(),
    ) -> Result<Self, RequestError> {
        let sector_size = registered::requested_size(request)?;
        let registered = registered::update(request.registered_proof).ok_or_else(|| {
            let found = request.registered_proof;
            RequestError::new("registered_proof", found, "a registered update proof")
        })?;
        let read = |field: &str, bytes: &[u8]| commitment(field, &bytes32(field, bytes)?);
        let mut snap = Self {
            registered,
            sector_size,
            comm_r_old: read("comm_r_old", &request.comm_r_old)?,
            comm_r_new: read("comm_r_new", &request.comm_r_new)?,
            comm_d_new: read("comm_d_new", &request.comm_d_new)?,
            partitions: Vec::new(),
        };
        let (found, expected) = (
            request.vanilla_proofs.len(),
            circuit::partitions(sector_size),
        );
        if found != expected {
            let found = format!("{found} vanilla proofs");
            let expected = format!("{expected}, one a partition of {sector_size}");
            return Err(RequestError::new("vanilla_proofs", found, expected));
        }
        let within = |k: usize| move |e: RequestError| e.within(format!("vanilla_proofs[{k}]"));
        let proofs = request.vanilla_proofs.par_iter().enumerate();
        let raw: Vec<_> = proofs
            .map(|(k, bytes)| decode::partition(bytes, sector_size).map_err(within(k)))
            .collect();
        let raw: Vec<_> = raw.into_iter().collect::<Result<_, _>>()?;
        done();
        let raw = raw.into_par_iter().enumerate();
        let partitions: Vec<_> = raw
            .map(|(k, raw)| check::check(&snap, k, raw).map_err(within(k)))
            .collect();
        snap.partitions = partitions.into_iter().collect::<Result<_, _>>()?;
        Ok(snap)
    }
}
