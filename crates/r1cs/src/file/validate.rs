//! What must hold of a circuit that was read: everything indexing relies on.

use ff::Field;
use rayon::prelude::*;

use crate::column::{Class, Column};
use crate::dictionary::Dictionary;
use crate::error::FileError;
use crate::matrix::{Csr, Segment};
use crate::recorder::MAX_ROWS;
use crate::system::R1cs;

fn expect(
    holds: bool,
    what: &'static str,
    found: usize,
    expected: impl FnOnce() -> String,
) -> Result<(), FileError> {
    if holds {
        return Ok(());
    }
    Err(FileError::Malformed {
        what,
        found: found as u64,
        expected: expected(),
    })
}

impl R1cs {
    pub(super) fn validate(&self) -> Result<(), FileError> {
        let limit = Column::LIMIT;
        let within = |low: usize| move || format!("between {low} and {limit}");
        let inputs = self.num_inputs;
        expect(
            (1..=limit).contains(&inputs),
            "number of inputs",
            inputs,
            within(1),
        )?;
        let aux = self.num_aux;
        expect(aux <= limit, "number of private variables", aux, within(0))?;
        self.validate_dictionary()?;
        let mut rows = 0usize;
        for segment in &self.segments {
            self.validate_segment(segment)?;
            let here = segment.rows().checked_mul(segment.copies);
            rows = here.and_then(|n| n.checked_add(rows)).unwrap_or(usize::MAX);
        }
        let stated = self.num_stored_rows;
        expect(rows == stated, "number of rows", stated, || {
            rows.to_string()
        })?;
        expect(rows <= MAX_ROWS, "number of rows", rows, || {
            format!("at most {MAX_ROWS}")
        })
    }

    fn validate_dictionary(&self) -> Result<(), FileError> {
        let values = &self.dictionary;
        expect(
            (2..=Dictionary::LIMIT).contains(&values.len()),
            "number of coefficients",
            values.len(),
            || format!("between 2 and {}", Dictionary::LIMIT),
        )?;
        let (one, minus_one) = (crate::Scalar::ONE, -crate::Scalar::ONE);
        for (i, value) in [one, minus_one].iter().enumerate() {
            expect(values[i] == *value, "wrong coefficient, number", i, || {
                "1, then -1, first".into()
            })?;
        }
        let zero = values.iter().position(|v| v.is_zero_vartime());
        expect(
            zero.is_none(),
            "zero coefficient, number",
            zero.unwrap_or(0),
            || "none".into(),
        )
    }

    fn validate_segment(&self, segment: &Segment) -> Result<(), FileError> {
        let copies = segment.copies;
        expect(copies >= 1, "number of copies", copies, || {
            "at least 1".into()
        })?;
        let rows = segment.rows();
        expect(rows >= 1, "number of rows in a segment", rows, || {
            "at least 1".into()
        })?;
        let moved = (copies - 1).saturating_mul(segment.aux_stride);
        let bounds = Bounds {
            inputs: self.num_inputs,
            aux: self.num_aux,
            local_aux: self.num_aux.saturating_sub(moved),
            links: segment.num_links,
            coefficients: self.dictionary.len(),
        };
        let dangling = segment.links.par_iter().position_any(|&word| {
            let column = Column::from_word(word);
            let is_outer = matches!(column.class(), Class::OuterAux | Class::OuterInput);
            !is_outer || !bounds.contain(column)
        });
        expect(
            dangling.is_none(),
            "dangling link, number",
            dangling.unwrap_or(0),
            || "none".into(),
        )?;
        segment
            .matrices
            .iter()
            .try_for_each(|csr| bounds.check(csr))
    }
}

/// One more than the largest index of each class that stays in range in every copy.
struct Bounds {
    inputs: usize,
    aux: usize,
    local_aux: usize,
    links: usize,
    coefficients: usize,
}

impl Bounds {
    fn contain(&self, column: Column) -> bool {
        let limit = match column.class() {
            Class::OuterAux => self.aux,
            Class::LocalAux => self.local_aux,
            Class::OuterInput => self.inputs,
            Class::Linked => self.links,
        };
        column.index() < limit
    }

    fn check(&self, csr: &Csr) -> Result<(), FileError> {
        let first = csr.row_ptr.first().copied().unwrap_or(u32::MAX) as usize;
        expect(first == 0, "first row pointer", first, || "0".into())?;
        let last = csr.row_ptr.last().copied().unwrap_or(u32::MAX) as usize;
        let entries = csr.columns.len();
        expect(last == entries, "last row pointer", last, || {
            entries.to_string()
        })?;
        let falls = csr.row_ptr.par_windows(2).position_any(|w| w[0] > w[1]);
        expect(
            falls.is_none(),
            "row pointer that falls, in row",
            falls.unwrap_or(0),
            || "none".into(),
        )?;
        let outside = csr
            .columns
            .par_iter()
            .position_any(|&word| !self.contain(Column::from_word(word)));
        expect(
            outside.is_none(),
            "column out of range, entry",
            outside.unwrap_or(0),
            || "none".into(),
        )?;
        let limit = self.coefficients;
        let unknown = csr
            .coefficients
            .par_iter()
            .position_any(|&n| usize::from(n) >= limit);
        expect(
            unknown.is_none(),
            "unknown coefficient, entry",
            unknown.unwrap_or(0),
            || "none".into(),
        )
    }
}
