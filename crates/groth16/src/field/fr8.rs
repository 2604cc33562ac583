//! The scalar field of BLS12-381, eight lanes.
//!
//! Five limbs, Montgomery's radix 2^260. Elements stay in blst's form, `a 2^256`, and only factors are in ours, `w 2^260`: a
//! product is then in blst's form again, and no element is ever converted. r has 255 bits, which leaves values up to 35 r: a
//! product of a below k r and a factor below r (1 + 2^-5) comes out below r (1 + k / 34).
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use super::constants::{R, sub_words};
use super::lanes::*;
use blstrs::Scalar;
use core::arch::x86_64::*;

/// Eight elements of the scalar field.
pub(crate) type Fr8 = [V; 5];

/// r.
pub(crate) const MODULUS: [u64; 5] = to_limbs(R);
const NEGATIVE_INVERSE: u64 = negative_inverse(R[0]);
/// floor(2^260 / r)
const QUOTIENT_SCALE: u64 = 35;
/// 2^260 - r
const COMPLEMENT: [u64; 5] = {
    let limbs: [u64; 5] = to_limbs(sub_words([0, 0, 0, 0, 16], [R[0], R[1], R[2], R[3], 0]).0);
    limbs
};

/// The order in which consecutive scalars lie in the lanes: what costs the fewest shuffles.
pub(crate) const LANE_ORDER: [usize; 8] = [0, 2, 1, 3, 4, 6, 5, 7];

/// k r.
pub(crate) const fn multiple(k: u64) -> [u64; 5] {
    times(MODULUS, k)
}

/// A factor in limbs, `w 2^260`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Factor(pub(crate) [u64; 5]);

impl From<Scalar> for Factor {
    fn from(scalar: Scalar) -> Self {
        // blst's words are w 2^256.
        Factor(to_limbs(blst::blst_fr::from(scalar * Scalar::from(16)).l))
    }
}

simd! {
/// a w, limbs not normalised. a is normalised and below 2^260.
pub(crate) fn mul_raw(a: &Fr8, w: &Fr8) -> Fr8 {
    let mut t = [_mm512_setzero_si512(); 12];
    product_row!(t, 0, 5, a, w);
    each!(I in [0 1 2 3 4] {
        reduction_row!(t, I, 5, MODULUS, NEGATIVE_INVERSE, {
            if I < 4 {
                product_row!(t, (I + 1) % 5, 5, a, w);
            }
        });
    });
    [t[5], t[6], t[7], t[8], t[9]]
}

/// a w, normalised.
pub(crate) fn mul(a: &Fr8, w: &Fr8) -> Fr8 {
    normalise(&mul_raw(a, w))
}

/// A representative below 2 r of a normalised value below 32 r, normalised.
pub(crate) fn below_twice(a: &Fr8) -> Fr8 {
    // The top limb times 35 / 2^52 is at most the quotient by r and at least that less 1/4, so that what is left is below
    // 2 r. Instead of q r, q (2^260 - r) is added, and 2^260 dropped.
    let q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), a[4], splat(QUOTIENT_SCALE));
    let mut sum = *a;
    for i in 0..5 { sum[i] = _mm512_madd52lo_epu64(sum[i], q, splat(COMPLEMENT[i])); }
    for i in 0..4 { sum[i + 1] = _mm512_madd52hi_epu64(sum[i + 1], q, splat(COMPLEMENT[i])); }
    let mut rest = normalise(&sum);
    rest[4] = _mm512_and_si512(rest[4], splat(MASK));
    rest
}

/// The representative below r of a normalised value below 32 r.
pub(crate) fn canonical(a: &Fr8) -> Fr8 {
    subtract_if_not_below(&below_twice(a), &MODULUS)
}

/// Limbs of eight scalars as blst has them, two a vector: [0, 1], [2, 3], [4, 5], [6, 7].
pub(crate) fn from_pairs(pairs: &[V; 4]) -> Fr8 {
    let mut words = *pairs;
    let low = [_mm512_unpacklo_epi64(pairs[0], pairs[1]), _mm512_unpacklo_epi64(pairs[2], pairs[3])];
    let high = [_mm512_unpackhi_epi64(pairs[0], pairs[1]), _mm512_unpackhi_epi64(pairs[2], pairs[3])];
    words[0] = _mm512_shuffle_i64x2(low[0], low[1], 0x88);
    words[1] = _mm512_shuffle_i64x2(high[0], high[1], 0x88);
    words[2] = _mm512_shuffle_i64x2(low[0], low[1], 0xdd);
    words[3] = _mm512_shuffle_i64x2(high[0], high[1], 0xdd);
    let mask = splat(MASK);
    let joined = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), mask);
    [
        _mm512_and_si512(words[0], mask),
        joined(_mm512_srli_epi64(words[0], 52), _mm512_slli_epi64(words[1], 12)),
        joined(_mm512_srli_epi64(words[1], 40), _mm512_slli_epi64(words[2], 24)),
        joined(_mm512_srli_epi64(words[2], 28), _mm512_slli_epi64(words[3], 36)),
        _mm512_srli_epi64(words[3], 16),
    ]
}

/// The inverse of `from_pairs`, for canonical values.
pub(crate) fn to_pairs(a: &Fr8) -> [V; 4] {
    let words = [
        _mm512_or_si512(a[0], _mm512_slli_epi64(a[1], 52)),
        _mm512_or_si512(_mm512_srli_epi64(a[1], 12), _mm512_slli_epi64(a[2], 40)),
        _mm512_or_si512(_mm512_srli_epi64(a[2], 24), _mm512_slli_epi64(a[3], 28)),
        _mm512_or_si512(_mm512_srli_epi64(a[3], 36), _mm512_slli_epi64(a[4], 16)),
    ];
    // Even lanes' words 0, 1 and 2, 3, then the odd lanes'.
    let even = [_mm512_unpacklo_epi64(words[0], words[1]), _mm512_unpacklo_epi64(words[2], words[3])];
    let odd = [_mm512_unpackhi_epi64(words[0], words[1]), _mm512_unpackhi_epi64(words[2], words[3])];
    let first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    let second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    [
        _mm512_permutex2var_epi64(even[0], first, even[1]),
        _mm512_permutex2var_epi64(odd[0], first, odd[1]),
        _mm512_permutex2var_epi64(even[0], second, even[1]),
        _mm512_permutex2var_epi64(odd[0], second, odd[1]),
    ]
}

/// Different factors in the lanes, given in the order of the scalars.
pub(crate) fn factors(scalars: &[Scalar; 8]) -> Fr8 {
    let mut limbs = [[0u64; 8]; 5];
    for lane in 0..8 {
        let factor = Factor::from(scalars[LANE_ORDER[lane]]);
        for i in 0..5 { limbs[i][lane] = factor.0[i]; }
    }
    let mut out = [_mm512_setzero_si512(); 5];
    for i in 0..5 {
        // SAFETY: 64 bytes.
        out[i] = unsafe { _mm512_loadu_si512(limbs[i].as_ptr().cast()) };
    }
    out
}
}
