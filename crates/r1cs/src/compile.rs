//! From a circuit's definition to its compiled form.

use std::sync::Arc;

use bellpepper_core::SynthesisError;

use crate::classify::wide_slots;
use crate::density::Densities;
use crate::error::Error;
use crate::fold::Fold;
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

/// Records a circuit that repeats a block: `synthesize` is asked for circuits with so many copies
/// of it.
///
/// If all that moves from copy to copy moves evenly, the circuit follows from those with one and two
/// copies; that further copies continue the pattern is taken for granted, and
/// [`row_digest`](crate::row_digest) proves it. Otherwise the circuit is run in full, but stored once, if
/// it ends with the copies. Failing that too it is recorded row by row, and
/// [`R1cs::blocks`] is 1.
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
    if let Some(circuit) = extrapolate(copies, recording, two, &synthesize)? {
        return Ok(circuit);
    }
    if let Some(circuit) = fold(copies, one, two, &synthesize)? {
        return Ok(circuit);
    }
    compile(|recorder| synthesize(copies, recorder))
}

/// The circuit with `copies` blocks from the recording of one, if two continue it.
fn extrapolate(
    copies: usize,
    one: Recording,
    two: Size,
    synthesize: impl Fn(usize, &mut Recorder) -> Result<(), SynthesisError>,
) -> Result<Option<R1cs>, Error> {
    let Some(size) = one.size().extrapolate(two, copies) else {
        return Ok(None);
    };
    let (one_size, dictionary) = (one.size(), one.dictionary);
    let comparison = Comparison::new(one.matrices, one_size, two);
    let (comparison, same_coefficients) =
        Recorder::compare(comparison, &dictionary, |recorder| synthesize(2, recorder))?;
    let segments = comparison.finish(copies).filter(|_| same_coefficients);
    Ok(segments.map(|segments| R1cs::assemble(size, segments, dictionary)))
}

/// The circuit with `copies` blocks, run in full, if it ends with them.
fn fold(
    copies: usize,
    one: Size,
    two: Size,
    synthesize: impl Fn(usize, &mut Recorder) -> Result<(), SynthesisError>,
) -> Result<Option<R1cs>, Error> {
    let size = Recorder::count(|recorder| synthesize(copies, recorder))?;
    let Some(fold) = Fold::new(one, two, size, copies) else {
        return Ok(None);
    };
    let (fold, dictionary) = Recorder::fold(fold, |recorder| synthesize(copies, recorder))?;
    let segments = fold.finish();
    Ok(segments.map(|segments| R1cs::assemble(size, segments, dictionary)))
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
