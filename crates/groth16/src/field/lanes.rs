//! What the eight-lane fields share: limbs of 52 bits, carries, transposition, and the rows of Montgomery's product.
//!
//! An element set is an array of vectors, one a limb, each lane an element of its own. IFMA multiplies the low 52 bits of
//! its operands and adds the low or the high half of the product to a 64-bit accumulator, so that columns of a product can
//! be added up without carries. Operands must be normalised (limbs below 2^52, value non-negative); sums and differences
//! are formed limb by limb, with signs, and normalised once before they become operands.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use core::arch::x86_64::*;

/// One limb of eight elements.
pub(crate) type V = __m512i;

/// A limb's bits.
pub(crate) const MASK: u64 = (1 << 52) - 1;

/// Functions for CPUs with the instructions. Such a function is safe to call from another of them; elsewhere the caller
/// must have asked the CPU. `inline(always)` cannot be combined with the attribute, plain `inline` suffices.
macro_rules! simd {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512ifma")] #[inline] $item)*
    };
}
/// The same, never inlined: alone they get by with the registers that there are.
macro_rules! simd_outlined {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512ifma")] #[inline(never)] $item)*
    };
}
/// The body for each index, as a constant: LLVM leaves larger nests of loops rolled and their arrays in memory.
macro_rules! each {
    ($i:ident in [$($index:literal)*] $body:block) => { $({ const $i: usize = $index; $body })* };
}
/// Adds a[$i] times b to the columns from $i on.
macro_rules! product_row {
    ($t:ident, $i:expr, $limbs:literal, $a:expr, $b:expr) => {
        for j in 0..$limbs {
            $t[$i + j] = _mm512_madd52lo_epu64($t[$i + j], $a[$i], $b[j]);
        }
        for j in 0..$limbs {
            $t[$i + j + 1] = _mm512_madd52hi_epu64($t[$i + j + 1], $a[$i], $b[j]);
        }
    };
}
/// One row of Montgomery's reduction: makes column $i zero modulo 2^52 and carries it on. `$between` is put between the
/// quotient digit and its use: what the next digit depends on is one long chain, and other products fill it.
macro_rules! reduction_row {
    ($t:ident, $i:expr, $limbs:literal, $modulus:ident, $neg_inverse:ident, $between:block) => {
        let zero = _mm512_setzero_si512();
        let digit = _mm512_madd52lo_epu64(zero, $t[$i], splat($neg_inverse));
        // The column plus the low half of digit times modulus is the next multiple of 2^52. No need to wait for the digit.
        let carry = _mm512_srli_epi64(_mm512_add_epi64($t[$i], splat(MASK)), 52);
        $between
        $t[$i + 1] = _mm512_add_epi64($t[$i + 1], carry);
        let high = _mm512_madd52hi_epu64($t[$i + 1], digit, splat($modulus[0]));
        $t[$i + 1] = _mm512_add_epi64(high, _mm512_madd52lo_epu64(zero, digit, splat($modulus[1])));
        for j in 2..$limbs {
            $t[$i + j] = _mm512_madd52lo_epu64($t[$i + j], digit, splat($modulus[j]));
        }
        for j in 1..$limbs {
            $t[$i + j + 1] = _mm512_madd52hi_epu64($t[$i + j + 1], digit, splat($modulus[j]));
        }
    };
}
pub(crate) use {each, product_row, reduction_row, simd, simd_outlined};

/// A number of 64-bit words in limbs.
pub(crate) const fn to_limbs<const W: usize, const N: usize>(words: [u64; W]) -> [u64; N] {
    let (mut limbs, mut i) = ([0; N], 0);
    while i < N {
        let (word, shift) = (i * 52 / 64, i * 52 % 64);
        if word < W {
            limbs[i] = words[word] >> shift;
            if shift > 12 && word + 1 < W {
                limbs[i] |= words[word + 1] << (64 - shift);
            }
            limbs[i] &= MASK;
        }
        i += 1;
    }
    limbs
}

/// k times a number, in limbs.
pub(crate) const fn times<const N: usize>(limbs: [u64; N], k: u64) -> [u64; N] {
    let (mut product, mut carry, mut i) = ([0; N], 0, 0);
    while i < N {
        let column = limbs[i] * k + carry;
        product[i] = column & MASK;
        carry = column >> 52;
        i += 1;
    }
    product
}

