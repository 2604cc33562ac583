//! Which bits the gadget allocates, given which message bits are constants of the circuit.

use super::Block;

/// Result bits of a sum: as many as `operands * (2^32 - 1)` has, constant operands counted.
pub(super) const SUM_OF_2: u32 = 33;
pub(super) const SUM_OF_4: u32 = 34;
/// Sums of six (the round's `e`), seven (`a`, and `e` at the end) and eight (`a` at the end) operands.
pub(super) const SUM_OF_6_TO_8: u32 = 35;

/// A 32-bit word of `Boolean`s: which are constants, the constants' values, and which of the others are stored
/// negated (`Boolean::Not`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Bits {
    constant: u32,
    value: u32,
    negated: u32,
}

impl Bits {
    /// A word of allocated bits.
    pub(in super::super) const VARIABLE: Bits = Bits {
        constant: 0,
        value: 0,
        negated: 0,
    };

    pub(in super::super) const fn constant(value: u32) -> Bits {
        Bits {
            constant: !0,
            value,
            negated: 0,
        }
    }

    /// Allocated bits except for those of `mask`, which are constant zeros.
    pub(in super::super) const fn zero_in(mask: u32) -> Bits {
        Bits {
            constant: mask,
            value: 0,
            negated: 0,
        }
    }

    fn is_constant(&self) -> bool {
        self.constant == !0
    }

    fn rotate_right(self, n: u32) -> Bits {
        Bits {
            constant: self.constant.rotate_right(n),
            value: self.value.rotate_right(n),
            negated: self.negated.rotate_right(n),
        }
    }

    /// The bits shifted in are constant zeros.
    fn shift_right(self, n: u32) -> Bits {
        Bits {
            constant: self.constant >> n | !(!0 >> n),
            value: self.value >> n,
            negated: self.negated >> n,
        }
    }

    /// Only a xor of two variables allocates. It stores the un-negated result; negation passes through.
    fn xor(self, other: Bits) -> (Bits, Kept) {
        let allocated = !self.constant & !other.constant;
        let constant = self.constant & other.constant;
        let negated = (self.negated ^ self.value ^ other.negated ^ other.value) & !constant;
        let result = Bits {
            constant,
            value: (self.value ^ other.value) & constant,
            negated,
        };
        (result, Kept::new(allocated, negated & allocated))
    }
}

/// The allocated bits of a word: those of a mask, moved together, after `flip`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) flip: u32,
    pub(super) count: u32,
    /// Runs of kept bits: shift right, then mask.
    pub(super) runs: Vec<(u32, u32)>,
}

impl Kept {
    fn new(mask: u32, flip: u32) -> Kept {
        let (mut runs, mut count, mut at) = (Vec::new(), 0, 0);
        while at < 32 {
            let length = (mask >> at).trailing_ones();
            if length > 0 {
                runs.push((at - count, (((1u64 << length) - 1) as u32) << count));
                count += length;
            }
            at += length + 1;
        }
        Kept { flip, count, runs }
    }

    #[inline]
    pub(super) fn extract(&self, word: u32) -> u64 {
        let word = word ^ self.flip;
        self.runs.iter().fold(0, |kept, (shift, mask)| {
            kept | u64::from(word >> shift & mask)
        })
    }
}

/// One step of the message schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// No constants but the zeros shifted in: 32 + 29 bits for s0, 32 + 22 for s1, 34 for the sum.
    Variable,
    /// Both xors of s0, both of s1, and whether the sum is allocated rather than a constant.
    Folded { xors: Box<[Kept; 4]>, sum: bool },
}

/// Circuit-constant description of one compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Shape {
    pub(super) schedule: Vec<Step>,
    /// The chaining value is the constant [`super::IV`]: the first rounds fold.
    pub(super) constant_iv: bool,
    slots: usize,
}

impl Shape {
    pub(in super::super) fn new(block: &[Bits; 16], constant_iv: bool) -> Shape {
        // With a constant first word, round 1 would fold too, which no message here does.
        assert!(
            !constant_iv || !block[0].is_constant(),
            "first word must be variable"
        );
        let mut w = block.to_vec();
        let mut slots = 0;
        let schedule = (16..64)
            .map(|i| {
                let (s0, a) = w[i - 15].rotate_right(7).xor(w[i - 15].rotate_right(18));
                let (s0, b) = s0.xor(w[i - 15].shift_right(3));
                let (s1, c) = w[i - 2].rotate_right(17).xor(w[i - 2].rotate_right(19));
                let (s1, d) = s1.xor(w[i - 2].shift_right(10));
                let operands = [w[i - 16], s0, w[i - 7], s1];
                let sum = !operands.iter().all(Bits::is_constant);
                let constant = operands
                    .iter()
                    .fold(0u32, |total, o| total.wrapping_add(o.value));
                w.push(if sum {
                    Bits::VARIABLE
                } else {
                    Bits::constant(constant)
                });
                let xors = Box::new([a, b, c, d]);
                slots += xors.iter().map(|x| x.count).sum::<u32>() + if sum { SUM_OF_4 } else { 0 };
                let plain =
                    xors.iter()
                        .map(|x| (x.flip, x.count))
                        .eq([(0, 32), (0, 29), (0, 32), (0, 22)]);
                if sum && plain {
                    Step::Variable
                } else {
                    Step::Folded { xors, sum }
                }
            })
            .collect();
        slots += rounds_slots(constant_iv) + 2 * SUM_OF_6_TO_8 + 6 * SUM_OF_2;
        Shape {
            schedule,
            constant_iv,
            slots: slots as usize,
        }
    }

    /// Variables that the gadget allocates.
    pub(in super::super) fn slots(&self) -> usize {
        self.slots
    }
}

/// A round: four xors, `ch`, and `maj` with its product, 32 bits each; from the second round on, `e` and `a` before.
/// With a constant chaining value round 0 folds altogether, round 1 has only xors, round 2 one bit for `ch` and `maj`.
fn rounds_slots(constant_iv: bool) -> u32 {
    let words = if constant_iv { 4 + 6 + 61 * 7 } else { 64 * 7 };
    32 * words + 63 * 2 * SUM_OF_6_TO_8
}

/// `0x80`, zeros and the length in bits from word `at` on: the padding of a message's last block.
pub(in super::super) fn pad(block: &mut Block, at: usize, bits: u32) {
    block[at..].fill(0);
    block[at] = 1 << 31;
    block[15] = bits;
}
