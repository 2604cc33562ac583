//! Whether a C1 output is true: every value of it is bound to the commitments, the randomness and the request.
//!
//! Upstream's own check (`verify_all_partitions`) leaves out the paths in trees D and R, the columns' indices and
//! who sealed the sector; a proof over those would be made in vain. This one covers every value.

use super::decode::{C1, Challenge as RawChallenge, Column as RawColumn, Label};
use super::prover_id::{ReplicaIdInputs, SEARCHED_MINERS};
use super::{Challenge, Column, PoRep};
use crate::decode::MerkleProof;
use crate::merkle::{Inclusion, NodeHash, Path, TreeShape, poseidon};
use crate::request::{ProofRequest, RequestError};
use crate::statement::commitment;
use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::RegisteredSealProof;
use rayon::prelude::*;

type Result<T> = std::result::Result<T, RequestError>;

/// Checks a decoded output against itself and the request, and drops what is redundant.
pub(super) fn check(
    c1: C1,
    registered: RegisteredSealProof,
    request: &ProofRequest,
) -> Result<PoRep> {
    let place = c1.place;
    let (miner_id, sector_number) = check_origin(&c1, registered, request)?;
    check_counts(&c1, registered)?;
    if c1.seed == [0; 32] {
        return Err(
            RequestError::new("seed", "32 zero bytes", "interactive randomness").within(place),
        );
    }
    let first = &c1.partitions[0][0];
    let mut porep = PoRep {
        registered,
        sector_size: c1.sector_size,
        miner_id,
        sector_number,
        replica_id: c1.replica_id,
        comm_d: commitment("comm_d", &c1.comm_d).map_err(|e| e.within(place))?,
        comm_r: commitment("comm_r", &c1.comm_r).map_err(|e| e.within(place))?,
        comm_c: first.column.inclusion.root,
        comm_r_last: first.replica.root,
        seed: c1.seed,
        ticket: c1.ticket,
        partitions: Vec::with_capacity(c1.partitions.len()),
    };
    let comm_r = poseidon(&[porep.comm_c, porep.comm_r_last]);
    if comm_r != porep.comm_r {
        let expected = format!("{}, the hash of the roots of trees C and R", show(&comm_r));
        return Err(RequestError::new("comm_r", show(&porep.comm_r), expected).within(place));
    }
    for (k, raw) in c1.partitions.into_iter().enumerate() {
        let challenges = check_partition(&porep, k, raw)
            .map_err(|e| e.within(format!("vanilla_proofs[{k}]")).within(place))?;
        porep.partitions.push(challenges);
    }
    Ok(porep)
}

/// The replica id commits to miner, sector, ticket, CommD and registered proof. Gives the miner and the sector.
fn check_origin(
    c1: &C1,
    registered: RegisteredSealProof,
    request: &ProofRequest,
) -> Result<(u64, u64)> {
    let sector_number = match c1.envelope {
        Some((inner, _)) if request.sector_number != 0 && request.sector_number != inner => {
            let expected = format!("{inner}, as vanilla_proofs[0].SectorNum says");
            return Err(RequestError::new(
                "sector_number",
                request.sector_number,
                expected,
            ));
        }
        Some((inner, _)) => inner,
        None => request.sector_number,
    };
    let inputs = ReplicaIdInputs {
        sector_number,
        ticket: &c1.ticket,
        comm_d: &c1.comm_d,
        porep_id: &registered.as_v1_config().porep_id,
    };
    let found = c1.replica_id.to_repr();
    let (sealer, miner) = match request.miner_id {
        0 => (
            inputs.find_miner(&found),
            format!("any miner below {SEARCHED_MINERS} (miner_id was not given)"),
        ),
        miner => (
            (inputs.replica_id(miner) == found).then_some(miner),
            format!("miner {miner}"),
        ),
    };
    if let Some(sealer) = sealer {
        return Ok((sealer, sector_number));
    }
    let expected = format!(
        "that of {miner}, sector {sector_number}, ticket {}, comm_d {} and {registered:?}",
        hex::encode(c1.ticket),
        hex::encode(c1.comm_d),
    );
    Err(RequestError::new("replica_id", hex::encode(found), expected).within(c1.place))
}

