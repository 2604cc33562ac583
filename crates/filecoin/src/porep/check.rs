//! Whether a C1 output is true: every value of it is bound to the commitments, the randomness and the request.
//!
//! Upstream's own check (`verify_all_partitions`) leaves out the paths in trees D and R, the columns' indices and
//! who sealed the sector; a proof over those would be made in vain. This one covers every value.

use super::decode::{C1, Challenge as RawChallenge, Column as RawColumn, Label};
use super::label::{label_from_bytes, label_parents};
use super::origin::{check_counts, check_origin};
use super::{Challenge, Column, DRG_PARENTS, PoRep};
use crate::decode::{MerkleProof, show};
use crate::merkle::{Inclusion, NodeHash, TreeShape, poseidon, poseidon_many, roots};
use crate::request::{ProofRequest, RequestError};
use crate::statement::commitment;
use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::RegisteredSealProof;
use rayon::prelude::*;
use std::mem;

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
    let mut placed = Vec::new();
    let partitions: Vec<_> = c1
        .partitions
        .into_par_iter()
        .enumerate()
        .map(|(k, raw)| place_partition(&porep, k, raw))
        .collect();
    for partition in partitions {
        placed.extend(partition.map_err(|e| e.within(place))?);
    }
    check_hashes(&porep, &placed).map_err(|(i, e)| placed[i].blame(e).within(place))?;
    let challenges: Vec<_> = placed
        .into_par_iter()
        .map(|placed| (placed.partition, check_labels(&porep, placed)))
        .collect();
    for (k, challenge) in challenges {
        porep.partitions.resize_with(k + 1, Vec::new);
        porep.partitions[k].push(challenge.map_err(|e| e.within(place))?);
    }
    Ok(porep)
}

/// A challenge, where it stands in the request, and the node that it must be about.
struct Placed {
    partition: usize,
    number: usize,
    node: u64,
    raw: RawChallenge,
}

impl Placed {
    /// The error, said to be about this challenge.
    fn blame(&self, error: RequestError) -> RequestError {
        within_challenge(error, self.partition, self.number)
    }
}

fn within_challenge(error: RequestError, partition: usize, number: usize) -> RequestError {
    error
        .within(format!("[{number}]"))
        .within(format!("vanilla_proofs[{partition}]"))
}

/// Checks that a partition's challenges are about the nodes that randomness chose.
fn place_partition(porep: &PoRep, k: usize, raw: Vec<RawChallenge>) -> Result<Vec<Placed>> {
    let upstream = |e| {
        let e = RequestError::new("", format!("{e}"), "values upstream can derive from");
        e.within(format!("vanilla_proofs[{k}]"))
    };
    let nodes = porep.challenged_nodes(k).map_err(upstream)?;
    let parents = porep.parents(&nodes).map_err(upstream)?;
    let placed = raw.into_iter().zip(nodes.into_iter().zip(parents));
    placed
        .enumerate()
        .map(|(number, (raw, (node, parents)))| {
            check_places(porep, &raw, node, &parents)
                .map_err(|e| within_challenge(e, k, number))?;
            Ok(Placed {
                partition: k,
                number,
                node,
                raw,
            })
        })
        .collect()
}

impl RawChallenge {
    /// All columns: the node's own, then its parents'.
    fn columns(&self) -> impl Iterator<Item = &RawColumn> {
        std::iter::once(&self.column)
            .chain(&self.drg_parents)
            .chain(&self.expander_parents)
    }

    /// What the statement keeps.
    fn take(&mut self, node: u64) -> Challenge {
        let parents = self
            .drg_parents
            .iter_mut()
            .chain(&mut self.expander_parents);
        Challenge {
            node,
            data: Inclusion {
                leaf: self.data.leaf,
                path: mem::take(&mut self.data.path),
            },
            replica: mem::take(&mut self.replica.path),
            column: mem::take(&mut self.column.inclusion.path),
            parents: parents
                .map(|column| Column {
                    labels: mem::take(&mut column.labels),
                    path: mem::take(&mut column.inclusion.path),
                })
                .collect(),
        }
    }
}

