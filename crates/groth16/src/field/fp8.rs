//! The base field of BLS12-381, eight lanes, and its quadratic extension.
//!
//! Eight limbs, Montgomery's radix 2^416. p has 381 bits, which leaves 35: a product of operands below 16 p comes out
//! below p (1 + 2^-26) and needs no final subtraction. Values that are kept are "loose": below 2.001 p.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use super::constants::{P, power_of_two};
use super::lanes::*;
use core::arch::x86_64::*;

/// Eight elements of the base field.
pub(crate) type Fp8 = [V; 8];

const MODULUS: [u64; 8] = to_limbs(P);
const NEGATIVE_INVERSE: u64 = negative_inverse(P[0]);

/// k p.
pub(crate) const fn multiple(k: u64) -> [u64; 8] {
    times(MODULUS, k)
}

/// 2^exponent modulo p.
pub(crate) const fn fp8_power_of_two(exponent: u32) -> [u64; 8] {
    to_limbs(power_of_two(P, exponent))
}

/// What carries may add to or take from the top limb of sums of a few products and loose values.
const MARGIN: u64 = 16;

/// Column $k of a square onto t[$k]: every two limbs' product once, doubled, and the middle one's square.
macro_rules! square_column {
    ($t:ident, $a:ident, $k:expr) => {{
        let (mut low, mut high) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for i in 0..8 {
            for j in i + 1..8 {
                if i + j == $k {
                    low = _mm512_madd52lo_epu64(low, $a[i], $a[j]);
                }
                if i + j + 1 == $k {
                    high = _mm512_madd52hi_epu64(high, $a[i], $a[j]);
                }
            }
        }
        let once = _mm512_add_epi64(low, high);
        let twice = _mm512_add_epi64(once, once);
        let middle = $a[($k / 2) & 7];
        let all = if $k % 2 == 0 {
            _mm512_madd52lo_epu64(twice, middle, middle)
        } else {
            _mm512_madd52hi_epu64(twice, middle, middle)
        };
        $t[$k] = _mm512_add_epi64($t[$k], all);
    }};
}

simd! {
fn upper(t: &[V; 18]) -> Fp8 {
    [t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15]]
}

/// Subtracts multiples of p from a value below 8 p, limbs not normalised, until it is loose; normalises.
pub(crate) fn loosen(a: &Fp8) -> Fp8 {
    let a = subtract_if_surely_above(a, &const { multiple(4) }, MARGIN);
    normalise(&subtract_if_surely_above(&a, &const { multiple(2) }, MARGIN))
}

/// The representative below p of a normalised value below 16 p.
pub(crate) fn canonical(a: &Fp8) -> Fp8 {
    let mut a = *a;
    a = subtract_if_not_below(&a, &const { multiple(8) });
    a = subtract_if_not_below(&a, &const { multiple(4) });
    a = subtract_if_not_below(&a, &const { multiple(2) });
    subtract_if_not_below(&a, &MODULUS)
}

/// Limbs of six 64-bit words a lane.
pub(crate) fn limbs_of_words(words: &[V; 6]) -> Fp8 {
    let mut limbs = [_mm512_setzero_si512(); 8];
    each!(I in [0 1 2 3 4 5 6 7] {
        const WORD: usize = I * 52 / 64;
        const SHIFT: u32 = (I * 52 % 64) as u32;
        let mut limb = _mm512_srli_epi64(words[WORD], SHIFT);
        if SHIFT + 52 > 64 && WORD < 5 {
            limb = _mm512_or_si512(limb, _mm512_slli_epi64(words[(WORD + 1) % 6], 64 - SHIFT));
        }
        limbs[I] = _mm512_and_si512(limb, splat(MASK));
    });
    limbs
}
}

