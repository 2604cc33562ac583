//! A circuit as a prologue and equal blocks: surveyed when it is bound, filled for each proof.

use super::bits::{BlockBits, Seams, merge_seams};
use super::sink::{End, InOrder, Sink, Target};
use super::survey::{Gadget, Survey};
use super::times::timed;
use super::{Extent, GadgetTimes, Isa};
use crate::merkle::{Path, TreeShape};
use blstrs::Scalar;
use cuzk_r1cs::{Witness, WitnessLayout};
use ff::Field;
use rayon::prelude::*;
use std::ops::Range;

/// A circuit with native inputs of life `'i`.
pub(super) trait Circuit<'i>: Sync {
    /// What the prologue leaves for the blocks.
    type Context: Sync;

    /// Number of blocks.
    fn blocks(&self) -> usize;
    /// How many blocks are best written together.
    fn group(&self) -> usize;
    /// Whether the inputs have the numbers of parts that the circuit has.
    fn check(&self) -> Result<(), ShapeError>;
    /// Everything before the blocks, in order.
    fn prologue(&self, out: &mut impl Sink<'i>) -> Self::Context;
    /// Block `k`, in order.
    fn block(&self, context: &Self::Context, k: usize, out: &mut impl Sink<'i>);
    /// The same as `block` for some blocks, with the hashes in lanes; also says where the time went.
    fn write(
        &self,
        context: &Self::Context,
        blocks: Range<usize>,
        target: &mut Target<'_>,
        isa: Isa,
    ) -> (End, GadgetTimes);
}

/// Native inputs that have another shape than the circuit's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} {what}, the circuit has {expected}")]
pub struct ShapeError {
    /// Of what there are too few or too many.
    pub what: &'static str,
    /// How many there are.
    pub found: usize,
    /// How many the circuit has.
    pub expected: usize,
}

impl ShapeError {
    pub(super) fn check(
        what: &'static str,
        found: usize,
        expected: usize,
    ) -> Result<(), ShapeError> {
        if found == expected {
            Ok(())
        } else {
            Err(ShapeError {
                what,
                found,
                expected,
            })
        }
    }
}

pub(super) fn check_path(
    what: &'static str,
    path: &Path,
    shape: &TreeShape,
) -> Result<(), ShapeError> {
    ShapeError::check(what, path.positions.len(), shape.levels())?;
    ShapeError::check(what, path.siblings.len(), shape.siblings())
}

/// A slot that is laid out otherwise than the gadget that allocates it expects: the slot, whether it is wide in the
/// circuit, the block (none: the prologue), the gadget.
pub(super) type Difference = (usize, bool, Option<usize>, Gadget);

/// Sizes of the prologue and a block.
pub(super) fn extents<'i>(circuit: &impl Circuit<'i>, layout: &WitnessLayout) -> (Extent, Extent) {
    let mut survey = Survey::new(layout, 0);
    let context = circuit.prologue(&mut survey);
    let prologue = Extent::of(&survey, 0);
    let mut survey = Survey::new(layout, prologue.slots);
    circuit.block(&context, 0, &mut survey);
    (prologue, Extent::of(&survey, prologue.slots))
}

/// Compares with the layout, slot by slot; every block has the extent of the first.
pub(super) fn compare<'i>(
    circuit: &impl Circuit<'i>,
    layout: &WitnessLayout,
    blocks: usize,
) -> Result<(), Difference> {
    let mut survey = Survey::new(layout, 0);
    let context = circuit.prologue(&mut survey);
    let difference = |survey: &Survey<'_>, block| {
        survey.mismatch.map_or(Ok(()), |(slot, wide, gadget)| {
            Err((slot, wide, block, gadget))
        })
    };
    difference(&survey, None)?;
    for k in 0..blocks {
        survey = Survey::new(layout, survey.slot);
        circuit.block(&context, 0, &mut survey);
        difference(&survey, Some(k))?;
    }
    Ok(())
}

