//! The 32-bit word that names a variable in a stored row.

use bellpepper_core::{Index, Variable};

/// Which of the two variable kinds a column belongs to, and whether it moves with the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Class {
    /// A private variable named by its own index.
    OuterAux = 0,
    /// A private variable of block 0; block `k` has it at `index + k · aux_stride`.
    LocalAux = 1,
    /// A public input named by its own index.
    OuterInput = 2,
    /// A public input of block 0; block `k` has it at `index + k · input_stride`.
    LocalInput = 3,
}

/// A variable in a stored row: two class bits on top (the numbers of [`Class`]), 30 index bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Column(u32);

impl Column {
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
            _ => Class::LocalInput,
        }
    }

    /// The index in block 0.
    pub fn index(self) -> usize {
        (self.0 & (Self::LIMIT as u32 - 1)) as usize
    }

    /// Whether it names an input.
    pub fn is_input(self) -> bool {
        self.0 >> 31 == 1
    }

    /// Whether it moves with the block.
    pub fn is_local(self) -> bool {
        self.0 >> 30 & 1 == 1
    }

    /// The same variable as a column that does or does not move.
    pub(crate) fn with_local(self, local: bool) -> Self {
        Self(self.0 & !(1 << 30) | u32::from(local) << 30)
    }

    /// The column of an unmoving variable.
    pub(crate) fn outer(variable: Variable) -> Self {
        match variable.get_unchecked() {
            Index::Aux(i) => Self::new(Class::OuterAux, i),
            Index::Input(i) => Self::new(Class::OuterInput, i),
        }
    }
}
