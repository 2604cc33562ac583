//! The kernels at the size of a 32 GiB sector's circuit: no index and no size may break at a domain of 2^27.
//!
//! `cargo test --release -p cuzk-groth16 --test full_size -- --ignored` takes minutes and 13 GiB of memory; the same code
//! runs on small domains with the other tests. `CUZK_LOG` chooses another size.

use cuzk_groth16::field::Isa;
use cuzk_groth16::msm::{self, G1, Group};
use cuzk_groth16::ntt::Domain;
use cuzk_groth16::quotient::quotient;
use ff::{Field, PrimeField};
use group::{Curve, Group as _};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use blstrs::{G1Projective, Scalar};

fn log_size() -> u32 {
    let log = std::env::var("CUZK_LOG").ok();
    log.map_or(27, |log| log.parse().expect("CUZK_LOG is a number"))
}

/// Coefficients and degrees.
type Sparse = Vec<(Scalar, usize)>;

/// Values on the domain of 2^log points.
fn evaluate(polynomial: &Sparse, log: u32) -> Vec<Scalar> {
    const PART: usize = 1 << 12;
    let n = 1usize << log;
    let omega = (log..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
    let mut values = vec![Scalar::ZERO; n];
    values
        .par_chunks_mut(PART)
        .enumerate()
        .for_each(|(part, values)| {
            for (coefficient, degree) in polynomial {
                let step = omega.pow_vartime([*degree as u64]);
                let mut term = step.pow_vartime([(part * PART) as u64]) * coefficient;
                for value in &mut *values {
                    *value += &term;
                    term *= &step;
                }
            }
        });
    values
}

/// A and B have three terms each, so that the product is known, and with it h: the part from X^n on.
fn finds_the_quotient_of_sparse_polynomials(log: u32) {
    let n = 1usize << log;
    let terms = |degrees: [usize; 3], first: u64| -> Sparse {
        (first..).map(Scalar::from).zip(degrees).collect()
    };
    let a = terms([0, n / 2 + 1, n - 1], 3);
    let b = terms([1, n / 2 + 5, n - 1], 7);
    let mut expected = vec![(0usize, Scalar::ZERO); 0];
    for (x, i) in &a {
        for (y, j) in &b {
            if i + j >= n {
                expected.push((i + j - n, x * y));
            }
        }
    }
    let (mut h, mut b) = (evaluate(&a, log), evaluate(&b, log));
    let domain = Domain::new(Isa::detect(), log).expect("a domain of the field");
    quotient(&domain, &mut h, &mut b);
    for (degree, coefficient) in expected {
        h[degree] -= coefficient;
    }
    let first_wrong = h.par_iter().position_first(|rest| !rest.is_zero_vartime());
    assert_eq!(first_wrong, None, "all coefficients of 2^{log}");
}

/// Bases that repeat over and over: a file mapped many times in a row takes room once.
#[cfg(target_os = "linux")]
mod repeated {
    use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
    use std::io::Write;

    pub(super) struct Repeated {
        start: *mut std::ffi::c_void,
        bytes: usize,
    }

    impl Repeated {
        /// `part`, whole pages of it, `times` times.
        pub(super) fn new(part: &[u8], times: usize) -> Self {
            assert!(part.len().is_multiple_of(rustix::param::page_size()));
            let mut file = tempfile::tempfile().expect("a temporary file");
            file.write_all(part).expect("room for the bases");
            let bytes = part.len() * times;
            // SAFETY: new mappings, the later ones in place of parts of the first, which nobody uses; the file has as
            // many bytes and is nobody else's.
            unsafe {
                let start = mmap_anonymous(
                    std::ptr::null_mut(),
                    bytes,
                    ProtFlags::READ,
                    MapFlags::PRIVATE | MapFlags::NORESERVE,
                )
                .expect("room for addresses");
                for i in 0..times {
                    let at = start.cast::<u8>().add(i * part.len()).cast();
                    let flags = MapFlags::PRIVATE | MapFlags::FIXED;
                    mmap(at, part.len(), ProtFlags::READ, flags, &file, 0)
                        .expect("a mapping of the file");
                }
                Repeated { start, bytes }
            }
        }

        pub(super) fn bytes(&self) -> &[u8] {
            // SAFETY: mapped for as long as self lives, and never written.
            unsafe { std::slice::from_raw_parts(self.start.cast(), self.bytes) }
        }
    }

    impl Drop for Repeated {
        fn drop(&mut self) {
            // SAFETY: as mapped by `new`; all borrows have ended.
            unsafe { munmap(self.start, self.bytes) }.expect("was mapped");
        }
    }
}

/// 2^log terms over bases that repeat with period 2^period, against blst with the scalars of each base added up.
#[cfg(target_os = "linux")]
fn multiplies_repeated_bases(log: u32, period: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let step = G1Projective::random(&mut rng);
    let walk = std::iter::successors(Some(G1Projective::random(&mut rng)), |at| Some(at + step));
    let points: Vec<_> = walk
        .take(1 << period)
        .map(|point| point.to_affine())
        .collect();
    let encodings: Vec<u8> = points.iter().flat_map(G1::encode).collect();
    let repeated = repeated::Repeated::new(&encodings, 1 << (log - period));
    let (bases, rest) = repeated.bytes().as_chunks::<96>();
    assert!(rest.is_empty());

    // Squares of a line: cheap, and as wide as scalars are.
    let (start, slope) = (Scalar::random(&mut rng), Scalar::random(&mut rng));
    let mut scalars = vec![Scalar::ZERO; 1 << log];
    scalars
        .par_chunks_mut(1 << period)
        .enumerate()
        .for_each(|(part, scalars)| {
            let mut at = start + slope * Scalar::from((part << period) as u64);
            for scalar in scalars {
                *scalar = at.square();
                at += &slope;
            }
        });
    let folded: Vec<Scalar> = (0..1 << period)
        .into_par_iter()
        .map(|i| scalars[i..].iter().step_by(1 << period).sum())
        .collect();
    let projective: Vec<_> = points.iter().map(G1Projective::from).collect();
    let expected = G1Projective::multi_exp(&projective, &folded);
    let found = msm::multiply::<G1>(Isa::detect(), bases, &scalars);
    assert_eq!(found, expected, "2^{log} terms");

    // Every base of an odd number.
    let selected = vec![0xaaaa_aaaa_aaaa_aaaa_u64; 1 << (log - 6)];
    let odd: G1Projective = projective.iter().skip(1).step_by(2).sum();
    let expected = odd * Scalar::from(1u64 << (log - period));
    let found = msm::sum::<G1>(Isa::detect(), bases, &selected);
    assert_eq!(found, expected, "every other of 2^{log} bases");
}

#[test]
fn quotient_of_small_sparse_polynomials() {
    for log in [4, 12, 15] {
        finds_the_quotient_of_sparse_polynomials(log);
    }
}

#[test]
#[ignore = "takes minutes and 13 GiB"]
fn quotient_of_large_sparse_polynomials() {
    finds_the_quotient_of_sparse_polynomials(log_size());
}

#[test]
#[cfg(target_os = "linux")]
fn multiplication_of_few_repeated_bases() {
    multiplies_repeated_bases(15, 9);
}

#[test]
#[ignore = "takes minutes and 5 GiB"]
#[cfg(target_os = "linux")]
fn multiplication_of_many_repeated_bases() {
    multiplies_repeated_bases(log_size(), 14);
}
