//! Random damage to what every decoder reads: whatever arrives is accepted or an error, never a panic.
//!
//! The damage is seeded, so that a failure can be repeated from the number in its message.

// Public to the fuzzer's crate.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/targets.rs"]
mod targets;

use crate::common::{porep_request, snap_request, window_request, winning_request};
use cuzk_filecoin::{ProofRequest, Statement};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Values that decoders trip over: lengths, variants, delimiters.
const TOKENS: [&[u8]; 12] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\"",
    b"null",
    b"18446744073709551615",
    b"-1",
    &[0xff; 8],
    &[0; 8],
    &[1, 0, 0, 0, 0, 0, 0, 0x80],
];

fn damage(bytes: &mut Vec<u8>, rng: &mut StdRng) {
    for _ in 0..rng.gen_range(1..4) {
        let len = bytes.len();
        let at = rng.gen_range(0..=len);
        let to = rng.gen_range(at..=len.min(at + 64));
        match rng.gen_range(0..6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let token = TOKENS[rng.gen_range(0..TOKENS.len())];
                bytes.splice(at..to, token.iter().copied());
            }
            3 => {
                let piece = bytes[at..to].to_vec();
                let into = rng.gen_range(0..=len);
                bytes.splice(into..into, piece);
            }
            _ if at < len => bytes[at] = rng.r#gen(),
            _ => bytes.push(rng.r#gen()),
        }
    }
}

/// Decodes damaged copies of a request; `inner` damages what an envelope wraps.
fn survive(base: &ProofRequest, rounds: u64, damaged: impl Fn(&mut ProofRequest, &mut StdRng)) {
    let mut refused = 0;
    for round in 0..rounds {
        let mut rng = StdRng::seed_from_u64(round);
        let mut request = base.clone();
        damaged(&mut request, &mut rng);
        let outcome = std::panic::catch_unwind(|| Statement::decode(&request).is_err());
        refused += u64::from(outcome.unwrap_or_else(|_| panic!("round {round} panicked")));
    }
    assert!(refused * 10 > rounds * 9, "{refused} of {rounds} refused");
}

/// Rounds for each seed of a target: what decodes slowly gets fewer.
fn rounds(target: &str) -> u64 {
    match target {
        "porep" | "winning" => 500,
        "params" | "vk" => 300,
        _ => 1500,
    }
}

/// The bodies of the fuzz targets, on damaged copies of their seeds.
#[test]
fn damaged_seeds_of_every_target() {
    for (name, body, seeds) in targets::targets() {
        for (number, seed) in seeds.iter().enumerate() {
            assert!(body(seed), "seed {number} of {name} is refused");
            let mut refused = 0;
            for round in 0..rounds(name) {
                let mut bytes = seed.clone();
                damage(&mut bytes, &mut StdRng::seed_from_u64(round));
                let outcome = std::panic::catch_unwind(|| body(&bytes));
                let accepted = outcome
                    .unwrap_or_else(|_| panic!("{name}, seed {number}: round {round} panicked"));
                refused += u64::from(!accepted);
            }
            let all = rounds(name);
            assert!(refused * 10 > all * 9, "{name}: {refused} of {all} refused");
        }
    }
}

#[test]
#[ignore = "writes fuzz/corpus, for scripts/fuzz.sh"]
fn seeds_become_a_corpus() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, _, seeds) in targets::targets() {
        let folder = corpus.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
    }
}

#[test]
fn damaged_fields() {
    for base in [
        porep_request(),
        snap_request(),
        window_request(),
        winning_request(),
    ] {
        survive(&base, 50, |request, rng| {
            let fields = [
                &mut request.randomness,
                &mut request.comm_r_old,
                &mut request.comm_r_new,
                &mut request.comm_d_new,
            ];
            for field in fields {
                damage(field, rng);
            }
            request.sector_size = [0, 1, 2048, u64::MAX][rng.gen_range(0..4)];
            request.registered_proof = [0, 4, 5, 14, 19, 20, u64::MAX][rng.gen_range(0..7)];
            request.sector_number = rng.r#gen();
            request.partition_index = rng.r#gen();
        });
    }
}

#[test]
fn empty_and_random_payloads() {
    for base in [
        porep_request(),
        snap_request(),
        window_request(),
        winning_request(),
    ] {
        survive(&base, 100, |request, rng| {
            let bytes: Vec<u8> = (0..rng.gen_range(0..200)).map(|_| rng.r#gen()).collect();
            request.vanilla_proofs = vec![bytes; rng.gen_range(0..3)];
        });
    }
}