/// `-m^-1` modulo 2^52 for the lowest word of an odd m, by Newton's iteration.
pub(crate) const fn negative_inverse(lowest: u64) -> u64 {
    let (mut inverse, mut step) = (1u64, 0);
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(lowest.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg() & MASK
}

simd! {
/// The same number in all lanes.
pub(crate) fn splat(number: u64) -> V {
    _mm512_set1_epi64(number as i64)
}

/// The same element in all lanes.
pub(crate) fn splat_limbs<const N: usize>(limbs: &[u64; N]) -> [V; N] {
    let mut all = [_mm512_setzero_si512(); N];
    for i in 0..N { all[i] = splat(limbs[i]); }
    all
}

/// a + b, not normalised.
pub(crate) fn add<const N: usize>(a: &[V; N], b: &[V; N]) -> [V; N] {
    let mut sum = *a;
    for i in 0..N { sum[i] = _mm512_add_epi64(a[i], b[i]); }
    sum
}

/// a - b, not normalised.
pub(crate) fn sub<const N: usize>(a: &[V; N], b: &[V; N]) -> [V; N] {
    let mut difference = *a;
    for i in 0..N { difference[i] = _mm512_sub_epi64(a[i], b[i]); }
    difference
}

/// a + k, not normalised.
pub(crate) fn add_constant<const N: usize>(a: &[V; N], k: &[u64; N]) -> [V; N] {
    let mut sum = *a;
    for i in 0..N { sum[i] = _mm512_add_epi64(a[i], splat(k[i])); }
    sum
}

/// -a in the lanes of a mask, not normalised.
pub(crate) fn negate_where<const N: usize>(lanes: __mmask8, a: &[V; N]) -> [V; N] {
    let mut signed = *a;
    for i in 0..N { signed[i] = _mm512_mask_sub_epi64(a[i], lanes, _mm512_setzero_si512(), a[i]); }
    signed
}

/// `yes` in the lanes of a mask, `no` in the others.
pub(crate) fn select<const N: usize>(lanes: __mmask8, no: &[V; N], yes: &[V; N]) -> [V; N] {
    let mut selected = *no;
    for i in 0..N { selected[i] = _mm512_mask_mov_epi64(no[i], lanes, yes[i]); }
    selected
}

/// Carries, the limbs possibly negative, the value not.
pub(crate) fn normalise<const N: usize>(a: &[V; N]) -> [V; N] {
    let mut limbs = *a;
    for i in 0..N - 1 {
        limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], _mm512_srai_epi64(limbs[i], 52));
        limbs[i] = _mm512_and_si512(limbs[i], splat(MASK));
    }
    limbs
}

/// a - k in the lanes where that is not negative, a in the others. Normalised in and out.
pub(crate) fn subtract_if_not_below<const N: usize>(a: &[V; N], k: &[u64; N]) -> [V; N] {
    let difference = normalise(&sub(a, &splat_limbs(k)));
    select(_mm512_movepi64_mask(difference[N - 1]), &difference, a)
}

/// a - k in the lanes where the top limb says that it surely fits, limbs not normalised in or out. `margin` is more than
/// the carries into the top limb may be, up or down: what is left is below k and a few of the top limb's units.
pub(crate) fn subtract_if_surely_above<const N: usize>(a: &[V; N], k: &[u64; N], margin: u64) -> [V; N] {
    let lanes = _mm512_cmpge_epi64_mask(a[N - 1], splat(k[N - 1] + margin));
    let mut less = *a;
    for i in 0..N { less[i] = _mm512_mask_sub_epi64(a[i], lanes, a[i], splat(k[i])); }
    less
}

/// Lanes whose limbs are all zero.
pub(crate) fn zero_lanes<const N: usize>(a: &[V; N]) -> __mmask8 {
    let mut any = a[0];
    for i in 1..N { any = _mm512_or_si512(any, a[i]); }
    _mm512_testn_epi64_mask(any, any)
}

/// Transpose of eight by eight words.
pub(crate) fn transpose(rows: &[V; 8]) -> [V; 8] {
    let mut pairs = *rows;
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    // quads[4 half + 2 parity + k]: rows of a half, 128-bit columns of a parity.
    let mut quads = pairs;
    for k in 0..2 {
        for half in 0..2 {
            let (first, second) = (pairs[4 * half + k], pairs[4 * half + 2 + k]);
            quads[4 * half + k] = _mm512_shuffle_i64x2(first, second, 0x88);
            quads[4 * half + 2 + k] = _mm512_shuffle_i64x2(first, second, 0xdd);
        }
    }
    let mut columns = quads;
    for k in 0..2 {
        columns[k] = _mm512_shuffle_i64x2(quads[k], quads[4 + k], 0x88);
        columns[4 + k] = _mm512_shuffle_i64x2(quads[k], quads[4 + k], 0xdd);
        columns[2 + k] = _mm512_shuffle_i64x2(quads[2 + k], quads[6 + k], 0x88);
        columns[6 + k] = _mm512_shuffle_i64x2(quads[2 + k], quads[6 + k], 0xdd);
    }
    columns
}
}
