//! Eight field elements a vector: arithmetic, S-boxes and the linear layer.

use super::MAX_WIDTH;
use crate::generate::poseidon::field::{Limbs, MODULUS};
use blstrs::Scalar;
use core::arch::x86_64::*;

pub(super) const LANES: usize = 8;
/// Limbs of 52 bits, the lowest first.
pub(super) type Limbs52 = [u64; 5];
/// Eight values, limb by limb. "Normalised": every limb below 2^52; "canonical": also below the modulus.
pub(super) type Element = [__m512i; 5];

const LIMB: u64 = (1 << 52) - 1;
const P: Limbs52 = split(MODULUS);
const TWICE_P: Limbs52 = split([
    MODULUS[0] << 1,
    MODULUS[1] << 1 | MODULUS[0] >> 63,
    MODULUS[2] << 1 | MODULUS[1] >> 63,
    MODULUS[3] << 1 | MODULUS[2] >> 63,
]);
/// -1 / modulus mod 2^52, by Newton's iteration.
const NEGATIVE_INVERSE: u64 = {
    let (mut inverse, mut i) = (1u64, 0);
    while i < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(MODULUS[0].wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg() & LIMB
};

pub(super) const fn split(a: Limbs) -> Limbs52 {
    [
        a[0] & LIMB,
        (a[0] >> 52 | a[1] << 12) & LIMB,
        (a[1] >> 40 | a[2] << 24) & LIMB,
        (a[2] >> 28 | a[3] << 36) & LIMB,
        a[3] >> 16,
    ]
}

/// All functions on vectors: the same attribute, so that they are inlined into each other.
macro_rules! vector_code {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl")] #[inline] $item)*
    };
}

/// A sum of products before reduction; low and high halves of the products apart, for shorter dependency chains.
pub(super) struct Columns([__m512i; 9], [__m512i; 9]);

impl Columns {
    vector_code! {
    pub(super) fn zero() -> Columns {
        Columns([_mm512_setzero_si512(); 9], [_mm512_setzero_si512(); 9])
    }

    /// Operands must be normalised.
    pub(super) fn multiply_add(&mut self, a: &Element, b: &Element) {
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                self.0[i + j] = _mm512_madd52lo_epu64(self.0[i + j], *a, *b);
                self.1[i + j] = _mm512_madd52hi_epu64(self.1[i + j], *a, *b);
            }
        }
    }

    /// The sum divided by 2^260 mod p, less than (sum / 2^260) + p, limbs not normalised.
    pub(super) fn reduce(self) -> Element {
        let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
        let inverse = _mm512_set1_epi64(NEGATIVE_INVERSE as i64);
        let limb = _mm512_set1_epi64(LIMB as i64);
        let p = splat(&P);
        // The high half of column i belongs into column i + 1.
        let mut t = [zero; 10];
        t[..9].copy_from_slice(&self.0);
        for (t, high) in t[1..].iter_mut().zip(&self.1) {
            *t = _mm512_add_epi64(*t, *high);
        }
        for i in 0..5 {
            let q = _mm512_madd52lo_epu64(zero, t[i], inverse);
            // t[i] + low(q p[0]) is 0 mod 2^52, so it carries exactly where t[i] is not: no need to wait for q.
            let carry = _mm512_srli_epi64(t[i], 52);
            let carry = _mm512_mask_add_epi64(carry, _mm512_test_epi64_mask(t[i], limb), carry, one);
            let next = _mm512_madd52hi_epu64(_mm512_add_epi64(t[i + 1], carry), q, p[0]);
            t[i + 1] = _mm512_add_epi64(next, _mm512_madd52lo_epu64(zero, q, p[1]));
            for j in 1..5 {
                if j > 1 {
                    t[i + j] = _mm512_madd52lo_epu64(t[i + j], q, p[j]);
                }
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, p[j]);
            }
        }
        [t[5], t[6], t[7], t[8], t[9]]
    }
    }
}

