//! From a circuit's definition to its compiled form.

use std::sync::Arc;

use bellpepper_core::SynthesisError;

use crate::classify::wide_slots;
use crate::density::Densities;
use crate::error::Error;
use crate::layout::WitnessLayout;
use crate::matrix::Segment;
use crate::periodic::Comparison;
use crate::recorder::{Recorder, Recording, Size};
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
/// recorded in full; [`R1cs::blocks`] tells. That three and more copies continue the pattern of
/// one and two is taken for granted here; [`row_digest`](crate::row_digest) proves it.
///
/// # Errors
/// When synthesis fails or the circuit exceeds what the compact form can hold.
pub fn compile_periodic(
    copies: usize,
    synthesize: impl Fn(usize, &mut Recorder) -> Result<(), SynthesisError> + Sync,
) -> Result<R1cs, Error> {
    match copies {
        0 => return Err(Error::NoCopies),
        1 => return compile(|recorder| synthesize(1, recorder)),
        _ => {}
    }
    let (two, recording) = rayon::join(
        || Recorder::count(|recorder| synthesize(2, recorder)),
        || Recorder::record(|recorder| synthesize(1, recorder)),
    );
    let (two, recording) = (two?, recording?);
    let one = recording.size();
    let dictionary = recording.dictionary;
    if let Some(size) = one.extrapolate(two, copies) {
        let comparison = Comparison::new(recording.matrices, one, two);
        let (comparison, same_coefficients) =
            Recorder::compare(comparison, &dictionary, |recorder| synthesize(2, recorder))?;
        if let (true, Some(segments)) = (same_coefficients, comparison.finish(copies)) {
            return Ok(R1cs::assemble(size, segments, dictionary));
        }
    }
    compile(|recorder| synthesize(copies, recorder))
}

fn plain(recording: Recording) -> R1cs {
    R1cs::assemble(
        recording.size(),
        vec![Segment::outer(recording.matrices)],
        recording.dictionary,
    )
}

impl R1cs {
    /// Works out what follows from the rows.
    pub(crate) fn assemble(
        size: Size,
        segments: Vec<Segment>,
        dictionary: Vec<blstrs::Scalar>,
    ) -> Self {
        let densities = Densities::of(&segments, size.num_inputs, size.num_aux);
        let wide = wide_slots(&segments, size.num_aux, &dictionary);
        let layout = WitnessLayout::new(size.num_inputs, wide);
        let mut circuit = Self {
            num_inputs: size.num_inputs,
            num_aux: size.num_aux,
            num_stored_rows: size.num_rows,
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
