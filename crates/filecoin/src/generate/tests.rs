//! Every generator against upstream's circuit, value by value. The native inputs are arbitrary, edge values among them:
//! a circuit computes its values whether or not its constraints hold.

use super::*;
use crate::circuit::compile_circuit;
use crate::kind::SectorSize;
use crate::merkle::{Inclusion, Path, TreeShape};
use crate::porep::{Challenge, Column, PoRep};
use crate::post::{PoSt, Sector};
use crate::snap::SnapDeals;
use bellpepper_core::SynthesisError;
use blstrs::Scalar;
use cuzk_r1cs::WitnessAssigner;
use ff::Field;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use storage_proofs_update::constants::{TreeDDomain, h_default, partition_count};
use storage_proofs_update::{Challenges, phi, rho};

/// Arbitrary native inputs: every third element is an edge value.
struct Arbitrary(ChaCha8Rng);

impl Arbitrary {
    fn new(seed: u64) -> Self {
        Arbitrary(ChaCha8Rng::seed_from_u64(seed))
    }

    fn element(&mut self) -> Scalar {
        let edges = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2), Scalar::from(u64::MAX)];
        match self.0.gen_range(0..15) {
            i @ 0..5 => edges[i],
            _ => Scalar::random(&mut self.0),
        }
    }

    fn elements(&mut self, n: usize) -> Vec<Scalar> {
        (0..n).map(|_| self.element()).collect()
    }

    fn path(&mut self, shape: &TreeShape) -> Path {
        let positions = shape.arities().map(|arity| self.0.gen_range(0..arity) as u8).collect();
        Path { positions, siblings: self.elements(shape.siblings()) }
    }

    fn inclusion(&mut self, shape: &TreeShape) -> Inclusion {
        Inclusion { leaf: self.element(), path: self.path(shape) }
    }

    fn porep(&mut self, size: SectorSize, challenges: usize) -> PoRep {
        let (binary, octal) = (TreeShape::binary(size), TreeShape::octal(size));
        let mut porep = porep::blank(size);
        [porep.replica_id, porep.comm_d, porep.comm_r, porep.comm_c, porep.comm_r_last] =
            std::array::from_fn(|_| self.element());
        self.0.fill_bytes(&mut porep.seed);
        let layers = porep.layers();
        let challenge = |_| Challenge {
            node: self.0.r#gen(),
            data: self.inclusion(&binary),
            replica: self.path(&octal),
            column: self.path(&octal),
            parents: (0..14).map(|_| Column { labels: self.elements(layers), path: self.path(&octal) }).collect(),
        };
        porep.partitions = vec![(0..challenges).map(challenge).collect()];
        porep
    }

    fn post(&mut self, id: CircuitId) -> PoSt {
        let mut post = post::blank(id);
        let (sectors, challenges) = match id.kind {
            ProofKind::WinningPoSt => (1, 66),
            _ => (2, 10),
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
        [snap.comm_r_old, snap.comm_r_new, snap.comm_d_new] = std::array::from_fn(|_| self.element());
        let (binary, octal) = (TreeShape::binary(size), TreeShape::octal(size));
        for k in 0..partition_count(size.nodes() as usize) {
            let upper = self.elements(binary.siblings());
            let partition_bits = partition_count(size.nodes() as usize).trailing_zeros() as usize;
            let challenge = |node: u64| {
                let (mut data, old, mut new) = (self.inclusion(&binary), self.inclusion(&octal), self.inclusion(&octal));
                let own = binary.levels() - partition_bits;
                data.path.siblings[own..].copy_from_slice(&upper[own..]);
                let phi = phi::<TreeDDomain>(&snap.comm_d_new.into(), &snap.comm_r_old.into());
                let rho: Scalar = rho(&phi, (node >> (binary.levels() - h_default(size.nodes() as usize))) as u32).into();
                new.leaf = old.leaf + data.leaf * rho;
                crate::snap::Challenge { node, old, data, new }
            };
            let nodes = Challenges::new(size.nodes() as usize, snap.comm_r_new.into(), k).map(u64::from);
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

/// What upstream's circuit assigns.
fn reference(
    layout: &Arc<WitnessLayout>,
    synthesize: impl FnOnce(&mut WitnessAssigner<'_>) -> Result<(), SynthesisError>,
) -> Witness {
    let mut witness = Witness::new(layout.clone());
    let mut assigner = WitnessAssigner::new(&mut witness);
    let synthesized = synthesize(&mut assigner);
    assigner.finish().unwrap();
    synthesized.unwrap();
    witness
}

/// Compares, and names what differs first.
fn assert_same(generator: &Generator, found: &Witness, expected: &Witness) {
    let input = found.inputs().iter().zip(expected.inputs()).position(|(found, expected)| found != expected);
    assert_eq!(input, None, "{}: public input", generator.id);
    if found == expected {
        return;
    }
    let slots = 0..generator.layout.num_aux();
    let slot = slots.into_iter().find(|slot| found.aux(*slot) != expected.aux(*slot));
    let place = slot.map_or("bits of wide slots".to_string(), |slot| generator.locate(slot));
    panic!("{} {:?}: {place} (private variable {slot:?})", generator.id, generator.isa);
}

/// A buffer that holds something else, as if from an earlier proof.
fn used_buffer(layout: &Arc<WitnessLayout>) -> Witness {
    let mut witness = Witness::new(layout.clone());
    witness.bits_mut().fill(0x5a5a_5a5a_5a5a_5a5a);
    witness.wide_mut().fill(Scalar::from(77));
    witness.inputs_mut().fill(Scalar::from(78));
    witness
}

#[test]
fn porep_2k() {
    let id = "porep-2k".parse().unwrap();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    for seed in 0..3 {
        let porep = Arbitrary::new(seed).porep(SectorSize::S2KiB, 2);
        let expected = reference(r1cs.layout(), |cs| porep.synthesize(0, cs));
        let inputs = Inputs::PoRep(porep);
        for isa in Isa::available() {
            let generator = generator.clone().with_isa(isa);
            let mut witness = used_buffer(r1cs.layout());
            generator.fill_from(&inputs, 0, &mut witness).unwrap();
            assert_same(&generator, &witness, &expected);
        }
    }
}

#[test]
fn winning_2k() {
    post_circuit("winning-2k");
}

#[test]
fn window_2k() {
    post_circuit("wpost-2k");
}

fn post_circuit(id: &str) {
    let id: CircuitId = id.parse().unwrap();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    for seed in 0..3 {
        let post = Arbitrary::new(seed).post(id);
        let expected = reference(r1cs.layout(), |cs| post.synthesize(cs));
        let inputs = Inputs::PoSt(post);
        for isa in Isa::available() {
            let generator = generator.clone().with_isa(isa);
            let mut witness = used_buffer(r1cs.layout());
            generator.fill_from(&inputs, 0, &mut witness).unwrap();
            assert_same(&generator, &witness, &expected);
        }
    }
}

#[test]
fn snap_2k() {
    let id: CircuitId = "snap-2k".parse().unwrap();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    for seed in 0..3 {
        let snap = Arbitrary::new(seed).snap(SectorSize::S2KiB);
        let expected = reference(r1cs.layout(), |cs| snap.synthesize(0, cs));
        let inputs = Inputs::SnapDeals(snap);
        for isa in Isa::available() {
            let generator = generator.clone().with_isa(isa);
            let mut witness = used_buffer(r1cs.layout());
            generator.fill_from(&inputs, 0, &mut witness).unwrap();
            assert_same(&generator, &witness, &expected);
        }
    }
}
