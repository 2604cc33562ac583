//! Finding the block that a circuit repeats.
//!
//! Let `R(n)` be the rows of the circuit with `n` copies of its block. If the block repeats, then
//! `R(1) = P B₀ E` and `R(2) = P B₀ B₁ E'`, where `B₁` is `B₀`, and `E'` is `E`, with some columns one stride
//! further on. A stride is what one copy more adds to the number of variables. So, with `L` rows in a
//! block, `R(1)` and `R(2)` agree up to some row `q`, and from row `s = q − L` of `R(1)` on, row `i` there and
//! row `i + L` of `R(2)` agree save that a column is either the same (*outer*) or one stride
//! further on (*local*; inputs that move are kept as links). Where exactly the block starts does not matter: rows that fit both ways are
//! counted to `P`. `R(1)` is kept, `R(2)` is only compared with it, row by row.

use std::collections::BTreeMap;

use crate::column::{Class, Column};
use crate::matrix::{Csr, Segment};
use crate::recorder::Size;

/// Entries of one row as recorded.
pub(crate) type Row = [Vec<(Column, u16)>; 3];

/// The rows with one copy, while those with two go by.
#[derive(Debug)]
pub(crate) struct Comparison {
    first: [Csr; 3],
    block_rows: usize,
    input_stride: usize,
    aux_stride: usize,
    /// The row that is going by, and its index.
    row: Row,
    index: usize,
    /// Index of the first row that differs from the one with the same index.
    agree: Option<usize>,
    repeats: bool,
}

impl Comparison {
    /// Ready for the rows of a circuit of size `two`, which is larger, to be compared with those of
    /// size `one`.
    pub(crate) fn new(first: [Csr; 3], one: Size, two: Size) -> Self {
        Self {
            first,
            block_rows: two.num_rows - one.num_rows,
            input_stride: two.num_inputs - one.num_inputs,
            aux_stride: two.num_aux - one.num_aux,
            row: Row::default(),
            index: 0,
            agree: None,
            repeats: true,
        }
    }

    /// Whether there is still something to compare.
    pub(crate) fn is_open(&self) -> bool {
        self.repeats
    }

    /// The next entry of the row that is going by.
    pub(crate) fn push(&mut self, matrix: usize, column: Column, coefficient: u16) {
        self.row[matrix].push((column, coefficient));
    }

    /// Compares the row that has gone by.
    pub(crate) fn end_row(&mut self) {
        if self.agree.is_none() && !self.is_same() {
            self.agree = Some(self.index);
            self.repeats = self.index >= self.block_rows;
        }
        if self.agree.is_some() && self.repeats {
            self.repeats = self.mark_shifted();
        }
        self.row.iter_mut().for_each(Vec::clear);
        self.index += 1;
    }

    /// Whether the row equals the one of the same index.
    fn is_same(&self) -> bool {
        self.index < self.first[0].num_rows()
            && self.first.iter().zip(&self.row).all(|(csr, row)| {
                csr.row(self.index).len() == row.len()
                    && csr.row(self.index).eq(row.iter().copied())
            })
    }

    /// Whether the row equals the one a block before but for shifted columns, which are marked there
    /// as local.
    fn mark_shifted(&mut self) -> bool {
        let i = self.index - self.block_rows;
        if i >= self.first[0].num_rows() {
            return false;
        }
        for (csr, row) in self.first.iter_mut().zip(&self.row) {
            let entries = csr.row_ptr[i] as usize..csr.row_ptr[i + 1] as usize;
            if entries.len() != row.len() {
                return false;
            }
            for (e, &(column, coefficient)) in entries.zip(row) {
                let before = Column::from_word(csr.columns[e]);
                let (stride, moving) = match before.class() {
                    Class::OuterInput => (self.input_stride, Class::Linked),
                    _ => (self.aux_stride, Class::LocalAux),
                };
                let moved = column.index().wrapping_sub(before.index());
                if column.class() != before.class()
                    || coefficient != csr.coefficients[e]
                    || (moved != 0 && moved != stride)
                {
                    return false;
                }
                if moved != 0 {
                    csr.columns[e] = Column::new(moving, before.index()).word();
                }
            }
        }
        true
    }

    /// The segments of the circuit with `copies` copies; none when the pattern did not hold.
    pub(crate) fn finish(self, copies: usize) -> Option<Vec<Segment>> {
        let rows = self.first[0].num_rows();
        // A second recording that was cut short has not been compared in full.
        if !self.repeats || self.index != rows + self.block_rows {
            return None;
        }
        let start = self
            .agree
            .unwrap_or(self.index)
            .checked_sub(self.block_rows)?;
        let mut parts = [const { Vec::new() }; 3];
        for csr in self.first {
            for (part, csr) in parts
                .iter_mut()
                .zip(csr.split(start, start + self.block_rows))
            {
                part.push(csr);
            }
        }
        let [before, block, after] =
            parts.map(|part| <[Csr; 3]>::try_from(part).expect("every matrix has every part"));
        let strides = [self.input_stride, self.aux_stride];
        let segments = [
            Segment::outer(before),
            repeated(block, copies, strides),
            Segment::outer(settled(after, copies, strides)),
        ];
        Some(segments.into_iter().filter(|s| s.rows() > 0).collect())
    }
}

/// The rows of the block, with a link for every input that moves.
fn repeated(mut block: [Csr; 3], copies: usize, [inputs, aux]: [usize; 2]) -> Segment {
    let mut numbers = BTreeMap::new();
    let words = || block.iter().flat_map(|csr| &csr.columns);
    for column in words().map(|&word| Column::from_word(word)) {
        if column.class() == Class::Linked {
            numbers.insert(column.index(), 0);
        }
    }
    for (i, number) in numbers.values_mut().enumerate() {
        *number = i;
    }
    for word in block.iter_mut().flat_map(|csr| &mut csr.columns) {
        let column = Column::from_word(*word);
        if column.class() == Class::Linked {
            *word = Column::new(Class::Linked, numbers[&column.index()]).word();
        }
    }
    let link = |copy| {
        let inputs = numbers.keys().map(move |input| input + copy * inputs);
        inputs.map(|input| Column::new(Class::OuterInput, input).word())
    };
    Segment {
        copies,
        aux_stride: aux,
        links: (0..copies).flat_map(link).collect(),
        num_links: numbers.len(),
        matrices: block,
    }
}

/// The rows behind the last copy of the block: what moved in them moved as often as there were
/// copies before the last.
fn settled(mut rows: [Csr; 3], copies: usize, [inputs, aux]: [usize; 2]) -> [Csr; 3] {
    for word in rows.iter_mut().flat_map(|csr| &mut csr.columns) {
        let column = Column::from_word(*word);
        let (class, stride) = match column.class() {
            Class::LocalAux => (Class::OuterAux, aux),
            Class::Linked => (Class::OuterInput, inputs),
            outer => (outer, 0),
        };
        *word = Column::new(class, column.index() + (copies - 1) * stride).word();
    }
    rows
}
