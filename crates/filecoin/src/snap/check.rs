//! Whether a partition's vanilla proof is true: every value of it is bound to the three commitments.
//!
//! Upstream's check lets the apex leaves stand anywhere in their row; the circuit does not, nor does this one.

use super::circuit::apex_leaves;
use super::decode::{Challenge as RawChallenge, Partition as RawPartition};
use super::{Challenge, Partition, SnapDeals};
use crate::decode::{MerkleProof, show};
use crate::merkle::{Inclusion, NodeHash, TreeShape, poseidon, roots};
use crate::request::RequestError;
use blstrs::Scalar;
use storage_proofs_update::{phi, rho};

type Result<T> = std::result::Result<T, RequestError>;

/// Checks partition `k` and drops what is redundant.
pub(super) fn check(snap: &SnapDeals, k: usize, raw: RawPartition) -> Result<Partition> {
    let first = &raw.challenges[0];
    let mut partition = Partition {
        comm_c: raw.comm_c,
        root_r_old: first.old.root,
        root_r_new: first.new.root,
        apex_leaves: raw.apex_leaves,
        challenges: Vec::with_capacity(raw.challenges.len()),
    };
    for (name, root, comm_r) in [
        ("comm_r_old", partition.root_r_old, snap.comm_r_old),
        ("comm_r_new", partition.root_r_new, snap.comm_r_new),
    ] {
        let expected = poseidon(&[partition.comm_c, root]);
        if expected != comm_r {
            let found = format!("comm_c and a root that hash to {}", show(&expected));
            return Err(RequestError::new(
                "",
                found,
                format!("{name}, {}", show(&comm_r)),
            ));
        }
    }
    let nodes = snap.challenged_nodes(k);
    for (i, (raw, node)) in raw.challenges.iter().zip(nodes).enumerate() {
        check_places(snap, &partition, raw, node)
            .map_err(|e| e.within(format!("challenge_proofs[{i}]")))?;
    }
    check_roots(snap, &raw.challenges)?;
    let nodes = snap.challenged_nodes(k);
    for (i, (raw, node)) in raw.challenges.into_iter().zip(nodes).enumerate() {
        let challenge = check_encoding(snap, raw, node)
            .map_err(|e| e.within(format!("challenge_proofs[{i}]")))?;
        partition.challenges.push(challenge);
    }
    check_apex(snap, k, &partition)?;
    Ok(partition)
}

/// The three proofs are of the challenged node and claim the right roots.
fn check_places(
    snap: &SnapDeals,
    partition: &Partition,
    raw: &RawChallenge,
    node: u64,
) -> Result<()> {
    let (binary, octal) = (
        TreeShape::binary(snap.sector_size),
        TreeShape::octal(snap.sector_size),
    );
    for (name, proof, root, shape) in [
        ("proof_r_old", &raw.old, partition.root_r_old, &octal),
        ("proof_d_new", &raw.data, snap.comm_d_new, &binary),
        ("proof_r_new", &raw.new, partition.root_r_new, &octal),
    ] {
        let found = proof.path.index(shape);
        if found != node {
            let found = format!("the path of node {found}");
            let expected = format!("node {node}, which comm_r_new challenges");
            return Err(RequestError::new("path", found, expected).within(name));
        }
        if proof.root != root {
            let (found, expected) = (show(&proof.root), show(&root));
            return Err(RequestError::new("root", found, expected).within(name));
        }
    }
    Ok(())
}

/// Every path leads to the root that it claims.
fn check_roots(snap: &SnapDeals, challenges: &[RawChallenge]) -> Result<()> {
    type Proof = for<'a> fn(&'a RawChallenge) -> &'a MerkleProof;
    let octal = TreeShape::octal(snap.sector_size);
    let binary = TreeShape::binary(snap.sector_size);
    let trees: [(&str, Proof, _, _); 3] = [
        ("proof_r_old", |c| &c.old, &octal, NodeHash::Poseidon),
        ("proof_d_new", |c| &c.data, &binary, NodeHash::Sha256),
        ("proof_r_new", |c| &c.new, &octal, NodeHash::Poseidon),
    ];
    for (name, proof, shape, hash) in trees {
        let proofs: Vec<_> = challenges.iter().map(proof).collect();
        let starts: Vec<_> = proofs.iter().map(|p| p.start(0)).collect();
        let reached = roots(&starts, shape, hash);
        for (i, (proof, reached)) in proofs.iter().zip(reached).enumerate() {
            if reached != proof.root {
                let field = format!("challenge_proofs[{i}].{name}.path");
                let found = format!("a path to {}", show(&reached));
                let expected = format!("one to the root {}", show(&proof.root));
                return Err(RequestError::new(field, found, expected));
            }
        }
    }
    Ok(())
}

