//! Sectors really sealed here, and the proofs taken from them.

use cuzk_filecoin::vanilla::{SealOptions, SealedSector};
use cuzk_filecoin::{ProofKind, ProofRequest, SectorSize, Statement};

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

#[test]
fn c1_outputs_of_every_version_are_statements() {
    for (registered_proof, partitions) in [(0, 1), (5, 1), (10, 1), (15, 13)] {
        let options = SealOptions {
            registered_proof: Some(registered_proof),
            sector_number: 7,
            ..SealOptions::default()
        };
        let request = porep(&options);
        let statement = Statement::decode(&request).unwrap();
        assert_eq!(statement.num_partitions(), partitions);
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
