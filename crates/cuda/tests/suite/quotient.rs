//! The quotient's kernels against Lagrange's formula.

use crate::support::{bit_reversed, device, evaluate_at, horner, plain, random_scalars};
use blstrs::Scalar;
use cuzk_cuda::{DeviceError, Quotient};
use ff::{Field, PrimeField};

fn from_plain(bytes: &[[u8; 32]]) -> Vec<Scalar> {
    bytes
        .iter()
        .map(|b| Scalar::from_repr_vartime(*b).expect("values come out below r"))
        .collect()
}

/// h·(xⁿ − 1) = A·B − C at a random point, with A, B and C interpolated from values.
fn check_quotient(digits: [u32; 3]) {
    let log_n: u32 = digits.iter().sum();
    let n = 1usize << log_n;
    let device = device();
    let tables = Quotient::with_digits(&device, digits).expect("tables");
    let (mut a, b) = (random_scalars(n, 1), random_scalars(n, 2));
    a[1] = Scalar::ZERO;
    a[2] = -Scalar::ONE;

    let memory = device.allocate(3 * 32 * n as u64).expect("memory");
    let [device_a, device_b, device_c] =
        [0, 1, 2].map(|i| memory.region(i * 32 * n as u64, 32 * n as u64));
    device_a.upload(&plain(&a)).expect("upload");
    device_b.upload(&b).expect("upload");
    tables.run(device_a, device_b, device_c).expect("quotient");
    let mut h = vec![[0u8; 32]; n];
    device_a.download(&mut h).expect("download");
    let h = bit_reversed(&from_plain(&h));

    assert_eq!(h[n - 1], Scalar::ZERO, "degree n - 2");
    let x = random_scalars(1, 3)[0];
    let c: Vec<_> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    let [a, b, c] = [&a, &b, &c].map(|values| evaluate_at(values, x));
    let vanishing = x.pow_vartime([n as u64]) - Scalar::ONE;
    assert_eq!(horner(&h, x) * vanishing, a * b - c, "digits {digits:?}");
}

#[test]
fn quotient_of_every_digit_in_every_place() {
    for digits in [
        [3, 3, 3],
        [4, 3, 3],
        [3, 4, 3],
        [3, 3, 4],
        [6, 3, 3],
        [3, 6, 3],
        [3, 3, 6],
    ] {
        check_quotient(digits);
    }
    for digits in [
        [7, 3, 3],
        [3, 7, 3],
        [3, 3, 7],
        [8, 3, 3],
        [3, 8, 3],
        [3, 3, 8],
    ] {
        check_quotient(digits);
    }
    for digits in [[9, 3, 3], [3, 9, 3], [3, 3, 9]] {
        check_quotient(digits);
    }
}

#[test]
fn quotient_with_the_cut_of_a_small_circuit() {
    let device = device();
    let n = 1 << 13;
    let tables = Quotient::new(&device, 13).expect("tables");
    let x = device.allocate_copy(&random_scalars(n, 5)).expect("memory");
    tables.half_inverse(x.all()).expect("transform");
    let mut halves = vec![Scalar::ZERO; n];
    x.all().download(&mut halves).expect("download");
    let point = random_scalars(1, 6)[0];
    assert_eq!(
        horner(&bit_reversed(&halves), point).double(),
        evaluate_at(&random_scalars(n, 5), point)
    );
}

#[test]
fn domains_without_kernels_are_refused() {
    for log_n in [0, 8, 28] {
        let refused = Quotient::new(&device(), log_n);
        assert!(
            matches!(refused.err(), Some(DeviceError::Unsupported(_))),
            "2^{log_n}"
        );
    }
    let refused = Quotient::with_digits(&device(), [5, 3, 3]);
    assert!(matches!(refused.err(), Some(DeviceError::Unsupported(_))));
}
