//! Evaluation domains: plans of passes and what callers see.

use super::kernel::{Kernel, LANES, Levels, Shared, Tile};
#[cfg(target_arch = "x86_64")]
use super::lanes::Lanes;
use super::portable::Portable;
use super::tables::{Coset, Direction, Roots, RowTwiddles};
use crate::field::Isa;
use crate::memory;
use blstrs::Scalar;
use ff::PrimeField;
use rayon::prelude::*;

/// Rows of a tile: 2^11 rows of eight elements are 512 KiB, for the L2 cache.
const MAX_LOG_ROWS: u32 = 11;

/// Elements that a task takes where each is by itself.
const CHUNK: usize = 1 << 12;

/// A domain that the scalar field has no subgroup for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found a domain of 2^{found}, expected at most 2^{expected}")]
pub struct DomainError {
    /// Logarithm of the size asked for.
    pub found: u32,
    /// Logarithm of the largest size: the odd coset needs roots of twice the order.
    pub expected: u32,
}

/// The subgroup of order 2^k in the scalar field and its odd coset.
pub struct Domain {
    log_size: u32,
    plan: Plan,
    tables: Box<dyn Transform>,
}

/// Splits of the levels into passes, outermost first; the last pass has stride one.
struct Plan(Vec<Pass>);

#[derive(Clone, Copy)]
struct Pass {
    log_rows: u32,
    log_stride: u32,
}

impl Domain {
    /// The domain of 2^log_size points, for transforms by `isa`.
    ///
    /// # Errors
    /// Beyond 2^31 points.
    ///
    /// # Panics
    /// On a CPU without `isa`.
    pub fn new(isa: Isa, log_size: u32) -> Result<Self, DomainError> {
        isa.require();
        if log_size >= Scalar::S {
            return Err(DomainError {
                found: log_size,
                expected: Scalar::S - 1,
            });
        }
        let plan = Plan::new(log_size);
        let tables: Box<dyn Transform> = match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Ifma => Box::new(Tables::<Lanes>::new(log_size)),
            _ => Box::new(Tables::<Portable>::new(log_size)),
        };
        Ok(Domain {
            log_size,
            plan,
            tables,
        })
    }

    /// Number of points.
    #[allow(
        clippy::len_without_is_empty,
        reason = "a domain has at least one point"
    )]
    pub fn len(&self) -> usize {
        1 << self.log_size
    }

    /// From evaluations on the subgroup, in natural order, to n times the coefficients, bit-reversed.
    ///
    /// # Panics
    /// Like all transforms, unless given n values.
    pub fn intt_to_bitrev(&self, values: &mut [Scalar]) {
        self.inverse(values, Coset::Subgroup);
    }

    /// From evaluations on the odd coset, in natural order, to n times the coefficients, bit-reversed.
    pub fn coset_intt_to_bitrev(&self, values: &mut [Scalar]) {
        self.inverse(values, Coset::Odd);
    }

    /// From bit-reversed coefficients to evaluations on the subgroup, in natural order.
    pub fn ntt_from_bitrev(&self, values: &mut [Scalar]) {
        self.forward(values, Coset::Subgroup);
    }

    /// From bit-reversed coefficients to evaluations on the odd coset, in natural order.
    pub fn coset_ntt_from_bitrev(&self, values: &mut [Scalar]) {
        self.forward(values, Coset::Odd);
    }

    /// From evaluations on the subgroup to n times those on the odd coset, both in natural order: `intt_to_bitrev` and
    /// `coset_ntt_from_bitrev` with one pass over memory less. Of two polynomials, which share the twiddle factors.
    pub fn extend_to_coset(&self, a: &mut [Scalar], b: &mut [Scalar]) {
        self.check(a);
        self.check(b);
        let inverse = (Direction::Inverse, Coset::Subgroup);
        let forward = (Direction::Forward, Coset::Odd);
        let Some((innermost, outer)) = self.plan.0.split_last() else {
            return;
        };
        for pass in outer {
            self.pass(&mut [a, b], *pass, &[inverse]);
        }
        self.pass(&mut [a, b], *innermost, &[inverse, forward]);
        for pass in outer.iter().rev() {
            self.pass(&mut [a, b], *pass, &[forward]);
        }
    }

    /// Puts value i at the place whose k-bit index is that of i reversed.
    pub fn bit_reverse(&self, values: &mut [Scalar]) {
        self.check(values);
        bit_reverse(values, self.log_size);
    }

    /// `a[i] b[i]` for all points.
    pub fn products(&self, a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
        self.check(a);
        self.check(b);
        let mut products = memory::with_capacity(a.len());
        let out = products.spare_capacity_mut()[..a.len()].par_chunks_mut(CHUNK);
        let operands = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
        out.zip(operands).for_each(|(out, (a, b))| {
            let out = out.as_mut_ptr().cast();
            // SAFETY: of one length; `Domain::new` has asked for the instructions.
            unsafe { self.tables.products(a.as_ptr(), b.as_ptr(), out, a.len()) };
        });
        // SAFETY: every chunk has been written.
        unsafe { products.set_len(a.len()) };
        products
    }

    /// a[i] becomes `a[i] b[i]`.
    pub fn multiply(&self, a: &mut [Scalar], b: &[Scalar]) {
        self.check(a);
        self.check(b);
        let chunks = a.par_chunks_mut(CHUNK).zip(b.par_chunks(CHUNK));
        chunks.for_each(|(a, b)| {
            let out = a.as_mut_ptr();
            // SAFETY: as above; `out` is `a`.
            unsafe { self.tables.products(out, b.as_ptr(), out, b.len()) };
        });
    }

    /// a[i] becomes `x a[i] + y c[i]`.
    pub fn combine(&self, a: &mut [Scalar], x: &Scalar, c: &[Scalar], y: &Scalar) {
        self.check(a);
        self.check(c);
        let chunks = a.par_chunks_mut(CHUNK).zip(c.par_chunks(CHUNK));
        chunks.for_each(|(a, c)| self.tables.combine(a, x, c, y));
    }

    fn inverse(&self, values: &mut [Scalar], coset: Coset) {
        self.check(values);
        for pass in &self.plan.0 {
            self.pass(&mut [values], *pass, &[(Direction::Inverse, coset)]);
        }
    }

    fn forward(&self, values: &mut [Scalar], coset: Coset) {
        self.check(values);
        for pass in self.plan.0.iter().rev() {
            self.pass(&mut [values], *pass, &[(Direction::Forward, coset)]);
        }
    }

    /// A pass over some arrays: together if their tiles fit the cache side by side.
    fn pass(&self, arrays: &mut [&mut [Scalar]], pass: Pass, steps: &[(Direction, Coset)]) {
        let together = if pass.log_rows < MAX_LOG_ROWS {
            arrays.len()
        } else {
            1
        };
        for arrays in arrays.chunks_mut(together) {
            self.tables.pass(arrays, pass, steps);
        }
    }

    fn check(&self, values: &[Scalar]) {
        assert_eq!(values.len(), self.len(), "a value a point");
    }
}

