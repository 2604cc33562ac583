//! Walking over all rows of a circuit, block by block.

use std::ops::Range;

use bellpepper_core::{Index, Variable};
use blstrs::Scalar;

use crate::column::Column;
use crate::matrix::Segment;
use crate::system::R1cs;

/// Consecutive rows of one copy of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) copy: usize,
    /// Rows within the copy.
    pub(crate) range: Range<usize>,
    /// Index in the circuit of the first of them.
    pub(crate) first: usize,
}

impl<'a> Rows<'a> {
    /// Every copy of every segment, in row order.
    pub(crate) fn copies(circuit: &'a R1cs) -> impl Iterator<Item = Rows<'a>> {
        let mut first = 0;
        circuit.segments().iter().flat_map(move |segment| {
            let start = first;
            first += segment.copies() * segment.rows();
            (0..segment.copies()).map(move |copy| Rows {
                segment,
                copy,
                range: 0..segment.rows(),
                first: start + copy * segment.rows(),
            })
        })
    }

    /// The same rows in pieces of at most `limit`, in row order.
    pub(crate) fn pieces(circuit: &'a R1cs, limit: usize) -> impl Iterator<Item = Rows<'a>> {
        Self::copies(circuit).flat_map(move |whole| {
            whole.range.clone().step_by(limit).map(move |start| Rows {
                range: start..whole.range.end.min(start + limit),
                first: whole.first + start,
                ..whole.clone()
            })
        })
    }

    /// Those of these rows that are in a range of the circuit's; none when there are none.
    pub(crate) fn within(self, rows: &Range<usize>) -> Option<Rows<'a>> {
        let end = rows.end.min(self.first + self.range.len());
        let first = rows.start.max(self.first);
        let start = self.range.start + (first - self.first);
        (first < end).then(|| Rows {
            range: start..start + (end - first),
            first,
            ..self
        })
    }

    /// The repetition these rows belong to, if they repeat.
    pub(crate) fn block(&self) -> Option<usize> {
        (self.segment.copies() > 1).then_some(self.copy)
    }

    /// The variable a column stands for here.
    pub(crate) fn variable(&self, column: Column) -> Variable {
        self.segment.resolve(column, self.copy).variable()
    }
}

impl R1cs {
    /// Calls `f` for every row in order with its index and its entries in A, B and C, the appended
    /// `input_i · 0 = 0` rows included. Slow: for oracles and checks.
    pub fn for_each_row(&self, mut f: impl FnMut(usize, [&[(Variable, Scalar)]; 3])) {
        let mut entries: [Vec<(Variable, Scalar)>; 3] = Default::default();
        for rows in Rows::copies(self) {
            for i in rows.range.clone() {
                for (entries, csr) in entries.iter_mut().zip(&rows.segment.matrices) {
                    entries.clear();
                    entries.extend(
                        csr.row(i)
                            .map(|(c, n)| (rows.variable(c), self.dictionary()[usize::from(n)])),
                    );
                }
                f(rows.first + i, entries.each_ref().map(Vec::as_slice));
            }
        }
        let first = self.num_rows() - self.num_inputs();
        for i in 0..self.num_inputs() {
            let input = Variable::new_unchecked(Index::Input(i));
            f(first + i, [&[(input, ff::Field::ONE)], &[], &[]]);
        }
    }
}
