//! One hash at a time, in portable code.

use super::field::{Limbs, Sum, add, limbs, mul, scalar};
use super::{BLOCK, Poseidon};
use blstrs::Scalar;

pub(super) fn hash<const WIDTH: usize>(
    poseidon: &Poseidon,
    preimage: &[Scalar],
    out: &mut [Scalar],
) {
    let mut out = out.iter_mut();
    let mut emit = |value: Limbs| *out.next().expect("one slot a value") = scalar(value);
    let mut keys = poseidon.keys.chunks_exact(WIDTH);
    let linear = |matrix: &[Scalar], state: &[Limbs; WIDTH]| -> [Limbs; WIDTH] {
        std::array::from_fn(|j| Sum::of(state, &matrix[j * WIDTH..][..WIDTH]).reduce())
    };

    // First round: S-box inputs are sums of a variable and a key, not allocated; lane 0 is constant.
    let (before, after) = (next(&mut keys), next(&mut keys));
    let mut state = [limbs(&poseidon.tag_power); WIDTH];
    for i in 1..WIDTH {
        let x = add(limbs(&preimage[i - 1]), limbs(&before[i]));
        let square = mul(x, x);
        let fourth = mul(square, square);
        state[i] = add(mul(fourth, x), limbs(&after[i]));
        [square, fourth, state[i]].into_iter().for_each(&mut emit);
    }
    state = linear(&poseidon.mds, &state);

    let half = poseidon.half_full_rounds;
    for round in 1..half {
        let keys = next(&mut keys);
        for (lane, key) in state.iter_mut().zip(keys) {
            *lane = s_box(*lane, Some(key), &mut emit);
        }
        state = linear(
            if round == half - 1 {
                &poseidon.pre_sparse
            } else {
                &poseidon.mds
            },
            &state,
        );
    }

    let (partial_keys, full_keys) =
        poseidon.keys[(half + 1) * WIDTH..].split_at(poseidon.partial_rounds);
    let mut partial_keys = partial_keys.iter();
    for block in &poseidon.blocks {
        let mut outputs = [Limbs::default(); BLOCK];
        for (k, row) in block.first_lane.iter().enumerate() {
            outputs[k] = s_box(state[0], partial_keys.next(), &mut emit);
            state[0] = outputs[k];
            let sum = Sum::of(&state, &row[..WIDTH]).and(&outputs[..k], &row[WIDTH..]);
            state[0] = sum.reduce();
        }
        for (lane, factors) in state[1..].iter_mut().zip(&block.other_lanes) {
            *lane = add(*lane, Sum::of(&outputs, factors).reduce());
        }
    }

    for keys in full_keys.chunks_exact(WIDTH) {
        for (lane, key) in state.iter_mut().zip(keys) {
            *lane = s_box(*lane, Some(key), &mut emit);
        }
        state = linear(&poseidon.mds, &state);
    }
    for lane in &mut state {
        *lane = s_box(*lane, None, &mut emit);
    }
    // The digest is lane 1 after the last linear layer.
    emit(Sum::of(&state, &poseidon.mds[WIDTH..2 * WIDTH]).reduce());
}

fn next<'a>(keys: &mut impl Iterator<Item = &'a [Scalar]>) -> &'a [Scalar] {
    keys.next().expect("keys for every round")
}

#[inline(always)]
fn s_box(x: Limbs, key: Option<&Scalar>, emit: &mut impl FnMut(Limbs)) -> Limbs {
    let square = mul(x, x);
    let fourth = mul(square, square);
    let fifth = mul(fourth, x);
    let fifth = key.map_or(fifth, |key| add(fifth, limbs(key)));
    [x, square, fourth, fifth].into_iter().for_each(emit);
    fifth
}
