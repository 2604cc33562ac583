//! What the tests of the emulated device share: random inputs and slow, obvious references.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_cuda::{Curve, Device, Platform};
use ff::{Field, PrimeField};
use group::Group;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The emulated device.
pub(crate) fn device() -> Arc<Device> {
    Device::open(Platform::Emulated, 0).expect("the tests are compiled with feature emulate")
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Points as a parameter file has them.
pub(crate) fn encode_all<C: Curve>(points: &[C::Point]) -> Vec<u8> {
    C::encode(points)
}

pub(crate) fn random_points<C: Curve>(n: usize, seed: u64) -> Vec<C::Point> {
    let mut rng = rng(seed);
    let step = C::Point::random(&mut rng);
    let mut point = C::Point::random(&mut rng);
    (0..n)
        .map(|_| {
            point += step;
            point = point.double();
            point
        })
        .collect()
}

pub(crate) fn random_scalars(n: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = rng(seed);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}

/// Little-endian, not in Montgomery form: what multiplications take.
pub(crate) fn plain(scalars: &[Scalar]) -> Vec<[u8; 32]> {
    scalars.iter().map(|s| s.to_repr()).collect()
}

/// Scalar by scalar.
pub(crate) fn naive_msm<P: Group<Scalar = Scalar>>(points: &[P], scalars: &[Scalar]) -> P {
    points.iter().zip(scalars).map(|(p, s)| *p * s).sum()
}

/// The polynomial of degree below n with these values on the n-th roots of unity, at `x`, by Lagrange's formula:
/// `(xⁿ − 1)/n · Σ vⱼ wʲ/(x − wʲ)`.
pub(crate) fn evaluate_at(values: &[Scalar], x: Scalar) -> Scalar {
    let n = values.len();
    let w = root_of_unity(n.trailing_zeros());
    let mut power = Scalar::ONE;
    let mut sum = Scalar::ZERO;
    for value in values {
        sum += *value * power * (x - power).invert().expect("x is no root of unity");
        power *= w;
    }
    sum * (x.pow_vartime([n as u64]) - Scalar::ONE)
        * Scalar::from(n as u64).invert().expect("n is not zero")
}

/// A primitive root of order `2^log_n`.
pub(crate) fn root_of_unity(log_n: u32) -> Scalar {
    let squarings = Scalar::S - log_n;
    (0..squarings).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

/// A polynomial with these coefficients at `x`.
pub(crate) fn horner(coefficients: &[Scalar], x: Scalar) -> Scalar {
    coefficients
        .iter()
        .rev()
        .fold(Scalar::ZERO, |sum, c| sum * x + c)
}

/// `values` with every index's bits reversed.
pub(crate) fn bit_reversed<T: Clone>(values: &[T]) -> Vec<T> {
    let bits = values.len().trailing_zeros();
    let place = |i: usize| {
        if bits == 0 {
            0
        } else {
            i.reverse_bits() >> (usize::BITS - bits)
        }
    };
    (0..values.len())
        .map(|i| values[place(i)].clone())
        .collect()
}
