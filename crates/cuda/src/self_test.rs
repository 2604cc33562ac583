//! A small proof, compared with the CPU's before a device is trusted.

use std::sync::Arc;

use bellpepper_core::{ConstraintSystem, LinearCombination};
use blstrs::Scalar;
use cuzk_groth16::{Backend, Blinding, CpuBackend, NoProgress, ParameterFile, setup};
use cuzk_r1cs::{SynthesisError, Variable, Witness, WitnessAssigner};
use ff::Field;

use crate::backend::CudaBackend;
use crate::error::DeviceError;

/// Proves a circuit of some thousand rows, bits and wide values, on the device and on the CPU, and compares the bytes.
///
/// # Errors
/// [`DeviceError::SelfTest`] when they differ, or either could not prove.
pub fn self_test(backend: &CudaBackend) -> Result<(), DeviceError> {
    let device = backend.name();
    run(backend).map_err(|reason| DeviceError::SelfTest { device, reason })
}

fn run(backend: &CudaBackend) -> Result<(), String> {
    let say = |error: &dyn std::fmt::Display| error.to_string();
    let circuit = Arc::new(cuzk_r1cs::compile(synthesize).map_err(|e| say(&e))?);
    let directory = tempfile::tempdir().map_err(|e| say(&e))?;
    let [params, vk] = ["test.params", "test.vk"].map(|name| directory.path().join(name));
    setup::write_files(&circuit, &params, &vk, Some(1), &NoProgress).map_err(|e| say(&e))?;
    let params = Arc::new(ParameterFile::open(params).map_err(|e| say(&e))?);
    let mut witness = Witness::new(circuit.layout().clone());
    let mut assigner = WitnessAssigner::new(&mut witness);
    synthesize(&mut assigner).map_err(|e| say(&e))?;
    assigner.finish().map_err(|e| say(&e))?;

    let blinding = Blinding {
        r: Scalar::from(2),
        s: Scalar::from(3),
    };
    let prove_on_device = || {
        let key = backend.load(circuit.clone(), params.clone())?;
        backend.prove(&key, &witness, &blinding)
    };
    let prove_on_cpu = || {
        let cpu = CpuBackend::new();
        let key = cpu.load(circuit.clone(), params.clone())?;
        cpu.prove(&key, &witness, &blinding)
    };
    let found = prove_on_device().map_err(|e| say(&e))?;
    let expected = prove_on_cpu().map_err(|e| say(&e))?;
    if found != expected {
        return Err("found a proof other than the CPU's, expected the same bytes".into());
    }
    Ok(())
}

/// Bits of a counter, each constrained to be one, and now and then the square of their number.
fn synthesize<CS: ConstraintSystem<Scalar>>(cs: &mut CS) -> Result<(), SynthesisError> {
    const ROUNDS: u64 = 60;
    for round in 0..ROUNDS {
        let number = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        let mut sum = LinearCombination::zero();
        for i in 0..16 {
            let value = Scalar::from(number >> i & 1);
            let bit = cs.alloc(|| format!("bit {i} of {round}"), || Ok(value))?;
            let is_bit = |lc: LinearCombination<Scalar>| lc + bit;
            cs.enforce(
                || format!("bit {i} of {round}"),
                is_bit,
                |lc| lc + CS::one() - bit,
                |lc| lc,
            );
            sum = sum + (Scalar::from(1u64 << i), bit);
        }
        let square = cs.alloc(
            || format!("square {round}"),
            || Ok(Scalar::from(number).square()),
        )?;
        cs.enforce(
            || format!("square {round}"),
            |_| sum.clone(),
            |_| sum.clone(),
            |lc| lc + square,
        );
        expose(cs, round, square, Scalar::from(number).square())?;
    }
    Ok(())
}

/// Some squares are public.
fn expose<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    round: u64,
    square: Variable,
    value: Scalar,
) -> Result<(), SynthesisError> {
    if round.is_multiple_of(20) {
        let input = cs.alloc_input(|| format!("input {round}"), || Ok(value))?;
        cs.enforce(
            || format!("input {round}"),
            |lc| lc + square,
            |lc| lc + CS::one(),
            |lc| lc + input,
        );
    }
    Ok(())
}
