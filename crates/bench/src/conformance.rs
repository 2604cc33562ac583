//! `cuzk-bench conformance`: a GPU's proofs against the CPU's, on the circuits of all kinds at 2 KiB.
//!
//! Parameters are a developer setup's, vanilla proofs a really sealed sector's. Same parameters, same witness, same r and s:
//! the proofs must be equal byte for byte, each time, also while other kinds are being proved on the same device, and after
//! the device ran out of memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cuzk_cuda::{CudaKey, DeviceError};
use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{CircuitId, ProofKind, SectorSize, Statement};
use cuzk_groth16::{
    Backend, Blinding, CpuBackend, ParameterFile, PreparedVerifyingKey, Proof, ProveError,
};
use cuzk_r1cs::{R1cs, Witness};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::Serialize;

use crate::error::Error;
use crate::gen_vanilla;
use crate::gpu::{Gpu, GpuArgs, failed};
use crate::output::{self, Output, median};
use crate::parameters::{self, Files};
use crate::progress::Bar;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What to prove: porep, snap, wpost, winning; may be given more than once; left out, all of them.
    #[arg(long = "type", value_name = "KIND")]
    kinds: Vec<ProofKind>,

    #[command(flatten)]
    gpu: GpuArgs,

    /// Folder of the parameter files; made there where they are missing.
    #[arg(long, value_name = "DIR")]
    param_cache: Option<PathBuf>,

    /// How often each proof is made, alone and then beside the others.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Seed of r and s.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Serialize)]
struct Report {
    gpu: String,
    cpu: String,
    kinds: Vec<Compared>,
    /// Proofs made by all kinds at the same time, each from a thread of its own.
    side_by_side: usize,
    /// The error for more memory than the device has.
    out_of_memory: String,
    device_bytes_used: u64,
}

/// One kind, whose proofs were all equal to the CPU's.
#[derive(Serialize)]
struct Compared {
    circuit_id: String,
    parameters_seconds: f64,
    load_seconds: f64,
    witness_ms: f64,
    cpu_ms: f64,
    gpu_first_ms: f64,
    gpu_median_ms: f64,
    rounds: u32,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let all = [
        ProofKind::PoRep,
        ProofKind::SnapDeals,
        ProofKind::WindowPoSt,
        ProofKind::WinningPoSt,
    ];
    let kinds = if args.kinds.is_empty() {
        &all[..]
    } else {
        &args.kinds
    };
    let gpu = args.gpu.open()?;
    let cpu = CpuBackend::new();
    let folder = parameters::cache(args.param_cache.as_deref());
    let blinding = Blinding::from_rng(ChaCha20Rng::seed_from_u64(args.seed));
    let (mut cases, mut compared) = (Vec::new(), Vec::new());
    for kind in kinds {
        let id = CircuitId::new(*kind, SectorSize::S2KiB);
        let (case, report) = Case::check(id, &folder, &gpu, &cpu, &blinding, args.rounds)?;
        if output.is_text() {
            print_case(&report);
        }
        cases.push(case);
        compared.push(report);
    }
    let side_by_side = prove_side_by_side(&cases, &gpu, &blinding, args.rounds)?;
    let out_of_memory = run_out_of_memory(&gpu)?;
    if let Some(case) = cases.first() {
        case.prove(&gpu, &blinding)?;
    }
    let report = Report {
        gpu: gpu.identity().to_string(),
        cpu: cpu.name(),
        kinds: compared,
        side_by_side,
        out_of_memory,
        device_bytes_used: gpu.used_memory()?.0,
    };
    output.print(&report, print_text)
}

/// A proof that the CPU made, and everything the device needs to make it.
struct Case {
    id: CircuitId,
    key: CudaKey,
    witness: Witness,
    expected: Proof,
}

