//! Registered proofs: each number of each kind works, or is refused with the reason.

use crate::common::{porep_request, refusal, snap_request, window_request, winning_request};
use cuzk_filecoin::vanilla::synthetic::{SyntheticOptions, request};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize, Statement, registered};

/// One more than the highest number of any kind.
const NUMBERS: std::ops::Range<u64> = 0..21;

/// Partitions of PoRep and SnapDeals, by sector size.
const POREP_PARTITIONS: [usize; 5] = [1, 1, 1, 10, 10];
const SNAP_PARTITIONS: [usize; 5] = [1, 4, 16, 16, 16];

/// What becomes of a number: a statement with so many partitions, or an error that says this.
enum Outcome {
    Works(usize),
    Refused(&'static str),
}
use Outcome::{Refused, Works};

fn outcome(kind: ProofKind, number: u64) -> Outcome {
    let size = (number % 5) as usize;
    match (kind, number) {
        (ProofKind::PoRep, 0..10) => Works(POREP_PARTITIONS[size]),
        // Made from real sectors only: see the tests of sealing.
        (ProofKind::PoRep, 10..20) => Refused("expected an interactive seal proof"),
        (ProofKind::SnapDeals, 0..5) => Works(SNAP_PARTITIONS[size]),
        (ProofKind::WindowPoSt, 5..15) | (ProofKind::WinningPoSt, 0..5) => Works(1),
        _ => Refused("expected one of"),
    }
}

#[test]
fn every_number_of_every_kind_works_or_is_refused() {
    for (kind, number) in ProofKind::ALL
        .into_iter()
        .flat_map(|kind| NUMBERS.map(move |number| (kind, number)))
    {
        let id = CircuitId::new(kind, SectorSize::ALL[(number % 5) as usize]);
        let options = SyntheticOptions {
            registered_proof: Some(number),
            // A full partition is no other matter, and takes longer.
            sectors: (kind == ProofKind::WindowPoSt).then_some(2),
            ..SyntheticOptions::default()
        };
        match (request(id, &options), outcome(kind, number)) {
            (Ok(request), Works(partitions)) => {
                let statement = Statement::decode(&request).unwrap();
                assert_eq!(statement.circuit_id(), id, "number {number}");
                assert_eq!(statement.num_partitions(), partitions, "{id}, {number}");
            }
            (Err(error), Refused(reason)) => {
                let error = error.to_string();
                assert!(error.contains(reason), "{id}, {number}: {error}");
            }
            (made, _) => panic!("{id}, {number}: {:?}", made.map(|r| r.registered_proof)),
        }
    }
}

/// A good request under every other number: the number belongs to the statement.
#[test]
fn a_request_fits_its_number_only() {
    for base in [
        porep_request(),
        snap_request(),
        window_request(),
        winning_request(),
    ] {
        for number in NUMBERS.chain([u64::MAX]) {
            let request = ProofRequest {
                registered_proof: number,
                ..base.clone()
            };
            // 0 leaves a PoRep's number to its C1 output.
            let own = number == base.registered_proof;
            if own || (base.kind == ProofKind::PoRep && number == 0) {
                assert!(
                    Statement::decode(&request).is_ok(),
                    "{} {number}",
                    base.kind
                );
                continue;
            }
            let found = refusal(&request);
            // WindowPoSt's first version draws other challenges for the second sector.
            let other_challenges =
                base.kind == ProofKind::WindowPoSt && number == 5 && found.contains("challenges");
            assert!(
                found.starts_with(&format!("registered_proof: found {number}")) || other_challenges,
                "{} {number}: {found}",
                base.kind
            );
        }
    }
}

/// A kind knows the sizes of its own numbers and of no others.
#[test]
fn numbers_have_sizes() {
    for number in NUMBERS {
        for (kind, range) in [
            (ProofKind::PoRep, 0..20),
            (ProofKind::SnapDeals, 0..5),
            (ProofKind::WindowPoSt, 5..15),
            (ProofKind::WinningPoSt, 0..5),
        ] {
            let size = registered::sector_size_of(kind, number);
            assert_eq!(size.is_some(), range.contains(&number), "{kind} {number}");
        }
    }
}
