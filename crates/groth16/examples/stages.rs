//! Times the stages of proofs: `cargo run --release -p cuzk-groth16 --example stages -- CIRCUIT PARAMETERS [ISA] [PROOFS]`.
//!
//! CIRCUIT is a compiled circuit as a daemon keeps it. The witness is made up: its bits are random and so are its wide
//! values, which costs a prover what a real one does. It satisfies nothing, and the proofs are invalid.
#![allow(clippy::print_stdout, reason = "a report is what it is for")]

use std::sync::Arc;
use std::time::Instant;

use cuzk_groth16::field::Isa;
use cuzk_groth16::{Backend, Blinding, CpuBackend, ParameterFile, StageTime};
use cuzk_r1cs::{R1cs, Scalar, Witness};
use ff::Field;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random bits, random wide values.
fn made_up(circuit: &R1cs) -> Witness {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut witness = Witness::new(circuit.layout().clone());
    for i in 1..circuit.num_inputs() {
        witness.inputs_mut()[i] = Scalar::random(&mut rng);
    }
    let mask = circuit.layout().mask_words();
    for (i, word) in witness.bits_mut().iter_mut().enumerate() {
        *word = rng.next_u64() & !mask.map_or(u64::MAX, |mask| mask[i]);
    }
    // Bits beyond the last variable stay zero.
    let beyond = circuit.num_aux() % 64;
    if let (Some(last), true) = (witness.bits_mut().last_mut(), beyond > 0) {
        *last &= (1 << beyond) - 1;
    }
    let step = Scalar::random(&mut rng);
    let mut value = Scalar::random(&mut rng);
    for wide in witness.wide_mut() {
        value = value.square() + step;
        *wide = if rng.gen_ratio(1, 100) {
            Scalar::ONE
        } else {
            value
        };
    }
    witness
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [circuit, params, options @ ..] = &arguments[..] else {
        return Err("expected CIRCUIT PARAMETERS [ISA] [PROOFS]".into());
    };
    let isa = options
        .first()
        .map_or(Ok(Isa::detect()), |isa| isa.parse())?;
    let proofs = options.get(1).map_or(Ok(2), |count| count.parse::<u32>())?;
    let circuit = Arc::new(R1cs::read_from(circuit)?);
    let params = Arc::new(ParameterFile::open(params)?);
    let witness = made_up(&circuit);
    let backend = CpuBackend::with_isa(isa);
    let key = backend.load(circuit, params)?;
    let blinding = Blinding::from_rng(ChaCha8Rng::seed_from_u64(2));
    for _ in 0..proofs {
        println!(
            "{}, {} threads",
            backend.name(),
            rayon::current_num_threads()
        );
        let start = Instant::now();
        let (proof, stages) = backend.prove_timed(&key, &witness, &blinding)?;
        let seconds = start.elapsed().as_secs_f64();
        let all = StageTime {
            name: "all",
            seconds,
            processor_seconds: stages.iter().map(|stage| stage.processor_seconds).sum(),
        };
        for stage in stages.iter().chain([&all]) {
            let processors = stage.processor_seconds.unwrap_or(f64::NAN);
            println!(
                "  {:12} {:8.3} s, {processors:8.3} s of processors",
                stage.name, stage.seconds
            );
        }
        println!("  proof {:02x?}...", &proof.to_bytes()[..8]);
    }
    Ok(())
}
