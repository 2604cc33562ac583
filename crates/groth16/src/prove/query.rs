//! How a query's bases meet a witness.
//!
//! A query has one base for each variable that occurs in its matrix, inputs first. In a packed witness the bases of
//! bits are summed where the bit is one, and only the wide slots' bases meet a multiplication.

use std::borrow::Cow;

use cuzk_r1cs::{BitVec, R1cs, Scalar, Witness, WitnessLayout};
use group::Group as _;

use crate::field::Isa;
use crate::msm::{self, Group};

/// Which variables have a base.
enum Selection {
    All,
    None,
    Some(BitVec),
}

/// A query of one circuit.
pub(super) struct QueryPlan {
    inputs: Selection,
    aux: Selection,
    /// Number of inputs that have a base; those of auxiliary variables follow.
    num_inputs: usize,
    /// Number of bases.
    len: usize,
    /// None when the witness is dense.
    wide: Option<Wide>,
}

/// Of a packed witness, the inputs and wide slots that have a base.
struct Wide {
    /// Their bases, ascending.
    positions: Vec<u32>,
    /// Places of the wide slots among the witness's wide values.
    ranks: Vec<u32>,
}

impl QueryPlan {
    /// L: every auxiliary variable.
    pub(super) fn l(circuit: &R1cs) -> Self {
        Self::new(circuit.layout(), Selection::None, Selection::All)
    }

    /// A: every input, and the auxiliary variables that occur.
    pub(super) fn a(circuit: &R1cs) -> Self {
        let aux = Selection::Some(circuit.densities().a_aux.clone());
        Self::new(circuit.layout(), Selection::All, aux)
    }

    /// B: the inputs and auxiliary variables that occur.
    pub(super) fn b(circuit: &R1cs) -> Self {
        let densities = circuit.densities();
        let inputs = Selection::Some(densities.b_inputs.clone());
        Self::new(
            circuit.layout(),
            inputs,
            Selection::Some(densities.b_aux.clone()),
        )
    }

    fn new(layout: &WitnessLayout, inputs: Selection, aux: Selection) -> Self {
        let num_inputs = inputs.count(layout.num_inputs());
        let len = num_inputs + aux.count(layout.num_aux());
        let wide = layout
            .mask_words()
            .map(|mask| Wide::new(mask, &aux, num_inputs));
        Self {
            inputs,
            aux,
            num_inputs,
            len,
            wide,
        }
    }

    /// The witness times the query. `buffer` is overwritten.
    pub(super) fn multiply<G: Group>(
        &self,
        isa: Isa,
        bases: &[G::Encoding],
        witness: &Witness,
        buffer: &mut Vec<Scalar>,
    ) -> G::Projective {
        assert_eq!(bases.len(), self.len, "check_circuit compared the counts");
        let Some(wide) = &self.wide else {
            return msm::multiply::<G>(isa, bases, self.dense_scalars(witness, buffer));
        };
        buffer.clear();
        buffer.extend(self.inputs.filter(witness.inputs()));
        buffer.extend(wide.ranks.iter().map(|&rank| witness.wide()[rank as usize]));
        let product = if buffer.is_empty() {
            G::Projective::identity()
        } else {
            msm::multiply_at::<G>(isa, bases, &wide.positions, buffer)
        };
        product + msm::sum::<G>(isa, bases, &self.ones(witness))
    }

    /// The scalars of all bases in order.
    fn dense_scalars<'a>(&self, witness: &'a Witness, buffer: &'a mut Vec<Scalar>) -> &'a [Scalar] {
        if let (Selection::None, Selection::All) = (&self.inputs, &self.aux) {
            return witness.wide();
        }
        buffer.clear();
        buffer.extend(self.inputs.filter(witness.inputs()));
        buffer.extend(self.aux.filter(witness.wide()));
        buffer
    }

    /// One bit for each base: whether it belongs to a bit that is one.
    fn ones<'a>(&self, witness: &'a Witness) -> Cow<'a, [u64]> {
        let mut ones = BitQueue::zeros(self.num_inputs, self.len);
        match &self.aux {
            Selection::None => {}
            Selection::All if self.num_inputs == 0 => return Cow::Borrowed(witness.bits()),
            Selection::All => witness.bits().iter().for_each(|&word| ones.push(word, 64)),
            Selection::Some(density) => {
                for (&word, &mask) in witness.bits().iter().zip(density.words()) {
                    ones.push(compress(word, mask), mask.count_ones());
                }
            }
        }
        Cow::Owned(ones.words)
    }
}