impl Plan {
    /// As few passes as possible, of nearly the same size. From 2^6 points on there are at least two, so that the innermost
    /// leaves eight blocks for the lanes, and the strides of the others are at least eight.
    fn new(log_size: u32) -> Self {
        let passes = if log_size < 6 {
            1
        } else {
            log_size.div_ceil(MAX_LOG_ROWS).max(2)
        };
        let mut rest = log_size;
        let mut plan = Vec::new();
        for left in (1..=passes).rev() {
            let log_rows = rest.div_ceil(left);
            rest -= log_rows;
            plan.push(Pass {
                log_rows,
                log_stride: rest,
            });
        }
        Plan(plan)
    }
}

/// A pass over all values, whatever the instruction set.
trait Transform: Send + Sync {
    /// On arrays of the domain's length, at least one.
    fn pass(&self, arrays: &mut [&mut [Scalar]], pass: Pass, steps: &[(Direction, Coset)]);

    /// # Safety
    /// As [`Kernel::products`].
    unsafe fn products(&self, a: *const Scalar, b: *const Scalar, out: *mut Scalar, count: usize);

    fn combine(&self, a: &mut [Scalar], x: &Scalar, c: &[Scalar], y: &Scalar);
}

/// What a direction needs.
struct Tables<K: Kernel> {
    forward: Directed<K::Twiddle>,
    inverse: Directed<K::Twiddle>,
}

struct Directed<T> {
    roots: Roots,
    subgroup: RowTwiddles<T>,
    odd: RowTwiddles<T>,
}

impl<T: From<Scalar>> Directed<T> {
    fn new(direction: Direction, log_size: u32) -> Self {
        let roots = Roots::new(direction, log_size + 1);
        let log_rows = log_size.min(MAX_LOG_ROWS);
        Directed {
            subgroup: RowTwiddles::new(&roots, Coset::Subgroup, log_rows),
            odd: RowTwiddles::new(&roots, Coset::Odd, log_rows),
            roots,
        }
    }

    /// `ω_2N^(2 c + s)` for eight columns of a block of length N = 2^log_block.
    fn column_factors(&self, coset: Coset, log_block: u32, first: usize) -> [Scalar; LANES] {
        let shift = u64::from(coset == Coset::Odd);
        let mut factor = self.roots.power(log_block + 1, 2 * first as u64 + shift);
        let step = self.roots.of(log_block);
        std::array::from_fn(|_| {
            let next = factor * step;
            std::mem::replace(&mut factor, next)
        })
    }
}

