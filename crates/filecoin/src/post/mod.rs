//! Proofs of spacetime: WindowPoSt, one partition of a deadline, and WinningPoSt, one sector.
//!
//! Both open leaves of tree R of sectors that were sealed, at places that public randomness chooses, and share one
//! circuit: a list of sectors with so many challenges each. WindowPoSt has a partition's sectors with ten challenges
//! each; WinningPoSt has one sector, 66 times, with one challenge each.
//! Protocol: Filecoin specification, section 2.6.3 (proof of spacetime).

mod circuit;
mod decode;
mod encode;

pub(crate) use circuit::{blocks, cache_identifier, synthesize_blank};

use crate::decode::show;
use crate::kind::{CircuitId, ProofKind, SectorSize};
use crate::merkle::{Inclusion, NodeHash, Start, TreeShape, poseidon, roots};
use crate::porep::prover_id;
use crate::registered;
use crate::request::{ProofRequest, RequestError, bytes32};
use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::RegisteredPoStProof;
use rayon::prelude::*;

/// What a proof of spacetime is made of.
#[derive(Clone, Debug)]
pub struct PoSt {
    /// WindowPoSt or WinningPoSt.
    pub kind: ProofKind,
    /// The registered proof.
    pub registered: RegisteredPoStProof,
    /// The sector size.
    pub sector_size: SectorSize,
    /// Chain randomness that the challenges are drawn from.
    pub randomness: [u8; 32],
    /// The miner, padded to 32 bytes. The proof does not depend on it.
    pub prover_id: [u8; 32],
    /// Index of the partition within its deadline (WindowPoSt; 0 for WinningPoSt).
    pub partition_index: u32,
    /// The sectors, by ascending number: one for WinningPoSt. A partition that is not full repeats the last one.
    pub sectors: Vec<Sector>,
}

/// A challenged sector.
#[derive(Clone, Debug)]
pub struct Sector {
    /// The sector's number.
    pub number: u64,
    /// CommR = Poseidon(CommC, CommRLast).
    pub comm_r: Scalar,
    /// Root of tree C.
    pub comm_c: Scalar,
    /// Root of tree R.
    pub comm_r_last: Scalar,
    /// The challenged leaves of tree R, in the order of the challenges.
    pub inclusions: Vec<Inclusion>,
}

type Result<T> = std::result::Result<T, RequestError>;

impl PoSt {
    /// Reads, and checks, the vanilla proofs of a request; `done` is called in between.
    pub(crate) fn decode(request: &ProofRequest, done: impl FnOnce()) -> Result<Self> {
        let sector_size = registered::requested_size(request)?;
        let id = CircuitId::new(request.kind, sector_size);
        let registered = registered::post(request.registered_proof).ok_or_else(|| {
            let found = request.registered_proof;
            RequestError::new("registered_proof", found, "a registered PoSt proof")
        })?;
        let randomness = bytes32("randomness", &request.randomness)?;
        if Option::<Scalar>::from(Scalar::from_repr(randomness)).is_none() {
            let expected = "a field element: the two top bits of the last byte are clear";
            let found = hex::encode(randomness);
            return Err(RequestError::new("randomness", found, expected));
        }
        check_count(id, request)?;
        let mut post = Self {
            kind: request.kind,
            registered,
            sector_size,
            randomness,
            prover_id: prover_id(request.miner_id),
            partition_index: request.partition_index,
            sectors: Vec::with_capacity(request.vanilla_proofs.len()),
        };
        let challenges = circuit::challenges_per_vanilla_proof(request.kind);
        let sectors: Vec<_> = request
            .vanilla_proofs
            .par_iter()
            .map(|bytes| decode::sector(bytes, sector_size, challenges))
            .collect();
        for (i, sector) in sectors.into_iter().enumerate() {
            let sector = sector.map_err(|e| e.within(format!("vanilla_proofs[{i}]")))?;
            post.push(sector)
                .map_err(|e| e.within(format!("vanilla_proofs[{i}]")))?;
        }
        done();
        post.check()?;
        Ok(post)
    }

