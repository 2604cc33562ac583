//! Before any proof: the circuit, its developer parameters on every GPU, and keys from them.

use std::sync::Mutex;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use cuzk_cuda::DeviceParameters;
use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{CircuitId, ProofRequest};
use cuzk_groth16::setup::{Qap, ToxicWaste};
use cuzk_groth16::{PreparedVerifyingKey, Progress, VerifyingKey};
use cuzk_r1cs::R1cs;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::Args;
use super::partition::{self, Compared};
use super::pipeline::{Circuit, Prover};
use super::report::{Setup, print_setup};
use crate::error::Error;
use crate::gpu::{Gpu, failed};
use crate::output::Output;
use crate::parameters;

/// What was set up.
pub(super) struct Begun {
    circuit: Circuit,
    vk: VerifyingKey,
    made: Vec<(Gpu, DeviceParameters)>,
    setup: Setup,
}

/// What is left of it when the bases are where they stay.
pub(super) struct Ready {
    /// What the GPUs are.
    pub(super) gpus: Vec<String>,
    pub(super) vk: VerifyingKey,
    pub(super) setup: Setup,
    /// One partition in several ways.
    pub(super) compared: Vec<Compared>,
    /// For whole proofs, if there are still bases.
    pub(super) provers: Option<(Arc<Circuit>, Vec<Arc<Prover>>)>,
}

/// Compiles the circuit, or reads it, and makes its parameters on the devices.
pub(super) fn set_up(args: &Args, id: CircuitId, output: Output) -> Result<Begun, Error> {
    let ordinals = args.ordinals()?;
    let gpus: Result<Vec<Gpu>, Error> = ordinals
        .iter()
        .map(|&ordinal| args.gpu.open_numbered(ordinal))
        .collect();
    let gpus = gpus?;
    let start = Instant::now();
    let circuit = match &args.circuit {
        Some(file) => R1cs::read_from(file).map_err(|cause| failed("compiled circuit", &cause))?,
        None => parameters::compile(id)?,
    };
    let generator =
        Generator::bind(&circuit, id).map_err(|cause| failed("witness generator", &cause))?;
    let compile_seconds = start.elapsed().as_secs_f64();
    if output.is_text() {
        println!("{id} ready in {compile_seconds:.1} s");
    }

    let start = Instant::now();
    let (made, phases) = make_parameters(args, output, gpus, &circuit)?;
    let setup = Setup {
        compile_seconds,
        phases,
        setup_seconds: start.elapsed().as_secs_f64(),
        bases_bytes: made[0].1.bases.bytes(),
    };
    if output.is_text() {
        print_setup(&setup);
    }
    let vk = made[0].1.vk.clone();
    Ok(Begun {
        circuit: Circuit {
            id,
            r1cs: Arc::new(circuit),
            generator,
            vk: PreparedVerifyingKey::new(&vk),
            idle: Mutex::default(),
        },
        vk,
        made,
        setup,
    })
}

/// The QAP is evaluated once; then every GPU multiplies for itself, all at the same time.
#[expect(clippy::type_complexity, reason = "taken apart at once")]
fn make_parameters(
    args: &Args,
    output: Output,
    gpus: Vec<Gpu>,
    circuit: &R1cs,
) -> Result<(Vec<(Gpu, DeviceParameters)>, Vec<(String, f64)>), Error> {
    let toxic = ToxicWaste::random(ChaCha20Rng::seed_from_u64(args.seed));
    let phases = Phases::new(output, String::new());
    let qap = Qap::evaluate(circuit, &toxic, &phases).map_err(|cause| failed("setup", &cause))?;
    let mut all_phases = phases.finish();
    let several = gpus.len() > 1;
    let make = |gpu: Gpu| {
        let name = match several {
            true => format!("GPU {}: ", gpu.identity().ordinal),
            false => String::new(),
        };
        let phases = Phases::new(output, name);
        let log_domain = circuit.log_domain();
        let made = DeviceParameters::from_qap(&gpu.device, log_domain, &qap, &toxic, &phases)
            .map_err(|cause| failed("setup", &cause))?;
        Ok(((gpu, made), phases.finish()))
    };
    let made: Vec<Result<_, Error>> = std::thread::scope(|scope| {
        let make = &make;
        let threads: Vec<_> = gpus
            .into_iter()
            .map(|gpu| scope.spawn(move || make(gpu)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|made| made.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut all = Vec::new();
    for made in made {
        let (made, phases) = made?;
        all.push(made);
        all_phases.extend(phases);
    }
    Ok((all, all_phases))
}

impl Begun {
    /// Proves one partition on the first GPU in the ways that the options ask for, and makes keys for whole proofs.
    pub(super) fn compare(
        self,
        args: &Args,
        output: Output,
        job: (CircuitId, &ProofRequest),
    ) -> Result<Ready, Error> {
        let Self {
            circuit,
            vk,
            made,
            setup,
        } = self;
        let gpus = made.iter().map(|(gpu, _)| gpu.identity().to_string());
        let gpus = gpus.collect();
        let (mut provers, mut compared) = (Some(Vec::new()), Vec::new());
        for (place, (gpu, made)) in made.into_iter().enumerate() {
            let r1cs = circuit.r1cs.clone();
            let key = if place > 0 || (args.caps.is_empty() && !args.compare_cpu) {
                Some(gpu.backend.adopt(r1cs, made))
            } else {
                let (host, ways) = partition::compare(args, output, &gpu, &r1cs, job, made)?;
                compared = ways;
                host.map(|host| gpu.backend.adopt_host(r1cs, vk.clone(), &host))
            };
            let key = key.transpose();
            let key = key.map_err(|cause| failed("resident key", &cause))?;
            provers = provers.zip(key).map(|(mut provers, key)| {
                provers.push(Arc::new(Prover { gpu, key }));
                provers
            });
        }
        Ok(Ready {
            gpus,
            vk,
            setup,
            compared,
            provers: provers.map(|provers| (Arc::new(circuit), provers)),
        })
    }
}

/// Seconds of each phase of the setup.
struct Phases {
    output: Output,
    /// In front of the phases' names.
    of: String,
    begun: Mutex<Vec<(String, Instant)>>,
}

impl Phases {
    fn new(output: Output, of: String) -> Self {
        Self {
            output,
            of,
            begun: Mutex::default(),
        }
    }

    fn finish(self) -> Vec<(String, f64)> {
        let begun = self
            .begun
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let ends = begun.iter().skip(1).map(|(_, at)| *at);
        let ends = ends.chain(std::iter::once(Instant::now()));
        begun
            .iter()
            .zip(ends)
            .map(|((name, at), end)| (name.clone(), (end - *at).as_secs_f64()))
            .collect()
    }
}

impl Progress for Phases {
    fn begin(&self, phase: &str, _total: u64) {
        let phase = format!("{}{phase}", self.of);
        if self.output.is_text() {
            println!("  {phase}");
        }
        if let Ok(mut begun) = self.begun.lock() {
            begun.push((phase, Instant::now()));
        }
    }

    fn advance(&self, _count: u64) {}
}
