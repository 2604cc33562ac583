//! All kinds through the daemon: the fixtures are proved, and what is not true of them is refused by name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use cuzk_bench::client::Client;
use cuzk_bench::to_wire;
use cuzk_filecoin::{ProofKind, ProofRequest};
use tonic::Code;

use crate::fixture::{client, daemon, prove, upstream_accepts};
use crate::fixtures::{porep_request, snap_request, window_request, winning_request};

#[tokio::test]
async fn fixtures_of_every_kind_are_proved_and_upstream_accepts_them() {
    let mut client = client(daemon()).await;
    let requests = [
        porep_request(),
        snap_request(),
        window_request(),
        winning_request(),
    ];
    assert_eq!(requests.each_ref().map(|r| r.kind), ProofKind::ALL);
    for request in requests {
        let kind = request.kind;
        let mut proof = prove(&mut client, request.clone()).await;
        assert_eq!(proof.len(), 192, "{kind}");
        assert!(upstream_accepts(&request, &proof), "{kind}");
        // A point in its place that is not its own.
        proof.copy_within(..48, 144);
        assert!(
            !upstream_accepts(&request, &proof),
            "{kind}: a changed proof"
        );
    }
}

/// A proof speaks of one request: with other public inputs upstream rejects it.
#[tokio::test]
async fn a_proof_does_not_fit_another_statement() {
    let mut client = client(daemon()).await;
    let two = window_request();
    let mut one = window_request();
    one.vanilla_proofs.pop();
    let proof = prove(&mut client, two.clone()).await;
    assert!(upstream_accepts(&two, &proof));
    assert!(!upstream_accepts(&one, &proof));
}

async fn refusal(client: &mut Client, what: &str, request: ProofRequest) -> String {
    let status = match client.submit_proof(to_wire(request)).await {
        Ok(_) => panic!("{what}: accepted"),
        Err(status) => status,
    };
    assert_eq!(status.code(), Code::InvalidArgument, "{what}: {status}");
    let message = status.message().to_owned();
    assert!(message.contains("expected"), "{what}: {message}");
    message
}

type Change = fn(&mut ProofRequest);
/// What is wrong, the good request, how it is spoilt, and what the refusal must say.
type Case = (&'static str, fn() -> ProofRequest, Change, &'static str);

/// Flips one bit of a vanilla proof.
fn flip(request: &mut ProofRequest, proof: usize, at: usize) {
    request.vanilla_proofs[proof][at] ^= 1;
}

/// Changes the C1 output within its envelope.
fn with_c1(request: &mut ProofRequest, change: impl FnOnce(&mut serde_json::Value)) {
    let mut envelope: serde_json::Value =
        serde_json::from_slice(&request.vanilla_proofs[0]).expect("an envelope");
    let inner = BASE64.decode(envelope["Phase1Out"].as_str().expect("text"));
    let mut c1 = serde_json::from_slice(&inner.expect("base64")).expect("a C1 output");
    change(&mut c1);
    envelope["Phase1Out"] = BASE64.encode(c1.to_string()).into();
    request.vanilla_proofs[0] = envelope.to_string().into_bytes();
}

/// Flips one bit of a field of the C1 output that holds bytes.
fn flip_c1(request: &mut ProofRequest, field: &str) {
    with_c1(request, |c1| {
        let byte = c1[field][0].as_u64().expect("a byte");
        c1[field][0] = (byte ^ 1).into();
    });
}

/// Offset of an inclusion in the vanilla proof of a 2 KiB sector: a header of 56 bytes, then for each inclusion
/// variant, root, leaf, the number of levels, and two levels of seven siblings.
fn inclusion(n: usize) -> usize {
    const BYTES: usize = 4 + 32 + 32 + 8 + 2 * (8 + 7 * 32 + 8);
    56 + n * BYTES
}

/// Offset of the first sibling within an inclusion.
const FIRST_SIBLING: usize = 4 + 32 + 32 + 8 + 8;

