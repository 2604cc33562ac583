//! What the tests of the repository's rules look at: the workspace's packages and its source files.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// A package of the workspace.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// SPDX expression.
    pub license: Option<String>,
    /// The path of its `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// Everything its manifest names, for building and for testing.
    pub dependencies: Vec<Dependency>,
}

/// A dependency that a manifest names.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// The depended-upon package's own name.
    pub name: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// The root folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the root folder")
}

/// The packages of the workspace, as cargo reads them.
///
/// # Panics
/// When `cargo metadata` fails: then nothing can be said about the workspace.
pub fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    metadata.packages
}

/// A file of the repository that people write, with its text.
#[derive(Debug)]
pub struct Source {
    /// Relative to the root folder.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

/// All source, build and documentation files.
///
/// # Panics
/// When a file cannot be read as UTF-8.
pub fn sources() -> Vec<Source> {
    const FOLDERS: [&str; 8] = [
        "crates",
        "xtask",
        "scripts",
        "docs",
        "fuzz",
        "baseline-gpu",
        "packaging",
        ".ci",
    ];
    let mut paths = files_in(root(), false);
    for folder in FOLDERS {
        paths.extend(files_in(&root().join(folder), true));
    }
    paths.retain(|path| is_source(path));
    paths.sort();
    paths
        .into_iter()
        .map(|path| Source {
            text: fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
            path: path
                .strip_prefix(root())
                .expect("listed below the root")
                .to_owned(),
        })
        .collect()
}

fn is_source(path: &Path) -> bool {
    const ENDINGS: [&str; 9] = ["rs", "cu", "cuh", "toml", "proto", "md", "py", "sh", "html"];
    path.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|ending| ENDINGS.contains(&ending))
        || path.ends_with(".ci/run")
}

/// The files of a folder; none when it does not exist. Build outputs of nested packages are left out.
fn files_in(folder: &Path, recursive: bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !path.is_dir() {
            files.push(path);
        } else if recursive && entry.file_name() != "target" {
            files.extend(files_in(&path, true));
        }
    }
    files
}
