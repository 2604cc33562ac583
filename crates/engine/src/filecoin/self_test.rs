//! A small proof that every device must get right before it gets work.

use std::sync::Arc;

use bellpepper_core::{ConstraintSystem, SynthesisError};
use cuzk_groth16::{
    Backend, Blinding, CpuBackend, NoProgress, ParameterFile, PreparedVerifyingKey, Proof, setup,
    verify,
};
use cuzk_r1cs::{R1cs, Scalar, Witness, WitnessAssigner, compile};
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::Device;

/// Rows of each sort: enough that buckets, bit sums and several levels of the transforms take part.
const ROWS: u64 = 300;
/// Any fixed number: the test is the same every time.
const SEED: u64 = 0x00c0_ffee;

/// A circuit with parameters, a witness, and the proof that must come out for a fixed blinding.
pub(super) struct SelfTest {
    circuit: Arc<R1cs>,
    params: Arc<ParameterFile>,
    witness: Witness,
    blinding: Blinding,
    expected: Proof,
    public: Vec<Scalar>,
}

impl SelfTest {
    /// Sets the test up. The expected proof is the CPU's, and it is verified.
    pub(super) fn new() -> Result<Self, String> {
        let circuit = compile(synthesize).map_err(|e| e.to_string())?;
        let mut witness = Witness::new(circuit.layout().clone());
        let mut assigner = WitnessAssigner::new(&mut witness);
        synthesize(&mut assigner).map_err(|e| e.to_string())?;
        assigner.finish().map_err(|e| e.to_string())?;
        circuit.check(&witness).map_err(|e| e.to_string())?;

        let circuit = Arc::new(circuit);
        let params = Arc::new(parameters(&circuit)?);
        let blinding = Blinding::from_rng(StdRng::seed_from_u64(SEED));
        let cpu = CpuBackend::new();
        let expected = cpu
            .load(circuit.clone(), params.clone())
            .and_then(|key| cpu.prove(&key, &witness, &blinding))
            .map_err(|e| e.to_string())?;
        let test = Self {
            public: witness.inputs()[1..].to_vec(),
            circuit,
            params,
            witness,
            blinding,
            expected,
        };
        test.check(&test.expected)?;
        Ok(test)
    }

    /// Proves on a device and compares, byte for byte.
    pub(super) fn run(&self, device: &dyn Device) -> Result<(), String> {
        let key = device
            .load(self.circuit.clone(), self.params.clone(), &|_| Ok(()))
            .map_err(|e| format!("self-test: {e}"))?;
        let proof = key
            .prove(&self.witness, &self.blinding)
            .map_err(|e| format!("self-test: {e}"))?;
        if proof.to_bytes() != self.expected.to_bytes() {
            return Err("self-test: the proof is not the one that the CPU makes".into());
        }
        self.check(&proof)
    }

    fn check(&self, proof: &Proof) -> Result<(), String> {
        let vk = PreparedVerifyingKey::new(self.params.vk());
        verify(&vk, &self.public, proof).map_err(|e| format!("self-test: {e}"))
    }
}

/// Developer parameters with a fixed seed. They guard nothing but this test; the mapping outlives the file's name.
fn parameters(circuit: &R1cs) -> Result<ParameterFile, String> {
    let file = tempfile::NamedTempFile::new().map_err(|e| format!("self-test: {e}"))?;
    let mut out = std::io::BufWriter::new(file.as_file());
    let rng = StdRng::seed_from_u64(SEED);
    setup::generate(circuit, rng, &mut out, &NoProgress).map_err(|e| e.to_string())?;
    std::io::Write::flush(&mut out).map_err(|e| e.to_string())?;
    drop(out);
    ParameterFile::open(file.path()).map_err(|e| e.to_string())
}

/// A chain of squarings, `x ← x² + i`, with wide values, beside a row of bits; the chain's end is public.
fn synthesize<CS: ConstraintSystem<Scalar>>(cs: &mut CS) -> Result<(), SynthesisError> {
    for i in 0..ROWS {
        let value = Scalar::from(i.count_ones() as u64 & 1);
        let bit = cs.alloc(|| "bit", || Ok(value))?;
        cs.enforce(
            || "boolean",
            |lc| lc + bit,
            |lc| lc + CS::one() - bit,
            |lc| lc,
        );
    }
    let mut x = Scalar::from(3);
    let mut variable = cs.alloc(|| "start", || Ok(x))?;
    for i in 0..ROWS {
        let step = Scalar::from(i);
        let next = x * x + step;
        let end = cs.alloc(|| "square", || Ok(next))?;
        cs.enforce(
            || "step",
            |lc| lc + variable,
            |lc| lc + variable,
            |lc| lc + end - (step, CS::one()),
        );
        (x, variable) = (next, end);
    }
    let public = cs.alloc_input(|| "end", || Ok(x))?;
    cs.enforce(
        || "public end",
        |lc| lc + variable,
        |lc| lc + CS::one(),
        |lc| lc + public,
    );
    Ok(())
}
