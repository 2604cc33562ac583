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

/// An affine point of the isomorphic curve; infinity is (0, 0), which is on neither curve.
#[derive(Clone, Copy, Default)]
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
    steps: Vec<Step<G::Coordinate>>,
    group: PhantomData<G>,
}

/// A pair on the way: its denominator, and the product of those before it.
#[derive(Clone, Copy)]
struct Step<F> {
    denominator: F,
    before: F,
    case: Case,
}

#[derive(Clone, Copy, PartialEq)]
enum Case {
    Distinct,
    Equal,
    /// Stored already.
    Settled,
}

impl<G: Kernels> Default for Portable<G> {
    fn default() -> Self {
        Portable {
            steps: Vec::new(),
            group: PhantomData,
        }
    }
}

/// Where operands come from. x alone is cheaper for a leaf.
trait Source<F> {
    fn x(&self, arena: &[Point<F>], at: u32) -> F;
    fn point(&self, arena: &[Point<F>], at: u32) -> Point<F>;
}

struct Leaves<'a, F>(&'a [Point<F>]);

impl<F: Coordinate> Source<F> for Leaves<'_, F> {
    #[inline]
    fn x(&self, _: &[Point<F>], leaf: Leaf) -> F {
        self.0[(leaf & !NEGATIVE) as usize].x
    }
    #[inline]
    fn point(&self, _: &[Point<F>], leaf: Leaf) -> Point<F> {
        let Point { x, y } = self.0[(leaf & !NEGATIVE) as usize];
        Point {
            x,
            y: if leaf & NEGATIVE != 0 { y.neg() } else { y },
        }
    }
}

struct Arena;

impl<F: Coordinate> Source<F> for Arena {
    #[inline]
    fn x(&self, arena: &[Point<F>], at: u32) -> F {
        arena[at as usize].x
    }
    #[inline]
    fn point(&self, arena: &[Point<F>], at: u32) -> Point<F> {
        arena[at as usize]
    }
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

/// a + b, given the inverse of the denominator.
#[inline]
fn finish<F: Coordinate>(a: &Point<F>, b: &Point<F>, case: Case, inverse: &F) -> Point<F> {
    let numerator = if case == Case::Equal {
        let square = a.x.square();
        square.add(&square).add(&square)
    } else {
        b.y.sub(&a.y)
    };
    let slope = numerator.mul(inverse);
    let x = slope.square().sub(&a.x).sub(&b.x);
    let y = slope.mul(&a.x.sub(&x)).sub(&a.y);
    Point { x, y }
}

impl<G: Group> Portable<G> {
    /// Denominators of `pairs` and their running product, which goes on from `product`.
    fn forward(
        &mut self,
        arena: &mut [Point<G::Coordinate>],
        pairs: &[Pair],
        from: &impl Source<G::Coordinate>,
        product: &mut G::Coordinate,
    ) {
        for pair in pairs {
            let (ax, bx) = (from.x(arena, pair.a), from.x(arena, pair.b));
            let mut denominator = bx.sub(&ax);
            let mut case = Case::Distinct;
            if denominator.is_zero() || ax.is_zero() || bx.is_zero() {
                match special(&from.point(arena, pair.a), &from.point(arena, pair.b)) {
                    Ok(found) => (case, denominator) = found,
                    Err(sum) => {
                        arena[pair.to as usize] = sum;
                        case = Case::Settled;
                    }
                }
            }
            self.steps.push(Step {
                denominator,
                before: *product,
                case,
            });
            if case != Case::Settled {
                *product = product.mul(&denominator);
            }
        }
    }

    /// The sums, last first; `inverse` is that of the running product after `pairs`.
    fn backward(
        &mut self,
        arena: &mut [Point<G::Coordinate>],
        pairs: &[Pair],
        from: &impl Source<G::Coordinate>,
        inverse: &mut G::Coordinate,
        ahead: &mut Ahead<'_, Point<G::Coordinate>>,
    ) {
        for pair in pairs.iter().rev() {
            ahead.advance(1);
            let Step {
                denominator,
                before,
                case,
            } = self.steps.pop().expect("a step a pair");
            if case != Case::Settled {
                let (a, b) = (from.point(arena, pair.a), from.point(arena, pair.b));
                arena[pair.to as usize] = finish(&a, &b, case, &inverse.mul(&before));
                *inverse = inverse.mul(&denominator);
            }
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
            arena[single.to as usize] = leaves.point(arena, single.leaf);
        }
        let mut product = G::Coordinate::one();
        self.forward(arena, &batch.leaves, leaves, &mut product);
        self.forward(arena, &batch.inner, &Arena, &mut product);
        let mut inverse = product.invert();
        self.backward(arena, &batch.inner, &Arena, &mut inverse, ahead);
        self.backward(arena, &batch.leaves, leaves, &mut inverse, ahead);
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
