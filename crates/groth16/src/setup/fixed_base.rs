//! Many multiples of one point, by tables of its multiples.

use blstrs::Scalar;
use ff::PrimeField;
use group::prime::{PrimeCurve, PrimeCurveAffine};
use rayon::prelude::*;

/// Bits that the windows must cover: scalars have 255, and the signed digits carry into one more.
const BITS: usize = 256;
/// Wider tables fall out of the cache and cost more than they save.
const MAX_WINDOW: usize = 16;

/// `d·2^(w·c)·base` for every window w of c bits and every d from 1 to 2^(c−1).
pub(super) struct FixedBase<C: PrimeCurve> {
    window: usize,
    /// Window after window, d from 1 in each.
    multiples: Vec<C::Affine>,
}

impl<C: PrimeCurve<Scalar = Scalar>> FixedBase<C> {
    /// Tables for about `count` multiplications.
    pub(super) fn new(base: C, count: usize) -> Self {
        let window = best_window(count);
        let half = 1 << (window - 1);
        let mut bases = vec![base; BITS.div_ceil(window)];
        for w in 1..bases.len() {
            bases[w] = (0..window).fold(bases[w - 1], |point, _| point.double());
        }
        let mut multiples = vec![C::Affine::identity(); bases.len() * half];
        multiples
            .par_chunks_mut(half)
            .zip(bases)
            .for_each(|(out, base)| {
                let mut multiple = C::identity();
                let points: Vec<C> = std::iter::repeat_with(|| {
                    multiple += base;
                    multiple
                })
                .take(half)
                .collect();
                C::batch_normalize(&points, out);
            });
        Self { window, multiples }
    }

    /// `scalar·base` for each scalar.
    pub(super) fn multiply(&self, scalars: &[Scalar]) -> Vec<C::Affine> {
        let points: Vec<C> = scalars
            .iter()
            .map(|scalar| self.multiply_one(scalar))
            .collect();
        let mut affine = vec![C::Affine::identity(); points.len()];
        C::batch_normalize(&points, &mut affine);
        affine
    }

    fn multiply_one(&self, scalar: &Scalar) -> C {
        let half = 1 << (self.window - 1);
        let bytes = scalar.to_repr();
        let mut sum = C::identity();
        let mut carry = 0;
        for (w, table) in self.multiples.chunks_exact(half).enumerate() {
            // A digit above half is replaced by its distance to the next power, with the sign turned.
            let digit = bits(&bytes, w * self.window, self.window) + carry;
            carry = usize::from(digit > half);
            match digit {
                0 => {}
                d if d <= half => sum += table[d - 1],
                d if d < 2 * half => sum -= table[2 * half - d - 1],
                _ => {}
            }
        }
        debug_assert_eq!(carry, 0, "255-bit scalars do not carry out of {BITS} bits");
        sum
    }
}

/// The window with the fewest additions, tables included.
fn best_window(count: usize) -> usize {
    let cost = |window: &usize| BITS.div_ceil(*window) * (count + (1 << (window - 1)));
    (2..=MAX_WINDOW)
        .min_by_key(cost)
        .expect("the range is not empty")
}

/// `count` bits of a little-endian number from bit `start`; zero beyond its end.
fn bits(bytes: &[u8; 32], start: usize, count: usize) -> usize {
    let mut word = [0; 4];
    let available = &bytes[(start / 8).min(32)..];
    let len = available.len().min(4);
    word[..len].copy_from_slice(&available[..len]);
    (u32::from_le_bytes(word) >> (start % 8)) as usize & ((1 << count) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::{G1Projective, G2Projective};
    use ff::Field;
    use group::{Curve, Group};
    use rand::SeedableRng;

    fn check<C: PrimeCurve<Scalar = Scalar>>(count: usize) {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(count as u64);
        let base = C::random(&mut rng);
        let table = FixedBase::<C>::new(base, count);
        let mut scalars = vec![
            Scalar::ZERO,
            Scalar::ONE,
            -Scalar::ONE,
            Scalar::from(0x8000),
        ];
        scalars.extend([Scalar::from(0x1_8000), Scalar::from(u64::MAX)]);
        scalars.extend((0..40).map(|_| Scalar::random(&mut rng)));
        let expected: Vec<_> = scalars.iter().map(|s| (base * s).to_affine()).collect();
        assert_eq!(
            table.multiply(&scalars),
            expected,
            "window {}",
            table.window
        );
    }

    #[test]
    fn agrees_with_double_and_add() {
        for count in [1, 100, 3_000, 100_000] {
            check::<G1Projective>(count);
        }
        check::<G2Projective>(1_000);
    }

    #[test]
    fn windows_grow_with_the_count() {
        assert_eq!(best_window(10_000_000), 16);
        assert!((8..16).contains(&best_window(10_000)));
        assert!(best_window(1) < 6);
    }
}
