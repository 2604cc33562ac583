//! Inputs of any size whose sums are known: bases with known logarithms, and random scalars.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_cuda::{Bases, Curve, Device, DeviceError};
use ff::{Field, PrimeField};
use group::Group;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Seed points; larger sets repeat them with shifts.
const SEEDS: usize = 1 << 14;

/// Scalars, and the logarithms of bases.
pub(crate) struct Inputs {
    /// Plain, below r.
    pub(crate) scalars: Vec<[u8; 32]>,
    /// Random words.
    pub(crate) words: Vec<u64>,
    first: Scalar,
    step: Scalar,
    shifts: Vec<Scalar>,
}

/// The modulus's top word.
const TOP: u64 = 0x73ed_a753_299d_7d48;

impl Inputs {
    pub(crate) fn new(largest: u32) -> Self {
        let n = 1usize << largest;
        let mut scalars = vec![[0u8; 32]; n];
        scalars
            .par_chunks_mut(SEEDS)
            .enumerate()
            .for_each(|(i, chunk)| {
                let mut rng = ChaCha8Rng::seed_from_u64(i as u64);
                for scalar in chunk {
                    rng.fill_bytes(&mut scalar[..24]);
                    scalar[24..].copy_from_slice(&(rng.next_u64() % TOP).to_le_bytes());
                }
            });
        let mut rng = ChaCha8Rng::seed_from_u64(u64::MAX);
        let mut random = || Scalar::random(&mut rng);
        let (first, step) = (random(), random());
        let shifts = (0..=largest).map(|_| random()).collect();
        let words = (0..n.div_ceil(64)).map(|_| rng.next_u64()).collect();
        Self {
            scalars,
            words,
            first,
            step,
            shifts,
        }
    }

    /// Base `i` is the generator times `first + (i mod SEEDS)·step`, plus `shifts[k]` for every bit k of `i / SEEDS`.
    pub(crate) fn bases<C: Curve>(
        &self,
        device: &Arc<Device>,
        count: u32,
    ) -> Result<Bases<C>, DeviceError> {
        let step = C::Point::generator() * self.step;
        let seeds: Vec<_> = (0..SEEDS)
            .scan(C::Point::generator() * self.first, |point, _| {
                let here = *point;
                *point += step;
                Some(here)
            })
            .collect();
        let shifts: Vec<_> = self
            .shifts
            .iter()
            .map(|s| C::Point::generator() * s)
            .collect();
        Bases::synthetic(device, &C::encode(&seeds), &C::encode(&shifts), count)
    }

    /// The logarithm of base `i`.
    pub(crate) fn logarithm(&self, i: usize) -> Scalar {
        self.first + self.step * Scalar::from((i % SEEDS) as u64) + self.shift(i / SEEDS)
    }

    fn shift(&self, chunk: usize) -> Scalar {
        let bits = (0..self.shifts.len()).filter(|k| chunk >> k & 1 == 1);
        bits.map(|k| self.shifts[k]).sum()
    }

    /// `Σ scalars[i]·logarithm(i)` over the first `count`.
    pub(crate) fn expected(&self, count: usize) -> Scalar {
        let chunks = self.scalars[..count].par_chunks(SEEDS).enumerate();
        chunks
            .map(|(chunk, scalars)| {
                let (mut sum, mut weighted) = (Scalar::ZERO, Scalar::ZERO);
                for (j, scalar) in scalars.iter().enumerate() {
                    let scalar = value(scalar);
                    sum += scalar;
                    weighted += scalar * Scalar::from(j as u64);
                }
                sum * (self.first + self.shift(chunk)) + weighted * self.step
            })
            .sum()
    }

    /// The sum of the logarithms of bases whose bit is one.
    pub(crate) fn expected_ones(&self, words: &[u64]) -> Scalar {
        let chunks = words.par_chunks(SEEDS / 64).enumerate();
        chunks
            .map(|(chunk, words)| {
                let (mut ones, mut weighted) = (0u64, 0u64);
                for (i, word) in words.iter().enumerate() {
                    ones += u64::from(word.count_ones());
                    let bits = (0..64).filter(|bit| word >> bit & 1 == 1);
                    weighted += bits.map(|bit| 64 * i as u64 + bit).sum::<u64>();
                }
                Scalar::from(ones) * (self.first + self.shift(chunk))
                    + Scalar::from(weighted) * self.step
            })
            .sum()
    }
}

/// The field element of a plain scalar.
pub(crate) fn value(plain: &[u8; 32]) -> Scalar {
    Scalar::from_repr_vartime(*plain).expect("scalars were made below r")
}
