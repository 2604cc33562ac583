//! One suite for every [`Backend`]: the same bytes as the portable CPU prover, on every kind of circuit.

pub mod circuits;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bellpepper_core::Circuit;
use cuzk_r1cs::{R1cs, Scalar, Witness, WitnessAssigner, WitnessLayout};
use ff::Field;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use tempfile::TempDir;

use crate::field::Isa;
use crate::{
    Backend, Blinding, CpuBackend, NoProgress, ParameterFile, PreparedVerifyingKey, ProveError,
    setup, verify,
};
use circuits::{BitMixer, CubeChain, Product, RandomRows};

/// A compiled circuit with developer parameters in a directory of their own, and a witness.
pub struct Fixture {
    /// The circuit.
    pub circuit: Arc<R1cs>,
    /// Its parameters.
    pub params: Arc<ParameterFile>,
    /// A witness that satisfies it.
    pub witness: Witness,
    directory: TempDir,
}

impl Fixture {
    /// Compiles a circuit, runs a setup with a fixed seed, and assigns the witness.
    pub fn new(circuit: impl Circuit<Scalar> + Clone) -> Self {
        let compiled = compile(circuit.clone());
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (params, vk) = paths(directory.path());
        setup::write_files(&compiled, &params, &vk, Some(7), &NoProgress).expect("a setup");
        let params = ParameterFile::open(params).expect("parameters just written");
        let witness = assign(&compiled, circuit);
        Self {
            circuit: Arc::new(compiled),
            params: Arc::new(params),
            witness,
            directory,
        }
    }

    /// The `.params` file.
    pub fn params_path(&self) -> PathBuf {
        paths(self.directory.path()).0
    }

    /// The `.vk` file.
    pub fn vk_path(&self) -> PathBuf {
        paths(self.directory.path()).1
    }
}

fn paths(directory: &Path) -> (PathBuf, PathBuf) {
    (
        directory.join("circuit.params"),
        directory.join("circuit.vk"),
    )
}

/// Records a circuit.
pub fn compile(circuit: impl Circuit<Scalar>) -> R1cs {
    cuzk_r1cs::compile(|cs| circuit.synthesize(cs)).expect("a circuit that compiles")
}

/// Runs a circuit for its witness, which must satisfy it.
pub fn assign(compiled: &R1cs, circuit: impl Circuit<Scalar>) -> Witness {
    let mut witness = Witness::new(compiled.layout().clone());
    let mut assigner = WitnessAssigner::new(&mut witness);
    circuit
        .synthesize(&mut assigner)
        .expect("a circuit with values");
    assigner.finish().expect("a value for every variable");
    compiled.check(&witness).expect("a satisfying witness");
    witness
}

/// Runs everything below; panics where the backend fails.
pub fn check<B: Backend>(backend: &B) {
    let mixer = Fixture::new(BitMixer {
        state: 0x0123_4567_89ab_cdef,
        rounds: 9,
    });
    assert!(!mixer.circuit.layout().is_dense());
    let chain = Fixture::new(CubeChain {
        start: Scalar::from(3),
        rounds: 300,
    });
    assert!(chain.circuit.layout().is_dense());
    let product = Fixture::new(Product { x: 6, y: 7 });
    let mut fixtures = vec![mixer, chain, product];
    for seed in 0..6 {
        let rows = 1 << (3 + seed);
        fixtures.push(Fixture::new(RandomRows {
            shape_seed: seed,
            value_seed: seed + 100,
            rows,
        }));
    }
    for fixture in &fixtures {
        same_bytes(backend, fixture);
    }
    repeated_and_in_parallel(backend, &fixtures[0]);
    refuses_what_does_not_belong(backend, &fixtures[0], &fixtures[1]);
}

/// Same blinding, same bytes, zero blinding included; and the proof verifies.
fn same_bytes<B: Backend>(backend: &B, fixture: &Fixture) {
    let reference = CpuBackend::with_isa(Isa::Portable);
    let expected_key = load(&reference, fixture);
    let key = load(backend, fixture);
    let zero = Blinding {
        r: Scalar::ZERO,
        s: Scalar::ZERO,
    };
    let vk = PreparedVerifyingKey::new(fixture.params.vk());
    for blinding in [
        zero,
        Blinding::from_rng(ChaCha20Rng::seed_from_u64(1)),
        Blinding::random(),
    ] {
        let proof = backend
            .prove(&key, &fixture.witness, &blinding)
            .expect("a proof");
        let expected = reference.prove(&expected_key, &fixture.witness, &blinding);
        assert_eq!(
            proof.to_bytes(),
            expected.expect("a proof").to_bytes(),
            "{}",
            backend.name()
        );
        assert_eq!(verify(&vk, &fixture.witness.inputs()[1..], &proof), Ok(()));
    }
}

fn load<B: Backend>(backend: &B, fixture: &Fixture) -> B::Key {
    backend
        .load(fixture.circuit.clone(), fixture.params.clone())
        .expect("a key")
}

/// The same proof ten times, four at once: nothing is left over from one for the next, nothing shared.
fn repeated_and_in_parallel<B: Backend>(backend: &B, fixture: &Fixture) {
    let key = load(backend, fixture);
    let blinding = Blinding::from_rng(ChaCha20Rng::seed_from_u64(2));
    let prove = || {
        backend
            .prove(&key, &fixture.witness, &blinding)
            .expect("a proof")
            .to_bytes()
    };
    let expected = prove();
    std::thread::scope(|scope| {
        let run = || (0..10).for_each(|_| assert_eq!(prove(), expected));
        (0..4).for_each(|_| drop(scope.spawn(run)));
    });
}

/// Parameters and witnesses of another circuit are errors, not proofs.
fn refuses_what_does_not_belong<B: Backend>(backend: &B, one: &Fixture, other: &Fixture) {
    let foreign = backend.load(one.circuit.clone(), other.params.clone());
    assert!(
        matches!(foreign, Err(ProveError::Params(_))),
        "parameters of another circuit"
    );
    let key = load(backend, one);
    let foreign = backend.prove(&key, &other.witness, &Blinding::random());
    assert!(
        matches!(foreign, Err(ProveError::Witness { .. })),
        "witness of another circuit"
    );
    let layout = one.circuit.layout();
    let dense = WitnessLayout::dense(layout.num_inputs(), layout.num_aux());
    let other_layout = Witness::new(Arc::new(dense));
    let foreign = backend.prove(&key, &other_layout, &Blinding::random());
    assert!(
        matches!(foreign, Err(ProveError::Witness { .. })),
        "witness of another layout"
    );
}
