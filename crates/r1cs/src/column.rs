//! The 32-bit word that names a variable in a stored row.

use bellpepper_core::{Index, Variable};

/// How a column finds its variable in copy `k` of the rows it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Class {
    /// Private variable `index`, in every copy.
    OuterAux = 0,
    /// Private variable `index + k · aux_stride`.
    LocalAux = 1,
    /// Input `index`, in every copy.
    OuterInput = 2,
    /// The outer column that the segment's links name: `links[k · num_links + index]`. Inputs of a
    /// block, and private variables that move otherwise than by the stride.
    Linked = 3,
}

/// A variable in a stored row: two class bits on top (the numbers of [`Class`]), 30 index bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Column(u32);

impl Column {
    /// The constant one, input 0.
    pub const ONE: Column = Column((Class::OuterInput as u32) << 30);

    /// One more than the largest index that fits.
    pub const LIMIT: usize = 1 << 30;

    /// Panics when `index` is not below [`Column::LIMIT`]; the recorder refuses such circuits.
    pub fn new(class: Class, index: usize) -> Self {
        assert!(index < Self::LIMIT, "column index {index}");
        Self((class as u32) << 30 | index as u32)
    }

    pub(crate) fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// The raw word.
    pub fn word(self) -> u32 {
        self.0
    }

    /// The class bits.
    pub fn class(self) -> Class {
        match self.0 >> 30 {
            0 => Class::OuterAux,
            1 => Class::LocalAux,
            2 => Class::OuterInput,
            _ => Class::Linked,
        }
    }

    /// The index bits.
    pub fn index(self) -> usize {
        (self.0 & (Self::LIMIT as u32 - 1)) as usize
    }

    /// Whether it is an input, named by its own index.
    pub fn is_outer_input(self) -> bool {
        self.0 >> 30 == Class::OuterInput as u32
    }

    /// The variable of an outer column.
    pub(crate) fn variable(self) -> Variable {
        Variable::new_unchecked(if self.is_outer_input() {
            Index::Input(self.index())
        } else {
            Index::Aux(self.index())
        })
    }

    /// The column of an unmoving variable.
    pub(crate) fn outer(variable: Variable) -> Self {
        match variable.get_unchecked() {
            Index::Aux(i) => Self::new(Class::OuterAux, i),
            Index::Input(i) => Self::new(Class::OuterInput, i),
        }
    }
}