/// Where column number `i` of a challenge stands.
fn column_name(i: usize) -> String {
    match i.checked_sub(1) {
        None => "replica_column_proofs.c_x".to_string(),
        Some(i) if i < DRG_PARENTS => format!("replica_column_proofs.drg_parents[{i}]"),
        Some(i) => format!("replica_column_proofs.exp_parents[{}]", i - DRG_PARENTS),
    }
}

/// Every proof is of the right node and claims the right root.
fn check_places(porep: &PoRep, raw: &RawChallenge, node: u64, parents: &[u64]) -> Result<()> {
    let (binary, octal) = (
        TreeShape::binary(porep.sector_size),
        TreeShape::octal(porep.sector_size),
    );
    let challenged = (node, "the node that replica_id and seed challenge");
    check_place(&raw.data, challenged, (porep.comm_d, "comm_d"), &binary)
        .map_err(|e| e.within("comm_d_proofs"))?;
    let root = (porep.comm_r_last, "the root of tree R");
    check_place(&raw.replica, challenged, root, &octal)
        .map_err(|e| e.within("comm_r_last_proof"))?;
    let nodes = std::iter::once(&node).chain(parents);
    for ((i, column), node) in raw.columns().enumerate().zip(nodes) {
        if column.index != *node {
            let e = RequestError::new("column.index", column.index, node);
            return Err(e.within(column_name(i)));
        }
        let root = (porep.comm_c, "the root of tree C");
        check_place(
            &column.inclusion,
            (*node, "the challenged node or its parent"),
            root,
            &octal,
        )
        .map_err(|e| e.within("inclusion_proof").within(column_name(i)))?;
    }
    Ok(())
}

fn check_place(
    proof: &MerkleProof,
    (node, node_name): (u64, &str),
    (root, root_name): (Scalar, &str),
    shape: &TreeShape,
) -> Result<()> {
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
    Ok(())
}

/// Columns hash to their leaves and paths lead to their roots. An error comes with the place of its challenge.
fn check_hashes(
    porep: &PoRep,
    placed: &[Placed],
) -> std::result::Result<(), (usize, RequestError)> {
    let (binary, octal) = (
        TreeShape::binary(porep.sector_size),
        TreeShape::octal(porep.sector_size),
    );
    let columns = || {
        let placed = placed.iter().enumerate();
        placed.flat_map(|(i, p)| (0..).zip(p.raw.columns()).map(move |(n, c)| (i, n, c)))
    };
    let hashes = column_hashes(columns().map(|(_, _, column)| column.labels.as_slice()));
    for ((i, n, column), hash) in columns().zip(hashes) {
        if column.inclusion.leaf != hash {
            let (found, expected) = (show(&column.inclusion.leaf), show(&hash));
            let expected = format!("{expected}, the hash of the column");
            let e = RequestError::new("inclusion_proof.leaf", found, expected);
            return Err((i, e.within(column_name(n))));
        }
    }
    let paths = columns().map(|(i, n, column)| (i, Named::Column(n), &column.inclusion));
    check_roots(&paths.collect::<Vec<_>>(), &octal, NodeHash::Poseidon)?;
    let all = || placed.iter().map(|placed| &placed.raw).enumerate();
    let replica = all().map(|(i, raw)| (i, Named::Replica, &raw.replica));
    check_roots(&replica.collect::<Vec<_>>(), &octal, NodeHash::Poseidon)?;
    let data = all().map(|(i, raw)| (i, Named::Data, &raw.data));
    check_roots(&data.collect::<Vec<_>>(), &binary, NodeHash::Sha256)
}

/// A Merkle proof of a challenge.
#[derive(Clone, Copy)]
enum Named {
    Column(usize),
    Replica,
    Data,
}

impl Named {
    fn name(self) -> String {
        match self {
            Self::Column(n) => format!("{}.inclusion_proof", column_name(n)),
            Self::Replica => "comm_r_last_proof".to_string(),
            Self::Data => "comm_d_proofs".to_string(),
        }
    }
}

