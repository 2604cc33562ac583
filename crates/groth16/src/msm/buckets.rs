//! Pippenger's bucket method over batch-affine sums.

use super::adder::Adder;
use super::digits::{Recoded, Window, Windows};
use super::group::{Group, decode};
use super::kernel::{Kernel, Leaf, NEGATIVE, Pair};
use blstrs::Scalar;
use group::Group as _;
use rayon::prelude::*;

/// Terms that are worked on together: bounds the recoded scalars to 64 MiB, and every encoding is read in a few passes
/// while it is in the page cache.
const BLOCK: usize = 1 << 21;

/// Fewer terms than this go to blst.
const FEW: usize = 128;

type Encoding<K> = <<K as Kernel>::Group as Group>::Encoding;
type Projective<K> = <<K as Kernel>::Group as Group>::Projective;

/// Which bases the scalars belong to.
#[derive(Clone, Copy)]
pub(super) enum Positions<'a> {
    /// The first ones, in order.
    Leading,
    /// Those at these indices.
    At(&'a [u32]),
}

impl Positions<'_> {
    #[inline(always)]
    fn of(self, term: usize) -> u32 {
        match self {
            Positions::Leading => term as u32,
            Positions::At(positions) => positions[term],
        }
    }
}

/// Sum of `scalars[i]` times the base that belongs to it.
pub(super) fn multiply<K: Kernel>(
    encodings: &[Encoding<K>],
    positions: Positions<'_>,
    scalars: &[Scalar],
) -> Projective<K> {
    match positions {
        Positions::Leading => assert!(scalars.len() <= encodings.len(), "more scalars than bases"),
        Positions::At(positions) => {
            assert_eq!(scalars.len(), positions.len(), "a scalar a position")
        }
    }
    let blocks = scalars.chunks(BLOCK).enumerate();
    blocks.fold(Projective::<K>::identity(), |sum, (i, scalars)| {
        let terms = i * BLOCK..i * BLOCK + scalars.len();
        sum + match positions {
            Positions::Leading => block::<K>(&encodings[terms], Positions::Leading, scalars),
            Positions::At(at) => block::<K>(encodings, Positions::At(&at[terms]), scalars),
        }
    })
}

fn block<K: Kernel>(
    encodings: &[Encoding<K>],
    positions: Positions<'_>,
    scalars: &[Scalar],
) -> Projective<K> {
    assert!(
        encodings.len() < NEGATIVE as usize,
        "bases beyond an index of 31 bits"
    );
    if scalars.len() < FEW {
        let base = |term| decode::<K::Group>(&encodings[positions.of(term) as usize]);
        let bases: Vec<_> = (0..scalars.len()).map(base).collect();
        return K::Group::small_multiply(&bases, scalars);
    }
    let windows = Windows::for_terms(scalars.len());
    let recoded: Vec<_> = scalars.par_iter().map(|s| windows.recode(s)).collect();
    let tasks = split(windows, rayon::current_num_threads());
    let terms = Terms::<K> {
        encodings,
        positions,
        recoded,
    };
    let sums: Vec<_> = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(|task| (task.window, terms.task(windows, &task)))
        .collect();
    let window = |w| {
        sums.iter()
            .filter(|(of, _)| *of == w)
            .fold(Projective::<K>::identity(), |a, (_, b)| a + b)
    };
    (0..windows.count)
        .rev()
        .fold(Projective::<K>::identity(), |sum, w| {
            (0..windows.width).fold(sum, |sum, _| sum.double()) + window(w)
        })
}

/// The part of one window whose digits' magnitudes are `low + 1 ..= low + count`.
struct Task {
    window: u32,
    low: usize,
    count: usize,
}

/// Whole windows as long as they go evenly among the threads, the rest in parts, which must read all digits each.
fn split(windows: Windows, threads: usize) -> Vec<Task> {
    let whole = windows.count - windows.count % threads as u32;
    let mut tasks = Vec::new();
    for window in 0..windows.count {
        let rest = (windows.count - whole) as usize;
        let parts = if window < whole {
            1
        } else {
            threads.div_ceil(rest).next_power_of_two().min(16)
        };
        let count = (windows.buckets() / parts).max(1);
        tasks.extend(
            (0..windows.buckets())
                .step_by(count)
                .map(|low| Task { window, low, count }),
        );
    }
    tasks
}

struct Terms<'a, K: Kernel> {
    encodings: &'a [Encoding<K>],
    positions: Positions<'a>,
    recoded: Vec<Recoded>,
}

