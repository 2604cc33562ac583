//! Rank-1 constraint systems that never change: recorded once, stored as one block and its
//! repetitions, evaluated straight from a witness whose bits are bits.
//!
//! A circuit is a set of rows `⟨A_i, z⟩ · ⟨B_i, z⟩ = ⟨C_i, z⟩` over `z = (inputs, aux)`, inputs
//! starting with the constant one. [`compile`] and [`compile_periodic`] run a bellpepper circuit
//! through a [`Recorder`], which never calls a value closure, and give an [`R1cs`]. A
//! [`Witness`] is laid out by the circuit: slots that can only hold 0 or 1 take a bit.

mod assigner;
mod bits;
mod classify;
mod column;
mod combine;
mod compile;
mod density;
mod dictionary;
mod digest;
mod error;
mod evaluate;
mod file;
mod fold;
mod layout;
mod matrix;
mod periodic;
mod recorder;
mod rows;
mod system;
mod witness;

pub use assigner::WitnessAssigner;
pub use bellpepper_core::{Index, SynthesisError, Variable};
pub use bits::BitVec;
pub use blstrs::Scalar;
pub use column::{Class, Column};
pub use compile::{compile, compile_periodic};
pub use density::Densities;
pub use digest::{RowDigest, row_digest};
pub use error::{Error, FileError, Unsatisfied, WitnessError};
pub use layout::WitnessLayout;
pub use matrix::{Csr, Matrix, Segment};
pub use recorder::Recorder;
pub use system::R1cs;
pub use witness::Witness;
