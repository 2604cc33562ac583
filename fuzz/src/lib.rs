//! Fuzz targets for everything that reads bytes from outside.

// The tests of the decoders use more of them.
#[allow(dead_code)]
#[path = "../../crates/filecoin/tests/suite/fixtures.rs"]
mod fixtures;
mod targets;

pub use targets::*;
