//! Four field elements a vector: products of doubles and their reduction.

use super::super::field::{Limbs, MODULUS};
use core::arch::x86_64::*;

pub(super) const LANES: usize = 4;
/// Limbs of 51 bits, the lowest first.
pub(super) type Limbs51 = [u64; 5];
/// A constant as a factor.
pub(super) type Factor = [f64; 5];
/// Four values as factors, limb by limb: whole numbers below 2^52.
pub(super) type Element = [__m256d; 5];

const LIMB: u64 = (1 << 51) - 1;
const P: Limbs51 = split(MODULUS);
const TWICE_P: Limbs51 = multiple(2);
const FOUR_P: Limbs51 = multiple(4);

/// Doubles from here on are multiples of 2^51, up to twice this.
const HIGH: f64 = (1u128 << 103) as f64;
/// Doubles around this are whole numbers.
const LOW: f64 = (3u64 << 51) as f64;
/// Integer below 2^52 to double: as its bits, less this.
const WHOLE: f64 = (1u64 << 52) as f64;

/// What makes a limb positive before its carry is shifted down, and what the carry is too large by then.
const BIAS: u64 = 1 << 62;
const BIAS_CARRIED: u64 = 1 << 11;

pub(super) const fn split(a: Limbs) -> Limbs51 {
    [
        a[0] & LIMB,
        (a[0] >> 51 | a[1] << 13) & LIMB,
        (a[1] >> 38 | a[2] << 26) & LIMB,
        (a[2] >> 25 | a[3] << 39) & LIMB,
        a[3] >> 12,
    ]
}

/// A multiple of the modulus; the top limb takes what is above it.
const fn multiple(times: u64) -> Limbs51 {
    let (mut limbs, mut i, mut carry) = (P, 0, 0);
    while i < 5 {
        let limb = P[i] * times + carry;
        limbs[i] = if i < 4 { limb & LIMB } else { limb };
        carry = limb >> 51;
        i += 1;
    }
    limbs
}

/// Sums of the bits of doubles, as integers: column k collects what has weight 2^(51 k), and per product the bits of
/// [`HIGH`] or [`LOW`], which are multiples of 2^51 and are taken off with one constant a column.
#[derive(Clone, Copy)]
pub(super) struct Columns([__m256i; 11]);

impl Columns {
    vector_code! {
    fn zero() -> Columns {
        Columns([_mm256_setzero_si256(); 11])
    }
    }
}

/// Minus the constant bits of one product of `rows` limbs and five.
const fn product(rows: usize) -> [u64; 11] {
    let (mut bits, mut i) = ([0u64; 11], 0);
    while i < 5 * rows {
        let k = i / 5 + i % 5;
        bits[k] = bits[k].wrapping_sub(LOW.to_bits());
        bits[k + 1] = bits[k + 1].wrapping_sub(HIGH.to_bits());
        i += 1;
    }
    bits
}

/// Minus those of some steps of reduction, and the biases of their carries and of the result.
const fn reduction(steps: usize) -> [u64; 11] {
    let (mut bits, mut k) = (product(steps), 0);
    while k < steps + 4 {
        bits[k] = bits[k].wrapping_add(BIAS);
        bits[k + 1] = bits[k + 1].wrapping_sub(BIAS_CARRIED);
        k += 1;
    }
    bits
}

/// Four values whose limbs count in full: signed, with the biases of their carries.
#[derive(Clone, Copy)]
pub(super) struct Loose([__m256i; 5]);

