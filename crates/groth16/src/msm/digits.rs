//! Scalars cut into signed windows.

use crate::field::{R, sub_words};
use blstrs::Scalar;
use ff::PrimeField;

/// Bits of a scalar's magnitude once it is at most (r - 1) / 2, and one for the last window's carry.
const BITS: u32 = 255;

/// Bit 255 of a recoded scalar: the digits count negatively.
const NEGATED: u64 = 1 << 63;

/// How scalars are cut: `count` windows, the first `wide` of `width` bits and the others of one less; the digits of a window
/// of w bits go from `-2^(w-1)` to `2^(w-1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) width: u32,
    pub(super) count: u32,
    wide: u32,
}

impl Windows {
    /// All windows of the same width; what is left over makes the last one's digits smaller.
    ///
    /// # Panics
    /// Unless `2 <= width <= 24`.
    pub(super) fn new(width: u32) -> Self {
        assert!((2..=24).contains(&width));
        let count = BITS.div_ceil(width);
        Windows {
            width,
            count,
            wide: count,
        }
    }

    /// So many windows, none much narrower than the others: all buckets are used.
    ///
    /// # Panics
    /// Unless `11 <= count <= 127`.
    pub(super) fn balanced(count: u32) -> Self {
        assert!((11..=127).contains(&count));
        let width = BITS.div_ceil(count);
        Windows {
            width,
            count,
            wide: BITS - count * (width - 1),
        }
    }

    /// Those that take the fewest additions for this many terms: a term costs one in each window, a bucket two (running
    /// sum and total). At most 20 bits: more make too many buckets to be kept in memory.
    pub(super) fn for_terms(terms: usize) -> Self {
        let additions = |windows: &Windows| -> usize {
            let buckets = |window| 2 * windows.buckets_of(window);
            (0..windows.count).map(|w| terms + buckets(w)).sum()
        };
        (13..=127)
            .map(Windows::balanced)
            .min_by_key(additions)
            .expect("not empty")
    }

    /// Magnitudes that a digit of the widest windows may have, zero apart.
    pub(super) fn buckets(self) -> usize {
        1 << (self.width - 1)
    }

    /// Magnitudes that a digit of this window may have, zero apart.
    pub(super) fn buckets_of(self, window: u32) -> usize {
        1 << (self.width_of(window) - 1)
    }

    /// Bits of a window.
    pub(super) fn width_of(self, window: u32) -> u32 {
        self.width - u32::from(window >= self.wide)
    }

    /// Lowest bit of a window.
    fn start(self, window: u32) -> u32 {
        window * self.width - window.saturating_sub(self.wide)
    }

    /// Makes a scalar ready for [`Window::digit`]: s or r - s, whichever is smaller, plus half a window's range in every
    /// window but the last. So every window's digit can be read by itself, without the carries of those below.
    pub(super) fn recode(self, scalar: &Scalar) -> Recoded {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(scalar.to_repr().as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let (complement, _) = sub_words(R, words);
        let negated = complement.iter().rev().lt(words.iter().rev());
        if negated {
            words = complement;
        }
        let mut carry = 0u128;
        for (word, offset) in words.iter_mut().zip(self.offsets()) {
            carry += *word as u128 + offset as u128;
            *word = carry as u64;
            carry >>= 64;
        }
        debug_assert!(words[3] & NEGATED == 0);
        words[3] |= if negated { NEGATED } else { 0 };
        Recoded(words)
    }

    fn offsets(self) -> [u64; 4] {
        let mut offsets = [0; 4];
        for window in 0..self.count - 1 {
            let bit = self.start(window + 1) - 1;
            offsets[bit as usize / 64] |= 1 << (bit % 64);
        }
        offsets
    }

    /// A window, lowest first.
    pub(super) fn window(self, index: u32) -> Window {
        let bit = self.start(index);
        let word = bit as usize / 64;
        let value = |word: usize| if word == 3 { !NEGATED } else { u64::MAX };
        Window {
            word,
            above: (word + 1).min(3),
            value: value(word),
            value_above: if word == 3 { 0 } else { value(word + 1) },
            shift: bit % 64,
            mask: (1 << self.width_of(index)) - 1,
            offset: if index + 1 < self.count {
                self.buckets_of(index) as i32
            } else {
                0
            },
        }
    }
}

/// A scalar ready for cutting.
#[derive(Clone, Copy, Default)]
pub(super) struct Recoded([u64; 4]);

/// One window of all scalars.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// The word that it begins in, and the one above.
    word: usize,
    above: usize,
    /// Their bits that belong to the value.
    value: u64,
    value_above: u64,
    shift: u32,
    mask: u64,
    offset: i32,
}

impl Window {
    /// Magnitude and sign of the digit.
    #[inline(always)]
    pub(super) fn digit(self, scalar: &Recoded) -> (u32, bool) {
        let words = &scalar.0;
        let low = (words[self.word] & self.value) >> self.shift;
        // In two steps: a shift by 64 is none.
        let high = (words[self.above] & self.value_above) << 1 << (63 - self.shift);
        let digit = ((low | high) & self.mask) as i32 - self.offset;
        let negated = words[3] & NEGATED != 0;
        (digit.unsigned_abs(), (digit < 0) ^ negated)
    }
}
