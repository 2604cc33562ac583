use std::io::Write;

use crate::fixture::{daemon, run};

/// Runs a command that must end with exit code 2 and one line on standard error; returns the line.
fn refused(args: &[&str]) -> String {
    let output = run(args);
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    stderr
}

#[test]
fn bad_files_end_with_exit_code_2_and_one_line() {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    let path = file.path().to_str().expect("a printable path").to_owned();
    let single = [
        "--addr",
        daemon(),
        "single",
        "--type",
        "porep",
        "--c1",
        &path,
    ];
    assert!(refused(&single).contains("found no bytes"));
    file.write_all(b"{").expect("written");
    assert!(refused(&single).contains("--c1"));
    let mut file = file.reopen().expect("reopened");
    file.write_all(br#"{"SectorNum":1,"Phase1Out":"%%%","SectorSize":2048}"#)
        .expect("written");
    let line = refused(&single);
    assert!(
        line.contains("Phase1Out") && line.contains("expected"),
        "{line}"
    );
}

#[test]
fn a_folder_that_is_made_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("new").join("winning.json");
    let make = || {
        let output = run(&[
            "gen-vanilla",
            "synthetic",
            "--type",
            "winning",
            "--sector-size",
            "2KiB",
            "--out",
            file.to_str().expect("a printable path"),
        ]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let new = folder.path().join("new");
    assert_eq!(make(), format!("made the folder {}\n", new.display()));
    assert_eq!(make(), "");
    assert!(file.is_file());
}

#[test]
fn options_that_no_vanilla_proof_has_are_refused() {
    let synthetic = |option: [&str; 2]| {
        let options = ["gen-vanilla", "synthetic", "--type", "wpost"];
        let rest = ["--sector-size", "2KiB", "--out", "/nowhere/at/all"];
        refused(&[&options[..], &rest, &option].concat())
    };
    let line = synthetic(["--sectors", "3"]);
    assert_eq!(
        line,
        "error: --sectors: found 3, expected 1 to 2 for wpost-2k\n"
    );
    let line = synthetic(["--registered-proof", "3"]);
    assert!(
        line.starts_with("error: --registered-proof: found 3, expected"),
        "{line}"
    );
}

#[test]
fn an_address_where_nothing_listens_is_an_error() {
    let output = run(&["--addr", "http://127.0.0.1:1", "status"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("no daemon answers at http://127.0.0.1:1"),
        "{stderr}"
    );
    assert_eq!(run(&["--addr", "ftp://x", "status"]).status.code(), Some(2));
}

/// Of a GPU that is not there, and of a comparison for which there is no program; neither begins.
#[test]
fn what_cannot_be_done_is_said_before_anything_is_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = folder.path().join("parameters");
    let cache = cache.to_str().expect("a printable path");
    let setup = ["setup", "--type", "wpost", "--sector-size", "2KiB"];
    let setup = [&setup[..], &["--param-cache", cache, "--device", "99"]].concat();
    let output = run(&setup);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("error: GPU: "), "{stderr}");

    let compare = ["compare", "gpu", "--circuit", "wpost-2k", "--baseline", "x"];
    let compare = [&compare[..], &["--param-cache", cache]].concat();
    assert!(refused(&compare).contains("porep or winning"));
    assert!(!std::path::Path::new(cache).exists());
}