fn column_hashes<'a>(columns: impl Iterator<Item = &'a [Scalar]>) -> Vec<Scalar> {
    fn hash<const LAYERS: usize>(columns: &[&[Scalar]]) -> Vec<Scalar> {
        let array = |column: &&[Scalar]| <[Scalar; LAYERS]>::try_from(*column);
        let columns: std::result::Result<Vec<_>, _> = columns.iter().map(array).collect();
        poseidon_many(&columns.expect("decoding checked the number of layers"))
    }
    let columns: Vec<_> = columns.collect();
    match columns.first().map_or(2, |column| column.len()) {
        2 => hash::<2>(&columns),
        _ => hash::<11>(&columns),
    }
}

/// Paths in one tree lead to its root.
fn check_roots(
    proofs: &[(usize, Named, &MerkleProof)],
    shape: &TreeShape,
    hash: NodeHash,
) -> std::result::Result<(), (usize, RequestError)> {
    let starts: Vec<_> = proofs.iter().map(|(_, _, proof)| proof.start(0)).collect();
    for ((i, named, proof), reached) in proofs.iter().zip(roots(&starts, shape, hash)) {
        if reached != proof.root {
            let found = format!("a path to {}", show(&reached));
            let expected = format!("one to the root {}", show(&proof.root));
            let e = RequestError::new("path", found, expected);
            return Err((*i, e.within(named.name())));
        }
    }
    Ok(())
}

/// The preimages of the labels are the parents' columns over again; the challenged node's labels follow from them, and
/// the last one encodes its data. Drops what is redundant.
fn check_labels(porep: &PoRep, mut placed: Placed) -> Result<Challenge> {
    let challenge = placed.raw.take(placed.node);
    check_preimages(porep, &challenge, &placed.raw)
        .and_then(|()| check_key(porep, &challenge, &placed.raw))
        .map_err(|e| placed.blame(e))?;
    Ok(challenge)
}

fn check_preimages(porep: &PoRep, challenge: &Challenge, raw: &RawChallenge) -> Result<()> {
    let columns = challenge.parents.iter().map(|column| &column.labels);
    let columns: Vec<Vec<_>> = columns
        .map(|labels| labels.iter().map(Scalar::to_repr).collect())
        .collect();
    let columns: Vec<&[_]> = columns.iter().map(Vec::as_slice).collect();
    for (i, label) in raw.labels.iter().enumerate() {
        check_preimage(challenge.node, label, i + 1, &columns)
            .map_err(|e| e.within(format!("labeling_proofs[{i}]")))?;
    }
    check_preimage(challenge.node, &raw.encoding, porep.layers(), &columns)
        .map_err(|e| e.within("encoding_proof"))
}

fn check_preimage(node: u64, label: &Label, layer: usize, columns: &[&[[u8; 32]]]) -> Result<()> {
    if label.layer != layer as u64 {
        return Err(RequestError::new("layer_index", label.layer, layer));
    }
    if label.node != node {
        return Err(RequestError::new("node", label.node, node));
    }
    let expected = label_parents(columns, layer);
    let mut both = label.parents.iter().zip(&expected);
    match both.position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(i) => Err(RequestError::new(
            format!("parents[{i}]"),
            hex::encode(label.parents[i]),
            format!("{}, the parent's label", hex::encode(expected[i])),
        )),
    }
}

/// The preimages were checked.
fn check_key(porep: &PoRep, challenge: &Challenge, raw: &RawChallenge) -> Result<()> {
    let replica_id = porep.replica_id.to_repr();
    let mut key = Scalar::default();
    for (i, (found, preimage)) in raw.column.labels.iter().zip(&raw.labels).enumerate() {
        key = label_from_bytes(&replica_id, i + 1, challenge.node, &preimage.parents);
        if *found != key {
            let field = format!("replica_column_proofs.c_x.column.rows[{i}]");
            let expected = format!("{}, the label that its parents give", show(&key));
            return Err(RequestError::new(field, show(found), expected));
        }
    }
    let expected = key + challenge.data.leaf;
    if raw.replica.leaf != expected {
        return Err(RequestError::new(
            "comm_r_last_proof.leaf",
            show(&raw.replica.leaf),
            format!(
                "{}, the sum of the last label and the data",
                show(&expected)
            ),
        ));
    }
    Ok(())
}
