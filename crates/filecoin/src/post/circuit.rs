//! Upstream's PoSt circuit: blank, and with a statement's values.

use super::{PoSt, Sector};
use crate::kind::{CircuitId, ProofKind, SectorSize};
use crate::merkle::{Inclusion, TreeShape};
use crate::registered;
use crate::upstream::{UpstreamError, merkle_proof, with_tree};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use filecoin_hashers::Domain;
use filecoin_proofs::constants::{
    DefaultTreeDomain, DefaultTreeHasher, WINDOW_POST_CHALLENGE_COUNT, WINNING_POST_CHALLENGE_COUNT,
};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::parameter_cache::CacheableParameters;
use storage_proofs_post::fallback::{
    self, FallbackPoStCircuit, FallbackPoStCompound, PublicParams, PublicSector, SectorProof,
    generate_leaf_challenge, get_challenge_index,
};

/// Challenges in one vanilla proof.
pub(super) fn challenges_per_vanilla_proof(kind: ProofKind) -> usize {
    match kind {
        ProofKind::WinningPoSt => WINNING_POST_CHALLENGE_COUNT,
        _ => WINDOW_POST_CHALLENGE_COUNT,
    }
}

/// Sectors in a circuit: those of a full partition (WindowPoSt), or one for every challenge (WinningPoSt).
pub(crate) fn blocks(id: CircuitId) -> usize {
    match (id.kind, id.sector_size) {
        (ProofKind::WinningPoSt, _) => WINNING_POST_CHALLENGE_COUNT,
        (_, SectorSize::S32GiB) => 2349,
        (_, SectorSize::S64GiB) => 2300,
        _ => 2,
    }
}

/// Upstream's public parameters of a circuit with so many sectors.
fn params(id: CircuitId, sectors: usize, api_version: ApiVersion) -> PublicParams {
    PublicParams {
        sector_size: id.sector_size.bytes(),
        challenge_count: match id.kind {
            ProofKind::WinningPoSt => 1,
            _ => WINDOW_POST_CHALLENGE_COUNT,
        },
        sector_count: sectors,
        api_version,
    }
}

/// The version that draws the challenges of the latest registered proof.
fn latest_version(id: CircuitId) -> ApiVersion {
    let registered = registered::post(registered::latest(id));
    registered.map_or(ApiVersion::V1_2_0, |r| r.version())
}

/// Upstream's name for the circuit, as in parameter files.
pub(crate) fn cache_identifier(id: CircuitId) -> String {
    fn identifier<Tree>(params: &PublicParams) -> String
    where
        Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
    {
        <FallbackPoStCompound<Tree> as CacheableParameters<FallbackPoStCircuit<Tree>, _>>::cache_identifier(params)
    }
    let params = params(id, blocks(id), latest_version(id));
    with_tree!(id.sector_size, identifier(&params))
}

/// Synthesises the circuit without values, with so many sectors.
pub(crate) fn synthesize_blank(
    id: CircuitId,
    sectors: usize,
    cs: &mut impl ConstraintSystem<Scalar>,
) -> Result<(), SynthesisError> {
    fn blank<Tree>(
        params: &PublicParams,
        cs: &mut impl ConstraintSystem<Scalar>,
    ) -> Result<(), SynthesisError>
    where
        Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
    {
        FallbackPoStCompound::<Tree>::blank_circuit(params).synthesize(cs)
    }
    let params = params(id, sectors, latest_version(id));
    with_tree!(id.sector_size, blank(&params, cs))
}

impl PoSt {
    fn id(&self) -> CircuitId {
        CircuitId::new(self.kind, self.sector_size)
    }

    fn params(&self) -> PublicParams {
        params(self.id(), blocks(self.id()), self.registered.version())
    }

    /// The leaf that challenge `n` of the sector in place `i` opens.
    pub fn challenge(&self, i: usize, sector_number: u64, n: usize) -> u64 {
        let params = self.params();
        let index = match self.kind {
            ProofKind::WinningPoSt => n as u64,
            _ => {
                let place = self.partition_index as usize * params.sector_count + i;
                get_challenge_index(params.api_version, place, params.challenge_count, n)
            }
        };
        generate_leaf_challenge(&params, self.randomness(), sector_number, index)
    }

