//! PoSt requests: the fixtures are accepted, and every change to them is refused by name.

use crate::common::{
    every_flipped_byte_is_refused, every_length_is_checked, refusal, window_request,
    winning_request,
};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize, Statement};

#[test]
fn the_fixtures_are_statements() {
    for (request, inputs) in [(winning_request(), 132), (window_request(), 22)] {
        let statement = Statement::decode(&request).unwrap();
        let id = CircuitId::new(request.kind, SectorSize::S2KiB);
        assert_eq!(statement.circuit_id(), id);
        assert_eq!(statement.num_partitions(), 1);
        assert_eq!(statement.public_inputs(0).unwrap().len(), inputs);
    }
}

#[test]
fn a_partition_that_is_not_full_repeats_its_last_sector() {
    let mut request = window_request();
    request.vanilla_proofs.pop();
    let inputs = Statement::decode(&request)
        .unwrap()
        .public_inputs(0)
        .unwrap();
    assert_eq!(inputs.len(), 22);
    assert_eq!(inputs[..11], inputs[11..]);
}

#[test]
fn every_changed_byte_of_a_window_post_is_refused() {
    every_flipped_byte_is_refused(&window_request(), 5);
    every_length_is_checked(&window_request());
}

/// All 66 inclusion proofs are covered: the stride is shorter than one of them (560 bytes).
#[test]
fn every_changed_byte_of_a_winning_post_is_refused() {
    every_flipped_byte_is_refused(&winning_request(), 61);
    every_length_is_checked(&winning_request());
}

#[test]
fn the_faulty_sector_is_named() {
    let mut request = window_request();
    let last = request.vanilla_proofs[1].len() - 100;
    request.vanilla_proofs[1][last] ^= 1;
    let found = refusal(&request);
    assert!(
        found.starts_with("vanilla_proofs[1].sector 2.inclusion_proofs[9]"),
        "{found}"
    );
}

#[test]
fn the_request_must_fit_the_proofs() {
    let (window, winning) = (window_request(), winning_request());
    let mut swapped = window.clone();
    swapped.vanilla_proofs.swap(0, 1);
    let mut twice = window.clone();
    twice.vanilla_proofs[1] = twice.vanilla_proofs[0].clone();
    let mut three = window.clone();
    three.vanilla_proofs.push(three.vanilla_proofs[0].clone());
    let mut two = winning.clone();
    two.vanilla_proofs.push(two.vanilla_proofs[0].clone());
    let mut other_randomness = winning.clone();
    other_randomness.randomness[0] ^= 1;
    let mut no_element = window.clone();
    no_element.randomness[31] = 0xc0;
    let cases = [
        (
            swapped,
            "vanilla_proofs[1].sector_id: found 1, expected a number above 2",
        ),
        (
            twice,
            "vanilla_proofs[1].sector_id: found 1, expected a number above 1",
        ),
        (
            three,
            "vanilla_proofs: found 3 vanilla proofs, expected 1 to 2",
        ),
        (two, "vanilla_proofs: found 2 vanilla proofs, expected 1"),
        (other_randomness, "which randomness challenges"),
        (no_element, "the two top bits of the last byte are clear"),
        (
            ProofRequest {
                randomness: vec![1; 31],
                ..window.clone()
            },
            "randomness: found 31 bytes",
        ),
        (
            ProofRequest {
                randomness: vec![],
                ..winning.clone()
            },
            "randomness: found 0 bytes",
        ),
        (
            ProofRequest {
                vanilla_proofs: vec![],
                ..window.clone()
            },
            "found 0 vanilla proofs",
        ),
        (
            ProofRequest {
                registered_proof: 0,
                ..window.clone()
            },
            "expected 5 to 14 for wpost",
        ),
        (
            ProofRequest {
                registered_proof: 13,
                ..window.clone()
            },
            "registered_proof: found 13 (32GiB)",
        ),
        (
            ProofRequest {
                registered_proof: 5,
                ..winning.clone()
            },
            "expected 0 to 4 for winning",
        ),
        (
            ProofRequest {
                sector_size: 4096,
                ..window.clone()
            },
            "sector_size: found 4096",
        ),
        (
            ProofRequest {
                sector_size: 0,
                registered_proof: 3,
                ..winning.clone()
            },
            "vanilla_proofs[0].",
        ),
        (
            ProofRequest {
                kind: ProofKind::WinningPoSt,
                registered_proof: 0,
                ..window
            },
            "found 2 vanilla",
        ),
    ];
    for (request, expected) in cases {
        let found = refusal(&request);
        assert!(found.contains(expected), "{found}\nexpected {expected}");
    }
}
