//! Eight or sixteen independent hashes at once, with AVX-512's 52-bit multiply-add (IFMA).
//!
//! Five limbs of 52 bits, one value a 64-bit lane. Values keep blst's Montgomery form x 2^256, so allocated values are
//! stored as they are. A reduction here divides by 2^260: constants of the circuit are kept as c 2^260, so that value
//! times constant needs no correction, and in a product of two values one factor is shifted up by four bits first,
//! which five limbs still hold. Sums of products are accumulated unreduced: 12 terms of 5 products of 52 bits, low and
//! high halves in separate columns, stay below 2^58.
//!
//! A hash whose digest alone is wanted keeps no value: it takes x 2^260 throughout and leaves values as they are reduced,
//! below the modulus or not. None gets above 18 p: five limbs hold 35 p, and a product of two is below their
//! product / 35 p + p.

mod lanes;

use super::field::limbs;
use super::{BLOCK, Block, MAX_WIDTH, Poseidon};
use blstrs::Scalar;
use lanes::{Element, LANES, Limbs52, Outs, zero};

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
    slots: usize,
    tag_power: Limbs52,
    keys: Vec<Limbs52>,
    mds: Vec<Limbs52>,
    /// The row of the linear layer that gives the digest.
    digest_row: Vec<Limbs52>,
    pre_sparse: Vec<Limbs52>,
    blocks: Vec<Block<Limbs52>>,
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
        let digest_row = &poseidon.mds[width..2 * width];
        Constants {
            form,
            digest_row: match form {
                Form::Stored => digest_row.iter().map(factor).collect(),
                // Back to 2^256.
                Form::DigestOnly => digest_row.iter().map(plain).collect(),
            },
            width,
            half_full_rounds: poseidon.half_full_rounds,
            slots: poseidon.slots(),
            tag_power: value(&poseidon.tag_power),
            keys: poseidon.keys.iter().map(value).collect(),
            mds: poseidon.mds.iter().map(factor).collect(),
            pre_sparse: poseidon.pre_sparse.iter().map(factor).collect(),
            blocks: poseidon.blocks.iter().map(|b| b.map(factor)).collect(),
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
                let out = Outs::<2>::new(self.slots, out);
                // SAFETY: the instructions exist, asserted above.
                unsafe { self.hash_groups::<2, ARITY, true>(preimages, out) };
            } else {
                let out = Outs::<1>::new(self.slots, out);
                // SAFETY: as above.
                unsafe { self.hash_groups::<1, ARITY, true>(preimages, out) };
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
                let out = Outs::<2>::new(1, out);
                // SAFETY: the instructions exist, asserted above.
                unsafe { self.hash_groups::<2, ARITY, false>(preimages, out) };
            } else {
                let out = Outs::<1>::new(1, out);
                // SAFETY: as above.
                unsafe { self.hash_groups::<1, ARITY, false>(preimages, out) };
            }
        }
    }

    /// Up to `8 GROUPS` hashes. A Poseidon round is a chain of multiplications; a second group hides its latency.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl")]
    fn hash_groups<const GROUPS: usize, const ARITY: usize, const STORE: bool>(
        &self,
        preimages: &[[Scalar; ARITY]],
        mut out: Outs<GROUPS>,
    ) {
        let lane = |k: usize| &preimages[k.min(preimages.len() - 1)];
        let mut state = [[zero(); GROUPS]; MAX_WIDTH];
        for (i, element) in state[1..=ARITY].iter_mut().enumerate() {
            for (g, group) in element.iter_mut().enumerate() {
                let x = lanes::load(std::array::from_fn(|k| limbs(&lane(LANES * g + k)[i])));
                *group = if STORE { x } else { lanes::times_16(&x) };
            }
        }
        self.permute::<GROUPS, STORE>(&mut state[..=ARITY], &mut out);
    }

    /// The permutation; `state` holds the preimage in lanes 1.. on entry.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl")]
    fn permute<const G: usize, const STORE: bool>(
        &self,
        state: &mut [[Element; G]],
        out: &mut Outs<G>,
    ) {
        let width = self.width;
        let mut keys = self.keys.chunks_exact(width);
        let mut next = || keys.next().expect("keys for every round");

        let (before, after) = (next(), next());
        state[0] = [lanes::splat(&self.tag_power); G];
        for (i, element) in state.iter_mut().enumerate().skip(1) {
            *element = lanes::first_s_box::<G, STORE>(element, &before[i], &after[i], out);
        }
        lanes::linear(&self.mds, state);

        let half = self.half_full_rounds;
        for round in 1..half {
            let keys = next();
            for (element, key) in state.iter_mut().zip(keys) {
                *element = lanes::s_box::<G, STORE>(element, Some(key), out);
            }
            lanes::linear(
                if round == half - 1 {
                    &self.pre_sparse
                } else {
                    &self.mds
                },
                state,
            );
        }

        // From here on lanes 1.. are operands before they have gone through an S-box: normalise their limbs.
        for element in state.iter_mut() {
            *element = std::array::from_fn(|g| lanes::carry(element[g]));
        }
        let mut keys = &self.keys[(half + 1) * width..];
        for block in &self.blocks {
            let (block_keys, rest) = keys.split_at(block.first_lane.len());
            partial_rounds::<G, STORE>(block, block_keys, state, out);
            keys = rest;
        }

        for keys in keys.chunks_exact(width) {
            for (element, key) in state.iter_mut().zip(keys) {
                *element = lanes::s_box::<G, STORE>(element, Some(key), out);
            }
            lanes::linear(&self.mds, state);
        }
        for element in state.iter_mut() {
            *element = lanes::s_box::<G, STORE>(element, None, out);
        }
        let digest = std::array::from_fn(|g| {
            lanes::canonical(&lanes::dot(state.iter().map(|e| &e[g]), &self.digest_row))
        });
        out.store([&digest]);
    }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl")]
#[inline]
fn partial_rounds<const G: usize, const STORE: bool>(
    block: &Block<Limbs52>,
    keys: &[Limbs52],
    state: &mut [[Element; G]],
    out: &mut Outs<G>,
) {
    let width = state.len();
    let rounds = block.first_lane.len();
    let mut y = [[zero(); G]; BLOCK];
    for (k, (row, key)) in block.first_lane.iter().zip(keys).enumerate() {
        y[k] = lanes::s_box::<G, STORE>(&state[0], Some(key), out);
        state[0] = std::array::from_fn(|g| {
            // What needs y_k comes last, so that the rest can run ahead of the S-box.
            let mut sum = lanes::Columns::zero();
            for (x, factor) in state[1..].iter().zip(&row[1..]) {
                sum.multiply_add(&x[g], &lanes::splat(factor));
            }
            for (x, factor) in y[..k].iter().zip(&row[width..]) {
                sum.multiply_add(&x[g], &lanes::splat(factor));
            }
            sum.multiply_add(&y[k][g], &lanes::splat(&row[0]));
            sum.reduce()
        });
    }
    for (x, factors) in state[1..].iter_mut().zip(&block.other_lanes) {
        for g in 0..G {
            let change = lanes::dot(y[..rounds].iter().map(|y| &y[g]), factors);
            x[g] = lanes::accumulate::<STORE>(&x[g], &change);
        }
    }
}
