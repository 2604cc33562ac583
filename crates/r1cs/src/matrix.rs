//! Rows in compressed form, and the segments that repeat.

use crate::column::Column;
use crate::error::Error;

/// One of the three matrices of an R1CS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// The product.
    C,
}

impl Matrix {
    /// The three, in order.
    pub const ALL: [Matrix; 3] = [Matrix::A, Matrix::B, Matrix::C];
}

/// Compressed sparse rows: entry `e` of row `i`, `row_ptr[i] <= e < row_ptr[i + 1]`, is the
/// coefficient number `coefficients[e]` at `columns[e]` (a [`Column`] word). Within a row inputs come
/// first, indices ascend, and no column occurs twice; no coefficient is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    pub(crate) row_ptr: Vec<u32>,
    pub(crate) columns: Vec<u32>,
    pub(crate) coefficients: Vec<u16>,
}

impl Default for Csr {
    fn default() -> Self {
        Self {
            row_ptr: vec![0],
            columns: Vec::new(),
            coefficients: Vec::new(),
        }
    }
}

impl Csr {
    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// Number of entries.
    pub fn num_nonzeros(&self) -> usize {
        self.columns.len()
    }

    /// First entry of every row, and the number of entries behind them: rows + 1 numbers.
    pub fn row_ptr(&self) -> &[u32] {
        &self.row_ptr
    }

    /// [`Column`] words, one an entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Numbers into the circuit's dictionary, one an entry.
    pub fn coefficients(&self) -> &[u16] {
        &self.coefficients
    }

    /// The entries of row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (Column, u16)> + Clone + '_ {
        let range = self.row_ptr[i] as usize..self.row_ptr[i + 1] as usize;
        let columns = self.columns[range.clone()].iter();
        columns
            .map(|&word| Column::from_word(word))
            .zip(self.coefficients[range].iter().copied())
    }

    /// Appends an entry to the row that is being written.
    pub(crate) fn push(&mut self, column: Column, coefficient: u16) {
        self.columns.push(column.word());
        self.coefficients.push(coefficient);
    }

    /// Ends the row that is being written.
    pub(crate) fn end_row(&mut self) -> Result<(), Error> {
        let end = u32::try_from(self.columns.len()).map_err(|_| Error::TooLarge {
            what: "entries in one matrix",
            found: self.columns.len(),
            limit: u32::MAX as usize,
        })?;
        self.row_ptr.push(end);
        Ok(())
    }

    /// The rows of `range` as matrix of their own.
    pub(crate) fn slice(&self, range: std::ops::Range<usize>) -> Csr {
        let first = self.row_ptr[range.start];
        let entries = first as usize..self.row_ptr[range.end] as usize;
        Csr {
            row_ptr: self.row_ptr[range.start..=range.end]
                .iter()
                .map(|p| p - first)
                .collect(),
            columns: self.columns[entries.clone()].to_vec(),
            coefficients: self.coefficients[entries].to_vec(),
        }
    }
}

/// Consecutive rows that occur `copies` times, one copy behind the other. In copy `k` a local
/// column stands for the variable `k` strides further on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub(crate) copies: usize,
    pub(crate) input_stride: usize,
    pub(crate) aux_stride: usize,
    pub(crate) matrices: [Csr; 3],
}

impl Segment {
    /// Rows of one copy.
    pub fn rows(&self) -> usize {
        self.matrices[0].num_rows()
    }

    /// How often the rows occur; 1 for outer rows.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// By how much local inputs move from copy to copy.
    pub fn input_stride(&self) -> usize {
        self.input_stride
    }

    /// By how much local private variables move from copy to copy.
    pub fn aux_stride(&self) -> usize {
        self.aux_stride
    }

    /// The rows of one matrix.
    pub fn matrix(&self, matrix: Matrix) -> &Csr {
        &self.matrices[matrix as usize]
    }

    /// The index of a column's variable, within inputs or private variables, in copy `copy`.
    pub fn position(&self, column: Column, copy: usize) -> usize {
        let stride = match (column.is_local(), column.is_input()) {
            (false, _) => 0,
            (true, true) => self.input_stride,
            (true, false) => self.aux_stride,
        };
        column.index() + copy * stride
    }

    /// Rows that only occur once.
    pub(crate) fn outer(matrices: [Csr; 3]) -> Self {
        Self {
            copies: 1,
            input_stride: 0,
            aux_stride: 0,
            matrices,
        }
    }
}
