//! The constraint system that computes a witness.

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;

use crate::error::WitnessError;
use crate::witness::Witness;

/// A bellpepper [`ConstraintSystem`] that calls a circuit's value closures and writes what they
/// return straight into a [`Witness`]; rows are ignored.
///
/// A value that has no slot, or that a bit slot cannot hold, ends synthesis; [`finish`]
/// says which.
///
/// [`finish`]: WitnessAssigner::finish
#[derive(Debug)]
pub struct WitnessAssigner<'w> {
    witness: &'w mut Witness,
    num_inputs: usize,
    num_aux: usize,
    failure: Option<WitnessError>,
}

impl<'w> WitnessAssigner<'w> {
    /// Resets `witness` and assigns to it.
    pub fn new(witness: &'w mut Witness) -> Self {
        witness.reset();
        Self {
            witness,
            num_inputs: 1,
            num_aux: 0,
            failure: None,
        }
    }

    /// Ends the assignment.
    ///
    /// # Errors
    /// When a value was refused, or values are missing.
    pub fn finish(self) -> Result<(), WitnessError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let layout = self.witness.layout();
        for (what, found, expected) in [
            ("inputs", self.num_inputs, layout.num_inputs()),
            ("private values", self.num_aux, layout.num_aux()),
        ] {
            if found != expected {
                return Err(WitnessError::Length {
                    what,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }

    fn fail(&mut self, failure: WitnessError) -> SynthesisError {
        self.failure.get_or_insert(failure);
        SynthesisError::Unsatisfiable
    }
}

impl ConstraintSystem<Scalar> for WitnessAssigner<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let value = f()?;
        let (slot, expected) = (self.num_aux, self.witness.layout().num_aux());
        if slot >= expected {
            return Err(self.fail(WitnessError::Length {
                what: "private values",
                found: slot + 1,
                expected,
            }));
        }
        if let Err(failure) = self.witness.set_aux(slot, &value) {
            return Err(self.fail(failure));
        }
        self.num_aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(slot)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let value = f()?;
        let (i, expected) = (self.num_inputs, self.witness.layout().num_inputs());
        if i >= expected {
            return Err(self.fail(WitnessError::Length {
                what: "inputs",
                found: i + 1,
                expected,
            }));
        }
        self.witness.inputs_mut()[i] = value;
        self.num_inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(i)))
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
