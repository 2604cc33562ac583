//! The circuit of both proofs of spacetime: one block a sector, no prologue.
//!
//! Source of the order: `storage_proofs_post::fallback::circuit`.

use super::circuit::{Circuit, ShapeError, check_path};
use super::gadgets::{Instance, PathForm};
use super::jobs::PATHS;
use super::plan::Plan;
use super::sink::{End, Sink, Target};
use super::{GadgetTimes, Isa};
use crate::kind::{CircuitId, ProofKind};
use crate::merkle::{Inclusion, Path, TreeShape};
use crate::post::{PoSt, Sector};
use crate::registered;
use blstrs::Scalar;
use filecoin_proofs::constants::{WINDOW_POST_CHALLENGE_COUNT, WINNING_POST_CHALLENGE_COUNT};
use std::ops::Range;

/// The native inputs: the circuit's sectors.
pub(super) struct Sectors<'i> {
    sectors: Vec<(&'i Sector, &'i [Inclusion])>,
    shape: TreeShape,
    challenges: usize,
}

impl<'i> Sectors<'i> {
    pub(super) fn new(post: &'i PoSt) -> Self {
        let sectors: Vec<_> = post.circuit_sectors().collect();
        let challenges = sectors
            .first()
            .map_or(1, |(_, inclusions)| inclusions.len());
        Sectors {
            sectors,
            shape: TreeShape::octal(post.sector_size),
            challenges,
        }
    }
}

impl<'i> Circuit<'i> for Sectors<'i> {
    type Context = ();

    fn blocks(&self) -> usize {
        self.sectors.len()
    }

    /// As few sectors as have a multiple of [`PATHS`] paths.
    fn group(&self) -> usize {
        (1..PATHS)
            .find(|n| (n * self.challenges).is_multiple_of(PATHS))
            .unwrap_or(PATHS)
    }

    fn check(&self) -> Result<(), ShapeError> {
        for (_, inclusions) in &self.sectors {
            ShapeError::check("challenges of a sector", inclusions.len(), self.challenges)?;
            inclusions
                .iter()
                .try_for_each(|i| check_path("path", &i.path, &self.shape))?;
        }
        Ok(())
    }

    fn prologue(&self, _: &mut impl Sink<'i>) {}

    fn block(&self, _: &(), k: usize, out: &mut impl Sink<'i>) {
        let (sector, inclusions) = self.sectors[k];
        out.gadget("commitment", 0);
        for value in [sector.comm_r_last, sector.comm_c, sector.comm_r] {
            out.number(value);
        }
        out.input(sector.comm_r);
        out.poseidon(Instance::Two, &[sector.comm_c, sector.comm_r_last]);
        for (i, Inclusion { leaf, path }) in inclusions.iter().enumerate() {
            out.gadget("path", i);
            out.number(*leaf);
            let index = path.index(&self.shape);
            out.climb(
                &self.shape,
                PathForm::Allocating,
                *leaf,
                index,
                &path.siblings,
            );
            out.input(Scalar::from(index));
        }
    }

    fn write(
        &self,
        _: &(),
        blocks: Range<usize>,
        target: &mut Target<'_>,
        isa: Isa,
    ) -> (End, GadgetTimes) {
        let mut plan = Plan::new(target.cursor());
        for k in blocks {
            self.block(&(), k, &mut plan);
        }
        let (end, mut jobs) = plan.close();
        jobs.run_hashes(isa, target.wide);
        jobs.run_climbs(isa, target.bits.is_none(), target.wide);
        (end, jobs.times)
    }
}

/// A statement of zeros.
pub(super) fn blank(id: CircuitId) -> PoSt {
    let shape = TreeShape::octal(id.sector_size);
    let zero = Scalar::default();
    let path = Path {
        positions: vec![0; shape.levels()],
        siblings: vec![zero; shape.siblings()],
    };
    let challenges = match id.kind {
        ProofKind::WinningPoSt => WINNING_POST_CHALLENGE_COUNT,
        _ => WINDOW_POST_CHALLENGE_COUNT,
    };
    let registered = registered::post(registered::latest(id)).expect("every size has a PoSt proof");
    PoSt {
        kind: id.kind,
        registered,
        sector_size: id.sector_size,
        randomness: [0; 32],
        prover_id: [0; 32],
        partition_index: 0,
        sectors: vec![Sector {
            number: 0,
            comm_r: zero,
            comm_c: zero,
            comm_r_last: zero,
            inclusions: vec![Inclusion { leaf: zero, path }; challenges],
        }],
    }
}
