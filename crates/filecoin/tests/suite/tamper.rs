//! Every value of every kind's vanilla proofs, one byte of it changed: the request is refused, by the name of what was
//! changed.
//!
//! The values are found by walking the vanilla proof as upstream's own types serialise it, so that none is forgotten.

use crate::common::{
    porep_envelope, porep_request, refusal, snap_request, window_request, winning_request,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuzk_filecoin::vanilla::synthetic::{self, SyntheticOptions};
use cuzk_filecoin::{ProofRequest, Statement};
use filecoin_proofs::FallbackPoStSectorProof;
use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub8, SectorShapeTop2};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use storage_proofs_update::PartitionProof;

type Encode<'e> = Box<dyn Fn(&Value) -> Vec<u8> + 'e>;

/// A vanilla proof, or a part of one, as a tree, and the way back to the bytes that a client sends.
struct Document<'e> {
    tree: Value,
    encode: Encode<'e>,
}

/// The inner JSON of a C1 output.
fn c1(payload: &[u8]) -> Document<'static> {
    let outer: Value = serde_json::from_slice(payload).unwrap();
    let inner = STANDARD.decode(outer["Phase1Out"].as_str().unwrap());
    let tree = serde_json::from_slice(&inner.unwrap()).unwrap();
    let encode = move |tree: &Value| {
        let mut outer = outer.clone();
        outer["Phase1Out"] = STANDARD.encode(serde_json::to_vec(tree).unwrap()).into();
        serde_json::to_vec(&outer).unwrap()
    };
    Document {
        tree,
        encode: Box::new(encode),
    }
}

/// A vanilla proof of upstream's type, in bincode.
fn bincoded<T: Serialize + DeserializeOwned>(payload: &[u8]) -> Document<'static> {
    let proof: T = bincode::deserialize(payload).unwrap();
    let encode = |tree: &Value| {
        let proof: T = serde_json::from_value(tree.clone()).unwrap();
        bincode::serialize(&proof).unwrap()
    };
    Document {
        tree: serde_json::to_value(proof).unwrap(),
        encode: Box::new(encode),
    }
}

/// Pointers to everything in a tree that can be changed on its own: numbers, strings, nulls, and arrays of 32 bytes.
fn leaves(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                leaves(value, format!("{pointer}/{key}"), found);
            }
        }
        Value::Array(values) if !(values.len() == 32 && values[0].is_u64()) => {
            for (i, value) in values.iter().enumerate() {
                leaves(value, format!("{pointer}/{i}"), found);
            }
        }
        _ => found.push(pointer),
    }
}

/// Changes one byte of a leaf, of an array another one for each `turn`.
fn change(leaf: &mut Value, turn: usize) {
    *leaf = match leaf {
        Value::Null => json!(0),
        Value::Number(n) => json!(n.as_u64().unwrap() ^ 1),
        Value::String(s) => json!(format!("{s}x")),
        Value::Array(bytes) => {
            let byte = turn % bytes.len();
            bytes[byte] = json!(bytes[byte].as_u64().unwrap() ^ 1 << (turn % 8));
            return;
        }
        other => panic!("unexpected {other}"),
    };
}

/// Changes every value of vanilla proof `k` whose pointer is `wanted`; each must be refused with an error that contains
/// one of the words that `names` gives. Returns how many values there were.
fn every_changed_value_is_refused(
    request: &ProofRequest,
    k: usize,
    document: Document<'_>,
    wanted: impl Fn(&str) -> bool,
    names: impl Fn(&str) -> Vec<String>,
) -> usize {
    let Document { mut tree, encode } = document;
    let with = |tree: &Value| {
        let mut request = request.clone();
        request.vanilla_proofs[k] = encode(tree);
        request
    };
    assert!(Statement::decode(&with(&tree)).is_ok(), "as it was");
    let mut pointers = Vec::new();
    leaves(&tree, String::new(), &mut pointers);
    pointers.retain(|pointer| wanted(pointer));
    for (turn, pointer) in pointers.iter().enumerate() {
        let before = tree.pointer(pointer).unwrap().clone();
        change(tree.pointer_mut(pointer).unwrap(), turn);
        let found = refusal(&with(&tree));
        let names = names(pointer);
        assert!(
            names.iter().any(|name| found.contains(name)),
            "{pointer} changed: {found}"
        );
        *tree.pointer_mut(pointer).unwrap() = before;
    }
    pointers.len()
}