impl Selection {
    fn count(&self, all: usize) -> usize {
        match self {
            Selection::All => all,
            Selection::None => 0,
            Selection::Some(density) => density.count_ones(),
        }
    }

    /// The mask of word `i`.
    fn word(&self, i: usize) -> u64 {
        match self {
            Selection::All => u64::MAX,
            Selection::None => 0,
            Selection::Some(density) => density.words()[i],
        }
    }

    fn filter<'a>(&'a self, values: &'a [Scalar]) -> impl Iterator<Item = Scalar> + 'a {
        values.chunks(64).enumerate().flat_map(|(i, values)| {
            let mask = self.word(i);
            let selected = move |j: &usize| mask >> j & 1 == 1;
            (0..values.len()).filter(selected).map(|j| values[j])
        })
    }
}

impl Wide {
    fn new(mask: &[u64], aux: &Selection, num_inputs: usize) -> Self {
        let mut positions: Vec<u32> = (0..num_inputs as u32).collect();
        let mut ranks = Vec::new();
        let (mut base, mut rank) = (num_inputs as u32, 0);
        for (i, &wide) in mask.iter().enumerate() {
            let density = aux.word(i);
            let mut rest = wide & density;
            while rest != 0 {
                let below = (rest & rest.wrapping_neg()) - 1;
                positions.push(base + (density & below).count_ones());
                ranks.push(rank + (wide & below).count_ones());
                rest &= rest - 1;
            }
            base += density.count_ones();
            rank += wide.count_ones();
        }
        Self { positions, ranks }
    }
}

/// Bits appended group after group.
struct BitQueue {
    words: Vec<u64>,
    len: usize,
}

impl BitQueue {
    /// `len` zeros, and room for `capacity` bits in all.
    fn zeros(len: usize, capacity: usize) -> Self {
        let mut words = Vec::with_capacity(capacity.div_ceil(64) + 1);
        words.resize(len.div_ceil(64), 0);
        Self { words, len }
    }

    /// Appends the `count` low bits of `bits`, whose others are zero.
    fn push(&mut self, bits: u64, count: u32) {
        let shift = self.len % 64;
        if shift == 0 {
            self.words.extend((count > 0).then_some(bits));
        } else {
            *self.words.last_mut().expect("a word is begun") |= bits << shift;
            if shift + count as usize > 64 {
                self.words.push(bits >> (64 - shift));
            }
        }
        self.len += count as usize;
    }
}

/// Gathers the bits of `word` under `mask` at the low end: PEXT in log steps (Warren, "Hacker's Delight", section 7-4).
fn compress(word: u64, mask: u64) -> u64 {
    if mask == u64::MAX {
        return word;
    }
    let (mut word, mut mask) = (word & mask, mask);
    // For each bit, whether the number of unselected bits below it is odd, halved in every round.
    let mut holes = !mask << 1;
    for round in 0..6 {
        let mut parity = holes;
        for shift in [1, 2, 4, 8, 16, 32] {
            parity ^= parity << shift;
        }
        let moving = parity & mask;
        mask = (mask ^ moving) | (moving >> (1 << round));
        let moved = word & moving;
        word = (word ^ moved) | (moved >> (1 << round));
        holes &= !parity;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(word: u64) -> impl Iterator<Item = bool> {
        (0..64).map(move |i| word >> i & 1 == 1)
    }

    proptest! {
        #[test]
        fn compress_gathers_in_order(word: u64, mask: u64, sparse: u64) {
            for mask in [mask, mask & sparse, mask | sparse, 0, u64::MAX] {
                let kept = bits(word).zip(bits(mask)).filter_map(|(bit, selected)| selected.then_some(bit));
                let expected = kept.enumerate().map(|(i, bit)| u64::from(bit) << i).sum::<u64>();
                prop_assert_eq!(compress(word, mask), expected);
            }
        }

        #[test]
        fn queue_appends(start in 0usize..200, groups in prop::collection::vec((any::<u64>(), 0u32..=64), 0..40)) {
            let mut queue = BitQueue::zeros(start, 0);
            let mut expected = vec![false; start];
            for (word, count) in groups {
                let low = if count == 64 { word } else { word & ((1 << count) - 1) };
                queue.push(low, count);
                expected.extend(bits(low).take(count as usize));
            }
            let found: Vec<bool> = queue.words.iter().flat_map(|&word| bits(word)).take(expected.len()).collect();
            prop_assert_eq!(queue.words.len(), expected.len().div_ceil(64));
            prop_assert_eq!(found, expected);
        }
    }
}
