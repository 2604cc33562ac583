//! Matrix times witness, its transpose, the satisfaction check, and reading a stored circuit; on a circuit
//! of bit operations (packed witness) and one of multiplications (dense witness).
//!
//! `cargo bench -p cuzk-r1cs`

#![allow(clippy::print_stdout)]

use std::time::Instant;

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{ConstraintSystem, SynthesisError, Variable};
use cuzk_r1cs::{Matrix, R1cs, Scalar, Witness, WitnessAssigner, compile};
use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Words of 32 bits, mixed as SHA-256 mixes them: three xors, a choice and a majority a bit.
fn bits<CS: ConstraintSystem<Scalar>>(cs: &mut CS) -> Result<(), SynthesisError> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut word = Vec::new();
    for _ in 0..32 {
        let bit = AllocatedBit::alloc(&mut *cs, Some(rng.gen_bool(0.5)))?;
        word.push(Boolean::from(bit));
    }
    for _ in 0..2000 {
        let mut next = Vec::with_capacity(32);
        for i in 0..32 {
            let [a, b, c] = [0, 7, 18].map(|by| &word[(i + by) % 32]);
            let choice = Boolean::sha256_ch(&mut *cs, a, b, c)?;
            let majority = Boolean::sha256_maj(&mut *cs, a, b, c)?;
            let sum = Boolean::xor(&mut *cs, &choice, &majority)?;
            next.push(Boolean::xor(&mut *cs, &sum, &word[i].not())?);
        }
        word = next;
    }
    Ok(())
}

/// Squares of sums with arbitrary coefficients, as in Poseidon.
fn products<CS: ConstraintSystem<Scalar>>(cs: &mut CS) -> Result<(), SynthesisError> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let coefficients: Vec<_> = (0..500).map(|_| Scalar::random(&mut rng)).collect();
    let mut values: Vec<(Variable, Scalar)> = Vec::new();
    for _ in 0..9 {
        let value = Scalar::random(&mut rng);
        values.push((cs.alloc(|| "", || Ok(value))?, value));
    }
    for _ in 0..50_000 {
        let terms: Vec<_> = values[values.len() - 9..]
            .iter()
            .map(|&(variable, value)| (coefficients[rng.gen_range(0..500)], variable, value))
            .collect();
        let sum: Scalar = terms.iter().map(|&(c, _, value)| c * value).sum();
        let square = cs.alloc(|| "", || Ok(sum.square()))?;
        cs.enforce(
            || "",
            |lc| terms.iter().fold(lc, |lc, &(c, v, _)| lc + (c, v)),
            |lc| terms.iter().fold(lc, |lc, &(c, v, _)| lc + (c, v)),
            |lc| lc + square,
        );
        values.push((square, sum.square()));
    }
    Ok(())
}

/// Prints the best time of several runs, and what that makes an item.
fn time<T>(what: &str, items: u64, mut run: impl FnMut() -> T) {
    const RUNS: usize = 10;
    let best = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            std::hint::black_box(run());
            begun.elapsed()
        })
        .min()
        .expect("at least one run");
    let each = best.as_secs_f64() * 1e9 / items as f64;
    println!(
        "{what:<28}{:>10.3} ms {each:>8.2} ns an item",
        best.as_secs_f64() * 1e3
    );
}

fn measure(name: &str, circuit: &R1cs, witness: &Witness) {
    circuit.check(witness).expect("satisfied");
    let mut out = vec![Scalar::ZERO; circuit.num_rows()];
    for (matrix, entries) in Matrix::ALL.into_iter().zip(circuit.num_nonzeros()) {
        time(&format!("{name}: evaluate {matrix:?}"), entries, || {
            circuit.evaluate(matrix, witness, &mut out);
        });
    }
    let entries = circuit.num_nonzeros()[0];
    time(&format!("{name}: combine rows of A"), entries, || {
        circuit.combine_rows(Matrix::A, &out)
    });
    let rows = circuit.num_rows() as u64;
    time(&format!("{name}: check"), rows, || circuit.check(witness));
    let bytes = circuit.to_bytes();
    time(&format!("{name}: read"), bytes.len() as u64, || {
        R1cs::from_bytes(&bytes)
    });
}

fn packed() {
    let circuit = compile(bits).expect("it compiles");
    let mut witness = Witness::new(circuit.layout().clone());
    bits(&mut WitnessAssigner::new(&mut witness)).expect("values");
    measure("packed", &circuit, &witness);
}

fn dense() {
    let circuit = compile(products).expect("it compiles");
    let mut witness = Witness::new(circuit.layout().clone());
    products(&mut WitnessAssigner::new(&mut witness)).expect("values");
    measure("dense", &circuit, &witness);
}

fn main() {
    packed();
    dense();
}
