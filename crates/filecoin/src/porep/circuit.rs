//! Upstream's PoRep circuit: blank, and with a statement's values.

use super::{Challenge, Column, DRG_PARENTS, PoRep};
use crate::erased::Erased;
use crate::kind::SectorSize;
use crate::merkle::{Path, TreeShape, poseidon};
use crate::upstream::{UpstreamError, merkle_proof, with_tree};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use filecoin_proofs::constants::{DefaultPieceHasher, DefaultTreeHasher};
use filecoin_proofs::parameters::public_params;
use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::parameter_cache::CacheableParameters;
use storage_proofs_porep::stacked::{
    self, Challenges, ColumnProof, EncodingProof, LabelingProof, PublicParams, ReplicaColumnProof,
    StackedCircuit, StackedCompound, Tau,
};

type Compound<Tree> = StackedCompound<Tree, DefaultPieceHasher>;
type PublicInputs = stacked::PublicInputs<
    <DefaultTreeHasher as filecoin_hashers::Hasher>::Domain,
    <DefaultPieceHasher as filecoin_hashers::Hasher>::Domain,
>;

/// Number of layers of labels of a sector size.
pub(crate) fn layers(size: SectorSize) -> usize {
    match size {
        SectorSize::S2KiB | SectorSize::S8MiB | SectorSize::S512MiB => 2,
        SectorSize::S32GiB | SectorSize::S64GiB => 11,
    }
}

/// Number of challenges in a partition, whatever the version: the circuit is the same for all.
pub(crate) fn challenges_per_partition(size: SectorSize) -> usize {
    match size {
        SectorSize::S2KiB | SectorSize::S8MiB | SectorSize::S512MiB => 2,
        SectorSize::S32GiB | SectorSize::S64GiB => 18,
    }
}

/// Upstream's public parameters of a registered proof.
fn params<Tree>(registered: RegisteredSealProof) -> Result<PublicParams<Tree>, UpstreamError>
where
    Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
{
    public_params::<Tree>(&registered.as_v1_config())
        .map_err(|e| UpstreamError::new("PoRep public parameters", e))
}

/// The registered proof that stands for a circuit; the others of its size share it.
fn representative(size: SectorSize) -> RegisteredSealProof {
    crate::registered::seal(size as u64).expect("every size has a V1 seal proof")
}

/// Upstream's name for the circuit, as in parameter files.
pub(crate) fn cache_identifier(size: SectorSize) -> Result<String, UpstreamError> {
    fn identifier<Tree>(size: SectorSize) -> Result<String, UpstreamError>
    where
        Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
    {
        let params = params::<Tree>(representative(size))?;
        Ok(<Compound<Tree> as CacheableParameters<
            StackedCircuit<Tree, DefaultPieceHasher>,
            _,
        >>::cache_identifier(&params))
    }
    with_tree!(size, identifier(size))
}

/// Synthesises the circuit without values, with so many challenges.
pub(crate) fn synthesize_blank(
    size: SectorSize,
    challenges: usize,
    cs: &mut impl ConstraintSystem<Scalar>,
) -> Result<(), SynthesisError> {
    fn blank<Tree>(
        size: SectorSize,
        challenges: usize,
        cs: &mut Erased<'_>,
    ) -> Result<(), SynthesisError>
    where
        Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
    {
        let mut params = params::<Tree>(representative(size)).map_err(UpstreamError::synthesis)?;
        params.challenges = Challenges::new_interactive(challenges);
        Compound::<Tree>::blank_circuit(&params).synthesize(cs)
    }
    with_tree!(size, blank(size, challenges, &mut Erased::new(cs)))
}

impl PoRep {
    /// The public inputs of a partition, without the constant one.
    pub(crate) fn public_inputs(&self, partition: usize) -> Result<Vec<Scalar>, UpstreamError> {
        fn inputs<Tree>(porep: &PoRep, k: usize) -> Result<Vec<Scalar>, UpstreamError>
        where
            Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
        {
            let params = params::<Tree>(porep.registered)?;
            Compound::<Tree>::generate_public_inputs(&porep.upstream_inputs(), &params, Some(k))
                .map_err(|e| UpstreamError::new("PoRep public inputs", e))
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
            porep: &PoRep,
            k: usize,
            cs: &mut Erased<'_>,
        ) -> Result<(), SynthesisError>
        where
            Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
        {
            let params = params::<Tree>(porep.registered).map_err(UpstreamError::synthesis)?;
            let vanilla = porep.upstream_proofs::<Tree>(k);
            let inputs = porep.upstream_inputs();
            Compound::<Tree>::circuit(&inputs, (), &vanilla, &params, Some(k))
                .map_err(|e| UpstreamError::new("PoRep circuit", e).synthesis())?
                .synthesize(cs)
        }
        with_tree!(
            self.sector_size,
            synthesize(self, partition, &mut Erased::new(cs))
        )
    }