fn check_counts(c1: &C1, registered: RegisteredSealProof) -> Result<()> {
    let wrong = |found: usize, what: &str, expected: usize| {
        let expected = format!("{expected} {what} for {registered:?}");
        RequestError::new("", format!("{found} {what}"), expected)
    };
    let expected = usize::from(registered.partitions());
    if c1.partitions.len() != expected {
        let e = wrong(c1.partitions.len(), "partitions", expected);
        return Err(e.within("vanilla_proofs").within(c1.place));
    }
    let expected = super::challenges_per_partition(c1.sector_size);
    for (k, challenges) in c1.partitions.iter().enumerate() {
        if challenges.len() != expected {
            let e = wrong(challenges.len(), "challenges", expected);
            return Err(e.within(format!("vanilla_proofs[{k}]")).within(c1.place));
        }
    }
    Ok(())
}

fn check_partition(porep: &PoRep, k: usize, raw: Vec<RawChallenge>) -> Result<Vec<Challenge>> {
    let upstream = |e| RequestError::new("", format!("{e}"), "values upstream can derive from");
    let nodes = porep.challenged_nodes(k).map_err(upstream)?;
    let parents = porep.parents(&nodes).map_err(upstream)?;
    let expected = nodes.into_par_iter().zip(parents);
    raw.into_par_iter()
        .zip(expected)
        .enumerate()
        .map(|(i, (raw, (node, parents)))| {
            check_challenge(porep, raw, node, &parents).map_err(|e| e.within(format!("[{i}]")))
        })
        .collect::<Vec<_>>()
        .into_iter()
        .collect()
}

fn check_challenge(
    porep: &PoRep,
    raw: RawChallenge,
    node: u64,
    parents: &[u64],
) -> Result<Challenge> {
    let size = porep.sector_size;
    let data = check_path(
        &raw.data,
        (node, "the node that replica_id and seed challenge"),
        (porep.comm_d, "comm_d"),
        &TreeShape::binary(size),
        NodeHash::Sha256,
    )
    .map_err(|e| e.within("comm_d_proofs"))?;
    let replica = check_path(
        &raw.replica,
        (node, "the challenged node"),
        (porep.comm_r_last, "the root of tree R"),
        &TreeShape::octal(size),
        NodeHash::Poseidon,
    )
    .map_err(|e| e.within("comm_r_last_proof"))?;
    let columns = raw.drg_parents.into_iter().map(|c| (c, "drg_parents"));
    let columns = columns.chain(raw.expander_parents.into_iter().map(|c| (c, "exp_parents")));
    let parents = columns
        .zip(parents)
        .enumerate()
        .map(|(i, ((column, group), parent))| {
            let i = if group == "drg_parents" {
                i
            } else {
                i - super::DRG_PARENTS
            };
            check_column(porep, &column, *parent)
                .map(|path| Column {
                    labels: column.labels,
                    path,
                })
                .map_err(|e| {
                    e.within(format!("{group}[{i}]"))
                        .within("replica_column_proofs")
                })
        })
        .collect::<Result<Vec<_>>>()?;
    let column = check_column(porep, &raw.column, node)
        .map_err(|e| e.within("c_x").within("replica_column_proofs"))?;
    let challenge = Challenge {
        node,
        data: Inclusion {
            leaf: raw.data.leaf,
            path: data,
        },
        replica,
        column,
        parents,
    };
    check_labels(porep, &challenge, &raw.labels, &raw.encoding)?;
    check_key(porep, &challenge, &raw.column.labels, raw.replica.leaf)?;
    Ok(challenge)
}

