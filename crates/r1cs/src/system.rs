//! The compiled circuit.

use std::sync::Arc;

use blstrs::Scalar;

use crate::density::Densities;
use crate::layout::WitnessLayout;
use crate::matrix::{Matrix, Segment};

/// A rank-1 constraint system, compiled: segments of rows, some of which repeat.
///
/// Behind the stored rows every circuit has one row `input_i · 0 = 0` an input, which Groth16
/// appends so that each input occurs in A (bellperson's generator); they are counted and
/// evaluated, but not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct R1cs {
    pub(crate) num_inputs: usize,
    pub(crate) num_aux: usize,
    /// Rows in `segments`, copies counted.
    pub(crate) num_stored_rows: usize,
    pub(crate) segments: Vec<Segment>,
    pub(crate) dictionary: Vec<Scalar>,
    pub(crate) densities: Densities,
    pub(crate) layout: Arc<WitnessLayout>,
    pub(crate) digest: [u8; 32],
}

impl R1cs {
    /// Number of inputs, the constant one among them.
    pub fn num_inputs(&self) -> usize {
        self.num_inputs
    }

    /// Number of private variables.
    pub fn num_aux(&self) -> usize {
        self.num_aux
    }

    /// Number of rows, with the one an input that Groth16 appends.
    pub fn num_rows(&self) -> usize {
        self.num_stored_rows + self.num_inputs
    }

    /// Number of non-zero entries in A, B and C, without the appended rows.
    pub fn num_nonzeros(&self) -> [u64; 3] {
        Matrix::ALL.map(|m| {
            let entries = |s: &Segment| (s.matrix(m).num_nonzeros() * s.copies()) as u64;
            self.segments.iter().map(entries).sum()
        })
    }

    /// Binary logarithm of the evaluation domain's size: the smallest `k` with `2^k >= num_rows`.
    pub fn log_domain(&self) -> u32 {
        self.num_rows().next_power_of_two().trailing_zeros()
    }

    /// BLAKE2bp-256 of the compiled form: the same circuit compiled the same way has the same.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Which variables occur in A and B.
    pub fn densities(&self) -> &Densities {
        &self.densities
    }

    /// The shape of its witness.
    pub fn layout(&self) -> &Arc<WitnessLayout> {
        &self.layout
    }

    /// The stored rows, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The coefficients by number; 0 is one, 1 is minus one.
    pub fn dictionary(&self) -> &[Scalar] {
        &self.dictionary
    }

    /// How often the repeated block occurs; 1 when nothing repeats.
    pub fn blocks(&self) -> usize {
        let copies = self.segments.iter().map(Segment::copies);
        copies.max().unwrap_or(1)
    }
}
