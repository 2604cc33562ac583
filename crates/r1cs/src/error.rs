//! What can go wrong.

use bellpepper_core::SynthesisError;

/// A circuit that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The circuit's own definition failed.
    #[error("the circuit could not be synthesised: {0}")]
    Synthesis(#[from] SynthesisError),
    /// A quantity that the compact form holds in fewer bits.
    #[error("the circuit has {found} {what}, at most {limit} are supported")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many were found.
        found: usize,
        /// How many fit.
        limit: usize,
    },
    /// A row names a variable that was never allocated.
    #[error("row {row} names {found}, but only {expected} were allocated")]
    UnknownVariable {
        /// Index of the row.
        row: usize,
        /// The variable.
        found: String,
        /// How many variables of that kind there are.
        expected: usize,
    },
    /// Asked for a circuit without a block.
    #[error("the number of copies is 0, expected at least 1")]
    NoCopies,
}

/// A stored circuit that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Not a compiled circuit at all.
    #[error("not a compiled circuit: found magic {found:02x?}, expected {expected:02x?}")]
    Magic {
        /// First bytes of the file.
        found: [u8; 8],
        /// What they should be.
        expected: [u8; 8],
    },
    /// Written by another version of the format.
    #[error("compiled circuit of format version {found}, expected {expected}")]
    Version {
        /// The file's.
        found: u32,
        /// Ours.
        expected: u32,
    },
    /// Cut off, or with something behind its end.
    #[error("compiled circuit of {found} bytes, its header says {expected}")]
    Length {
        /// Size of the file.
        found: u64,
        /// Size that the header implies.
        expected: u64,
    },
    /// The content is not what was written.
    #[error("compiled circuit with checksum {found}, its header says {expected}")]
    Checksum {
        /// Of the content.
        found: String,
        /// In the header.
        expected: String,
    },
    /// The content contradicts itself.
    #[error("compiled circuit is malformed: {what} is {found}, expected {expected}")]
    Malformed {
        /// Which part.
        what: &'static str,
        /// What was found.
        found: u64,
        /// What would have been right.
        expected: String,
    },
}

/// Values that do not fit the layout of a circuit's witness.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessError {
    /// Too few or too many values.
    #[error("{found} {what}, the circuit has {expected}")]
    Length {
        /// "inputs" or "private values".
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many the circuit has.
        expected: usize,
    },
    /// The circuit allows only 0 and 1 in this slot.
    #[error("private value {slot} is {found}, expected 0 or 1")]
    NotABit {
        /// Index of the private variable.
        slot: usize,
        /// Its value.
        found: String,
    },
    /// Input 0 is the constant.
    #[error("input 0 is {found}, expected the constant 1")]
    NotOne {
        /// Its value.
        found: String,
    },
}

/// The first row that a witness does not satisfy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row}{} is not satisfied: a is {a}, b is {b}, c is {c}", match block { Some(k) => format!(" (block {k})"), None => String::new() })]
pub struct Unsatisfied {
    /// Index of the row.
    pub row: usize,
    /// Which repetition of the block it is in; none for a row outside the blocks.
    pub block: Option<usize>,
    /// `⟨A_row, z⟩`.
    pub a: crate::Scalar,
    /// `⟨B_row, z⟩`.
    pub b: crate::Scalar,
    /// `⟨C_row, z⟩`.
    pub c: crate::Scalar,
}
