//! SnapDeals requests: the fixture is accepted, and every change to it is refused by name.

use crate::common::{
    every_flipped_byte_is_refused, every_length_is_checked, refusal, snap_request,
};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize, Statement};

#[test]
fn the_fixture_is_a_statement() {
    let statement = Statement::decode(&snap_request()).unwrap();
    let id = CircuitId::new(ProofKind::SnapDeals, SectorSize::S2KiB);
    assert_eq!(statement.circuit_id(), id);
    assert_eq!(statement.num_partitions(), 1);
    assert_eq!(statement.public_inputs(0).unwrap().len(), 4);
}

#[test]
fn every_changed_byte_is_refused() {
    every_flipped_byte_is_refused(&snap_request(), 13);
    every_length_is_checked(&snap_request());
}

#[test]
fn the_request_must_fit_the_proofs() {
    let base = snap_request();
    let changed = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[0] ^= 1;
        bytes
    };
    let mut two = base.clone();
    two.vanilla_proofs.push(two.vanilla_proofs[0].clone());
    let cases = [
        (
            ProofRequest {
                comm_r_old: changed(&base.comm_r_old),
                ..base.clone()
            },
            "expected comm_r_old",
        ),
        (
            ProofRequest {
                comm_r_new: changed(&base.comm_r_new),
                ..base.clone()
            },
            "expected comm_r_new",
        ),
        (
            ProofRequest {
                comm_d_new: changed(&base.comm_d_new),
                ..base.clone()
            },
            "proof_d_new.root",
        ),
        (
            ProofRequest {
                comm_r_old: vec![],
                ..base.clone()
            },
            "comm_r_old: found 0 bytes",
        ),
        (
            ProofRequest {
                comm_r_new: vec![0; 32],
                ..base.clone()
            },
            "comm_r_new: found 32 zero bytes",
        ),
        (
            ProofRequest {
                comm_d_new: vec![255; 32],
                ..base.clone()
            },
            "below the modulus",
        ),
        (
            ProofRequest {
                vanilla_proofs: vec![],
                ..base.clone()
            },
            "found 0 vanilla proofs, expected 1",
        ),
        (
            ProofRequest {
                sector_size: 1 << 35,
                ..base.clone()
            },
            "registered_proof: found 0 (2KiB)",
        ),
        (
            ProofRequest {
                registered_proof: 5,
                ..base.clone()
            },
            "expected 0 to 4 for snap",
        ),
        (
            ProofRequest {
                sector_size: 1 << 35,
                registered_proof: 3,
                ..base.clone()
            },
            "expected 16, one a partition",
        ),
        (two, "found 2 vanilla proofs"),
    ];
    for (request, expected) in cases {
        let found = refusal(&request);
        assert!(found.contains(expected), "{found}\nexpected {expected}");
    }
}
