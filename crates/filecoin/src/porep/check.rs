//! Whether a C1 output is true: every value of it is bound to the commitments, the randomness and the request.
//!
//! Upstream's own check (`verify_all_partitions`) leaves out the paths in trees D and R, the columns' indices and
//! who sealed the sector; a proof over those would be made in vain. This one covers every value.

use super::decode::{C1, Challenge as RawChallenge, Column as RawColumn, Label};
use super::origin::{check_counts, check_origin};
use super::{Challenge, Column, PoRep};
use crate::decode::MerkleProof;
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
    for (k, raw) in c1.partitions.into_iter().enumerate() {
        let challenges = check_partition(&porep, k, raw)
            .map_err(|e| e.within(format!("vanilla_proofs[{k}]")).within(place))?;
        porep.partitions.push(challenges);
    }
    Ok(porep)
}

/// Challenges checked together: enough to fill the lanes of the hashes, few enough for all cores to have some.
const TOGETHER: usize = 6;

fn check_partition(porep: &PoRep, k: usize, mut raw: Vec<RawChallenge>) -> Result<Vec<Challenge>> {
    let upstream = |e| RequestError::new("", format!("{e}"), "values upstream can derive from");
    let nodes = porep.challenged_nodes(k).map_err(upstream)?;
    let parents = porep.parents(&nodes).map_err(upstream)?;
    let places: Vec<_> = nodes.into_iter().zip(parents).collect();
    let checked: Vec<_> = raw
        .par_chunks_mut(TOGETHER)
        .zip(places.par_chunks(TOGETHER))
        .enumerate()
        .map(|(chunk, (raw, places))| check_challenges(porep, raw, places, chunk * TOGETHER))
        .collect();
    let mut challenges = Vec::with_capacity(raw.len());
    for chunk in checked {
        challenges.extend(chunk?);
    }
    Ok(challenges)
}

/// Checks challenges from number `first` on, given their nodes and the nodes' parents; takes what is kept of them.
fn check_challenges(
    porep: &PoRep,
    raw: &mut [RawChallenge],
    places: &[(u64, Vec<u64>)],
    first: usize,
) -> Result<Vec<Challenge>> {
    for (i, (raw, (node, parents))) in raw.iter().zip(places).enumerate() {
        check_places(porep, raw, *node, parents)
            .map_err(|e| e.within(format!("[{}]", first + i)))?;
    }
    check_hashes(porep, raw).map_err(|(i, e)| e.within(format!("[{}]", first + i)))?;
    raw.iter_mut()
        .zip(places)
        .enumerate()
        .map(|(i, (raw, (node, _)))| {
            let challenge = raw.take(*node);
            check_labels(porep, &challenge, &raw.labels, &raw.encoding)
                .and_then(|()| check_key(porep, &challenge, &raw.column.labels, raw.replica.leaf))
                .map_err(|e| e.within(format!("[{}]", first + i)))?;
            Ok(challenge)
        })
        .collect()
}

impl RawChallenge {
    /// All columns and where they stand: the node's own, then its parents'.
    fn columns(&self) -> impl Iterator<Item = (&RawColumn, String)> {
        let own = std::iter::once((&self.column, "c_x".to_string()));
        let named = |columns: &'static str| move |i| format!("{columns}[{i}]");
        let drg = self.drg_parents.iter().zip((0..).map(named("drg_parents")));
        let expander = self
            .expander_parents
            .iter()
            .zip((0..).map(named("exp_parents")));
        own.chain(drg)
            .chain(expander)
            .map(|(column, name)| (column, format!("replica_column_proofs.{name}")))
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
    for ((column, name), node) in raw.columns().zip(nodes) {
        if column.index != *node {
            let e = RequestError::new("column.index", column.index, node);
            return Err(e.within(name));
        }
        let root = (porep.comm_c, "the root of tree C");
        check_place(
            &column.inclusion,
            (*node, "the challenged node or its parent"),
            root,
            &octal,
        )
        .map_err(|e| e.within("inclusion_proof").within(name))?;
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

/// Columns hash to their leaves and paths lead to their roots. An error comes with the number of its challenge.
fn check_hashes(
    porep: &PoRep,
    raw: &[RawChallenge],
) -> std::result::Result<(), (usize, RequestError)> {
    let (binary, octal) = (
        TreeShape::binary(porep.sector_size),
        TreeShape::octal(porep.sector_size),
    );
    let columns = raw.iter().enumerate();
    let columns = columns.flat_map(|(i, raw)| raw.columns().map(move |(c, name)| (i, c, name)));
    let columns: Vec<_> = columns.collect();
    let hashes = column_hashes(
        columns
            .iter()
            .map(|(_, column, _)| column.labels.as_slice()),
    );
    for ((i, column, name), hash) in columns.iter().zip(hashes) {
        if column.inclusion.leaf != hash {
            let (found, expected) = (show(&column.inclusion.leaf), show(&hash));
            let expected = format!("{expected}, the hash of the column");
            let e = RequestError::new("inclusion_proof.leaf", found, expected);
            return Err((*i, e.within(name)));
        }
    }
    let proofs = columns.into_iter();
    let proofs = proofs.map(|(i, c, name)| (i, &c.inclusion, format!("{name}.inclusion_proof")));
    let replica = raw.iter().enumerate();
    let replica = replica.map(|(i, raw)| (i, &raw.replica, "comm_r_last_proof".to_string()));
    check_roots(
        &proofs.chain(replica).collect::<Vec<_>>(),
        &octal,
        NodeHash::Poseidon,
    )?;
    let data = raw.iter().enumerate();
    let data = data.map(|(i, raw)| (i, &raw.data, "comm_d_proofs".to_string()));
    check_roots(&data.collect::<Vec<_>>(), &binary, NodeHash::Sha256)
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

fn check_roots(
    proofs: &[(usize, &MerkleProof, String)],
    shape: &TreeShape,
    hash: NodeHash,
) -> std::result::Result<(), (usize, RequestError)> {
    let paths: Vec<_> = proofs.iter().map(|(_, p, _)| (p.leaf, &p.path)).collect();
    for ((i, proof, name), reached) in proofs.iter().zip(roots(&paths, shape, hash)) {
        if reached != proof.root {
            let found = format!("a path to {}", show(&reached));
            let expected = format!("one to the root {}", show(&proof.root));
            return Err((*i, RequestError::new("path", found, expected).within(name)));
        }
    }
    Ok(())
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
