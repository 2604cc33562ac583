//! Many sums of points at once, out of batches of independent additions.
//!
//! Every sum is a binary tree. Operands are taken in chunks of [`CHUNK`], so that a chunk's intermediate points stay in
//! the L2 cache. A batch holds the first level of the newest chunk, the second of the chunk before, and so on: all
//! batches are about a chunk's size, which makes the inversion cheap whatever the sizes of the sums.

use super::group::Group;
use super::kernel::{Ahead, Batch, Kernel, Leaf, NEGATIVE, Pair, Single, prefetch};
use crate::memory;

/// Operands of a chunk, and so about the additions of a batch.
const CHUNK: usize = 1536;

/// Places for the first level of a chunk: no more than operands.
const PLACES: usize = CHUNK;

type Encoding<K> = <<K as Kernel>::Group as Group>::Encoding;

/// What leaves are taken from.
pub(super) enum Bases<'a, K: Kernel> {
    /// Encoded points, each needed once or so: they are imported with the chunk that needs them.
    Encoded(&'a [Encoding<K>]),
    /// Points in the kernel's form, needed again and again.
    Imported(&'a [K::Point]),
}

/// Sums of points into numbered sinks.
pub(super) struct Adder<'a, K: Kernel> {
    kernel: K,
    bases: Bases<'a, K>,
    /// Sinks, then spill places, then chunks' intermediate points.
    arena: Vec<K::Point>,
    sinks: usize,
    /// The sinks hold sums that are gone on with.
    resumed: bool,
    /// For each spill place taken, in order, the sink it belongs to; sinks are filled one after another.
    spills: Vec<u32>,
    spill_places: usize,
    /// The sink last added to, and where its operands go now.
    current: Option<Current>,
    /// Being filled.
    open: Chunk<K>,
    /// Full; its leaves are being fetched.
    staged: Option<Chunk<K>>,
    flight: Vec<Chunk<K>>,
    idle: Vec<Chunk<K>>,
    batch: Batch,
}

struct Chunk<K: Kernel> {
    /// Sums still to be taken, each of the next `len` operands.
    runs: Vec<Run>,
    /// Leaves at first, then places in the arena.
    operands: Vec<u32>,
    /// The next level's operands, while they are found.
    next: Vec<u32>,
    /// The leaves, where they had to be imported.
    stage: Vec<K::Point>,
    /// The chunk's own part of the arena.
    base: usize,
}

#[derive(Clone, Copy)]
struct Current {
    sink: u32,
    to: u32,
    /// A chunk ended, and with it the sum at `to`: more operands need a spill place.
    cut: bool,
}

#[derive(Clone, Copy)]
struct Run {
    to: u32,
    len: u32,
}

impl<'a, K: Kernel> Adder<'a, K> {
    /// For `sinks` sums of at most `operands` of the bases in all.
    pub(super) fn new(bases: Bases<'a, K>, sinks: usize, operands: usize) -> Self {
        Self::resume(bases, sinks, operands, Vec::new())
    }

    /// The same, going on with what sums there are if there are any.
    pub(super) fn resume(
        bases: Bases<'a, K>,
        sinks: usize,
        operands: usize,
        sums: Vec<K::Point>,
    ) -> Self {
        assert!(sums.is_empty() || sums.len() == sinks, "a sum a sink");
        let resumed = !sums.is_empty();
        let mut arena = sums;
        let spill_places = operands / CHUNK + 1;
        // A chunk lives for as many batches as its trees are high; one is staged, one open.
        let chunks = (operands / CHUNK + 2).min(CHUNK.ilog2() as usize + 4);
        memory::reserve(&mut arena, sinks + spill_places + chunks * PLACES);
        arena.resize(sinks + spill_places, K::Point::default());
        let mut adder = Adder {
            kernel: K::default(),
            bases,
            arena,
            sinks,
            resumed,
            spills: Vec::new(),
            spill_places,
            current: None,
            open: Chunk {
                runs: vec![],
                operands: vec![],
                next: vec![],
                stage: vec![],
                base: 0,
            },
            staged: None,
            flight: Vec::new(),
            idle: Vec::new(),
            batch: Batch::default(),
        };
        adder.open = adder.fresh_chunk();
        adder
    }

