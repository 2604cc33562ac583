use std::io::Write;

use clap::Parser;

use cuzk_filecoin::registered::sector_size_of;
use cuzk_filecoin::{ProofKind, ProofRequest, SectorSize};

use super::{REGISTERED_PROOFS, RequestArgs};
use crate::error::Error;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    request: RequestArgs,
}

fn parse(options: &[&str]) -> RequestArgs {
    let line = std::iter::once("test").chain(options.iter().copied());
    Line::try_parse_from(line)
        .expect("the options parse")
        .request
}

fn file(content: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(content).expect("written");
    file
}

/// Reads the request of `options` and returns what the refusal says: field, found, expected.
fn refusal(options: &[&str]) -> (String, String, String) {
    match parse(options).read() {
        Err(Error::Input {
            field,
            found,
            expected,
        }) => (field, found, expected),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn path(file: &tempfile::NamedTempFile) -> &str {
    file.path().to_str().expect("a printable path")
}

#[test]
fn an_envelope_gives_sector_number_and_size() {
    let c1 = file(br#"{"SectorNum":7,"Phase1Out":"e30=","SectorSize":2048}"#);
    let request = parse(&["--type", "porep", "--c1", path(&c1)])
        .read()
        .expect("a request");
    assert_eq!((request.sector_number, request.sector_size), (7, 2048));
    assert_eq!(
        request.vanilla_proofs,
        [br#"{"SectorNum":7,"Phase1Out":"e30=","SectorSize":2048}"#]
    );
}

#[test]
fn options_win_over_the_envelope() {
    let c1 = file(br#"{"SectorNum":7,"Phase1Out":"e30=","SectorSize":2048}"#);
    let options = [
        "--type",
        "porep",
        "--c1",
        path(&c1),
        "--sector-num",
        "9",
        "--sector-size",
        "8MiB",
    ];
    let request = parse(&options).read().expect("a request");
    assert_eq!((request.sector_number, request.sector_size), (9, 8 << 20));
}

#[test]
fn vanilla_proofs_are_decoded_in_order() {
    let vanilla = file(br#"["AQI=","Aw=="]"#);
    let randomness = "03".repeat(32);
    let options = [
        "--type",
        "wpost",
        "--vanilla",
        path(&vanilla),
        "--randomness",
        &randomness,
    ];
    let request = parse(&options).read().expect("a request");
    assert_eq!(request.vanilla_proofs, [vec![1, 2], vec![3]]);
    assert_eq!(request.randomness, [3; 32]);
}

#[test]
fn what_cannot_be_read_names_its_option() {
    assert_eq!(refusal(&["--type", "porep"]).0, "--c1");
    assert_eq!(refusal(&["--type", "snap"]).0, "--vanilla");
    let missing = refusal(&["--type", "porep", "--c1", "/nonexistent/c1.json"]);
    assert_eq!(missing.0, "--c1 /nonexistent/c1.json");

    let empty = file(b"");
    assert_eq!(
        refusal(&["--type", "porep", "--c1", path(&empty)]).1,
        "no bytes"
    );
    let text = file(b"not JSON");
    assert_eq!(
        refusal(&["--type", "porep", "--c1", path(&text)]).2,
        "the JSON of a C1 output"
    );
    let foreign = file(format!("\"{}\"", "A".repeat(100_000)).as_bytes());
    let (_, found, _) = refusal(&["--type", "porep", "--c1", path(&foreign)]);
    assert!(found.len() < 300, "{} bytes", found.len());
    let broken = file(br#"["AQI=","%%%%"]"#);
    let (field, _, expected) = refusal(&["--type", "winning", "--vanilla", path(&broken)]);
    assert!(field.ends_with("[1]"), "{field}");
    assert_eq!(expected, "base64");
}

#[test]
fn commitments_are_32_bytes_of_hex() {
    let vanilla = file(b"[]");
    for option in [
        "--comm-r-old",
        "--comm-r-new",
        "--comm-d-new",
        "--randomness",
    ] {
        for value in ["zz", "0102", &"01".repeat(33)] {
            let (field, ..) =
                refusal(&["--type", "snap", "--vanilla", path(&vanilla), option, value]);
            assert_eq!(field, option);
        }
    }
}

#[test]
fn options_and_file_give_the_request_again() {
    let post = ProofRequest {
        sector_size: 2048,
        registered_proof: 10,
        miner_id: 1000,
        randomness: vec![3; 32],
        partition_index: 4,
        vanilla_proofs: vec![vec![1, 2], vec![3]],
        ..ProofRequest::new(ProofKind::WindowPoSt)
    };
    let snap = ProofRequest {
        sector_size: 8 << 20,
        registered_proof: 1,
        sector_number: 5,
        miner_id: 1000,
        comm_r_old: vec![1; 32],
        comm_r_new: vec![2; 32],
        comm_d_new: vec![3; 32],
        vanilla_proofs: vec![vec![9; 100]],
        ..ProofRequest::new(ProofKind::SnapDeals)
    };
    let porep = ProofRequest {
        sector_size: 2048,
        sector_number: 7,
        miner_id: 1000,
        vanilla_proofs: vec![br#"{"SectorNum":7,"Phase1Out":"e30=","SectorSize":2048}"#.to_vec()],
        ..ProofRequest::new(ProofKind::PoRep)
    };
    for request in [post, snap, porep] {
        let content = file(&super::file_content(&request).expect("content"));
        let options = super::options(&request, content.path());
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        assert_eq!(parse(&options).read().expect("a request"), request);
    }
}

#[test]
fn the_table_of_registered_proofs_is_complete_and_right() {
    let mut known: Vec<(ProofKind, u64)> = Vec::new();
    for row in REGISTERED_PROOFS.lines().skip(3) {
        let Some((kind, rest)) = row.trim().split_once(' ') else {
            break;
        };
        let kind: ProofKind = kind.parse().expect("a kind");
        let numbers = rest.split_whitespace().filter_map(|word| word.parse().ok());
        let numbers: Vec<u64> = numbers.collect();
        let sizes: Vec<_> = numbers.iter().map(|n| sector_size_of(kind, *n)).collect();
        assert_eq!(sizes, SectorSize::ALL.map(Some), "{row}");
        known.extend(numbers.into_iter().map(|number| (kind, number)));
    }
    let all = |kind| (0..100).filter(move |n| sector_size_of(kind, *n).is_some());
    let expected: usize = ProofKind::ALL.iter().map(|kind| all(*kind).count()).sum();
    known.dedup();
    assert_eq!(known.len(), expected);
}
