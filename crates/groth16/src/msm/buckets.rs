//! Pippenger's bucket method over batch-affine sums.
//!
//! Terms come in blocks; the buckets stay, so that windows can be as wide as all terms together make worthwhile.

use super::adder::{Adder, Bases};
use super::digits::{Recoded, Windows};
use super::group::{Group, decode};
use super::kernel::{Kernel, Leaf, NEGATIVE, Pair};
use super::sort::{self, Groups, Sorted};
use crate::memory::{self, Pool};
use blstrs::Scalar;
use group::Group as _;
use rayon::prelude::*;
use std::ops::Range;

/// How many terms are worked on together.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Are imported together, and added to the buckets.
    pub(super) block: usize,
    /// Are sorted together.
    pub(super) range: usize,
}

impl Sizes {
    /// For this many terms: bounds the imported points to 512 MiB in G1. Where there are many buckets, a larger block finds
    /// more terms for each of them.
    fn for_terms(terms: usize) -> Self {
        Sizes {
            block: (terms / 16).clamp(1 << 20, 1 << 22),
            range: 1 << 18,
        }
    }
}

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
    let sizes = Sizes::for_terms(scalars.len());
    in_blocks::<K>(encodings, positions, scalars, sizes, done)
}

/// [`multiply`] with given sizes of blocks and ranges.
pub(super) fn in_blocks<K: Kernel>(
    encodings: &[Encoding<K>],
    positions: Positions<'_>,
    scalars: &[Scalar],
    sizes: Sizes,
    done: &mut dyn FnMut(Range<usize>),
) -> Projective<K> {
    match positions {
        Positions::Leading => assert!(scalars.len() <= encodings.len(), "more scalars than bases"),
        Positions::At(positions) => {
            assert_eq!(scalars.len(), positions.len(), "a scalar a position")
        }
    }
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
    let mut work = Work::<K>::new(windows, sizes.range);
    for (i, scalars) in scalars.chunks(sizes.block).enumerate() {
        let terms = i * sizes.block..i * sizes.block + scalars.len();
        match positions {
            Positions::Leading => {
                work.import(&encodings[terms.clone()], Positions::Leading, scalars.len());
            }
            Positions::At(at) => {
                let at = Positions::At(&at[terms.clone()]);
                work.import(encodings, at, scalars.len());
            }
        }
        done(terms);
        work.sort(scalars);
        work.add();
    }
    work.total()
}

/// Some of one window's buckets: those of digits of magnitude `low + 1 ..= low + count`, and their sums so far.
struct Part<K: Kernel> {
    window: u32,
    low: usize,
    count: usize,
    sums: Vec<K::Point>,
}

/// Several for a thread, so that none waits long for another.
const PARTS_PER_THREAD: usize = 8;

/// All buckets in parts, lowest window first.
fn split<K: Kernel>(windows: Windows, threads: usize) -> Vec<Part<K>> {
    let wanted = match threads {
        1 => 1,
        _ => (PARTS_PER_THREAD * threads).div_ceil(windows.count as usize),
    };
    let parts = |window| {
        let buckets = windows.buckets_of(window);
        // Whole groups.
        let parts = wanted.next_power_of_two().min(sort::groups(buckets));
        let count = buckets / parts;
        (0..parts).map(move |part| Part {
            window,
            low: part * count,
            count,
            sums: Vec::new(),
        })
    };
    (0..windows.count).flat_map(parts).collect()
}

/// A block's bases and scalars, ready for all windows, and the sums so far.
struct Work<K: Kernel> {
    windows: Windows,
    /// Terms that are sorted together.
    range: usize,
    parts: Vec<Part<K>>,
    points: Vec<K::Point>,
    recoded: Vec<Recoded>,
    /// Range by range, all windows of each.
    sorted: Vec<Sorted>,
    keys: Pool<Vec<u32>>,
}

impl<K: Kernel> Work<K> {
    fn new(windows: Windows, range: usize) -> Self {
        Work {
            windows,
            range,
            parts: split(windows, rayon::current_num_threads()),
            points: Vec::new(),
            recoded: Vec::new(),
            sorted: Vec::new(),
            keys: Pool::default(),
        }
    }

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

    /// Recodes a block's scalars and sorts its terms by group of buckets, for every window.
    fn sort(&mut self, scalars: &[Scalar]) {
        let (windows, range) = (self.windows, self.range);
        memory::reserve(&mut self.recoded, scalars.len());
        let scalars = scalars.par_iter().with_min_len(PIECE);
        let recoded = scalars.map(|scalar| windows.recode(scalar));
        recoded.collect_into_vec(&mut self.recoded);

        let (count, ranges) = (windows.count as usize, self.recoded.len().div_ceil(range));
        self.sorted.resize_with(ranges * count, Sorted::default);
        let (recoded, keys) = (&self.recoded, &self.keys);
        let sorted = self.sorted.par_iter_mut().with_max_len(1).enumerate();
        sorted.for_each(|(i, sorted)| {
            let (first, window) = (i / count * range, (i % count) as u32);
            let terms = first..recoded.len().min(first + range);
            let buckets = windows.buckets_of(window);
            keys.with(|keys| sorted.fill(&recoded[terms], windows.window(window), buckets, keys));
        });
    }

    /// Adds the block to the buckets.
    fn add(&mut self) {
        let (points, sorted) = (&self.points, &self.sorted);
        let (range, count) = (self.range, self.windows.count as usize);
        // One after another as threads become free.
        let parts = self.parts.par_iter_mut().with_max_len(1);
        parts.for_each(|part| {
            let ranges = sorted.iter().skip(part.window as usize).step_by(count);
            let first = sort::groups(part.low);
            let groups = Groups {
                ranges: (0..).step_by(range).zip(ranges).collect(),
                groups: first..first + sort::groups(part.count),
            };
            let sums = std::mem::take(&mut part.sums);
            let bases = Bases::Imported(points);
            let mut adder = Adder::<K>::resume(bases, part.count, groups.len(), sums);
            groups.for_each_bucket(|bucket, leaves| adder.push(bucket, leaves));
            adder.finish();
            part.sums = adder.into_sums();
        });
    }

    fn total(mut self) -> Projective<K> {
        let windows = self.windows;
        let parts = self.parts.par_iter_mut().with_max_len(1);
        let sums: Vec<_> = parts
            .map(|part| {
                let sums = std::mem::take(&mut part.sums);
                let mut adder = Adder::<K>::resume(Bases::Imported(&[]), part.count, 0, sums);
                (part.window, weighted(&mut adder, part.count, part.low))
            })
            .collect();
        let window = |w| {
            sums.iter()
                .filter(|(of, _)| *of == w)
                .fold(Projective::<K>::identity(), |a, (_, b)| a + b)
        };
        (0..windows.count)
            .rev()
            .fold(Projective::<K>::identity(), |sum, w| {
                (0..windows.width_of(w)).fold(sum, |sum, _| sum.double()) + window(w)
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