/// Values of a Merkle proof: root, leaf, and of each level the siblings and the position.
const fn merkle_proof(levels: usize, siblings: usize) -> usize {
    2 + levels + siblings
}

/// Values of a PoRep challenge: two Merkle proofs, 15 columns and `layers + 1` label preimages of 37 parents.
const fn porep_challenge(binary: usize, octal: usize, layers: usize) -> usize {
    binary + octal + 15 * (2 + layers + octal) + (layers + 1) * 39
}

/// What is wrong has several names where one value follows from others.
fn porep_names(pointer: &str) -> Vec<String> {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    let names = match parts[0] {
        "vanilla_proofs" => {
            let mut names = vec![parts[4]];
            if parts.contains(&"root") {
                names.push("the hash of the roots of trees C and R");
            }
            if parts.contains(&"rows") && !parts.contains(&"c_x") {
                names.push("replica_column_proofs");
            }
            names
        }
        // The replica id commits to these.
        "ticket" | "comm_d" | "registered_proof" => vec![parts[0], "replica_id"],
        // The seed decides the challenges.
        other => vec![other],
    };
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn porep() {
    let request = porep_request();
    let changed =
        every_changed_value_is_refused(&request, 0, c1(&porep_envelope()), |_| true, porep_names);
    let [binary, octal] = [merkle_proof(6, 6), merkle_proof(2, 14)];
    assert_eq!(changed, 6 + 2 * porep_challenge(binary, octal, 2));
}

/// Errors about bincode name the proof, and often the place in it.
fn proof_name(k: usize) -> impl Fn(&str) -> Vec<String> {
    move |_| vec![format!("vanilla_proofs[{k}]")]
}

type PoStBase = FallbackPoStSectorProof<SectorShapeBase>;

#[test]
fn snap_deals() {
    let request = snap_request();
    let document = bincoded::<PartitionProof<SectorShapeBase>>(&request.vanilla_proofs[0]);
    let changed = every_changed_value_is_refused(&request, 0, document, |_| true, proof_name(0));
    let challenge = 2 * merkle_proof(2, 14) + merkle_proof(6, 6);
    assert_eq!(changed, 1 + 8 + 10 * challenge);
}

#[test]
fn window_post() {
    let request = window_request();
    for k in 0..2 {
        let document = bincoded::<PoStBase>(&request.vanilla_proofs[k]);
        let changed =
            every_changed_value_is_refused(&request, k, document, |_| true, proof_name(k));
        assert_eq!(changed, 4 + 10 * merkle_proof(2, 14));
    }
}

#[test]
fn winning_post() {
    let request = winning_request();
    let document = bincoded::<PoStBase>(&request.vanilla_proofs[0]);
    let changed = every_changed_value_is_refused(&request, 0, document, |_| true, proof_name(0));
    assert_eq!(changed, 4 + 66 * merkle_proof(2, 14));
}

fn synthetic(id: &str, sectors: Option<usize>) -> ProofRequest {
    let options = SyntheticOptions {
        seed: 8,
        sectors,
        ..SyntheticOptions::default()
    };
    synthetic::request(id.parse().unwrap(), &options).unwrap()
}

/// Values that are not of a challenge, and those of challenge number 1.
fn in_second(list: &'static str) -> impl Fn(&str) -> bool {
    move |pointer| !pointer.contains(list) || pointer.contains(&format!("/{list}/1/"))
}

/// Trees of trees: 10 levels with 70 siblings, at 64 GiB one more of two nodes.
#[test]
fn post_of_production_sizes() {
    fn check<T: Serialize + DeserializeOwned>(id: &str, sectors: Option<usize>, proof: usize) {
        let request = synthetic(id, sectors);
        let document = bincoded::<T>(&request.vanilla_proofs[0]);
        let wanted = in_second("inclusion_proofs");
        let changed = every_changed_value_is_refused(&request, 0, document, wanted, proof_name(0));
        assert_eq!(changed, 4 + proof, "{id}");
    }
    type Sub = FallbackPoStSectorProof<SectorShapeSub8>;
    type Top = FallbackPoStSectorProof<SectorShapeTop2>;
    check::<Sub>("winning-32g", None, merkle_proof(10, 70));
    check::<Top>("winning-64g", None, merkle_proof(11, 71));
    check::<Sub>("wpost-32g", Some(1), merkle_proof(10, 70));
    check::<Top>("wpost-64g", Some(1), merkle_proof(11, 71));
}

#[test]
#[ignore = "takes minutes"]
fn snap_deals_32g() {
    let request = synthetic("snap-32g", None);
    let document = bincoded::<PartitionProof<SectorShapeSub8>>(&request.vanilla_proofs[3]);
    let wanted = in_second("challenge_proofs");
    let changed = every_changed_value_is_refused(&request, 3, document, wanted, proof_name(3));
    let challenge = 2 * merkle_proof(10, 70) + merkle_proof(30, 30);
    assert_eq!(changed, 1 + 128 + challenge);
}

/// The second challenge of the first partition; the rest of the 37 MB is not parsed anew for each change.
#[test]
#[ignore = "takes minutes"]
fn porep_32g() {
    #[derive(serde::Deserialize)]
    struct C1<'a> {
        #[serde(borrow)]
        vanilla_proofs: BTreeMap<&'a str, Vec<Vec<&'a RawValue>>>,
    }
    let mut request = synthetic("porep-32g", None);
    let outer: Value = serde_json::from_slice(&request.vanilla_proofs[0]).unwrap();
    let inner = STANDARD.decode(outer["Phase1Out"].as_str().unwrap());
    let inner = String::from_utf8(inner.unwrap()).unwrap();
    let c1: C1<'_> = serde_json::from_str(&inner).unwrap();
    let challenge = c1.vanilla_proofs["StackedDrg32GiBV1"][0][1].get();
    let (before, after) = inner.split_once(challenge).unwrap();
    let encode = |tree: &Value| {
        let challenge = serde_json::to_string(&tree["vanilla_proofs"]["tag"][0][1]).unwrap();
        [before, &challenge, after].concat().into_bytes()
    };
    let challenge: Value = serde_json::from_str(challenge).unwrap();
    let document = Document {
        tree: json!({"vanilla_proofs": {"tag": [[[], challenge]]}}),
        encode: Box::new(encode),
    };
    request.vanilla_proofs = vec![Vec::new()];
    let changed = every_changed_value_is_refused(&request, 0, document, |_| true, porep_names);
    let [binary, octal] = [merkle_proof(30, 30), merkle_proof(10, 70)];
    assert_eq!(changed, porep_challenge(binary, octal, 11));
}

/// What a request says beside its vanilla proofs.
#[test]
fn every_changed_byte_of_a_commitment_or_of_the_randomness_is_refused() {
    type Field = fn(&mut ProofRequest) -> &mut Vec<u8>;
    let randomness: Field = |request| &mut request.randomness;
    let fields: [(ProofRequest, Field); 5] = [
        (snap_request(), |request| &mut request.comm_r_old),
        (snap_request(), |request| &mut request.comm_r_new),
        (snap_request(), |request| &mut request.comm_d_new),
        (window_request(), randomness),
        (winning_request(), randomness),
    ];
    for (mut request, field) in fields {
        assert!(Statement::decode(&request).is_ok());
        for byte in 0..32 {
            field(&mut request)[byte] ^= 1 << (byte % 8);
            refusal(&request);
            field(&mut request)[byte] ^= 1 << (byte % 8);
        }
    }
}
