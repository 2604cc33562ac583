//! Affine additions by blst's field arithmetic.
//!
//! Points are kept on an isomorphic curve. A canonical coordinate read as Montgomery words stands for `x 2^-384`, that
//! is `x u^2` with `u = 2^-192`; the y that goes with it is `y u^3`, whose words are `y 2^-192`: one multiplication
//! a point instead of two. The addition formulas do not contain the curve's constant, so nothing else changes.

use super::coordinate::Coordinate;
use super::group::{Group, sealed::Kernels};
use super::kernel::{Ahead, Batch, Kernel, Leaf, NEGATIVE, Pair};
use crate::field::fp_power_of_two;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// An affine point of the isomorphic curve; infinity is (0, 0), which is on neither curve. Aligned so that
/// those of G1 lie in two cache lines.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
pub struct Point<F> {
    x: F,
    y: F,
}

impl<F: Coordinate> Point<F> {
    #[inline]
    fn is_infinity(&self) -> bool {
        self.y.is_zero() && self.x.is_zero()
    }
}

/// The kernel; what it keeps is scratch.
pub struct Portable<G: Kernels> {
    /// For each pair of a batch.
    steps: Vec<Step<G::Coordinate>>,
    cases: Vec<Case>,
    work: Work<G::Coordinate>,
    group: PhantomData<G>,
}

/// Intermediate values of an addition. Everything is computed where it stays: see [`Coordinate::mul_to`].
#[derive(Default)]
struct Work<F> {
    x1: F,
    y1: F,
    x2: F,
    y2: F,
    /// Inverse of the denominator.
    own: F,
    numerator: F,
    slope: F,
    x3: F,
    /// x1 - x3, and that times the slope.
    run: F,
}

/// A pair on the way: its denominator, and the product of those before it.
#[derive(Clone, Copy, Default)]
struct Step<F> {
    denominator: F,
    before: F,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Case {
    #[default]
    Distinct,
    Equal,
    /// Stored already.
    Settled,
}

impl<G: Kernels> Default for Portable<G> {
    fn default() -> Self {
        Portable {
            steps: Vec::new(),
            cases: Vec::new(),
            work: Work::default(),
            group: PhantomData,
        }
    }
}

/// Where operands come from.
trait Source<F> {
    fn point<'a>(&'a self, arena: &'a [Point<F>], at: u32) -> &'a Point<F>;
    /// Writes y with its sign.
    fn y_to(&self, arena: &[Point<F>], at: u32, out: &mut F);
}

struct Leaves<'a, F>(&'a [Point<F>]);

impl<F: Coordinate> Source<F> for Leaves<'_, F> {
    #[inline]
    fn point<'a>(&'a self, _: &'a [Point<F>], leaf: Leaf) -> &'a Point<F> {
        &self.0[(leaf & !NEGATIVE) as usize]
    }
    #[inline]
    fn y_to(&self, arena: &[Point<F>], leaf: Leaf, out: &mut F) {
        let y = &self.point(arena, leaf).y;
        y.sign_to(leaf & NEGATIVE != 0, out);
    }
}

struct Arena;

impl<F: Coordinate> Source<F> for Arena {
    #[inline]
    fn point<'a>(&'a self, arena: &'a [Point<F>], at: u32) -> &'a Point<F> {
        &arena[at as usize]
    }
    #[inline]
    fn y_to(&self, arena: &[Point<F>], at: u32, out: &mut F) {
        *out = arena[at as usize].y;
    }
}

/// A point with its sign.
fn signed<F: Coordinate>(from: &impl Source<F>, arena: &[Point<F>], at: u32) -> Point<F> {
    let mut point = *from.point(arena, at);
    from.y_to(arena, at, &mut point.y);
    point
}

/// Classifies a + b where x is equal or somewhere zero: the denominator, or the sum if that needs none.
#[cold]
fn special<F: Coordinate>(a: &Point<F>, b: &Point<F>) -> Result<(Case, F), Point<F>> {
    if a.is_infinity() {
        return Err(*b);
    }
    if b.is_infinity() {
        return Err(*a);
    }
    let difference = b.x.sub(&a.x);
    if !difference.is_zero() {
        Ok((Case::Distinct, difference))
    } else if a.y == b.y {
        Ok((Case::Equal, a.y.add(&a.y)))
    } else {
        Err(Point::default())
    }
}

impl<F: Coordinate> Work<F> {
    /// `to` = (x1, y1) + (x2, y2), given the inverse of the denominator.
    #[inline(always)]
    fn finish(&mut self, case: Case, to: &mut Point<F>) {
        if case == Case::Equal {
            let square = self.x1.square();
            self.numerator = square.add(&square).add(&square);
        } else {
            self.y2.sub_to(&self.y1, &mut self.numerator);
        }
        self.numerator.mul_to(&self.own, &mut self.slope);
        self.slope.square_to(&mut self.x3);
        self.x3.sub_by(&self.x1);
        self.x3.sub_by(&self.x2);
        self.x1.sub_to(&self.x3, &mut self.run);
        self.run.mul_by(&self.slope);
        self.run.sub_to(&self.y1, &mut to.y);
        to.x = self.x3;
    }
}

