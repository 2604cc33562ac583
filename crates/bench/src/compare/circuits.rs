//! Upstream's circuits as bellperson takes them.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use cuzk_filecoin::{CircuitId, Statement, synthesize_blank};

/// A circuit without values, for the parameter generator.
pub(super) struct Blank(pub(super) CircuitId);

impl Circuit<Scalar> for Blank {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        synthesize_blank(self.0, cs)
    }
}

/// One partition of a statement, for the prover.
pub(super) struct Filled<'a> {
    pub(super) statement: &'a Statement,
    pub(super) partition: usize,
}

impl Circuit<Scalar> for Filled<'_> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.statement.synthesize(self.partition, cs)
    }
}
