//! Folding a circuit's blocks onto the first while all of them go by.
//!
//! For circuits whose rows repeat but whose columns do not all move evenly: blocks that read, one
//! after the other, from a list made before (the challenges of a SnapDeals partition). The rows of all
//! blocks are compared with those of block 0. A column that is neither the same in each block nor
//! one stride further on becomes a link: a place in a table with one variable a block.

use std::collections::HashMap;

use crate::column::{Class, Column};
use crate::error::Error;
use crate::matrix::{Csr, Segment};
use crate::periodic::Row;
use crate::recorder::Size;

/// More links than this, and there is nothing gained.
const MAX_LINKS: usize = 1 << 12;

/// Block 0 and what comes before it, while the other blocks go by.
#[derive(Debug)]
pub(crate) struct Fold {
    /// Index of the first row of block 0.
    start: usize,
    block_rows: usize,
    copies: usize,
    aux_stride: usize,
    before: [Csr; 3],
    block: [Csr; 3],
    /// For every link the outer columns it stood for in the blocks so far.
    links: Vec<Vec<Column>>,
    /// Links made in the present block, by the column before and the variable now.
    made: HashMap<(Column, Column), Column>,
    row: Row,
    index: usize,
    repeats: bool,
}

impl Fold {
    /// Ready for the rows of a circuit of size `all` that ends with `copies` blocks, if one
    /// more block makes a circuit of size `one` one of size `two`; none when it cannot end so.
    pub(crate) fn new(one: Size, two: Size, all: Size, copies: usize) -> Option<Self> {
        let block_rows = two.num_rows.checked_sub(one.num_rows).filter(|&n| n > 0)?;
        Some(Self {
            start: all.num_rows.checked_sub(block_rows.checked_mul(copies)?)?,
            block_rows,
            copies,
            aux_stride: two.num_aux.checked_sub(one.num_aux)?,
            before: Default::default(),
            block: Default::default(),
            links: Vec::new(),
            made: HashMap::new(),
            row: Row::default(),
            index: 0,
            repeats: true,
        })
    }

    /// Whether the rows have repeated so far.
    pub(crate) fn is_open(&self) -> bool {
        self.repeats
    }

    /// The next entry of the row that is going by.
    pub(crate) fn push(&mut self, matrix: usize, column: Column, coefficient: u16) {
        self.row[matrix].push((column, coefficient));
    }

    /// Keeps the row that has gone by, or compares it with that of block 0.
    pub(crate) fn end_row(&mut self) -> Result<(), Error> {
        match self.index.checked_sub(self.start) {
            None => append(&mut self.before, &self.row)?,
            Some(i) if i < self.block_rows => append(&mut self.block, &self.row)?,
            Some(i) => {
                let (copy, i) = (i / self.block_rows, i % self.block_rows);
                if i == 0 {
                    self.made.clear();
                }
                self.repeats = self.repeats && self.compare(i, copy).is_some();
            }
        }
        self.row.iter_mut().for_each(Vec::clear);
        self.index += 1;
        Ok(())
    }

    /// Compares with row `i` of block 0, whose columns are changed to what holds for this copy too.
    fn compare(&mut self, i: usize, copy: usize) -> Option<()> {
        for matrix in 0..3 {
            let csr = &self.block[matrix];
            let entries = csr.row_ptr[i] as usize..csr.row_ptr[i + 1] as usize;
            if entries.len() != self.row[matrix].len() {
                return None;
            }
            for (place, e) in entries.enumerate() {
                let (column, coefficient) = self.row[matrix][place];
                let csr = &self.block[matrix];
                if coefficient != csr.coefficients[e] {
                    return None;
                }
                let before = Column::from_word(csr.columns[e]);
                let now = self.extend(before, column, copy)?;
                self.block[matrix].columns[e] = now.word();
            }
        }
        Some(())
    }

    /// The column that stands for what `before` stood for in the copies before `copy`, and for
    /// `column` in this one.
    fn extend(&mut self, before: Column, column: Column, copy: usize) -> Option<Column> {
        let local = |before: Column| Column::new(Class::LocalAux, before.index());
        let fits = match before.class() {
            Class::Linked => {
                let link = &mut self.links[before.index()];
                if link.len() == copy {
                    link.push(column);
                }
                link[copy] == column
            }
            Class::OuterAux if copy == 1 && self.reach(local(before), 1) == Some(column) => {
                return Some(local(before));
            }
            _ => self.reach(before, copy) == Some(column),
        };
        if fits {
            return Some(before);
        }
        if let Some(&made) = self.made.get(&(before, column)) {
            return Some(made);
        }
        if self.links.len() == MAX_LINKS {
            return None;
        }
        let mut link = (0..copy)
            .map(|copy| self.reach(before, copy))
            .collect::<Option<Vec<_>>>()?;
        link.push(column);
        let made = Column::new(Class::Linked, self.links.len());
        self.links.push(link);
        self.made.insert((before, column), made);
        Some(made)
    }

    /// What a column stands for in a copy; none when it is past every index.
    fn reach(&self, column: Column, copy: usize) -> Option<Column> {
        match column.class() {
            Class::OuterAux | Class::OuterInput => Some(column),
            Class::LocalAux => {
                let index = column.index() + copy * self.aux_stride;
                (index < Column::LIMIT).then(|| Column::new(Class::OuterAux, index))
            }
            Class::Linked => Some(self.links[column.index()][copy]),
        }
    }

    /// The segments of the circuit; none when it did not repeat.
    pub(crate) fn finish(self) -> Option<Vec<Segment>> {
        let rows = self.start + self.copies * self.block_rows;
        let complete = self.links.iter().all(|link| link.len() == self.copies);
        if !self.repeats || self.index != rows || !complete {
            return None;
        }
        let links = (0..self.copies).flat_map(|copy| {
            let links = self.links.iter();
            links.map(move |link| link[copy].word())
        });
        let block = Segment {
            copies: self.copies,
            aux_stride: self.aux_stride,
            links: links.collect(),
            num_links: self.links.len(),
            matrices: self.block,
        };
        let segments = [Segment::outer(self.before), block];
        Some(segments.into_iter().filter(|s| s.rows() > 0).collect())
    }
}

/// A row at the end of the matrices.
fn append(matrices: &mut [Csr; 3], row: &Row) -> Result<(), Error> {
    for (csr, entries) in matrices.iter_mut().zip(row) {
        for &(column, coefficient) in entries {
            csr.push(column, coefficient);
        }
        csr.end_row()?;
    }
    Ok(())
}
