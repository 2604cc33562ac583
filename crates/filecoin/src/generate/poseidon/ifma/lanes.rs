//! Eight field elements a vector: arithmetic, S-boxes and the linear layer.

use crate::generate::poseidon::field::{Limbs, MODULUS};
use core::arch::x86_64::*;

pub(super) const LANES: usize = 8;
/// Limbs of 52 bits, the lowest first.
pub(super) type Limbs52 = [u64; 5];
/// Eight values, limb by limb, as operands: what a limb has above 52 bits does not count, multiplication ignores it.
/// "Canonical": below the modulus.
pub(super) type Element = [__m512i; 5];
/// Eight values whose limbs count in full, before carries.
#[derive(Clone, Copy)]
pub(super) struct Loose(pub(super) [__m512i; 5]);

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

/// A sum of products before reduction; low and high halves of the products apart, for shorter dependency chains.
pub(super) struct Columns([__m512i; 9], [__m512i; 9]);

impl Columns {
    vector_code! {
    pub(super) fn zero() -> Columns {
        Columns([_mm512_setzero_si512(); 9], [_mm512_setzero_si512(); 9])
    }

    pub(super) fn multiply_add(&mut self, a: &Element, b: &Element) {
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                self.0[i + j] = _mm512_madd52lo_epu64(self.0[i + j], *a, *b);
                self.1[i + j] = _mm512_madd52hi_epu64(self.1[i + j], *a, *b);
            }
        }
    }

    /// The sum divided by 2^260 mod p, less than (sum / 2^260) + p.
    pub(super) fn reduce(self) -> Loose {
        // The high half of column i belongs into column i + 1.
        let mut t = [_mm512_setzero_si512(); 10];
        t[..9].copy_from_slice(&self.0);
        for (t, high) in t[1..].iter_mut().zip(&self.1) {
            *t = _mm512_add_epi64(*t, *high);
        }
        for i in 0..5 {
            divide(&mut t, i);
        }
        Loose([t[5], t[6], t[7], t[8], t[9]])
    }
    }
}

/// A sum of values times integers below 2^52, before reduction.
struct WordColumns([__m512i; 6]);

impl WordColumns {
    vector_code! {
    fn multiply_add(&mut self, a: &Element, b: __m512i) {
        for (i, a) in a.iter().enumerate() {
            self.0[i] = _mm512_madd52lo_epu64(self.0[i], *a, b);
            self.0[i + 1] = _mm512_madd52hi_epu64(self.0[i + 1], *a, b);
        }
    }

    /// The sum divided by 2^52 mod p, less than (sum / 2^52) + p.
    fn reduce(mut self) -> Loose {
        divide(&mut self.0, 0);
        let [_, limbs @ ..] = self.0;
        Loose(limbs)
    }
    }
}

impl Loose {
    vector_code! {
    pub(super) fn plus(&self, other: &Element) -> Loose {
        let mut sum = self.0;
        for i in 0..5 {
            sum[i] = _mm512_add_epi64(sum[i], other[i]);
        }
        Loose(sum)
    }

    /// 16 times a value with limbs below 2^52.
    pub(super) fn times_16(self) -> Loose {
        let mut x = self.0;
        for limb in &mut x {
            *limb = _mm512_slli_epi64(*limb, 4);
        }
        Loose(x)
    }

    /// The same value as an operand.
    pub(super) fn carry(self) -> Element {
        let mut x = self.0;
        for i in 0..4 {
            x[i + 1] = _mm512_add_epi64(x[i + 1], _mm512_srli_epi64(x[i], 52));
        }
        x
    }

    /// The multiples of the modulus up to twice that are to be subtracted from a value below three times that, as masks
    /// of lanes, if the top limb tells.
    fn reached<const N: usize>(&self, multiples: [&Limbs52; N]) -> Option<[__mmask8; N]> {
        let [_, _, _, x3, x4] = self.0;
        // What the lower limbs carry may still add one.
        let top = _mm512_add_epi64(x4, _mm512_srli_epi64(x3, 52));
        let (mut reached, mut unknown) = ([0; N], 0);
        for (reached, multiple) in reached.iter_mut().zip(multiples) {
            let beyond = _mm512_sub_epi64(top, _mm512_set1_epi64(multiple[4] as i64 - 1));
            unknown |= _mm512_cmple_epu64_mask(beyond, _mm512_set1_epi64(1));
            *reached = _mm512_cmpgt_epi64_mask(beyond, _mm512_set1_epi64(1));
        }
        (unknown == 0).then_some(reached)
    }

    /// Below the modulus, from below twice that.
    pub(super) fn canonical(self) -> Element {
        match self.reached([&P]) {
            Some(reached) => self.subtract(reached),
            None => subtract_once(self),
        }
    }

    /// Below the modulus, from below three times that.
    pub(super) fn canonical_of_thrice(self) -> Element {
        match self.reached([&P, &TWICE_P]) {
            Some(reached) => self.subtract(reached),
            None => subtract_once(Loose(subtract_once(self))),
        }
    }

    /// Subtracts the modulus once for each mask, where that is set.
    fn subtract<const N: usize>(self, masks: [__mmask8; N]) -> Element {
        let (mut x, p) = (self.0, splat(&P));
        for i in 0..5 {
            for mask in masks {
                x[i] = _mm512_mask_sub_epi64(x[i], mask, x[i], p[i]);
            }
        }
        for i in 0..4 {
            x[i + 1] = _mm512_add_epi64(x[i + 1], _mm512_srai_epi64(x[i], 52));
        }
        x
    }
    }
}

