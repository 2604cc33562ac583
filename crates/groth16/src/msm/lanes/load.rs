//! Operands into lanes and sums out of them.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use super::super::group::Group;
use super::super::kernel::{Batch, NEGATIVE, Pair};
use super::Point;
use crate::field::fp8::{Ext, limbs_of_words, shift_down_208};
use crate::field::lanes::*;
use core::arch::x86_64::*;

/// Where a batch's operands and sums lie. All of the batch's indices have been checked.
pub(super) struct Operands<const D: usize> {
    encodings: *const u8,
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
    pub(super) fn new<G: Group>(
        encodings: &[G::Encoding],
        arena: &mut [Point<D>],
        batch: &Batch,
    ) -> Self {
        assert_eq!(size_of::<G::Encoding>(), 96 * D);
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
            no_leaves || (leaf as usize) < encodings.len(),
            "leaf out of range"
        );
        assert!((place as usize) < arena.len(), "place out of range");
        Operands {
            encodings: encodings.as_ptr().cast(),
            arena: arena.as_mut_ptr(),
        }
    }

    /// Address of a leaf's encoding.
    #[inline(always)]
    fn leaf(&self, leaf: u32) -> *const u8 {
        self.encodings
            .wrapping_add((leaf & !NEGATIVE) as usize * 96 * D)
    }

    #[inline(always)]
    fn place(&self, at: u32) -> *mut Point<D> {
        self.arena.wrapping_add(at as usize)
    }
}

/// Lanes whose operand is to be negated.
pub(super) fn signs(pairs: &[Pair], side: Side) -> __mmask8 {
    pairs.iter().enumerate().fold(0, |signs, (lane, pair)| {
        signs | ((side.of(pair) >> 31) as u8) << lane
    })
}

simd! {
/// Eight operands' x (COORDINATE = 0) or y (1): as they are in the arena; out of encodings, converted.
fn coordinate<const D: usize, const LEAF: bool, const COORDINATE: usize>(
    from: &Operands<D>,
    pairs: &[Pair],
    side: Side,
) -> Ext<D> {
    let mut elements = [[_mm512_setzero_si512(); 8]; D];
    for i in 0..D {
        // Encodings have the highest coefficient first.
        let offset = if LEAF { 48 * (COORDINATE * D + D - 1 - i) } else { 64 * (COORDINATE * D + i) };
        let mut rows = [_mm512_setzero_si512(); 8];
        for lane in 0..8 {
            let operand = side.of(&pairs[lane]);
            // SAFETY: the operand is in range and the offset within it; the mask leaves out what is beyond 48 bytes.
            rows[lane] = unsafe {
                if LEAF {
                    _mm512_maskz_loadu_epi64(0x3f, from.leaf(operand).add(offset).cast())
                } else {
                    _mm512_load_si512(from.place(operand).cast::<u8>().add(offset).cast())
                }
            };
        }
        let columns = transpose(&rows);
        elements[i] = if LEAF { limbs_of_encoding(&columns) } else { columns };
    }
    elements
}

/// Limbs of big-endian words, highest first, without the flag bits.
fn limbs_of_encoding(columns: &[V; 8]) -> [V; 8] {
    let swap = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    let mut words = [_mm512_setzero_si512(); 6];
    for i in 0..6 {
        words[i] = _mm512_shuffle_epi8(columns[5 - i], swap);
    }
    words[5] = _mm512_and_si512(words[5], splat(u64::MAX >> 3));
    limbs_of_words(&words)
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
        for i in 0..D { y[i] = negate_where(negative, &shift_down_208(&y[i])); }
    }
    y
}

/// Stores eight sums, normalised.
pub(super) fn store<const D: usize>(to: &Operands<D>, pairs: &[Pair], x: &Ext<D>, y: &Ext<D>) {
    for i in 0..D {
        let (xs, ys) = (transpose(&x[i]), transpose(&y[i]));
        for lane in 0..8 {
            let place = to.place(pairs[lane].to);
            // SAFETY: in range, and borrowed for the batch.
            unsafe {
                _mm512_store_si512((&raw mut (*place).x[i]).cast(), xs[lane]);
                _mm512_store_si512((&raw mut (*place).y[i]).cast(), ys[lane]);
            }
        }
    }
}

/// Asks for the operands of eight pairs.
pub(super) fn prefetch<const D: usize, const LEAF: bool>(from: &Operands<D>, pairs: &[Pair]) {
    for pair in pairs {
        for operand in [pair.a, pair.b] {
            let (start, size) = if LEAF { (from.leaf(operand), 96 * D) } else { (from.place(operand).cast_const().cast(), 128 * D) };
            for line in 0..2 * D {
                // A leaf may begin in the middle of a line: its last byte is in the last line asked for.
                let offset = if line + 1 == 2 * D { size - 1 } else { 64 * line };
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset).cast());
            }
        }
    }
}
}
