//! Synthetic PoRep: the challenges of an interactive PoRep follow from the replica id and the seed, and the replica id
//! from CommD, so that the challenged columns can be made to measure.

use super::sparse::{Background, Pattern};
use super::{SyntheticOptions, size};
use crate::merkle::{NodeHash, TreeShape, poseidon};
use crate::porep::{Challenge, Column, PoRep, label, label_parents, replica_id};
use crate::registered;
use crate::request::ProofRequest;
use crate::vanilla::{VanillaError, envelope};
use blstrs::Scalar;
use ff::{Field, PrimeField};
use filecoin_proofs_api::ApiFeature;
use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Length of the data's pattern, in nodes.
const PERIOD: u64 = 1024;

pub(super) fn request(
    base: ProofRequest,
    options: &SyntheticOptions,
    mut rng: ChaCha8Rng,
) -> Result<ProofRequest, VanillaError> {
    let mut porep = blank(&base, options, &mut rng)?;
    let size = porep.sector_size;
    let period = PERIOD.min(size.nodes());
    // Data nodes have 254 bits.
    let pattern = (0..period).map(|_| data_node(&mut rng)).collect();
    let data = Background::new(
        TreeShape::binary(size),
        NodeHash::Sha256,
        Pattern::periodic(pattern),
    );
    let data = data.with_leaves(Default::default());
    porep.comm_d = data.root();
    porep.replica_id = replica_id(&porep);
    let partitions = usize::from(porep.registered.partitions());
    let nodes: Vec<Vec<u64>> = (0..partitions)
        .map(|k| porep.challenged_nodes(k))
        .collect::<Result<_, _>>()?;
    let columns = Columns::new(&porep, &nodes, &mut rng)?;
    let octal = TreeShape::octal(size);
    let background = |rng: &mut ChaCha8Rng| {
        let leaf = Pattern::periodic(vec![Scalar::random(rng)]);
        Background::new(octal, NodeHash::Poseidon, leaf)
    };
    let (rest_c, rest_r) = (background(&mut rng), background(&mut rng));
    let hashes = columns
        .labels
        .iter()
        .map(|(node, labels)| (*node, poseidon(labels)));
    let tree_c = rest_c.with_leaves(hashes.collect());
    let replica = columns.parents.keys().map(|node| {
        let labels = &columns.labels[node];
        (*node, labels[labels.len() - 1] + data.get(0, *node))
    });
    let tree_r = rest_r.with_leaves(replica.collect());
    porep.comm_c = tree_c.root();
    porep.comm_r_last = tree_r.root();
    porep.comm_r = poseidon(&[porep.comm_c, porep.comm_r_last]);
    let challenge = |node: &u64| Challenge {
        node: *node,
        data: data.inclusion(*node),
        replica: tree_r.inclusion(*node).path,
        column: tree_c.inclusion(*node).path,
        parents: columns.parents[node]
            .iter()
            .map(|parent| Column {
                labels: columns.labels[parent].clone(),
                path: tree_c.inclusion(*parent).path,
            })
            .collect(),
    };
    let challenges = nodes
        .iter()
        .map(|nodes| nodes.iter().map(challenge).collect());
    porep.partitions = challenges.collect();
    let c1 = porep.encode()?;
    Ok(ProofRequest {
        sector_number: options.sector_number,
        vanilla_proofs: vec![envelope(&c1, options.sector_number, size.bytes())],
        ..base
    })
}

/// The statement before anything but the request and the randomness is known.
fn blank(
    base: &ProofRequest,
    options: &SyntheticOptions,
    rng: &mut ChaCha8Rng,
) -> Result<PoRep, VanillaError> {
    let registered = registered::seal(base.registered_proof).expect("checked by the caller");
    let features = [ApiFeature::SyntheticPoRep, ApiFeature::NonInteractivePoRep];
    if features.iter().any(|f| registered.feature_enabled(*f)) {
        return Err(VanillaError::RegisteredProof {
            found: base.registered_proof,
            expected:
                "an interactive seal proof: the challenges of the others are drawn from CommR"
                    .into(),
        });
    }
    let (mut seed, mut ticket) = ([0; 32], [0; 32]);
    rng.fill_bytes(&mut seed);
    rng.fill_bytes(&mut ticket);
    Ok(PoRep {
        registered,
        sector_size: size(base),
        miner_id: base.miner_id,
        sector_number: options.sector_number,
        replica_id: Scalar::default(),
        comm_d: Scalar::default(),
        comm_r: Scalar::default(),
        comm_c: Scalar::default(),
        comm_r_last: Scalar::default(),
        seed,
        ticket,
        partitions: Vec::new(),
    })
}

/// The labels of all nodes that are challenged or a parent of one that is.
struct Columns {
    parents: BTreeMap<u64, Vec<u64>>,
    labels: BTreeMap<u64, Vec<Scalar>>,
}

impl Columns {
    /// Parents get random labels, challenged nodes the ones that follow.
    fn new(
        porep: &PoRep,
        partitions: &[Vec<u64>],
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, VanillaError> {
        let challenged: BTreeSet<u64> = partitions.iter().flatten().copied().collect();
        let challenged: Vec<u64> = challenged.into_iter().collect();
        let parents = porep.parents(&challenged)?;
        let mut columns = Self {
            parents: challenged.iter().copied().zip(parents).collect(),
            labels: BTreeMap::new(),
        };
        let layers = porep.layers();
        for node in columns.parents.values().flatten() {
            let random = || (0..layers).map(|_| Scalar::random(&mut *rng)).collect();
            columns.labels.entry(*node).or_insert_with(random);
        }
        for node in &challenged {
            columns
                .labels
                .insert(*node, vec![Scalar::default(); layers]);
        }
        // A label depends on earlier nodes of its layer and on the layer below.
        for layer in 1..=layers {
            for (node, parents) in &columns.parents {
                let labels = |parent| columns.labels[parent].as_slice();
                let parents: Vec<_> = parents.iter().map(labels).collect();
                let value = label(
                    porep.replica_id,
                    layer,
                    *node,
                    &label_parents(&parents, layer),
                );
                columns.labels.get_mut(node).expect("inserted above")[layer - 1] = value;
            }
        }
        Ok(columns)
    }
}

/// A random data node.
fn data_node(rng: &mut ChaCha8Rng) -> Scalar {
    let mut bytes = [0; 32];
    rng.fill_bytes(&mut bytes);
    bytes[31] &= 0x3f;
    Option::from(Scalar::from_repr(bytes)).expect("254 bits are below the modulus")
}
