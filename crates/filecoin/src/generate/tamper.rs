//! True statements give satisfying witnesses; a change of any field of the native inputs does not.

use super::*;
use crate::circuit::compile_circuit;
use crate::kind::SectorSize;
use crate::porep::PoRep;
use crate::post::PoSt;
use crate::request::ProofRequest;
use crate::snap::SnapDeals;
use crate::vanilla::{SealOptions, SealedSector, post_vanilla};
use ff::Field;
use std::path::Path;

const RANDOMNESS: [u8; 32] = [5; 32];

fn seal(dir: &Path, sector_number: u64) -> SealedSector {
    let options = SealOptions {
        sector_number,
        data_seed: sector_number,
        ..SealOptions::default()
    };
    SealedSector::seal(SectorSize::S2KiB, &options, dir).unwrap()
}

/// The smallest change of an element.
fn add_one(element: &mut Scalar) {
    *element += Scalar::ONE;
}

type Change<T> = (&'static str, Box<dyn Fn(&mut T)>);

/// Changes one place.
fn change<T>(name: &'static str, place: impl Fn(&mut T) -> &mut Scalar + 'static) -> Change<T> {
    (name, Box::new(move |inputs| add_one(place(inputs))))
}

/// Satisfied as it is, with the public inputs that the verifier derives, and unsatisfied after every change.
fn check<T: Clone>(
    request: &ProofRequest,
    native: impl Fn(&Inputs) -> T,
    wrap: impl Fn(T) -> Inputs,
    changes: Vec<Change<T>>,
) {
    let statement = Statement::decode(request).unwrap();
    let id = statement.circuit_id();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    let mut witness = Witness::new(r1cs.layout().clone());
    generator.witness(&statement, 0, &mut witness).unwrap();
    assert_eq!(r1cs.check(&witness), Ok(()), "{id}");
    assert_eq!(
        witness.inputs()[1..],
        statement.public_inputs(0).unwrap(),
        "{id}"
    );
    for (name, change) in changes {
        let mut inputs = native(statement.inputs());
        change(&mut inputs);
        generator
            .witness_from(&wrap(inputs), 0, &mut witness)
            .unwrap();
        assert!(r1cs.check(&witness).is_err(), "{id}: {name}");
    }
}

#[test]
fn porep() {
    let dir = tempfile::tempdir().unwrap();
    let sector = seal(dir.path(), 1);
    let request = ProofRequest {
        miner_id: sector.options.miner_id,
        vanilla_proofs: vec![sector.c1().unwrap()],
        ..ProofRequest::new(ProofKind::PoRep)
    };
    let mut changes: Vec<Change<PoRep>> = vec![
        change("replica id", |p: &mut PoRep| &mut p.replica_id),
        change("comm_d", |p: &mut PoRep| &mut p.comm_d),
        change("comm_r", |p: &mut PoRep| &mut p.comm_r),
        change("comm_c", |p: &mut PoRep| &mut p.comm_c),
        change("comm_r_last", |p: &mut PoRep| &mut p.comm_r_last),
        ("node", Box::new(|p| p.partitions[0][0].node ^= 1)),
        (
            "place of the data path",
            Box::new(|p| p.partitions[0][1].data.path.positions[3] ^= 1),
        ),
        (
            "place of the replica path",
            Box::new(|p| p.partitions[0][1].replica.positions[1] ^= 5),
        ),
        (
            "place of a parent's path",
            Box::new(|p| p.partitions[0][0].parents[13].path.positions[0] ^= 2),
        ),
        change("data", |p: &mut PoRep| &mut p.partitions[0][1].data.leaf),
    ];
    for i in 0..6 {
        changes.push(change("data path", move |p: &mut PoRep| {
            &mut p.partitions[0][i % 2].data.path.siblings[i]
        }));
    }
    for i in 0..14 {
        changes.push(change("replica path", move |p: &mut PoRep| {
            &mut p.partitions[0][i % 2].replica.siblings[i]
        }));
        changes.push(change("column path", move |p: &mut PoRep| {
            &mut p.partitions[0][i % 2].column.siblings[i]
        }));
        changes.push(change("parent's label", move |p: &mut PoRep| {
            &mut p.partitions[0][i % 2].parents[i].labels[i / 7]
        }));
        changes.push(change("parent's path", move |p: &mut PoRep| {
            &mut p.partitions[0][i % 2].parents[i].path.siblings[13 - i]
        }));
    }
    let native = |inputs: &Inputs| match inputs {
        Inputs::PoRep(porep) => porep.clone(),
        _ => unreachable!(),
    };
    check(&request, native, Inputs::PoRep, changes);
}

fn post_changes() -> Vec<Change<PoSt>> {
    let mut changes: Vec<Change<PoSt>> = vec![
        change("comm_r", |p: &mut PoSt| &mut p.sectors[0].comm_r),
        change("comm_c", |p: &mut PoSt| &mut p.sectors[0].comm_c),
        change("comm_r_last", |p: &mut PoSt| &mut p.sectors[0].comm_r_last),
        change("leaf", |p: &mut PoSt| &mut p.sectors[0].inclusions[3].leaf),
        (
            "place",
            Box::new(|p| p.sectors[0].inclusions[7].path.positions[0] ^= 4),
        ),
    ];
    for i in 0..14 {
        changes.push(change("path", move |p: &mut PoSt| {
            &mut p.sectors[0].inclusions[i % 10].path.siblings[i]
        }));
    }
    changes
}

#[test]
fn proofs_of_spacetime() {
    let dir = tempfile::tempdir().unwrap();
    let sectors = [seal(dir.path(), 3), seal(dir.path(), 4)];
    let native = |inputs: &Inputs| match inputs {
        Inputs::PoSt(post) => post.clone(),
        _ => unreachable!(),
    };
    let winning = ProofRequest {
        randomness: RANDOMNESS.to_vec(),
        vanilla_proofs: vec![sectors[1].winning_post(&RANDOMNESS).unwrap()],
        ..ProofRequest::new(ProofKind::WinningPoSt)
    };
    check(&winning, native, Inputs::PoSt, post_changes());
    let window = ProofRequest {
        registered_proof: 10,
        randomness: RANDOMNESS.to_vec(),
        vanilla_proofs: post_vanilla(10, &sectors, &RANDOMNESS).unwrap(),
        ..ProofRequest::new(ProofKind::WindowPoSt)
    };
    check(&window, native, Inputs::PoSt, post_changes());
}

#[test]
fn snap_deals() {
    let dir = tempfile::tempdir().unwrap();
    let updated = seal(dir.path(), 3).update(99, dir.path()).unwrap();
    let request = ProofRequest {
        comm_r_old: updated.comm_r_old.to_vec(),
        comm_r_new: updated.comm_r_new.to_vec(),
        comm_d_new: updated.comm_d_new.to_vec(),
        vanilla_proofs: updated.vanilla_proofs,
        ..ProofRequest::new(ProofKind::SnapDeals)
    };
    let mut changes: Vec<Change<SnapDeals>> = vec![
        change("comm_r_old", |s: &mut SnapDeals| &mut s.comm_r_old),
        change("comm_d_new", |s: &mut SnapDeals| &mut s.comm_d_new),
        change("comm_r_new", |s: &mut SnapDeals| &mut s.comm_r_new),
        change("comm_c", |s: &mut SnapDeals| &mut s.partitions[0].comm_c),
        change("root of the old tree R", |s: &mut SnapDeals| {
            &mut s.partitions[0].root_r_old
        }),
        change("root of the new tree R", |s: &mut SnapDeals| {
            &mut s.partitions[0].root_r_new
        }),
        change("old node", |s: &mut SnapDeals| {
            &mut s.partitions[0].challenges[2].old.leaf
        }),
        change("data", |s: &mut SnapDeals| {
            &mut s.partitions[0].challenges[9].data.leaf
        }),
    ];
    for i in 0..8 {
        changes.push(change("apex leaf", move |s: &mut SnapDeals| {
            &mut s.partitions[0].apex_leaves[i]
        }));
    }
    for i in 0..14 {
        changes.push(change("old path", move |s: &mut SnapDeals| {
            &mut s.partitions[0].challenges[i % 10].old.path.siblings[i]
        }));
        changes.push(change("new path", move |s: &mut SnapDeals| {
            &mut s.partitions[0].challenges[i % 10].new.path.siblings[i]
        }));
    }
    // Above the apex leaves the path is not part of the circuit at this size.
    for i in 0..3 {
        changes.push(change("data path", move |s: &mut SnapDeals| {
            &mut s.partitions[0].challenges[i].data.path.siblings[i]
        }));
    }
    let native = |inputs: &Inputs| match inputs {
        Inputs::SnapDeals(snap) => snap.clone(),
        _ => unreachable!(),
    };
    check(&request, native, Inputs::SnapDeals, changes);
}
