//! Rows in compressed form, and the segments that repeat.

use crate::column::{Class, Column};
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
/// coefficient number `coefficients[e]` at `columns[e]` (a [`Column`] word). Within a row the
/// variables of the first copy stand as bellpepper has them: inputs first, indices ascending, each once.
/// No coefficient is zero.
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
    pub fn row(&self, i: usize) -> impl ExactSizeIterator<Item = (Column, u16)> + Clone + '_ {
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

    /// Cut before row `start` and before row `end`. The middle, presumably the largest part, keeps
    /// its memory.
    pub(crate) fn split(mut self, start: usize, end: usize) -> [Csr; 3] {
        let after = self.split_off(end);
        let middle_first = self.row_ptr[start] as usize;
        let before = Csr {
            row_ptr: self
                .row_ptr
                .drain(..start)
                .chain([middle_first as u32])
                .collect(),
            columns: self.columns.drain(..middle_first).collect(),
            coefficients: self.coefficients.drain(..middle_first).collect(),
        };
        self.row_ptr
            .iter_mut()
            .for_each(|p| *p -= middle_first as u32);
        self.row_ptr.shrink_to_fit();
        self.columns.shrink_to_fit();
        self.coefficients.shrink_to_fit();
        [before, self, after]
    }

    /// Removes the rows from `end` on and returns them.
    fn split_off(&mut self, end: usize) -> Csr {
        let first = self.row_ptr[end];
        let row_ptr = self.row_ptr[end..].iter().map(|p| p - first).collect();
        self.row_ptr.truncate(end + 1);
        Csr {
            row_ptr,
            columns: self.columns.split_off(first as usize),
            coefficients: self.coefficients.split_off(first as usize),
        }
    }
}

/// Consecutive rows that occur `copies` times, one copy behind the other, with some columns moved
/// from copy to copy as their [`Class`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub(crate) copies: usize,
    pub(crate) aux_stride: usize,
    /// Outer column words, `num_links` a copy.
    pub(crate) links: Vec<u32>,
    pub(crate) num_links: usize,
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

    /// By how much local private variables move from copy to copy.
    pub fn aux_stride(&self) -> usize {
        self.aux_stride
    }

    /// Number of links a copy.
    pub fn num_links(&self) -> usize {
        self.num_links
    }

    /// Words of outer columns: link `i` of copy `k` at `k · num_links + i`.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// The rows of one matrix.
    pub fn matrix(&self, matrix: Matrix) -> &Csr {
        &self.matrices[matrix as usize]
    }

    /// The outer column that a column stands for in copy `copy`.
    #[inline]
    pub fn resolve(&self, column: Column, copy: usize) -> Column {
        match column.class() {
            Class::OuterAux | Class::OuterInput => column,
            Class::LocalAux => {
                Column::new(Class::OuterAux, column.index() + copy * self.aux_stride)
            }
            Class::Linked => Column::from_word(self.links[copy * self.num_links + column.index()]),
        }
    }

    /// Rows that only occur once.
    pub(crate) fn outer(matrices: [Csr; 3]) -> Self {
        Self {
            copies: 1,
            aux_stride: 0,
            links: Vec::new(),
            num_links: 0,
            matrices,
        }
    }
}
