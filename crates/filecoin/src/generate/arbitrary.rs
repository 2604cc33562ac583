//! Native inputs that nobody sealed, for tests and times of any circuit.
//!
//! A circuit computes its values whether or not its constraints hold, and a generator takes as long for these as for a
//! true statement's. Nothing can be proved from them.

use super::{porep, post, snap};
use crate::kind::{CircuitId, ProofKind, SectorSize};
use crate::merkle::{Inclusion, Path, TreeShape};
use crate::porep::{Challenge, Column, PoRep, challenges_per_partition};
use crate::post::{PoSt, Sector};
use crate::snap::SnapDeals;
use crate::statement::Inputs;
use blstrs::Scalar;
use ff::Field;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use storage_proofs_update::constants::{TreeDDomain, h_default, partition_count};
use storage_proofs_update::{Challenges, phi, rho};

/// Inputs of all partitions that a request of this circuit can have; of PoRep one. Every third element is an edge value
/// (0, 1, p - 1 and the like).
pub fn inputs(id: CircuitId, seed: u64) -> Inputs {
    let mut arbitrary = Arbitrary(ChaCha8Rng::seed_from_u64(seed));
    match id.kind {
        ProofKind::PoRep => Inputs::PoRep(arbitrary.porep(id.sector_size)),
        ProofKind::SnapDeals => Inputs::SnapDeals(arbitrary.snap(id.sector_size)),
        ProofKind::WindowPoSt | ProofKind::WinningPoSt => Inputs::PoSt(arbitrary.post(id)),
    }
}

struct Arbitrary(ChaCha8Rng);

impl Arbitrary {
    fn element(&mut self) -> Scalar {
        let edges = [
            Scalar::ZERO,
            Scalar::ONE,
            -Scalar::ONE,
            -Scalar::from(2),
            Scalar::from(u64::MAX),
        ];
        match self.0.gen_range(0..15) {
            i @ 0..5 => edges[i],
            _ => Scalar::random(&mut self.0),
        }
    }

    fn elements(&mut self, n: usize) -> Vec<Scalar> {
        (0..n).map(|_| self.element()).collect()
    }

    fn path(&mut self, shape: &TreeShape) -> Path {
        let positions = shape
            .arities()
            .map(|arity| self.0.gen_range(0..arity) as u8)
            .collect();
        Path {
            positions,
            siblings: self.elements(shape.siblings()),
        }
    }

    fn inclusion(&mut self, shape: &TreeShape) -> Inclusion {
        Inclusion {
            leaf: self.element(),
            path: self.path(shape),
        }
    }

    fn porep(&mut self, size: SectorSize) -> PoRep {
        let (binary, octal) = (TreeShape::binary(size), TreeShape::octal(size));
        let mut porep = porep::blank(size);
        [
            porep.replica_id,
            porep.comm_d,
            porep.comm_r,
            porep.comm_c,
            porep.comm_r_last,
        ] = std::array::from_fn(|_| self.element());
        self.0.fill_bytes(&mut porep.seed);
        let layers = porep.layers();
        let challenge = |_| Challenge {
            node: self.0.r#gen(),
            data: self.inclusion(&binary),
            replica: self.path(&octal),
            column: self.path(&octal),
            parents: (0..14)
                .map(|_| Column {
                    labels: self.elements(layers),
                    path: self.path(&octal),
                })
                .collect(),
        };
        porep.partitions = vec![(0..challenges_per_partition(size)).map(challenge).collect()];
        porep
    }

    fn post(&mut self, id: CircuitId) -> PoSt {
        let mut post = post::blank(id);
        let (sectors, challenges) = match id.kind {
            ProofKind::WinningPoSt => (1, 66),
            _ => (crate::post::blocks(id) as u64, 10),
        };
        let shape = TreeShape::octal(id.sector_size);
        let sector = |number| Sector {
            number,
            comm_r: self.element(),
            comm_c: self.element(),
            comm_r_last: self.element(),
            inclusions: (0..challenges).map(|_| self.inclusion(&shape)).collect(),
        };
        post.sectors = (0..sectors).map(sector).collect();
        post
    }

    /// The circuit asserts that the new leaves are the old ones, encoded, and that all paths in tree D end alike.
    fn snap(&mut self, size: SectorSize) -> SnapDeals {
        let mut snap = snap::blank(size);
        [snap.comm_r_old, snap.comm_r_new, snap.comm_d_new] =
            std::array::from_fn(|_| self.element());
        let (binary, octal) = (TreeShape::binary(size), TreeShape::octal(size));
        for k in 0..partition_count(size.nodes() as usize) {
            let upper = self.elements(binary.siblings());
            let partition_bits = partition_count(size.nodes() as usize).trailing_zeros() as usize;
            let challenge = |node: u64| {
                let (mut data, old, mut new) = (
                    self.inclusion(&binary),
                    self.inclusion(&octal),
                    self.inclusion(&octal),
                );
                let own = binary.levels() - partition_bits;
                data.path.siblings[own..].copy_from_slice(&upper[own..]);
                let phi = phi::<TreeDDomain>(&snap.comm_d_new.into(), &snap.comm_r_old.into());
                let high_bits = h_default(size.nodes() as usize);
                let rho = rho(&phi, (node >> (binary.levels() - high_bits)) as u32);
                new.leaf = old.leaf + data.leaf * rho;
                crate::snap::Challenge {
                    node,
                    old,
                    data,
                    new,
                }
            };
            let nodes =
                Challenges::new(size.nodes() as usize, snap.comm_r_new.into(), k).map(u64::from);
            let challenges = nodes.map(challenge).collect();
            let partition = crate::snap::Partition {
                comm_c: self.element(),
                root_r_old: self.element(),
                root_r_new: self.element(),
                apex_leaves: self.elements(snap.partitions[0].apex_leaves.len()),
                challenges,
            };
            snap.partitions.push(partition);
        }
        snap.partitions.remove(0);
        snap
    }
}
