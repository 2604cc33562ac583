//! What no source file may contain.

use std::path::Path;

use xtask::{Source, sources};

/// A file longer than this holds more than one idea.
const MAX_LINES: usize = 450;

/// Packages that write SIMD or device code, map files or advise the system about memory.
const MAY_BE_UNSAFE: [&str; 4] = [
    "crates/memory",
    "crates/groth16",
    "crates/cuda",
    "crates/filecoin",
];

fn is_code(source: &Source) -> bool {
    source
        .path
        .extension()
        .is_some_and(|ending| ["rs", "cu", "cuh", "py"].iter().any(|code| ending == *code))
}

/// `path:line` of every line that `matches`.
fn places(source: &Source, matches: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = source
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| matches(line));
    lines
        .map(|(index, _)| format!("{}:{}", source.path.display(), index + 1))
        .collect()
}

/// The words of a line, split at everything that cannot be part of a name.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

#[test]
fn files_are_short() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|source| is_code(source))
        .filter(|source| source.text.lines().count() > MAX_LINES)
        .map(|source| {
            format!(
                "{} ({} lines)",
                source.path.display(),
                source.text.lines().count()
            )
        })
        .collect();
    assert!(long.is_empty(), "longer than {MAX_LINES} lines: {long:?}");
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here so that this file passes.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["X", "XX"]].map(|parts| parts.concat());
    let unfinished: Vec<String> = sources()
        .iter()
        .flat_map(|source| {
            places(source, |line| {
                words(line).any(|word| marks.iter().any(|mark| mark == word))
            })
        })
        .collect();
    assert!(
        unfinished.is_empty(),
        "marks of unfinished work: {unfinished:?}"
    );
}

#[test]
fn unsafe_code_stays_where_it_belongs() {
    let keyword = ["un", "safe"].concat();
    let places: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.extension().is_some_and(|ending| ending == "rs"))
        .filter(|source| {
            !MAY_BE_UNSAFE
                .iter()
                .any(|package| source.path.starts_with(Path::new(package)))
        })
        .flat_map(|source| {
            places(source, |line| {
                let code = line.split("//").next().unwrap_or(line);
                words(code).any(|word| word == keyword)
            })
        })
        .collect();
    assert!(
        places.is_empty(),
        "outside of {MAY_BE_UNSAFE:?}: {places:?}"
    );
}

#[test]
fn the_repository_is_read() {
    let sources = sources();
    for expected in [
        "README.md",
        "Cargo.toml",
        "crates/r1cs/src/lib.rs",
        ".ci/run",
    ] {
        assert!(
            sources
                .iter()
                .any(|source| source.path == Path::new(expected)),
            "{expected} is not among the sources"
        );
    }
}