const BAD: [Case; 24] = [
    (
        "porep, a changed byte",
        porep_request,
        |r| {
            with_c1(r, |c1| {
                let proof = &mut c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][1];
                let leaf = &mut proof["comm_d_proofs"]["data"]["Single"]["leaf"][3];
                *leaf = (leaf.as_u64().expect("a byte") ^ 1).into();
            });
        },
        "[1].comm_d_proofs.path: found a path to",
    ),
    (
        "porep, another sector",
        porep_request,
        |r| with_envelope_sector(r, 2),
        "replica_id: found",
    ),
    (
        "porep, a swapped sector",
        porep_request,
        |r| r.sector_number = 2,
        "sector_number: found 2, expected 1",
    ),
    (
        "porep, wrong ticket",
        porep_request,
        |r| flip_c1(r, "ticket"),
        "replica_id: found",
    ),
    (
        "porep, wrong seed",
        porep_request,
        |r| flip_c1(r, "seed"),
        "the node that replica_id and seed challenge",
    ),
    (
        "porep, wrong miner",
        porep_request,
        |r| r.miner_id = 10,
        "that of miner 10, sector 1",
    ),
    (
        "porep, wrong CommR",
        porep_request,
        |r| flip_c1(r, "comm_r"),
        "comm_r: found",
    ),
    (
        "porep, wrong CommD",
        porep_request,
        |r| flip_c1(r, "comm_d"),
        "replica_id: found",
    ),
    (
        "snap, a changed byte",
        snap_request,
        |r| {
            let last = r.vanilla_proofs[0].len() - 100;
            flip(r, 0, last);
        },
        "vanilla_proofs[0].challenge_proofs[",
    ),
    (
        "snap, a changed apex leaf",
        snap_request,
        |r| flip(r, 0, 40),
        "apex_leafs",
    ),
    (
        "snap, a swapped sector",
        snap_request,
        |r| std::mem::swap(&mut r.comm_r_old, &mut r.comm_r_new),
        "expected comm_r_old",
    ),
    (
        "snap, wrong CommR before",
        snap_request,
        |r| r.comm_r_old[0] ^= 1,
        "expected comm_r_old",
    ),
    (
        "snap, wrong CommR after",
        snap_request,
        |r| r.comm_r_new[0] ^= 1,
        "expected comm_r_new",
    ),
    (
        "snap, wrong CommD",
        snap_request,
        |r| r.comm_d_new[0] ^= 1,
        "proof_d_new.root",
    ),
    (
        "wpost, one bad sector",
        window_request,
        |r| flip(r, 1, inclusion(9) + FIRST_SIBLING),
        "vanilla_proofs[1].sector 2.inclusion_proofs[9]",
    ),
    (
        "wpost, swapped sectors",
        window_request,
        |r| r.vanilla_proofs.swap(0, 1),
        "vanilla_proofs[1].sector_id: found 1, expected a number above 2",
    ),
    (
        "wpost, another sector's number",
        window_request,
        |r| r.vanilla_proofs[1][0] = 3,
        "vanilla_proofs[1].sector 3.inclusion_proofs[",
    ),
    (
        "wpost, wrong randomness",
        window_request,
        |r| r.randomness[0] ^= 1,
        "which randomness challenges",
    ),
    (
        "wpost, the challenges of the first version",
        window_request,
        |r| r.registered_proof = 5,
        "which randomness challenges",
    ),
    (
        "wpost, wrong CommR",
        window_request,
        |r| flip(r, 0, 8),
        "vanilla_proofs[0].sector 1.comm_r: found",
    ),
    (
        "winning, a changed byte",
        winning_request,
        |r| flip(r, 0, inclusion(0) + 36),
        "sector 1.inclusion_proofs[0]",
    ),
    (
        "winning, another sector's number",
        winning_request,
        |r| r.vanilla_proofs[0][0] = 2,
        "sector 2.inclusion_proofs[",
    ),
    (
        "winning, wrong randomness",
        winning_request,
        |r| r.randomness[0] ^= 1,
        "which randomness challenges",
    ),
    (
        "winning, wrong CommR",
        winning_request,
        |r| flip(r, 0, 8),
        "sector 1.comm_r: found",
    ),
];

fn with_envelope_sector(request: &mut ProofRequest, number: u64) {
    let mut envelope: serde_json::Value =
        serde_json::from_slice(&request.vanilla_proofs[0]).expect("an envelope");
    envelope["SectorNum"] = number.into();
    request.vanilla_proofs[0] = envelope.to_string().into_bytes();
}

#[tokio::test]
async fn what_is_not_true_is_refused_by_name() {
    let mut client = client(daemon()).await;
    for (what, good, spoil, names) in BAD {
        let mut request = good();
        spoil(&mut request);
        let message = refusal(&mut client, what, request).await;
        assert!(
            message.contains(names),
            "{what}: {message}\nnames no {names}"
        );
    }
}

#[tokio::test]
async fn all_66_inclusions_of_a_winning_post_are_checked() {
    let mut client = client(daemon()).await;
    for n in 0..66 {
        let mut request = winning_request();
        flip(&mut request, 0, inclusion(n) + FIRST_SIBLING);
        let message = refusal(&mut client, &format!("inclusion {n}"), request).await;
        let names = format!("inclusion_proofs[{n}].");
        assert!(message.contains(&names), "{message}\nnames no {names}");
    }
}

/// The statements of a SnapDeals, WindowPoSt and WinningPoSt proof do not speak of the miner: the chain knows it from
/// the sector. So a wrong one is no reason to refuse, and changes nothing.
#[test]
fn the_miner_is_no_part_of_the_other_statements() {
    for request in [snap_request(), window_request(), winning_request()] {
        let inputs = |request: &ProofRequest| {
            let statement = cuzk_filecoin::Statement::decode(request).expect("a statement");
            statement.public_inputs(0).expect("public inputs")
        };
        let other = ProofRequest {
            miner_id: request.miner_id + 1,
            ..request.clone()
        };
        assert_eq!(inputs(&request), inputs(&other), "{}", request.kind);
    }
}
