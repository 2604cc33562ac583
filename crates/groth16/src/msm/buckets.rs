//! Pippenger's bucket method over batch-affine sums.

use super::adder::{Adder, Bases};
use super::digits::{Recoded, Windows};
use super::group::{Group, decode};
use super::kernel::{Kernel, Leaf, NEGATIVE, Pair};
use super::sort::{Buckets, Sorted};
use crate::memory::{self, Pool};
use blstrs::Scalar;
use group::Group as _;
use rayon::prelude::*;
use std::ops::Range;

/// Terms that are worked on together: bounds the imported points to 256 MiB and the recoded scalars to 64 MiB.
const BLOCK: usize = 1 << 21;

/// Terms that are made ready at a time.
const PIECE: usize = 1 << 10;

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

/// Sum of `scalars[i]` times the base that belongs to it; `done` learns which terms' bases have been read for good.
pub(super) fn multiply<K: Kernel>(
    encodings: &[Encoding<K>],
    positions: Positions<'_>,
    scalars: &[Scalar],
    done: &mut dyn FnMut(Range<usize>),
) -> Projective<K> {
    match positions {
        Positions::Leading => assert!(scalars.len() <= encodings.len(), "more scalars than bases"),
        Positions::At(positions) => {
            assert_eq!(scalars.len(), positions.len(), "a scalar a position")
        }
    }
    let mut buffers = Buffers::<K>::default();
    let blocks = scalars.chunks(BLOCK).enumerate();
    blocks.fold(Projective::<K>::identity(), |sum, (i, scalars)| {
        let terms = i * BLOCK..i * BLOCK + scalars.len();
        let (bases, positions) = match positions {
            Positions::Leading => (&encodings[terms.clone()], Positions::Leading),
            Positions::At(at) => (encodings, Positions::At(&at[terms.clone()])),
        };
        let done = || done(terms);
        sum + block::<K>(bases, positions, scalars, &mut buffers, done)
    })
}

fn block<K: Kernel>(
    encodings: &[Encoding<K>],
    positions: Positions<'_>,
    scalars: &[Scalar],
    buffers: &mut Buffers<K>,
    done: impl FnOnce(),
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
    buffers.import(encodings, positions, scalars.len());
    done();
    buffers.recode(windows, scalars);
    let tasks = split(windows, rayon::current_num_threads());
    let buffers = &*buffers;
    // One after another as threads become free, the small ones last.
    let sums: Vec<_> = tasks
        .into_iter()
        .par_bridge()
        .map(|task| (task.window, buffers.task(windows, &task)))
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

impl Task {
    fn buckets(&self) -> Buckets {
        Buckets {
            low: self.low,
            count: self.count,
        }
    }
}

/// Whole windows first; the last ones in parts, which must read all digits each, so that no thread waits long for another.
fn split(windows: Windows, threads: usize) -> Vec<Task> {
    let count = windows.count as usize;
    let whole = (count / threads).saturating_sub(1) * threads;
    let parts = match threads {
        1 => 1,
        _ => threads
            .div_ceil(count - whole)
            .next_power_of_two()
            .clamp(2, 16),
    };
    let mut tasks = Vec::new();
    for window in 0..windows.count {
        let parts = if (window as usize) < whole { 1 } else { parts };
        let count = (windows.buckets() / parts).max(1);
        tasks.extend(
            (0..windows.buckets())
                .step_by(count)
                .map(|low| Task { window, low, count }),
        );
    }
    tasks
}

/// Bases and scalars of a block, ready for all windows, and what the tasks work with.
struct Buffers<K: Kernel> {
    points: Vec<K::Point>,
    recoded: Vec<Recoded>,
    scratch: Pool<Scratch<K>>,
}

/// What a task works with.
struct Scratch<K: Kernel> {
    sorted: Sorted,
    arena: Vec<K::Point>,
}

impl<K: Kernel> Default for Buffers<K> {
    fn default() -> Self {
        Buffers {
            points: Vec::new(),
            recoded: Vec::new(),
            scratch: Pool::default(),
        }
    }
}

impl<K: Kernel> Default for Scratch<K> {
    fn default() -> Self {
        Scratch {
            sorted: Sorted::default(),
            arena: Vec::new(),
        }
    }
}

impl<K: Kernel> Buffers<K> {
    fn import(&mut self, encodings: &[Encoding<K>], positions: Positions<'_>, count: usize) {
        self.points.clear();
        memory::reserve(&mut self.points, count);
        let pieces = self.points.spare_capacity_mut()[..count].par_chunks_mut(PIECE);
        pieces.enumerate().for_each(|(i, piece)| {
            let terms = i * PIECE..i * PIECE + piece.len();
            match positions {
                Positions::Leading => {
                    let positions: Vec<_> = terms.map(|term| term as Leaf).collect();
                    K::import(encodings, &positions, piece);
                }
                Positions::At(positions) => K::import(encodings, &positions[terms], piece),
            }
        });
        // SAFETY: import has written all of every piece.
        unsafe { self.points.set_len(count) };
    }

    fn recode(&mut self, windows: Windows, scalars: &[Scalar]) {
        memory::reserve(&mut self.recoded, scalars.len());
        let scalars = scalars.par_iter().with_min_len(PIECE);
        let recoded = scalars.map(|scalar| windows.recode(scalar));
        recoded.collect_into_vec(&mut self.recoded);
    }

    fn task(&self, windows: Windows, task: &Task) -> Projective<K> {
        self.scratch.with(|Scratch { sorted, arena }| {
            let window = windows.window(task.window);
            sorted.fill(&self.recoded, window, task.buckets());
            let bases = Bases::Imported(&self.points);
            let mut adder = Adder::<K>::new(bases, task.count, sorted.len(), std::mem::take(arena));
            sorted.for_each_bucket(|bucket, leaves| adder.push(bucket, leaves));
            adder.finish();
            let sum = weighted::<K>(&mut adder, task.count, task.low);
            *arena = adder.into_arena();
            sum
        })
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