    /// The most sectors that vanilla proofs may be of, and the challenges of each.
    pub(crate) fn capacity(&self) -> (usize, usize) {
        let challenges = challenges_per_vanilla_proof(self.kind);
        match self.kind {
            ProofKind::WinningPoSt => (1, challenges),
            _ => (blocks(self.id()), challenges),
        }
    }

    fn randomness(&self) -> DefaultTreeDomain {
        DefaultTreeDomain::try_from_bytes(&self.randomness).expect("32 bytes")
    }

    /// The sectors of the circuit: each with its commitments and the leaves it opens. A partition that is not full
    /// repeats its last sector; WinningPoSt gives each of its challenges a sector of its own.
    pub fn circuit_sectors(&self) -> impl Iterator<Item = (&Sector, &[Inclusion])> {
        let chunk = self.params().challenge_count;
        let own = self
            .sectors
            .iter()
            .flat_map(move |s| s.inclusions.chunks(chunk).map(move |c| (s, c)));
        let last = self
            .sectors
            .last()
            .and_then(|s| Some((s, s.inclusions.chunks(chunk).last()?)));
        let total = blocks(self.id());
        own.chain(last.into_iter().cycle()).take(total)
    }

    /// The public inputs, without the constant one: a sector's CommR and the places of its leaves, sector by sector.
    pub(crate) fn public_inputs(&self) -> Vec<Scalar> {
        let shape = TreeShape::octal(self.sector_size);
        self.circuit_sectors()
            .flat_map(|(sector, inclusions)| {
                let places = inclusions.iter().map(|i| i.path.index(&shape).into());
                std::iter::once(sector.comm_r).chain(places)
            })
            .collect()
    }

    /// Synthesises the circuit with this statement's values.
    pub(crate) fn synthesize(
        &self,
        cs: &mut impl ConstraintSystem<Scalar>,
    ) -> Result<(), SynthesisError> {
        fn synthesize<Tree>(
            post: &PoSt,
            cs: &mut impl ConstraintSystem<Scalar>,
        ) -> Result<(), SynthesisError>
        where
            Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
        {
            let (params, inputs) = (post.params(), post.upstream_inputs());
            let proof = post.upstream_proof::<Tree>();
            FallbackPoStCompound::<Tree>::circuit(
                &inputs,
                Default::default(),
                &proof,
                &params,
                Some(0),
            )
            .map_err(|e| UpstreamError::new("PoSt circuit", e).synthesis())?
            .synthesize(cs)
        }
        with_tree!(self.sector_size, synthesize(self, cs))
    }

    /// Upstream's public inputs, with every sector of the circuit in its place.
    pub(crate) fn upstream_inputs(&self) -> fallback::PublicInputs<DefaultTreeDomain> {
        let sectors = self.circuit_sectors().map(|(sector, _)| PublicSector {
            id: sector.number.into(),
            comm_r: sector.comm_r.into(),
        });
        fallback::PublicInputs {
            randomness: self.randomness(),
            prover_id: DefaultTreeDomain::try_from_bytes(&self.prover_id).expect("32 bytes"),
            sectors: sectors.collect(),
            k: Some(0),
        }
    }

    /// The vanilla proof of the circuit's sectors in upstream's type.
    pub(crate) fn upstream_proof<Tree>(&self) -> fallback::Proof<Tree::Proof>
    where
        Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
    {
        let shape = TreeShape::octal(self.sector_size);
        let sectors = self.circuit_sectors().map(|(sector, inclusions)| {
            let inclusion =
                |i: &Inclusion| merkle_proof(i.leaf, sector.comm_r_last, &i.path, &shape);
            SectorProof {
                inclusion_proofs: inclusions.iter().map(inclusion).collect(),
                comm_c: sector.comm_c.into(),
                comm_r_last: sector.comm_r_last.into(),
            }
        });
        fallback::Proof {
            sectors: sectors.collect(),
        }
    }
}