impl<K: Kernel> Tables<K> {
    fn new(log_size: u32) -> Self {
        Tables {
            forward: Directed::new(Direction::Forward, log_size),
            inverse: Directed::new(Direction::Inverse, log_size),
        }
    }

    fn levels(
        &self,
        (direction, coset): (Direction, Coset),
        pass: Pass,
        column: usize,
    ) -> Levels<'_, K::Twiddle> {
        let tables = match direction {
            Direction::Forward => &self.forward,
            Direction::Inverse => &self.inverse,
        };
        let (rows, columns) = if pass.log_stride == 0 {
            (
                if coset == Coset::Odd {
                    &tables.odd
                } else {
                    &tables.subgroup
                },
                None,
            )
        } else {
            let log_block = pass.log_rows + pass.log_stride;
            (
                &tables.subgroup,
                Some(tables.column_factors(coset, log_block, column)),
            )
        };
        Levels {
            direction,
            rows,
            columns,
        }
    }
}

impl Pass {
    fn tiles(self, len: usize) -> usize {
        (len >> self.log_rows).div_ceil(LANES)
    }

    /// The tile of this number, and its first column.
    fn tile(self, number: usize, len: usize) -> (Tile, usize) {
        let Pass {
            log_rows,
            log_stride,
        } = self;
        let first = number * LANES;
        if log_stride == 0 {
            // A single block: all lanes are that one, and do the same.
            let lane_stride = if len >> log_rows == 1 {
                0
            } else {
                1 << log_rows
            };
            return (
                Tile {
                    base: first << log_rows,
                    log_rows,
                    row_stride: 1,
                    lane_stride,
                },
                0,
            );
        }
        let column = first & ((1 << log_stride) - 1);
        let base = ((first - column) << log_rows) + column;
        (
            Tile {
                base,
                log_rows,
                row_stride: 1 << log_stride,
                lane_stride: 1,
            },
            column,
        )
    }
}

impl<K: Kernel> Transform for Tables<K> {
    fn pass(&self, arrays: &mut [&mut [Scalar]], pass: Pass, steps: &[(Direction, Coset)]) {
        let len = arrays[0].len();
        let tiles = pass.tiles(len);
        let data: Vec<_> = arrays.iter_mut().map(|array| Shared::new(array)).collect();
        let at_least = tiles.div_ceil(8 * rayon::current_num_threads());
        let tasks = (0..tiles).into_par_iter().with_min_len(at_least);
        tasks.for_each_init(K::Scratch::default, |scratch, number| {
            let (tile, column) = pass.tile(number, len);
            let levels: Vec<_> = steps
                .iter()
                .map(|step| self.levels(*step, pass, column))
                .collect();
            // SAFETY: different tiles have no element in common, and each is one task's; `Domain::new` has asked for the
            // instructions.
            unsafe { K::transform(scratch, &data, &tile, &levels) };
        });
    }

    unsafe fn products(&self, a: *const Scalar, b: *const Scalar, out: *mut Scalar, count: usize) {
        // SAFETY: the caller's promises.
        unsafe { K::products(a, b, out, count) };
    }

    fn combine(&self, a: &mut [Scalar], x: &Scalar, c: &[Scalar], y: &Scalar) {
        // SAFETY: `Domain::new` has asked for the instructions.
        unsafe { K::combine(a, x, c, y) };
    }
}

/// Swaps every value with that at the reversed index. An index is taken as (high, middle, low) with `SIDE` bits at both
/// ends: for one middle part the values make a square, which changes places with the transpose, bits reversed, of the
/// square of the reversed middle part. So whole cache lines are used.
fn bit_reverse(values: &mut [Scalar], log_size: u32) {
    const SIDE: u32 = 4;
    let reverse = |i: usize, bits: u32| {
        if bits == 0 {
            0
        } else {
            i.reverse_bits() >> (usize::BITS - bits)
        }
    };
    if log_size < 2 * SIDE {
        for i in 0..values.len() {
            let j = reverse(i, log_size);
            if i < j {
                values.swap(i, j);
            }
        }
        return;
    }
    let middle_bits = log_size - 2 * SIDE;
    let data = Shared::new(values);
    (0..1usize << middle_bits)
        .into_par_iter()
        .for_each(|middle| {
            let mirrored = reverse(middle, middle_bits);
            if mirrored < middle {
                return;
            }
            for high in 0..1 << SIDE {
                for low in 0..1 << SIDE {
                    let i = high << (middle_bits + SIDE) | middle << SIDE | low;
                    let j = reverse(low, SIDE) << (middle_bits + SIDE)
                        | mirrored << SIDE
                        | reverse(high, SIDE);
                    // Where the square is its own partner each pair turns up twice.
                    if mirrored != middle || i < j {
                        // SAFETY: in range, and the squares of `middle` and `mirrored` are this task's alone.
                        unsafe { std::ptr::swap(data.at(i), data.at(j)) };
                    }
                }
            }
        });
}