vector_code! {
pub(super) fn zero() -> Element {
    [_mm256_setzero_pd(); 5]
}

fn integer(value: u64) -> __m256i {
    _mm256_set1_epi64x(value as i64)
}

pub(super) fn splat(c: &Factor) -> Element {
    c.map(|limb| _mm256_set1_pd(limb))
}

/// Whole numbers below 2^52.
fn double(x: __m256i) -> __m256d {
    let bits = _mm256_or_si256(x, integer(WHOLE.to_bits()));
    _mm256_sub_pd(_mm256_castsi256_pd(bits), _mm256_set1_pd(WHOLE))
}

/// The product of two limbs, below 2^103, as a multiple of 2^51 and a rest of at most half of that.
fn product_bits(a: __m256d, b: __m256d) -> [__m256i; 2] {
    let high = _mm256_fmadd_pd(a, b, _mm256_set1_pd(HIGH));
    let rest = _mm256_sub_pd(_mm256_set1_pd(HIGH + LOW), high);
    let low = _mm256_fmadd_pd(a, b, rest);
    [_mm256_castpd_si256(low), _mm256_castpd_si256(high)]
}

/// The sum of products of values and constants, as columns to be reduced in six steps.
fn dot<const G: usize>(values: [&[[Element; G]]; 2], g: usize, factors: &[Factor]) -> Columns {
    let count = (values[0].len() + values[1].len()) as u64;
    let parts = factors.split_at(values[0].len());
    let parts = [(values[0], parts.0), (values[1], parts.1)];
    let mut t = [_mm256_setzero_si256(); 11];
    for (k, t) in t.iter_mut().enumerate() {
        let bits = const { product(5) }[k].wrapping_mul(count);
        *t = integer(bits.wrapping_add(const { reduction(6) }[k]));
    }
    // Row by row, so that the columns of a row fit the registers.
    for i in 0..5 {
        let mut row = [t[i], t[i + 1], t[i + 2], t[i + 3], t[i + 4], t[i + 5]];
        for (values, factors) in parts {
            for (x, factor) in values.iter().zip(factors) {
                for j in 0..5 {
                    let [low, high] = product_bits(x[g][i], _mm256_set1_pd(factor[j]));
                    row[j] = _mm256_add_epi64(row[j], low);
                    row[j + 1] = _mm256_add_epi64(row[j + 1], high);
                }
            }
        }
        t[i..i + 6].copy_from_slice(&row);
    }
    Columns(t)
}

/// The product of two values, likewise, to be reduced in five steps.
fn multiply(a: &Element, b: &Element) -> Columns {
    let mut t = [_mm256_setzero_si256(); 11];
    for (k, t) in t.iter_mut().enumerate() {
        *t = integer(const { product(5) }[k].wrapping_add(const { reduction(5) }[k]));
    }
    for i in 0..5 {
        for j in 0..5 {
            let [low, high] = product_bits(a[i], b[j]);
            t[i + j] = _mm256_add_epi64(t[i + j], low);
            t[i + j + 1] = _mm256_add_epi64(t[i + j + 1], high);
        }
    }
    Columns(t)
}

/// The sum of values times integers below 2^51, likewise, to be reduced in one step.
fn word_dot<'a>(terms: impl Iterator<Item = (&'a Element, &'a f64)> + Clone) -> Columns {
    let count = terms.clone().count() as u64;
    let mut t = [_mm256_setzero_si256(); 11];
    for (k, t) in t[..6].iter_mut().enumerate() {
        let bits = const { product(1) }[k].wrapping_mul(count);
        *t = integer(bits.wrapping_add(const { reduction(1) }[k]));
    }
    for (x, factor) in terms {
        for i in 0..5 {
            let [low, high] = product_bits(x[i], _mm256_set1_pd(*factor));
            t[i] = _mm256_add_epi64(t[i], low);
            t[i + 1] = _mm256_add_epi64(t[i + 1], high);
        }
    }
    Columns(t)
}
}

vector_code! {
/// Sums divided by 2^(51 `STEPS`) mod p, less than those quotients + p. Step by step for all groups: a step is a long chain,
/// and a processor looks ahead of little more than two.
pub(super) fn reduce<const STEPS: usize, const G: usize>(mut sums: [Columns; G]) -> [Loose; G] {
    for i in 0..STEPS {
        for Columns(t) in &mut sums {
            // The modulus is 1 - 2^32 mod 2^64, so its inverse is 1 + 2^32.
            let multiple = _mm256_add_epi64(t[i], _mm256_slli_epi64(t[i], 32));
            let q = _mm256_sub_epi64(_mm256_setzero_si256(), multiple);
            let q = double(_mm256_and_si256(q, integer(LIMB)));
            for (j, p) in P.into_iter().enumerate() {
                let [low, high] = product_bits(q, _mm256_set1_pd(p as f64));
                t[i + j] = _mm256_add_epi64(t[i + j], low);
                t[i + j + 1] = _mm256_add_epi64(t[i + j + 1], high);
            }
            t[i + 1] = _mm256_add_epi64(t[i + 1], _mm256_srli_epi64(t[i], 51));
        }
    }
    let mut reduced = [Loose([_mm256_setzero_si256(); 5]); G];
    for (reduced, Columns(t)) in reduced.iter_mut().zip(&sums) {
        reduced.0.copy_from_slice(&t[STEPS..STEPS + 5]);
    }
    reduced
}
}

