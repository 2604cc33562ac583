//! The developer setup against bellperson's generator, byte for byte.

use std::fs;
use std::path::Path;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::groth16 as bellperson;
use blstrs::{Bls12, Scalar};
use cuzk_groth16::conformance::circuits::{BitMixer, CubeChain, Product, RandomRows};
use cuzk_groth16::conformance::compile;
use cuzk_groth16::field::Isa;
use cuzk_groth16::setup::{
    InsecureMarker, SetupError, ToxicWaste, generate, generate_with, marker_path, params_bytes,
    write_files, write_files_with,
};
use cuzk_groth16::{NoProgress, ParameterFile};
use ff::Field;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn bellperson_parameters(circuit: impl Circuit<Scalar>, toxic: &ToxicWaste) -> Vec<u8> {
    let ToxicWaste {
        g1,
        g2,
        alpha,
        beta,
        gamma,
        delta,
        tau,
    } = toxic.clone();
    let parameters = bellperson::generate_parameters::<Bls12, _>(
        circuit, g1, g2, alpha, beta, gamma, delta, tau,
    );
    let mut bytes = Vec::new();
    parameters
        .expect("bellperson's parameters")
        .write(&mut bytes)
        .expect("a vector");
    bytes
}

fn same_bytes(circuit: impl Circuit<Scalar> + Clone, seed: u64) {
    let toxic = ToxicWaste::random(ChaCha8Rng::seed_from_u64(seed));
    let compiled = compile(circuit.clone());
    let expected = bellperson_parameters(circuit, &toxic);
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let mut bytes = Vec::new();
        let vk = generate_with(&compiled, &toxic, isa, &mut bytes, &NoProgress);
        let vk = vk.expect("parameters").to_bytes();
        assert_eq!(bytes.len(), expected.len());
        let difference = bytes.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(difference, None, "first byte that differs, on {isa}");
        assert!(expected.starts_with(&vk));
    }
}

#[test]
fn same_bytes_as_bellperson() {
    same_bytes(
        BitMixer {
            state: 5,
            rounds: 20,
        },
        1,
    );
    same_bytes(
        CubeChain {
            start: Scalar::from(3),
            rounds: 500,
        },
        2,
    );
    same_bytes(Product { x: 2, y: 3 }, 3);
    for seed in 0..12 {
        let rows = 5 << (seed % 8);
        same_bytes(
            RandomRows {
                shape_seed: seed,
                value_seed: seed,
                rows,
            },
            4 + seed,
        );
    }
}

fn example() -> CubeChain {
    CubeChain {
        start: Scalar::from(3),
        rounds: 100,
    }
}

#[test]
fn a_seed_decides_everything() {
    let circuit = compile(example());
    let run = |seed| {
        let mut bytes = Vec::new();
        generate(
            &circuit,
            ChaCha8Rng::seed_from_u64(seed),
            &mut bytes,
            &NoProgress,
        )
        .expect("parameters");
        bytes
    };
    assert!(run(1) == run(1));
    assert!(run(1) != run(2));
}

struct Unconstrained;

impl Circuit<Scalar> for Unconstrained {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || Ok(Scalar::ONE))?;
        cs.enforce(|| "x", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + x);
        cs.alloc(|| "y", || Ok(Scalar::ONE)).map(drop)
    }
}

#[test]
fn an_unconstrained_variable_is_named() {
    let circuit = compile(Unconstrained);
    let result = generate(
        &circuit,
        ChaCha8Rng::seed_from_u64(1),
        &mut std::io::sink(),
        &NoProgress,
    );
    assert!(matches!(
        result,
        Err(SetupError::Unconstrained { variable: 1 })
    ));
}