vector_code! {
/// One step of a Montgomery reduction: adds the multiple of p that makes limb `i` of t zero, without writing that limb.
fn divide<const N: usize>(t: &mut [__m512i; N], i: usize) {
    let zero = _mm512_setzero_si512();
    let (limb, p) = (_mm512_set1_epi64(LIMB as i64), splat(&P));
    let q = _mm512_madd52lo_epu64(zero, t[i], _mm512_set1_epi64(NEGATIVE_INVERSE as i64));
    // t[i] + low(q p[0]) is 0 mod 2^52, so it is t[i] rounded up: no need to wait for q.
    let carry = _mm512_srli_epi64(_mm512_add_epi64(t[i], limb), 52);
    let next = _mm512_madd52hi_epu64(_mm512_add_epi64(t[i + 1], carry), q, p[0]);
    t[i + 1] = _mm512_add_epi64(next, _mm512_madd52lo_epu64(zero, q, p[1]));
    for j in 1..5 {
        if j > 1 {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], q, p[j]);
        }
        t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, p[j]);
    }
}

pub(super) fn zero() -> Element {
    [_mm512_setzero_si512(); 5]
}

pub(super) fn splat(c: &Limbs52) -> Element {
    c.map(|limb| _mm512_set1_epi64(limb as i64))
}

/// x - p where that is not negative, else x, with limbs below 2^52.
#[cold]
fn subtract_once(x: Loose) -> Element {
    let limb = _mm512_set1_epi64(LIMB as i64);
    let mut x = x.0;
    for i in 0..4 {
        x[i + 1] = _mm512_add_epi64(x[i + 1], _mm512_srli_epi64(x[i], 52));
        x[i] = _mm512_and_si512(x[i], limb);
    }
    let mut d = x;
    for (d, p) in d.iter_mut().zip(splat(&P)) {
        *d = _mm512_sub_epi64(*d, p);
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

/// What a reduced value becomes: canonical, if it is to be stored.
pub(super) fn settle<const STORE: bool>(x: Loose) -> Element {
    if STORE { x.canonical() } else { x.carry() }
}

/// Limbs at the upper end of their words.
pub(super) fn raised(x: &Element) -> [__m512i; 4] {
    let [x0, x1, x2, x3, _] = *x;
    [x0, x1, x2, x3].map(|limb| _mm512_slli_epi64(limb, 12))
}

/// 16 x for a canonical x.
fn times_16(x: &Element) -> Element {
    let below = raised(x);
    [
        _mm512_slli_epi64(x[0], 4),
        _mm512_shldi_epi64(x[1], below[0], 4),
        _mm512_shldi_epi64(x[2], below[1], 4),
        _mm512_shldi_epi64(x[3], below[2], 4),
        _mm512_shldi_epi64(x[4], below[3], 4),
    ]
}

/// Montgomery product of two canonical values, one given as 16 a, below 16 p^2 / 2^260 + p < 1.46 p.
pub(super) fn mul(a16: &Element, b: &Element) -> Loose {
    let mut product = Columns::zero();
    product.multiply_add(a16, b);
    product.reduce()
}

/// A linear layer: per lane a sum of multiples, and a division.
pub(super) fn linear<const G: usize>(
    numerators: &[u64],
    scale: &Limbs52,
    state: &[[Element; G]],
    result: &mut [[Loose; G]],
) {
    let scale = splat(scale);
    for (j, lane) in result.iter_mut().enumerate() {
        for (g, lane) in lane.iter_mut().enumerate() {
            let mut sum = WordColumns([_mm512_setzero_si512(); 6]);
            for (x, numerator) in state.iter().zip(&numerators[j..]) {
                sum.multiply_add(&x[g], _mm512_set1_epi64(*numerator as i64));
            }
            let mut product = Columns::zero();
            product.multiply_add(&sum.reduce().carry(), &scale);
            *lane = product.reduce();
        }
    }
}

/// The factor of a product of two values: 2^260 is divided out, which is 16 times too much for values x 2^256.
pub(super) fn scaled<const STORE: bool>(x: &Element) -> Element {
    if STORE { times_16(x) } else { *x }
}

pub(super) fn load(values: [Limbs; LANES]) -> Loose {
    let limb = _mm512_set1_epi64(LIMB as i64);
    let words = |j: usize| {
        let w = values.each_ref().map(|v| v[j] as i64);
        _mm512_setr_epi64(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
    };
    let w = [words(0), words(1), words(2), words(3)];
    let join = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), limb);
    Loose([
        _mm512_and_si512(w[0], limb),
        join(_mm512_srli_epi64(w[0], 52), _mm512_slli_epi64(w[1], 12)),
        join(_mm512_srli_epi64(w[1], 40), _mm512_slli_epi64(w[2], 24)),
        join(_mm512_srli_epi64(w[2], 28), _mm512_slli_epi64(w[3], 36)),
        _mm512_srli_epi64(w[3], 16),
    ])
}
}
