//! Sectors really sealed here, and the proofs taken from them.

use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::vanilla::{SealOptions, SealedSector, post_vanilla};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize, Statement, compile_circuit};
use cuzk_r1cs::Witness;

const SIZE: SectorSize = SectorSize::S2KiB;

fn porep(options: &SealOptions) -> ProofRequest {
    let dir = tempfile::tempdir().unwrap();
    let sector = SealedSector::seal(SIZE, options, dir.path()).unwrap();
    ProofRequest {
        miner_id: options.miner_id,
        vanilla_proofs: vec![sector.c1().unwrap()],
        ..ProofRequest::new(ProofKind::PoRep)
    }
}

/// Of every version one circuit, which the last partition's witness satisfies.
#[test]
fn c1_outputs_of_every_version_are_statements() {
    let id = CircuitId::new(ProofKind::PoRep, SIZE);
    let circuit = compile_circuit(id).unwrap();
    let generator = Generator::bind(&circuit, id).unwrap();
    let mut witness = Witness::new(circuit.layout().clone());
    for (registered_proof, partitions) in [(0, 1), (5, 1), (10, 1), (15, 13)] {
        let options = SealOptions {
            registered_proof: Some(registered_proof),
            sector_number: 7,
            ..SealOptions::default()
        };
        let request = porep(&options);
        let statement = Statement::decode(&request).unwrap();
        assert_eq!(statement.num_partitions(), partitions);
        let last = partitions - 1;
        generator.witness(&statement, last, &mut witness).unwrap();
        circuit.check(&witness).unwrap();
        assert_eq!(
            witness.inputs()[1..],
            statement.public_inputs(last).unwrap()
        );
        let with_number = ProofRequest {
            registered_proof,
            ..request
        };
        assert!(Statement::decode(&with_number).is_ok());
    }
}

#[test]
fn sealing_is_deterministic_and_seeded() {
    let options = SealOptions::default();
    let again = porep(&options);
    assert!(porep(&options) == again);
    let other = SealOptions {
        data_seed: 1,
        ..options
    };
    assert!(porep(&other) != again);
}

#[test]
fn post_and_snap_proofs_come_from_sealed_sectors() {
    let dir = tempfile::tempdir().unwrap();
    let sectors: Vec<_> = [3, 4]
        .map(|sector_number| {
            let options = SealOptions {
                sector_number,
                data_seed: sector_number,
                ..SealOptions::default()
            };
            SealedSector::seal(SIZE, &options, dir.path()).unwrap()
        })
        .into();
    let randomness = [5; 32];
    let winning = ProofRequest {
        randomness: randomness.to_vec(),
        vanilla_proofs: vec![sectors[1].winning_post(&randomness).unwrap()],
        ..ProofRequest::new(ProofKind::WinningPoSt)
    };
    assert!(Statement::decode(&winning).is_ok());
    for registered_proof in [5, 10] {
        let window = ProofRequest {
            registered_proof,
            randomness: randomness.to_vec(),
            vanilla_proofs: post_vanilla(registered_proof, &sectors, &randomness).unwrap(),
            ..ProofRequest::new(ProofKind::WindowPoSt)
        };
        assert!(Statement::decode(&window).is_ok());
    }
    let updated = sectors[0].update(99, dir.path()).unwrap();
    let snap = ProofRequest {
        comm_r_old: updated.comm_r_old.to_vec(),
        comm_r_new: updated.comm_r_new.to_vec(),
        comm_d_new: updated.comm_d_new.to_vec(),
        vanilla_proofs: updated.vanilla_proofs,
        ..ProofRequest::new(ProofKind::SnapDeals)
    };
    assert!(Statement::decode(&snap).is_ok());
}
