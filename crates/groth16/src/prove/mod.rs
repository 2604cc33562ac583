//! From a witness to a proof, on the CPU.

mod assemble;
mod cpu;
mod query;
mod stages;

pub use assemble::{QuerySums, assemble};
pub use cpu::{CpuBackend, CpuKey};
pub use stages::StageTime;
