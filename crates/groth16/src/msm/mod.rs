//! Multi-scalar multiplication over encoded bases.
//!
//! Bases are read where they lie, as a parameter file has them, and decoded on the way into the arithmetic: nothing of
//! the size of a query is allocated. Bases must be valid: canonical coordinates of points on the curve, or infinity.

mod adder;
mod buckets;
mod coordinate;
mod digits;
pub mod fixed_base;
mod group;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod portable;
mod sort;
mod sum;
#[cfg(test)]
mod tests;

pub use self::group::{G1, G2, Group};
use crate::field::Isa;
use blstrs::Scalar;
use buckets::Positions;
use std::ops::Range;

/// Sum of `scalars[i] * bases[i]`, on all threads of the current rayon pool. There may be more bases than scalars.
///
/// # Panics
/// With fewer bases than scalars, or on a CPU without `isa`.
pub fn multiply<G: Group>(isa: Isa, bases: &[G::Encoding], scalars: &[Scalar]) -> G::Projective {
    multiply_once::<G>(isa, bases, scalars, &mut |_| ())
}

/// [`multiply`] for bases that lie in a mapped file: `done` is told which of them, in order, are not looked at again.
///
/// # Panics
/// As `multiply`.
pub fn multiply_once<G: Group>(
    isa: Isa,
    bases: &[G::Encoding],
    scalars: &[Scalar],
    done: &mut dyn FnMut(Range<usize>),
) -> G::Projective {
    dispatch::<G>(isa, bases, Positions::Leading, scalars, done)
}

/// Sum of `scalars[i] * bases[positions[i]]`, on all threads of the current rayon pool.
///
/// # Panics
/// When lengths differ, a position is out of range, or on a CPU without `isa`.
pub fn multiply_at<G: Group>(
    isa: Isa,
    bases: &[G::Encoding],
    positions: &[u32],
    scalars: &[Scalar],
) -> G::Projective {
    dispatch::<G>(isa, bases, Positions::At(positions), scalars, &mut |_| ())
}

/// Sum of the selected bases: base i if bit `i % 64` of word `i / 64` is set. On all threads of the current rayon pool.
///
/// # Panics
/// When a bit without a base is set, or on a CPU without `isa`.
pub fn sum<G: Group>(isa: Isa, bases: &[G::Encoding], selected: &[u64]) -> G::Projective {
    isa.require();
    match isa {
        Isa::Portable => sum::selected::<G::Portable>(bases, selected),
        Isa::Avx512Ifma => sum::selected::<G::Lanes>(bases, selected),
    }
}

fn dispatch<G: Group>(
    isa: Isa,
    bases: &[G::Encoding],
    at: Positions<'_>,
    scalars: &[Scalar],
    done: &mut dyn FnMut(Range<usize>),
) -> G::Projective {
    isa.require();
    match isa {
        Isa::Portable => buckets::multiply::<G::Portable>(bases, at, scalars, done),
        Isa::Avx512Ifma => buckets::multiply::<G::Lanes>(bases, at, scalars, done),
    }
}
