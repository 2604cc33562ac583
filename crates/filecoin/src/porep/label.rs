//! Labels of a challenged node, computed from its parents' columns.

use super::decode::LABEL_PARENTS;
use super::{Challenge, DRG_PARENTS, PoRep};
use crate::merkle::truncated;
use blstrs::Scalar;
use ff::PrimeField;
use sha2::{Digest, Sha256};

impl Challenge {
    /// What a label is computed from, besides replica id, layer and node: in layer 1 the six parents of the
    /// depth-robust graph, in later layers also the eight of the expander graph with their labels in the layer below;
    /// repeated to 37.
    pub fn label_parents(&self, layer: usize) -> Vec<Scalar> {
        let (drg, expander) = self.parents.split_at(DRG_PARENTS);
        let own = drg.iter().map(|column| column.labels[layer - 1]);
        let mut parents: Vec<_> = own.collect();
        if layer > 1 {
            parents.extend(expander.iter().map(|column| column.labels[layer - 2]));
        }
        parents.into_iter().cycle().take(LABEL_PARENTS).collect()
    }
}

impl PoRep {
    /// The labels of a challenged node, first layer first; the last one is the key that encodes its data.
    pub fn labels(&self, challenge: &Challenge) -> Vec<Scalar> {
        (1..=self.layers())
            .map(|layer| self.label(challenge, layer))
            .collect()
    }

    /// SHA-256(replica id ‖ layer ‖ node ‖ zeros to 64 bytes ‖ parents), big-endian integers, top bits cleared.
    fn label(&self, challenge: &Challenge, layer: usize) -> Scalar {
        let mut hash = Sha256::new()
            .chain_update(self.replica_id.to_repr())
            .chain_update((layer as u32).to_be_bytes())
            .chain_update(challenge.node.to_be_bytes())
            .chain_update([0; 20]);
        for parent in challenge.label_parents(layer) {
            hash.update(parent.to_repr());
        }
        truncated(hash)
    }
}
