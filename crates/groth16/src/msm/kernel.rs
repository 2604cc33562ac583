//! What an instruction set has to offer: batches of independent affine additions.

use super::group::Group;

/// An operand out of the encoded points: index, and bit 31 set for the negative.
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

    /// Carries out all of a batch and empties it, equal, opposite and infinite operands included. Leaves index
    /// `encodings`. `ahead` is some memory traffic to be spread over the work.
    fn run(
        &mut self,
        encodings: &[<Self::Group as Group>::Encoding],
        arena: &mut [Self::Point],
        batch: &mut Batch,
        ahead: &mut Ahead<'_, <Self::Group as Group>::Encoding>,
    );

    /// The point in blst's form.
    fn export(point: &Self::Point) -> <Self::Group as Group>::Affine;
}

/// The next batch's leaves, being copied together from all over memory while the present batch is computed. Asked
/// for only when needed, their cache and TLB misses come in a burst, several times over.
pub struct Ahead<'a, E> {
    from: &'a [E],
    leaves: &'a mut [Leaf],
    to: &'a mut [E],
    done: usize,
}

impl<'a, E: Copy> Ahead<'a, E> {
    /// Copies `from[leaf]` to `to[i]` for the i-th leaf, which then is replaced by i with the same sign.
    pub fn new(from: &'a [E], leaves: &'a mut [Leaf], to: &'a mut [E]) -> Self {
        assert!(leaves.len() <= to.len());
        Ahead {
            from,
            leaves,
            to,
            done: 0,
        }
    }

    /// How many are left.
    pub fn len(&self) -> usize {
        self.leaves.len() - self.done
    }

    /// Copies the next `count`, and asks for those to be copied two calls later.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        let until = self.leaves.len().min(self.done + count);
        for i in self.done..until {
            if let Some(leaf) = self.leaves.get(i + 4 * count) {
                prefetch(&self.from[(leaf & !NEGATIVE) as usize]);
            }
            let leaf = self.leaves[i];
            self.to[i] = self.from[(leaf & !NEGATIVE) as usize];
            self.leaves[i] = i as u32 | leaf & NEGATIVE;
        }
        self.done = until;
    }
}

/// Asks for all cache lines of a value.
#[inline(always)]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = (value as *const T).cast::<i8>();
        for line in (0..size_of::<T>()).step_by(64).chain([size_of::<T>() - 1]) {
            // SAFETY: a prefetch reads nothing, and the address lies in the value.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
