//! Matrix times witness.

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use crate::column::Column;
use crate::error::Unsatisfied;
use crate::matrix::{Csr, Matrix};
use crate::rows::Rows;
use crate::system::R1cs;
use crate::witness::Witness;

/// Rows that one task evaluates.
const TASK_ROWS: usize = 1 << 14;

impl R1cs {
    /// Writes `M·z` to the first [`num_rows`](R1cs::num_rows) places of `out`, on all cores; the
    /// rest is left alone.
    ///
    /// # Panics
    /// When `out` is shorter than that, or the witness is laid out for another circuit.
    pub fn evaluate(&self, matrix: Matrix, witness: &Witness, out: &mut [Scalar]) {
        self.assert_fits(witness);
        let (mut stored, appended) =
            out[..self.num_rows()].split_at_mut(self.num_rows() - self.num_inputs());
        let mut tasks = Vec::new();
        for rows in Rows::pieces(self, TASK_ROWS) {
            let (here, rest) = stored.split_at_mut(rows.range.len());
            tasks.push((rows, here));
            stored = rest;
        }
        tasks.into_par_iter().for_each(|(rows, out)| {
            let evaluator = Evaluator::new(self, witness, &rows);
            let csr = rows.segment.matrix(matrix);
            for (i, out) in rows.range.clone().zip(out) {
                *out = evaluator.row(csr, i);
            }
        });
        if matrix == Matrix::A {
            appended.copy_from_slice(witness.inputs());
        } else {
            appended.fill(Scalar::ZERO);
        }
    }

    /// Whether the witness satisfies every row.
    ///
    /// # Errors
    /// The first row that it does not.
    ///
    /// # Panics
    /// When the witness is laid out for another circuit.
    pub fn check(&self, witness: &Witness) -> Result<(), Unsatisfied> {
        self.assert_fits(witness);
        let tasks: Vec<_> = Rows::pieces(self, TASK_ROWS).collect();
        let first = tasks.into_par_iter().find_map_first(|rows| {
            let evaluator = Evaluator::new(self, witness, &rows);
            rows.range.clone().enumerate().find_map(|(offset, i)| {
                let matrices = rows.segment.matrices.each_ref();
                let [a, b, c] = matrices.map(|csr| evaluator.row(csr, i));
                (a * b != c).then(|| Unsatisfied {
                    row: rows.first + offset,
                    block: rows.block(),
                    a,
                    b,
                    c,
                })
            })
        });
        first.map_or(Ok(()), Err)
    }

    fn assert_fits(&self, witness: &Witness) {
        assert!(
            std::sync::Arc::ptr_eq(witness.layout(), &self.layout)
                || witness.layout() == &self.layout,
            "the witness is laid out for another circuit"
        );
    }
}

/// Evaluates rows of one copy of a segment.
struct Evaluator<'a> {
    witness: &'a Witness,
    rows: &'a Rows<'a>,
    dictionary: &'a [Scalar],
}

impl<'a> Evaluator<'a> {
    fn new(circuit: &'a R1cs, witness: &'a Witness, rows: &'a Rows<'a>) -> Self {
        Self {
            witness,
            rows,
            dictionary: circuit.dictionary(),
        }
    }

    fn row(&self, csr: &Csr, i: usize) -> Scalar {
        csr.row(i).fold(Scalar::ZERO, |sum, (column, number)| {
            sum + self.value(column) * self.dictionary[usize::from(number)]
        })
    }

    fn value(&self, column: Column) -> Scalar {
        let column = self.rows.segment.resolve(column, self.rows.copy);
        if column.is_outer_input() {
            self.witness.inputs()[column.index()]
        } else {
            self.witness.aux(column.index())
        }
    }
}