vector_code! {
pub(super) fn zero() -> Element {
    [_mm512_setzero_si512(); 5]
}

pub(super) fn splat(c: &Limbs52) -> Element {
    c.map(|limb| _mm512_set1_epi64(limb as i64))
}

/// Normalises limbs.
pub(super) fn carry(mut x: Element) -> Element {
    let limb = _mm512_set1_epi64(LIMB as i64);
    for i in 0..4 {
        x[i + 1] = _mm512_add_epi64(x[i + 1], _mm512_srli_epi64(x[i], 52));
        x[i] = _mm512_and_si512(x[i], limb);
    }
    x
}

/// x - k where that is not negative, else x; normalised.
fn subtract_once(x: &Element, k: &Limbs52) -> Element {
    let x = carry(*x);
    let (k, limb) = (splat(k), _mm512_set1_epi64(LIMB as i64));
    let mut d = x;
    for i in 0..5 {
        d[i] = _mm512_sub_epi64(x[i], k[i]);
    }
    for i in 0..4 {
        d[i + 1] = _mm512_add_epi64(d[i + 1], _mm512_srai_epi64(d[i], 52));
        d[i] = _mm512_and_si512(d[i], limb);
    }
    let negative = _mm512_movepi64_mask(d[4]);
    for i in 0..5 {
        d[i] = _mm512_mask_mov_epi64(d[i], negative, x[i]);
    }
    d
}

/// Below the modulus, from below twice that.
pub(super) fn canonical(x: &Element) -> Element {
    subtract_once(x, &P)
}

/// Below the modulus, from below three times that; limbs need not be normalised.
fn canonical_of_thrice(x: &Element) -> Element {
    let mut carried = _mm512_srli_epi64(x[0], 52);
    for limb in &x[1..4] {
        carried = _mm512_srli_epi64(_mm512_add_epi64(*limb, carried), 52);
    }
    let top = _mm512_add_epi64(x[4], carried);
    let (once, twice) = (_mm512_set1_epi64(P[4] as i64), _mm512_set1_epi64(TWICE_P[4] as i64));
    // The top limb tells whether a multiple of the modulus is to be subtracted, unless it is that multiple's.
    if (_mm512_cmpeq_epi64_mask(top, once) | _mm512_cmpeq_epi64_mask(top, twice)) != 0 {
        return canonical(&canonical(x));
    }
    let multiples = [_mm512_cmpgt_epi64_mask(top, once), _mm512_cmpgt_epi64_mask(top, twice)];
    let (p, limb) = (splat(&P), _mm512_set1_epi64(LIMB as i64));
    let mut d = *x;
    for i in 0..5 {
        for reached in multiples {
            d[i] = _mm512_mask_sub_epi64(d[i], reached, d[i], p[i]);
        }
    }
    for i in 0..4 {
        d[i + 1] = _mm512_add_epi64(d[i + 1], _mm512_srai_epi64(d[i], 52));
        d[i] = _mm512_and_si512(d[i], limb);
    }
    d
}

fn add(a: &Element, b: &Element) -> Element {
    let mut sum = *a;
    for i in 0..5 {
        sum[i] = _mm512_add_epi64(a[i], b[i]);
    }
    sum
}

/// a + b, for a below 2p and b a reduced sum of eight products (below 1.3p): below 2p again, where values are stored.
pub(super) fn accumulate<const STORE: bool>(a: &Element, b: &Element) -> Element {
    let sum = add(a, b);
    if STORE { subtract_once(&sum, &TWICE_P) } else { carry(sum) }
}

/// What a reduced value becomes: canonical, if it is to be stored.
fn settle<const STORE: bool>(x: &Element) -> Element {
    if STORE { canonical(x) } else { carry(*x) }
}

/// 16 x for a canonical x.
pub(super) fn times_16(x: &Element) -> Element {
    let limb = _mm512_set1_epi64(LIMB as i64);
    let mut r = *x;
    r[0] = _mm512_and_si512(_mm512_slli_epi64(x[0], 4), limb);
    for i in 1..5 {
        let bits = _mm512_or_si512(_mm512_slli_epi64(x[i], 4), _mm512_srli_epi64(x[i - 1], 48));
        r[i] = _mm512_and_si512(bits, limb);
    }
    r
}

/// Montgomery product of two canonical values, one given as 16 a, below 16 p^2 / 2^260 + p < 1.46 p.
fn mul(a16: &Element, b: &Element) -> Element {
    let mut product = Columns::zero();
    product.multiply_add(a16, b);
    product.reduce()
}

pub(super) fn dot<'a>(elements: impl Iterator<Item = &'a Element>, factors: &[Limbs52]) -> Element {
    let mut sum = Columns::zero();
    for (x, factor) in elements.zip(factors) {
        sum.multiply_add(x, &splat(factor));
    }
    sum.reduce()
}