impl Case {
    fn check(
        id: CircuitId,
        folder: &Path,
        gpu: &Gpu,
        cpu: &CpuBackend,
        blinding: &Blinding,
        rounds: u32,
    ) -> Result<(Self, Compared), Error> {
        let say = |what: &str| format!("{id}, {what}");
        let start = Instant::now();
        parameters::make(id, folder, None, &Bar::new())?;
        let parameters_seconds = start.elapsed().as_secs_f64();
        let statement = Statement::decode(&gen_vanilla::seal(id)?)?;
        let circuit = Arc::new(parameters::compile(id)?);
        let params = ParameterFile::open(Files::of(id, folder)?.params)
            .map_err(|cause| failed(&say("parameters"), &cause))?;
        let params = Arc::new(params);

        let start = Instant::now();
        let witness = witness(id, &statement, &circuit)?;
        let witness_ms = ms_since(start);
        let prove_on_cpu = || -> Result<(Proof, f64), ProveError> {
            let key = cpu.load(circuit.clone(), params.clone())?;
            let start = Instant::now();
            Ok((cpu.prove(&key, &witness, blinding)?, ms_since(start)))
        };
        let (expected, cpu_ms) = prove_on_cpu().map_err(|cause| failed(&say("CPU"), &cause))?;
        statement
            .verify(
                &PreparedVerifyingKey::new(params.vk()),
                std::slice::from_ref(&expected),
            )
            .map_err(|cause| failed(&say("verification"), &cause))?;

        let start = Instant::now();
        let key = gpu.backend.load(circuit.clone(), params.clone());
        let key = key.map_err(|cause| failed(&say("loading on the GPU"), &cause))?;
        let load_seconds = start.elapsed().as_secs_f64();
        let case = Self {
            id,
            key,
            witness,
            expected,
        };
        let times = (0..rounds).map(|_| case.prove(gpu, blinding));
        let times = times.collect::<Result<Vec<f64>, Error>>()?;
        let report = Compared {
            circuit_id: id.to_string(),
            parameters_seconds,
            load_seconds,
            witness_ms,
            cpu_ms,
            gpu_first_ms: times[0],
            gpu_median_ms: median(times),
            rounds,
        };
        Ok((case, report))
    }

    /// Proves on the GPU and compares; returns the milliseconds.
    fn prove(&self, gpu: &Gpu, blinding: &Blinding) -> Result<f64, Error> {
        let start = Instant::now();
        let proof = gpu.backend.prove(&self.key, &self.witness, blinding);
        let took = ms_since(start);
        let proof = proof.map_err(|cause| failed(&format!("{} on the GPU", self.id), &cause))?;
        if proof.to_bytes() == self.expected.to_bytes() {
            Ok(took)
        } else {
            Err(Error::Failed(format!(
                "{}: the GPU's proof is not the CPU's for the same r and s",
                self.id
            )))
        }
    }
}

pub(crate) fn witness(
    id: CircuitId,
    statement: &Statement,
    circuit: &R1cs,
) -> Result<Witness, Error> {
    let generator = Generator::bind(circuit, id)
        .map_err(|cause| failed(&format!("{id}, generator"), &cause))?;
    let mut witness = Witness::new(circuit.layout().clone());
    generator
        .witness(statement, 0, &mut witness)
        .map_err(|cause| failed(&format!("{id}, witness"), &cause))?;
    Ok(witness)
}

/// Every kind from a thread of its own, all at the same time; returns the number of proofs.
fn prove_side_by_side(
    cases: &[Case],
    gpu: &Gpu,
    blinding: &Blinding,
    rounds: u32,
) -> Result<usize, Error> {
    let prove = |case: &Case| (0..rounds).try_for_each(|_| case.prove(gpu, blinding).map(drop));
    std::thread::scope(|scope| {
        let threads: Vec<_> = cases
            .iter()
            .map(|case| scope.spawn(|| prove(case)))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    Ok(cases.len() * rounds as usize)
}

/// Asks for more memory than the device has; returns the error, which must be the one for that.
fn run_out_of_memory(gpu: &Gpu) -> Result<String, Error> {
    let (_, total) = gpu.used_memory()?;
    match gpu.device.allocate(total + 1) {
        Err(error @ DeviceError::OutOfMemory { .. }) if error.is_retryable() => {
            Ok(error.to_string())
        }
        Err(other) => Err(failed("more memory than the GPU has", &other)),
        Ok(_) => Err(Error::Failed(format!(
            "the GPU gave {total} bytes and one more"
        ))),
    }
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn print_case(case: &Compared) {
    println!(
        "{:12} equal {} times; parameters {:.1} s, load {:.2} s, witness {:.1} ms, CPU {:.0} ms, GPU {:.1} ms (first {:.1})",
        case.circuit_id,
        case.rounds,
        case.parameters_seconds,
        case.load_seconds,
        case.witness_ms,
        case.cpu_ms,
        case.gpu_median_ms,
        case.gpu_first_ms
    );
}

fn print_text(report: &Report) {
    println!(
        "side by side {} proofs of {} kinds, all equal",
        report.side_by_side,
        report.kinds.len()
    );
    println!("no memory    {}", report.out_of_memory);
    println!(
        "GPU          {}, {} in use",
        report.gpu,
        output::bytes(report.device_bytes_used)
    );
    println!("CPU          {}", report.cpu);
}
