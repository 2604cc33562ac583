//! The identity of what is proved.

use std::fmt;

use blake2b_simd::{Params, State};
use cuzk_filecoin::ProofRequest;
use serde::{Deserialize, Serialize};

/// BLAKE2b-256 over every field of a request that has a bearing on its proof: commitments and randomness as much as vanilla proofs.
/// Two requests with the same digest have the same answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PayloadDigest([u8; 32]);

impl PayloadDigest {
    /// The digest of a request. Each variable-length field is preceded by its length, so that no two requests run together.
    pub fn of(request: &ProofRequest) -> Self {
        // Every field is named: one that is added must be decided upon here.
        let ProofRequest {
            kind,
            sector_size,
            registered_proof,
            sector_number,
            miner_id,
            randomness,
            partition_index,
            comm_r_old,
            comm_r_new,
            comm_d_new,
            vanilla_proofs,
        } = request;
        let mut state = Params::new()
            .hash_length(32)
            .personal(b"cuzk.payload.v1")
            .to_state();
        field(&mut state, kind.name().as_bytes());
        let numbers = [
            *sector_size,
            *registered_proof,
            *sector_number,
            *miner_id,
            u64::from(*partition_index),
            vanilla_proofs.len() as u64,
        ];
        for number in numbers {
            state.update(&number.to_le_bytes());
        }
        for bytes in [randomness, comm_r_old, comm_r_new, comm_d_new] {
            field(&mut state, bytes);
        }
        for proof in vanilla_proofs {
            field(&mut state, proof);
        }
        Self(to_32(&state))
    }
}

/// Bytes of a request's variable-length fields.
pub(crate) fn payload_bytes(request: &ProofRequest) -> u64 {
    let fixed = [
        &request.randomness,
        &request.comm_r_old,
        &request.comm_r_new,
        &request.comm_d_new,
    ];
    let strings = fixed.into_iter().chain(&request.vanilla_proofs);
    strings.map(|s| s.len() as u64).sum()
}

fn field(state: &mut State, bytes: &[u8]) {
    state.update(&(bytes.len() as u64).to_le_bytes());
    state.update(bytes);
}

fn to_32(state: &State) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(state.finalize().as_bytes());
    digest
}

impl fmt::Debug for PayloadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl From<PayloadDigest> for String {
    fn from(digest: PayloadDigest) -> Self {
        hex::encode(digest.0)
    }
}

impl TryFrom<String> for PayloadDigest {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Self, hex::FromHexError> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest)?;
        Ok(Self(digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuzk_filecoin::ProofKind;

    #[test]
    fn every_field_counts() {
        let base = ProofRequest {
            randomness: vec![1; 32],
            comm_r_old: vec![2; 32],
            comm_r_new: vec![3; 32],
            comm_d_new: vec![4; 32],
            vanilla_proofs: vec![vec![5, 6], vec![7]],
            ..ProofRequest::new(ProofKind::SnapDeals)
        };
        let changes: [fn(&mut ProofRequest); 12] = [
            |r| r.kind = ProofKind::PoRep,
            |r| r.sector_size = 1,
            |r| r.registered_proof = 1,
            |r| r.sector_number = 1,
            |r| r.miner_id = 1,
            |r| r.partition_index = 1,
            |r| r.randomness[31] ^= 1,
            |r| r.comm_r_old[0] ^= 1,
            |r| r.comm_r_new[0] ^= 1,
            |r| r.comm_d_new[0] ^= 1,
            |r| r.vanilla_proofs = vec![vec![5], vec![6, 7]],
            |r| r.vanilla_proofs = vec![vec![5, 6, 7]],
        ];
        let mut seen = vec![PayloadDigest::of(&base)];
        for change in changes {
            let mut request = base.clone();
            change(&mut request);
            let digest = PayloadDigest::of(&request);
            assert!(!seen.contains(&digest), "{request:?}");
            seen.push(digest);
        }
        assert_eq!(PayloadDigest::of(&base.clone()), seen[0]);
    }
}
