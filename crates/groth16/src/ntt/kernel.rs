//! What an instruction set has to offer: all levels of a pass on one tile.

use super::tables::{Direction, RowTwiddles};
use blstrs::Scalar;
use std::marker::PhantomData;

/// Elements side by side in a tile's row.
pub(super) const LANES: usize = 8;

/// The array under transformation, shared by threads that work on disjoint tiles.
pub(super) struct Shared<'a> {
    start: *mut Scalar,
    len: usize,
    array: PhantomData<&'a mut [Scalar]>,
}

// SAFETY: access is by `read` and `write`, whose callers promise that no two threads have the same elements.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    pub(super) fn new(array: &'a mut [Scalar]) -> Self {
        Shared {
            start: array.as_mut_ptr(),
            len: array.len(),
            array: PhantomData,
        }
    }

    /// Address of an element.
    ///
    /// # Panics
    /// Out of range.
    #[inline(always)]
    pub(super) fn at(&self, index: usize) -> *mut Scalar {
        assert!(index < self.len);
        // SAFETY: in range.
        unsafe { self.start.add(index) }
    }
}

/// Where a tile's elements lie: row r, lane l at `base + r row_stride + l lane_stride`.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) base: usize,
    pub(super) log_rows: u32,
    pub(super) row_stride: usize,
    pub(super) lane_stride: usize,
}

impl Tile {
    #[inline(always)]
    pub(super) fn index(&self, row: usize, lane: usize) -> usize {
        self.base + row * self.row_stride + lane * self.lane_stride
    }
}

/// All levels of a pass.
pub(super) struct Levels<'a, T> {
    pub(super) direction: Direction,
    pub(super) rows: &'a RowTwiddles<T>,
    /// The columns' factors for the level of most rows a half; the next levels' are squares. `None`: one.
    pub(super) columns: Option<[Scalar; LANES]>,
}

/// Butterflies of an instruction set, and the arithmetic between transforms.
pub(super) trait Kernel: Sync {
    /// A twiddle factor.
    type Twiddle: From<Scalar> + Send + Sync;
    /// A thread's copy of a tile.
    type Scratch: Default;

    /// Transforms the same tile of some arrays, once for each of `passes`. Twiddle factors are computed for all of them.
    ///
    /// # Safety
    /// No other thread accesses the tile's elements meanwhile, and the CPU has the instructions.
    unsafe fn transform(
        scratch: &mut Self::Scratch,
        data: &[Shared<'_>],
        tile: &Tile,
        passes: &[Levels<'_, Self::Twiddle>],
    );

    /// Writes `a[i] b[i]` to `out[i]`.
    ///
    /// # Safety
    /// All are `count` scalars, `out` to be written, perhaps for the first time; it may be `a`, but may not overlap
    /// otherwise. The CPU has the instructions.
    unsafe fn products(a: *const Scalar, b: *const Scalar, out: *mut Scalar, count: usize);

    /// a[i] becomes `x a[i] + y c[i]`.
    ///
    /// # Safety
    /// The CPU has the instructions.
    unsafe fn combine(a: &mut [Scalar], x: &Scalar, c: &[Scalar], y: &Scalar);
}
