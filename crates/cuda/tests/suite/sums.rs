//! Multi-scalar multiplications and sums against scalar-by-scalar references, edges included.

use crate::support::{device, encode_all, naive_msm, plain, random_points, random_scalars, rng};
use blstrs::Scalar;
use cuzk_cuda::{
    Bases, Curve, Density, DeviceError, G1, G2, IndexList, Pairing, Windows, msm, msm_workspace,
};
use ff::Field;
use group::Group;
use rand::RngCore;

const CASES: [&str; 9] = [
    "random",
    "scalars 0",
    "scalars 1",
    "scalars -1",
    "one scalar for all",
    "one point for all",
    "P and -P",
    "some points at infinity",
    "mixture",
];

/// Inputs that exercise the edges.
fn make_case<C: Curve>(n: usize, case: usize) -> (Vec<C::Point>, Vec<Scalar>) {
    let mut points = random_points::<C>(n, 11 + case as u64);
    let mut scalars = random_scalars(n, 7 + case as u64);
    for i in 0..n {
        match if case == 8 { (i * 7 % 23) % 8 } else { case } {
            1 => scalars[i] = Scalar::ZERO,
            2 => scalars[i] = Scalar::ONE,
            3 => scalars[i] = -Scalar::ONE,
            4 => scalars[i] = scalars[0],
            5 => points[i] = points[0],
            6 if i % 2 == 1 => {
                points[i] = -points[i - 1];
                scalars[i] = scalars[i - 1];
            }
            7 if i % 3 == 0 => points[i] = C::Point::identity(),
            _ => {}
        }
    }
    (points, scalars)
}

fn check_msm<C: Curve>(n: usize, windows: &[Option<Windows>], cases: &[usize]) {
    let device = device();
    for &case in cases {
        let (points, scalars) = make_case::<C>(n, case);
        let expected = naive_msm(&points, &scalars);
        let bases =
            Bases::<C>::load(&device, "test", &encode_all::<C>(&points), None).expect("bases");
        let scalars = device.allocate_copy(&plain(&scalars)).expect("scalars");
        for &windows in windows {
            let bytes = msm_workspace::<C>(&device, n as u32, windows).expect("workspace");
            let workspace = device.allocate(bytes).expect("workspace");
            let pairing = Pairing::straight(n as u32);
            let sum = msm(&bases, scalars.all(), &pairing, windows, workspace.all()).expect("msm");
            assert!(sum == expected, "{} {n} terms, {windows:?}", CASES[case]);
        }
    }
}

fn windows(count: u32, per_batch: u32) -> Option<Windows> {
    Some(Windows { count, per_batch })
}

#[test]
fn g1_of_few_terms() {
    let all: Vec<_> = (0..CASES.len()).collect();
    for n in [1, 2, 3, 64] {
        check_msm::<G1>(n, &[windows(37, 1)], &all);
        check_msm::<G1>(n, &[None, windows(26, 3)], &[8]);
    }
}

#[test]
fn g1_of_a_thousand_terms() {
    let all: Vec<_> = (0..CASES.len()).collect();
    check_msm::<G1>(1000, &[None], &all);
    check_msm::<G1>(
        1000,
        &[windows(37, 5), windows(20, 20), windows(20, 1)],
        &[8],
    );
}

#[test]
fn g2_of_few_terms() {
    let all: Vec<_> = (0..CASES.len()).collect();
    for n in [1, 3, 64] {
        check_msm::<G2>(n, &[None, windows(26, 3)], &all);
    }
}

#[test]
fn g2_of_a_thousand_terms() {
    check_msm::<G2>(1000, &[None], &[4, 8]);
}

#[test]
fn wide_windows_make_several_tiles() {
    check_msm::<G1>(300, &[windows(17, 4), windows(16, 16)], &[8]);
}

#[test]
fn terms_by_list() {
    let device = device();
    let (points, scalars) = (random_points::<G1>(500, 1), random_scalars(300, 2));
    let base_of: Vec<u32> = (0..100).map(|i| (i * 37 + 5) % 500).collect();
    let scalar_of: Vec<u32> = (0..100).map(|i| (i * 7 + 3) % 300).collect();
    let expected = (0..100)
        .map(|i| points[base_of[i] as usize] * scalars[scalar_of[i] as usize])
        .sum();
    let bases =
        Bases::<G1>::load(&device, "test", &encode_all::<G1>(&points), None).expect("bases");
    let scalars = device.allocate_copy(&plain(&scalars)).expect("scalars");
    let pairing = Pairing {
        count: 100,
        scalar_of: Some(IndexList::new(&device, &scalar_of).expect("list")),
        base_of: Some(IndexList::new(&device, &base_of).expect("list")),
    };
    let bytes = msm_workspace::<G1>(&device, 100, None).expect("workspace");
    let workspace = device.allocate(bytes).expect("workspace");
    let sum = msm(&bases, scalars.all(), &pairing, None, workspace.all()).expect("msm");
    assert!(sum == expected);
}

