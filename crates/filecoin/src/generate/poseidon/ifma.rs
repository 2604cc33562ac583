//! Eight or sixteen independent hashes at once, with AVX-512's 52-bit multiply-add (IFMA).
//!
//! Five limbs of 52 bits, one value a 64-bit lane. Values keep blst's Montgomery form x 2^256, so allocated values are
//! stored as they are. A reduction here divides by 2^260: constants of the circuit are kept as c 2^260, so that value
//! times constant needs no correction, and in a product of two values one factor is shifted up by four bits first,
//! which five limbs still hold. Sums of products are accumulated unreduced: 23 terms of 5 products of 52 bits, low and
//! high halves in separate columns, stay below 2^59. Reduced, 23 products of values and constants are below 1.7 p.
//!
//! A hash whose digest alone is wanted keeps no value: it takes x 2^260 throughout and leaves values as they are reduced,
//! below the modulus or not. None gets above 18 p: five limbs hold 35 p, and a product of two is below their
//! product / 35 p + p.

/// All functions on vectors: the same attribute, so that they are inlined into each other.
macro_rules! vector_code {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")] #[inline] $item)*
    };
}

mod lanes;
mod outs;
#[cfg(test)]
mod tests;

use super::field::limbs;
use super::linear::{History, PartialRounds};
use super::{MAX_WIDTH, Poseidon};
use blstrs::Scalar;
use ff::Field;
use lanes::{Columns, Element, LANES, Limbs52, Loose, zero};
use outs::Outs;

/// What becomes of the values between the S-boxes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// They are stored, as blst keeps them.
    Stored,
    /// They are not needed.
    DigestOnly,
}

/// [`Poseidon`]'s constants in 52-bit limbs, for one form of values.
pub(super) struct Constants {
    form: Form,
    width: usize,
    half_full_rounds: usize,
    partial_rounds: usize,
    slots: usize,
    tag_power: Limbs52,
    keys: Vec<Limbs52>,
    numerators: Vec<u64>,
    /// Divides a sum of multiples that was reduced once.
    scale: Limbs52,
    /// The row of the linear layer that gives the digest.
    digest_row: Vec<Limbs52>,
    partial: PartialRounds<Limbs52>,
}

impl Constants {
    pub(super) fn new(poseidon: &Poseidon, form: Form) -> Constants {
        let plain = |v: &Scalar| lanes::split(limbs(v));
        let factor = |v: &Scalar| lanes::split(limbs(&(v * Scalar::from(16))));
        let value = |v: &Scalar| match form {
            Form::Stored => plain(v),
            Form::DigestOnly => factor(v),
        };
        let width = poseidon.width;
        let digest_row = &poseidon.digest_row;
        Constants {
            form,
            digest_row: match form {
                Form::Stored => digest_row.iter().map(factor).collect(),
                // Back to 2^256.
                Form::DigestOnly => digest_row.iter().map(plain).collect(),
            },
            width,
            half_full_rounds: poseidon.half_full_rounds,
            partial_rounds: poseidon.partial_rounds,
            slots: poseidon.slots(),
            tag_power: value(&poseidon.tag_power),
            keys: poseidon.keys.iter().map(value).collect(),
            numerators: poseidon.mds.numerators.clone(),
            scale: factor(&(poseidon.mds.scale * Scalar::from(2).pow_vartime([52]))),
            partial: poseidon.partial.map(factor),
        }
    }

    pub(super) fn hash_many<const ARITY: usize>(
        &self,
        preimages: &[[Scalar; ARITY]],
        outs: &mut [&mut [Scalar]],
    ) {
        assert!(super::Isa::Avx512.is_available() && self.width == ARITY + 1);
        assert!(self.form == Form::Stored && outs.iter().all(|out| out.len() == self.slots));
        for (preimages, outs) in preimages.chunks(2 * LANES).zip(outs.chunks_mut(2 * LANES)) {
            let mut scratch =
                vec![Scalar::default(); self.slots * usize::from(outs.len() % LANES > 0)];
            let scratch = scratch.as_mut_ptr();
            // Idle lanes repeat the last hash into scratch memory.
            let out = |k: usize| outs.get_mut(k).map_or(scratch, |out| out.as_mut_ptr());
            if preimages.len() > LANES {
                // SAFETY: the instructions exist, asserted above.
                unsafe {
                    self.hash_groups::<2, ARITY, true>(preimages, Outs::new(self.slots, out))
                };
            } else {
                // SAFETY: as above.
                unsafe {
                    self.hash_groups::<1, ARITY, true>(preimages, Outs::new(self.slots, out))
                };
            }
        }
    }

    pub(super) fn digest_many<const ARITY: usize>(
        &self,
        preimages: &[[Scalar; ARITY]],
        digests: &mut [Scalar],
    ) {
        assert!(super::Isa::Avx512.is_available() && self.width == ARITY + 1);
        assert!(self.form == Form::DigestOnly && preimages.len() == digests.len());
        let groups = preimages
            .chunks(2 * LANES)
            .zip(digests.chunks_mut(2 * LANES));
        for (preimages, digests) in groups {
            let mut idle = Scalar::default();
            let out = |k: usize| std::ptr::from_mut(digests.get_mut(k).unwrap_or(&mut idle));
            if preimages.len() > LANES {
                // SAFETY: the instructions exist, asserted above.
                unsafe { self.hash_groups::<2, ARITY, false>(preimages, Outs::new(1, out)) };
            } else {
                // SAFETY: as above.
                unsafe { self.hash_groups::<1, ARITY, false>(preimages, Outs::new(1, out)) };
            }
        }
    }

