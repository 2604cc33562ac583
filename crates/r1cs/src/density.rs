//! Which variables occur at all.

use crate::bits::BitVec;
use crate::column::{Class, Column};
use crate::matrix::{Csr, Matrix, Segment};

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
        let occurring = |matrix| {
            let mut inputs = BitVec::zeros(num_inputs);
            let mut aux = BitVec::zeros(num_aux);
            for segment in segments {
                mark(segment.matrix(matrix), segment, &mut inputs, &mut aux);
            }
            (inputs, aux)
        };
        let ((_, a_aux), (b_inputs, b_aux)) =
            rayon::join(|| occurring(Matrix::A), || occurring(Matrix::B));
        Self {
            a_aux,
            b_inputs,
            b_aux,
        }
    }
}

/// Marks the variables that occur. Those that move are collected first, then moved.
fn mark(csr: &Csr, segment: &Segment, inputs: &mut BitVec, aux: &mut BitVec) {
    let mut linked = BitVec::zeros(segment.num_links);
    let columns = || csr.columns.iter().map(|&word| Column::from_word(word));
    let (start, end) = columns()
        .filter(|column| column.class() == Class::LocalAux)
        .fold((usize::MAX, 0), |(start, end), column| {
            (start.min(column.index()), end.max(column.index() + 1))
        });
    let start = start.min(end);
    let mut block = BitVec::zeros(end - start);
    for column in columns() {
        match column.class() {
            Class::OuterAux => aux.set(column.index()),
            Class::OuterInput => inputs.set(column.index()),
            Class::LocalAux => block.set(column.index() - start),
            Class::Linked => linked.set(column.index()),
        }
    }
    for copy in 0..segment.copies {
        aux.or_shifted(&block, start + copy * segment.aux_stride);
        for link in linked.ones() {
            let column = segment.resolve(Column::new(Class::Linked, link), copy);
            let bits = if column.is_outer_input() {
                &mut *inputs
            } else {
                &mut *aux
            };
            bits.set(column.index());
        }
    }
}
