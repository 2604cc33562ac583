//! Every generator against upstream's circuit, value by value. The native inputs are arbitrary, edge values among them:
//! a circuit computes its values whether or not its constraints hold.

use super::*;
use crate::circuit::compile_circuit;
use crate::kind::SectorSize;
use crate::merkle::{Inclusion, Path, TreeShape};
use crate::porep::{Challenge, Column, PoRep, challenges_per_partition};
use crate::post::{PoSt, Sector};
use crate::snap::SnapDeals;
use bellpepper_core::ConstraintSystem;
use blstrs::Scalar;
use ff::Field;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};
use storage_proofs_update::constants::{TreeDDomain, h_default, partition_count};
use storage_proofs_update::{Challenges, phi, rho};

/// Arbitrary native inputs: every third element is an edge value.
struct Arbitrary(ChaCha8Rng);

impl Arbitrary {
    fn new(seed: u64) -> Self {
        Arbitrary(ChaCha8Rng::seed_from_u64(seed))
    }

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
                let rho: Scalar = rho(
                    &phi,
                    (node >> (binary.levels() - h_default(size.nodes() as usize))) as u32,
                )
                .into();
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

/// Native inputs, and upstream's circuit with them.
enum Case {
    PoRep(PoRep),
    PoSt(PoSt),
    SnapDeals(SnapDeals),
}

impl Case {
    fn arbitrary(id: CircuitId, seed: u64) -> Case {
        let mut arbitrary = Arbitrary::new(seed);
        match id.kind {
            ProofKind::PoRep => Case::PoRep(arbitrary.porep(id.sector_size)),
            ProofKind::SnapDeals => Case::SnapDeals(arbitrary.snap(id.sector_size)),
            ProofKind::WindowPoSt | ProofKind::WinningPoSt => Case::PoSt(arbitrary.post(id)),
        }
    }

    /// The last partition.
    fn partition(&self) -> usize {
        match self {
            Case::PoRep(porep) => porep.partitions.len() - 1,
            Case::PoSt(_) => 0,
            Case::SnapDeals(snap) => snap.partitions.len() - 1,
        }
    }

    fn synthesize(&self, cs: &mut impl ConstraintSystem<Scalar>) -> Result<(), SynthesisError> {
        match self {
            Case::PoRep(porep) => porep.synthesize(self.partition(), cs),
            Case::PoSt(post) => post.synthesize(cs),
            Case::SnapDeals(snap) => snap.synthesize(self.partition(), cs),
        }
    }

    fn inputs(&self) -> Inputs {
        match self {
            Case::PoRep(porep) => Inputs::PoRep(porep.clone()),
            Case::PoSt(post) => Inputs::PoSt(post.clone()),
            Case::SnapDeals(snap) => Inputs::SnapDeals(snap.clone()),
        }
    }
}

/// Fills a buffer with something else, as if from an earlier proof.
fn soil(witness: &mut Witness) {
    witness.bits_mut().fill(0x5a5a_5a5a_5a5a_5a5a);
    witness.wide_mut().fill(Scalar::from(77));
    witness.inputs_mut().fill(Scalar::from(78));
}

/// Digest of all that a witness holds; a second one of the largest would not fit into memory.
fn fingerprint(witness: &Witness) -> [u8; 32] {
    let mut hash = Sha256::new();
    witness
        .bits()
        .iter()
        .for_each(|word| hash.update(word.to_le_bytes()));
    witness
        .inputs()
        .iter()
        .chain(witness.wide())
        .for_each(|value| hash.update(value.to_bytes_le()));
    hash.finalize().into()
}

/// All paths give the values of upstream's circuit, and zero bits in wide slots.
fn check(id: &str, seeds: std::ops::Range<u64>) {
    let id: CircuitId = id.parse().unwrap();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    let mut witness = Witness::new(r1cs.layout().clone());
    for seed in seeds {
        let case = Case::arbitrary(id, seed);
        let (inputs, partition) = (case.inputs(), case.partition());
        let mut compared = None;
        for isa in Isa::available().into_iter().rev() {
            let generator = generator.clone().with_isa(isa);
            soil(&mut witness);
            generator
                .fill_from(&inputs, partition, &mut witness)
                .unwrap();
            let fingerprint = fingerprint(&witness);
            if compared == Some(fingerprint) {
                continue;
            }
            // Either the first path, or one that differs from it: then this tells where.
            if let Err(error) = generator.compare_with(&witness, |cs| case.synthesize(cs)) {
                panic!("{id}, seed {seed}, {isa:?}: {error}");
            }
            let mask = witness.layout().mask_words().unwrap_or_default();
            let stray = witness
                .bits()
                .iter()
                .zip(mask)
                .position(|(bits, mask)| bits & mask != 0);
            assert_eq!(stray, None, "{id}, {isa:?}: bits in wide slots");
            assert_eq!(
                compared, None,
                "{id}, seed {seed}: {isa:?} gives another witness"
            );
            compared = Some(fingerprint);
        }
    }
}

#[test]
fn porep() {
    check("porep-2k", 0..3);
}

#[test]
fn snap_deals() {
    check("snap-2k", 0..3);
}

#[test]
fn window_post() {
    check("wpost-2k", 0..3);
}

#[test]
fn winning_post() {
    check("winning-2k", 0..3);
}

/// Larger sectors. Run by name, with `--ignored`; the largest take minutes and gigabytes.
mod large {
    use super::check;

    macro_rules! circuits {
        ($($name:ident $id:literal)*) => {
            $(
                #[test]
                #[ignore = "takes minutes"]
                fn $name() {
                    check($id, 0..1);
                }
            )*
        };
    }

    circuits! {
        porep_8m "porep-8m"
        porep_512m "porep-512m"
        porep_32g "porep-32g"
        porep_64g "porep-64g"
        snap_8m "snap-8m"
        snap_512m "snap-512m"
        snap_32g "snap-32g"
        snap_64g "snap-64g"
        winning_8m "winning-8m"
        winning_512m "winning-512m"
        winning_32g "winning-32g"
        winning_64g "winning-64g"
        window_8m "wpost-8m"
        window_512m "wpost-512m"
        window_32g "wpost-32g"
        window_64g "wpost-64g"
    }
}
