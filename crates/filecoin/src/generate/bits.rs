//! The bit variables of one block, in a buffer whose first and last word it shares with its neighbours.

/// The words of a packed witness that hold the slots `start..end` of one block.
///
/// Blocks do not end on word boundaries. A block owns the words that lie wholly inside it and keeps its share of
/// the two words at its seams aside, to be merged once all blocks are written. So any number of threads write
/// blocks of one witness without locks, and every word of the buffer is overwritten whatever it held before.
pub(super) struct BlockBits<'a> {
    start: usize,
    end: usize,
    /// Index of `interior[0]` in the whole buffer.
    first: usize,
    interior: &'a mut [u64],
    head: u64,
    tail: u64,
}

/// A block's share of the words at its seams: (word index, bits). None where it ends on a word boundary.
pub(super) type Seams = [Option<(usize, u64)>; 2];

impl<'a> BlockBits<'a> {
    /// Splits `words` into consecutive blocks that end at `ends` (slots, ascending); the first starts at slot 0.
    pub(super) fn split(
        mut words: &'a mut [u64],
        ends: impl IntoIterator<Item = usize>,
    ) -> Vec<Self> {
        let (mut start, mut taken) = (0usize, 0);
        let mut blocks = Vec::new();
        for end in ends {
            let first = start.div_ceil(64);
            let last = (end / 64).max(first);
            let (_, rest) = std::mem::take(&mut words).split_at_mut(first - taken);
            let (interior, rest) = rest.split_at_mut(last - first);
            (words, taken) = (rest, last);
            blocks.push(BlockBits {
                start,
                end,
                first,
                interior,
                head: 0,
                tail: 0,
            });
            start = end;
        }
        blocks
    }

    /// First slot of the block.
    #[cfg(test)]
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// One past the last slot of the block.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// What belongs into the shared words.
    pub(super) fn seams(self) -> Seams {
        let seam = |slot: usize, share| (!slot.is_multiple_of(64)).then_some((slot / 64, share));
        [seam(self.start, self.head), seam(self.end, self.tail)]
    }

    /// The words wholly inside, and the index of the first of them.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) fn interior(&mut self) -> (usize, &mut [u64]) {
        (self.first, self.interior)
    }

    pub(super) fn get(&self, index: usize) -> u64 {
        match index.checked_sub(self.first) {
            None => self.head,
            Some(i) => self.interior.get(i).copied().unwrap_or(self.tail),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, index: usize, word: u64) {
        match index.checked_sub(self.first) {
            None => self.head = word,
            Some(i) => *self.interior.get_mut(i).unwrap_or(&mut self.tail) = word,
        }
    }
}

/// Merges the shared words of all blocks of one buffer.
pub(super) fn merge_seams(words: &mut [u64], seams: &[Seams]) {
    let shares = || seams.iter().flatten().flatten();
    shares().for_each(|(index, _)| words[*index] = 0);
    shares().for_each(|(index, share)| words[*index] |= share);
}

/// Takes bit variables in allocation order.
pub(super) trait BitSink {
    /// `count` (at most 64) bits, the first in the lowest bit of `value`; the bits above must be zero.
    fn bits(&mut self, value: u64, count: u32);
}

/// Writes bits at consecutive slots of a block through a 64-bit shift register.
///
/// Bits below the opening slot and above the closing one stay as they are, those between are overwritten.
pub(super) struct BitWriter<'b, 'a> {
    block: &'b mut BlockBits<'a>,
    at: usize,
    register: u64,
}

impl<'b, 'a> BitWriter<'b, 'a> {
    pub(super) fn open(block: &'b mut BlockBits<'a>, slot: usize) -> Self {
        let register = block.get(slot / 64) & low_bits(slot % 64);
        BitWriter {
            block,
            at: slot,
            register,
        }
    }