impl<G: Group> Portable<G> {
    /// Denominators of `pairs` and their running products, from step `first` on.
    fn forward(
        &mut self,
        arena: &mut [Point<G::Coordinate>],
        pairs: &[Pair],
        from: &impl Source<G::Coordinate>,
        first: usize,
    ) {
        for (pair, i) in pairs.iter().zip(first..) {
            let [this, next, ..] = &mut self.steps[i..] else {
                unreachable!("one step more than pairs");
            };
            let (ax, bx) = (&from.point(arena, pair.a).x, &from.point(arena, pair.b).x);
            bx.sub_to(ax, &mut this.denominator);
            let mut case = Case::Distinct;
            if this.denominator.is_zero() || ax.is_zero() || bx.is_zero() {
                let operand = |at| signed(from, arena, at);
                match special(&operand(pair.a), &operand(pair.b)) {
                    Ok((found, denominator)) => (case, this.denominator) = (found, denominator),
                    Err(sum) => {
                        arena[pair.to as usize] = sum;
                        (case, this.denominator) = (Case::Settled, G::Coordinate::one());
                    }
                }
            }
            self.cases[i] = case;
            this.before.mul_to(&this.denominator, &mut next.before);
        }
    }

    /// The sums, last first; `inverse` is that of the running product after `pairs`.
    fn backward(
        &mut self,
        arena: &mut [Point<G::Coordinate>],
        pairs: &[Pair],
        from: &impl Source<G::Coordinate>,
        first: usize,
        inverse: &mut G::Coordinate,
        ahead: &mut Ahead<'_, Point<G::Coordinate>>,
    ) {
        for (i, pair) in pairs.iter().enumerate().rev() {
            // A few together: their TLB misses are served side by side.
            if i.is_multiple_of(4) {
                ahead.advance(4);
            }
            let i = first + i;
            let (
                Step {
                    denominator,
                    before,
                },
                case,
            ) = (&self.steps[i], self.cases[i]);
            if case != Case::Settled {
                let work = &mut self.work;
                inverse.mul_to(before, &mut work.own);
                work.x1 = from.point(arena, pair.a).x;
                work.x2 = from.point(arena, pair.b).x;
                from.y_to(arena, pair.a, &mut work.y1);
                from.y_to(arena, pair.b, &mut work.y2);
                work.finish(case, &mut arena[pair.to as usize]);
            }
            inverse.mul_by(denominator);
        }
    }
}

impl<G: Group> Kernel for Portable<G> {
    type Group = G;
    type Point = Point<G::Coordinate>;

    fn import(encodings: &[G::Encoding], positions: &[Leaf], to: &mut [MaybeUninit<Self::Point>]) {
        assert_eq!(positions.len(), to.len(), "a place a position");
        for (position, to) in positions.iter().zip(to) {
            let encoding = encodings[(position & !NEGATIVE) as usize].as_ref();
            let (x, y) = encoding.split_at(G::Coordinate::BYTES);
            to.write(Point {
                x: G::Coordinate::read_words(x),
                y: G::Coordinate::read_words(y).scale(&const { fp_power_of_two(192) }),
            });
        }
    }

    fn run(
        &mut self,
        leaves: &[Self::Point],
        arena: &mut [Self::Point],
        batch: &mut Batch,
        ahead: &mut Ahead<'_, Self::Point>,
    ) {
        let leaves = &Leaves(leaves);
        for single in batch.singles.drain(..) {
            arena[single.to as usize] = signed(leaves, arena, single.leaf);
        }
        let first_inner = batch.leaves.len();
        let pairs = first_inner + batch.inner.len();
        if self.cases.len() < pairs {
            self.steps.resize(pairs + 1, Step::default());
            self.cases.resize(pairs, Case::default());
        }
        if pairs > 0 {
            self.steps[0].before = G::Coordinate::one();
            self.forward(arena, &batch.leaves, leaves, 0);
            self.forward(arena, &batch.inner, &Arena, first_inner);
            let mut inverse = self.steps[pairs].before.invert();
            let last = &mut inverse;
            self.backward(arena, &batch.inner, &Arena, first_inner, last, ahead);
            self.backward(arena, &batch.leaves, leaves, 0, last, ahead);
        }
        batch.leaves.clear();
        batch.inner.clear();
    }

    fn export(point: &Self::Point) -> G::Affine {
        if point.is_infinity() {
            return G::from_coordinates(None);
        }
        // x: 2^384 more than it stands for; y: 2^576, and a product takes away 2^384.
        let x = point.x.scale(&const { fp_power_of_two(768) });
        let y = point.y.scale(&const { fp_power_of_two(960) });
        G::from_coordinates(Some([x, y]))
    }
}
