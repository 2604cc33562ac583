//! Four independent hashes a vector, with the fused multiply-add of doubles (AVX2 and FMA), for processors without IFMA.
//!
//! Five limbs of 51 bits as doubles. The sum of a product of two limbs and 2^103 rounds it to a multiple of 2^51, and what
//! that leaves is exact again: both halves are read off the doubles' bits and are added up as integers. (The idea, with another
//! rounding: Emmart, Zheng and Weems, "Faster Modular Exponentiation Using Double Precision Floating Point
//! Arithmetic on the GPU", 2018.)
//!
//! Values keep blst's Montgomery form x 2^256. Constants are kept as c 2^306, which six steps of reduction divide out; a
//! product of two values takes five, which is one bit short of 2^256, so it is halved.

/// All functions on vectors: the same attribute, so that they are inlined into each other.
macro_rules! vector_code {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx2,fma")] #[inline] $item)*
    };
}

mod lanes;
#[cfg(test)]
mod tests;

use super::field::limbs;
use super::linear::{History, PartialRounds};
use super::{MAX_WIDTH, Poseidon};
use blstrs::Scalar;
use core::arch::x86_64::*;
use lanes::{Element, Factor, LANES, Limbs51, Loose, Words, zero};

/// Vectors taken in step, so that one's latency hides the other's.
const GROUPS: usize = 2;
/// Hashes taken together.
const HASHES: usize = GROUPS * LANES;

/// [`Poseidon`]'s constants in 51-bit limbs.
pub(super) struct Constants {
    half_full_rounds: usize,
    partial_rounds: usize,
    slots: usize,
    /// As a value, not as a factor like the other constants.
    tag_power: Factor,
    /// The first round's.
    keys: Vec<Limbs51>,
    /// The others', times two.
    twice: Vec<Limbs51>,
    numerators: Vec<f64>,
    /// Divides a sum of multiples that was reduced once.
    scale: Factor,
    /// The row of the linear layer that gives the digest.
    digest_row: Vec<Factor>,
    partial: PartialRounds<Factor>,
}

/// Values of all groups.
type Group<T> = [T; GROUPS];

impl Constants {
    pub(super) fn new(poseidon: &Poseidon) -> Constants {
        let plain = |v: &Scalar| lanes::split(limbs(v));
        let double = |v: &Scalar| plain(v).map(|limb| limb as f64);
        // 2^306 is 2^50 more than a value is multiplied by.
        let factor = |v: &Scalar| double(&(v * Scalar::from(1 << 50)));
        Constants {
            half_full_rounds: poseidon.half_full_rounds,
            partial_rounds: poseidon.partial_rounds,
            slots: poseidon.slots(),
            tag_power: double(&poseidon.tag_power),
            keys: poseidon.keys[..poseidon.width].iter().map(plain).collect(),
            twice: poseidon
                .keys
                .iter()
                .map(|key| plain(key).map(|limb| 2 * limb))
                .collect(),
            numerators: poseidon.mds.numerators.iter().map(|n| *n as f64).collect(),
            scale: factor(&poseidon.mds.scale),
            digest_row: poseidon.digest_row.iter().map(factor).collect(),
            partial: poseidon.partial.map(factor),
        }
    }

    pub(super) fn hash_many<const ARITY: usize>(
        &self,
        preimages: &[[Scalar; ARITY]],
        outs: &mut [&mut [Scalar]],
    ) {
        assert!(super::Isa::Avx2.is_available() && self.keys.len() == ARITY + 1);
        assert!(outs.iter().all(|out| out.len() == self.slots));
        for (preimages, outs) in preimages.chunks(HASHES).zip(outs.chunks_mut(HASHES)) {
            let mut scratch =
                vec![Scalar::default(); self.slots * usize::from(outs.len() < HASHES)];
            let scratch = scratch.as_mut_ptr();
            // Idle lanes repeat the last hash into scratch memory.
            let out = |k: usize| outs.get_mut(k).map_or(scratch, |out| out.as_mut_ptr());
            // SAFETY: the instructions exist, asserted above.
            unsafe { self.hash_group(preimages, Outs::new(self.slots, out)) };
        }
    }