    /// Gives the sums back. Only after `finish`.
    pub(super) fn into_sums(mut self) -> Vec<K::Point> {
        self.arena.truncate(self.sinks);
        self.arena
    }

    fn fresh_chunk(&mut self) -> Chunk<K> {
        if let Some(chunk) = self.idle.pop() {
            return chunk;
        }
        let base = self.arena.len();
        self.arena.resize(base + PLACES, K::Point::default());
        Chunk {
            runs: Vec::new(),
            operands: Vec::with_capacity(CHUNK),
            next: Vec::with_capacity(CHUNK),
            stage: Vec::new(),
            base,
        }
    }

    /// Adds leaves to a sink. Whoever goes on to another sink must not come back to this one.
    pub(super) fn push(&mut self, sink: u32, mut leaves: &[Leaf]) {
        while !leaves.is_empty() {
            let to = match self.current {
                Some(Current {
                    sink: same,
                    cut: true,
                    ..
                }) if same == sink => self.spill(sink),
                Some(Current { sink: same, to, .. }) if same == sink => to,
                _ => {
                    if self.resumed {
                        prefetch(&self.arena, sink as usize);
                    }
                    sink
                }
            };
            self.current = Some(Current {
                sink,
                to,
                cut: false,
            });
            let (now, later) = leaves.split_at(leaves.len().min(CHUNK - self.open.operands.len()));
            self.append(to, now);
            if self.open.operands.len() == CHUNK {
                self.current = Some(Current {
                    sink,
                    to,
                    cut: true,
                });
                self.dispatch();
            }
            leaves = later;
        }
    }

    /// Goes on with the open chunk's last run if that is for this place.
    fn append(&mut self, to: u32, leaves: &[Leaf]) {
        self.open.operands.extend_from_slice(leaves);
        let len = leaves.len() as u32;
        match self.open.runs.last_mut() {
            Some(run) if run.to == to => run.len += len,
            _ => self.open.runs.push(Run { to, len }),
        }
    }

    /// A place for what a sink gets after the end of a chunk.
    fn spill(&mut self, sink: u32) -> u32 {
        assert!(
            self.spills.len() < self.spill_places,
            "more operands than announced"
        );
        self.spills.push(sink);
        (self.sinks + self.spills.len() - 1) as u32
    }

    fn dispatch(&mut self) {
        let fresh = self.fresh_chunk();
        let full = std::mem::replace(&mut self.open, fresh);
        self.step(Some(full));
    }

    /// One batch: one more level of all chunks in flight, and the first of the chunk that was staged meanwhile.
    fn step(&mut self, next: Option<Chunk<K>>) {
        for chunk in &mut self.flight {
            chunk.halve(&mut self.batch.inner);
        }
        if let Some(mut chunk) = std::mem::replace(&mut self.staged, next) {
            let resumed = if self.resumed { self.sinks } else { 0 };
            chunk.start(&mut self.batch, resumed as u32);
            self.flight.push(chunk);
        }
        let mut ahead = Ahead::nothing();
        let leaves = match self.bases {
            Bases::Imported(points) => {
                if let Some(chunk) = &self.staged {
                    ahead = Ahead::new(points, &chunk.operands);
                }
                points
            }
            Bases::Encoded(encodings) => {
                if let Some(chunk) = &mut self.staged {
                    chunk.import(encodings);
                }
                self.flight.last().map_or(&[][..], |chunk| &chunk.stage)
            }
        };
        self.kernel
            .run(leaves, &mut self.arena, &mut self.batch, &mut ahead);
        while ahead.len() > 0 {
            ahead.advance(16);
        }
        for done in self.flight.extract_if(.., |chunk| chunk.runs.is_empty()) {
            self.idle.push(done);
        }
    }

    /// Completes all sums and hands out the sinks.
    pub(super) fn finish(&mut self) -> &mut [K::Point] {
        if !self.open.operands.is_empty() {
            self.dispatch();
        }
        self.drain();
        self.gather_spills();
        &mut self.arena[..self.sinks]
    }

    fn drain(&mut self) {
        while !self.flight.is_empty() || self.staged.is_some() {
            self.step(None);
        }
    }

