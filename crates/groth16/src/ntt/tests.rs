//! Against a naive transform and against each other.

use super::*;
use crate::field::Isa;
use blstrs::Scalar;
use ff::{Field, PrimeField};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn isas() -> Vec<Isa> {
    let (here, absent): (Vec<_>, Vec<_>) = Isa::ALL.into_iter().partition(|isa| isa.is_available());
    for isa in absent {
        eprintln!("skipped: this cpu has no {isa}");
    }
    here
}

/// Values with the extremes among them.
fn values(len: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut values: Vec<_> = (0..len).map(|_| Scalar::random(&mut rng)).collect();
    for (i, extreme) in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2)]
        .into_iter()
        .enumerate()
    {
        values[i * 5 % len] = extreme;
    }
    values
}

fn root(log: u32) -> Scalar {
    (log..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

fn evaluate(coefficients: &[Scalar], point: Scalar) -> Scalar {
    coefficients
        .iter()
        .rev()
        .fold(Scalar::ZERO, |sum, c| sum * point + c)
}

fn reversed(values: &[Scalar]) -> Vec<Scalar> {
    let log = values.len().ilog2();
    let at = |i: usize| {
        if log == 0 {
            0
        } else {
            i.reverse_bits() >> (usize::BITS - log)
        }
    };
    (0..values.len()).map(|i| values[at(i)]).collect()
}

#[test]
fn forward_transforms_evaluate_the_polynomial() {
    for isa in isas() {
        for log in 0..=13 {
            let domain = Domain::new(isa, log).unwrap();
            let coefficients = values(1 << log, 1);
            let (mut plain, mut coset) = (reversed(&coefficients), reversed(&coefficients));
            domain.ntt_from_bitrev(&mut plain);
            domain.coset_ntt_from_bitrev(&mut coset);
            // All points of small domains, some of larger ones.
            for i in (0..1usize << log).step_by((1 << log) / 64 + 1) {
                let (point, shift) = (root(log).pow([i as u64]), root(log + 1));
                assert_eq!(
                    plain[i],
                    evaluate(&coefficients, point),
                    "{isa} 2^{log} point {i}"
                );
                assert_eq!(
                    coset[i],
                    evaluate(&coefficients, shift * point),
                    "{isa} 2^{log} coset point {i}"
                );
            }
        }
    }
}

#[test]
fn inverse_transforms_undo_the_forward_ones_but_for_n() {
    for isa in isas() {
        for log in [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 15, 16] {
            let domain = Domain::new(isa, log).unwrap();
            let coefficients = values(1 << log, 2);
            let n = Scalar::from(1u64 << log);
            let expected: Vec<_> = coefficients.iter().map(|c| *c * n).collect();
            let mut there_and_back = coefficients.clone();
            domain.ntt_from_bitrev(&mut there_and_back);
            domain.intt_to_bitrev(&mut there_and_back);
            assert!(there_and_back == expected, "{isa} 2^{log}");
            let mut there_and_back = coefficients;
            domain.coset_ntt_from_bitrev(&mut there_and_back);
            domain.coset_intt_to_bitrev(&mut there_and_back);
            assert!(there_and_back == expected, "{isa} 2^{log} coset");
        }
    }
}

#[test]
fn extending_is_inverse_and_coset_transform() {
    for isa in isas() {
        // 2^21 takes a pass whose tiles do not fit the cache side by side, and one whose tiles do.
        for log in [0, 3, 6, 9, 14, 21] {
            let domain = Domain::new(isa, log).unwrap();
            let mut two_steps = [values(1 << log, 3), values(1 << log, 4)];
            let [mut a, mut b] = two_steps.clone();
            for values in &mut two_steps {
                domain.intt_to_bitrev(values);
                domain.coset_ntt_from_bitrev(values);
            }
            domain.extend_to_coset(&mut a, &mut b);
            assert!([a, b] == two_steps, "{isa} 2^{log}");
        }
    }
}

#[test]
fn three_passes_agree_between_instruction_sets() {
    // 2^23 takes three passes; a sum of two monomials is known at every point.
    let log = 23;
    let (i, j) = (5_000_001, 77);
    for isa in isas() {
        let domain = Domain::new(isa, log).unwrap();
        let mut coefficients = vec![Scalar::ZERO; 1 << log];
        coefficients[i] = Scalar::from(3);
        coefficients[j] = Scalar::from(5);
        domain.bit_reverse(&mut coefficients);
        domain.coset_ntt_from_bitrev(&mut coefficients);
        for k in [0u64, 1, 12_345, 4_194_304, 8_388_607] {
            let point = root(log + 1).pow([2 * k + 1]);
            let expected =
                Scalar::from(3) * point.pow([i as u64]) + Scalar::from(5) * point.pow([j as u64]);
            assert_eq!(coefficients[k as usize], expected, "{isa} point {k}");
        }
    }
}

#[test]
fn elements_are_multiplied_and_combined() {
    let extremes = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2)];
    for isa in isas() {
        for log in [0, 2, 3, 7, 13] {
            let domain = Domain::new(isa, log).unwrap();
            let (mut a, mut b) = (values(domain.len(), 5), values(domain.len(), 6));
            for (i, value) in a.iter_mut().zip(&mut b).take(16).enumerate() {
                (*value.0, *value.1) = (extremes[i % 4], extremes[i / 4]);
            }
            let products: Vec<Scalar> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
            assert_eq!(domain.products(&a, &b), products, "2^{log} on {isa}");
            let mut in_place = a.clone();
            domain.multiply(&mut in_place, &b);
            assert_eq!(in_place, products, "2^{log} on {isa}");
            for x in extremes {
                let y = values(1, 7)[0];
                let expected: Vec<Scalar> = a.iter().zip(&b).map(|(a, b)| x * a + y * b).collect();
                let mut combined = a.clone();
                domain.combine(&mut combined, &x, &b, &y);
                assert_eq!(combined, expected, "2^{log} on {isa}");
            }
        }
    }
}

#[test]
fn bits_are_reversed() {
    for log in 0..=14 {
        let domain = Domain::new(Isa::Portable, log).unwrap();
        let before = values(1 << log, 4);
        let mut after = before.clone();
        domain.bit_reverse(&mut after);
        assert!(after == reversed(&before), "2^{log}");
    }
}

#[test]
fn too_large_domains_are_refused() {
    let error = Domain::new(Isa::Portable, 32).err();
    assert_eq!(
        error,
        Some(DomainError {
            found: 32,
            expected: 31
        })
    );
}
