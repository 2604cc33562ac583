//! `cuzk-bench full-size`: proofs at the size that is on the chain, from request bytes to upstream's verdict.
//!
//! No parameter file is needed: a developer setup on the GPU puts the proving key where it is used, and the verifying key
//! goes to a file for filecoin-proofs' verifier. The request is synthetic and valid. The engine schedules as it does in the
//! daemon; only the wire is left out.

mod pipeline;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_cuda::DeviceParameters;
use cuzk_engine::{Engine, Limits, Outcome, Settings, Submission, Timings, Waited};
use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::vanilla::synthetic::{self, SyntheticOptions};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize};
use cuzk_groth16::setup::ToxicWaste;
use cuzk_groth16::{PreparedVerifyingKey, Progress, VerifyingKey};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::client::block_on;
use crate::error::Error;
use crate::gpu::{GpuArgs, failed};
use crate::memory::{PeakMemory, Sampler};
use crate::output::{self, Output, median};
use crate::parameters::{self, Files};
use crate::{files, request, verify};
use pipeline::FullSize;

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

    /// Proofs one after the other, from request bytes to bytes of a verified proof.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
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

#[derive(Serialize)]
struct Report {
    circuit_id: String,
    gpu: String,
    setup: Setup,
    partitions: usize,
    request_bytes: usize,
    single: Vec<Proved>,
    sustained: Option<Sustained>,
    accepted_by_upstream: Option<bool>,
    device_bytes_used: u64,
    device_bytes: u64,
    /// While proving, without mapped files.
    host_private_bytes: u64,
    /// Of the whole run, the setup included.
    host_peak: PeakMemory,
}

#[derive(Serialize)]
struct Setup {
    compile_seconds: f64,
    /// By phase.
    phases: Vec<(String, f64)>,
    setup_seconds: f64,
    resident_seconds: f64,
    bases_bytes: u64,
    scratch_bytes: u64,
}

/// One proof.
#[derive(Clone, Serialize)]
struct Proved {
    /// Decoding and checking the request, and writing it to the journal.
    accept_seconds: f64,
    /// From request bytes to the verified proof.
    seconds: f64,
    timings: Timings,
    devices: Vec<String>,
    #[serde(skip)]
    proof: Vec<u8>,
}

#[derive(Serialize)]
struct Sustained {
    jobs: u32,
    seconds: f64,
    seconds_per_proof: f64,
    /// Share of the time that the device was proving.
    device_busy: f64,
    proofs: Vec<Proved>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let id = CircuitId::new(args.kind, args.sector_size);
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    let (prover, vk, setup) = set_up(args, id, output)?;
    let request = synthetic::request(id, &SyntheticOptions::default())
        .map_err(|cause| failed("synthetic request", &cause))?;
    let request = Arc::new(request);

    let sampler = Sampler::start();
    let engine = start(prover, folder.path())?;
    let mut single = Vec::new();
    for _ in 0..args.single {
        let proved = block_on(prove(engine.clone(), request.clone()))?;
        say(output, "single", &proved);
        single.push(proved);
    }
    let sustained = match args.proofs {
        0 => None,
        _ => Some(block_on(sustain(args, &engine, &request, output))?),
    };
    let host_private_bytes = sampler.finish();
    let device = engine.status().devices.swap_remove(0).info;
    engine.close();
    let accepted_by_upstream = if args.no_verify {
        None
    } else {
        ask_upstream(id, &vk, &request, &single[0].proof, folder.path())?;
        Some(true)
    };
    let report = Report {
        circuit_id: id.to_string(),
        gpu: device.name,
        setup,
        partitions: single[0].proof.len() / cuzk_groth16::PROOF_BYTES,
        request_bytes: request.vanilla_proofs.iter().map(Vec::len).sum(),
        single,
        sustained,
        accepted_by_upstream,
        device_bytes_used: device.memory_total - device.memory_free,
        device_bytes: device.memory_total,
        host_private_bytes,
        host_peak: PeakMemory::of_this_process(),
    };
    output.print(&report, print_text)
}

