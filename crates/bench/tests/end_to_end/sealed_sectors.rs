//! `gen-vanilla`: proofs of sectors that the tool sealed itself, the same proofs again from the sectors' paths, and
//! synthetic ones.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::fixture::{run, run_ok};

/// Sectors that one command sealed and kept.
struct Kept {
    folder: tempfile::TempDir,
    out: PathBuf,
    report: Value,
}

impl Kept {
    fn seal(command: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("sealed.json");
        let mut args = vec!["--json", "gen-vanilla"];
        args.extend(command);
        let (keep, file) = (text(folder.path()), text(&out));
        args.extend(["--sector-size", "2KiB", "--keep", &keep, "--out", &file]);
        let report = serde_json::from_str(&run_ok(&args)).expect("JSON");
        Self {
            folder,
            out,
            report,
        }
    }

    /// A file of a kept sector.
    fn path(&self, place: &str) -> String {
        text(&self.folder.path().join(place))
    }

    /// Runs `gen-vanilla` with these options, which must give the same proofs and the same request.
    fn again(&self, command: &[&str]) {
        let out = self.folder.path().join("given.json");
        let file = text(&out);
        let mut args = vec!["--json", "gen-vanilla"];
        args.extend(command);
        args.extend(["-o", &file]);
        let report: Value = serde_json::from_str(&run_ok(&args)).expect("JSON");
        let read = |path: &Path| std::fs::read(path).expect("vanilla proofs");
        assert!(read(&self.out) == read(&out), "{command:?}");
        let options = |report: &Value| {
            let options = report["request_options"].as_array().expect("options");
            // The first four are the kind and the file.
            options[4..].to_vec()
        };
        assert_eq!(options(&self.report), options(&report));
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("a printable path").to_owned()
}

#[test]
fn a_c1_output_from_paths() {
    let kept = Kept::seal(&["porep"]);
    let (sealed, cache) = (kept.path("s-1000-1/sealed"), kept.path("s-1000-1/cache"));
    let commitments = kept.path("s-1000-1/commdr.txt");
    let (ticket, seed) = ("01".repeat(32), "02".repeat(32));
    kept.again(&[
        "porep",
        "--sealed",
        &sealed,
        "--cache",
        &cache,
        "--comm-r",
        &commitments,
        "--comm-d",
        &commitments,
        "--ticket",
        &ticket,
        "--seed",
        &seed,
    ]);
}

#[test]
fn proofs_of_spacetime_from_paths() {
    let kept = Kept::seal(&["window-post", "--registered-proof", "5"]);
    let files = |number: u64| {
        ["sealed", "cache", "commdr.txt"].map(|file| kept.path(&format!("s-1000-{number}/{file}")))
    };
    let ([sealed, cache, commitments], [sealed2, cache2, commitments2]) = (files(1), files(2));
    // The CID by itself, as people copy it.
    let written = std::fs::read_to_string(&commitments2).expect("commitments");
    let cid = written.split(" r:").nth(1).expect("CommR").trim();
    assert!(cid.starts_with("bagboea4b5abc"), "{cid}");
    let all = [
        "window-post",
        "--registered-proof",
        "5",
        "--sealed",
        &sealed,
        "--cache",
        &cache,
        "--comm-r",
        &commitments,
        "--sealed",
        &sealed2,
        "--cache",
        &cache2,
        "--comm-r",
        cid,
        "--sector-number",
        "1",
        "--sector-number",
        "2",
    ];
    kept.again(&all);

    let kept = Kept::seal(&["winning-post", "--sector-num", "7"]);
    let [sealed, cache, commitments] =
        ["sealed", "cache", "commdr.txt"].map(|file| kept.path(&format!("s-1000-7/{file}")));
    let winning = [
        "winning-post",
        "--sector-num",
        "7",
        "--sealed",
        &sealed,
        "--cache",
        &cache,
        "--comm-r",
    ];
    kept.again(&[&winning[..], &[&commitments]].concat());
    // A CommR that is not the sector's, and one that is none.
    for (comm_r, names) in [
        (cid, "sector 7.comm_r: found"),
        ("bagboea4b5abc", "--comm-r: found"),
    ] {
        let args = [
            &["gen-vanilla"],
            &winning[..],
            &[comm_r, "--out", "/dev/null/x"],
        ]
        .concat();
        let output = run(&args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && stderr.contains(names),
            "{stderr}"
        );
    }
}

#[test]
fn an_update_from_paths() {
    let kept = Kept::seal(&["snap-prove"]);
    let (key, key_cache) = (kept.path("s-1000-1/sealed"), kept.path("s-1000-1/cache"));
    let (replica, cache) = (kept.path("u-1/sealed"), kept.path("u-1/cache"));
    let (old, new) = (
        kept.path("s-1000-1/commdr.txt"),
        kept.path("u-1/commdr.txt"),
    );
    let paths = [
        "snap-prove",
        "--sector-key",
        &key,
        "--sector-key-cache",
        &key_cache,
        "--replica",
        &replica,
        "--replica-cache",
        &cache,
    ];
    let files = ["--orig-commdr", &old, "--update-commdr", &new];
    kept.again(&[&paths[..], &files].concat());
    let separate = [
        "--comm-r-old",
        &old,
        "--comm-r-new",
        &new,
        "--comm-d-new",
        &new,
    ];
    kept.again(&[&paths[..], &separate].concat());
}

/// Synthetic proofs of every kind, and of one at the size that is on the chain: the witness satisfies every row of the
/// circuit, and its public inputs are upstream's.
#[test]
fn synthetic_proofs_satisfy_their_circuits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = text(&folder.path().join("vanilla.json"));
    for (kind, size, rows) in [
        ("porep", "2KiB", 2_687_961),
        ("snap", "2KiB", 1_705_044),
        ("wpost", "2KiB", 21_889),
        ("winning", "2KiB", 90_883),
        ("winning", "32GiB", 370_723),
    ] {
        let made = run_ok(&[
            "--json",
            "gen-vanilla",
            "synthetic",
            "--type",
            kind,
            "--sector-size",
            size,
            "--out",
            &out,
        ]);
        let made: Value = serde_json::from_str(&made).expect("JSON");
        let options = made["request_options"].as_array().expect("options");
        let options = options.iter().filter_map(Value::as_str);
        let args: Vec<&str> = ["--json", "check"].into_iter().chain(options).collect();
        let report: Value = serde_json::from_str(&run_ok(&args)).expect("JSON");
        assert_eq!(report["rows"], rows, "{kind} {size}");
        for holds in ["satisfied", "public_inputs_equal", "native_witness"] {
            assert_eq!(report[holds], true, "{kind} {size}: {holds}");
        }
    }
}

#[test]
fn a_production_size_is_not_sealed_here() {
    let output = run(&[
        "gen-vanilla",
        "porep",
        "--sector-size",
        "32GiB",
        "--out",
        "unused.json",
    ]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("32GiB") && said.contains("at most 512MiB"),
        "{said}"
    );
}
