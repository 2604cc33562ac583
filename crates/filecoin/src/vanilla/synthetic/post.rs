//! Synthetic PoSt: each sector's tree R has random leaves where it is challenged.

use super::sparse::{Background, Pattern};
use super::{SyntheticOptions, size};
use crate::kind::ProofKind;
use crate::merkle::{NodeHash, TreeShape, poseidon};
use crate::porep::prover_id;
use crate::post::{PoSt, Sector};
use crate::registered;
use crate::request::ProofRequest;
use crate::vanilla::VanillaError;
use blstrs::Scalar;
use ff::Field;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

pub(super) fn request(
    base: ProofRequest,
    options: &SyntheticOptions,
    mut rng: ChaCha8Rng,
) -> Result<ProofRequest, VanillaError> {
    let size = size(&base);
    let mut randomness = [0; 32];
    rng.fill_bytes(&mut randomness);
    randomness[31] &= 0x3f;
    let partition_index = match base.kind {
        ProofKind::WindowPoSt => options.partition_index,
        _ => 0,
    };
    let mut post = PoSt {
        kind: base.kind,
        registered: registered::post(base.registered_proof).expect("checked by the caller"),
        sector_size: size,
        randomness,
        prover_id: prover_id(base.miner_id),
        partition_index,
        sectors: Vec::new(),
    };
    let (full, challenges) = post.capacity();
    let sectors = options.sectors.unwrap_or(full);
    if !(1..=full).contains(&sectors) {
        return Err(VanillaError::Sectors {
            found: sectors,
            most: full,
        });
    }
    let pattern = Pattern::periodic(vec![Scalar::random(&mut rng)]);
    let background = Background::new(TreeShape::octal(size), NodeHash::Poseidon, pattern);
    let seeds: Vec<u64> = (0..sectors).map(|_| rng.next_u64()).collect();
    let sectors: Vec<_> = seeds
        .into_par_iter()
        .enumerate()
        .map(|(i, seed)| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let number = options.sector_number + i as u64;
            let nodes: Vec<_> = (0..challenges)
                .map(|n| post.challenge(i, number, n))
                .collect();
            let leaves = nodes
                .iter()
                .map(|n| (*n, Scalar::random(&mut rng)))
                .collect();
            let tree = background.with_leaves(leaves);
            let comm_c = Scalar::random(&mut rng);
            Sector {
                number,
                comm_r: poseidon(&[comm_c, tree.root()]),
                comm_c,
                comm_r_last: tree.root(),
                inclusions: nodes.iter().map(|n| tree.inclusion(*n)).collect(),
            }
        })
        .collect();
    post.sectors = sectors;
    Ok(ProofRequest {
        randomness: randomness.to_vec(),
        partition_index,
        vanilla_proofs: post.encode()?,
        ..base
    })
}