    /// The nodes that a partition challenges, in order.
    pub(crate) fn challenged_nodes(&self, partition: usize) -> Result<Vec<u64>, UpstreamError> {
        fn nodes<Tree>(porep: &PoRep, k: usize) -> Result<Vec<u64>, UpstreamError>
        where
            Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
        {
            let params = params::<Tree>(porep.registered)?;
            let nodes = porep.sector_size.nodes() as usize;
            let inputs = porep.upstream_inputs();
            let challenges = inputs.challenges(&params.challenges, nodes, Some(k));
            Ok(challenges.into_iter().map(|c| c as u64).collect())
        }
        with_tree!(self.sector_size, nodes(self, partition))
    }

    /// The parents of nodes: six in the depth-robust graph, eight in the expander graph.
    pub(crate) fn parents(&self, nodes: &[u64]) -> Result<Vec<Vec<u64>>, UpstreamError> {
        fn parents<Tree>(porep: &PoRep, nodes: &[u64]) -> Result<Vec<Vec<u64>>, UpstreamError>
        where
            Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
        {
            use storage_proofs_core::drgraph::Graph;
            let graph = params::<Tree>(porep.registered)?.graph;
            let of = |node: &u64| {
                let mut parents = vec![0; graph.degree()];
                graph
                    .parents(*node as usize, &mut parents)
                    .map_err(|e| UpstreamError::new("parents of a node", e))?;
                Ok(parents.into_iter().map(u64::from).collect())
            };
            nodes.iter().map(of).collect()
        }
        with_tree!(self.sector_size, parents(self, nodes))
    }

    fn upstream_inputs(&self) -> PublicInputs {
        PublicInputs {
            replica_id: self.replica_id.into(),
            tau: Some(Tau {
                comm_d: self.comm_d.into(),
                comm_r: self.comm_r.into(),
            }),
            k: None,
            seed: Some(self.seed),
        }
    }

    /// A partition's vanilla proofs in upstream's types.
    pub(crate) fn upstream_proofs<Tree>(
        &self,
        partition: usize,
    ) -> Vec<stacked::Proof<Tree, DefaultPieceHasher>>
    where
        Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
    {
        let challenges = &self.partitions[partition];
        challenges.iter().map(|c| self.upstream_proof(c)).collect()
    }

    fn upstream_proof<Tree>(
        &self,
        challenge: &Challenge,
    ) -> stacked::Proof<Tree, DefaultPieceHasher>
    where
        Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
    {
        let octal = TreeShape::octal(self.sector_size);
        let labels = self.labels(challenge);
        let key = labels[labels.len() - 1];
        let column_proof = |node: u64, labels: &[Scalar], path: &Path| {
            let hash = poseidon(labels);
            let labels = labels.iter().map(|l| (*l).into()).collect();
            ColumnProof::new(
                node as u32,
                labels,
                merkle_proof(hash, self.comm_c, path, &octal),
            )
        };
        let parent = |p: &Column| column_proof(p.path.index(&octal), &p.labels, &p.path);
        let (drg, expander) = challenge.parents.split_at(DRG_PARENTS);
        let preimage = |layer| {
            let parents = challenge.label_parents(layer);
            parents.into_iter().map(|p| p.into()).collect()
        };
        let layers = self.layers();
        stacked::Proof {
            comm_d_proofs: merkle_proof(
                challenge.data.leaf,
                self.comm_d,
                &challenge.data.path,
                &TreeShape::binary(self.sector_size),
            ),
            comm_r_last_proof: merkle_proof(
                key + challenge.data.leaf,
                self.comm_r_last,
                &challenge.replica,
                &octal,
            ),
            replica_column_proofs: ReplicaColumnProof {
                c_x: column_proof(challenge.node, &labels, &challenge.column),
                drg_parents: drg.iter().map(parent).collect(),
                exp_parents: expander.iter().map(parent).collect(),
            },
            labeling_proofs: (1..=layers)
                .map(|l| LabelingProof::new(l as u32, challenge.node, preimage(l)))
                .collect(),
            encoding_proof: EncodingProof::new(layers as u32, challenge.node, preimage(layers)),
        }
    }
}
