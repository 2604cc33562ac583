//! Butterflies in eight lanes (AVX-512 IFMA).
//!
//! Values are reduced as late as possible. Decimating in time, a butterfly adds at most 2 r, so that a pass of 11 levels stays
//! below 32 r, which is what the limbs hold; decimating in frequency, sums are kept below 4 r.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "indexed loops of constant length are unrolled into registers; iterators and slice copies are not"
)]

use super::kernel::{Kernel, LANES, Levels, Shared, Tile};
use super::pointwise;
use super::portable::Portable;
use super::tables::{Direction, RowTwiddles};
use crate::field::fr8::*;
use crate::field::lanes::*;
use blstrs::Scalar;
use core::arch::x86_64::*;

/// Rows that are taken through their last, or first, levels together: with their twiddle factors they fit the L1 cache.
const LOG_BLOCK: u32 = 6;

/// Eight scalars a vector set.
pub(super) struct Lanes;

/// Copies of tiles, and of the low levels' factors.
#[derive(Default)]
pub(super) struct Scratch {
    rows: Vec<Fr8>,
    factors: Vec<Fr8>,
}

impl Kernel for Lanes {
    type Twiddle = Factor;
    type Scratch = Scratch;

    unsafe fn transform(
        scratch: &mut Scratch,
        data: &[Shared<'_>],
        tile: &Tile,
        passes: &[Levels<'_, Factor>],
    ) {
        scratch.rows.clear();
        // SAFETY: the caller has the tile for itself, and a CPU with the instructions.
        unsafe {
            for data in data {
                load(&mut scratch.rows, data, tile);
            }
            for levels in passes {
                transform_rows(scratch, tile.log_rows, levels);
            }
            for (data, rows) in data
                .iter()
                .zip(scratch.rows.chunks_exact(1 << tile.log_rows))
            {
                store(rows, data, tile);
            }
        }
    }

    unsafe fn products(a: *const Scalar, b: *const Scalar, out: *mut Scalar, count: usize) {
        // SAFETY: the caller's promises.
        unsafe {
            let done = pointwise::products(a, b, out, count);
            Portable::products(a.add(done), b.add(done), out.add(done), count - done);
        }
    }

    unsafe fn combine(a: &mut [Scalar], x: &Scalar, c: &[Scalar], y: &Scalar) {
        // SAFETY: the CPU has the instructions.
        unsafe {
            let done = pointwise::combine(a, &Factor::from(*x), c, &Factor::from(*y));
            Portable::combine(&mut a[done..], x, &c[done..], y);
        }
    }
}

/// Rows that are asked for ahead. At a large power of two apart they all belong in the same few places of a cache, which
/// has room for no more than 8 to 12.
const AHEAD: usize = 8;

simd! {
/// Asks for the row `AHEAD` of this one, if rows are far apart; where they are not, the processor does by itself.
fn prefetch(data: &Shared<'_>, tile: &Tile, row: usize) {
    let later = row + AHEAD;
    if tile.lane_stride == 1 && later < 1 << tile.log_rows {
        let start = data.at(tile.index(later, 0)).cast::<i8>();
        for offset in [0, 64, 128, 192, 255] {
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset));
        }
    }
}

/// # Safety
/// No other thread accesses the tile meanwhile.
unsafe fn load(rows: &mut Vec<Fr8>, data: &Shared<'_>, tile: &Tile) {
    rows.reserve(1 << tile.log_rows);
    for row in 0..1usize << tile.log_rows {
        prefetch(data, tile, row);
        let mut pairs = [_mm512_setzero_si512(); 4];
        for i in 0..4 {
            let [first, second] = [0, 1].map(|k| data.at(tile.index(row, 2 * i + k)).cast_const().cast());
            // SAFETY: a scalar is 32 bytes, and the tile is the caller's.
            pairs[i] = unsafe {
                let first = _mm512_castsi256_si512(_mm256_loadu_si256(first));
                _mm512_inserti64x4(first, _mm256_loadu_si256(second), 1)
            };
        }
        rows.push(from_pairs(&pairs));
    }
}

/// # Safety
/// As `load`.
unsafe fn store(rows: &[Fr8], data: &Shared<'_>, tile: &Tile) {
    for (row, elements) in rows.iter().enumerate() {
        prefetch(data, tile, row);
        let pairs = to_pairs(&canonical(&normalise(elements)));
        for i in 0..4 {
            let [first, second] = [0, 1].map(|k| data.at(tile.index(row, 2 * i + k)).cast());
            // SAFETY: as above.
            unsafe {
                _mm256_storeu_si256(first, _mm512_castsi512_si256(pairs[i]));
                _mm256_storeu_si256(second, _mm512_extracti64x4_epi64(pairs[i], 1));
            }
        }
    }
}

/// All levels of the tiles of 2^log_rows rows that follow each other.
fn transform_rows(scratch: &mut Scratch, log_rows: u32, levels: &Levels<'_, Factor>) {
    let Scratch { rows, factors } = scratch;
    let log_block = log_rows.min(LOG_BLOCK);
    // columns[l] belongs to the level of 2^l rows a half.
    let mut columns = [[_mm512_setzero_si512(); 5]; 16];
    if let Some(scalars) = &levels.columns {
        let mut power = crate::field::fr8::factors(scalars);
        for log_half in (0..log_rows as usize).rev() {
            columns[log_half] = power;
            power = mul(&power, &power);
        }
    }
    let columns = levels.columns.is_some().then_some(&columns);
    low_factors(factors, levels.rows, columns, log_block);
    match levels.direction {
        Direction::Inverse => {
            for log_half in (log_block..log_rows).rev() {
                high_level::<true>(rows, levels.rows, columns, log_half);
            }
            for block in rows.chunks_exact_mut(1 << log_block) {
                for log_half in (0..log_block).rev() {
                    low_level::<true>(block, factors, log_half);
                }
            }
        }
        Direction::Forward => {
            for block in rows.chunks_exact_mut(1 << log_block) {
                for log_half in 0..log_block {
                    low_level::<false>(block, factors, log_half);
                }
            }
            for log_half in log_block..log_rows {
                high_level::<false>(rows, levels.rows, columns, log_half);
            }
        }
    }
}

fn factor(row: &Factor, column: Option<&Fr8>) -> Fr8 {
    let row = splat_limbs(&row.0);
    match column {
        Some(column) => mul(column, &row),
        None => row,
    }
}

/// The factors of all low levels: that of `row` at the level of 2^l rows a half is at `2^l + row`.
fn low_factors(factors: &mut Vec<Fr8>, rows: &RowTwiddles<Factor>, columns: Option<&[Fr8; 16]>, log_block: u32) {
    factors.clear();
    factors.push([_mm512_setzero_si512(); 5]);
    for log_half in 0..log_block {
        for row in rows.level(log_half) {
            factors.push(factor(row, columns.map(|columns| &columns[log_half as usize])));
        }
    }
}

fn low_level<const INVERSE: bool>(block: &mut [Fr8], factors: &[Fr8], log_half: u32) {
    let half = 1 << log_half;
    for pair in block.chunks_exact_mut(2 * half) {
        let (upper, lower) = pair.split_at_mut(half);
        for ((u, v), w) in upper.iter_mut().zip(lower).zip(&factors[half..2 * half]) {
            butterfly::<INVERSE>(u, v, w);
        }
    }
}

fn high_level<const INVERSE: bool>(
    rows: &mut [Fr8],
    twiddles: &RowTwiddles<Factor>,
    columns: Option<&[Fr8; 16]>,
    log_half: u32,
) {
    let half = 1 << log_half;
    for (row, twiddle) in twiddles.level(log_half).iter().enumerate() {
        let w = factor(twiddle, columns.map(|columns| &columns[log_half as usize]));
        for pair in rows.chunks_exact_mut(2 * half) {
            let (upper, lower) = pair.split_at_mut(half);
            butterfly::<INVERSE>(&mut upper[row], &mut lower[row], &w);
        }
    }
}

fn butterfly<const INVERSE: bool>(u: &mut Fr8, v: &mut Fr8, w: &Fr8) {
    if INVERSE {
        // Both below 4 r and normalised, before and after.
        let sum = add(u, v);
        let difference = normalise(&add_constant(&sub(u, v), &const { multiple(4) }));
        *u = normalise(&subtract_if_surely_above(&sum, &const { multiple(4) }, 4));
        *v = mul(&difference, w);
    } else {
        let product = mul_raw(&normalise(v), w);
        let difference = sub(&add_constant(u, &const { multiple(2) }), &product);
        *u = add(u, &product);
        *v = difference;
    }
}
}

const _: () = assert!(LANES == 8);
