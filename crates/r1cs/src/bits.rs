//! A vector of bits in 64-bit words.

/// A fixed-length vector of bits, bit `i` in word `i / 64` at position `i % 64`; bits past the
/// end are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitVec {
    words: Vec<u64>,
    len: usize,
}

impl BitVec {
    /// `len` zero bits.
    pub fn zeros(len: usize) -> Self {
        Self {
            words: vec![0; len.div_ceil(64)],
            len,
        }
    }

    /// From words; none unless they are those of `len` bits, with zeros past the end.
    pub(crate) fn from_words(words: Vec<u64>, len: usize) -> Option<Self> {
        let past = match (words.last(), len % 64) {
            (Some(last), used @ 1..) => last >> used,
            _ => 0,
        };
        (words.len() == len.div_ceil(64) && past == 0).then_some(Self { words, len })
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`; panics when out of range.
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i` to one; panics when out of range.
    pub fn set(&mut self, i: usize) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Number of ones.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The words, least significant bit first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The indices of the ones, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        ones(&self.words)
    }

    /// Ones where there are zeros, and the other way round.
    pub(crate) fn complement(mut self) -> Self {
        self.words.iter_mut().for_each(|word| *word = !*word);
        if let (Some(last), used @ 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= (1 << used) - 1;
        }
        self
    }

    /// Sets bit `i + offset` for every one `i` of `pattern`; ones that would land past the end
    /// are a panic.
    pub(crate) fn or_shifted(&mut self, pattern: &BitVec, offset: usize) {
        let (skip, shift) = (offset / 64, offset % 64);
        for (i, &word) in pattern.words.iter().enumerate() {
            if word == 0 {
                continue;
            }
            self.words[skip + i] |= word << shift;
            if shift != 0 && word >> (64 - shift) != 0 {
                self.words[skip + i + 1] |= word >> (64 - shift);
            }
        }
    }
}

/// The indices of the ones in `words`, ascending.
pub(crate) fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        std::iter::successors((word != 0).then_some(word), |w| {
            let rest = w & (w - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |w| i * 64 + w.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifted_pattern_lands_where_single_bits_would() {
        let mut pattern = BitVec::zeros(130);
        for i in [0, 1, 63, 64, 100, 129] {
            pattern.set(i);
        }
        for offset in [0, 1, 63, 64, 65, 200] {
            let mut shifted = BitVec::zeros(400);
            shifted.or_shifted(&pattern, offset);
            let expected: Vec<_> = pattern.ones().map(|i| i + offset).collect();
            assert_eq!(shifted.ones().collect::<Vec<_>>(), expected);
            assert_eq!(shifted.count_ones(), 6);
        }
    }
}
