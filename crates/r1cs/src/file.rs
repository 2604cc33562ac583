//! The stored form of a compiled circuit.
//!
//! A header of 56 bytes: magic `"cuzkr1cs"`, format version (u32), zero (u32), length of the body
//! (u64), BLAKE2bp-256 of the body. Then the body, all numbers little-endian: numbers of inputs,
//! private variables, stored rows, coefficients, segments, and mask words (u64 each; no mask words
//! for a dense witness); the coefficients (canonical, 32 bytes); for each segment rows, copies,
//! stride, links a copy, entries of A, B, C (u64 each), then the links (u32), then for A, B, C row
//! pointers (u32), columns (u32), coefficient numbers (u16); last the mask of wide slots (u64).

mod read;
mod validate;
mod write;

const MAGIC: [u8; 8] = *b"cuzkr1cs";
/// To be raised with any change to what is stored, and to how bit slots are found: native witness
/// generators and stored circuits must mean the same slots.
const VERSION: u32 = 1;
const HEADER: usize = 56;