/// The new replica's node is the old one plus the data times rho.
fn check_encoding(snap: &SnapDeals, raw: RawChallenge, node: u64) -> Result<Challenge> {
    let encoded = raw.old.leaf + raw.data.leaf * snap.rho(node);
    if raw.new.leaf != encoded {
        let expected = format!("{}, the old node plus the data times rho", show(&encoded));
        return Err(RequestError::new(
            "proof_r_new.leaf",
            show(&raw.new.leaf),
            expected,
        ));
    }
    let [old, data, new] = [raw.old, raw.data, raw.new].map(|proof| Inclusion {
        leaf: proof.leaf,
        path: proof.path,
    });
    Ok(Challenge {
        node,
        old,
        data,
        new,
    })
}

/// The apex leaves are the partition's row of tree D: hashed up they meet the paths to the root, and each path goes
/// through its own.
fn check_apex(snap: &SnapDeals, k: usize, partition: &Partition) -> Result<()> {
    let leaves = &partition.apex_leaves;
    let height = snap.apex_height();
    for challenge in &partition.challenges {
        let place = (challenge.node >> height) as usize - k * leaves.len();
        let expected = node_at(&challenge.data, height);
        if leaves[place] != expected {
            let field = format!("apex_leafs[{place}]");
            let expected = format!("{}, a node of the paths in tree D", show(&expected));
            return Err(RequestError::new(field, show(&leaves[place]), expected));
        }
    }
    let mut row = leaves.clone();
    while row.len() > 1 {
        row = row
            .chunks(2)
            .map(|pair| NodeHash::Sha256.parent(pair))
            .collect();
    }
    let apex_levels = leaves.len().trailing_zeros() as usize;
    let expected = node_at(&partition.challenges[0].data, height + apex_levels);
    if row[0] != expected {
        let found = format!("leaves that hash to {}", show(&row[0]));
        let expected = format!("{}, a node of the paths in tree D", show(&expected));
        return Err(RequestError::new("apex_leafs", found, expected));
    }
    Ok(())
}

/// The node that a path in tree D passes at a height above the leaves.
fn node_at(data: &Inclusion, height: usize) -> Scalar {
    let levels = data.path.positions.iter().zip(&data.path.siblings);
    levels
        .take(height)
        .fold(data.leaf, |node, (position, sibling)| {
            let children = if *position == 0 {
                [node, *sibling]
            } else {
                [*sibling, node]
            };
            NodeHash::Sha256.parent(&children)
        })
}

impl SnapDeals {
    /// Levels of tree D below the apex leaves.
    fn apex_height(&self) -> usize {
        let rows = self.num_partitions() * apex_leaves(self.sector_size);
        TreeShape::binary(self.sector_size).levels() - rows.trailing_zeros() as usize
    }

    /// Level and index in tree D of a partition's apex leaves.
    pub(crate) fn apex_row(&self, partition: usize) -> impl Iterator<Item = (usize, u64)> {
        let (height, leaves) = (self.apex_height(), apex_leaves(self.sector_size));
        (0..leaves).map(move |i| (height, (partition * leaves + i) as u64))
    }

    /// The factor that encodes a node's data: a hash of the commitments and the node's high bits.
    pub fn rho(&self, node: u64) -> Scalar {
        let phi = phi(
            &filecoin_hashers::sha256::Sha256Domain::from(self.comm_d_new),
            &self.comm_r_old.into(),
        );
        let bits = self.sector_size.nodes().trailing_zeros() as usize;
        rho(&phi, (node >> (bits - self.high_bits())) as u32)
    }
}