impl Loose {
    vector_code! {
    pub(super) fn new(limbs: &Limbs51) -> Loose {
        let middle = BIAS - BIAS_CARRIED;
        let biases = [BIAS, middle, middle, middle, BIAS_CARRIED.wrapping_neg()];
        Loose(limbs.map(|limb| integer(limb))).plus(&biases)
    }

    pub(super) fn load(words: [Limbs; LANES]) -> Loose {
        let limbs = words.map(split);
        let mut x = Loose::new(&[0; 5]);
        for (i, x) in x.0.iter_mut().enumerate() {
            let lane = limbs.each_ref().map(|limbs| limbs[i] as i64);
            *x = _mm256_add_epi64(*x, _mm256_setr_epi64x(lane[0], lane[1], lane[2], lane[3]));
        }
        x
    }

    pub(super) fn plus(mut self, other: &Limbs51) -> Loose {
        for (x, other) in self.0.iter_mut().zip(other) {
            *x = _mm256_add_epi64(*x, integer(*other));
        }
        self
    }

    /// Limbs below 2^51, save for the top one.
    fn carry(self) -> [__m256i; 5] {
        let Loose(mut x) = self;
        for i in 0..4 {
            x[i + 1] = _mm256_add_epi64(x[i + 1], _mm256_srli_epi64(x[i], 51));
            x[i] = _mm256_and_si256(x[i], integer(LIMB));
        }
        x
    }

    /// As factors; for a value below twice the modulus, which need not be canonical.
    pub(super) fn operand(self) -> Element {
        let mut doubles = zero();
        for (double_limb, limb) in doubles.iter_mut().zip(self.carry()) {
            *double_limb = double(limb);
        }
        doubles
    }

    /// Below the modulus, from below twice that.
    pub(super) fn canonical(self) -> Words {
        Words::whole(&self.subtract(&P, [&P]).carry())
    }

    /// Half of a value below twice the modulus, mod p and below it.
    pub(super) fn halved(self) -> Words {
        Words::half(&self.even().subtract(&TWICE_P, [&TWICE_P]).carry())
    }

    /// Half of a value below four times the modulus, likewise.
    pub(super) fn halved_of_more(self) -> Words {
        Words::half(&self.even().subtract(&TWICE_P, [&TWICE_P, &FOUR_P]).carry())
    }

    /// The same mod p, but even.
    fn even(self) -> Loose {
        let Loose(mut x) = self;
        let odd = _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(x[0], integer(1)));
        for (x, p) in x.iter_mut().zip(P) {
            *x = _mm256_add_epi64(*x, _mm256_and_si256(odd, integer(p)));
        }
        Loose(x)
    }

    /// Subtracts `step` once for each of the bounds that the value reaches.
    fn subtract<const N: usize>(self, step: &Limbs51, bounds: [&Limbs51; N]) -> Loose {
        let Loose(mut x) = self;
        // What the lower limbs carry may still change this by one.
        let top = _mm256_add_epi64(x[4], _mm256_srli_epi64(x[3], 51));
        let (mut masks, mut unknown) = ([top; N], _mm256_setzero_si256());
        for (mask, bound) in masks.iter_mut().zip(bounds) {
            *mask = _mm256_cmpgt_epi64(top, integer(bound[4] + 1));
            let perhaps = _mm256_cmpgt_epi64(top, integer(bound[4] - 2));
            unknown = _mm256_or_si256(unknown, _mm256_xor_si256(*mask, perhaps));
        }
        if _mm256_testz_si256(unknown, unknown) == 0 {
            return self.subtract_exactly(step, bounds.len());
        }
        for (x, step) in x.iter_mut().zip(step) {
            for mask in masks {
                *x = _mm256_sub_epi64(*x, _mm256_and_si256(mask, integer(*step)));
            }
        }
        Loose(x)
    }

