//! Matrix times witness.

use std::ops::Range;

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use crate::column::{Class, Column};
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
        let evaluator = Evaluator::new(self, witness);
        tasks.into_par_iter().for_each(|(rows, out)| {
            let csr = rows.segment.matrix(matrix);
            for (i, out) in rows.range.clone().zip(out) {
                *out = evaluator.row(&rows, csr, i);
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
        self.check_rows(witness, 0..self.num_rows())
    }

    /// The same for some of the rows.
    ///
    /// # Errors
    /// The first of these rows that is not satisfied.
    ///
    /// # Panics
    /// When the witness is laid out for another circuit.
    pub fn check_rows(&self, witness: &Witness, rows: Range<usize>) -> Result<(), Unsatisfied> {
        self.assert_fits(witness);
        let pieces = Rows::pieces(self, TASK_ROWS);
        let tasks: Vec<_> = pieces.filter_map(|piece| piece.within(&rows)).collect();
        let evaluator = Evaluator::new(self, witness);
        let first = tasks.into_par_iter().find_map_first(|rows| {
            rows.range.clone().enumerate().find_map(|(offset, i)| {
                let matrices = rows.segment.matrices.each_ref();
                let [a, b, c] = matrices.map(|csr| evaluator.row(&rows, csr, i));
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

/// What evaluation looks up for every entry.
struct Evaluator<'a> {
    witness: &'a Witness,
    /// One at wide slots; none when all are.
    mask: Option<&'a [u64]>,
    dictionary: &'a [Scalar],
    /// The coefficients that are small integers, [`NOT_SMALL`] for the others.
    small: Vec<i64>,
    /// The integers from `-INTEGERS` to `INTEGERS` as field elements.
    integers: Vec<Scalar>,
}

/// Largest coefficient that is added up as an integer: a row's 2^32 entries cannot overflow.
const MAX_SMALL: i64 = 1 << 30;
const NOT_SMALL: i64 = i64::MIN;
const INTEGERS: i64 = 256;

impl<'a> Evaluator<'a> {
    fn new(circuit: &'a R1cs, witness: &'a Witness) -> Self {
        Self {
            witness,
            mask: witness.layout().mask_words(),
            dictionary: circuit.dictionary(),
            small: circuit.dictionary().iter().map(small).collect(),
            integers: (-INTEGERS..=INTEGERS).map(integer).collect(),
        }
    }

    /// Row `i` of a copy times the witness. Coefficients of ones are added up, as integers while they
    /// are small; only wide values are multiplied.
    #[inline]
    fn row(&self, rows: &Rows<'_>, csr: &Csr, i: usize) -> Scalar {
        let mut sum = Scalar::ZERO;
        let mut count = 0;
        let mut is_integer = true;
        for (column, number) in csr.row(i) {
            match self.value(rows, column) {
                Value::Bit(bit) => match self.small[usize::from(number)] {
                    NOT_SMALL if bit == 0 => {}
                    NOT_SMALL => {
                        sum += &self.dictionary[usize::from(number)];
                        is_integer = false;
                    }
                    // Half the bits are ones, so a branch would be mispredicted every other time.
                    coefficient => count += coefficient * bit,
                },
                Value::Wide(value) => {
                    is_integer = false;
                    match number {
                        0 => sum += value,
                        1 => sum -= value,
                        _ => sum += *value * self.dictionary[usize::from(number)],
                    }
                }
            }
        }
        if !is_integer && count == 0 {
            return sum;
        }
        let count = match usize::try_from(count + INTEGERS) {
            Ok(i) if i < self.integers.len() => self.integers[i],
            _ => integer(count),
        };
        if is_integer { count } else { sum + count }
    }

    #[inline]
    fn value(&self, rows: &Rows<'_>, column: Column) -> Value<'_> {
        match column.class() {
            Class::OuterAux => self.aux(column.index()),
            Class::LocalAux => self.aux(column.index() + rows.copy * rows.segment.aux_stride()),
            Class::OuterInput if column == Column::ONE => Value::Bit(1),
            Class::OuterInput => Value::Wide(&self.witness.inputs()[column.index()]),
            Class::Linked => self.value(rows, rows.segment.resolve(column, rows.copy)),
        }
    }

    #[inline]
    fn aux(&self, i: usize) -> Value<'_> {
        let Some(mask) = self.mask else {
            return Value::Wide(&self.witness.wide()[i]);
        };
        if mask[i / 64] >> (i % 64) & 1 == 1 {
            return Value::Wide(&self.witness.wide()[self.witness.layout().wide_rank(i)]);
        }
        Value::Bit((self.witness.bits()[i / 64] >> (i % 64) & 1) as i64)
    }
}

enum Value<'a> {
    Bit(i64),
    Wide(&'a Scalar),
}

/// A field element as a small integer.
fn small(value: &Scalar) -> i64 {
    let magnitude = |value: &Scalar| {
        let bytes = value.to_bytes_le();
        let (low, high) = bytes.split_at(8);
        let low = i64::from_le_bytes(low.try_into().expect("eight bytes"));
        let fits = (0..=MAX_SMALL).contains(&low) && high.iter().all(|&byte| byte == 0);
        fits.then_some(low)
    };
    let negative = || magnitude(&-value).map(|m| -m);
    magnitude(value).or_else(negative).unwrap_or(NOT_SMALL)
}

/// An integer as a field element.
fn integer(value: i64) -> Scalar {
    let magnitude = Scalar::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::PrimeField;

    #[test]
    fn small_coefficients_are_integers_and_back() {
        for value in [0, 1, -1, 2, -7, 255, -256, 1000, MAX_SMALL, -MAX_SMALL] {
            assert_eq!(small(&integer(value)), value);
        }
        for value in [
            Scalar::from(1 << 31),
            -Scalar::from(1 << 31),
            Scalar::ROOT_OF_UNITY,
        ] {
            assert_eq!(small(&value), NOT_SMALL);
        }
    }
}
