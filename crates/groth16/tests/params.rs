//! Damaged, foreign and missing parameter files.

use std::fs;
use std::path::Path;

use blstrs::{Bls12, G1Affine, Scalar};
use cuzk_groth16::conformance::circuits::{CubeChain, Product};
use cuzk_groth16::conformance::{Fixture, compile};
use cuzk_groth16::setup::marker_path;
use cuzk_groth16::{
    CheckedFiles, G1Points, NoProgress, ParameterFile, ParamsError, PointError, Progress,
    PublishedDigests, Trust, VerifyingKey,
};

fn example() -> Fixture {
    Fixture::new(CubeChain {
        start: Scalar::from(3),
        rounds: 50,
    })
}

fn load(params: &Path, vk: &Path) -> Result<Trust, ParamsError> {
    ParameterFile::load(params, Some(vk), None, None, &NoProgress).map(|(_, trust)| trust)
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file");
}

#[test]
fn intact_files_load() {
    let fixture = example();
    let (params, vk) = (fixture.params_path(), fixture.vk_path());
    assert!(matches!(load(&params, &vk), Ok(Trust::Insecure(marker)) if marker.seed == Some(7)));
    fs::remove_file(marker_path(&params)).expect("the marker");
    assert_eq!(load(&params, &vk).expect("intact"), Trust::CurveChecked);
    let published = PublishedDigests {
        params: fixture.params.digest(&NoProgress),
        vk: fixture.params.vk().digest(),
    };
    let loaded = ParameterFile::load(&params, Some(&vk), Some(&published), None, &NoProgress);
    assert_eq!(loaded.expect("intact").1, Trust::Published);
    let other = PublishedDigests {
        params: "00112233445566778899aabbccddeeff".into(),
        ..published.clone()
    };
    let error = ParameterFile::load(&params, Some(&vk), Some(&other), None, &NoProgress)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&published.params) && error.contains(&other.params),
        "{error}"
    );
}

/// What a check says it reads.
#[derive(Default)]
struct Reads(std::sync::atomic::AtomicU64);

impl Progress for Reads {
    fn begin(&self, _step: &str, _units: u64) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    fn advance(&self, _units: u64) {}
}

impl Reads {
    fn of(&self, params: &Path, notes: &CheckedFiles) -> Result<u64, ParamsError> {
        self.0.store(0, std::sync::atomic::Ordering::Relaxed);
        ParameterFile::load(params, None, None, Some(notes), self)?;
        Ok(self.0.load(std::sync::atomic::Ordering::Relaxed))
    }
}

#[test]
fn a_file_is_checked_once_and_again_when_it_changes() {
    let fixture = example();
    let params = fixture.params_path();
    let folder = tempfile::tempdir().expect("a folder");
    let (notes, reads) = (
        CheckedFiles::new(folder.path().join("notes")),
        Reads::default(),
    );
    assert_ne!(reads.of(&params, &notes).expect("intact"), 0);
    assert_eq!(reads.of(&params, &notes).expect("intact"), 0);
    // Another check than the one that passed: the points instead of the marker's digest.
    fs::remove_file(marker_path(&params)).expect("the marker");
    assert_ne!(reads.of(&params, &notes).expect("intact"), 0);
    assert_eq!(reads.of(&params, &notes).expect("intact"), 0);
    // A changed byte under the same name and size.
    let mut bytes = fs::read(&params).expect("the file");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    write(&params, &bytes);
    assert!(reads.of(&params, &notes).is_err());
    // A note that cannot be read counts as none.
    bytes[last] ^= 1;
    write(&params, &bytes);
    assert_ne!(reads.of(&params, &notes).expect("intact"), 0);
    let note = fs::read_dir(folder.path().join("notes"))
        .expect("notes")
        .next();
    write(&note.expect("a note").expect("its name").path(), b"{");
    assert_ne!(reads.of(&params, &notes).expect("intact"), 0);
}

#[test]
fn missing_file_is_named() {
    let error = ParameterFile::open("/nowhere/v28-x.params")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("/nowhere/v28-x.params") && error.contains("No such file"),
        "{error}"
    );
}

