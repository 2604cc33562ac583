//! Synthetic vanilla proofs of every kind and size: upstream's vanilla verifiers accept them, and so do we, with the
//! public inputs that upstream derives.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuzk_filecoin::merkle::TreeShape;
use cuzk_filecoin::porep::prover_id;
use cuzk_filecoin::vanilla::synthetic::{SyntheticOptions, request};
use cuzk_filecoin::{
    CircuitId, Inputs, ProofKind, ProofRequest, SectorSize, Statement, registered,
};
use cuzk_r1cs::Scalar;
use ff::PrimeField;
use filecoin_hashers::Domain;
use filecoin_proofs::constants::{
    DefaultPieceHasher, DefaultTreeDomain, DefaultTreeHasher, SectorShapeBase, SectorShapeSub8,
    SectorShapeTop2,
};
use filecoin_proofs::parameters::{
    public_params, window_post_public_params, winning_post_public_params,
};
use filecoin_proofs::{FallbackPoStSectorProof, VanillaSealProof, partition_vanilla_proofs};
use filecoin_proofs_api::seal::{SealCommitPhase1Output, get_seal_inputs};
use filecoin_proofs_api::{PartitionProofBytes, RegisteredPoStProof, update};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{self, StackedDrg};
use storage_proofs_post::fallback::{self, FallbackPoStCompound, PublicSector};

fn id(kind: ProofKind, size: SectorSize) -> CircuitId {
    CircuitId::new(kind, size)
}

/// Calls a function that is generic over the tree type, by sector size.
macro_rules! with_tree {
    ($size:expr, $f:ident($($arg:expr),*)) => {
        match $size {
            SectorSize::S32GiB => $f::<SectorShapeSub8>($($arg),*),
            SectorSize::S64GiB => $f::<SectorShapeTop2>($($arg),*),
            _ => $f::<SectorShapeBase>($($arg),*),
        }
    };
}

/// Upstream's verdict on the C1 output of a request, and its public inputs.
fn upstream_porep<Tree>(request: &ProofRequest, sector: u64) -> (bool, Vec<Vec<Scalar>>)
where
    Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
{
    let outer: serde_json::Value = serde_json::from_slice(&request.vanilla_proofs[0]).unwrap();
    let inner = STANDARD
        .decode(outer["Phase1Out"].as_str().unwrap())
        .unwrap();
    let c1: SealCommitPhase1Output = serde_json::from_slice(&inner).unwrap();
    let vanilla: Vec<Vec<VanillaSealProof<Tree>>> = c1.vanilla_proofs.try_into().unwrap();
    let params = public_params::<Tree>(&c1.registered_proof.as_v1_config()).unwrap();
    let inputs = stacked::PublicInputs {
        replica_id: c1.replica_id,
        tau: Some(stacked::Tau {
            comm_d: Domain::try_from_bytes(&c1.comm_d).unwrap(),
            comm_r: Domain::try_from_bytes(&c1.comm_r).unwrap(),
        }),
        k: None,
        seed: Some(c1.seed),
    };
    let accepted =
        StackedDrg::<Tree, DefaultPieceHasher>::verify_all_partitions(&params, &inputs, &vanilla);
    let inputs = get_seal_inputs(
        c1.registered_proof,
        c1.comm_r,
        c1.comm_d,
        prover_id(request.miner_id),
        sector.into(),
        c1.ticket,
        c1.seed,
    );
    (accepted.unwrap(), inputs.unwrap())
}

fn check_porep(size: SectorSize, registered_proof: Option<u64>) {
    let options = SyntheticOptions {
        registered_proof,
        sector_number: 77,
        seed: 5,
        ..SyntheticOptions::default()
    };
    let request = request(id(ProofKind::PoRep, size), &options).unwrap();
    let (accepted, inputs) = with_tree!(size, upstream_porep(&request, 77));
    assert!(accepted);
    let statement = Statement::decode(&request).unwrap();
    assert_eq!(statement.num_partitions(), inputs.len());
    for (k, expected) in inputs.iter().enumerate() {
        assert_eq!(
            statement.public_inputs(k).unwrap(),
            *expected,
            "partition {k}"
        );
    }
}

#[test]
fn porep_small() {
    check_porep(SectorSize::S2KiB, Some(0));
    check_porep(SectorSize::S2KiB, None);
    check_porep(SectorSize::S8MiB, None);
    check_porep(SectorSize::S512MiB, None);
}

#[test]
fn porep_32g() {
    check_porep(SectorSize::S32GiB, None);
}

#[test]
fn porep_64g() {
    check_porep(SectorSize::S64GiB, None);
}