impl<K: Kernel> Terms<'_, K> {
    fn task(&self, windows: Windows, task: &Task) -> Projective<K> {
        let sorted = Sorted::new(
            self.positions,
            &self.recoded,
            windows.window(task.window),
            task,
        );
        let mut adder = Adder::<K>::new(self.encodings, task.count, sorted.leaves.len());
        for (bucket, ends) in sorted.starts.windows(2).enumerate() {
            adder.push(
                bucket as u32,
                &sorted.leaves[ends[0] as usize..ends[1] as usize],
            );
        }
        adder.finish();
        weighted::<K>(&mut adder, task.count, task.low)
    }
}

/// Leaves in the order of their buckets.
struct Sorted {
    leaves: Vec<Leaf>,
    /// Where each bucket begins, and the end.
    starts: Vec<u32>,
}

impl Sorted {
    fn new(positions: Positions<'_>, recoded: &[Recoded], window: Window, task: &Task) -> Self {
        // Terms of no bucket here go to one more, behind the last; no branch, which would be mispredicted.
        let bucket_of = |digit: u32| (digit as usize).wrapping_sub(task.low + 1).min(task.count);
        let mut keys = Vec::with_capacity(recoded.len());
        let mut next = vec![0u32; task.count + 2];
        for scalar in recoded {
            let (digit, negative) = window.digit(scalar);
            let bucket = bucket_of(digit) as u32;
            next[bucket as usize + 1] += 1;
            keys.push(bucket | if negative { NEGATIVE } else { 0 });
        }
        for bucket in 0..=task.count {
            next[bucket + 1] += next[bucket];
        }
        let starts = next[..=task.count].to_vec();
        let mut leaves = vec![0; recoded.len()];
        for (term, key) in keys.iter().enumerate() {
            let place = &mut next[(key & !NEGATIVE) as usize];
            leaves[*place as usize] = positions.of(term) | key & NEGATIVE;
            *place += 1;
        }
        leaves.truncate(starts[task.count] as usize);
        Sorted { leaves, starts }
    }
}

/// Sum of `low + i + 1` times sink i.
fn weighted<K: Kernel>(adder: &mut Adder<'_, K>, count: usize, low: usize) -> Projective<K> {
    let (plain, weighted) = ramp(adder, count);
    weighted + double_and_add(plain, low)
}

fn double_and_add<P: group::Group>(point: P, by: usize) -> P {
    let bits = (0..usize::BITS - by.leading_zeros()).rev();
    bits.fold(P::identity(), |sum, bit| {
        let sum = sum.double();
        if by >> bit & 1 == 1 { sum + point } else { sum }
    })
}

/// Sum of the first `count` places and sum of i + 1 times place i, which overwrites them.
///
/// The places are cut into segments, whose running sums and totals advance in step, so that there are enough independent
/// additions for a batch. With segments of length m, place s m + j counts s m + (j + 1) times: the second part is a
/// segment's own total, the first m times a ramp over the segments' sums.
fn ramp<K: Kernel>(adder: &mut Adder<'_, K>, count: usize) -> (Projective<K>, Projective<K>) {
    if count <= 32 || !count.is_power_of_two() {
        return ramp_one_by_one::<K>(&adder.places(0)[..count]);
    }
    let segments = (count / 8).clamp(16, 1024);
    let m = count / segments;
    let at = |s: usize, j: usize| (s * m + j) as u32;
    let total = |s: usize| (count + s) as u32;
    let places = adder.places(segments);
    for s in 0..segments {
        places[count + s] = places[s * m + m - 1];
    }
    // The totals run one step behind, so that both additions of a step go into one batch.
    for j in (0..m).rev() {
        adder.add((0..segments).flat_map(|s| {
            let running = (j + 1 < m).then(|| Pair {
                a: at(s, j),
                b: at(s, j + 1),
                to: at(s, j),
            });
            let totals = (j + 2 < m).then(|| Pair {
                a: total(s),
                b: at(s, j + 1),
                to: total(s),
            });
            running.into_iter().chain(totals)
        }));
    }
    if m > 1 {
        adder.add((0..segments).map(|s| Pair {
            a: total(s),
            b: at(s, 0),
            to: total(s),
        }));
    }
    let places = adder.places(0);
    let mut half = segments;
    for s in 0..segments {
        places[s] = places[s * m];
    }
    while half > 1 {
        half /= 2;
        adder.add((0..half).map(|s| Pair {
            a: total(s),
            b: total(s + half),
            to: total(s),
        }));
    }
    let totals = Projective::<K>::from(K::export(&adder.places(0)[count]));
    let (plain, over_segments) = ramp(adder, segments);
    (plain, double_and_add(over_segments - plain, m) + totals)
}

fn ramp_one_by_one<K: Kernel>(places: &[K::Point]) -> (Projective<K>, Projective<K>) {
    let zero = Projective::<K>::identity();
    places
        .iter()
        .rev()
        .fold((zero, zero), |(running, total), place| {
            let running = running + Projective::<K>::from(K::export(place));
            (running, total + running)
        })
}
