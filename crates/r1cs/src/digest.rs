//! A hash of every row, for proving that a compiled circuit is the circuit.

use blake2b_simd::blake2bp;
use blstrs::Scalar;

use crate::column::Column;
use crate::error::Error;
use crate::recorder::{Recorder, Size};
use crate::rows::Rows;
use crate::system::R1cs;
use bellpepper_core::SynthesisError;

/// BLAKE2bp-256 of a circuit's rows, written out in full.
///
/// Hashed are, for each row and for each of A, B, C in turn, the entries (variable, coefficient
/// number) and an end mark; then the coefficients, which are numbered in order of appearance; then
/// the numbers of rows, inputs and private variables. Equal digests therefore mean equal
/// circuits, however each of them was recorded or stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowDigest([u8; 32]);

impl RowDigest {
    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for RowDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for RowDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Runs a circuit definition in full and hashes its rows, storing none.
///
/// # Errors
/// When synthesis fails or the circuit exceeds what the compact form can hold.
pub fn row_digest(
    synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
) -> Result<RowDigest, Error> {
    Recorder::hash(synthesize)
}

impl R1cs {
    /// The hash that [`row_digest`] gives for the circuit this was compiled from.
    pub fn row_digest(&self) -> RowDigest {
        let mut hasher = RowHasher::default();
        for rows in Rows::copies(self) {
            for i in 0..rows.segment.rows() {
                for csr in &rows.segment.matrices {
                    for (column, number) in csr.row(i) {
                        hasher.entry(rows.segment.resolve(column, rows.copy), number);
                    }
                    hasher.end();
                }
            }
        }
        let size = Size {
            num_inputs: self.num_inputs(),
            num_aux: self.num_aux(),
            num_rows: self.num_rows() - self.num_inputs(),
        };
        hasher.finish(size, self.dictionary())
    }
}

/// Buffered: entries are eight bytes, and hash functions like long inputs.
pub(crate) struct RowHasher {
    state: blake2bp::State,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for RowHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowHasher").finish_non_exhaustive()
    }
}

impl Default for RowHasher {
    fn default() -> Self {
        Self {
            state: blake2bp::Params::new().hash_length(32).to_state(),
            buffer: Vec::with_capacity(Self::BUFFER),
        }
    }
}

impl RowHasher {
    const BUFFER: usize = 1 << 16;
    const END: u64 = u64::MAX;

    /// An entry at an outer column.
    pub(crate) fn entry(&mut self, column: Column, number: u16) {
        self.word(u64::from(number) << 32 | u64::from(column.word()));
    }

    pub(crate) fn end(&mut self) {
        self.word(Self::END);
    }

    pub(crate) fn finish(mut self, size: Size, dictionary: &[Scalar]) -> RowDigest {
        for value in dictionary {
            self.buffer.extend_from_slice(&value.to_bytes_le());
        }
        for count in [size.num_rows, size.num_inputs, size.num_aux] {
            self.word(count as u64);
        }
        self.state.update(&self.buffer);
        let hash = self.state.finalize();
        let bytes = hash.as_bytes().try_into().expect("asked for 32 bytes");
        RowDigest(bytes)
    }

    fn word(&mut self, word: u64) {
        if self.buffer.len() + 8 > Self::BUFFER {
            self.state.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(&word.to_le_bytes());
    }
}
