//! One hash at a time, in portable code.

use super::Poseidon;
use super::field::{Limbs, Sum, WordSum, add, limbs, mul, scalar};
use super::linear::History;
use blstrs::Scalar;

pub(super) fn hash<const WIDTH: usize>(
    poseidon: &Poseidon,
    preimage: &[Scalar],
    out: &mut [Scalar],
) {
    let mut out = out.iter_mut();
    let mut emit = |value: Limbs| *out.next().expect("one slot a value") = scalar(value);
    let mut keys = poseidon.keys.chunks_exact(WIDTH);

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
    state = linear(poseidon, &state);

    let half = poseidon.half_full_rounds;
    for _ in 1..half {
        state = full_round(poseidon, &state, next(&mut keys), &mut emit);
    }
    let (partial_keys, full_keys) =
        poseidon.keys[(half + 1) * WIDTH..].split_at(poseidon.partial_rounds);
    state = partial_rounds(poseidon, &state, partial_keys, &mut emit);
    for keys in full_keys.chunks_exact(WIDTH) {
        state = full_round(poseidon, &state, keys, &mut emit);
    }
    for lane in &mut state {
        *lane = s_box(*lane, None, &mut emit);
    }
    emit(Sum::of(&state, &poseidon.digest_row).reduce());
}

fn next<'a>(keys: &mut impl Iterator<Item = &'a [Scalar]>) -> &'a [Scalar] {
    keys.next().expect("keys for every round")
}

fn full_round<const WIDTH: usize>(
    poseidon: &Poseidon,
    state: &[Limbs; WIDTH],
    keys: &[Scalar],
    emit: &mut impl FnMut(Limbs),
) -> [Limbs; WIDTH] {
    let mut state = *state;
    for (lane, key) in state.iter_mut().zip(keys) {
        *lane = s_box(*lane, Some(key), emit);
    }
    linear(poseidon, &state)
}

fn linear<const WIDTH: usize>(poseidon: &Poseidon, state: &[Limbs; WIDTH]) -> [Limbs; WIDTH] {
    let scale = limbs(&poseidon.word_scale);
    let row = |j| WordSum::of(state, &poseidon.mds.numerators[j..]).reduce();
    std::array::from_fn(|j| mul(row(j), scale))
}

fn partial_rounds<const WIDTH: usize>(
    poseidon: &Poseidon,
    state: &[Limbs; WIDTH],
    keys: &[Scalar],
    emit: &mut impl FnMut(Limbs),
) -> [Limbs; WIDTH] {
    let rounds = &poseidon.partial;
    let mut inputs = History::new(Limbs::default());
    let mut outputs = History::new(Limbs::default());
    let later = |row: &[Scalar], inputs: &History<Limbs>, outputs: &History<Limbs>| {
        let (of_inputs, of_outputs) = row.split_at(WIDTH - 1);
        Sum::of(inputs.last(WIDTH - 1), of_inputs)
            .and(outputs.last(WIDTH), of_outputs)
            .reduce()
    };
    let mut lane_0 = state[0];
    for (k, key) in keys.iter().enumerate() {
        inputs.push(lane_0);
        outputs.push(s_box(lane_0, Some(key), emit));
        lane_0 = match rounds.first.get(k) {
            Some(row) => Sum::of(&state[1..], &row[..WIDTH - 1])
                .and(outputs.last(k + 1), &row[WIDTH - 1..])
                .reduce(),
            None => later(&rounds.later[0], &inputs, &outputs),
        };
    }
    std::array::from_fn(|j| match j {
        0 => lane_0,
        _ => later(&rounds.later[j], &inputs, &outputs),
    })
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
