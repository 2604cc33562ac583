//! Roots of unity and the tables of twiddle factors.

use blstrs::Scalar;
use ff::{Field, PrimeField};

/// Which points a polynomial is evaluated at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coset {
    /// `ω_n^i`
    Subgroup,
    /// `ω_2n^(2i + 1)`
    Odd,
}

/// From coefficients to evaluations or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Inverse,
}

/// `roots[i]` generates the subgroup of order 2^i.
pub(super) struct Roots(Vec<Scalar>);

impl Roots {
    /// Those up to order 2^log, or their inverses.
    pub(super) fn new(direction: Direction, log: u32) -> Self {
        let top = match direction {
            Direction::Forward => Scalar::ROOT_OF_UNITY,
            Direction::Inverse => Scalar::ROOT_OF_UNITY_INV,
        };
        let halvings = Scalar::S - log;
        let mut root = (0..halvings).fold(top, |root, _| root.square());
        let mut roots = Vec::new();
        for _ in 0..=log {
            roots.push(root);
            root = root.square();
        }
        roots.reverse();
        Roots(roots)
    }

    /// The generator of the subgroup of order 2^log.
    pub(super) fn of(&self, log: u32) -> Scalar {
        self.0[log as usize]
    }

    /// `of(log)^exponent`, for an exponent below 2^log: a product of as many roots as it has bits.
    pub(super) fn power(&self, log: u32, exponent: u64) -> Scalar {
        let bits = (0..log).filter(|bit| exponent >> bit & 1 == 1);
        bits.fold(Scalar::ONE, |product, bit| product * self.of(log - bit))
    }
}

/// Twiddle factors by row: for each level of H rows a half, `ω_2H^row`, or `ω_4H^(2 row + 1)` on the coset.
pub(super) struct RowTwiddles<T>(Vec<Vec<T>>);

impl<T: From<Scalar>> RowTwiddles<T> {
    /// For levels of up to 2^(log_rows - 1) rows a half.
    pub(super) fn new(roots: &Roots, coset: Coset, log_rows: u32) -> Self {
        let level = |log_half: u32| {
            let first = match coset {
                Coset::Subgroup => Scalar::ONE,
                Coset::Odd => roots.of(log_half + 2),
            };
            let step = roots.of(log_half + 1);
            let powers = std::iter::successors(Some(first), |power| Some(power * step));
            powers.take(1 << log_half).map(T::from).collect()
        };
        RowTwiddles((0..log_rows).map(level).collect())
    }

    /// Those of the level of 2^log_half rows a half.
    pub(super) fn level(&self, log_half: u32) -> &[T] {
        &self.0[log_half as usize]
    }
}
