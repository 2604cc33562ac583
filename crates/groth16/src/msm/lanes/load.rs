//! Operands into lanes and sums out of them.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use super::super::kernel::{Batch, NEGATIVE, Pair};
use super::{Limbs, Point};
use crate::field::fp8::Ext;
use crate::field::lanes::*;
use core::arch::x86_64::*;

/// Where a batch's operands and sums lie. All of the batch's indices have been checked.
pub(super) struct Operands<const D: usize> {
    leaves: *const Point<D>,
    arena: *mut Point<D>,
}

/// Which of a pair.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    A,
    B,
}

impl Side {
    #[inline(always)]
    fn of(self, pair: &Pair) -> u32 {
        if self == Side::A { pair.a } else { pair.b }
    }
}

impl<const D: usize> Operands<D> {
    /// # Panics
    /// When an index of the batch is out of range.
    pub(super) fn new(leaves: &[Point<D>], arena: &mut [Point<D>], batch: &Batch) -> Self {
        let (mut leaf, mut place) = (0, 0);
        for single in &batch.singles {
            leaf = leaf.max(single.leaf & !NEGATIVE);
            place = place.max(single.to);
        }
        for pair in &batch.leaves {
            leaf = leaf.max(pair.a & !NEGATIVE).max(pair.b & !NEGATIVE);
            place = place.max(pair.to);
        }
        for pair in &batch.inner {
            place = place.max(pair.a).max(pair.b).max(pair.to);
        }
        let no_leaves = batch.singles.is_empty() && batch.leaves.is_empty();
        assert!(
            no_leaves || (leaf as usize) < leaves.len(),
            "leaf out of range"
        );
        assert!((place as usize) < arena.len(), "place out of range");
        Operands {
            leaves: leaves.as_ptr(),
            arena: arena.as_mut_ptr(),
        }
    }

    /// Address of an operand.
    #[inline(always)]
    fn operand<const LEAF: bool>(&self, at: u32) -> *const Point<D> {
        if LEAF {
            self.leaves.wrapping_add((at & !NEGATIVE) as usize)
        } else {
            self.arena.cast_const().wrapping_add(at as usize)
        }
    }

    /// Where the sums of eight pairs go.
    #[inline(always)]
    pub(super) fn sums(&self, pairs: &[Pair]) -> [*mut Point<D>; 8] {
        std::array::from_fn(|lane| self.arena.wrapping_add(pairs[lane].to as usize))
    }
}

/// Lanes whose operand is to be negated.
pub(super) fn signs(pairs: &[Pair], side: Side) -> __mmask8 {
    pairs.iter().enumerate().fold(0, |signs, (lane, pair)| {
        signs | ((side.of(pair) >> 31) as u8) << lane
    })
}

simd! {
/// Eight operands' x (COORDINATE = 0) or y (1).
fn coordinate<const D: usize, const LEAF: bool, const COORDINATE: usize>(
    from: &Operands<D>,
    pairs: &[Pair],
    side: Side,
) -> Ext<D> {
    let mut elements = [[_mm512_setzero_si512(); 8]; D];
    for i in 0..D {
        let mut rows = [_mm512_setzero_si512(); 8];
        for lane in 0..8 {
            let point = from.operand::<LEAF>(side.of(&pairs[lane]));
            // SAFETY: the operand is in range.
            rows[lane] = unsafe {
                let limbs: *const Limbs<D> = if COORDINATE == 0 { &raw const (*point).x } else { &raw const (*point).y };
                _mm512_load_si512(limbs.cast::<[u64; 8]>().add(i).cast())
            };
        }
        elements[i] = transpose(&rows);
    }
    elements
}

/// x of eight operands, normalised.
pub(super) fn load_x<const D: usize, const LEAF: bool>(from: &Operands<D>, pairs: &[Pair], side: Side) -> Ext<D> {
    coordinate::<D, LEAF, 0>(from, pairs, side)
}

/// y of eight operands with the sign applied: limbs may be negative.
pub(super) fn load_y<const D: usize, const LEAF: bool>(from: &Operands<D>, pairs: &[Pair], side: Side) -> Ext<D> {
    let mut y = coordinate::<D, LEAF, 1>(from, pairs, side);
    if LEAF {
        let negative = signs(pairs, side);
        for i in 0..D { y[i] = negate_where(negative, &y[i]); }
    }
    y
}

/// Stores eight points, normalised.
///
/// # Safety
/// The places are valid and the caller's.
pub(super) unsafe fn store<const D: usize>(places: &[*mut Point<D>; 8], x: &Ext<D>, y: &Ext<D>) {
    for i in 0..D {
        let (xs, ys) = (transpose(&x[i]), transpose(&y[i]));
        for lane in 0..8 {
            // SAFETY: the caller's promise.
            unsafe {
                _mm512_store_si512((&raw mut (*places[lane]).x[i]).cast(), xs[lane]);
                _mm512_store_si512((&raw mut (*places[lane]).y[i]).cast(), ys[lane]);
            }
        }
    }
}

/// Asks for the operands of eight pairs: their x, or all of them.
pub(super) fn prefetch<const D: usize, const LEAF: bool, const Y: bool>(from: &Operands<D>, pairs: &[Pair]) {
    for pair in pairs {
        for operand in [pair.a, pair.b] {
            let start = from.operand::<LEAF>(operand).cast::<i8>();
            for line in 0..if Y { 2 * D } else { D } {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(64 * line));
            }
        }
    }
}
}