pub(super) fn linear<const G: usize>(matrix: &[Limbs52], state: &mut [[Element; G]]) {
    let width = state.len();
    let mut result = [[zero(); G]; MAX_WIDTH];
    for (lane, row) in result.iter_mut().zip(matrix.chunks_exact(width)) {
        for g in 0..G {
            lane[g] = dot(state.iter().map(|x| &x[g]), row);
        }
    }
    state.copy_from_slice(&result[..width]);
}

/// Takes a value below twice the modulus; allocates it, its square, its fourth power, and its fifth power plus key.
pub(super) fn s_box<const G: usize, const STORE: bool>(x: &[Element; G], key: Option<&Limbs52>, out: &mut Outs<G>) -> [Element; G] {
    let mut values = [[zero(); G]; 4];
    for g in 0..G {
        values[0][g] = settle::<STORE>(&x[g]);
    }
    powers::<G, STORE>(&mut values, key);
    if STORE {
        out.store([&values[0], &values[1], &values[2], &values[3]]);
    }
    values[3]
}

/// The first round's: the input is a sum of a canonical variable and a key, and not allocated.
pub(super) fn first_s_box<const G: usize, const STORE: bool>(
    x: &[Element; G],
    before: &Limbs52,
    after: &Limbs52,
    out: &mut Outs<G>,
) -> [Element; G] {
    let mut values = [[zero(); G]; 4];
    for g in 0..G {
        values[0][g] = settle::<STORE>(&add(&x[g], &splat(before)));
    }
    powers::<G, STORE>(&mut values, Some(after));
    if STORE {
        out.store([&values[1], &values[2], &values[3]]);
    }
    values[3]
}

/// The factor of a product of two values: 2^260 is divided out, which is 16 times too much for values x 2^256.
fn scaled<const STORE: bool>(x: &Element) -> Element {
    if STORE { times_16(x) } else { *x }
}

/// From x: x^2, x^4, x^5 + key. Step by step for all groups, so that one's latency hides the other's.
fn powers<const G: usize, const STORE: bool>(values: &mut [[Element; G]; 4], key: Option<&Limbs52>) {
    let [x, square, fourth, fifth] = values;
    let mut factor = *x;
    for g in 0..G {
        factor[g] = scaled::<STORE>(&x[g]);
    }
    for g in 0..G {
        square[g] = settle::<STORE>(&mul(&factor[g], &x[g]));
    }
    for g in 0..G {
        fourth[g] = settle::<STORE>(&mul(&scaled::<STORE>(&square[g]), &square[g]));
    }
    for g in 0..G {
        let power = mul(&factor[g], &fourth[g]);
        fifth[g] = match key {
            None => settle::<STORE>(&power),
            Some(key) => {
                let sum = add(&power, &splat(key));
                if STORE { canonical_of_thrice(&sum) } else { carry(sum) }
            }
        };
    }
}

