//! Butterflies by blst's field arithmetic.

use super::kernel::{Kernel, LANES, Levels, Shared, Tile};
use super::tables::Direction;
use blstrs::Scalar;
use ff::Field;

type Row = [Scalar; LANES];

/// Eight scalars at a time, one after another.
pub(super) struct Portable;

impl Kernel for Portable {
    type Twiddle = Scalar;
    type Scratch = Vec<Row>;

    unsafe fn transform(
        rows: &mut Vec<Row>,
        data: &[Shared<'_>],
        tile: &Tile,
        passes: &[Levels<'_, Scalar>],
    ) {
        let count = 1usize << tile.log_rows;
        rows.clear();
        for data in data {
            rows.extend((0..count).map(|row| {
                // SAFETY: the caller has the tile for itself.
                std::array::from_fn(|lane| unsafe { *data.at(tile.index(row, lane)) })
            }));
        }
        for levels in passes {
            transform_rows(rows, tile.log_rows, levels);
        }
        for (data, rows) in data.iter().zip(rows.chunks_exact(count)) {
            for (row, elements) in rows.iter().enumerate() {
                for (lane, element) in elements.iter().enumerate() {
                    // SAFETY: as above.
                    unsafe { *data.at(tile.index(row, lane)) = *element };
                }
            }
        }
    }

    unsafe fn products(a: *const Scalar, b: *const Scalar, out: *mut Scalar, count: usize) {
        for i in 0..count {
            // SAFETY: in range.
            unsafe {
                out.add(i).write(*a.add(i));
                *out.add(i) *= &*b.add(i);
            }
        }
    }

    unsafe fn combine(a: &mut [Scalar], x: &Scalar, c: &[Scalar], y: &Scalar) {
        for (a, c) in a.iter_mut().zip(c) {
            *a *= x;
            let mut other = *c;
            other *= y;
            *a += &other;
        }
    }
}

/// All levels of the tiles of 2^log_rows rows that follow each other in `rows`.
fn transform_rows(rows: &mut [Row], log_rows: u32, levels: &Levels<'_, Scalar>) {
    match levels.direction {
        Direction::Inverse => {
            let mut columns = levels.columns;
            for log_half in (0..log_rows).rev() {
                level(rows, levels, log_half, &columns, inverse);
                columns = columns.map(|c| c.map(|c| c.square()));
            }
        }
        Direction::Forward => {
            for log_half in 0..log_rows {
                let squarings = log_rows - 1 - log_half;
                let power = |c: Scalar| (0..squarings).fold(c, |c, _| c.square());
                let columns = levels.columns.map(|c| c.map(power));
                level(rows, levels, log_half, &columns, forward);
            }
        }
    }
}

// In place, and nothing is copied that blst has just written: it stores by words, a copy loads by vectors, and such a load
// waits for the stores to leave the processor.

/// (u + w v, u - w v)
#[inline(always)]
fn forward(u: &mut Scalar, v: &mut Scalar, w: &Scalar) {
    let mut product = *v;
    product *= w;
    *v = *u;
    *v -= &product;
    *u += &product;
}

/// (u + v, w (u - v))
#[inline(always)]
fn inverse(u: &mut Scalar, v: &mut Scalar, w: &Scalar) {
    let old = *v;
    *v = *u;
    *v -= &old;
    *v *= w;
    *u += &old;
}

fn level(
    rows: &mut [Row],
    levels: &Levels<'_, Scalar>,
    log_half: u32,
    columns: &Option<Row>,
    butterfly: impl Fn(&mut Scalar, &mut Scalar, &Scalar),
) {
    let half = 1 << log_half;
    for (row, twiddle) in levels.rows.level(log_half).iter().enumerate() {
        let mut twiddles = [*twiddle; LANES];
        for (twiddle, column) in twiddles.iter_mut().zip(columns.iter().flatten()) {
            *twiddle *= column;
        }
        for pair in rows.chunks_exact_mut(2 * half) {
            let (upper, lower) = pair.split_at_mut(half);
            for ((u, v), w) in upper[row].iter_mut().zip(&mut lower[row]).zip(&twiddles) {
                butterfly(u, v, w);
            }
        }
    }
}
