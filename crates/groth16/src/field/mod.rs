//! Instruction sets and the eight-lane arithmetic of the CPU kernels.
//!
//! The portable kernels work on blst's types directly. Where the CPU has AVX-512 IFMA, eight independent field
//! elements are kept in one set of vectors, in limbs of 52 bits.

mod constants;
#[cfg(target_arch = "x86_64")]
pub(crate) mod fp8;
#[cfg(target_arch = "x86_64")]
pub(crate) mod fr8;
mod isa;
#[cfg(target_arch = "x86_64")]
pub(crate) mod lanes;

pub(crate) use constants::{R, fp_power_of_two, sub_words};
pub use isa::{Isa, UnknownIsa};
