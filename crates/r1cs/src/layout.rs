//! Which slots of a witness are bits.

use crate::bits::BitVec;

/// The shape of a circuit's witness: which private variables can hold only 0 or 1 and take one bit,
/// and which are wide and take a field element. It is a property of the circuit; a wide slot may
/// well hold 0 or 1.
///
/// A circuit more than half of whose slots are wide is laid out *dense*: every slot is wide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessLayout {
    num_inputs: usize,
    num_aux: usize,
    packed: Option<Packed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Packed {
    /// One at every wide slot.
    wide: BitVec,
    /// Wide slots before every group of [`GROUP`] words.
    ranks: Vec<u32>,
    num_wide: usize,
}

/// Words that share a rank count.
const GROUP: usize = 8;

impl WitnessLayout {
    /// A layout with exactly the slots of `wide` wide, or a dense one if those are more than half.
    pub fn new(num_inputs: usize, wide: BitVec) -> Self {
        let num_aux = wide.len();
        let num_wide = wide.count_ones();
        let packed = (num_wide * 2 <= num_aux && num_aux > 0).then(|| {
            let mut before = 0;
            let ranks = wide.words().chunks(GROUP).map(|group| {
                let rank = before;
                before += group.iter().map(|w| w.count_ones()).sum::<u32>();
                rank
            });
            let ranks = ranks.collect();
            Packed {
                wide,
                ranks,
                num_wide,
            }
        });
        Self {
            num_inputs,
            num_aux,
            packed,
        }
    }

    /// A layout with every slot wide.
    pub fn dense(num_inputs: usize, num_aux: usize) -> Self {
        Self {
            num_inputs,
            num_aux,
            packed: None,
        }
    }

    /// Number of inputs, the constant one among them.
    pub fn num_inputs(&self) -> usize {
        self.num_inputs
    }

    /// Number of private variables.
    pub fn num_aux(&self) -> usize {
        self.num_aux
    }

    /// Whether every slot is wide.
    pub fn is_dense(&self) -> bool {
        self.packed.is_none()
    }

    /// Number of wide slots.
    pub fn num_wide(&self) -> usize {
        self.packed.as_ref().map_or(self.num_aux, |p| p.num_wide)
    }

    /// Whether slot `i` is wide; panics when out of range.
    #[inline]
    pub fn is_wide(&self, i: usize) -> bool {
        match &self.packed {
            Some(packed) => packed.wide.get(i),
            None => {
                assert!(i < self.num_aux, "slot {i} of {}", self.num_aux);
                true
            }
        }
    }

    /// Number of wide slots before slot `i`, which is where a wide slot's value is kept; panics when
    /// out of range.
    #[inline]
    pub fn wide_rank(&self, i: usize) -> usize {
        let Some(packed) = &self.packed else {
            assert!(i < self.num_aux, "slot {i} of {}", self.num_aux);
            return i;
        };
        let word = i / 64;
        let group = word / GROUP;
        let words = packed.wide.words();
        let before: u32 = words[group * GROUP..word]
            .iter()
            .map(|w| w.count_ones())
            .sum();
        let within = words[word] & ((1 << (i % 64)) - 1);
        (packed.ranks[group] + before + within.count_ones()) as usize
    }

    /// The mask of wide slots, 64 slots a word; none when dense.
    pub fn mask_words(&self) -> Option<&[u64]> {
        self.packed.as_ref().map(|p| p.wide.words())
    }

    /// Wide slots before every [`WitnessLayout::RANK_WORDS`] words of the mask; none when dense.
    pub fn rank_directory(&self) -> Option<&[u32]> {
        self.packed.as_ref().map(|p| p.ranks.as_slice())
    }

    /// How many mask words share an entry of the rank directory.
    pub const RANK_WORDS: usize = GROUP;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_counts_the_wide_slots_before() {
        let mut wide = BitVec::zeros(5000);
        for i in (0..5000).filter(|i| i % 7 == 3 || (600..900).contains(i)) {
            wide.set(i);
        }
        let layout = WitnessLayout::new(1, wide.clone());
        assert!(!layout.is_dense());
        let mut rank = 0;
        for i in 0..5000 {
            assert_eq!(layout.wide_rank(i), rank, "slot {i}");
            assert_eq!(layout.is_wide(i), wide.get(i));
            rank += usize::from(wide.get(i));
        }
        assert_eq!(layout.num_wide(), rank);
    }

    #[test]
    fn mostly_wide_is_dense() {
        let mut wide = BitVec::zeros(10);
        (0..6).for_each(|i| wide.set(i));
        let layout = WitnessLayout::new(1, wide);
        assert!(layout.is_dense() && layout.is_wide(9));
        assert_eq!((layout.num_wide(), layout.wide_rank(9)), (10, 9));
    }
}