    /// The next slot.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn zeros(&mut self, count: usize) {
        let (word, end) = (self.at / 64, (self.at + count) / 64);
        self.at += count;
        if end > word {
            self.block.set(word, self.register);
            self.register = 0;
            (word + 1..end).for_each(|w| self.block.set(w, 0));
        }
    }

    /// Leaves `count` slots to be written by somebody else afterwards.
    pub(super) fn skip(&mut self, count: usize) {
        let word = self.at / 64;
        self.at += count;
        if self.at / 64 > word {
            self.block.set(word, self.register);
            self.register = 0;
        }
    }

    pub(super) fn close(self) {
        let (word, used) = (self.at / 64, self.at % 64);
        if used > 0 {
            let kept = self.block.get(word) & !low_bits(used);
            self.block.set(word, kept | self.register);
        }
    }
}

impl BitSink for BitWriter<'_, '_> {
    #[inline]
    fn bits(&mut self, value: u64, count: u32) {
        debug_assert!(count <= 64 && (count == 64 || value >> count == 0));
        let fill = (self.at % 64) as u32;
        self.register |= value << fill;
        if fill + count >= 64 {
            self.block.set(self.at / 64, self.register);
            // With nothing pending all 64 bits have left; a shift by 64 would wrap.
            self.register = if fill == 0 { 0 } else { value >> (64 - fill) };
        }
        self.at += count as usize;
    }
}

fn low_bits(count: usize) -> u64 {
    (1u64 << count) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Blocks of odd lengths, written in reverse order over garbage, against a plain vector of bits.
    #[test]
    fn blocks_share_seam_words() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..200 {
            let lengths: Vec<usize> = (0..6).map(|_| rng.gen_range(1..300)).collect();
            let total: usize = lengths.iter().sum();
            let expected: Vec<bool> = (0..total).map(|_| rng.r#gen()).collect();
            let mut words: Vec<u64> = (0..total.div_ceil(64)).map(|_| rng.r#gen()).collect();
            let ends = lengths.iter().scan(0, |at, n| {
                *at += n;
                Some(*at)
            });
            let mut blocks = BlockBits::split(&mut words, ends);
            for block in blocks.iter_mut().rev() {
                let (mut at, end) = (block.start(), block.end());
                let mut writer = BitWriter::open(block, at);
                while at < end {
                    let n = rng.gen_range(1..=64).min(end - at);
                    let value = (0..n).fold(0, |v, i| v | u64::from(expected[at + i]) << i);
                    writer.bits(value, n as u32);
                    at += n;
                }
                writer.close();
            }
            let seams: Vec<Seams> = blocks.into_iter().map(BlockBits::seams).collect();
            merge_seams(&mut words, &seams);
            for (i, bit) in expected.iter().enumerate() {
                assert_eq!(
                    words[i / 64] >> (i % 64) & 1 == 1,
                    *bit,
                    "bit {i} of {total}"
                );
            }
        }
    }

    #[test]
    fn a_gap_is_filled_later() {
        let mut words = vec![!0u64; 8];
        let mut blocks = BlockBits::split(&mut words, [500]);
        let block = &mut blocks[0];
        let mut writer = BitWriter::open(block, 0);
        writer.bits(5, 3);
        writer.skip(200);
        writer.zeros(100);
        writer.bits(1, 1);
        writer.zeros(196);
        writer.close();
        let mut gap = BitWriter::open(block, 3);
        gap.bits(!0, 64);
        gap.bits(!0, 64);
        gap.bits(!0, 64);
        gap.bits(0xff, 8);
        gap.close();
        let seams: Vec<Seams> = blocks.into_iter().map(BlockBits::seams).collect();
        merge_seams(&mut words, &seams);
        let ones: Vec<usize> = (0..500)
            .filter(|i| words[i / 64] >> (i % 64) & 1 == 1)
            .collect();
        let expected: Vec<usize> = [0, 2].into_iter().chain(3..203).chain([303]).collect();
        assert_eq!(ones, expected);
    }
}
