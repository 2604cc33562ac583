//! Upstream's circuit of an empty sector update: blank, and with a statement's values.

use super::SnapDeals;
use crate::erased::Erased;
use crate::kind::SectorSize;
use crate::merkle::TreeShape;
use crate::upstream::{UpstreamError, merkle_proof, with_tree};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use filecoin_hashers::poseidon::PoseidonHasher;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::parameter_cache::CacheableParameters;
use storage_proofs_update::circuit::{PrivateInputs, PublicInputs as BlankInputs};
use storage_proofs_update::constants::{
    apex_leaf_count, challenge_count, h_default, partition_count,
};
use storage_proofs_update::{
    ChallengeProof, Challenges, EmptySectorUpdateCircuit, EmptySectorUpdateCompound,
    PartitionProof, PublicInputs, PublicParams,
};

fn nodes(size: SectorSize) -> usize {
    size.nodes() as usize
}

/// Number of partitions of a sector size.
pub(super) fn partitions(size: SectorSize) -> usize {
    partition_count(nodes(size))
}

/// Number of challenges in a partition.
pub(crate) fn challenges_per_partition(size: SectorSize) -> usize {
    challenge_count(nodes(size))
}

/// Number of nodes in a partition's row of tree D.
pub(super) fn apex_leaves(size: SectorSize) -> usize {
    apex_leaf_count(nodes(size))
}

/// Upstream's name for the circuit, as in parameter files.
pub(crate) fn cache_identifier(size: SectorSize) -> String {
    fn identifier<Tree>(params: &PublicParams) -> String
    where
        Tree: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static,
    {
        EmptySectorUpdateCompound::<Tree>::cache_identifier(params)
    }
    let params = PublicParams::from_sector_size(size.bytes());
    with_tree!(size, identifier(&params))
}

/// Synthesises the circuit without values, with so many challenges.
pub(crate) fn synthesize_blank(
    size: SectorSize,
    challenges: usize,
    cs: &mut impl ConstraintSystem<Scalar>,
) -> Result<(), SynthesisError> {
    fn blank<Tree>(params: PublicParams, cs: &mut Erased<'_>) -> Result<(), SynthesisError>
    where
        Tree: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static,
    {
        let mut priv_inputs = PrivateInputs::<Tree>::empty(params.sector_nodes);
        priv_inputs
            .challenge_proofs
            .truncate(params.challenge_count);
        EmptySectorUpdateCircuit {
            pub_params: params,
            pub_inputs: BlankInputs::empty(),
            priv_inputs,
        }
        .synthesize(cs)
    }
    let mut params = PublicParams::from_sector_size(size.bytes());
    params.challenge_count = challenges;
    with_tree!(size, blank(params, &mut Erased::new(cs)))
}

impl SnapDeals {
    /// Number of high bits of a node that choose its factor.
    pub(crate) fn high_bits(&self) -> usize {
        h_default(nodes(self.sector_size))
    }

    /// The number of partitions.
    pub(crate) fn num_partitions(&self) -> usize {
        partitions(self.sector_size)
    }

    /// The nodes that a partition challenges, in order.
    pub(crate) fn challenged_nodes(&self, partition: usize) -> impl Iterator<Item = u64> {
        let nodes = nodes(self.sector_size);
        Challenges::new(nodes, self.comm_r_new.into(), partition).map(u64::from)
    }

    fn upstream_inputs(&self, partition: usize) -> PublicInputs {
        PublicInputs {
            k: partition,
            comm_r_old: self.comm_r_old.into(),
            comm_d_new: self.comm_d_new.into(),
            comm_r_new: self.comm_r_new.into(),
            h: self.high_bits(),
        }
    }

    /// The public inputs of a partition, without the constant one.
    pub(crate) fn public_inputs(&self, partition: usize) -> Result<Vec<Scalar>, UpstreamError> {
        fn inputs<Tree>(snap: &SnapDeals, k: usize) -> Result<Vec<Scalar>, UpstreamError>
        where
            Tree: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static,
        {
            let params = PublicParams::from_sector_size(snap.sector_size.bytes());
            let inputs = snap.upstream_inputs(k);
            EmptySectorUpdateCompound::<Tree>::generate_public_inputs(&inputs, &params, Some(k))
                .map_err(|e| UpstreamError::new("SnapDeals public inputs", e))
        }
        with_tree!(self.sector_size, inputs(self, partition))
    }

    /// Synthesises the circuit of a partition with this statement's values.
    pub(crate) fn synthesize(
        &self,
        partition: usize,
        cs: &mut impl ConstraintSystem<Scalar>,
    ) -> Result<(), SynthesisError> {
        fn synthesize<Tree>(
            snap: &SnapDeals,
            k: usize,
            cs: &mut Erased<'_>,
        ) -> Result<(), SynthesisError>
        where
            Tree: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static,
        {
            let params = PublicParams::from_sector_size(snap.sector_size.bytes());
            let (inputs, proof) = (snap.upstream_inputs(k), snap.upstream_proof::<Tree>(k));
            EmptySectorUpdateCompound::<Tree>::circuit(&inputs, (), &proof, &params, Some(k))
                .map_err(|e| UpstreamError::new("SnapDeals circuit", e).synthesis())?
                .synthesize(cs)
        }
        with_tree!(
            self.sector_size,
            synthesize(self, partition, &mut Erased::new(cs))
        )
    }

    /// A partition's vanilla proof in upstream's type.
    pub(super) fn upstream_proof<Tree>(&self, partition: usize) -> PartitionProof<Tree>
    where
        Tree: MerkleTreeTrait<Hasher = PoseidonHasher> + 'static,
    {
        let (binary, octal) = (
            TreeShape::binary(self.sector_size),
            TreeShape::octal(self.sector_size),
        );
        let partition = &self.partitions[partition];
        let challenges = partition.challenges.iter().map(|c| ChallengeProof {
            proof_r_old: merkle_proof(c.old.leaf, partition.root_r_old, &c.old.path, &octal),
            proof_d_new: merkle_proof(c.data.leaf, self.comm_d_new, &c.data.path, &binary),
            proof_r_new: merkle_proof(c.new.leaf, partition.root_r_new, &c.new.path, &octal),
        });
        PartitionProof {
            comm_c: partition.comm_c.into(),
            apex_leafs: partition.apex_leaves.iter().map(|l| (*l).into()).collect(),
            challenge_proofs: challenges.collect(),
        }
    }
}
