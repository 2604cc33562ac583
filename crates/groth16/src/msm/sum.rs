//! Sums of bases whose scalars are one.

use super::adder::{Adder, Bases};
use super::group::Group;
use super::kernel::{Kernel, Leaf, NEGATIVE};
use group::Group as _;
use rayon::prelude::*;

/// Words of the selection that a task takes at least: 2^13 bases.
const TASK_WORDS: usize = 1 << 7;

type Encoding<K> = <<K as Kernel>::Group as Group>::Encoding;
type Projective<K> = <<K as Kernel>::Group as Group>::Projective;

/// Sum of the bases whose bits are set.
pub(super) fn selected<K: Kernel>(encodings: &[Encoding<K>], selected: &[u64]) -> Projective<K> {
    assert!(
        encodings.len() < NEGATIVE as usize,
        "bases beyond an index of 31 bits"
    );
    // A few tasks a thread even out what the others leave behind.
    let task_words = selected
        .len()
        .div_ceil(4 * rayon::current_num_threads())
        .max(TASK_WORDS);
    let parts = selected.par_chunks(task_words).enumerate();
    let sums = parts.map(|(i, words)| part::<K>(encodings, i * task_words, words));
    sums.reduce(Projective::<K>::identity, |a, b| a + b)
}

fn part<K: Kernel>(encodings: &[Encoding<K>], first_word: usize, words: &[u64]) -> Projective<K> {
    let ones: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    let mut adder = Adder::<K>::new(Bases::Encoded(encodings), 1, ones);
    let mut leaves = [0; 64];
    for (i, &word) in words.iter().enumerate() {
        let len = list_bits(word, ((first_word + i) * 64) as Leaf, &mut leaves);
        adder.push(0, &leaves[..len]);
    }
    K::export(&adder.finish()[0]).into()
}

/// Writes the positions of a word's bits, counted from `first`, and says how many there are.
fn list_bits(mut word: u64, first: Leaf, positions: &mut [Leaf; 64]) -> usize {
    let mut len = 0;
    while word != 0 {
        positions[len] = first + word.trailing_zeros();
        word &= word - 1;
        len += 1;
    }
    len
}
