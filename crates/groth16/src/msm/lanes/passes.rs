//! The two passes of a batch: denominators forward, sums backward.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use super::super::group::Group;
use super::super::kernel::{Ahead, Batch, Pair, Single};
use super::load::*;
use super::{Lanes, Point, STEP};
use crate::field::fp8::*;
use crate::field::lanes::*;
use blst::{blst_fp, blst_fp_inverse, blst_fp_mul};
use core::arch::x86_64::*;

/// What became of a vector's lanes.
#[derive(Clone, Copy, Default)]
pub(super) struct Cases {
    /// Equal operands: a doubling.
    double: __mmask8,
    /// The sum is infinity.
    infinite: __mmask8,
    /// Operand a is infinity.
    a: __mmask8,
    b: __mmask8,
}

impl Cases {
    fn any(self) -> bool {
        self.double | self.infinite | self.a | self.b != 0
    }
}

/// Parts of a step of the backward pass between which memory is asked for.
const SHARES: usize = 6;

/// Intermediate values of a step, kept: fresh arrays would be cleared and copied by calls.
pub(super) struct Work<const D: usize> {
    /// Inverses of the two running products so far.
    inverse: [Ext<D>; 2],
    x1: [Ext<D>; 2],
    y1: [Ext<D>; 2],
    x2: [Ext<D>; 2],
    y2: [Ext<D>; 2],
    numerator: [Ext<D>; 2],
    /// x1 + x2 + 4 p
    sum: [Ext<D>; 2],
    slope: [Ext<D>; 2],
    x3: [Ext<D>; 2],
    y3: [Ext<D>; 2],
    /// x1 - x3
    run: [Ext<D>; 2],
    /// Inverse of the denominator.
    own: [Ext<D>; 2],
}

impl<const D: usize> Default for Work<D> {
    fn default() -> Self {
        // SAFETY: vectors of integers, which may have any bits.
        unsafe { std::mem::zeroed() }
    }
}

const ONE: [u64; 8] = fp8_power_of_two(416);

