//! A witness against what the circuit's own definition assigns, one value after the other.

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use cuzk_r1cs::Witness;

/// The first variable that has another value, or is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// A public input.
    Input {
        index: usize,
        found: Option<Scalar>,
        expected: Option<Scalar>,
    },
    /// A private variable.
    Aux {
        slot: usize,
        found: Option<Scalar>,
        expected: Option<Scalar>,
    },
}

/// A constraint system that calls a circuit's value closures and compares; rows are ignored. Synthesis ends at the first
/// difference.
pub(super) struct Comparer<'w> {
    witness: &'w Witness,
    inputs: usize,
    slots: usize,
    difference: Option<Difference>,
}

impl<'w> Comparer<'w> {
    pub(super) fn new(witness: &'w Witness) -> Self {
        Comparer {
            witness,
            inputs: 1,
            slots: 0,
            difference: None,
        }
    }

    /// Ends the comparison.
    pub(super) fn finish(self) -> Result<(), Difference> {
        let layout = self.witness.layout();
        let (inputs, slots) = (self.inputs, self.slots);
        match self.difference {
            Some(difference) => Err(difference),
            None if inputs < layout.num_inputs() => {
                let found = Some(self.witness.inputs()[inputs]);
                Err(Difference::Input {
                    index: inputs,
                    found,
                    expected: None,
                })
            }
            None if slots < layout.num_aux() => {
                let found = Some(self.witness.aux(slots));
                Err(Difference::Aux {
                    slot: slots,
                    found,
                    expected: None,
                })
            }
            None => Ok(()),
        }
    }
}

impl ConstraintSystem<Scalar> for Comparer<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let (slot, expected) = (self.slots, Some(value()?));
        let found = (slot < self.witness.layout().num_aux()).then(|| self.witness.aux(slot));
        if found != expected {
            self.difference = Some(Difference::Aux {
                slot,
                found,
                expected,
            });
            return Err(SynthesisError::Unsatisfiable);
        }
        self.slots += 1;
        Ok(Variable::new_unchecked(Index::Aux(slot)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let (index, expected) = (self.inputs, Some(value()?));
        let found = self.witness.inputs().get(index).copied();
        if found != expected {
            self.difference = Some(Difference::Input {
                index,
                found,
                expected,
            });
            return Err(SynthesisError::Unsatisfiable);
        }
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(index)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
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
