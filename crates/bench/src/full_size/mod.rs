//! `cuzk-bench full-size`: proofs at the size that is on the chain, from request bytes to upstream's verdict.
//!
//! No parameter file is needed: a developer setup on the GPU puts the proving key where it is used, and the verifying key
//! goes to a file for filecoin-proofs' verifier. The request is synthetic and valid. The engine schedules as it does in the
//! daemon; only the wire is left out.

mod partition;
mod pipeline;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_cuda::{CudaKey, DeviceParameters};
use cuzk_engine::{Engine, Limits, Outcome, Settings, Submission, Waited};
use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::vanilla::synthetic::{self, SyntheticOptions};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize};
use cuzk_groth16::setup::ToxicWaste;
use cuzk_groth16::{PreparedVerifyingKey, Progress, VerifyingKey};
use cuzk_r1cs::R1cs;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use tokio::task::JoinSet;

use crate::client::block_on;
use crate::error::Error;
use crate::gpu::{Gpu, GpuArgs, Size, failed};
use crate::memory::{PeakMemory, Sampler};
use crate::output::Output;
use crate::parameters::{self, Files};
use crate::{files, request, verify};
use partition::Compared;
use pipeline::FullSize;
use report::{Proved, Report, Setup, Sustained, Whole, print_setup, print_text, say};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What is proved: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND", default_value = "porep")]
    kind: ProofKind,

    /// Size of the sectors.
    #[arg(long, default_value = "32GiB")]
    sector_size: SectorSize,

    #[command(flatten)]
    gpu: GpuArgs,

    /// Compiled before by `cuzk-bench compile --out FILE`.
    #[arg(long, value_name = "FILE")]
    circuit: Option<PathBuf>,

    /// Proves one partition first, then again as on GPUs with so much memory: the proofs must be equal.
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    caps: Vec<Size>,

    /// Writes the parameters into a file in memory, loads them on the GPU and proves the partition, and proves it on the
    /// CPU: the proofs must be equal.
    #[arg(long)]
    compare_cpu: bool,

    /// Whole proofs one after the other, from request bytes to bytes of a verified proof. 0: no whole proofs.
    #[arg(long, default_value_t = 2)]
    single: u32,

    /// Proofs back to back after that.
    #[arg(long, default_value_t = 20)]
    proofs: u32,

    /// How many of them are in flight at a time.
    #[arg(short = 'j', long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,

    /// Seed of the parameters.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Do not ask filecoin-proofs about a proof.
    #[arg(long)]
    no_verify: bool,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let id = CircuitId::new(args.kind, args.sector_size);
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    let begun = set_up(args, id, output)?;
    let request = synthetic::request(id, &SyntheticOptions::default())
        .map_err(|cause| failed("synthetic request", &cause))?;
    let request = Arc::new(request);
    let vk = begun.made.vk.clone();
    let (ready, key, compared) = begun.compare(args, output, (id, &request))?;
    let mut report = Report {
        circuit_id: id.to_string(),
        gpu: ready.gpu.identity().to_string(),
        request_bytes: request.vanilla_proofs.iter().map(Vec::len).sum(),
        setup: ready.setup,
        compared,
        whole: None,
        accepted_by_upstream: None,
        host_peak: PeakMemory::of_this_process(),
    };
    if let Some(key) = key.filter(|_| args.single > 0) {
        let plan = key.resident().plan().to_string();
        if output.is_text() {
            println!("plan: {plan}");
        }
        let prover = FullSize {
            id,
            gpu: ready.gpu,
            circuit: ready.circuit,
            generator: ready.generator,
            key: Arc::new(key),
            vk: PreparedVerifyingKey::new(&vk),
            idle: Default::default(),
        };
        let (whole, proof) = prove_whole(args, prover, plan, &request, folder.path(), output)?;
        if !args.no_verify {
            ask_upstream(id, &vk, &request, &proof, folder.path())?;
            report.accepted_by_upstream = Some(true);
        }
        report.whole = Some(whole);
    }
    report.host_peak = PeakMemory::of_this_process();
    output.print(&report, print_text)
}

