//! True statements give satisfying witnesses; a change of one byte of any of their native inputs does not.
//!
//! Decoding refuses such inputs (`tests/suite/tamper.rs`); here they reach the generator all the same, and the circuit
//! must be the second line.

mod values;

use super::*;
use crate::circuit::compile_circuit;
use crate::request::ProofRequest;
use crate::vanilla::synthetic::{self, SyntheticOptions};
use storage_proofs_update::constants::{apex_leaf_count, partition_count};
use values::{Place, values};

/// What a change of a value must do to the witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It no longer satisfies the circuit.
    Unsatisfied,
    /// It no longer satisfies the circuit, or proves the statement with other public inputs, which no verifier derives:
    /// where a node equals its sibling, the path from its neighbour is as good.
    OtherStatement,
    /// None: the circuit derives the value itself.
    None,
}

/// SnapDeals' circuit draws the challenged nodes from CommR, and the new leaf follows from the old one. Of the paths in
/// tree D it takes the part below the apex leaves, and of the first one the part above the partition's root.
fn effect(id: CircuitId, place: Place) -> Effect {
    if id.kind != ProofKind::SnapDeals {
        return match place.name.contains("position") {
            true => Effect::OtherStatement,
            false => Effect::Unsatisfied,
        };
    }
    let nodes = id.sector_size.nodes() as usize;
    let levels = |n: usize| n.trailing_zeros() as usize;
    let root = levels(nodes) - levels(partition_count(nodes));
    let read = match place.name {
        "node" | "new leaf" | "old position" | "data position" | "new position" => false,
        "data sibling" if place.index >= root => place.block == 0,
        "data sibling" => place.index < root - levels(apex_leaf_count(nodes)),
        _ => true,
    };
    if read {
        Effect::Unsatisfied
    } else {
        Effect::None
    }
}

/// How many values were changed, by what that did.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    unsatisfied: usize,
    other_statement: usize,
    none: usize,
}

/// Satisfied as it is, with the public inputs that the verifier derives; then changes every value of these blocks, one
/// at a time.
fn check(request: &ProofRequest, blocks: std::ops::Range<usize>) -> Counts {
    let statement = Statement::decode(request).unwrap();
    let id = statement.circuit_id();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    let mut truth = Witness::new(r1cs.layout().clone());
    generator.witness(&statement, 0, &mut truth).unwrap();
    assert_eq!(r1cs.check(&truth), Ok(()), "{id}");
    let public = statement.public_inputs(0).unwrap();
    assert_eq!(truth.inputs()[1..], public, "{id}");

    let mut inputs = statement.inputs().clone();
    if let Inputs::PoRep(porep) = &mut inputs {
        porep.partitions.truncate(1);
    }
    let mut counts = counts(0, 0, 0);
    let mut rejection = Rejection(0);
    let mut witness = Witness::new(r1cs.layout().clone());
    let places: Vec<Place> = values(&mut inputs).iter().map(|value| value.0).collect();
    for (i, place) in places.into_iter().enumerate() {
        if !blocks.contains(&place.block) {
            continue;
        }
        let mut changed = inputs.clone();
        values(&mut changed).swap_remove(i).1.change(i);
        generator.witness_from(&changed, 0, &mut witness).unwrap();
        match effect(id, place) {
            Effect::None => {
                assert!(witness == truth, "{id}: {place:?} is read");
                counts.none += 1;
            }
            _ if rejection.found(&r1cs, &witness) => counts.unsatisfied += 1,
            Effect::OtherStatement if witness.inputs()[1..] != public => {
                counts.other_statement += 1;
            }
            expected => panic!("{id}: {place:?} changed, expected {expected:?}"),
        }
    }
    counts
}

/// The row that rejected a witness last. Values are changed in the order of the circuit, so that the next one is mostly
/// rejected nearby.
struct Rejection(usize);

impl Rejection {
    fn found(&mut self, r1cs: &R1cs, witness: &Witness) -> bool {
        let near = |rows: usize| self.0.saturating_sub(rows)..self.0 + rows;
        let ranges = [near(500), near(20_000), near(200_000), 0..r1cs.num_rows()];
        let unsatisfied = ranges
            .into_iter()
            .find_map(|rows| r1cs.check_rows(witness, rows).err());
        self.0 = unsatisfied.as_ref().map_or(self.0, |found| found.row);
        unsatisfied.is_some()
    }
}

fn counts(unsatisfied: usize, other_statement: usize, none: usize) -> Counts {
    Counts {
        unsatisfied,
        other_statement,
        none,
    }
}

