//! Encoded points into the lanes' form.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use super::super::kernel::{Leaf, NEGATIVE};
use super::Point;
use super::load::store;
use crate::field::fp8::{Ext, limbs_of_words, shift_down_208};
use crate::field::lanes::*;
use core::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Positions that are asked for ahead of the eight at work.
const AHEAD: usize = 32;

simd! {
/// Imports `encodings[positions[i]]` into `to[i]`, whatever the sign.
///
/// # Panics
/// When lengths differ or a position is out of range.
pub(super) fn import<const D: usize, E>(encodings: &[E], positions: &[Leaf], to: &mut [MaybeUninit<Point<D>>]) {
    assert_eq!(size_of::<E>(), 96 * D);
    assert_eq!(positions.len(), to.len(), "a place a position");
    let last = positions.iter().fold(0, |last, position| last.max(position & !NEGATIVE));
    assert!(positions.is_empty() || (last as usize) < encodings.len(), "position out of range");
    let address = |position: Leaf| encodings.as_ptr().wrapping_add((position & !NEGATIVE) as usize).cast::<u8>();
    for (first, to) in to.chunks_mut(8).enumerate() {
        let first = 8 * first;
        for later in positions.iter().skip(first + AHEAD).take(8) {
            prefetch::<D>(address(*later));
        }
        let (mut from, mut places) = ([address(0); 8], [to[0].as_mut_ptr(); 8]);
        for lane in 0..8 {
            // The last one again and again to fill the vector.
            let lane_or_last = lane.min(to.len() - 1);
            from[lane] = address(positions[first + lane_or_last]);
            places[lane] = to[lane_or_last].as_mut_ptr();
        }
        // SAFETY: the positions are in range, and the places are the caller's.
        unsafe {
            let x = coordinate::<D, 0>(&from);
            let mut y = coordinate::<D, 1>(&from);
            for i in 0..D { y[i] = shift_down_208(&y[i]); }
            store(&places, &x, &y);
        }
    }
}

/// Eight encodings' x (COORDINATE = 0) or y (1).
///
/// # Safety
/// The addresses are those of encoded points.
unsafe fn coordinate<const D: usize, const COORDINATE: usize>(from: &[*const u8; 8]) -> Ext<D> {
    let mut elements = [[_mm512_setzero_si512(); 8]; D];
    for i in 0..D {
        // Encodings have the highest coefficient first.
        let offset = 48 * (COORDINATE * D + D - 1 - i);
        let mut rows = [_mm512_setzero_si512(); 8];
        for lane in 0..8 {
            // SAFETY: within the encoding; the mask leaves out what is beyond 48 bytes.
            rows[lane] = unsafe { _mm512_maskz_loadu_epi64(0x3f, from[lane].add(offset).cast()) };
        }
        elements[i] = limbs_of_encoding(&transpose(&rows));
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

/// Asks for all of an encoding, which may begin in the middle of a line: its last byte is in the last line asked for.
fn prefetch<const D: usize>(encoding: *const u8) {
    for line in 0..2 * D {
        let offset = (64 * line).min(96 * D - 1);
        _mm_prefetch::<_MM_HINT_T0>(encoding.wrapping_add(offset).cast());
    }
    _mm_prefetch::<_MM_HINT_T0>(encoding.wrapping_add(96 * D - 1).cast());
}
}