/// Whole proofs through the engine; returns the first as well.
fn prove_whole(
    args: &Args,
    prover: FullSize,
    plan: String,
    request: &Arc<ProofRequest>,
    folder: &Path,
    output: Output,
) -> Result<(Whole, Vec<u8>), Error> {
    let sampler = Sampler::start();
    let engine = start(prover, folder)?;
    let mut single = Vec::new();
    for _ in 0..args.single {
        let proved = block_on(prove(engine.clone(), request.clone()))?;
        say(output, "single", &proved);
        single.push(proved);
    }
    let sustained = match args.proofs {
        0 => None,
        _ => Some(block_on(sustain(args, &engine, request, output))?),
    };
    let host_private_bytes = sampler.finish();
    let device = engine.status().devices.swap_remove(0).info;
    engine.close();
    let proof = single[0].proof.clone();
    let whole = Whole {
        plan,
        partitions: proof.len() / cuzk_groth16::PROOF_BYTES,
        single,
        sustained,
        device_bytes_used: device.memory_total - device.memory_free,
        device_bytes: device.memory_total,
        host_private_bytes,
    };
    Ok((whole, proof))
}

/// What is left of it when the bases are where they stay.
struct Ready {
    gpu: Gpu,
    circuit: Arc<R1cs>,
    generator: Generator,
    setup: Setup,
}

/// What was set up.
struct Begun {
    gpu: Gpu,
    circuit: Arc<R1cs>,
    generator: Generator,
    made: DeviceParameters,
    setup: Setup,
}

/// Compiles the circuit, or reads it, and makes its parameters on the device.
fn set_up(args: &Args, id: CircuitId, output: Output) -> Result<Begun, Error> {
    let gpu = args.gpu.open()?;
    let start = Instant::now();
    let circuit = match &args.circuit {
        Some(file) => R1cs::read_from(file).map_err(|cause| failed("compiled circuit", &cause))?,
        None => parameters::compile(id)?,
    };
    let circuit = Arc::new(circuit);
    let generator =
        Generator::bind(&circuit, id).map_err(|cause| failed("witness generator", &cause))?;
    let compile_seconds = start.elapsed().as_secs_f64();
    if output.is_text() {
        println!("{id} ready in {compile_seconds:.1} s");
    }

    let start = Instant::now();
    let toxic = ToxicWaste::random(ChaCha20Rng::seed_from_u64(args.seed));
    let phases = Phases::new(output);
    let made = DeviceParameters::generate(&gpu.device, &circuit, &toxic, &phases)
        .map_err(|cause| failed("setup", &cause))?;
    let setup = Setup {
        compile_seconds,
        phases: phases.finish(),
        setup_seconds: start.elapsed().as_secs_f64(),
        bases_bytes: made.bases.bytes(),
    };
    if output.is_text() {
        print_setup(&setup);
    }
    Ok(Begun {
        gpu,
        circuit,
        generator,
        made,
        setup,
    })
}

impl Begun {
    /// Proves one partition in the ways that the options ask for; returns a key for whole proofs if there are still bases.
    fn compare(
        self,
        args: &Args,
        output: Output,
        job: (CircuitId, &ProofRequest),
    ) -> Result<(Ready, Option<CudaKey>, Vec<Compared>), Error> {
        let Self {
            gpu,
            circuit,
            generator,
            made,
            setup,
        } = self;
        let vk = made.vk.clone();
        let (key, compared) = if args.caps.is_empty() && !args.compare_cpu {
            (Some(gpu.backend.adopt(circuit.clone(), made)), Vec::new())
        } else {
            let (host, compared) = partition::compare(args, output, &gpu, &circuit, job, made)?;
            let key = host.map(|host| gpu.backend.adopt_host(circuit.clone(), vk, &host));
            (key, compared)
        };
        let key = key
            .transpose()
            .map_err(|cause| failed("resident key", &cause))?;
        Ok((
            Ready {
                gpu,
                circuit,
                generator,
                setup,
            },
            key,
            compared,
        ))
    }
}

