//! Many multiples of one base.
//!
//! A table holds `digit 2^(width w) base` for every window w and magnitude, encoded like any bases; a multiple is then the
//! sum of one entry a window, and many multiples are as many sums by the batch-affine adder.

use super::Group;
use super::adder::{Adder, Bases};
use super::digits::Windows;
use super::group::sealed::Kernels;
use super::kernel::{Kernel, Leaf, NEGATIVE};
use crate::field::Isa;
use blstrs::Scalar;
use group::Group as _;
use rayon::prelude::*;

/// Scalars a task works on: enough for full batches, few enough for its sums to stay in the cache.
const TASK: usize = 1 << 12;

/// Multiples of a base, ready to be added up.
pub struct Table<G: Group> {
    isa: Isa,
    windows: Windows,
    /// Window by window, magnitudes from one.
    multiples: Vec<G::Encoding>,
}

impl<G: Group> Table<G> {
    /// A table that is best for about `count` multiples: at most 16 bits a window, 2^19 entries.
    ///
    /// # Panics
    /// On a CPU without `isa`.
    pub fn new(isa: Isa, base: &G::Affine, count: usize) -> Self {
        isa.require();
        let cost = |width: &u32| {
            let windows = Windows::new(*width);
            // An entry costs a Jacobian addition and its share of a normalisation: some three batch-affine additions.
            windows.count as usize * (count + 3 * windows.buckets())
        };
        let windows = Windows::new((2..=16).min_by_key(cost).expect("not empty"));
        let powers = |power: &G::Projective| {
            Some((0..windows.width).fold(*power, |power, _| power.double()))
        };
        let powers: Vec<_> = std::iter::successors(Some(G::Projective::from(*base)), powers)
            .take(windows.count as usize)
            .collect();
        let multiples = powers
            .par_iter()
            .flat_map_iter(|power| row::<G>(power, windows.buckets()));
        Table {
            isa,
            windows,
            multiples: multiples.collect(),
        }
    }

    /// The base times each of the scalars, on all threads of the current rayon pool.
    pub fn multiply(&self, scalars: &[Scalar]) -> Vec<G::Affine> {
        match self.isa {
            Isa::Portable => self.multiply_by::<<G as Kernels>::Portable>(scalars),
            Isa::Avx512Ifma => self.multiply_by::<<G as Kernels>::Lanes>(scalars),
        }
    }

    fn multiply_by<K: Kernel<Group = G>>(&self, scalars: &[Scalar]) -> Vec<G::Affine> {
        let tasks = scalars.par_chunks(TASK);
        tasks
            .flat_map_iter(|scalars| self.task::<K>(scalars))
            .collect()
    }

    fn task<K: Kernel<Group = G>>(&self, scalars: &[Scalar]) -> Vec<G::Affine> {
        let operands = scalars.len() * self.windows.count as usize;
        let bases = Bases::Encoded(&self.multiples);
        let mut adder = Adder::<K>::new(bases, scalars.len(), operands);
        let mut leaves = Vec::new();
        for (sink, scalar) in scalars.iter().enumerate() {
            let recoded = self.windows.recode(scalar);
            leaves.clear();
            for w in 0..self.windows.count {
                let (magnitude, negative) = self.windows.window(w).digit(&recoded);
                if magnitude > 0 {
                    let entry = w * self.windows.buckets() as u32 + magnitude - 1;
                    leaves.push(entry | if negative { NEGATIVE } else { 0 } as Leaf);
                }
            }
            adder.push(sink as u32, &leaves);
        }
        adder.finish().iter().map(K::export).collect()
    }
}

/// The first `count` multiples of a point.
fn row<G: Group>(point: &G::Projective, count: usize) -> Vec<G::Encoding> {
    let multiples = std::iter::successors(Some(*point), |multiple| Some(*multiple + point));
    let multiples: Vec<_> = multiples.take(count).collect();
    G::normalise(&multiples).iter().map(G::encode).collect()
}
