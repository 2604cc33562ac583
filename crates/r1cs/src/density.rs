//! Which variables occur at all.

use crate::bits::BitVec;
use crate::matrix::{Csr, Segment};

/// For every variable, whether it has a non-zero coefficient in some row: bellperson's densities,
/// which decide the points of a parameter file's A and B queries. In A every input occurs, in the
/// row that Groth16 appends for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Densities {
    /// Private variables that occur in A.
    pub a_aux: BitVec,
    /// Inputs that occur in B.
    pub b_inputs: BitVec,
    /// Private variables that occur in B.
    pub b_aux: BitVec,
}

impl Densities {
    pub(crate) fn of(segments: &[Segment], num_inputs: usize, num_aux: usize) -> Self {
        let mut densities = Self {
            a_aux: BitVec::zeros(num_aux),
            b_inputs: BitVec::zeros(num_inputs),
            b_aux: BitVec::zeros(num_aux),
        };
        for segment in segments {
            let [a, b, _] = &segment.matrices;
            mark(&mut densities.a_aux, a, segment, segment.aux_stride, false);
            mark(&mut densities.b_aux, b, segment, segment.aux_stride, false);
            let stride = segment.input_stride;
            mark(&mut densities.b_inputs, b, segment, stride, true);
        }
        densities
    }
}

/// Marks the variables of one kind; those that move are collected for block 0, then copied.
fn mark(bits: &mut BitVec, csr: &Csr, segment: &Segment, stride: usize, inputs: bool) {
    let columns = || {
        csr.columns
            .iter()
            .map(|&word| crate::Column::from_word(word))
            .filter(move |column| column.is_input() == inputs)
    };
    let locals = || columns().filter(|column| column.is_local());
    let Some(end) = locals().map(|column| column.index() + 1).max() else {
        columns().for_each(|column| bits.set(column.index()));
        return;
    };
    let start = locals().map(|column| column.index()).min().unwrap_or(0);
    let mut block = BitVec::zeros(end - start);
    for column in columns() {
        if column.is_local() {
            block.set(column.index() - start);
        } else {
            bits.set(column.index());
        }
    }
    for copy in 0..segment.copies {
        bits.or_shifted(&block, start + copy * stride);
    }
}