#[test]
fn empty_truncated_and_oversized_files_name_both_sizes() {
    let fixture = example();
    let content = fs::read(fixture.params_path()).expect("parameters");
    let path = fixture.params_path().with_extension("damaged");
    for length in [
        0,
        1,
        863,
        864,
        868,
        900,
        2000,
        content.len() / 2,
        content.len() - 1,
    ] {
        write(&path, &content[..length]);
        match ParameterFile::open(&path) {
            Err(ParamsError::Size {
                path: named,
                found,
                expected,
                ..
            }) => {
                assert_eq!((named, found), (path.clone(), length as u64));
                assert!(
                    expected > found && expected <= content.len() as u64,
                    "{length}: {expected}"
                );
            }
            other => panic!("{length}: {other:?}"),
        }
    }
    write(&path, &[&content[..], &[0]].concat());
    let error = ParameterFile::open(&path).unwrap_err().to_string();
    let [found, expected] = [content.len() + 1, content.len()].map(|n| n.to_string());
    assert!(
        error.contains(&found) && error.contains(&expected),
        "{error}"
    );
}

/// A count that calls for more than any file holds must not be believed, nor overflow.
#[test]
fn absurd_counts_are_size_errors() {
    let fixture = example();
    let content = fs::read(fixture.params_path()).expect("parameters");
    let path = fixture.params_path().with_extension("damaged");
    let vk_length = fixture.params.vk().to_bytes().len();
    for offset in [864, vk_length] {
        let mut damaged = content.clone();
        damaged[offset..offset + 4].fill(0xff);
        write(&path, &damaged);
        assert!(matches!(
            ParameterFile::open(&path),
            Err(ParamsError::Size { .. })
        ));
    }
}

#[test]
fn flipped_bytes_in_params_are_caught() {
    let fixture = example();
    let (path, vk) = (fixture.params_path(), fixture.vk_path());
    let content = fs::read(&path).expect("parameters");
    let marker = fs::read(marker_path(&path)).expect("the marker");
    for offset in (0..content.len()).step_by(997).chain([content.len() - 1]) {
        let mut damaged = content.clone();
        damaged[offset] ^= 0x10;
        write(&path, &damaged);
        write(&marker_path(&path), &marker);
        assert!(load(&path, &vk).is_err(), "with the marker, byte {offset}");
        fs::remove_file(marker_path(&path)).expect("the marker");
        assert!(load(&path, &vk).is_err(), "by curve checks, byte {offset}");
    }
}

#[test]
fn flipped_bytes_in_vk_are_caught() {
    let fixture = example();
    let (params, path) = (fixture.params_path(), fixture.vk_path());
    fs::remove_file(marker_path(&params)).expect("the marker");
    let content = fs::read(&path).expect("the key");
    for offset in (0..content.len()).step_by(41) {
        let mut damaged = content.clone();
        damaged[offset] ^= 1;
        write(&path, &damaged);
        assert!(load(&params, &path).is_err(), "byte {offset}");
    }
    for length in [0, 100, content.len() - 1] {
        write(&path, &content[..length]);
        assert!(
            matches!(load(&params, &path), Err(ParamsError::Size { found, .. }) if found == length as u64)
        );
    }
}

#[test]
fn verifying_key_of_another_circuit_prints_both_digests() {
    let (fixture, other) = (example(), Fixture::new(Product { x: 2, y: 3 }));
    fs::remove_file(marker_path(&fixture.params_path())).expect("the marker");
    let error = load(&fixture.params_path(), &other.vk_path()).unwrap_err();
    assert!(matches!(error, ParamsError::ForeignVerifyingKey { .. }));
    let text = error.to_string();
    for digest in [fixture.params.vk().digest(), other.params.vk().digest()] {
        assert!(text.contains(&digest), "{text}");
    }
}

#[test]
fn parameters_of_another_circuit_name_the_counts() {
    let fixture = example();
    assert!(fixture.params.check_circuit(&fixture.circuit).is_ok());
    let longer = compile(CubeChain {
        start: Scalar::from(3),
        rounds: 51,
    });
    let error = fixture
        .params
        .check_circuit(&longer)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("found 101") && error.contains("expected 103"),
        "{error}"
    );
}

/// Both readers agree on every point.
#[test]
fn reads_what_bellperson_reads() {
    let fixture = example();
    let bytes = fs::read(fixture.params_path()).expect("parameters");
    let theirs =
        bellperson::groth16::Parameters::<Bls12>::read(&bytes[..], true).expect("parameters");
    let ours = &fixture.params;
    for (points, expected) in [
        (ours.h(), &theirs.h),
        (ours.l(), &theirs.l),
        (ours.a(), &theirs.a),
        (ours.b_g1(), &theirs.b_g1),
    ] {
        let points: Vec<_> = (0..points.len()).map(|i| points.get(i)).collect();
        assert_eq!(points, **expected);
    }
    let b_g2: Vec<_> = (0..ours.b_g2().len()).map(|i| ours.b_g2().get(i)).collect();
    assert_eq!(b_g2, *theirs.b_g2);
    assert_eq!(ours.vk().ic, theirs.vk.ic);
    let mut vk = Vec::new();
    theirs.vk.write(&mut vk).expect("a vector");
    assert_eq!(vk, ours.vk().to_bytes());
    write(&fixture.vk_path(), &vk);
    assert_eq!(
        VerifyingKey::read_from(&fixture.vk_path()).expect("a key"),
        *ours.vk()
    );
}

