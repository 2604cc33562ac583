//! Lagrange coefficients at one point.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;

const CHUNK: usize = 1 << 12;

/// A generator of the subgroup of order `2^log_size`.
fn root_of_unity(log_size: u32) -> Scalar {
    assert!(
        log_size <= Scalar::S,
        "the field has no subgroup of order 2^{log_size}"
    );
    (log_size..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

/// `Lᵢ(τ) = ωⁱ·(τⁿ − 1) / (n·(τ − ωⁱ))` for i below `count`, over the domain of the n-th roots of unity, n = 2^log_domain.
/// τ must lie outside the domain.
pub(super) fn lagrange_at(tau: Scalar, log_domain: u32, count: usize) -> Vec<Scalar> {
    let n = 1u64 << log_domain;
    let omega = root_of_unity(log_domain);
    let scale = (tau.pow_vartime([n]) - Scalar::ONE)
        * Scalar::from(n)
            .invert()
            .expect("a power of two is not zero in a field of odd order");
    let mut coefficients = vec![Scalar::ZERO; count];
    coefficients
        .par_chunks_mut(CHUNK)
        .enumerate()
        .for_each(|(chunk, out)| {
            let mut power = omega.pow_vartime([(chunk * CHUNK) as u64]);
            let mut numerators = Vec::with_capacity(out.len());
            for value in out.iter_mut() {
                numerators.push(scale * power);
                *value = tau - power;
                power *= omega;
            }
            batch_invert(out);
            for (value, numerator) in out.iter_mut().zip(&numerators) {
                *value *= numerator;
            }
        });
    coefficients
}

/// Montgomery's trick: one inversion for all. None may be zero.
fn batch_invert(values: &mut [Scalar]) {
    let mut product = Scalar::ONE;
    let mut before = Vec::with_capacity(values.len());
    for value in values.iter() {
        before.push(product);
        product *= value;
    }
    let mut inverse = product.invert().expect("tau lies outside the domain");
    for (value, before) in values.iter_mut().zip(before).rev() {
        let next = inverse * *value;
        *value = inverse * before;
        inverse = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interpolating X³ through its values gives τ³ at τ.
    #[test]
    fn coefficients_interpolate() {
        let (tau, log) = (Scalar::from(0x1234_5678_9abc), 13);
        let omega = root_of_unity(log);
        assert_eq!(omega.pow_vartime([1 << log]), Scalar::ONE);
        assert_eq!(omega.pow_vartime([1 << (log - 1)]), -Scalar::ONE);
        let coefficients = lagrange_at(tau, log, 1 << log);
        let mut x = Scalar::ONE;
        let mut sum = Scalar::ZERO;
        for coefficient in coefficients {
            sum += coefficient * x.square() * x;
            x *= omega;
        }
        assert_eq!(sum, tau.square() * tau);
    }
}
