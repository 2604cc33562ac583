//! From a circuit's definition to its compiled form.

use std::sync::Arc;

use bellpepper_core::SynthesisError;

use crate::density::Densities;
use crate::error::Error;
use crate::layout::WitnessLayout;
use crate::matrix::Segment;
use crate::recorder::{Recorder, Recording};
use crate::system::R1cs;

/// Records a circuit row by row.
///
/// # Errors
/// When synthesis fails or the circuit exceeds what the compact form can hold.
pub fn compile(
    synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>,
) -> Result<R1cs, Error> {
    Ok(plain(Recorder::record(synthesize)?))
}

/// Records a circuit that repeats a block: `synthesize` is asked for circuits with one and two copies
/// of it, from which the one with `copies` follows. A circuit that does not repeat that way is
/// recorded in full; [`R1cs::blocks`] tells.
///
/// # Errors
/// When synthesis fails or the circuit exceeds what the compact form can hold.
pub fn compile_periodic(
    copies: usize,
    mut synthesize: impl FnMut(usize, &mut Recorder) -> Result<(), SynthesisError>,
) -> Result<R1cs, Error> {
    compile(|recorder| synthesize(copies, recorder))
}

fn plain(recording: Recording) -> R1cs {
    let num_rows = recording.matrices[0].num_rows();
    R1cs::assemble(
        recording.num_inputs,
        recording.num_aux,
        num_rows,
        vec![Segment::outer(recording.matrices)],
        recording.dictionary,
    )
}

impl R1cs {
    /// Works out what follows from the rows.
    pub(crate) fn assemble(
        num_inputs: usize,
        num_aux: usize,
        num_stored_rows: usize,
        segments: Vec<Segment>,
        dictionary: Vec<blstrs::Scalar>,
    ) -> Self {
        let densities = Densities::of(&segments, num_inputs, num_aux);
        let layout = WitnessLayout::dense(num_inputs, num_aux);
        let mut circuit = Self {
            num_inputs,
            num_aux,
            num_stored_rows,
            segments,
            dictionary,
            densities,
            layout: Arc::new(layout),
            digest: [0; 32],
        };
        circuit.digest = circuit.body_digest();
        circuit
    }
}