/// A path leads from its leaf to the root, at the right place.
fn check_path(
    proof: &MerkleProof,
    (node, node_name): (u64, &str),
    (root, root_name): (Scalar, &str),
    shape: &TreeShape,
    hash: NodeHash,
) -> Result<Path> {
    let found = proof.path.index(shape);
    if found != node {
        let expected = format!("node {node}, {node_name}");
        return Err(RequestError::new(
            "path",
            format!("the path of node {found}"),
            expected,
        ));
    }
    if proof.root != root {
        let expected = format!("{}, {root_name}", show(&root));
        return Err(RequestError::new("root", show(&proof.root), expected));
    }
    let reached = proof.path.root(proof.leaf, shape, hash);
    if reached != root {
        let expected = format!("one to the root {}", show(&root));
        return Err(RequestError::new(
            "path",
            format!("a path to {}", show(&reached)),
            expected,
        ));
    }
    Ok(proof.path.clone())
}

fn check_column(porep: &PoRep, column: &RawColumn, node: u64) -> Result<Path> {
    if column.index != node {
        return Err(RequestError::new("column.index", column.index, node));
    }
    let hash = poseidon(&column.labels);
    if hash != column.inclusion.leaf {
        let expected = format!("{}, the hash of the column", show(&hash));
        let found = show(&column.inclusion.leaf);
        return Err(RequestError::new("inclusion_proof.leaf", found, expected));
    }
    check_path(
        &column.inclusion,
        (node, "the challenged node or its parent"),
        (porep.comm_c, "the root of tree C"),
        &TreeShape::octal(porep.sector_size),
        NodeHash::Poseidon,
    )
    .map_err(|e| e.within("inclusion_proof"))
}

/// The preimages of the labels are the parents' columns over again.
fn check_labels(
    porep: &PoRep,
    challenge: &Challenge,
    labels: &[Label],
    encoding: &Label,
) -> Result<()> {
    for (i, label) in labels.iter().enumerate() {
        check_label(challenge, label, i + 1)
            .map_err(|e| e.within(format!("labeling_proofs[{i}]")))?;
    }
    check_label(challenge, encoding, porep.layers()).map_err(|e| e.within("encoding_proof"))
}

fn check_label(challenge: &Challenge, label: &Label, layer: usize) -> Result<()> {
    if label.layer != layer as u64 {
        return Err(RequestError::new("layer_index", label.layer, layer));
    }
    if label.node != challenge.node {
        return Err(RequestError::new("node", label.node, challenge.node));
    }
    let expected = challenge.label_parents(layer);
    for (i, (found, expected)) in label.parents.iter().zip(expected).enumerate() {
        if *found != expected.to_repr() {
            let expected = format!("{}, the parent's label", show(&expected));
            return Err(RequestError::new(
                format!("parents[{i}]"),
                hex::encode(found),
                expected,
            ));
        }
    }
    Ok(())
}

/// The challenged node's labels follow from its parents', and the last one encodes its data.
fn check_key(
    porep: &PoRep,
    challenge: &Challenge,
    column: &[Scalar],
    encoded: Scalar,
) -> Result<()> {
    let labels = porep.labels(challenge);
    for (i, (found, expected)) in column.iter().zip(&labels).enumerate() {
        if found != expected {
            let field = format!("replica_column_proofs.c_x.column.rows[{i}]");
            let expected = format!("{}, the label that its parents give", show(expected));
            return Err(RequestError::new(field, show(found), expected));
        }
    }
    let expected = labels[labels.len() - 1] + challenge.data.leaf;
    if encoded != expected {
        let expected = format!(
            "{}, the sum of the last label and the data",
            show(&expected)
        );
        return Err(RequestError::new(
            "comm_r_last_proof.leaf",
            show(&encoded),
            expected,
        ));
    }
    Ok(())
}

fn show(element: &Scalar) -> String {
    hex::encode(element.to_repr())
}
