//! A query in parts: so many bases at a time.

use std::ops::Range;

/// Consecutive bases of a query, and what of a witness meets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    /// The bases' numbers.
    pub(crate) bases: Range<u32>,
    /// Terms of the multiplication, which come in the order of their bases.
    pub(crate) terms: Range<u32>,
    /// Words of the density, where there is one.
    pub(crate) words: Range<u32>,
}

/// Where the bases of bits lie: behind `first_base` others, `counts[w]` of them for word w.
pub(crate) struct Words<'a> {
    pub(crate) first_base: u32,
    pub(crate) counts: &'a [u32],
}

/// Cuts `bases` bases into slices of at most `most`. The base of term i is `base_of[i]`, ascending, or i where there is no
/// list. A word's bases stay together.
///
/// # Panics
/// When the first bases together with a word's are more than `most`.
pub(crate) fn cut(
    bases: u32,
    most: u32,
    terms: u32,
    base_of: Option<&[u32]>,
    words: Option<&Words<'_>>,
) -> Vec<Slice> {
    let term_at = |base: u32| match base_of {
        Some(list) => list.partition_point(|&of_term| of_term < base) as u32,
        None => base.min(terms),
    };
    let ends = match words {
        Some(words) => ends_at_words(words, most),
        None => (most..bases)
            .step_by(most as usize)
            .chain([bases])
            .map(|end| (end, 0))
            .collect(),
    };
    let mut start = (0, 0);
    let mut slices = Vec::with_capacity(ends.len());
    for (end, end_word) in ends {
        slices.push(Slice {
            bases: start.0..end,
            terms: term_at(start.0)..term_at(end),
            words: start.1..end_word,
        });
        start = (end, end_word);
    }
    slices
}

/// Base and word that each slice ends before.
fn ends_at_words(words: &Words<'_>, most: u32) -> Vec<(u32, u32)> {
    let (mut start, mut at) = (0, words.first_base);
    let mut ends = Vec::new();
    for (word, &count) in words.counts.iter().enumerate() {
        if at + count - start > most {
            ends.push((at, word as u32));
            start = at;
        }
        at += count;
        assert!(
            at - start <= most,
            "{} bases in slices of {most}",
            at - start
        );
    }
    ends.push((at, words.counts.len() as u32));
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_in_order() {
        let slices = cut(10, 4, 9, None, None);
        let expected = [(0..4, 0..4), (4..8, 4..8), (8..10, 8..9)];
        let found: Vec<_> = slices.into_iter().map(|s| (s.bases, s.terms)).collect();
        assert_eq!(found, expected);
        assert_eq!(cut(10, 16, 9, None, None).len(), 1);
    }

    #[test]
    fn listed_terms_follow_their_bases() {
        let slices = cut(12, 5, 4, Some(&[0, 4, 5, 11]), None);
        let terms: Vec<_> = slices.into_iter().map(|s| s.terms).collect();
        assert_eq!(terms, [0..2, 2..3, 3..4]);
    }

    /// Every base, term and word is in exactly one slice, and none is larger than it may be.
    #[test]
    fn words_stay_together() {
        let counts: Vec<u32> = (0..1000).map(|i| i * 7919 % 65).collect();
        let words = Words {
            first_base: 3,
            counts: &counts,
        };
        let bases = 3 + counts.iter().sum::<u32>();
        let base_of: Vec<u32> = (0..bases).step_by(5).collect();
        for most in [68, 100, 4096, bases, bases + 1] {
            let terms = base_of.len() as u32;
            let slices = cut(bases, most, terms, Some(&base_of), Some(&words));
            let mut before = (0, 0, 0);
            for slice in &slices {
                assert_eq!(
                    before,
                    (slice.bases.start, slice.terms.start, slice.words.start)
                );
                assert!(slice.bases.len() <= most as usize, "{slice:?}");
                let dense: u32 = slice.words.clone().map(|w| counts[w as usize]).sum();
                let inputs = if slice.bases.start == 0 { 3 } else { 0 };
                assert_eq!(slice.bases.len() as u32, dense + inputs);
                for term in slice.terms.clone() {
                    assert!(slice.bases.contains(&base_of[term as usize]));
                }
                before = (slice.bases.end, slice.terms.end, slice.words.end);
            }
            assert_eq!(before, (bases, terms, 1000));
        }
    }
}