/// The block (none: the prologue) and the gadget of a slot.
pub(super) fn locate<'i>(
    circuit: &impl Circuit<'i>,
    layout: &WitnessLayout,
    slot: usize,
) -> (Option<usize>, Option<Gadget>) {
    let (prologue, block) = extents(circuit, layout);
    let mut survey = Survey::new(layout, 0).want(slot);
    let context = circuit.prologue(&mut survey);
    if slot < prologue.slots {
        return (None, survey.found);
    }
    let k = (slot - prologue.slots) / block.slots;
    let mut survey = Survey::new(layout, prologue.slots + k * block.slots).want(slot);
    circuit.block(&context, 0, &mut survey);
    (Some(k), survey.found)
}

/// Why a partition's witness was not filled.
pub(super) enum Failure {
    /// Variables were left over or missing.
    Extent(ShapeError),
    /// A slot that holds only 0 or 1 was given another value.
    NotABit(usize),
}

/// Fills a witness of this layout. Blocks are spread over the threads of the current pool.
pub(super) fn fill<'i>(
    circuit: &impl Circuit<'i>,
    (prologue, block): (Extent, Extent),
    isa: Isa,
    witness: &mut Witness,
) -> Result<GadgetTimes, Failure> {
    let mut times = GadgetTimes::default();
    let layout = witness.layout().clone();
    let (inputs, words, wide) = witness.parts_mut();
    inputs[0] = Scalar::ONE;
    let groups: Vec<Range<usize>> = (0..circuit.blocks())
        .step_by(circuit.group())
        .map(|k| k..(k + circuit.group()).min(circuit.blocks()))
        .collect();
    let sizes: Vec<Extent> = std::iter::once(prologue)
        .chain(groups.iter().map(|group| block.times(group.len())))
        .collect();
    let mut targets = targets(&layout, &sizes, (&mut inputs[1..], words, wide));

    let mut first = targets.remove(0);
    let mut out = InOrder(first.cursor());
    let context = timed(&mut times.prologue, || circuit.prologue(&mut out));
    let end = out.0.close();
    let mut seams = vec![finish(first, end, prologue)?];

    let written: Vec<Result<(Seams, GadgetTimes), Failure>> = targets
        .into_par_iter()
        .zip(groups)
        .map(|(mut target, blocks)| {
            let size = block.times(blocks.len());
            let (end, times) = circuit.write(&context, blocks, &mut target, isa);
            Ok((finish(target, end, size)?, times))
        })
        .collect();
    for result in written {
        let (group_seams, group_times) = result?;
        seams.push(group_seams);
        times += group_times;
    }
    merge_seams(witness.bits_mut(), &seams);
    Ok(times)
}

/// Consecutive parts of a witness.
fn targets<'a>(
    layout: &'a WitnessLayout,
    sizes: &[Extent],
    (mut inputs, words, mut wide): (&'a mut [Scalar], &'a mut [u64], &'a mut [Scalar]),
) -> Vec<Target<'a>> {
    let ends = sizes.iter().scan(0, |end, size| {
        *end += size.slots;
        Some(*end)
    });
    let mut bits = if layout.is_dense() {
        None
    } else {
        Some(BlockBits::split(words, ends.clone()).into_iter())
    };
    sizes
        .iter()
        .zip(ends)
        .map(|(size, end)| {
            let (own_inputs, rest) = std::mem::take(&mut inputs).split_at_mut(size.inputs);
            inputs = rest;
            let (own_wide, rest) = std::mem::take(&mut wide).split_at_mut(size.wide);
            wide = rest;
            Target {
                layout,
                start: end - size.slots,
                inputs: own_inputs,
                bits: bits.as_mut().and_then(Iterator::next),
                wide: own_wide,
            }
        })
        .collect()
}

fn finish(target: Target<'_>, end: End, size: Extent) -> Result<Seams, Failure> {
    if let Some(slot) = end.refused {
        return Err(Failure::NotABit(slot));
    }
    let counts = [
        ("private variables", end.slot - target.start, size.slots),
        ("wide variables", end.wide, size.wide),
        ("public inputs", end.inputs, size.inputs),
    ];
    for (what, found, expected) in counts {
        ShapeError::check(what, found, expected).map_err(Failure::Extent)?;
    }
    Ok(target.bits.map_or([None, None], BlockBits::seams))
}
