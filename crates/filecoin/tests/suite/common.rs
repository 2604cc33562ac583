//! What the tests of all kinds do.

pub(crate) use crate::fixtures::{
    porep_envelope, porep_request, snap_request, window_request, winning_request,
};
use cuzk_filecoin::ProofRequest;

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
