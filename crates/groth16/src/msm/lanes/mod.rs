//! Affine additions in eight lanes (AVX-512 IFMA), on G1 (D = 1) and G2 (D = 2).
//!
//! Points are kept on an isomorphic curve. A canonical coordinate read as limbs of Montgomery form (radix 2^416) stands for
//! `x 2^-416`, that is `x u^2` with `u = 2^-208`; the y that goes with it is `y u^3`, whose limbs are `y 2^-208`: half a
//! reduction a point. The addition formulas do not contain the curve's constant, so nothing else changes.
//!
//! The fast path knows no special cases. Equal x makes the product of all denominators zero, which is looked at once a
//! batch, and infinity shows as a zero x: then the careful path runs.

mod import;
mod load;
mod passes;

use self::load::Operands;
use self::passes::{Cases, Work};
use super::coordinate::Coordinate;
use super::group::Group;
use super::kernel::{Ahead, Batch, Kernel, Leaf, Pair};
use crate::field::fp_power_of_two;
use crate::field::fp8::Ext;
use blst::blst_fp;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Pairs that a step of a pass takes: two vectors, so that neighbouring multiplications are independent.
const STEP: usize = 16;

/// A coordinate's limbs, a cache line a coefficient.
type Limbs<const D: usize> = [[u64; 8]; D];

/// An affine point of the isomorphic curve, coordinates loose. Infinity is all zero; no other point has y = 0.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Point<const D: usize> {
    x: Limbs<D>,
    y: Limbs<D>,
}

impl<const D: usize> Default for Point<D> {
    fn default() -> Self {
        Point {
            x: [[0; 8]; D],
            y: [[0; 8]; D],
        }
    }
}

/// The kernel; what it keeps is scratch.
pub struct Lanes<G, const D: usize> {
    /// Denominators, a vector for eight pairs.
    denominators: Vec<Ext<D>>,
    /// Running products: `before[v + 2] = before[v] denominators[v]`, even and odd vectors apart.
    before: Vec<Ext<D>>,
    cases: Vec<Cases>,
    work: Box<Work<D>>,
    /// The last batch had special cases, so the next one may.
    careful: bool,
    group: PhantomData<G>,
}

impl<G, const D: usize> Default for Lanes<G, D> {
    fn default() -> Self {
        Lanes {
            denominators: Vec::new(),
            before: Vec::new(),
            cases: Vec::new(),
            work: Box::default(),
            careful: false,
            group: PhantomData,
        }
    }
}

impl<G: Group, const D: usize> Kernel for Lanes<G, D> {
    type Group = G;
    type Point = Point<D>;

    fn import(encodings: &[G::Encoding], positions: &[Leaf], to: &mut [MaybeUninit<Point<D>>]) {
        // SAFETY: kernels for lanes are chosen only where `Isa::require` has found the instructions.
        unsafe { import::import(encodings, positions, to) }
    }

    fn run(
        &mut self,
        leaves: &[Point<D>],
        arena: &mut [Point<D>],
        batch: &mut Batch,
        ahead: &mut Ahead<'_, Point<D>>,
    ) {
        pad(&mut batch.leaves);
        pad(&mut batch.inner);
        let operands = Operands::new(leaves, arena, batch);
        // SAFETY: kernels for lanes are chosen only where `Isa::require` has found the instructions.
        unsafe { self.run_lanes(&operands, batch, ahead) };
        batch.singles.clear();
        batch.leaves.clear();
        batch.inner.clear();
    }

    fn export(point: &Point<D>) -> G::Affine {
        if point.y == [[0; 8]; D] {
            return G::from_coordinates(None);
        }
        // x's limbs are the canonical value; y's are 2^208 short. Into blst's form are 2^384 more, and a product takes away
        // 2^384.
        let x = coordinate::<G, D>(&point.x).scale(&const { fp_power_of_two(768) });
        let y = coordinate::<G, D>(&point.y).scale(&const { fp_power_of_two(976) });
        G::from_coordinates(Some([x, y]))
    }
}

/// Up to whole steps, by repeating the last pair: a step reads all of its operands before it writes.
fn pad(pairs: &mut Vec<Pair>) {
    if let Some(&last) = pairs.last() {
        pairs.resize(pairs.len().next_multiple_of(STEP), last);
    }
}

/// Words of loose limbs, not reduced: blst multiplies them all the same, the product with a value below p being below
/// p 2^384.
fn coordinate<G: Group, const D: usize>(limbs: &Limbs<D>) -> G::Coordinate {
    G::Coordinate::from_coefficients(&limbs.map(|limbs| blst_fp { l: words(&limbs) }))
}

/// 52-bit limbs to 64-bit words.
fn words(limbs: &[u64; 8]) -> [u64; 6] {
    let mut words = [0; 6];
    for (i, limb) in limbs.iter().enumerate() {
        let (word, shift) = (i * 52 / 64, i * 52 % 64);
        words[word] |= limb << shift;
        if shift > 12 && word < 5 {
            words[word + 1] |= limb >> (64 - shift);
        }
    }
    words
}