    /// Up to `8 GROUPS` hashes. A Poseidon round is a chain of multiplications; a second group hides its latency.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
    fn hash_groups<const GROUPS: usize, const ARITY: usize, const STORE: bool>(
        &self,
        preimages: &[[Scalar; ARITY]],
        mut out: Outs<GROUPS>,
    ) {
        let lane = |k: usize| &preimages[k.min(preimages.len() - 1)];
        let mut preimage = [[Loose(zero()); GROUPS]; MAX_WIDTH];
        for (i, element) in preimage[1..=ARITY].iter_mut().enumerate() {
            for (g, group) in element.iter_mut().enumerate() {
                let x = lanes::load(std::array::from_fn(|k| limbs(&lane(LANES * g + k)[i])));
                *group = if STORE { x } else { x.times_16() };
            }
        }
        self.permute::<GROUPS, STORE>(&mut preimage[..=ARITY], &mut out);
    }

    /// The permutation; `sums` holds the preimage in lanes 1.. on entry, and is overwritten.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
    fn permute<const G: usize, const STORE: bool>(
        &self,
        sums: &mut [[Loose; G]],
        out: &mut Outs<G>,
    ) {
        let width = self.width;
        let mut keys = self.keys.chunks_exact(width);
        let mut next = || keys.next().expect("keys for every round");
        let mut state = [[zero(); G]; MAX_WIDTH];
        let state = &mut state[..width];

        let (before, after) = (next(), next());
        state[0] = [lanes::splat(&self.tag_power); G];
        for (i, element) in state.iter_mut().enumerate().skip(1) {
            *element = *out.first_s_box::<STORE>(&sums[i], &before[i], &after[i]);
        }
        lanes::linear(&self.numerators, &self.scale, state, sums);

        let half = self.half_full_rounds;
        for _ in 1..half {
            self.full_round::<G, STORE>(next(), state, sums, out);
        }
        let (partial_keys, full_keys) =
            self.keys[(half + 1) * width..].split_at(self.partial_rounds);
        self.partial_rounds::<G, STORE>(partial_keys, sums, out);
        for keys in full_keys.chunks_exact(width) {
            self.full_round::<G, STORE>(keys, state, sums, out);
        }
        for (element, sum) in state.iter_mut().zip(sums) {
            *element = *out.s_box::<STORE>(sum, None)[1];
        }
        let sum = |g| dot(Columns::zero(), state, &self.digest_row, g).reduce();
        out.digest(std::array::from_fn(sum));
    }

    /// From the sums before the S-boxes to those before the next ones. `state` is overwritten.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
    #[inline]
    fn full_round<const G: usize, const STORE: bool>(
        &self,
        keys: &[Limbs52],
        state: &mut [[Element; G]],
        sums: &mut [[Loose; G]],
        out: &mut Outs<G>,
    ) {
        for ((element, sum), key) in state.iter_mut().zip(&*sums).zip(keys) {
            *element = *out.s_box::<STORE>(sum, Some(key))[1];
        }
        lanes::linear(&self.numerators, &self.scale, state, sums);
    }

    /// All partial rounds, likewise.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
    #[inline]
    fn partial_rounds<const G: usize, const STORE: bool>(
        &self,
        keys: &[Limbs52],
        sums: &mut [[Loose; G]],
        out: &mut Outs<G>,
    ) {
        let width = self.width;
        let mut start = [[zero(); G]; MAX_WIDTH];
        for (element, sum) in start.iter_mut().zip(&*sums).skip(1) {
            *element = sum.map(|sum| sum.carry());
        }
        let (mut inputs, mut outputs) = (History::new([zero(); G]), History::new([zero(); G]));
        for (k, key) in keys.iter().enumerate() {
            let [input, output] = out.s_box::<STORE>(&sums[0], Some(key));
            inputs.push(*input);
            outputs.push(*output);
            // What needs the last output comes last, so that the rest can run ahead of the S-box.
            sums[0] = match self.partial.first.get(k) {
                Some(row) => combine(&start[1..width], outputs.last(k + 1), row),
                None => combine(
                    inputs.last(width - 1),
                    outputs.last(width),
                    &self.partial.later[0],
                ),
            };
        }
        for (sum, row) in sums.iter_mut().zip(&self.partial.later).skip(1) {
            *sum = combine(inputs.last(width - 1), outputs.last(width), row);
        }
    }
}

/// The sum of multiples of two rows of values.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
fn combine<const G: usize>(a: &[[Element; G]], b: &[[Element; G]], row: &[Limbs52]) -> [Loose; G] {
    std::array::from_fn(|g| {
        let sum = dot(Columns::zero(), a, row, g);
        dot(sum, b, &row[a.len()..], g).reduce()
    })
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
fn dot<const G: usize>(
    mut sum: Columns,
    elements: &[[Element; G]],
    factors: &[Limbs52],
    g: usize,
) -> Columns {
    for (x, factor) in elements.iter().zip(factors) {
        sum.multiply_add(&x[g], &lanes::splat(factor));
    }
    sum
}