simd! {
fn splat_one<const D: usize>() -> Ext<D> {
    let mut one = [[_mm512_setzero_si512(); 8]; D];
    one[0] = splat_limbs(&ONE);
    one
}

/// a + k p - b
fn difference<const D: usize>(a: &Ext<D>, b: &Ext<D>, k: &[u64; 8]) -> Ext<D> {
    let mut out = *a;
    for i in 0..D { out[i] = normalise(&add_constant(&sub(&a[i], &b[i]), k)); }
    out
}

fn select_ext<const D: usize>(lanes: __mmask8, no: &Ext<D>, yes: &Ext<D>) -> Ext<D> {
    let mut out = *no;
    for i in 0..D { out[i] = select(lanes, &no[i], &yes[i]); }
    out
}

/// Lanes whose limbs are all zero, as infinity's coordinates are.
fn all_zero<const D: usize>(a: &Ext<D>) -> __mmask8 {
    let mut lanes = 0xff;
    for i in 0..D { lanes &= zero_lanes(&a[i]); }
    lanes
}

/// Lanes that are zero modulo p, for normalised values below 16 p.
fn congruent_to_zero<const D: usize>(a: &Ext<D>) -> __mmask8 {
    let mut lanes = 0xff;
    for i in 0..D { lanes &= zero_lanes(&canonical(&a[i])); }
    lanes
}

fn put<const D: usize>(to: &mut Ext<D>, value: &Ext<D>) {
    for i in 0..D { for j in 0..8 { to[i][j] = value[i][j]; } }
}

/// Classifies eight pairs; the denominators of the special ones are replaced in `denominators`.
fn classify<const D: usize, const LEAF: bool>(from: &Operands<D>, pairs: &[Pair], denominators: &mut Ext<D>) -> Cases {
    let (y1, y2) = (load_y::<D, LEAF>(from, pairs, Side::A), load_y::<D, LEAF>(from, pairs, Side::B));
    let (a, b) = (all_zero(&y1), all_zero(&y2));
    let equal_x = congruent_to_zero(denominators) & !a & !b;
    let equal_y = congruent_to_zero(&difference(&y2, &y1, &const { multiple(5) }));
    let cases = Cases { double: equal_x & equal_y, infinite: equal_x & !equal_y | a & b, a, b };
    if cases.any() {
        let mut twice = y1;
        for i in 0..D { twice[i] = normalise(&add_constant(&add(&y1[i], &y1[i]), &const { multiple(5) })); }
        let denominator = select_ext(cases.double, denominators, &twice);
        let denominator = select_ext(cases.infinite | a | b, &denominator, &splat_one());
        put(denominators, &denominator);
    }
    cases
}

/// Lane-wise inverse of normalised values, none zero.
fn invert<const D: usize>(a: &Ext<D>) -> Ext<D> {
    let mut inverse = [[_mm512_setzero_si512(); 8]; D];
    if D == 1 {
        inverse[0] = invert_base(&a[0]);
    } else {
        // (a0 + a1 i)^-1 = (a0 - a1 i) / (a0^2 + a1^2)
        let mut squares: Ext<2> = [[_mm512_setzero_si512(); 8]; 2];
        mul(&mut squares[0], &a[0], &a[0]);
        mul(&mut squares[1], &a[D - 1], &a[D - 1]);
        let norm = invert_base(&normalise(&add(&squares[0], &squares[1])));
        let minus = normalise(&sub(&splat_limbs(&const { multiple(4) }), &a[D - 1]));
        mul(&mut inverse[0], &a[0], &norm);
        mul(&mut inverse[D - 1], &minus, &norm);
    }
    inverse
}

/// Lane-wise inverse by blst and Montgomery's trick over the lanes.
fn invert_base(a: &Fp8) -> Fp8 {
    let rows = transpose(&canonical(a));
    let mut elements = [blst_fp::default(); 8];
    for lane in 0..8 {
        let mut limbs = [0u64; 8];
        // SAFETY: 64 bytes.
        unsafe { _mm512_storeu_si512(limbs.as_mut_ptr().cast(), rows[lane]) };
        elements[lane].l = super::words(&limbs);
    }
    let inverses = invert_all(&elements);
    let mut words = [_mm512_setzero_si512(); 6];
    for i in 0..6 {
        let mut column = [0u64; 8];
        for lane in 0..8 { column[lane] = inverses[lane].l[i]; }
        // SAFETY: 64 bytes.
        words[i] = unsafe { _mm512_loadu_si512(column.as_ptr().cast()) };
    }
    // blst inverts with respect to 2^384, so that 2^64 is missing; a product takes away 2^416.
    let mut out = [_mm512_setzero_si512(); 8];
    mul(&mut out, &limbs_of_words(&words), &splat_limbs(&const { fp8_power_of_two(480) }));
    out
}
}

fn invert_all(elements: &[blst_fp; 8]) -> [blst_fp; 8] {
    let product = |a: &blst_fp, b: &blst_fp| {
        let mut out = blst_fp::default();
        // SAFETY: blst on values that live through the call.
        unsafe { blst_fp_mul(&mut out, a, b) };
        out
    };
    let mut products = *elements;
    for i in 1..8 {
        products[i] = product(&products[i - 1], &elements[i]);
    }
    let (mut inverse, mut inverses) = (blst_fp::default(), *elements);
    // SAFETY: as above.
    unsafe { blst_fp_inverse(&mut inverse, &products[7]) };
    for i in (1..8).rev() {
        inverses[i] = product(&inverse, &products[i - 1]);
        inverse = product(&inverse, &elements[i]);
    }
    inverses[0] = inverse;
    inverses
}

