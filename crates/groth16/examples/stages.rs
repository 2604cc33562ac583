//! Times the stages of proofs: `cargo run --release -p cuzk-groth16 --example stages -- CIRCUIT PARAMETERS [ISA] [PROOFS]`.
//!
//! CIRCUIT is a compiled circuit as a daemon keeps it. The witness is made up: its bits are random and so are its wide
//! values, which costs a prover what a real one does. It satisfies nothing, and the proofs are invalid.
#![allow(clippy::print_stdout, reason = "a report is what it is for")]

use std::sync::{Arc, Mutex};
use std::time::Instant;

use cuzk_groth16::field::Isa;
use cuzk_groth16::{Backend, Blinding, CpuBackend, ParameterFile};
use cuzk_r1cs::{R1cs, Scalar, Witness};
use ff::Field;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tracing::field::{Field as Name, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A moment: on the wall's clock, and seconds of processor time that all threads have used by then (Linux only).
struct Moment(Instant, f64);

impl Moment {
    fn now() -> Self {
        let tasks = std::fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .flatten();
        let on_cpu = |task: std::fs::DirEntry| -> Option<f64> {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse().ok()
        };
        Moment(Instant::now(), tasks.filter_map(on_cpu).sum::<f64>() * 1e-9)
    }

    fn print_since(&self, name: &str) {
        let now = Moment::now();
        let (wall, cpu) = (now.0 - self.0, now.1 - self.1);
        println!(
            "  {name:12} {:8.3} s, {cpu:8.3} s of processors",
            wall.as_secs_f64()
        );
    }
}

/// Prints how long each span named "stage" was entered.
#[derive(Default)]
struct Stopwatch {
    spans: Mutex<Vec<(String, Option<Moment>)>>,
}

struct StageName(String);

impl Visit for StageName {
    fn record_debug(&mut self, field: &Name, value: &dyn std::fmt::Debug) {
        if field.name() == "name" {
            self.0 = format!("{value:?}");
        }
    }
    fn record_str(&mut self, field: &Name, value: &str) {
        if field.name() == "name" {
            self.0 = value.to_owned();
        }
    }
}

impl Subscriber for Stopwatch {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.name() == "stage"
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut name = StageName(String::new());
        span.record(&mut name);
        let mut spans = self.spans.lock().expect("no panic while locked");
        spans.push((name.0, None));
        Id::from_u64(spans.len() as u64)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, id: &Id) {
        let mut spans = self.spans.lock().expect("no panic while locked");
        spans[id.into_u64() as usize - 1].1 = Some(Moment::now());
    }
    fn exit(&self, id: &Id) {
        let mut spans = self.spans.lock().expect("no panic while locked");
        let (name, start) = &mut spans[id.into_u64() as usize - 1];
        if let Some(start) = start.take() {
            start.print_since(name);
        }
    }
}

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
    tracing::subscriber::set_global_default(Stopwatch::default())?;
    for _ in 0..proofs {
        println!(
            "{}, {} threads",
            backend.name(),
            rayon::current_num_threads()
        );
        let start = Moment::now();
        let proof = backend.prove(&key, &witness, &blinding)?;
        start.print_since("all");
        println!("  proof {:02x?}...", &proof.to_bytes()[..8]);
    }
    Ok(())
}
