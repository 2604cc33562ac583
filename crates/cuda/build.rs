//! Compiles the kernels: with nvcc for devices (feature `cuda`), with the C++ compiler for the emulated device (feature
//! `emulate`).
//!
//! `CUZK_CUDA_ARCHITECTURES` narrows the architectures for development builds, e.g. `90` or `80,90`. `CUZK_CUDA_KERNELS`
//! names a folder that holds `libcuzk_kernels.a` and `libcudart_static.a`, made before, to link instead of compiling:
//! nothing then asks for nvcc before a program is linked, so the Rust side can be checked where there is no toolkit.

use std::env;
use std::path::{Path, PathBuf};

/// Machine code for these compute capabilities, and PTX of the last for what comes after.
const ARCHITECTURES: [&str; 6] = ["80", "86", "89", "90", "100", "120"];

fn main() {
    let sources = sources(Path::new("kernels"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=NVCC");
    println!("cargo:rerun-if-env-changed=CUZK_CUDA_ARCHITECTURES");
    println!("cargo:rerun-if-env-changed=CUZK_CUDA_KERNELS");
    if env::var_os("CARGO_FEATURE_CUDA").is_some() {
        match env::var_os("CUZK_CUDA_KERNELS") {
            Some(folder) => link_for_devices(Path::new(&folder)),
            None => compile_for_devices(&sources),
        }
    }
    if env::var_os("CARGO_FEATURE_EMULATE").is_some() {
        compile_for_emulation(&sources);
    }
}

/// Every compiled file below `folder`; all that lies there is watched, headers too.
fn sources(folder: &Path) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the kernels' folder is readable") {
        let path = entry.expect("the kernels' folder is readable").path();
        if path.is_dir() {
            found.extend(sources(&path));
            continue;
        }
        println!("cargo:rerun-if-changed={}", path.display());
        if path.extension().is_some_and(|extension| extension == "cu") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Compiles `sources` with sppark's headers, and for devices blst's, which those include.
fn compile(build: &mut cc::Build, sources: &[PathBuf], library: &str) {
    for (variable, what) in [("DEP_SPPARK_ROOT", "sppark"), ("DEP_BLST_C_SRC", "blst")] {
        let folder = env::var_os(variable);
        build.include(
            folder.unwrap_or_else(|| panic!("{variable}: {what} said nothing of its headers")),
        );
    }
    build
        .std("c++17")
        .define("TAKE_RESPONSIBILITY_FOR_ERROR_MESSAGE", None)
        .files(sources)
        .compile(library);
}

fn compile_for_devices(sources: &[PathBuf]) {
    let wanted = env::var("CUZK_CUDA_ARCHITECTURES").unwrap_or_else(|_| ARCHITECTURES.join(","));
    let wanted: Vec<_> = wanted.split(',').map(str::trim).collect();
    let mut build = cc::Build::new();
    build.cuda(true).cudart("static").opt_level(3).debug(false);
    for architecture in &wanted {
        build.flag(format!(
            "-gencode=arch=compute_{architecture},code=sm_{architecture}"
        ));
    }
    if let Some(last) = wanted.last() {
        build.flag(format!("-gencode=arch=compute_{last},code=compute_{last}"));
    }
    build
        .flag("-Xcompiler")
        .flag("-Wno-unused-function,-Wno-subobject-linkage");
    compile(&mut build, sources, "cuzk_kernels");
}

/// Links what was compiled before.
fn link_for_devices(folder: &Path) {
    println!("cargo:rerun-if-changed={}", folder.display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    // Into programs, not into this crate's own library: a check needs none of them.
    for library in ["cuzk_kernels", "cudart_static"] {
        println!("cargo:rustc-link-lib=static:-bundle={library}");
    }
    println!("cargo:rustc-link-lib=dylib=stdc++");
}

fn compile_for_emulation(sources: &[PathBuf]) {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .opt_level(2)
        .debug(false)
        .define("CUZK_EMULATE", None);
    // Names of its own, so that both libraries can be linked into one program.
    build.define("cuzk", "cuzk_emulated");
    for flag in [
        "-x",
        "c++",
        "-fno-strict-aliasing",
        "-Wno-psabi",
        "-Wno-unused-function",
        "-Wno-unknown-pragmas",
    ] {
        build.flag(flag);
    }
    compile(&mut build, sources, "cuzk_emulated_kernels");
}