#[test]
fn degenerate_toxic_waste_is_refused() {
    let circuit = compile(example());
    let good = ToxicWaste::random(ChaCha8Rng::seed_from_u64(1));
    let root = Scalar::from(1); // a root of unity of every domain
    for bad in [
        ToxicWaste {
            delta: Scalar::ZERO,
            ..good.clone()
        },
        ToxicWaste {
            gamma: Scalar::ZERO,
            ..good.clone()
        },
        ToxicWaste {
            tau: Scalar::ZERO,
            ..good.clone()
        },
        ToxicWaste { tau: root, ..good },
    ] {
        let result = generate_with(
            &circuit,
            &bad,
            Isa::detect(),
            &mut std::io::sink(),
            &NoProgress,
        );
        assert!(matches!(result, Err(SetupError::Toxic { .. })));
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a name in UTF-8");
    let mut names: Vec<_> = entries
        .map(|entry| name(entry.expect("an entry")))
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_marked_kept_and_repaired() {
    let directory = tempfile::tempdir().expect("a directory");
    let (params, vk) = (
        directory.path().join("x.params"),
        directory.path().join("x.vk"),
    );
    let circuit = compile(example());
    let run = |seed| write_files(&circuit, &params, &vk, seed, &NoProgress);

    let first = run(Some(3)).expect("a setup");
    assert!(!first.reused);
    assert_eq!(
        names(directory.path()),
        [
            "x.params",
            "x.params.insecure.json",
            "x.params.lock",
            "x.vk"
        ]
    );
    let marker = InsecureMarker::beside(&params)
        .expect("readable")
        .expect("a marker");
    assert_eq!(marker, first.marker);
    assert_eq!(marker.seed, Some(3));
    let file = ParameterFile::open(&params).expect("parameters");
    assert_eq!(file.digest(&NoProgress), marker.params_digest);
    assert_eq!(fs::read(&vk).expect("the key"), file.vk().to_bytes());
    assert_eq!(file.vk().digest(), marker.vk_digest);
    assert_eq!(params_bytes(&circuit), file.bytes().len() as u64);
    assert_eq!(first.params_bytes, file.bytes().len() as u64);
    let content = fs::read(&params).expect("parameters");

    // Kept for the same seed and when none is asked for; the seed says what comes out.
    assert!(run(Some(3)).expect("kept").reused);
    assert!(run(None).expect("kept").reused);
    // A damaged file is made anew.
    let mut damaged = content.clone();
    damaged[content.len() / 2] ^= 1;
    fs::write(&params, &damaged).expect("damage");
    assert!(!run(Some(3)).expect("repaired").reused);
    assert!(fs::read(&params).expect("parameters") == content);
    // So is one for another seed or another circuit.
    assert!(!run(Some(4)).expect("another seed").reused);
    let other = compile(Product { x: 1, y: 1 });
    assert!(
        !write_files(&other, &params, &vk, None, &NoProgress)
            .expect("another circuit")
            .reused
    );
}

#[test]
fn foreign_files_are_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let (params, vk) = (
        directory.path().join("x.params"),
        directory.path().join("x.vk"),
    );
    let circuit = compile(example());
    for foreign in [&params, &vk] {
        fs::write(foreign, "precious").expect("a file");
        let result = write_files(&circuit, &params, &vk, None, &NoProgress);
        assert!(matches!(result, Err(SetupError::NotOurs { path, .. }) if path == *foreign));
        assert_eq!(fs::read(foreign).expect("the file"), b"precious");
        fs::remove_file(foreign).expect("the file");
    }
    assert!(!marker_path(&params).exists());
}

#[test]
fn two_at_once_make_one_pair_of_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let (params, vk) = (
        directory.path().join("x.params"),
        directory.path().join("x.vk"),
    );
    let circuit = compile(example());
    let reused: Vec<bool> = std::thread::scope(|scope| {
        let run = || {
            write_files(&circuit, &params, &vk, None, &NoProgress)
                .expect("a setup")
                .reused
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    assert_eq!(reused.iter().filter(|reused| !**reused).count(), 1);
}

#[test]
fn a_maker_that_fails_leaves_no_parameters() {
    let directory = tempfile::tempdir().expect("a directory");
    let (params, vk) = (
        directory.path().join("x.params"),
        directory.path().join("x.vk"),
    );
    let circuit = compile(example());
    let make = |_: &ToxicWaste, out: &mut (dyn std::io::Write + Send)| {
        out.write_all(b"half").map_err(SetupError::Write)?;
        Err(SetupError::Toxic { name: "tau" })
    };
    let result = write_files_with(&circuit, &params, &vk, Some(3), &NoProgress, make);
    assert!(matches!(result, Err(SetupError::Toxic { .. })));
    assert_eq!(names(directory.path()), ["x.params.lock"]);
}
