//! Generates the wire types with pure-Rust tools: no `protoc` is needed.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_source_info(true).include_imports(true);
    compiler.open_file("cuzk/v1/proving.proto")?;

    let descriptor_path = PathBuf::from(std::env::var("OUT_DIR")?).join("cuzk_v1.bin");
    std::fs::write(descriptor_path, compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure().compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