    fn gather_spills(&mut self) {
        let spills = std::mem::take(&mut self.spills);
        let mut chunk = self.fresh_chunk();
        let mut place = self.sinks as u32;
        for same in spills.chunk_by(|a, b| a == b) {
            chunk.operands.push(same[0]);
            chunk.operands.extend(place..place + same.len() as u32);
            chunk.runs.push(Run {
                to: same[0],
                len: 1 + same.len() as u32,
            });
            place += same.len() as u32;
        }
        if chunk.runs.is_empty() {
            self.idle.push(chunk);
        } else {
            self.flight.push(chunk);
            self.drain();
        }
        // Places may be taken again by the next round of sums.
        self.arena[self.sinks..self.sinks + spills.len()].fill(K::Point::default());
    }

    /// The arena from the first sink on, and at least `extra` places behind the sinks. Only after `finish`.
    pub(super) fn places(&mut self, extra: usize) -> &mut [K::Point] {
        let len = self.arena.len().max(self.sinks + extra);
        self.arena.resize(len, K::Point::default());
        &mut self.arena
    }

    /// Carries out additions between places of the arena, all independent. Only after `finish`.
    pub(super) fn add(&mut self, pairs: impl Iterator<Item = Pair>) {
        self.batch.inner.extend(pairs);
        let nothing = &mut Ahead::nothing();
        self.kernel
            .run(&[], &mut self.arena, &mut self.batch, nothing);
    }
}

impl<K: Kernel> Chunk<K> {
    /// Imports the leaves, which then are numbered as they lie in the stage.
    fn import(&mut self, encodings: &[Encoding<K>]) {
        self.stage.clear();
        self.stage.reserve(CHUNK);
        let count = self.operands.len();
        let stage = &mut self.stage.spare_capacity_mut()[..count];
        K::import(encodings, &self.operands, stage);
        // SAFETY: import has written all of them.
        unsafe { self.stage.set_len(count) };
        for (i, leaf) in self.operands.iter_mut().enumerate() {
            *leaf = i as Leaf | *leaf & NEGATIVE;
        }
    }

    /// First level: pairs of leaves into the chunk's places; what is alone is taken over. The sinks below `resumed` are
    /// operands of their sums from the next level on.
    fn start(&mut self, batch: &mut Batch, resumed: u32) {
        let (mut read, mut kept, mut place) = (0, 0, self.base as u32);
        self.next.clear();
        for i in 0..self.runs.len() {
            let Run { to, len } = self.runs[i];
            let leaves = &self.operands[read..read + len as usize];
            read += leaves.len();
            let goes_on = to < resumed;
            let last = len <= 2 && !goes_on;
            for pair in leaves.chunks(2) {
                let to = if last { to } else { place };
                match *pair {
                    [a, b] => batch.leaves.push(Pair { a, b, to }),
                    [leaf] => batch.singles.push(Single { leaf, to }),
                    _ => {}
                }
                if !last {
                    self.next.push(place);
                    place += 1;
                }
            }
            if last {
                continue;
            }
            if goes_on {
                self.next.push(to);
            }
            self.runs[kept] = Run {
                to,
                len: len.div_ceil(2) + u32::from(goes_on),
            };
            kept += 1;
        }
        self.runs.truncate(kept);
        std::mem::swap(&mut self.operands, &mut self.next);
    }

    /// One more level: pairs of places into the first of the two.
    fn halve(&mut self, inner: &mut Vec<Pair>) {
        let (mut read, mut write, mut kept) = (0, 0, 0);
        for i in 0..self.runs.len() {
            let Run { to, len } = self.runs[i];
            let operands = read..read + len as usize;
            read = operands.end;
            if len == 2 {
                let [a, b] = [
                    self.operands[operands.start],
                    self.operands[operands.start + 1],
                ];
                inner.push(Pair { a, b, to });
                continue;
            }
            for first in operands.step_by(2) {
                let a = self.operands[first];
                if first + 1 < read {
                    inner.push(Pair {
                        a,
                        b: self.operands[first + 1],
                        to: a,
                    });
                }
                self.operands[write] = a;
                write += 1;
            }
            self.runs[kept] = Run {
                to,
                len: len.div_ceil(2),
            };
            kept += 1;
        }
        self.runs.truncate(kept);
        self.operands.truncate(write);
    }
}
