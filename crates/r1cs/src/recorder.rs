//! The constraint system that records rows.

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use crate::column::Column;
use crate::dictionary::Dictionary;
use crate::digest::RowHasher;
use crate::error::Error;
use crate::fold::Fold;
use crate::matrix::Csr;
use crate::periodic::Comparison;

/// More than any circuit could ever be proved with: the field has no larger domain than 2^32.
pub(crate) const MAX_ROWS: usize = 1 << 32;

/// Where recorded rows go.
#[derive(Debug)]
enum Sink {
    /// Nowhere; only rows and variables are counted, linear combinations are not even built.
    Count,
    /// Into matrices.
    Store(Box<[Csr; 3]>),
    /// Past the rows of a circuit that this one may be a longer form of.
    Compare(Box<Comparison>),
    /// Past the first of the blocks that they consist of.
    Fold(Box<Fold>),
    /// Into a hash.
    Hash(Box<RowHasher>),
}

/// A bellpepper [`ConstraintSystem`] that takes down the rows of a circuit and never calls a
/// value closure: a circuit without a witness will do.
///
/// Rows are recorded as bellperson's generator and prover see them: entries in the order in which a
/// `LinearCombination` yields them (inputs first, ascending, a variable once); entries whose
/// coefficient came out as zero are dropped. Synthesis is sequential.
#[derive(Debug)]
pub struct Recorder {
    num_inputs: usize,
    num_aux: usize,
    num_rows: usize,
    dictionary: Dictionary,
    sink: Sink,
    /// The first failure in a place that cannot return one.
    failure: Option<Error>,
}

/// What a recorder that stores has taken down.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) num_inputs: usize,
    pub(crate) num_aux: usize,
    pub(crate) dictionary: Vec<Scalar>,
    pub(crate) matrices: [Csr; 3],
}

/// How large a circuit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) num_inputs: usize,
    pub(crate) num_aux: usize,
    /// Without the rows that Groth16 appends.
    pub(crate) num_rows: usize,
}

impl Size {
    /// The size with `copies` blocks, if this is the one with one block and `two` that with two; none when
    /// these cannot be, or it would be too large.
    pub(crate) fn extrapolate(self, two: Size, copies: usize) -> Option<Size> {
        let project = |one: usize, two: usize, limit: usize| {
            let more = two.checked_sub(one)?.checked_mul(copies - 1)?;
            one.checked_add(more).filter(|&n| n <= limit)
        };
        Some(Size {
            num_inputs: project(self.num_inputs, two.num_inputs, Column::LIMIT)?,
            num_aux: project(self.num_aux, two.num_aux, Column::LIMIT)?,
            num_rows: project(self.num_rows, two.num_rows, MAX_ROWS)?,
        })
        .filter(|_| two.num_rows > self.num_rows)
    }
}

impl Recording {
    pub(crate) fn size(&self) -> Size {
        Size {
            num_inputs: self.num_inputs,
            num_aux: self.num_aux,
            num_rows: self.matrices[0].num_rows(),
        }
    }
}

impl Recorder {
    fn with_sink(sink: Sink) -> Self {
        Self {
            num_inputs: 1,
            num_aux: 0,
            num_rows: 0,
            dictionary: Dictionary::new(),
            sink,
            failure: None,
        }
    }

    /// Runs a circuit for its size alone.
    pub(crate) fn count(
        synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
    ) -> Result<Size, Error> {
        let recorder = Self::with_sink(Sink::Count).run(synthesize)?;
        Ok(recorder.size())
    }

    /// Runs a circuit and keeps its rows.
    pub(crate) fn record(
        synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
    ) -> Result<Recording, Error> {
        let recorder = Self::with_sink(Sink::Store(Default::default())).run(synthesize)?;
        let Sink::Store(matrices) = recorder.sink else {
            unreachable!("a storing recorder stores to its end");
        };
        Ok(Recording {
            num_inputs: recorder.num_inputs,
            num_aux: recorder.num_aux,
            dictionary: recorder.dictionary.into_values(),
            matrices: *matrices,
        })
    }

    /// Runs a circuit past the rows of another one, whose coefficients are `dictionary`. Returns the
    /// comparison, and whether there were no other coefficients.
    pub(crate) fn compare(
        comparison: Comparison,
        dictionary: &[Scalar],
        synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
    ) -> Result<(Comparison, bool), Error> {
        let mut recorder = Self::with_sink(Sink::Compare(Box::new(comparison)));
        recorder.dictionary = Dictionary::with_values(dictionary);
        let recorder = recorder.run(synthesize)?;
        let Sink::Compare(comparison) = recorder.sink else {
            unreachable!("a comparing recorder compares to its end");
        };
        let same = recorder.dictionary.values().len() == dictionary.len();
        Ok((*comparison, same))
    }