    vector_code! {
    fn hash_group<const ARITY: usize>(&self, preimages: &[[Scalar; ARITY]], mut out: Outs) {
        let lane = |k: usize| &preimages[k.min(preimages.len() - 1)];
        let mut state = [[zero(); GROUPS]; MAX_WIDTH];
        let state = &mut state[..=ARITY];
        state[0] = [lanes::splat(&self.tag_power); GROUPS];
        for (i, element) in state.iter_mut().enumerate().skip(1) {
            for (g, value) in out.values[0].iter_mut().enumerate() {
                let x = Loose::load(std::array::from_fn(|k| limbs(&lane(LANES * g + k)[i - 1])));
                *value = x.plus(&self.keys[i]).canonical();
            }
            [_, *element] = out.s_box(Some(&self.twice[ARITY + 1 + i]), false);
        }
        self.permute(state, &mut out);
    }

    /// The permutation from after the first S-boxes.
    fn permute(&self, state: &mut [Group<Element>], out: &mut Outs) {
        let width = state.len();
        let half = self.half_full_rounds;
        let mut sums = [[Loose::new(&[0; 5]); GROUPS]; MAX_WIDTH];
        let sums = &mut sums[..width];
        self.linear(state, sums);
        let (first_keys, keys) = self.twice[2 * width..].split_at((half - 1) * width);
        let (partial_keys, last_keys) = keys.split_at(self.partial_rounds);
        for keys in first_keys.chunks_exact(width) {
            self.full_round(keys, state, sums, out);
        }
        self.partial_rounds(partial_keys, sums, out);
        for keys in last_keys.chunks_exact(width) {
            self.full_round(keys, state, sums, out);
        }
        for (element, sum) in state.iter_mut().zip(&*sums) {
            [_, *element] = out.s_box_of(sum, None);
        }
        let digest = lanes::combine([&*state, &[]], &self.digest_row);
        for (value, digest) in out.values[0].iter_mut().zip(digest) {
            *value = digest.canonical();
        }
        out.store(0..1);
    }

    /// From the sums before the S-boxes to those before the next ones. `state` is overwritten.
    fn full_round(&self, keys: &[Limbs51], state: &mut [Group<Element>], sums: &mut [Group<Loose>], out: &mut Outs) {
        for ((element, sum), key) in state.iter_mut().zip(&*sums).zip(keys) {
            [_, *element] = out.s_box_of(sum, Some(key));
        }
        self.linear(state, sums);
    }

    fn linear(&self, state: &[Group<Element>], sums: &mut [Group<Loose>]) {
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = lanes::word_sum(state, &self.numerators[j..j + state.len()], &self.scale);
        }
    }

    /// All partial rounds, likewise.
    fn partial_rounds(&self, keys: &[Limbs51], sums: &mut [Group<Loose>], out: &mut Outs) {
        let width = sums.len();
        let mut start = [[zero(); GROUPS]; MAX_WIDTH];
        for (element, sum) in start.iter_mut().zip(&*sums).skip(1) {
            for g in 0..GROUPS {
                element[g] = sum[g].operand();
            }
        }
        let (mut inputs, mut outputs) = (History::new([zero(); GROUPS]), History::new([zero(); GROUPS]));
        for (k, key) in keys.iter().enumerate() {
            let [input, output] = out.s_box_of(&sums[0], Some(key));
            inputs.push(input);
            outputs.push(output);
            let (known, row) = match self.partial.first.get(k) {
                Some(row) => ([&start[1..width], outputs.last(k + 1)], row),
                None => ([inputs.last(width - 1), outputs.last(width)], &self.partial.later[0]),
            };
            sums[0] = lanes::combine(known, row);
        }
        for (sum, row) in sums.iter_mut().zip(&self.partial.later).skip(1) {
            *sum = lanes::combine([inputs.last(width - 1), outputs.last(width)], row);
        }
    }
    }
}