simd_outlined! {
fn product<const NORMALISE: bool>(out: *mut Fp8, a: *const Fp8, b: *const Fp8) {
    // SAFETY: the wrappers below pass valid references; `out` is written when the operands are read.
    unsafe {
        let (a, b) = (&*a, &*b);
        let mut t = [_mm512_setzero_si512(); 18];
        product_row!(t, 0, 8, a, b);
        each!(I in [0 1 2 3 4 5 6 7] {
            reduction_row!(t, I, 8, MODULUS, NEGATIVE_INVERSE, {
                if I < 7 {
                    product_row!(t, (I + 1) & 7, 8, a, b);
                }
            });
        });
        let r = if NORMALISE { normalise(&upper(&t)) } else { upper(&t) };
        for i in 0..8 { (*out)[i] = r[i]; }
    }
}

fn product_sum(out: &mut Fp8, a: &Fp8, b: &Fp8, c: &Fp8, d: &Fp8) {
    let mut t = [_mm512_setzero_si512(); 18];
    product_row!(t, 0, 8, a, b);
    product_row!(t, 0, 8, c, d);
    each!(I in [0 1 2 3 4 5 6 7] {
        reduction_row!(t, I, 8, MODULUS, NEGATIVE_INVERSE, {
            if I < 7 {
                product_row!(t, (I + 1) & 7, 8, a, b);
                product_row!(t, (I + 1) & 7, 8, c, d);
            }
        });
    });
    let r = upper(&t);
    for i in 0..8 { out[i] = r[i]; }
}

fn square(out: &mut Fp8, a: &Fp8) {
    let mut t = [_mm512_setzero_si512(); 18];
    square_column!(t, a, 0);
    square_column!(t, a, 1);
    each!(I in [0 1 2 3 4 5 6 7] {
        reduction_row!(t, I, 8, MODULUS, NEGATIVE_INVERSE, {
            if I < 7 {
                square_column!(t, a, 2 * I + 2);
                square_column!(t, a, 2 * I + 3);
            }
        });
    });
    let r = upper(&t);
    for i in 0..8 { out[i] = r[i]; }
}
}

simd! {
/// `a / 2^208` for a normalised value below p, normalised: half a reduction.
pub(crate) fn shift_down_208(a: &Fp8) -> Fp8 {
    let mut t = [_mm512_setzero_si512(); 13];
    for i in 0..8 { t[i] = a[i]; }
    each!(I in [0 1 2 3] {
        reduction_row!(t, I, 8, MODULUS, NEGATIVE_INVERSE, {});
    });
    normalise(&[t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11]])
}

/// out = a b, normalised.
pub(crate) fn mul(out: &mut Fp8, a: &Fp8, b: &Fp8) {
    product::<true>(out, a, b);
}
}

/// Elements of the base field (D = 1) or of its extension by a square root of -1 (D = 2).
pub(crate) type Ext<const D: usize> = [Fp8; D];

simd! {
/// out = a b for a below 4 p and b below 16 p, limbs not normalised, below p (1 + 2^-20).
pub(crate) fn ext_mul_raw<const D: usize>(out: &mut Ext<D>, a: &Ext<D>, b: &Ext<D>) {
    if D == 1 {
        product::<false>(&mut out[0], &a[0], &b[0]);
    } else {
        let minus = normalise(&sub(&splat_limbs(&const { multiple(4) }), &a[D - 1]));
        product_sum(&mut out[0], &a[0], &b[0], &minus, &b[D - 1]);
        product_sum(&mut out[D - 1], &a[0], &b[D - 1], &a[D - 1], &b[0]);
    }
}

/// The same, normalised.
pub(crate) fn ext_mul<const D: usize>(out: &mut Ext<D>, a: &Ext<D>, b: &Ext<D>) {
    if D == 1 {
        product::<true>(&mut out[0], &a[0], &b[0]);
    } else {
        ext_mul_raw(out, a, b);
        for i in 0..D { out[i] = normalise(&out[i]); }
    }
}

/// out = a^2 for an operand below 4 p, limbs not normalised, below p (1 + 2^-20).
pub(crate) fn ext_square_raw<const D: usize>(out: &mut Ext<D>, a: &Ext<D>) {
    if D == 1 {
        square(&mut out[0], &a[0]);
    } else {
        let sum = normalise(&add(&a[0], &a[D - 1]));
        let difference = normalise(&add_constant(&sub(&a[0], &a[D - 1]), &const { multiple(4) }));
        let twice = normalise(&add(&a[0], &a[0]));
        product::<false>(&mut out[0], &sum, &difference);
        product::<false>(&mut out[D - 1], &twice, &a[D - 1]);
    }
}
}