impl<G: Group, const D: usize> Lanes<G, D> {
    simd! {
    /// A whole batch; pairs are padded to whole steps.
    pub(super) fn run_lanes(&mut self, from: &Operands<D>, batch: &Batch, ahead: &mut Ahead<'_, Point<D>>) {
        take_over(from, &batch.singles);
        let vectors = (batch.leaves.len() + batch.inner.len()) / 8;
        if vectors == 0 {
            return;
        }
        if self.denominators.len() < vectors {
            let zero = [[_mm512_setzero_si512(); 8]; D];
            self.denominators.resize(vectors, zero);
            self.before.resize(vectors + 2, zero);
            self.cases.resize(vectors, Cases::default());
        }
        if self.careful || !self.attempt::<false>(from, batch, ahead) {
            let done = self.attempt::<true>(from, batch, ahead);
            assert!(done, "the careful pass leaves no denominator zero");
            self.careful = self.cases[..vectors].iter().any(|cases| cases.any());
        }
    }

    /// Both passes. The fast one gives up, having stored nothing, when there are special cases.
    fn attempt<const CAREFUL: bool>(
        &mut self,
        from: &Operands<D>,
        batch: &Batch,
        ahead: &mut Ahead<'_, Point<D>>,
    ) -> bool {
        let first_inner = batch.leaves.len() / 8;
        let vectors = first_inner + batch.inner.len() / 8;
        let one = splat_one();
        put(&mut self.before[0], &one);
        put(&mut self.before[1], &one);
        let mut infinite = self.forward::<true, CAREFUL>(from, &batch.leaves, 0);
        infinite |= self.forward::<false, CAREFUL>(from, &batch.inner, first_inner);
        if !CAREFUL && infinite != 0 {
            return false;
        }
        let ends = [self.before[vectors], self.before[vectors + 1]];
        let mut product = one;
        ext_mul(&mut product, &ends[0], &ends[1]);
        if congruent_to_zero(&product) != 0 {
            return false;
        }
        let inverse = invert(&product);
        ext_mul(&mut self.work.inverse[0], &inverse, &ends[1]);
        ext_mul(&mut self.work.inverse[1], &inverse, &ends[0]);
        // Few at a time: a prefetch that misses the TLB holds up what follows when too many do at once.
        let share = ahead.len().div_ceil(vectors / 2 * SHARES);
        self.backward::<false, CAREFUL>(from, &batch.inner, first_inner, ahead, share);
        self.backward::<true, CAREFUL>(from, &batch.leaves, 0, ahead, share);
        true
    }

    /// Denominators and their running products; says in which lanes an operand may be infinity.
    fn forward<const LEAF: bool, const CAREFUL: bool>(&mut self, from: &Operands<D>, pairs: &[Pair], first: usize) -> __mmask8 {
        let mut infinite = 0;
        for (step, pairs16) in pairs.chunks_exact(STEP).enumerate() {
            for g in 0..2 {
                let vector = first + 2 * step + g;
                if let Some(later) = pairs.get(STEP * step + 8 * g + 32..STEP * step + 8 * g + 40) {
                    prefetch::<D, LEAF, false>(from, later);
                }
                let pairs = &pairs16[8 * g..8 * g + 8];
                let (x1, x2) = (load_x::<D, LEAF>(from, pairs, Side::A), load_x::<D, LEAF>(from, pairs, Side::B));
                put(&mut self.denominators[vector], &difference(&x2, &x1, &const { multiple(4) }));
                if CAREFUL {
                    self.cases[vector] = classify::<D, LEAF>(from, pairs, &mut self.denominators[vector]);
                } else {
                    infinite |= all_zero(&x1) | all_zero(&x2);
                }
            }
            for g in 0..2 {
                let vector = first + 2 * step + g;
                let (done, ahead) = self.before.split_at_mut(vector + 2);
                ext_mul(&mut ahead[0], &done[vector], &self.denominators[vector]);
            }
        }
        infinite
    }

    /// The sums, last first.
    fn backward<const LEAF: bool, const CAREFUL: bool>(
        &mut self,
        from: &Operands<D>,
        pairs: &[Pair],
        first: usize,
        ahead: &mut Ahead<'_, Point<D>>,
        share: usize,
    ) {
        for (step, pairs16) in pairs.chunks_exact(STEP).enumerate().rev() {
            if step > 0 {
                prefetch::<D, LEAF, true>(from, &pairs[STEP * (step - 1)..STEP * step]);
            }
            let vector = first + 2 * step;
            let w = &mut *self.work;
            for g in 0..2 {
                ahead.advance(share);
                let pairs = &pairs16[8 * g..8 * g + 8];
                let denominator = &self.denominators[vector + g];
                // Ahead of the loads, which then run in its shadow.
                ext_mul(&mut w.own[g], &w.inverse[g], &self.before[vector + g]);
                let (y1, y2) = (load_y::<D, LEAF>(from, pairs, Side::A), load_y::<D, LEAF>(from, pairs, Side::B));
                put(&mut w.y1[g], &y1);
                put(&mut w.numerator[g], &difference(&y2, &y1, &const { multiple(5) }));
                let x1 = load_x::<D, LEAF>(from, pairs, Side::A);
                put(&mut w.x1[g], &x1);
                for i in 0..D {
                    // 2 x1 + (x2 - x1 + 4 p)
                    w.sum[g][i] = add(&add(&x1[i], &x1[i]), &denominator[i]);
                }
                if CAREFUL {
                    put(&mut w.y2[g], &y2);
                    let x2 = load_x::<D, LEAF>(from, pairs, Side::B);
                    put(&mut w.x2[g], &x2);
                    let mut square = x1;
                    ext_square_raw(&mut square, &x1);
                    for i in 0..D {
                        w.sum[g][i] = add_constant(&add(&x1[i], &x2[i]), &const { multiple(4) });
                        let three = normalise(&add(&add(&square[i], &square[i]), &square[i]));
                        w.numerator[g][i] = select(self.cases[vector + g].double, &w.numerator[g][i], &three);
                    }
                }
            }
            for g in 0..2 {
                let last = w.inverse[g];
                ext_mul(&mut w.inverse[g], &last, &self.denominators[vector + g]);
            }
            for g in 0..2 {
                ahead.advance(share);
                ext_mul(&mut w.slope[g], &w.own[g], &w.numerator[g]);
            }
            for g in 0..2 { ext_square_raw(&mut w.x3[g], &w.slope[g]); }
            for g in 0..2 {
                for i in 0..D {
                    // Below p + 9 p - (x1 + x2 + 4 p), above 9 p - 8.002 p.
                    w.x3[g][i] = loosen(&sub(&add_constant(&w.x3[g][i], &const { multiple(9) }), &w.sum[g][i]));
                    w.run[g][i] = normalise(&add_constant(&sub(&w.x1[g][i], &w.x3[g][i]), &const { multiple(3) }));
                }
            }
            for g in 0..2 {
                ahead.advance(share);
                ext_mul_raw(&mut w.y3[g], &w.slope[g], &w.run[g]);
            }
            for g in 0..2 {
                let pairs = &pairs16[8 * g..8 * g + 8];
                for i in 0..D {
                    w.y3[g][i] = loosen(&sub(&add_constant(&w.y3[g][i], &const { multiple(3) }), &w.y1[g][i]));
                }
                if CAREFUL && self.cases[vector + g].any() {
                    replace_special(w, g, self.cases[vector + g], signs_of::<LEAF>(pairs));
                }
                // SAFETY: in range, and borrowed for the batch.
                unsafe { store(&from.sums(pairs), &w.x3[g], &w.y3[g]) };
            }
        }
    }
    }
}

