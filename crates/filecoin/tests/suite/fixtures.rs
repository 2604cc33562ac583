//! Fixtures: sectors really sealed with filecoin-proofs-api 19.1.0, miner 9, sectors 1 and 2.

use cuzk_filecoin::{ProofKind, ProofRequest};

/// The C1 output of sector 1 in its envelope.
pub(crate) fn porep_envelope() -> Vec<u8> {
    include_bytes!("../data/porep-2k.c1.json").to_vec()
}

/// The request for the proof of sector 1.
pub(crate) fn porep_request() -> ProofRequest {
    ProofRequest {
        sector_size: 2048,
        registered_proof: 5,
        miner_id: 9,
        vanilla_proofs: vec![porep_envelope()],
        ..ProofRequest::new(ProofKind::PoRep)
    }
}

/// The randomness of the PoSt fixtures.
pub(crate) const RANDOMNESS: [u8; 32] = {
    let mut randomness = [3; 32];
    randomness[31] = 0;
    randomness
};

/// The WinningPoSt request for sector 1.
pub(crate) fn winning_request() -> ProofRequest {
    ProofRequest {
        sector_size: 2048,
        miner_id: 9,
        randomness: RANDOMNESS.to_vec(),
        vanilla_proofs: vec![include_bytes!("../data/winning-2k.sector1.bin").to_vec()],
        ..ProofRequest::new(ProofKind::WinningPoSt)
    }
}

/// The WindowPoSt request for sectors 1 and 2.
pub(crate) fn window_request() -> ProofRequest {
    ProofRequest {
        sector_size: 2048,
        registered_proof: 10,
        miner_id: 9,
        randomness: RANDOMNESS.to_vec(),
        vanilla_proofs: vec![
            include_bytes!("../data/window-2k.sector1.bin").to_vec(),
            include_bytes!("../data/window-2k.sector2.bin").to_vec(),
        ],
        ..ProofRequest::new(ProofKind::WindowPoSt)
    }
}

/// The SnapDeals request for sector 1.
pub(crate) fn snap_request() -> ProofRequest {
    let bytes = |text| hex::decode(text).unwrap();
    ProofRequest {
        sector_size: 2048,
        comm_r_old: bytes("0a97ab3e60805fdb6b1d6e2e443905ca816e6b34d0502247cd6dd9ee6fdac902"),
        comm_r_new: bytes("41c3e5b8c6b86680ef3ac276f8bc608cbc3dcbc1ddfed282436889f37147040b"),
        comm_d_new: bytes("50782d89141122dbe675b6c889cd1cfff8f25cd554d543a58ba959af9eca3916"),
        vanilla_proofs: vec![include_bytes!("../data/snap-2k.partition0.bin").to_vec()],
        ..ProofRequest::new(ProofKind::SnapDeals)
    }
}
