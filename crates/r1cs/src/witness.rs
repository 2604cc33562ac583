//! The values of a circuit's variables, bits packed.

use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use rayon::iter::ParallelExtend;

use crate::error::WitnessError;
use crate::layout::WitnessLayout;

/// An assignment to all variables of a circuit, in the form its [`WitnessLayout`] gives it.
///
/// Bits of wide slots, and bits past the last slot, are zero. In a dense layout there are no bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    layout: Arc<WitnessLayout>,
    inputs: Vec<Scalar>,
    bits: Vec<u64>,
    wide: Vec<Scalar>,
}

impl Witness {
    /// All zero, save for the constant one.
    pub fn new(layout: Arc<WitnessLayout>) -> Self {
        let words = if layout.is_dense() {
            0
        } else {
            layout.num_aux().div_ceil(64)
        };
        let mut inputs = vec![Scalar::ZERO; layout.num_inputs()];
        if let Some(one) = inputs.first_mut() {
            *one = Scalar::ONE;
        }
        let mut bits = cuzk_memory::with_capacity(words);
        bits.resize(words, 0);
        // A WindowPoSt's values are 4 GB: all cores fetch the pages, or doing so takes longer than the values.
        let mut wide = cuzk_memory::with_capacity(layout.num_wide());
        wide.par_extend(rayon::iter::repeat_n(Scalar::ZERO, layout.num_wide()));
        Self {
            inputs,
            bits,
            wide,
            layout,
        }
    }

    /// Back to the state of a new one; the buffers stay.
    pub fn reset(&mut self) {
        self.inputs.fill(Scalar::ZERO);
        if let Some(one) = self.inputs.first_mut() {
            *one = Scalar::ONE;
        }
        self.bits.fill(0);
        self.wide.fill(Scalar::ZERO);
    }

    /// From one value a variable, inputs with the constant one first.
    ///
    /// # Errors
    /// When the numbers of values are not the circuit's, input 0 is not one, or a bit slot's value is
    /// neither 0 nor 1.
    pub fn from_dense(
        layout: Arc<WitnessLayout>,
        inputs: &[Scalar],
        aux: &[Scalar],
    ) -> Result<Self, WitnessError> {
        check_length("inputs", inputs.len(), layout.num_inputs())?;
        check_length("private values", aux.len(), layout.num_aux())?;
        let mut witness = Self::new(layout);
        if inputs[0] != Scalar::ONE {
            return Err(WitnessError::NotOne {
                found: inputs[0].to_string(),
            });
        }
        witness.inputs.copy_from_slice(inputs);
        for (i, value) in aux.iter().enumerate() {
            witness.set_aux(i, value)?;
        }
        Ok(witness)
    }

    /// One value a variable: inputs, private variables.
    pub fn to_dense(&self) -> (Vec<Scalar>, Vec<Scalar>) {
        let aux = (0..self.layout.num_aux()).map(|i| self.aux(i));
        (self.inputs.clone(), aux.collect())
    }

    /// The layout.
    pub fn layout(&self) -> &Arc<WitnessLayout> {
        &self.layout
    }

    /// The inputs, the constant one first.
    pub fn inputs(&self) -> &[Scalar] {
        &self.inputs
    }

    /// The inputs, to be written; number 0 must stay one.
    pub fn inputs_mut(&mut self) -> &mut [Scalar] {
        &mut self.inputs
    }

    /// Slot `i`, bit or wide; panics when out of range.
    #[inline]
    pub fn aux(&self, i: usize) -> Scalar {
        if self.layout.is_wide(i) {
            self.wide[self.layout.wide_rank(i)]
        } else if self.bits[i / 64] >> (i % 64) & 1 == 1 {
            Scalar::ONE
        } else {
            Scalar::ZERO
        }
    }

    /// Sets slot `i`; panics when out of range.
    ///
    /// # Errors
    /// When it is a bit slot and the value is neither 0 nor 1.
    pub fn set_aux(&mut self, i: usize, value: &Scalar) -> Result<(), WitnessError> {
        if self.layout.is_wide(i) {
            self.wide[self.layout.wide_rank(i)] = *value;
            return Ok(());
        }
        let mask = 1 << (i % 64);
        if value.is_zero_vartime() {
            self.bits[i / 64] &= !mask;
        } else if *value == Scalar::ONE {
            self.bits[i / 64] |= mask;
        } else {
            return Err(WitnessError::NotABit {
                slot: i,
                found: value.to_string(),
            });
        }
        Ok(())
    }

    /// Slot `i` at bit `i % 64` of word `i / 64`; empty when dense.
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// The bits, to be written; those of wide slots and past the end must stay zero.
    pub fn bits_mut(&mut self) -> &mut [u64] {
        &mut self.bits
    }

    /// The values of the wide slots, in slot order; all values when dense.
    pub fn wide(&self) -> &[Scalar] {
        &self.wide
    }

    /// The wide values, to be written.
    pub fn wide_mut(&mut self) -> &mut [Scalar] {
        &mut self.wide
    }

    /// Inputs, bits and wide values together, to be written.
    pub fn parts_mut(&mut self) -> (&mut [Scalar], &mut [u64], &mut [Scalar]) {
        (&mut self.inputs, &mut self.bits, &mut self.wide)
    }

    /// The bit slots that hold one, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        crate::bits::ones(&self.bits)
    }

    /// The wide slots and their values, ascending.
    pub fn wide_slots(&self) -> impl Iterator<Item = (usize, &Scalar)> + '_ {
        let (dense, mask) = match self.layout.mask_words() {
            Some(mask) => (0..0, mask),
            None => (0..self.layout.num_aux(), &[][..]),
        };
        dense.chain(crate::bits::ones(mask)).zip(&self.wide)
    }
}

fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), WitnessError> {
    if found != expected {
        return Err(WitnessError::Length {
            what,
            found,
            expected,
        });
    }
    Ok(())
}