simd! {
fn signs_of<const LEAF: bool>(pairs: &[Pair]) -> [__mmask8; 2] {
    if LEAF { [signs(pairs, Side::A), signs(pairs, Side::B)] } else { [0, 0] }
}

/// y with the sign applied, made loose again; zero stays zero.
fn loose_y<const D: usize>(y: &Ext<D>, negative: __mmask8) -> Ext<D> {
    let lanes = negative & !all_zero(y);
    let mut loose = *y;
    for i in 0..D {
        let up = add_constant(&y[i], &const { multiple(3) });
        loose[i] = select(lanes, &y[i], &loosen(&up));
    }
    loose
}

/// The sums of the lanes with an infinite operand or sum.
fn replace_special<const D: usize>(w: &mut Work<D>, g: usize, cases: Cases, signs: [__mmask8; 2]) {
    let (y1, y2) = (loose_y(&w.y1[g], signs[0]), loose_y(&w.y2[g], signs[1]));
    let zero = [[_mm512_setzero_si512(); 8]; D];
    for (sum, a, b) in [(&mut w.x3[g], &w.x1[g], &w.x2[g]), (&mut w.y3[g], &y1, &y2)] {
        let chosen = select_ext(cases.b, sum, a);
        let chosen = select_ext(cases.a, &chosen, b);
        put(sum, &select_ext(cases.infinite, &chosen, &zero));
    }
}

/// Decodes leaves that are alone.
fn take_over<const D: usize>(from: &Operands<D>, singles: &[Single]) {
    for singles in singles.chunks(8) {
        let mut pairs = [Pair { a: 0, b: 0, to: 0 }; 8];
        for lane in 0..8 {
            // The last one again and again to fill the vector.
            let Single { leaf, to } = singles[lane.min(singles.len() - 1)];
            pairs[lane] = Pair { a: leaf, b: leaf, to };
        }
        let x = load_x::<D, true>(from, &pairs, Side::A);
        let y = load_y::<D, true>(from, &pairs, Side::A);
        // SAFETY: as above.
        unsafe { store(&from.sums(&pairs), &x, &loose_y(&y, signs(&pairs, Side::A))) };
    }
}
}
