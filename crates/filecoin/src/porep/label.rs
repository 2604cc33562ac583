//! Labels of a challenged node, computed from its parents' columns.

use super::{Challenge, DRG_PARENTS, PoRep};
use crate::merkle::truncated;
use blstrs::Scalar;
use ff::PrimeField;
use sha2::{Digest, Sha256};

/// Labels that one label is computed from: the parents', repeated.
pub(crate) const LABEL_PARENTS: usize = 37;

/// What a label is computed from, besides replica id, layer and node, given the labels of the node's 14 parents: in
/// layer 1 the six parents of the depth-robust graph, in later layers also the eight of the expander graph with their
/// labels in the layer below; repeated to 37.
pub(crate) fn label_parents<T: Copy>(parents: &[&[T]], layer: usize) -> Vec<T> {
    let (drg, expander) = parents.split_at(DRG_PARENTS);
    let mut labels: Vec<_> = drg.iter().map(|labels| labels[layer - 1]).collect();
    if layer > 1 {
        labels.extend(expander.iter().map(|labels| labels[layer - 2]));
    }
    labels.into_iter().cycle().take(LABEL_PARENTS).collect()
}

/// [`label_from_bytes`] of elements.
pub(crate) fn label(replica_id: Scalar, layer: usize, node: u64, parents: &[Scalar]) -> Scalar {
    let parents: Vec<_> = parents.iter().map(Scalar::to_repr).collect();
    label_from_bytes(&replica_id.to_repr(), layer, node, &parents)
}

/// SHA-256(replica id ‖ layer ‖ node ‖ zeros to 64 bytes ‖ parents), big-endian integers, top bits cleared.
pub(super) fn label_from_bytes(
    replica_id: &[u8; 32],
    layer: usize,
    node: u64,
    parents: &[[u8; 32]],
) -> Scalar {
    let hash = Sha256::new()
        .chain_update(replica_id)
        .chain_update((layer as u32).to_be_bytes())
        .chain_update(node.to_be_bytes())
        .chain_update([0; 20])
        .chain_update(parents.as_flattened());
    truncated(hash)
}

impl Challenge {
    /// What a label of this node is computed from: those of its parents, repeated to 37.
    pub fn label_parents(&self, layer: usize) -> Vec<Scalar> {
        let parents: Vec<_> = self.parents.iter().map(|c| c.labels.as_slice()).collect();
        label_parents(&parents, layer)
    }
}

impl PoRep {
    /// The labels of a challenged node, first layer first; the last one is the key that encodes its data.
    pub fn labels(&self, challenge: &Challenge) -> Vec<Scalar> {
        (1..=self.layers())
            .map(|layer| {
                let parents = challenge.label_parents(layer);
                label(self.replica_id, layer, challenge.node, &parents)
            })
            .collect()
    }
}