/// Compiles the circuit and makes its parameters on the device.
fn set_up(
    args: &Args,
    id: CircuitId,
    output: Output,
) -> Result<(FullSize, VerifyingKey, Setup), Error> {
    let gpu = args.gpu.open()?;
    let start = Instant::now();
    let circuit = Arc::new(parameters::compile(id)?);
    let generator =
        Generator::bind(&circuit, id).map_err(|cause| failed("witness generator", &cause))?;
    let compile_seconds = start.elapsed().as_secs_f64();
    if output.is_text() {
        println!("{id} compiled in {compile_seconds:.1} s");
    }

    let start = Instant::now();
    let toxic = ToxicWaste::random(ChaCha20Rng::seed_from_u64(args.seed));
    let phases = Phases::new(output);
    let made = DeviceParameters::generate(&gpu.device, &circuit, &toxic, &phases)
        .map_err(|cause| failed("setup", &cause))?;
    let phases = phases.finish();
    let setup_seconds = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let vk = made.vk.clone();
    let key = gpu.backend.adopt(circuit.clone(), made);
    let key = key.map_err(|cause| failed("resident key", &cause))?;
    let setup = Setup {
        compile_seconds,
        phases,
        setup_seconds,
        resident_seconds: start.elapsed().as_secs_f64(),
        bases_bytes: key.resident().bases().bytes(),
        scratch_bytes: key.resident().scratch_bytes(),
    };
    if output.is_text() {
        print_setup(&setup);
    }
    let prover = FullSize {
        id,
        gpu,
        circuit,
        generator,
        key: Arc::new(key),
        vk: PreparedVerifyingKey::new(&vk),
        idle: Default::default(),
    };
    Ok((prover, vk, setup))
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

fn say(output: Output, what: &str, proved: &Proved) {
    if output.is_text() {
        let Timings {
            queue_ms,
            witness_ms,
            prove_ms,
            verify_ms,
            ..
        } = proved.timings;
        println!(
            "{what:9} {:.3} s: accept {:.3} s, queue {queue_ms} ms, witnesses {witness_ms} ms, device {prove_ms} ms, verify {verify_ms} ms",
            proved.seconds, proved.accept_seconds
        );
    }
}

fn print_setup(setup: &Setup) {
    for (phase, seconds) in &setup.phases {
        println!("  {phase:22} {seconds:7.2} s");
    }
    println!(
        "setup {:.1} s, key ready {:.1} s later: bases {}, scratch {}",
        setup.setup_seconds,
        setup.resident_seconds,
        output::bytes(setup.bases_bytes),
        output::bytes(setup.scratch_bytes)
    );
}

fn print_text(report: &Report) {
    println!("circuit:   {} on {}", report.circuit_id, report.gpu);
    println!(
        "request:   {}, {} partitions",
        output::bytes(report.request_bytes as u64),
        report.partitions
    );
    let latency = median(report.single.iter().map(|proved| proved.seconds));
    println!(
        "single:    {latency:.3} s (median of {})",
        report.single.len()
    );
    if let Some(sustained) = &report.sustained {
        println!(
            "sustained: {:.3} s a proof over {}, {} in flight, device busy {:.1}%",
            sustained.seconds_per_proof,
            sustained.proofs.len(),
            sustained.jobs,
            100.0 * sustained.device_busy
        );
    }
    println!(
        "device:    {} of {}",
        output::bytes(report.device_bytes_used),
        output::bytes(report.device_bytes)
    );
    println!(
        "host:      {} private while proving, {} at the setup's peak",
        output::bytes(report.host_private_bytes),
        output::bytes(report.host_peak.resident_bytes)
    );
    let verdict = match report.accepted_by_upstream {
        Some(true) => "ACCEPTED by filecoin-proofs",
        _ => "filecoin-proofs was not asked",
    };
    println!("verdict:   {verdict}");
}