    /// Subtracts `step` up to so many times, as long as the value is not below it.
    #[cold]
    fn subtract_exactly(self, step: &Limbs51, times: usize) -> Loose {
        let x = self.carry();
        let mut lanes = [[0u64; 5]; LANES];
        for (i, x) in x.into_iter().enumerate() {
            let limb = [_mm256_extract_epi64(x, 0), _mm256_extract_epi64(x, 1), _mm256_extract_epi64(x, 2), _mm256_extract_epi64(x, 3)];
            lanes.iter_mut().zip(limb).for_each(|(lane, limb)| lane[i] = limb as u64);
        }
        for lane in &mut lanes {
            for _ in 0..times {
                if lane.iter().rev().ge(step.iter().rev()) {
                    let mut borrow = 0;
                    for (limb, step) in lane.iter_mut().zip(step) {
                        let difference = limb.wrapping_sub(*step).wrapping_sub(borrow);
                        borrow = difference >> 63;
                        *limb = if borrow == 1 { difference & LIMB } else { difference };
                    }
                }
            }
        }
        let mut x = Loose::new(&[0; 5]);
        for (i, x) in x.0.iter_mut().enumerate() {
            let limb = lanes.map(|lane| lane[i] as i64);
            *x = _mm256_add_epi64(*x, _mm256_setr_epi64x(limb[0], limb[1], limb[2], limb[3]));
        }
        x
    }
    }
}

/// Four canonical values, word by word, as they are stored.
#[derive(Clone, Copy)]
pub(super) struct Words(pub(super) [__m256i; 4]);

macro_rules! join {
    ($x:expr, $low:literal, $y:expr, $high:literal) => {
        _mm256_or_si256(_mm256_srli_epi64($x, $low), _mm256_slli_epi64($y, $high))
    };
}

impl Words {
    vector_code! {
    pub(super) fn zero() -> Words {
        Words([_mm256_setzero_si256(); 4])
    }

    fn whole(x: &[__m256i; 5]) -> Words {
        Words([join!(x[0], 0, x[1], 51), join!(x[1], 13, x[2], 38), join!(x[2], 26, x[3], 25), join!(x[3], 39, x[4], 12)])
    }

    fn half(x: &[__m256i; 5]) -> Words {
        Words([join!(x[0], 1, x[1], 50), join!(x[1], 14, x[2], 37), join!(x[2], 27, x[3], 24), join!(x[3], 40, x[4], 11)])
    }

    fn operand(&self) -> Element {
        let [w0, w1, w2, w3] = self.0;
        let limb = |x| double(_mm256_and_si256(x, integer(LIMB)));
        [
            limb(w0),
            limb(join!(w0, 51, w1, 13)),
            limb(join!(w1, 38, w2, 26)),
            limb(join!(w2, 25, w3, 39)),
            double(_mm256_srli_epi64(w3, 12)),
        ]
    }
    }
}

vector_code! {
/// Values as factors.
pub(super) fn operands<const G: usize>(values: &[Words; G], factors: &mut [Element; G]) {
    for (factor, value) in factors.iter_mut().zip(values) {
        *factor = value.operand();
    }
}

/// Products of canonical values: 2^255 is divided out, which is half of what it should be.
pub(super) fn mul<const G: usize>(a: &[Element; G], b: &[Element; G], out: &mut [Words; G]) {
    let mut products = [Columns::zero(); G];
    for g in 0..G {
        products[g] = multiply(&a[g], &b[g]);
    }
    for (out, product) in out.iter_mut().zip(reduce::<5, G>(products)) {
        *out = product.halved();
    }
}

/// The same, and twice a constant is added before that is halved.
pub(super) fn mul_add<const G: usize>(a: &[Element; G], b: &[Element; G], twice: &Limbs51, out: &mut [Words; G]) {
    let mut products = [Columns::zero(); G];
    for g in 0..G {
        products[g] = multiply(&a[g], &b[g]);
    }
    for (out, product) in out.iter_mut().zip(reduce::<5, G>(products)) {
        *out = product.plus(twice).halved_of_more();
    }
}

/// Sums of multiples of two rows of values.
pub(super) fn combine<const G: usize>(values: [&[[Element; G]]; 2], factors: &[Factor]) -> [Loose; G] {
    let mut sums = [Columns::zero(); G];
    for (g, sum) in sums.iter_mut().enumerate() {
        *sum = dot(values, g, factors);
    }
    reduce::<6, G>(sums)
}

/// A lane of a linear layer: sums of multiples, and a division.
pub(super) fn word_sum<const G: usize>(state: &[[Element; G]], numerators: &[f64], scale: &Factor) -> [Loose; G] {
    let mut sums = [Columns::zero(); G];
    for (g, sum) in sums.iter_mut().enumerate() {
        *sum = word_dot(state.iter().map(|x| &x[g]).zip(numerators));
    }
    let reduced = reduce::<1, G>(sums);
    for (sum, reduced) in sums.iter_mut().zip(reduced) {
        *sum = multiply(&reduced.operand(), &splat(scale));
    }
    reduce::<5, G>(sums)
}
}