/// A request of a sector that was really sealed.
fn sealed(kind: ProofKind, proofs: &[&[u8]]) -> ProofRequest {
    let mut randomness = [3; 32];
    randomness[31] = 0;
    ProofRequest {
        sector_size: 2048,
        miner_id: 9,
        randomness: randomness.to_vec(),
        vanilla_proofs: proofs.iter().map(|proof| proof.to_vec()).collect(),
        ..ProofRequest::new(kind)
    }
}

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/data/", $name)).as_slice()
    };
}

/// Two challenges of: node, data and its path of 6 levels, 16 paths of 2 levels with 14 siblings, 14 parents' columns of
/// 2 labels.
#[test]
fn porep() {
    let request = sealed(ProofKind::PoRep, &[fixture!("porep-2k.c1.json")]);
    let challenge = 1 + (1 + 6 + 6) + 16 * (2 + 14) + 14 * 2;
    assert_eq!(check(&request, 0..2), counts(5 + 2 * challenge, 0, 0));
}

/// 8 apex leaves; 10 challenges of: node, three leaves, their paths of 2, 6 and 2 levels. The circuit takes the lower half
/// of the path in tree D.
#[test]
fn snap_deals() {
    let bytes = |text| hex::decode(text).unwrap();
    let request = ProofRequest {
        comm_r_old: bytes("0a97ab3e60805fdb6b1d6e2e443905ca816e6b34d0502247cd6dd9ee6fdac902"),
        comm_r_new: bytes("41c3e5b8c6b86680ef3ac276f8bc608cbc3dcbc1ddfed282436889f37147040b"),
        comm_d_new: bytes("50782d89141122dbe675b6c889cd1cfff8f25cd554d543a58ba959af9eca3916"),
        ..sealed(ProofKind::SnapDeals, &[fixture!("snap-2k.partition0.bin")])
    };
    let read = 2 + 14 + 14 + 3;
    let derived = 1 + 1 + (2 + 6 + 2) + 3;
    assert_eq!(
        check(&request, 0..10),
        counts(6 + 8 + 10 * read, 0, 10 * derived)
    );
}

/// Two sectors of 10 challenges.
#[test]
fn window_post() {
    let proofs = [
        fixture!("window-2k.sector1.bin"),
        fixture!("window-2k.sector2.bin"),
    ];
    let request = ProofRequest {
        registered_proof: 10,
        ..sealed(ProofKind::WindowPoSt, &proofs)
    };
    assert_eq!(
        check(&request, 0..2),
        counts(2 * (3 + 10 * (1 + 2 + 14)), 0, 0)
    );
}

/// One sector, one of its challenges a block.
#[test]
fn winning_post() {
    let request = sealed(
        ProofKind::WinningPoSt,
        &[fixture!("winning-2k.sector1.bin")],
    );
    assert_eq!(check(&request, 0..66), counts(3 + 66 * (1 + 2 + 14), 0, 0));
}

/// A statement of a sector that nobody sealed, of any size.
fn synthetic(id: &str) -> ProofRequest {
    let options = SyntheticOptions {
        seed: 6,
        ..SyntheticOptions::default()
    };
    synthetic::request(id.parse().unwrap(), &options).unwrap()
}

/// Trees of trees: 10 levels with 70 siblings, and at 64 GiB one more of 2 nodes. The first and last block.
#[test]
fn winning_post_of_production_sizes() {
    for (id, path) in [("winning-32g", 10 + 70), ("winning-64g", 11 + 71)] {
        let request = synthetic(id);
        assert_eq!(check(&request, 0..1), counts(3 + 1 + path, 0, 0), "{id}");
        assert_eq!(check(&request, 65..66), counts(1 + path, 0, 0), "{id}");
    }
}

/// The data repeats every 1024 nodes, so that the 20 upper levels of tree D have equal nodes.
#[test]
#[ignore = "takes minutes"]
fn porep_32g() {
    let challenge = 1 + (1 + 30 + 30) + 16 * (10 + 70) + 14 * 11;
    assert_eq!(
        check(&synthetic("porep-32g"), 0..1),
        counts(5 + challenge - 20, 20, 0)
    );
}

/// 16 partitions of 128 apex leaves: of the 30 levels of a path in tree D the circuit takes the lower 19, and once the
/// upper 4.
#[test]
#[ignore = "takes minutes"]
fn snap_deals_32g() {
    let read = 2 + 70 + 70 + 19;
    let derived = 1 + 1 + (10 + 30 + 10);
    let request = synthetic("snap-32g");
    let expected = counts(6 + 128 + 4 + read, 0, derived + 7);
    assert_eq!(check(&request, 0..1), expected);
    assert_eq!(check(&request, 85..86), counts(read, 0, derived + 7 + 4));
}
