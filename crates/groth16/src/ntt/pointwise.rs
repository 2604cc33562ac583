//! Products and sums element by element, in eight lanes.
#![allow(
    clippy::needless_range_loop,
    reason = "indexed loops of constant length are unrolled into registers"
)]

use super::kernel::LANES;
use crate::field::fr8::*;
use crate::field::lanes::*;
use blstrs::Scalar;
use core::arch::x86_64::*;

simd! {
/// # Safety
/// Eight scalars are there to be read.
unsafe fn load(from: *const Scalar) -> Fr8 {
    let mut pairs = [_mm512_setzero_si512(); 4];
    for i in 0..4 {
        // SAFETY: a scalar is 32 bytes, and there are eight.
        pairs[i] = unsafe { _mm512_loadu_si512(from.add(2 * i).cast()) };
    }
    from_pairs(&pairs)
}

/// # Safety
/// There is room for eight scalars.
unsafe fn store(to: *mut Scalar, canonical: &Fr8) {
    let pairs = to_pairs(canonical);
    for i in 0..4 {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(to.add(2 * i).cast(), pairs[i]) };
    }
}

/// Writes `a[i] b[i]` to `out[i]` for whole vectors; says how many elements that were.
///
/// # Safety
/// All are `count` scalars, `out` to be written; it may be `a`, but may not overlap otherwise.
pub(super) unsafe fn products(a: *const Scalar, b: *const Scalar, out: *mut Scalar, count: usize) -> usize {
    let whole = count - count % LANES;
    for i in (0..whole).step_by(LANES) {
        // SAFETY: in range.
        let (a, b) = unsafe { (load(a.add(i)), load(b.add(i))) };
        // A factor is 2^4 further from blst's form. Below 16 r: the product comes out below r (1 + 16 / 34).
        let mut factor = b;
        for limb in 0..5 { factor[limb] = _mm512_slli_epi64(b[limb], 4); }
        let product = mul(&a, &normalise(&factor));
        // SAFETY: as above.
        unsafe { store(out.add(i), &subtract_if_not_below(&product, &MODULUS)) };
    }
    whole
}

/// a[i] becomes `x a[i] + y c[i]` for whole vectors; says how many elements that were.
pub(super) fn combine(a: &mut [Scalar], x: &Factor, c: &[Scalar], y: &Factor) -> usize {
    assert_eq!(a.len(), c.len());
    let whole = a.len() - a.len() % LANES;
    let (x, y) = (splat_limbs(&x.0), splat_limbs(&y.0));
    for i in (0..whole).step_by(LANES) {
        let place = a[i..i + LANES].as_mut_ptr();
        // SAFETY: eight scalars each.
        let (a, c) = unsafe { (load(place), load(c[i..i + LANES].as_ptr())) };
        // Each product is below r (1 + 1 / 34), their sum below 3 r.
        let sum = normalise(&add(&mul_raw(&a, &x), &mul_raw(&c, &y)));
        let sum = subtract_if_not_below(&sum, &MODULUS);
        // SAFETY: as above.
        unsafe { store(place, &subtract_if_not_below(&sum, &MODULUS)) };
    }
    whole
}
}