pub(super) fn load(values: [Limbs; LANES]) -> Element {
    let limb = _mm512_set1_epi64(LIMB as i64);
    let words = |j: usize| {
        let w = values.each_ref().map(|v| v[j] as i64);
        _mm512_setr_epi64(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
    };
    let w = [words(0), words(1), words(2), words(3)];
    let join = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), limb);
    [
        _mm512_and_si512(w[0], limb),
        join(_mm512_srli_epi64(w[0], 52), _mm512_slli_epi64(w[1], 12)),
        join(_mm512_srli_epi64(w[1], 40), _mm512_slli_epi64(w[2], 24)),
        join(_mm512_srli_epi64(w[2], 28), _mm512_slli_epi64(w[3], 36)),
        _mm512_srli_epi64(w[3], 16),
    ]
}
}

/// Values in a cache line.
const LINE: usize = 2;
/// How many values before they are stored their line is fetched: the next S-box's.
const AHEAD: usize = 4;

/// Where each lane's allocated values go.
pub(super) struct Outs<const G: usize> {
    next: [[*mut Scalar; LANES]; G],
    /// Values that may still be stored.
    left: usize,
}

impl<const G: usize> Outs<G> {
    /// `out(k)` must point to `slots` values for lane k, valid as long as the result is used. Lanes may share them.
    pub(super) fn new(slots: usize, mut out: impl FnMut(usize) -> *mut Scalar) -> Self {
        Outs {
            next: std::array::from_fn(|g| std::array::from_fn(|k| out(LANES * g + k))),
            left: slots,
        }
    }

    /// Stores canonical values, one after the other.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl")]
    #[inline]
    pub(super) fn store<const N: usize>(&mut self, values: [&[Element; G]; N]) {
        assert!(self.left >= N);
        self.left -= N;
        for g in 0..G {
            for (i, value) in values.iter().enumerate() {
                // SAFETY: `new` was given room for `left` more values in each lane.
                unsafe { store_lanes(&value[g], &self.next[g], i) };
            }
            for pointer in &mut self.next[g] {
                // SAFETY: as above; at most one past the end.
                *pointer = unsafe { pointer.add(N) };
                // Sixteen streams of stores are too many for the processor to see them coming.
                for line in 0..N.div_ceil(LINE) {
                    let ahead = pointer.wrapping_add(AHEAD + line * LINE);
                    _mm_prefetch::<_MM_HINT_ET0>(ahead.cast());
                }
            }
        }
    }
}

/// Lane k to `out[k].add(at)`.
///
/// # Safety
/// Those places must be valid for writing a `Scalar`.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl")]
#[inline]
unsafe fn store_lanes(x: &Element, out: &[*mut Scalar; LANES], at: usize) {
    let join = |low, high| _mm512_or_si512(low, high);
    let w0 = join(x[0], _mm512_slli_epi64(x[1], 52));
    let w1 = join(_mm512_srli_epi64(x[1], 12), _mm512_slli_epi64(x[2], 40));
    let w2 = join(_mm512_srli_epi64(x[2], 24), _mm512_slli_epi64(x[3], 28));
    let w3 = join(_mm512_srli_epi64(x[3], 36), _mm512_slli_epi64(x[4], 16));
    // Transposes 4 words x 8 lanes; lanes k and k + 2 come out as the halves of one vector.
    let (even_low, odd_low) = (_mm512_unpacklo_epi64(w0, w1), _mm512_unpackhi_epi64(w0, w1));
    let (even_high, odd_high) = (_mm512_unpacklo_epi64(w2, w3), _mm512_unpackhi_epi64(w2, w3));
    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let quads = [
        (0, _mm512_permutex2var_epi64(even_low, first, even_high)),
        (1, _mm512_permutex2var_epi64(odd_low, first, odd_high)),
        (4, _mm512_permutex2var_epi64(even_low, second, even_high)),
        (5, _mm512_permutex2var_epi64(odd_low, second, odd_high)),
    ];
    for (lane, quad) in quads {
        // SAFETY: guaranteed by the caller; a `Scalar` is four words in memory, and the stores need no alignment.
        unsafe {
            _mm256_storeu_si256(out[lane].add(at).cast(), _mm512_castsi512_si256(quad));
            _mm256_storeu_si256(
                out[lane + 2].add(at).cast(),
                _mm512_extracti64x4_epi64(quad, 1),
            );
        }
    }
}
