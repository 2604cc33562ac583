//! Transposed matrix times weights.

use std::sync::Mutex;

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use crate::matrix::Matrix;
use crate::rows::Rows;
use crate::system::R1cs;

/// Rows that one task takes.
const TASK_ROWS: usize = 1 << 13;
/// Sums behind one lock.
const LOCK_COLUMNS: usize = 1 << 12;

impl R1cs {
    /// `Mᵀ·w`, the sum of the matrix's rows with one weight a row, split into inputs and private
    /// variables; on all cores. With the Lagrange basis at τ for weights this evaluates the QAP's
    /// polynomials at τ.
    ///
    /// # Panics
    /// When there are fewer weights than rows.
    pub fn combine_rows(&self, matrix: Matrix, weights: &[Scalar]) -> (Vec<Scalar>, Vec<Scalar>) {
        let weights = &weights[..self.num_rows()];
        let mut inputs = vec![Scalar::ZERO; self.num_inputs()];
        let mut aux = vec![Scalar::ZERO; self.num_aux()];
        {
            let lock = |sums| <[Scalar]>::chunks_mut(sums, LOCK_COLUMNS).map(Mutex::new);
            let input_sums: Vec<_> = lock(&mut inputs).collect();
            let aux_sums: Vec<_> = lock(&mut aux).collect();
            let tasks: Vec<_> = Rows::pieces(self, TASK_ROWS).collect();
            tasks.into_par_iter().for_each(|rows| {
                let [inputs, aux] = self.weighted_entries(&rows, matrix, weights);
                add_sorted(inputs, &input_sums);
                add_sorted(aux, &aux_sums);
            });
        }
        if matrix == Matrix::A {
            let appended = &weights[self.num_rows() - self.num_inputs()..];
            for (sum, weight) in inputs.iter_mut().zip(appended) {
                *sum += weight;
            }
        }
        (inputs, aux)
    }

    /// Every entry times its row's weight: those at inputs, those at private variables.
    fn weighted_entries(&self, rows: &Rows<'_>, matrix: Matrix, weights: &[Scalar]) -> [Terms; 2] {
        let csr = rows.segment.matrix(matrix);
        let mut terms = [Terms::new(), Terms::new()];
        for (i, weight) in rows.range.clone().zip(&weights[rows.first..]) {
            for (column, number) in csr.row(i) {
                let term = match number {
                    0 => *weight,
                    1 => -weight,
                    _ => *weight * self.dictionary()[usize::from(number)],
                };
                let column = rows.segment.resolve(column, rows.copy);
                let terms = &mut terms[usize::from(!column.is_outer_input())];
                terms.push((column.index() as u32, term));
            }
        }
        terms
    }
}

/// Contributions to sums, by position.
type Terms = Vec<(u32, Scalar)>;

/// Adds terms to sums, taking each lock once.
fn add_sorted(mut terms: Terms, sums: &[Mutex<&mut [Scalar]>]) {
    terms.sort_unstable_by_key(|&(position, _)| position);
    let same_lock = |a: &(u32, Scalar), b: &(u32, Scalar)| {
        a.0 as usize / LOCK_COLUMNS == b.0 as usize / LOCK_COLUMNS
    };
    for group in terms.chunk_by(same_lock) {
        let lock = &sums[group[0].0 as usize / LOCK_COLUMNS];
        // A panic elsewhere ends the whole computation, so what it left behind is never read.
        let mut sums = lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (position, term) in group {
            sums[*position as usize % LOCK_COLUMNS] += term;
        }
    }
}
