//! Which package may depend on which.

use std::fs;

use xtask::{Package, packages, root};

/// From the bottom up: a package may depend only on those before it.
const LAYERS: [&str; 11] = [
    "cuzk-memory",
    "cuzk-r1cs",
    "cuzk-groth16",
    "cuzk-cuda",
    "cuzk-filecoin",
    "cuzk-baseline",
    "cuzk-engine",
    "cuzk-proto",
    "cuzk-server",
    "cuzk-daemon",
    "cuzk-bench",
];

/// The only package that knows upstream's proof crates.
const KNOWS_UPSTREAM: &str = "cuzk-filecoin";

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == name)
}

fn layered() -> Vec<Package> {
    packages()
        .into_iter()
        .filter(|package| package.name != "xtask")
        .collect()
}

#[test]
fn dependencies_point_strictly_downward() {
    let mut seen = 0;
    for package in layered() {
        let own = layer(&package.name)
            .unwrap_or_else(|| panic!("{} has no place in LAYERS", package.name));
        // A package may name itself, to turn on a feature for its own tests.
        let others = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.name != package.name);
        for dependency in others {
            let Some(below) = layer(&dependency.name) else {
                continue;
            };
            seen += 1;
            assert!(
                below < own,
                "{} may not depend on {}",
                package.name,
                dependency.name
            );
        }
    }
    assert!(
        seen > 0,
        "no package depends on another: the metadata was misread"
    );
}

#[test]
fn one_package_knows_upstreams_proof_crates() {
    let is_upstream =
        |name: &str| name.starts_with("storage-proofs") || name.starts_with("filecoin-proofs");
    let who: Vec<String> = layered()
        .into_iter()
        .filter(|package| {
            package
                .dependencies
                .iter()
                .any(|dependency| is_upstream(&dependency.name))
        })
        .map(|package| package.name)
        .collect();
    assert_eq!(who, [KNOWS_UPSTREAM]);
}

#[test]
fn every_package_takes_licence_and_lints_from_the_workspace() {
    for package in packages() {
        assert_eq!(
            package.license.as_deref(),
            Some("MIT OR Apache-2.0"),
            "{}",
            package.name
        );
        let manifest = fs::read_to_string(&package.manifest_path).expect("a readable manifest");
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{} sets its own lints",
            package.name
        );
    }
}

/// The versions of a package that a `Cargo.lock` names.
fn locked(lock: &str, package: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(lock)).expect("a readable lock file");
    let start = format!("name = \"{package}\"\nversion = \"");
    text.split(&start)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
        .collect()
}

/// What is measured against is the upstream that proofs are checked with.
#[test]
fn the_published_gpu_prover_is_of_the_same_versions() {
    for package in ["bellperson", "filecoin-proofs", "filecoin-proofs-api"] {
        let ours = locked("Cargo.lock", package);
        assert_eq!(ours.len(), 1, "{package} in Cargo.lock");
        assert_eq!(locked("baseline-gpu/Cargo.lock", package), ours);
    }
    assert_eq!(locked("baseline-gpu/Cargo.lock", "supraseal-c2").len(), 1);
}
