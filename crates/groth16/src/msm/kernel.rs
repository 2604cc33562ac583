//! What an instruction set has to offer: batches of independent affine additions.

use super::group::Group;
use std::mem::MaybeUninit;

/// An operand out of the given points: index, and bit 31 set for the negative.
pub(super) type Leaf = u32;

/// The bit of a [`Leaf`] that asks for the negative.
pub(super) const NEGATIVE: Leaf = 1 << 31;

/// `arena[to] = a + b`, where a and b are leaves or places in the arena.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// First operand.
    pub a: u32,
    /// Second operand.
    pub b: u32,
    /// Place of the sum in the arena: an operand's own place or nobody's.
    pub to: u32,
}

/// `arena[to] = leaf`.
#[derive(Clone, Copy, Debug)]
pub struct Single {
    /// Operand.
    pub leaf: Leaf,
    /// Place in the arena.
    pub to: u32,
}

/// One step's work: all independent. No place is written twice, and a place that is written is read by no other pair.
#[derive(Default)]
pub struct Batch {
    /// Leaves to be taken over alone.
    pub singles: Vec<Single>,
    /// Sums of two leaves.
    pub leaves: Vec<Pair>,
    /// Sums of two places in the arena.
    pub inner: Vec<Pair>,
}

/// Affine points in an arena and batches of additions with one field inversion each (Montgomery's trick).
pub trait Kernel: Default + Send {
    /// The group.
    type Group: Group;
    /// A point in the kernel's own form; the default is infinity.
    type Point: Copy + Default + Send + Sync;

    /// Takes the encodings at `positions` over into the kernel's form, all of `to`. Signs are left for the leaves.
    ///
    /// # Panics
    /// When lengths differ or a position is out of range.
    fn import(
        encodings: &[<Self::Group as Group>::Encoding],
        positions: &[Leaf],
        to: &mut [MaybeUninit<Self::Point>],
    );

    /// Carries out all of a batch and empties it, equal, opposite and infinite operands included. Leaves index
    /// `leaves`. `ahead` is some memory traffic to be spread over the work.
    fn run(
        &mut self,
        leaves: &[Self::Point],
        arena: &mut [Self::Point],
        batch: &mut Batch,
        ahead: &mut Ahead<'_, Self::Point>,
    );

    /// The point in blst's form.
    fn export(point: &Self::Point) -> <Self::Group as Group>::Affine;
}

/// The next batch's leaves, asked for from all over memory while the present batch is computed. Asked for only when
/// needed, their cache misses come in a burst.
pub struct Ahead<'a, P> {
    points: &'a [P],
    leaves: &'a [Leaf],
}

impl<'a, P> Ahead<'a, P> {
    /// For these leaves out of `points`.
    pub fn new(points: &'a [P], leaves: &'a [Leaf]) -> Self {
        Ahead { points, leaves }
    }

    /// Nothing to ask for.
    pub fn nothing() -> Self {
        Ahead::new(&[], &[])
    }

    /// How many are left.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Asks for the next `count`.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        let (now, later) = self.leaves.split_at(self.leaves.len().min(count));
        for leaf in now {
            prefetch(self.points, (leaf & !NEGATIVE) as usize);
        }
        self.leaves = later;
    }
}

/// Asks for all cache lines of an element into the L2 cache: a batch's leaves are too many for the first.
#[inline(always)]
pub(super) fn prefetch<T>(array: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let start = array.as_ptr().wrapping_add(index).cast::<i8>();
        // An element may begin in the middle of a line.
        let lines = (size_of::<T>() + 64usize.saturating_sub(align_of::<T>())).div_ceil(64);
        for line in 0..lines {
            let offset = (64 * line).min(size_of::<T>() - 1);
            // SAFETY: a prefetch reads nothing and faults nowhere.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (array, index);
}