/// Sums over the ones of random words of which `density` variables have a base.
fn check_ones<C: Curve>(
    words: usize,
    first_base: u32,
    dense: impl Fn(&mut dyn RngCore) -> u64,
    bits: impl Fn(&mut dyn RngCore) -> u64,
) where
    C::Point: Group<Scalar = Scalar>,
{
    let device = device();
    let mut rng = rng(words as u64);
    let density: Vec<u64> = (0..words).map(|_| dense(&mut rng)).collect();
    let bits: Vec<u64> = (0..words).map(|_| bits(&mut rng)).collect();
    let dense_variables: Vec<_> = (0..64 * words)
        .filter(|i| density[i / 64] >> (i % 64) & 1 == 1)
        .collect();
    let points = random_points::<C>(first_base as usize + dense_variables.len(), 3);
    let expected = dense_variables
        .iter()
        .enumerate()
        .filter(|(_, i)| bits[*i / 64] >> (*i % 64) & 1 == 1)
        .map(|(rank, _)| points[first_base as usize + rank])
        .sum();
    let bases = Bases::<C>::load(&device, "test", &encode_all::<C>(&points), None).expect("bases");
    let density = Density::new(&device, &density, first_base).expect("density");
    let workspace = device
        .allocate(density.workspace::<C>().expect("workspace"))
        .expect("workspace");
    let bits = device.allocate_copy(&bits).expect("bits");
    let sum = density
        .sum_ones(&bases, bits.all(), workspace.all())
        .expect("sum");
    assert!(sum == expected, "{words} words");
}

#[test]
fn sums_over_ones() {
    for words in [1, 2, 400] {
        check_ones::<G1>(words, 0, |_| u64::MAX, |rng| rng.next_u64());
        check_ones::<G1>(
            words,
            5,
            |rng| rng.next_u64(),
            |rng| rng.next_u64() & rng.next_u64(),
        );
    }
    check_ones::<G1>(3, 1, |_| u64::MAX, |_| 0);
    check_ones::<G1>(3, 1, |_| 0, |_| u64::MAX);
    check_ones::<G2>(40, 3, |rng| rng.next_u64(), |rng| rng.next_u64());
}

#[test]
fn bases_may_be_stored_bit_reversed() {
    let device = device();
    let points = random_points::<G1>(7, 1);
    let scalars = random_scalars(8, 2);
    let bases =
        Bases::<G1>::load(&device, "test", &encode_all::<G1>(&points), Some(3)).expect("bases");
    let scalars_reversed = device
        .allocate_copy(&plain(&crate::support::bit_reversed(&scalars)))
        .expect("scalars");
    let workspace = device
        .allocate(msm_workspace::<G1>(&device, 8, None).expect("workspace"))
        .expect("workspace");
    let sum = msm(
        &bases,
        scalars_reversed.all(),
        &Pairing::straight(8),
        None,
        workspace.all(),
    )
    .expect("msm");
    assert!(sum == naive_msm(&points, &scalars[..7]));
}

#[test]
fn points_off_the_curve_are_refused() {
    let device = device();
    let mut encoded = encode_all::<G1>(&random_points::<G1>(10, 1));
    encoded[96 * 6 + 95] ^= 1;
    let refused = Bases::<G1>::load(&device, "l", &encoded, None).err();
    assert_eq!(
        refused,
        Some(DeviceError::OffCurve {
            query: "l",
            index: 6
        })
    );
    let mut encoded = encode_all::<G2>(&random_points::<G2>(10, 1));
    encoded[192 * 3 + 100] ^= 1;
    let refused = Bases::<G2>::load(&device, "b_g2", &encoded, None).err();
    assert_eq!(
        refused,
        Some(DeviceError::OffCurve {
            query: "b_g2",
            index: 3
        })
    );
    let infinity = encode_all::<G2>(&[<G2 as cuzk_cuda::Curve>::Point::identity()]);
    assert_eq!(
        Bases::<G2>::load(&device, "b_g2", &infinity, None)
            .expect("infinity is a point")
            .count(),
        1
    );
}
