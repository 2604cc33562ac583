//! Synthetic SnapDeals: the old replica and the new data are constant, so the new replica is constant wherever rho
//! is, and the challenges, drawn from the new CommR, may fall where they like.

use super::sparse::{Background, Pattern};
use super::{SyntheticOptions, size};
use crate::merkle::{NodeHash, TreeShape, poseidon};
use crate::registered;
use crate::request::ProofRequest;
use crate::snap::{Challenge, Partition, SnapDeals};
use crate::vanilla::VanillaError;
use blstrs::Scalar;
use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

pub(super) fn request(
    base: ProofRequest,
    options: &SyntheticOptions,
    mut rng: ChaCha8Rng,
) -> Result<ProofRequest, VanillaError> {
    let size = size(&base);
    let octal = TreeShape::octal(size);
    let [old, data, comm_c] = [0; 3].map(|_| Scalar::random(&mut rng));
    let constant =
        |value, shape, hash| Background::new(shape, hash, Pattern::periodic(vec![value]));
    let trees = [
        constant(old, octal, NodeHash::Poseidon),
        constant(data, TreeShape::binary(size), NodeHash::Sha256),
    ];
    let [old_tree, data_tree] = trees.each_ref().map(|t| t.with_leaves(HashMap::new()));
    let mut snap = SnapDeals {
        registered: registered::update(base.registered_proof).expect("checked by the caller"),
        sector_size: size,
        comm_r_old: poseidon(&[comm_c, old_tree.root()]),
        comm_r_new: Scalar::default(),
        comm_d_new: data_tree.root(),
        partitions: Vec::new(),
    };
    let shift = size.nodes().trailing_zeros() - snap.high_bits() as u32;
    let runs = 0..size.nodes() >> shift;
    let encoded = runs
        .map(|high| old + data * snap.rho(high << shift))
        .collect();
    let new_background = Background::new(octal, NodeHash::Poseidon, Pattern::runs(encoded, shift));
    let new_tree = new_background.with_leaves(HashMap::new());
    snap.comm_r_new = poseidon(&[comm_c, new_tree.root()]);
    snap.partitions = (0..snap.num_partitions())
        .map(|k| Partition {
            comm_c,
            root_r_old: old_tree.root(),
            root_r_new: new_tree.root(),
            apex_leaves: snap
                .apex_row(k)
                .map(|(level, node)| data_tree.get(level, node))
                .collect(),
            challenges: snap
                .challenged_nodes(k)
                .map(|node| Challenge {
                    node,
                    old: old_tree.inclusion(node),
                    data: data_tree.inclusion(node),
                    new: new_tree.inclusion(node),
                })
                .collect(),
        })
        .collect();
    Ok(ProofRequest {
        sector_number: options.sector_number,
        comm_r_old: snap.comm_r_old.to_repr().to_vec(),
        comm_r_new: snap.comm_r_new.to_repr().to_vec(),
        comm_d_new: snap.comm_d_new.to_repr().to_vec(),
        vanilla_proofs: snap.encode()?,
        ..base
    })
}
