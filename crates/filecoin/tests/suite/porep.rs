//! PoRep requests: the fixture is accepted, and every change to it is refused by name.

use crate::common::{porep_envelope, porep_request, refusal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuzk_filecoin::{CircuitId, Inputs, ProofKind, ProofRequest, SectorSize, Statement};
use ff::PrimeField;
use serde_json::{Value, json};

fn with_payload(payload: impl Into<Vec<u8>>) -> ProofRequest {
    ProofRequest {
        vanilla_proofs: vec![payload.into()],
        ..porep_request()
    }
}

/// The envelope and its inner JSON as trees.
fn documents() -> (Value, Value) {
    let outer: Value = serde_json::from_slice(&porep_envelope()).unwrap();
    let inner = STANDARD.decode(outer["Phase1Out"].as_str().unwrap());
    let inner = serde_json::from_slice(&inner.unwrap()).unwrap();
    (outer, inner)
}

fn wrap(mut outer: Value, inner: &Value) -> Vec<u8> {
    outer["Phase1Out"] = STANDARD.encode(serde_json::to_vec(inner).unwrap()).into();
    serde_json::to_vec(&outer).unwrap()
}

#[test]
fn the_fixture_is_a_statement() {
    let statement = Statement::decode(&porep_request()).unwrap();
    let id = CircuitId::new(ProofKind::PoRep, SectorSize::S2KiB);
    assert_eq!(statement.circuit_id(), id);
    assert_eq!(statement.num_partitions(), 1);
    let Inputs::PoRep(porep) = statement.inputs() else {
        panic!("not a PoRep")
    };
    let comm_d = "c76fd01c0455309c6e507716e95778e0ba320ef2c3add3bbfa275000ee252027";
    let comm_r = "0a97ab3e60805fdb6b1d6e2e443905ca816e6b34d0502247cd6dd9ee6fdac902";
    assert_eq!(hex::encode(porep.comm_d.to_repr()), comm_d);
    assert_eq!(hex::encode(porep.comm_r.to_repr()), comm_r);
    // Constant one, 3 commitments, and 18 indices a challenge.
    assert_eq!(statement.public_inputs(0).unwrap().len(), 39);
    assert!(statement.public_inputs(1).is_err());
}

#[test]
fn the_miner_may_be_left_out_and_the_envelope_too() {
    let found = ProofRequest {
        miner_id: 0,
        ..porep_request()
    };
    assert!(Statement::decode(&found).is_ok());
    let (_, inner) = documents();
    let mut bare = with_payload(serde_json::to_vec(&inner).unwrap());
    bare.sector_number = 1;
    assert!(Statement::decode(&bare).is_ok());
    bare.sector_number = 0;
    assert!(refusal(&bare).starts_with("vanilla_proofs[0].replica_id: found"));
}

#[test]
fn keys_may_come_in_any_order() {
    // `serde_json::Value` sorts keys.
    let (outer, inner) = documents();
    assert!(Statement::decode(&with_payload(wrap(outer, &inner))).is_ok());
}

#[test]
fn documents_that_are_none_are_refused() {
    let envelope = porep_envelope();
    let text = String::from_utf8(envelope.clone()).unwrap();
    let cases: [(Vec<u8>, &str); 8] = [
        (
            vec![],
            "vanilla_proofs[0]: found 0 bytes, expected a C1 output",
        ),
        (
            b"no json".to_vec(),
            "vanilla_proofs[0]: found \"no json\" at byte 0, expected `{`",
        ),
        (b"{}".to_vec(), "vanilla_proofs[0]: found \"}\" at byte 1"),
        (
            envelope[..1000].to_vec(),
            "vanilla_proofs[0].Phase1Out: found ",
        ),
        (
            [&envelope[..], b"x"].concat(),
            "expected the end of the document",
        ),
        (
            text.replace("eyJ", "e*J").into(),
            "vanilla_proofs[0].Phase1Out: found Invalid symbol 42",
        ),
        (
            text.replace("SectorNum", "SectorNumber").into(),
            "SectorNumber: found an unknown field",
        ),
        (
            b"{\"registered_proof\":1}".to_vec(),
            "vanilla_proofs[0].registered_proof: found",
        ),
    ];
    for (payload, expected) in cases {
        let found = refusal(&with_payload(payload));
        assert!(found.contains(expected), "{found}\nexpected {expected}");
    }
    let mut two = porep_request();
    two.vanilla_proofs.push(vec![1]);
    assert_eq!(
        refusal(&two),
        "vanilla_proofs: found 2 vanilla proofs, expected 1 C1 output"
    );
}

#[test]
fn a_request_must_agree_with_its_payload() {
    let base = porep_request();
    for (request, expected) in [
        (
            ProofRequest {
                sector_size: 1 << 35,
                ..base.clone()
            },
            "sector_size: found 34359738368",
        ),
        (
            ProofRequest {
                registered_proof: 8,
                ..base.clone()
            },
            "registered_proof: found 8, expected 5",
        ),
        (
            ProofRequest {
                registered_proof: 99,
                ..base.clone()
            },
            "registered_proof: found 99, expected 5",
        ),
        (
            ProofRequest {
                miner_id: 10,
                ..base.clone()
            },
            "that of miner 10, sector 1",
        ),
        (
            ProofRequest {
                sector_number: 2,
                ..base.clone()
            },
            "sector_number: found 2, expected 1",
        ),
    ] {
        let found = refusal(&request);
        assert!(found.contains(expected), "{found}");
    }
    for accepted in [
        ProofRequest {
            registered_proof: 0,
            ..base.clone()
        },
        ProofRequest {
            sector_size: 0,
            ..base.clone()
        },
        ProofRequest {
            sector_number: 1,
            ..base
        },
    ] {
        assert!(Statement::decode(&accepted).is_ok());
    }
}

#[test]
fn a_changed_envelope_is_refused_by_name() {
    let (outer, inner) = documents();
    for key in ["SectorNum", "SectorSize"] {
        let mut changed = outer.clone();
        changed[key] = json!(outer[key].as_u64().unwrap() + 1);
        let request = ProofRequest {
            sector_number: 0,
            ..with_payload(wrap(changed, &inner))
        };
        let found = refusal(&request);
        assert!(
            found.contains(key) || found.contains("sector 2"),
            "{key}: {found}"
        );
    }
}

#[test]
fn counts_and_shapes_are_checked() {
    let (outer, inner) = documents();
    let refuse = |pointer: &str, edit: &dyn Fn(&mut Value)| {
        let mut inner = inner.clone();
        edit(inner.pointer_mut(pointer).unwrap());
        refusal(&with_payload(wrap(outer.clone(), &inner)))
    };
    let pop = |v: &mut Value| drop(v.as_array_mut().unwrap().pop());
    let push = |v: &mut Value| {
        let values = v.as_array_mut().unwrap();
        values.push(values[0].clone());
    };
    let challenges = "/vanilla_proofs/StackedDrg2KiBV1/0";
    let first = format!("{challenges}/0");
    for (pointer, short, long) in [
        (
            "/vanilla_proofs/StackedDrg2KiBV1".to_string(),
            "found 0 partitions",
            "found 2 partitions",
        ),
        (
            challenges.to_string(),
            "found 1 challenges",
            "found 3 challenges",
        ),
        (
            format!("{first}/labeling_proofs"),
            "found 1 labels",
            "only 2 labels",
        ),
        (
            format!("{first}/encoding_proof/parents"),
            "found 36 parents",
            "only 37 parents",
        ),
        (
            format!("{first}/replica_column_proofs/drg_parents"),
            "found 5 columns",
            "only 6 columns",
        ),
        (
            format!("{first}/replica_column_proofs/exp_parents"),
            "found 7 columns",
            "only 8 columns",
        ),
        (
            format!("{first}/replica_column_proofs/c_x/column/rows"),
            "found 1 rows",
            "only 2 rows",
        ),
        (
            format!("{first}/comm_d_proofs/data/Single/path/path"),
            "found 5 levels",
            "only 6 levels",
        ),
        (
            format!("{first}/comm_r_last_proof/data/Single/path/path/1/hashes"),
            "found 6 siblings",
            "only 7 siblings",
        ),
        ("/comm_r".to_string(), "found 31 bytes", "only 32 bytes"),
    ] {
        let found = refuse(&pointer, &pop);
        assert!(found.contains(short), "{found}");
        let found = refuse(&pointer, &push);
        assert!(found.contains(long), "{found}");
    }
    let position = format!("{first}/comm_r_last_proof/data/Single/path/path/0/index");
    let found = refuse(&position, &|v| *v = json!(8));
    assert!(found.contains("expected a position below 8"), "{found}");
    for (pointer, bytes, expected) in [
        ("/comm_d", 0, "32 zero bytes"),
        (
            "/comm_r",
            0,
            "comm_r: found 32 zero bytes, expected a commitment",
        ),
        ("/comm_r", 255, "expected a field element below the modulus"),
        ("/replica_id", 255, "replica_id: found ff"),
        ("/seed", 0, "seed: found 32 zero bytes"),
    ] {
        let found = refuse(pointer, &|v| *v = json!(vec![bytes; 32]));
        // CommD is part of the replica id, which is checked first.
        assert!(found.contains(expected) || pointer == "/comm_d", "{found}");
    }
}