#[test]
fn points_are_checked() {
    let fixture = example();
    let good = fixture.params.h().encodings()[0];
    let check = |bytes: [u8; 96]| {
        G1Points::from_bytes(&bytes)
            .expect("one point")
            .check(0)
            .map(drop)
    };
    assert_eq!(check(good), Ok(()));
    let with = |index: usize, value: u8| {
        let mut bytes = good;
        bytes[index] = value;
        bytes
    };
    assert_eq!(check(with(95, good[95] ^ 1)), Err(PointError::OffCurve));
    for flag in [0x80, 0x40, 0x20] {
        assert_eq!(
            check(with(0, good[0] | flag)),
            Err(PointError::Flags { found: flag })
        );
    }
    // The coordinate plus the modulus is the same element, but not its encoding: x = 0x1fff… is above it.
    assert_eq!(check(with(0, 0x1f)), Err(PointError::OffCurve));
    assert_eq!(check([0; 96]), Err(PointError::OffCurve));
    assert!(G1Points::from_bytes(&good[1..]).is_none());
}

/// A point of the curve outside the subgroup: all but one in 2^125 are.
fn point_of_another_order() -> G1Affine {
    let candidates = (1..).map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
    });
    candidates
        .flatten()
        .find(|point| !bool::from(point.is_torsion_free()))
        .expect("half of all x have a y")
}

#[test]
fn verifying_key_points_must_have_prime_order() {
    let fixture = example();
    let mut bytes = fixture.params.vk().to_bytes();
    bytes[..96].copy_from_slice(&point_of_another_order().to_uncompressed());
    write(&fixture.vk_path(), &bytes);
    match VerifyingKey::read_from(&fixture.vk_path()) {
        Err(ParamsError::Point { part, source, .. }) => {
            assert_eq!(
                (part.as_str(), source),
                ("alpha in G1", PointError::Subgroup)
            );
        }
        other => panic!("{other:?}"),
    }
}

/// The published digest of a large file takes a minute: it may be computed beside the first proofs, and is remembered.
#[test]
fn the_published_digest_may_be_compared_later_where_that_of_the_key_is_right() {
    let fixture = example();
    let (params, vk) = (fixture.params_path(), fixture.vk_path());
    fs::remove_file(marker_path(&params)).expect("the marker");
    let published = PublishedDigests {
        params: fixture.params.digest(&NoProgress),
        vk: fixture.params.vk().digest(),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let notes = CheckedFiles::new(folder.path());
    let ahead = |vk: Option<&Path>| {
        ParameterFile::load_ahead(&params, vk, Some(&published), Some(&notes), &NoProgress)
    };

    // One bit of the last point.
    let intact = fs::read(&params).expect("the file");
    let mut damaged = intact.clone();
    *damaged.last_mut().expect("bytes") ^= 1;
    write(&params, &damaged);
    let (file, trust, check) = ahead(Some(&vk)).expect("nothing wrong so far");
    assert_eq!(trust, Trust::Published);
    let error = check.expect("not checked").run(&file, &NoProgress);
    let error = error.expect_err("damaged").to_string();
    let found = file.digest(&NoProgress);
    for part in [params.to_str().expect("a path"), &found, &published.params] {
        assert!(error.contains(part), "{error}");
    }
    // Without the key's own file nothing vouches for the key: the digest is compared at once.
    assert!(ahead(None).is_err());

    write(&params, &intact);
    let (file, _, check) = ahead(Some(&vk)).expect("intact");
    let passed = check.expect("not checked yet").run(&file, &NoProgress);
    passed.expect("intact");
    let (_, _, check) = ahead(Some(&vk)).expect("intact");
    assert!(check.is_none(), "remembered");

    // Another key than the published one is found at once.
    let mut other = fs::read(&vk).expect("the key");
    *other.last_mut().expect("bytes") ^= 1;
    write(&vk, &other);
    assert!(matches!(ahead(Some(&vk)), Err(ParamsError::Digest { path, .. }) if path == vk));
}
