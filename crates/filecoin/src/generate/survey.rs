//! A circuit's variables without values: how many there are, of which kind, and what each one belongs to.

use super::bits::BitSink;
use super::gadgets::{self, Instance, LabelPreimage, PathForm, Words, climb_levels};
use super::sha256::Digest;
use super::sink::Sink;
use crate::merkle::TreeShape;
use blstrs::Scalar;
use cuzk_r1cs::WitnessLayout;
use std::ops::Range;

/// A gadget by name and number, with the tree level it has got to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gadget {
    name: &'static str,
    index: usize,
    level: Option<(&'static str, usize)>,
}

impl std::fmt::Display for Gadget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.index)?;
        self.level
            .map_or(Ok(()), |(name, level)| write!(f, ", {name} {level}"))
    }
}

/// Counts, and compares with a compiled circuit's layout.
pub(super) struct Survey<'l> {
    layout: &'l WitnessLayout,
    pub(super) slot: usize,
    pub(super) wide: usize,
    pub(super) inputs: usize,
    gadget: Gadget,
    /// The first slot that the layout does not lay out as the gadget would: whether it is wide there, the gadget.
    pub(super) mismatch: Option<(usize, bool, Gadget)>,
    /// A slot whose gadget is wanted, and the gadget when it was met.
    wanted: Option<usize>,
    pub(super) found: Option<Gadget>,
}

impl<'l> Survey<'l> {
    /// Begins at a slot.
    pub(super) fn new(layout: &'l WitnessLayout, slot: usize) -> Self {
        let gadget = Gadget::default();
        Survey {
            layout,
            slot,
            wide: 0,
            inputs: 0,
            gadget,
            mismatch: None,
            wanted: None,
            found: None,
        }
    }

    /// Looks for the gadget that allocates a slot.
    pub(super) fn want(mut self, slot: usize) -> Self {
        self.wanted = Some(slot);
        self
    }

    /// `count` slots of one kind.
    fn take(&mut self, count: usize, wide: bool) {
        let slots = self.slot..self.slot + count;
        if self.wanted.is_some_and(|wanted| slots.contains(&wanted)) && self.found.is_none() {
            self.found = Some(self.gadget);
        }
        if self.mismatch.is_none() {
            let slot = first_other(self.layout, slots, wide);
            self.mismatch = slot.map(|slot| (slot, !wide, self.gadget));
        }
        self.slot += count;
        self.wide += if wide || self.layout.is_dense() {
            count
        } else {
            0
        };
    }
}

/// The first of these slots that the layout has not, or has as the other kind. In a dense layout every kind is right.
fn first_other(layout: &WitnessLayout, slots: Range<usize>, wide: bool) -> Option<usize> {
    let limit = layout.num_aux();
    let Some(mask) = layout.mask_words() else {
        return (slots.end > limit).then_some(limit);
    };
    let mut at = slots.start;
    while at < slots.end.min(limit) {
        let count = (64 - at % 64).min(slots.end - at);
        let kinds = if wide { !mask[at / 64] } else { mask[at / 64] } >> (at % 64);
        let others = kinds.trailing_zeros() as usize;
        if others < count {
            return Some(at + others);
        }
        at += count;
    }
    (slots.end > limit).then_some(limit)
}

impl BitSink for Survey<'_> {
    fn bits(&mut self, _: u64, count: u32) {
        self.take(count as usize, false);
    }
}

impl<'i> Sink<'i> for Survey<'_> {
    fn number(&mut self, _: Scalar) {
        self.take(1, true);
    }

    fn small_number(&mut self, _: Scalar) {
        let wide = self.slot >= self.layout.num_aux() || self.layout.is_wide(self.slot);
        self.take(1, wide);
    }

    fn input(&mut self, _: Scalar) {
        self.inputs += 1;
    }

    fn gadget(&mut self, name: &'static str, index: usize) {
        // Levels are parts of what was named before them.
        if name.ends_with("level") {
            self.gadget.level = Some((name, index));
        } else {
            self.gadget = Gadget {
                name,
                index,
                level: None,
            };
        }
    }

    fn poseidon(&mut self, instance: Instance, _: &[Scalar]) -> Scalar {
        self.take(instance.poseidon().slots(), true);
        Scalar::default()
    }

    fn node(&mut self, _: &[Words; 2]) -> Digest {
        self.take(gadgets::node().slots(), false);
        Digest::default()
    }

    fn label(&mut self, _: LabelPreimage) -> Digest {
        self.take(gadgets::label().slots(), false);
        Digest::default()
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