/// Upstream's verdict on the vanilla proofs of a PoSt request, and its public inputs; `before` sectors of earlier
/// partitions come first.
fn upstream_post<Tree>(request: &ProofRequest, registered: RegisteredPoStProof) -> Vec<Scalar>
where
    Tree: MerkleTreeTrait<Hasher = DefaultTreeHasher> + 'static,
{
    let config = registered.as_v1_config();
    let vanilla: Vec<FallbackPoStSectorProof<Tree>> = request
        .vanilla_proofs
        .iter()
        .map(|bytes| bincode::deserialize(bytes).unwrap())
        .collect();
    let winning = request.kind == ProofKind::WinningPoSt;
    let params = match winning {
        true => winning_post_public_params::<Tree>(&config).unwrap(),
        false => window_post_public_params::<Tree>(&config).unwrap(),
    };
    let sector = |v: &FallbackPoStSectorProof<Tree>| PublicSector {
        id: v.sector_id,
        comm_r: v.comm_r,
    };
    let domain = |bytes: &[u8]| DefaultTreeDomain::try_from_bytes(bytes).unwrap();
    let mut inputs = fallback::PublicInputs {
        randomness: domain(&request.randomness),
        prover_id: domain(&prover_id(request.miner_id)),
        sectors: vanilla.iter().map(sector).collect(),
        k: None,
    };
    let k = request.partition_index as usize;
    if k == 0 {
        // Verifies what it partitions.
        partition_vanilla_proofs(&config, &params, &inputs, 1, &vanilla).unwrap();
    }
    if winning {
        inputs.sectors = vec![inputs.sectors[0].clone(); params.sector_count];
    }
    // Earlier partitions are full of other sectors.
    let other = PublicSector {
        id: 1.into(),
        comm_r: DefaultTreeDomain::default(),
    };
    let mut sectors = vec![other; k * params.sector_count];
    sectors.extend(inputs.sectors);
    inputs.sectors = sectors;
    FallbackPoStCompound::<Tree>::generate_public_inputs(&inputs, &params, Some(k)).unwrap()
}

fn check_post(kind: ProofKind, size: SectorSize, registered_proof: u64, options: SyntheticOptions) {
    let options = SyntheticOptions {
        registered_proof: Some(registered_proof),
        ..options
    };
    let request = request(id(kind, size), &options).unwrap();
    let registered = registered::post(registered_proof).unwrap();
    let expected = with_tree!(size, upstream_post(&request, registered));
    let statement = Statement::decode(&request).unwrap();
    assert_eq!(statement.public_inputs(0).unwrap(), expected);
}

#[test]
fn post_of_every_size_and_version() {
    for size in SectorSize::ALL {
        let base = size as u64;
        check_post(
            ProofKind::WinningPoSt,
            size,
            base,
            SyntheticOptions::default(),
        );
        for (version, partition_index) in [(5, 0), (5, 3), (10, 0), (10, 3)] {
            let options = SyntheticOptions {
                sectors: Some(2),
                partition_index,
                ..SyntheticOptions::default()
            };
            check_post(ProofKind::WindowPoSt, size, base + version, options);
        }
    }
}

#[test]
fn a_partition_holds_no_more_than_its_sectors() {
    let id = id(ProofKind::WindowPoSt, SectorSize::S32GiB);
    for sectors in [0, 2350] {
        let options = SyntheticOptions {
            sectors: Some(sectors),
            ..SyntheticOptions::default()
        };
        assert!(request(id, &options).is_err());
    }
}

#[test]
fn snap_of_every_size() {
    for size in SectorSize::ALL {
        let id = id(ProofKind::SnapDeals, size);
        let request = request(id, &SyntheticOptions::default()).unwrap();
        let proofs = request
            .vanilla_proofs
            .iter()
            .cloned()
            .map(PartitionProofBytes);
        let bytes = |field: &[u8]| -> [u8; 32] { field.try_into().unwrap() };
        let accepted = update::verify_partition_proofs(
            registered::update(request.registered_proof).unwrap(),
            &proofs.collect::<Vec<_>>(),
            bytes(&request.comm_r_old),
            bytes(&request.comm_r_new),
            bytes(&request.comm_d_new),
        );
        assert!(accepted.unwrap(), "{id}");
        let statement = Statement::decode(&request).unwrap();
        assert_eq!(statement.num_partitions(), request.vanilla_proofs.len());
        let last = statement.num_partitions() - 1;
        assert_eq!(statement.public_inputs(last).unwrap().len(), 4);
    }
}

/// The tree shapes are those of upstream's tree types.
#[test]
fn synthetic_paths_have_the_height_of_the_sector() {
    for size in SectorSize::ALL {
        let leaves: usize = TreeShape::octal(size).arities().product();
        assert_eq!(leaves as u64, size.nodes());
        let leaves: usize = TreeShape::binary(size).arities().product();
        assert_eq!(leaves as u64, size.nodes());
    }
}

#[test]
fn values_follow_from_the_seed() {
    let make = |seed| {
        let options = SyntheticOptions {
            seed,
            ..SyntheticOptions::default()
        };
        request(id(ProofKind::PoRep, SectorSize::S2KiB), &options).unwrap()
    };
    assert_eq!(make(1), make(1));
    let (a, b) = (make(1), make(2));
    let replica_id = |request: &ProofRequest| match Statement::decode(request).unwrap().inputs() {
        Inputs::PoRep(porep) => porep.replica_id.to_repr(),
        _ => panic!("not a PoRep"),
    };
    assert_ne!(replica_id(&a), replica_id(&b));
}
