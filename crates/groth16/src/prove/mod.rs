//! From a witness to a proof, on the CPU.

mod assemble;
mod cpu;
mod query;

pub use assemble::{QuerySums, assemble};
pub use cpu::{CpuBackend, CpuKey};
