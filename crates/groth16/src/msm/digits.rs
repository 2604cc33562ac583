//! Scalars cut into signed windows.

use crate::field::{R, sub_words};
use blstrs::Scalar;
use ff::PrimeField;

/// Bits of a scalar's magnitude once it is at most (r - 1) / 2, and one for the last window's carry.
const BITS: u32 = 255;

/// Bit 255 of a recoded scalar: the digits count negatively.
const NEGATED: u64 = 1 << 63;

/// How scalars are cut: `count` windows of `width` bits, digits from `-2^(width-1)` to `2^(width-1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) width: u32,
    pub(super) count: u32,
}

impl Windows {
    /// # Panics
    /// Unless `2 <= width <= 24`.
    pub(super) fn new(width: u32) -> Self {
        assert!((2..=24).contains(&width));
        Windows {
            width,
            count: BITS.div_ceil(width),
        }
    }

    /// The width that takes the fewest additions for this many terms: a term costs one in each window, a bucket two
    /// (running sum and total).
    pub(super) fn for_terms(terms: usize) -> Self {
        let additions = |w: &Windows| w.count as usize * (terms + 2 * w.buckets());
        (2..=18)
            .map(Windows::new)
            .min_by_key(additions)
            .expect("not empty")
    }

    /// Magnitudes that a digit may have, zero apart.
    pub(super) fn buckets(self) -> usize {
        1 << (self.width - 1)
    }

    /// Makes a scalar ready for [`Window::digit`]: s or r - s, whichever is smaller, plus `2^(width-1)` in every window
    /// but the last. So every window's digit can be read by itself, without the carries of those below.
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
            let bit = window * self.width + self.width - 1;
            offsets[bit as usize / 64] |= 1 << (bit % 64);
        }
        offsets
    }

    /// The window of weight `2^(index width)`.
    pub(super) fn window(self, index: u32) -> Window {
        let bit = index * self.width;
        let word = bit as usize / 64;
        let value = |word: usize| if word == 3 { !NEGATED } else { u64::MAX };
        Window {
            word,
            above: (word + 1).min(3),
            value: value(word),
            value_above: if word == 3 { 0 } else { value(word + 1) },
            shift: bit % 64,
            mask: (1 << self.width) - 1,
            offset: if index + 1 < self.count {
                self.buckets() as i32
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
