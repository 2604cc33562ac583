//! Witness generation at the speed of the hash.
//!
//! A circuit's witness is what its gadgets allocate, in order. Running the gadgets to get it costs an allocation closure
//! and a few linear combinations a variable; here the same values are computed natively and written straight to their
//! places in the packed (or dense) witness.

mod bits;
mod isa;
mod poseidon;
mod sha256;
#[cfg(test)]
mod values;

pub use isa::Isa;
