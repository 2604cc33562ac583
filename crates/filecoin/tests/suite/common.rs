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

/// Why a request is refused.
pub(crate) fn refusal(request: &ProofRequest) -> String {
    match cuzk_filecoin::Statement::decode(request) {
        Ok(_) => panic!("the request was accepted"),
        Err(error) => error.to_string(),
    }
}

/// Flips a bit of every `stride`-th byte of every vanilla proof: each must be refused, naming that proof.
pub(crate) fn every_flipped_byte_is_refused(request: &ProofRequest, stride: usize) {
    for i in 0..request.vanilla_proofs.len() {
        for at in (0..request.vanilla_proofs[i].len()).step_by(stride) {
            let mut changed = request.clone();
            changed.vanilla_proofs[i][at] ^= 1 << (at % 8);
            let found = refusal(&changed);
            let named = format!("vanilla_proofs[{i}]");
            // A sector number out of order shows at the sector after it.
            let ordered = found.contains("sector_id");
            assert!(
                found.starts_with(&named) || ordered,
                "byte {at} of {i}: {found}"
            );
        }
    }
}

/// Cuts every vanilla proof short at several places, and lengthens it.
pub(crate) fn every_length_is_checked(request: &ProofRequest) {
    for i in 0..request.vanilla_proofs.len() {
        let len = request.vanilla_proofs[i].len();
        for keep in [0, 1, 7, 40, 48, len / 2, len - 1] {
            let mut short = request.clone();
            short.vanilla_proofs[i].truncate(keep);
            let found = refusal(&short);
            assert!(found.contains("bytes after byte"), "{keep} bytes: {found}");
        }
        let mut long = request.clone();
        long.vanilla_proofs[i].push(0);
        assert!(refusal(&long).contains("found 1 bytes after byte"));
    }
}
