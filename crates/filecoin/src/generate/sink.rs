//! Where the variables of a circuit go.

use super::bits::{BitSink, BitWriter, BlockBits};
use super::gadgets::{self, Instance, LabelPreimage, PathForm, Words, climb_levels};
use super::sha256::Digest;
use crate::merkle::TreeShape;
use blstrs::Scalar;
use cuzk_r1cs::WitnessLayout;
use ff::Field;

/// Takes the variables of a circuit in allocation order; `'i` is the life of the circuit's native inputs.
///
/// The circuits of this module are written against this trait once. What is behind it decides whether values are
/// computed one after the other ([`InOrder`]), in lanes afterwards ([`super::plan::Plan`]), or not at all
/// ([`super::survey::Survey`]).
pub(super) trait Sink<'i>: BitSink {
    /// A wide variable.
    fn number(&mut self, value: Scalar);
    /// A variable allocated as a number that may be provably boolean, in small sectors or always: the compiled
    /// circuit knows.
    fn small_number(&mut self, value: Scalar);
    /// A public input.
    fn input(&mut self, value: Scalar);
    /// Names what follows.
    fn gadget(&mut self, _name: &'static str, _index: usize) {}
    /// A Poseidon hash; the digest is its last variable.
    fn poseidon(&mut self, instance: Instance, preimage: &[Scalar]) -> Scalar;
    /// The bits of hashing a node of tree D, without those of its children.
    fn node(&mut self, children: &[Words; 2]) -> Digest;
    /// The bits of hashing a label's preimage, without those of its parts.
    fn label(&mut self, preimage: LabelPreimage) -> Digest;
    /// A path in tree C or R.
    fn climb(
        &mut self,
        shape: &TreeShape,
        form: PathForm,
        leaf: Scalar,
        index: u64,
        siblings: &'i [Scalar],
    ) -> Scalar;
}

/// The part of a witness that one block's variables fill.
pub(super) struct Target<'a> {
    pub(super) layout: &'a WitnessLayout,
    /// First slot.
    pub(super) start: usize,
    pub(super) inputs: &'a mut [Scalar],
    /// None in a dense layout, where bits are wide too.
    pub(super) bits: Option<BlockBits<'a>>,
    pub(super) wide: &'a mut [Scalar],
}

/// A place in a [`Target`], moving on with every variable.
pub(super) struct Cursor<'t, 'a> {
    layout: &'t WitnessLayout,
    start: usize,
    bits: Option<BitWriter<'t, 'a>>,
    wide: &'t mut [Scalar],
    rank: usize,
    inputs: &'t mut [Scalar],
    next_input: usize,
    refused: Option<usize>,
}

/// Where a block ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) slot: usize,
    pub(super) wide: usize,
    pub(super) inputs: usize,
    /// A slot that can hold only 0 or 1 and was given another value.
    pub(super) refused: Option<usize>,
}

impl<'a> Target<'a> {
    pub(super) fn cursor<'t>(&'t mut self) -> Cursor<'t, 'a> {
        let start = self.start;
        Cursor {
            layout: self.layout,
            start,
            bits: self.bits.as_mut().map(|bits| BitWriter::open(bits, start)),
            wide: self.wide,
            rank: 0,
            inputs: self.inputs,
            next_input: 0,
            refused: None,
        }
    }
}

impl Cursor<'_, '_> {
    pub(super) fn is_dense(&self) -> bool {
        self.bits.is_none()
    }

    /// Number of the next wide variable within the block.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn slot(&self) -> usize {
        self.bits
            .as_ref()
            .map_or(self.start + self.rank, BitWriter::at)
    }

    pub(super) fn number(&mut self, value: Scalar) {
        self.numbers(1)[0] = value;
    }

    pub(super) fn small_number(&mut self, value: Scalar) {
        let slot = self.slot();
        if self.layout.is_wide(slot) {
            return self.number(value);
        }
        let one = value == Scalar::ONE;
        if !one && !value.is_zero_vartime() {
            self.refused.get_or_insert(slot);
        }
        self.bits(u64::from(one), 1);
    }

    pub(super) fn input(&mut self, value: Scalar) {
        self.inputs[self.next_input] = value;
        self.next_input += 1;
    }

    /// The next `count` wide variables, to be written now.
    pub(super) fn numbers(&mut self, count: usize) -> &mut [Scalar] {
        let rank = self.skip_numbers(count);
        &mut self.wide[rank..rank + count]
    }

    /// Leaves `count` wide variables for later; returns the number of the first.
    pub(super) fn skip_numbers(&mut self, count: usize) -> usize {
        if let Some(bits) = &mut self.bits {
            bits.zeros(count);
        }
        self.rank += count;
        self.rank - count
    }

    /// Leaves `count` bit variables for later, in a packed layout; returns the slot of the first.
    pub(super) fn skip_bits(&mut self, count: usize) -> usize {
        let bits = self
            .bits
            .as_mut()
            .expect("circuits with SHA-256 are bound to packed layouts only");
        bits.skip(count);
        bits.at() - count
    }

    pub(super) fn close(self) -> End {
        let end = End {
            slot: self.slot(),
            wide: self.rank,
            inputs: self.next_input,
            refused: self.refused,
        };
        if let Some(bits) = self.bits {
            bits.close();
        }
        end
    }
}

impl BitSink for Cursor<'_, '_> {
    fn bits(&mut self, value: u64, count: u32) {
        match &mut self.bits {
            Some(bits) => bits.bits(value, count),
            None => {
                for (i, slot) in self.wide[self.rank..][..count as usize]
                    .iter_mut()
                    .enumerate()
                {
                    *slot = if value >> i & 1 == 1 {
                        Scalar::ONE
                    } else {
                        Scalar::ZERO
                    };
                }
                self.rank += count as usize;
            }
        }
    }
}

/// Computes every value where it is allocated, in portable code: the reference, and the writer of prologues.
pub(super) struct InOrder<'t, 'a>(pub(super) Cursor<'t, 'a>);

impl BitSink for InOrder<'_, '_> {
    fn bits(&mut self, value: u64, count: u32) {
        self.0.bits(value, count);
    }
}

impl<'i> Sink<'i> for InOrder<'_, '_> {
    fn number(&mut self, value: Scalar) {
        self.0.number(value);
    }

    fn small_number(&mut self, value: Scalar) {
        self.0.small_number(value);
    }

    fn input(&mut self, value: Scalar) {
        self.0.input(value);
    }

    fn poseidon(&mut self, instance: Instance, preimage: &[Scalar]) -> Scalar {
        let poseidon = instance.poseidon();
        poseidon.hash(preimage, self.0.numbers(poseidon.slots()))
    }

    fn node(&mut self, children: &[Words; 2]) -> Digest {
        gadgets::node().hash(self, |j| gadgets::node_block(children, j))
    }

    fn label(&mut self, preimage: LabelPreimage) -> Digest {
        gadgets::label().hash(self, |j| preimage.block(j))
    }

    fn climb(
        &mut self,
        shape: &TreeShape,
        form: PathForm,
        leaf: Scalar,
        index: u64,
        siblings: &'i [Scalar],
    ) -> Scalar {
        climb_levels(self, shape, form, leaf, index, siblings)
    }
}