fn start(prover: FullSize, folder: &Path) -> Result<Engine<FullSize>, Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let limits = Limits {
        decoders: cores,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        memory_bytes: 64 << 30,
        eviction_min_idle: Duration::MAX,
        cpu_threads: cores,
        journal_dir: folder.join("journal"),
    };
    Engine::start(prover, settings).map_err(|cause| failed("engine", &cause))
}

async fn prove(engine: Engine<FullSize>, request: Arc<ProofRequest>) -> Result<Proved, Error> {
    let begun = Instant::now();
    let door = engine.clone();
    let submit = move || {
        door.submit(Submission {
            request_id: String::new(),
            priority: None,
            request: (*request).clone(),
        })
    };
    let submitted = tokio::task::spawn_blocking(submit).await;
    let submitted = submitted.map_err(|cause| failed("submission", &cause))?;
    let job = submitted
        .map_err(|cause| failed("submission", &cause))?
        .job_id;
    let accept_seconds = begun.elapsed().as_secs_f64();
    let waited = engine.wait(job, None).await;
    match waited.map_err(|cause| failed("waiting", &cause))? {
        Waited::Ended(finished) => match &finished.outcome {
            Outcome::Completed { proof } => Ok(Proved {
                accept_seconds,
                seconds: begun.elapsed().as_secs_f64(),
                timings: finished.timings,
                devices: finished.devices.clone(),
                proof: proof.clone(),
            }),
            Outcome::Failed { cause } => Err(failed("proof", cause)),
            Outcome::Cancelled { .. } => Err(Error::Failed("the proof was cancelled".into())),
        },
        Waited::TimedOut => Err(Error::Failed("found a timeout where none was set".into())),
    }
}

/// Many proofs, `-j` of them in flight.
async fn sustain(
    args: &Args,
    engine: &Engine<FullSize>,
    request: &Arc<ProofRequest>,
    output: Output,
) -> Result<Sustained, Error> {
    let begun = Instant::now();
    let (mut running, mut started, mut proofs) = (JoinSet::new(), 0, Vec::new());
    loop {
        while running.len() < args.jobs as usize && started < args.proofs {
            started += 1;
            running.spawn(prove(engine.clone(), request.clone()));
        }
        let Some(proved) = running.join_next().await else {
            break;
        };
        let proved = proved.map_err(|cause| failed("a proof's task", &cause))??;
        say(output, "sustained", &proved);
        proofs.push(proved);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let proving: u64 = proofs.iter().map(|proof| proof.timings.prove_ms).sum();
    Ok(Sustained {
        jobs: args.jobs,
        seconds,
        seconds_per_proof: seconds / f64::from(args.proofs),
        device_busy: proving as f64 / 1e3 / seconds,
        proofs,
    })
}

/// Has filecoin-proofs verify a proof, with the verifying key in a file of upstream's name.
fn ask_upstream(
    id: CircuitId,
    vk: &VerifyingKey,
    request: &ProofRequest,
    proof: &[u8],
    folder: &Path,
) -> Result<(), Error> {
    let [vanilla, proof_file] = ["vanilla", "proof"].map(|name| folder.join(name));
    files::write_whole(&Files::of(id, folder)?.vk, &vk.to_bytes())?;
    files::write_whole(&vanilla, &request::file_content(request)?)?;
    files::write_whole(&proof_file, proof)?;
    let executable: PathBuf = std::env::current_exe()
        .map_err(|source| Error::file(Path::new("this executable"), source))?;
    verify::in_child(&executable, folder, request, &vanilla, &proof_file)
}

/// Seconds of each phase of the setup.
struct Phases {
    output: Output,
    begun: std::sync::Mutex<Vec<(String, Instant)>>,
}

impl Phases {
    fn new(output: Output) -> Self {
        Self {
            output,
            begun: Default::default(),
        }
    }

    fn finish(self) -> Vec<(String, f64)> {
        let begun = self.begun.into_inner().unwrap_or_default();
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
        if self.output.is_text() {
            println!("  {phase}");
        }
        if let Ok(mut begun) = self.begun.lock() {
            begun.push((phase.to_owned(), Instant::now()));
        }
    }

    fn advance(&self, _count: u64) {}
}
