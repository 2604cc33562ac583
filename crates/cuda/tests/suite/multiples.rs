//! Multiples of one point against blst, edges included.

use blstrs::Scalar;
use cuzk_cuda::{Bases, Curve, G1, G2, Multiples};
use ff::Field;
use group::Group;

use crate::support::{device, encode_all, random_scalars};

/// Zero, one, minus one, digits that are all ones, and random scalars.
fn scalars(n: usize) -> Vec<Scalar> {
    let mut scalars = random_scalars(n, 5);
    let edges = [
        Scalar::ZERO,
        Scalar::ONE,
        -Scalar::ONE,
        Scalar::from(u64::MAX),
        Scalar::from(1 << 16),
    ];
    scalars[..edges.len()].copy_from_slice(&edges);
    scalars
}

fn check<C: Curve>(digit_bits: u32, n: usize) {
    let device = device();
    let point = C::Point::generator() * Scalar::from(77);
    let scalars = scalars(n);
    let expected: Vec<_> = scalars.iter().map(|s| point * s).collect();
    // Less room than scalars: several chunks.
    let multiples =
        Multiples::<C>::with_digits(&device, point, digit_bits, n / 2 + 1).expect("table");
    let found = Bases::<C>::at_infinity(&device, n + 2).expect("memory");
    multiples.write(&found, 1, &scalars).expect("multiples");

    let mut padded = vec![C::Point::identity()];
    padded.extend(expected);
    padded.push(C::Point::identity());
    let expected =
        Bases::<C>::load(&device, "expected", &encode_all::<C>(&padded), None).expect("bases");
    assert!(
        bytes(&found) == bytes(&expected),
        "{digit_bits} bits a digit, {n} scalars"
    );
}

fn bytes<C: Curve>(bases: &Bases<C>) -> Vec<u8> {
    let mut bytes = vec![0; bases.bytes() as usize];
    bases.region().download(&mut bytes).expect("download");
    bytes
}

#[test]
fn multiples_in_g1() {
    check::<G1>(2, 7);
    check::<G1>(8, 700);
}

#[test]
fn multiples_in_g1_by_wide_digits() {
    check::<G1>(16, 50);
}

#[test]
fn multiples_in_g2() {
    check::<G2>(4, 9);
    check::<G2>(8, 300);
}
