//! Which private variables can only be 0 or 1.
//!
//! Rows are read in order. A row that has one variable not yet known to be a bit, beside at most
//! [`MAX_KNOWN`](shape::MAX_KNOWN) that are, is a polynomial of degree two at most in that variable for each assignment to the
//! others. If all its roots are always 0 or 1, the variable is a bit: a booleanity row
//! `(1 − x)·x = 0`, and rows that compute xor, and, nor, choice and the like from bits. Some
//! gadgets (majority) compute from a bit that is itself computed; so a row is looked at
//! a second time with recently defined bits replaced by their definition.
//!
//! What a row of a repeated block says about its own columns it says in every copy; nothing that is
//! known only in some copies is used, so the outcome is one for all copies. It depends on the
//! rows alone.

mod shape;

use blstrs::Scalar;

use crate::bits::BitVec;
use crate::column::{Class, Column};
use crate::matrix::Segment;
use shape::{Definition, Shapes, Slots, Verdict};

/// Rows with more entries than this are not looked at.
const MAX_ENTRIES: usize = 24;

/// How many bits defined last are remembered.
const REMEMBERED: usize = 8;

/// One at every private variable that may hold something other than 0 and 1.
pub(crate) fn wide_slots(segments: &[Segment], num_aux: usize, dictionary: &[Scalar]) -> BitVec {
    let mut bits = BitVec::zeros(num_aux);
    let mut shapes = Shapes::new(dictionary);
    for segment in segments {
        let mut classifier = Classifier::new(segment, &mut bits, &mut shapes);
        for row in 0..segment.rows() {
            classifier.look_at(row);
        }
        let (local, start) = (classifier.local, classifier.start);
        for copy in 0..segment.copies() {
            bits.or_shifted(&local, start + copy * segment.aux_stride());
        }
    }
    bits.complement()
}

/// What is known while the rows of one segment are read.
struct Classifier<'a> {
    segment: &'a Segment,
    /// Private variables known to be bits, whatever the copy.
    outer: &'a mut BitVec,
    /// Variables known to be bits in each copy, as block 0 numbers them, from `start` on.
    local: BitVec,
    start: usize,
    /// Links that lead to a bit in every copy.
    links: BitVec,
    shapes: &'a mut Shapes,
    slots: Slots,
    recent: [Option<Definition>; REMEMBERED],
    next: usize,
}

impl<'a> Classifier<'a> {
    fn new(segment: &'a Segment, outer: &'a mut BitVec, shapes: &'a mut Shapes) -> Self {
        let local = || {
            let words = segment.matrices.iter().flat_map(|csr| &csr.columns);
            let columns = words.map(|&word| Column::from_word(word));
            columns.filter(|column| column.class() == Class::LocalAux)
        };
        let start = local().map(Column::index).min().unwrap_or(0);
        let end = local().map(|column| column.index() + 1).max().unwrap_or(0);
        let mut links = BitVec::zeros(segment.num_links());
        for link in 0..segment.num_links() {
            let mut targets = segment.links()[link..].iter().step_by(segment.num_links());
            let is_bit = |&word: &u32| {
                let column = Column::from_word(word);
                !column.is_outer_input() && outer.get(column.index())
            };
            if targets.all(is_bit) {
                links.set(link);
            }
        }
        Self {
            segment,
            outer,
            local: BitVec::zeros(end - start),
            start,
            links,
            shapes,
            slots: Slots::default(),
            recent: [None; REMEMBERED],
            next: 0,
        }
    }

    fn look_at(&mut self, row: usize) {
        let Some(unknown) = self.read(row) else {
            return;
        };
        let mut verdict = self.shapes.verdict(self.slots.key());
        if verdict == Verdict::Anything && self.slots.substitute(&self.recent) {
            verdict = self.shapes.verdict(self.slots.key());
        }
        match verdict {
            Verdict::Anything => {}
            Verdict::Bit => self.mark(unknown),
            Verdict::Defined(table) => {
                self.mark(unknown);
                if let Some(definition) = self.slots.definition(unknown, table) {
                    self.recent[self.next] = Some(definition);
                    self.next = (self.next + 1) % REMEMBERED;
                }
            }
        }
    }

    /// Sorts the row's variables into known and unknown; the unknown one, if it is only one.
    fn read(&mut self, row: usize) -> Option<Column> {
        let matrices = &self.segment.matrices;
        let entries: usize = matrices.iter().map(|csr| csr.row(row).len()).sum();
        if entries > MAX_ENTRIES {
            return None;
        }
        self.slots.clear();
        let mut unknown = None;
        for csr in matrices {
            for (column, number) in csr.row(row) {
                if column == Column::ONE {
                    self.slots.push_constant(number);
                } else if self.is_bit(column) {
                    self.slots.push_known(column, number)?;
                } else if unknown.is_none_or(|u| u == column) && can_be_bit(column) {
                    unknown = Some(column);
                    self.slots.push_unknown(number);
                } else {
                    return None;
                }
            }
            self.slots.end_matrix();
        }
        unknown
    }

    fn is_bit(&self, column: Column) -> bool {
        match column.class() {
            Class::OuterAux => self.outer.get(column.index()),
            Class::LocalAux => self.local.get(column.index() - self.start),
            Class::OuterInput => false,
            Class::Linked => self.links.get(column.index()),
        }
    }

    fn mark(&mut self, column: Column) {
        match column.class() {
            Class::LocalAux => self.local.set(column.index() - self.start),
            _ => self.outer.set(column.index()),
        }
    }
}

/// Inputs take a field element anyhow, and what a link leads to differs from copy to copy.
fn can_be_bit(column: Column) -> bool {
    matches!(column.class(), Class::OuterAux | Class::LocalAux)
}