/// Where each lane's allocated values go.
struct Outs {
    starts: [[*mut Scalar; LANES]; GROUPS],
    /// Values stored in each lane.
    stored: usize,
    /// Values that each lane has room for.
    slots: usize,
    /// Of the last S-box: x, x^2, x^4, x^5 + key.
    values: [Group<Words>; 4],
}

impl Outs {
    vector_code! {
    /// `x` is in place; allocates it if asked to, its square, its fourth power, and its fifth power plus half of `twice`.
    /// Returns the first and the last as factors.
    fn s_box(&mut self, twice: Option<&Limbs51>, all: bool) -> [Group<Element>; 2] {
        let [x, square, fourth, fifth] = &mut self.values;
        let (mut input, mut power, mut output) = ([zero(); GROUPS], [zero(); GROUPS], [zero(); GROUPS]);
        lanes::operands(x, &mut input);
        lanes::mul(&input, &input, square);
        lanes::operands(square, &mut power);
        lanes::mul(&power, &power, fourth);
        lanes::operands(fourth, &mut power);
        match twice {
            None => lanes::mul(&input, &power, fifth),
            Some(twice) => lanes::mul_add(&input, &power, twice, fifth),
        }
        lanes::operands(fifth, &mut output);
        self.store(usize::from(!all)..4);
        [input, output]
    }

    /// The same of a value below twice the modulus, which is allocated too.
    fn s_box_of(&mut self, x: &Group<Loose>, twice: Option<&Limbs51>) -> [Group<Element>; 2] {
        for (value, x) in self.values[0].iter_mut().zip(x) {
            *value = x.canonical();
        }
        self.s_box(twice, true)
    }

    /// Stores some of the values, one after the other.
    fn store(&mut self, range: std::ops::Range<usize>) {
        let values = &self.values[range];
        assert!(values.len() <= self.slots - self.stored);
        for (i, groups) in values.iter().enumerate() {
            for (value, starts) in groups.iter().zip(&self.starts) {
                // SAFETY: `new` was given room for `slots` values in each lane.
                unsafe { store_lanes(value, starts, self.stored + i) };
            }
        }
        self.stored += values.len();
        // The lines of the next S-box: eight streams of stores are too many for the processor to see them coming.
        for start in self.starts.iter().flatten() {
            for ahead in [4, 6] {
                _mm_prefetch::<_MM_HINT_ET0>(start.wrapping_add(self.stored + ahead).cast());
            }
        }
    }
    }

    /// `out(k)` must point to `slots` values for lane k, valid as long as the result is used. Lanes may share them.
    #[target_feature(enable = "avx2,fma")]
    fn new(slots: usize, mut out: impl FnMut(usize) -> *mut Scalar) -> Self {
        let starts = std::array::from_fn(|g| std::array::from_fn(|k| out(LANES * g + k)));
        Outs {
            starts,
            stored: 0,
            slots,
            values: [[Words::zero(); GROUPS]; 4],
        }
    }
}

/// Lane k to `out[k].add(at)`.
///
/// # Safety
/// Those places must be valid for writing a `Scalar`.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn store_lanes(Words([w0, w1, w2, w3]): &Words, out: &[*mut Scalar; LANES], at: usize) {
    let (even_low, odd_low) = (
        _mm256_unpacklo_epi64(*w0, *w1),
        _mm256_unpackhi_epi64(*w0, *w1),
    );
    let (even_high, odd_high) = (
        _mm256_unpacklo_epi64(*w2, *w3),
        _mm256_unpackhi_epi64(*w2, *w3),
    );
    let lanes = [
        _mm256_permute2x128_si256(even_low, even_high, 0x20),
        _mm256_permute2x128_si256(odd_low, odd_high, 0x20),
        _mm256_permute2x128_si256(even_low, even_high, 0x31),
        _mm256_permute2x128_si256(odd_low, odd_high, 0x31),
    ];
    for (lane, out) in lanes.into_iter().zip(out) {
        // SAFETY: guaranteed by the caller; a `Scalar` is four words in memory, and the stores need no alignment.
        unsafe { _mm256_storeu_si256(out.add(at).cast(), lane) };
    }
}
