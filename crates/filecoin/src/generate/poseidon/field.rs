//! The scalar field as four limbs in Montgomery form, radix 2^256, as blst keeps it.
//!
//! Only what Poseidon needs: a call through blst costs as much as the multiplication, and sums of products are
//! reduced once here instead of once a term.

use blstrs::Scalar;

pub(super) type Limbs = [u64; 4];

/// The group order of BLS12-381.
pub(super) const MODULUS: Limbs = [
    0xffffffff00000001,
    0x53bda402fffe5bfe,
    0x3339d80809a1d805,
    0x73eda753299d7d48,
];
/// -1 / modulus mod 2^64.
const NEGATIVE_INVERSE: u64 = 0xffff_fffe_ffff_ffff;

const _: () = assert!(
    size_of::<Scalar>() == size_of::<Limbs>() && align_of::<Scalar>() == align_of::<Limbs>()
);

#[inline(always)]
pub(super) fn limbs(scalar: &Scalar) -> Limbs {
    // SAFETY: `Scalar` is a transparent wrapper of `blst_fr`, which is `[u64; 4]` in `repr(C)`; size checked above.
    unsafe { std::mem::transmute::<Scalar, Limbs>(*scalar) }
}

/// `limbs` must be below the modulus, which every function here guarantees for its result.
#[inline(always)]
pub(super) fn scalar(limbs: Limbs) -> Scalar {
    // SAFETY: as above; any limbs are a valid `blst_fr`.
    unsafe { std::mem::transmute::<Limbs, Scalar>(limbs) }
}

/// 2^512 mod the modulus: a product with it puts a value into Montgomery form.
const R2: Limbs = [
    0xc999e990f3f29c6d,
    0x2b6cedcb87925c23,
    0x05d314967254398f,
    0x0748d9d99f59ff11,
];

/// The element of 32 little-endian bytes, if they are below the modulus. Not in constant time.
pub(crate) fn element(bytes: &[u8; 32]) -> Option<Scalar> {
    let words = bytes.as_chunks::<8>().0;
    let value: Limbs = std::array::from_fn(|i| u64::from_le_bytes(words[i]));
    let below = value.iter().rev().lt(MODULUS.iter().rev());
    below.then(|| scalar(mul(value, R2)))
}

/// `t + a b + carry`: low word, and the high word in `carry`.
#[inline(always)]
fn multiply_add(t: u64, a: u64, b: u64, carry: &mut u64) -> u64 {
    let wide = u128::from(t) + u128::from(a) * u128::from(b) + u128::from(*carry);
    *carry = (wide >> 64) as u64;
    wide as u64
}

#[inline(always)]
fn add_carry(a: u64, b: u64, carry: &mut u64) -> u64 {
    multiply_add(a, b, 1, carry)
}

/// `top 2^256 + r` minus the modulus where that is not negative.
#[inline(always)]
fn subtract_once(r: Limbs, top: u64) -> (Limbs, u64) {
    let mut borrow = 0u64;
    let difference: Limbs = std::array::from_fn(|i| {
        let (d, first) = r[i].overflowing_sub(MODULUS[i]);
        let (d, second) = d.overflowing_sub(borrow);
        borrow = u64::from(first | second);
        d
    });
    if top >= borrow {
        (difference, top - borrow)
    } else {
        (r, top)
    }
}

#[inline(always)]
pub(super) fn add(a: Limbs, b: Limbs) -> Limbs {
    let mut carry = 0;
    // Two values below 2^255 do not overflow.
    subtract_once(
        std::array::from_fn(|i| add_carry(a[i], b[i], &mut carry)),
        0,
    )
    .0
}

/// Interleaved multiplication and reduction; the spare bit of the modulus makes the last carry vanish.
#[inline(always)]
pub(super) fn mul(a: Limbs, b: Limbs) -> Limbs {
    let mut t = [0u64; 4];
    for factor in b {
        let mut high = 0;
        let lowest = multiply_add(t[0], a[0], factor, &mut high);
        let q = lowest.wrapping_mul(NEGATIVE_INVERSE);
        let mut carry = 0;
        multiply_add(lowest, q, MODULUS[0], &mut carry);
        for j in 1..4 {
            let x = multiply_add(t[j], a[j], factor, &mut high);
            t[j - 1] = multiply_add(x, q, MODULUS[j], &mut carry);
        }
        t[3] = high + carry;
    }
    subtract_once(t, 0).0
}

/// A sum of at most 23 products, not reduced yet.
pub(super) struct Sum([u64; 9]);

impl Sum {
    /// `sum of a[i] b[i]`.
    #[inline(always)]
    pub(super) fn of(a: &[Limbs], b: &[Scalar]) -> Sum {
        Sum([0; 9]).and(a, b)
    }

    /// The sum and `sum of a[i] b[i]`.
    #[inline(always)]
    pub(super) fn and(self, a: &[Limbs], b: &[Scalar]) -> Sum {
        let Sum(mut t) = self;
        for (a, b) in a.iter().zip(b) {
            let b = limbs(b);
            let mut up = 0u64;
            for i in 0..4 {
                let mut carry = 0;
                for j in 0..4 {
                    t[i + j] = multiply_add(t[i + j], a[j], b[i], &mut carry);
                }
                t[i + 4] = add_carry(t[i + 4], carry, &mut up);
            }
            t[8] += up;
        }
        Sum(t)
    }

