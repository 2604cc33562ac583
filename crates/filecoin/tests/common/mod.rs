//! Fixtures: sectors really sealed with filecoin-proofs-api 19.1.0, miner 9, sectors 1 and 2.

#![allow(dead_code, reason = "each test uses its own part of this")]

use cuzk_filecoin::{ProofKind, ProofRequest};

/// The C1 output of sector 1 in its envelope.
pub fn porep_envelope() -> Vec<u8> {
    include_bytes!("../data/porep-2k.c1.json").to_vec()
}

/// The request for the proof of sector 1.
pub fn porep_request() -> ProofRequest {
    ProofRequest {
        sector_size: 2048,
        registered_proof: 5,
        miner_id: 9,
        vanilla_proofs: vec![porep_envelope()],
        ..ProofRequest::new(ProofKind::PoRep)
    }
}