    /// Runs a circuit and folds it. Returns what came of it and the coefficients.
    pub(crate) fn fold(
        fold: Fold,
        synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
    ) -> Result<(Fold, Vec<Scalar>), Error> {
        let recorder = Self::with_sink(Sink::Fold(Box::new(fold))).run(synthesize)?;
        let Sink::Fold(fold) = recorder.sink else {
            unreachable!("a folding recorder folds to its end");
        };
        Ok((*fold, recorder.dictionary.into_values()))
    }

    /// Runs a circuit and keeps a hash of its rows.
    pub(crate) fn hash(
        synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
    ) -> Result<crate::RowDigest, Error> {
        let recorder = Self::with_sink(Sink::Hash(Box::default())).run(synthesize)?;
        let size = recorder.size();
        let Sink::Hash(hasher) = recorder.sink else {
            unreachable!("a hashing recorder hashes to its end");
        };
        Ok(hasher.finish(size, recorder.dictionary.values()))
    }

    fn size(&self) -> Size {
        Size {
            num_inputs: self.num_inputs,
            num_aux: self.num_aux,
            num_rows: self.num_rows,
        }
    }

    fn run(
        mut self,
        synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
    ) -> Result<Self, Error> {
        let outcome = synthesize(&mut self);
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        outcome?;
        Ok(self)
    }

    /// Keeps the first failure.
    fn fail(&mut self, failure: Error) {
        self.failure.get_or_insert(failure);
    }

    /// A new variable's index, or the end of synthesis when there is no room for it.
    fn allocate(count: &mut usize, what: &'static str) -> Result<usize, Error> {
        let index = *count;
        if index >= Column::LIMIT {
            return Err(Error::TooLarge {
                what,
                found: index + 1,
                limit: Column::LIMIT,
            });
        }
        *count += 1;
        Ok(index)
    }

    /// One linear combination of the current row.
    fn take(&mut self, matrix: usize, terms: &LinearCombination<Scalar>) -> Result<(), Error> {
        for (variable, coefficient) in terms.iter() {
            if coefficient.is_zero_vartime() {
                continue;
            }
            let (index, limit) = match variable.get_unchecked() {
                Index::Input(i) => (i, self.num_inputs),
                Index::Aux(i) => (i, self.num_aux),
            };
            if index >= limit {
                return Err(Error::UnknownVariable {
                    row: self.num_rows,
                    found: format!("{:?}", variable.get_unchecked()),
                    expected: limit,
                });
            }
            let number = self.dictionary.intern(coefficient).ok_or(Error::TooLarge {
                what: "distinct coefficients",
                found: Dictionary::LIMIT + 1,
                limit: Dictionary::LIMIT,
            })?;
            let column = Column::outer(variable);
            match &mut self.sink {
                Sink::Count => {}
                Sink::Store(matrices) => matrices[matrix].push(column, number),
                Sink::Compare(comparison) => comparison.push(matrix, column, number),
                Sink::Fold(fold) => fold.push(matrix, column, number),
                Sink::Hash(hasher) => hasher.entry(column, number),
            }
        }
        match &mut self.sink {
            Sink::Count => {}
            Sink::Store(matrices) => matrices[matrix].end_row()?,
            Sink::Compare(comparison) if matrix == 2 => comparison.end_row(),
            Sink::Fold(fold) if matrix == 2 => fold.end_row()?,
            Sink::Compare(_) | Sink::Fold(_) => {}
            Sink::Hash(hasher) => hasher.end(),
        }
        Ok(())
    }
}

impl ConstraintSystem<Scalar> for Recorder {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        match Self::allocate(&mut self.num_aux, "private variables") {
            Ok(index) => Ok(Variable::new_unchecked(Index::Aux(index))),
            Err(failure) => {
                self.fail(failure);
                Err(SynthesisError::Unsatisfiable)
            }
        }
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        match Self::allocate(&mut self.num_inputs, "inputs") {
            Ok(index) => Ok(Variable::new_unchecked(Index::Input(index))),
            Err(failure) => {
                self.fail(failure);
                Err(SynthesisError::Unsatisfiable)
            }
        }
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let wanted = match &self.sink {
            Sink::Count => false,
            Sink::Compare(comparison) => comparison.is_open(),
            Sink::Fold(fold) => fold.is_open(),
            Sink::Store(_) | Sink::Hash(_) => true,
        };
        if wanted && self.failure.is_none() {
            let taken = self
                .take(0, &a(LinearCombination::zero()))
                .and_then(|()| self.take(1, &b(LinearCombination::zero())))
                .and_then(|()| self.take(2, &c(LinearCombination::zero())));
            if let Err(failure) = taken {
                self.fail(failure);
            }
        }
        self.num_rows += 1;
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}