    #[inline(always)]
    pub(super) fn reduce(self) -> Limbs {
        let Sum(mut t) = self;
        let mut up = 0u64;
        for i in 0..4 {
            let q = t[i].wrapping_mul(NEGATIVE_INVERSE);
            let mut carry = 0;
            for j in 0..4 {
                t[i + j] = multiply_add(t[i + j], q, MODULUS[j], &mut carry);
            }
            t[i + 4] = add_carry(t[i + 4], carry, &mut up);
        }
        let (mut r, mut top) = ([t[4], t[5], t[6], t[7]], t[8] + up);
        // 23 products leave less than 23 p^2 / 2^256 + p < 11.5 p. In sixteenths of 2^256, rounded down, that is v, and
        // 141 v / 1024 falls short of v / 16 * 2^256 / p by less than 0.18: at most one multiple of p is left.
        let sixteenths = top << 4 | r[3] >> 60;
        let multiple = (sixteenths * 141) >> 10;
        let (mut carry, mut borrow) = (0, 0u64);
        for (r, p) in r.iter_mut().zip(MODULUS) {
            let product = multiply_add(0, multiple, p, &mut carry);
            let (d, first) = r.overflowing_sub(product);
            let (d, second) = d.overflowing_sub(borrow);
            borrow = u64::from(first | second);
            *r = d;
        }
        top = top.wrapping_sub(carry).wrapping_sub(borrow);
        subtract_once(r, top).0
    }
}

/// A sum of values times words, not reduced yet: below 2^64 p, which twelve numerators of [`super::linear::Mds`] are
/// far from.
pub(super) struct WordSum([u64; 5]);

impl WordSum {
    /// `sum of a[i] b[i]`.
    #[inline(always)]
    pub(super) fn of(a: &[Limbs], b: &[u64]) -> WordSum {
        let mut t = [0u64; 5];
        for (a, b) in a.iter().zip(b) {
            let mut carry = 0;
            for (t, a) in t.iter_mut().zip(a) {
                *t = multiply_add(*t, *a, *b, &mut carry);
            }
            t[4] += carry;
        }
        WordSum(t)
    }

    /// The sum divided by 2^64 mod the modulus, below twice that. One factor of [`mul`] may be so.
    #[inline(always)]
    pub(super) fn reduce(self) -> Limbs {
        let WordSum(t) = self;
        let q = t[0].wrapping_mul(NEGATIVE_INVERSE);
        let mut carry = 0;
        multiply_add(t[0], q, MODULUS[0], &mut carry);
        let mut r = [0u64; 4];
        for j in 1..4 {
            r[j - 1] = multiply_add(t[j], q, MODULUS[j], &mut carry);
        }
        r[3] = t[4] + carry;
        r
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::{Field, PrimeField};
    use rand::{RngCore, SeedableRng};

    #[test]
    fn elements_are_below_the_modulus() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let mut bytes = |k: usize| {
            let mut bytes = (-Scalar::ONE).to_bytes_le();
            match k {
                0..32 => bytes[k] = bytes[k].wrapping_add(1),
                32..64 => bytes[k - 32] = bytes[k - 32].wrapping_sub(1),
                64..66 => bytes = [255 * (k as u8 - 64); 32],
                _ => rng.fill_bytes(&mut bytes),
            }
            bytes
        };
        for k in 0..200 {
            let bytes = bytes(k);
            let expected: Option<Scalar> = Scalar::from_repr(bytes).into();
            assert_eq!(element(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn agrees_with_blst() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        let edges = [
            Scalar::ZERO,
            Scalar::ONE,
            -Scalar::ONE,
            -Scalar::from(2),
            Scalar::from(u64::MAX),
        ];
        let mut values: Vec<Scalar> = edges
            .into_iter()
            .chain((0..50).map(|_| Scalar::random(&mut rng)))
            .collect();
        for &a in &values {
            for &b in &values {
                assert_eq!(
                    scalar(mul(limbs(&a), limbs(&b))).to_bytes_le(),
                    (a * b).to_bytes_le()
                );
                assert_eq!(
                    scalar(add(limbs(&a), limbs(&b))).to_bytes_le(),
                    (a + b).to_bytes_le()
                );
            }
        }
        // The largest sum: every limb as large as it gets in Montgomery form.
        let largest = scalar([MODULUS[0] - 1, MODULUS[1], MODULUS[2], MODULUS[3]]);
        values.extend([largest; 23]);
        for window in values.windows(12).chain(values.windows(23)) {
            let a: Vec<Limbs> = window.iter().map(limbs).collect();
            let b: Vec<Scalar> = window.iter().rev().copied().collect();
            let expected: Scalar = window.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert_eq!(
                scalar(Sum::of(&a, &b).reduce()).to_bytes_le(),
                expected.to_bytes_le()
            );
        }
    }
}
