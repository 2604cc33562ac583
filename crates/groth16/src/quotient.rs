//! The quotient polynomial in six transforms.
//!
//! Let A and B interpolate a and b on the n-th roots of unity, and split their product, of degree below 2n, into halves:
//! `A·B = L + Xⁿ·U`. The polynomial C that interpolates c = a∘b on the domain is `A·B mod Xⁿ − 1 = L + U`. On the odd coset
//! `g·ωⁱ`, where gⁿ = −1, the products `A·B` are the values of `N = A·B mod Xⁿ + 1 = L − U`. So
//!
//! ```text
//! h = (A·B − C)/(Xⁿ − 1) = (L + Xⁿ·U − L − U)/(Xⁿ − 1) = U = (C − N)/2
//! ```
//!
//! Two transforms to coefficients and two to the coset for A and B, one back for N, one for C. The evaluation of C on the
//! coset, and with it the seventh transform of the textbook, is never needed.

use blstrs::Scalar;
use ff::Field;

use crate::ntt::Domain;

/// Overwrites `a` with the n coefficients of h, lowest first; the last one is zero. `a` and `b` hold A and B's values on
/// the domain, and both have its length n; `b` is left with nothing of use. On all cores.
pub fn quotient(domain: &Domain, a: &mut [Scalar], b: &mut [Scalar]) {
    // c = a∘b, for a satisfied system. It does not outlive the quotient: the multiplication that follows in a proof takes
    // more memory than anything else.
    let mut c = domain.products(a, b);

    // N: A and B onto the coset, multiplied, and back. Transforms back come out n times too large, so n³·N, with
    // the coefficients in bit-reversed order, which is undone once at the very end.
    domain.extend_to_coset(a, b);
    domain.multiply(a, b);
    domain.coset_intt_to_bitrev(a);

    // h = (C − N)/2, from n·C and n³·N.
    domain.intt_to_bitrev(&mut c);
    let n = Scalar::from(a.len() as u64);
    let inverse = |x: Scalar| {
        x.invert()
            .expect("a power of two is not zero in a field of odd order")
    };
    let scale_c = inverse(n.double());
    domain.combine(a, &(-inverse(n.square()) * scale_c), &c, &scale_c);
    domain.bit_reverse(a);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Isa;
    use ff::PrimeField;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Coefficients of the polynomial of degree below n through `values` on the domain, by Lagrange's sum.
    fn interpolate(values: &[Scalar], omega: Scalar) -> Vec<Scalar> {
        let n = values.len();
        let inverse_n = Scalar::from(n as u64).invert().unwrap();
        let inverse_omega = omega.invert().unwrap();
        let power = |i: usize, j: usize| inverse_omega.pow_vartime([(i * j) as u64]);
        let coefficient = |j| (0..n).map(|i| values[i] * power(i, j)).sum::<Scalar>();
        (0..n).map(|j| coefficient(j) * inverse_n).collect()
    }

    /// `(A·B − C)/(Xⁿ − 1)` by schoolbook multiplication and long division; panics when a remainder is left.
    fn naive(a: &[Scalar], b: &[Scalar], omega: Scalar) -> Vec<Scalar> {
        let n = a.len();
        let c: Vec<Scalar> = a.iter().zip(b).map(|(a, b)| *a * b).collect();
        let mut rest = vec![Scalar::ZERO; 2 * n];
        let (a, b) = (interpolate(a, omega), interpolate(b, omega));
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                rest[i + j] += *a * b;
            }
        }
        for (rest, c) in rest.iter_mut().zip(interpolate(&c, omega)) {
            *rest -= c;
        }
        let mut quotient = vec![Scalar::ZERO; n];
        for i in (0..n).rev() {
            quotient[i] = rest[n + i];
            let leading = quotient[i];
            rest[i] += leading;
        }
        assert!(
            rest[..n].iter().all(|value| value.is_zero().into()),
            "Xⁿ − 1 divides"
        );
        quotient
    }

    fn isas() -> impl Iterator<Item = Isa> {
        [Isa::Portable, Isa::Avx512Ifma]
            .into_iter()
            .filter(|isa| isa.is_available())
    }

    #[test]
    fn agrees_with_long_division() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for isa in isas() {
            for log in 0..8 {
                let domain = Domain::new(isa, log).unwrap();
                let omega = (log..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
                let mut random =
                    || -> Vec<Scalar> { (0..1 << log).map(|_| Scalar::random(&mut rng)).collect() };
                let (mut a, mut b) = (random(), random());
                let expected = naive(&a, &b, omega);
                quotient(&domain, &mut a, &mut b);
                assert_eq!(a, expected, "2^{log} on {isa}");
            }
        }
    }

    /// Domain {1, −1}. a = (3, 1), b = (5, 1): A = 2 + X, B = 3 + 2X, A·B = 6 + 7X + 2X²; c = (15, 1): C = 8 + 7X.
    /// A·B − C = 2X² − 2 = 2·(X² − 1).
    #[test]
    fn by_hand() {
        let scalars = |values: [u64; 2]| values.map(Scalar::from);
        for isa in isas() {
            let domain = Domain::new(isa, 1).unwrap();
            let (mut a, mut b) = (scalars([3, 1]), scalars([5, 1]));
            quotient(&domain, &mut a, &mut b);
            assert_eq!(a, scalars([2, 0]));
        }
    }
}