    /// Takes the next sector. The chain verifies sectors by ascending number, each once.
    fn push(&mut self, sector: decode::Sector) -> Result<()> {
        if let Some(last) = self.sectors.last()
            && sector.number <= last.number
        {
            let expected = format!("a number above {}, the sector's before", last.number);
            return Err(RequestError::new("sector_id", sector.number, expected));
        }
        let in_sector = |e: RequestError| e.within(format!("sector {}", sector.number));
        let inclusions = sector
            .inclusions
            .into_iter()
            .enumerate()
            .map(|(i, proof)| {
                if proof.root == sector.comm_r_last {
                    return Ok(Inclusion {
                        leaf: proof.leaf,
                        path: proof.path,
                    });
                }
                let field = format!("inclusion_proofs[{i}].root");
                let expected = format!("{}, comm_r_last", show(&sector.comm_r_last));
                Err(in_sector(RequestError::new(
                    field,
                    show(&proof.root),
                    expected,
                )))
            })
            .collect::<Result<Vec<_>>>()?;
        let comm_r = sector.comm_r;
        if comm_r == Scalar::default() {
            return Err(in_sector(RequestError::new(
                "comm_r",
                "32 zero bytes",
                "a commitment",
            )));
        }
        self.sectors.push(Sector {
            number: sector.number,
            comm_r,
            comm_c: sector.comm_c,
            comm_r_last: sector.comm_r_last,
            inclusions,
        });
        Ok(())
    }

    /// Every sector's leaves are in its replica, where the randomness challenges it.
    fn check(&self) -> Result<()> {
        /// Sectors checked together, to fill the lanes of the hashes.
        const TOGETHER: usize = 8;
        let failure = self
            .sectors
            .par_chunks(TOGETHER)
            .enumerate()
            .map(|(chunk, sectors)| self.check_sectors(chunk * TOGETHER, sectors))
            .find_first(|checked| checked.is_err());
        failure.unwrap_or(Ok(()))
    }

    /// Checks the sectors from place `first` on.
    fn check_sectors(&self, first: usize, sectors: &[Sector]) -> Result<()> {
        let shape = TreeShape::octal(self.sector_size);
        for (i, sector) in sectors.iter().enumerate() {
            self.check_places(first + i, sector, &shape)
                .map_err(|e| within_sector(e, first + i, sector))?;
        }
        let inclusions = sectors.iter().enumerate().flat_map(|(i, sector)| {
            let numbered = sector.inclusions.iter().enumerate();
            numbered.map(move |(n, inclusion)| (i, n, sector, inclusion))
        });
        let inclusions: Vec<_> = inclusions.collect();
        let starts: Vec<_> = inclusions
            .iter()
            .map(|&(tree, _, _, inclusion)| Start {
                tree,
                leaf: inclusion.leaf,
                path: &inclusion.path,
            })
            .collect();
        let reached = roots(&starts, &shape, NodeHash::Poseidon);
        for ((i, n, sector, _), reached) in inclusions.iter().zip(reached) {
            if reached != sector.comm_r_last {
                let found = format!("a path to {}", show(&reached));
                let expected = format!("one to comm_r_last, {}", show(&sector.comm_r_last));
                let e = RequestError::new(format!("inclusion_proofs[{n}].path"), found, expected);
                return Err(within_sector(e, first + i, sector));
            }
        }
        Ok(())
    }

    fn check_places(&self, i: usize, sector: &Sector, shape: &TreeShape) -> Result<()> {
        let comm_r = poseidon(&[sector.comm_c, sector.comm_r_last]);
        if comm_r != sector.comm_r {
            let expected = format!("{}, the hash of comm_c and comm_r_last", show(&comm_r));
            return Err(RequestError::new("comm_r", show(&sector.comm_r), expected));
        }
        for (n, inclusion) in sector.inclusions.iter().enumerate() {
            let node = self.challenge(i, sector.number, n);
            let found = inclusion.path.index(shape);
            if found != node {
                let field = format!("inclusion_proofs[{n}].path");
                let found = format!("the path of node {found}");
                let expected = format!("node {node}, which randomness challenges");
                return Err(RequestError::new(field, found, expected));
            }
        }
        Ok(())
    }
}

/// The error, said to be about the sector in place `i`.
fn within_sector(error: RequestError, i: usize, sector: &Sector) -> RequestError {
    error
        .within(format!("sector {}", sector.number))
        .within(format!("vanilla_proofs[{i}]"))
}

fn check_count(id: CircuitId, request: &ProofRequest) -> Result<()> {
    let found = request.vanilla_proofs.len();
    let most = match id.kind {
        ProofKind::WinningPoSt => 1,
        _ => circuit::blocks(id),
    };
    if (1..=most).contains(&found) {
        return Ok(());
    }
    let expected = match most {
        1 => "1, the sector's".to_string(),
        _ => format!("1 to {most}, one a sector of the partition"),
    };
    Err(RequestError::new(
        "vanilla_proofs",
        format!("{found} vanilla proofs"),
        expected,
    ))
}
