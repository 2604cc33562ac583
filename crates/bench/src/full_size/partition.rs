//! One partition with the same parameters, witness, r and s in several ways: with all bases on the device, under caps on its
//! memory, from a parameter file, and on the CPU. The proofs must be equal.

use std::fs::File;
use std::sync::Arc;
use std::time::Instant;

use cuzk_cuda::{CudaBackend, CudaKey, DeviceParameters, HostQueries};
use cuzk_filecoin::{CircuitId, ProofRequest, Statement};
use cuzk_groth16::{
    Backend, Blinding, CpuBackend, ParameterFile, PreparedVerifyingKey, Proof, ProveError,
    StageTime, VerifyingKey, verify,
};
use cuzk_r1cs::{R1cs, Witness};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::Serialize;

use super::Args;
use crate::error::Error;
use crate::gpu::{Gpu, failed};
use crate::memory::{PeakMemory, Sampler};
use crate::output::{self, Output};

/// One way, and how its proof compares with the first way's.
#[derive(Serialize)]
pub(super) struct Compared {
    how: String,
    /// Where the bases are.
    plan: Option<String>,
    /// Until the key was ready.
    load_seconds: f64,
    /// Each proof, from the witness.
    proof_seconds: Vec<f64>,
    /// Of each proof, on the CPU alone.
    stages: Vec<Vec<StageTime>>,
    equal: bool,
    /// In use on the device while proving.
    device_bytes: u64,
    /// Of the process while proving, without mapped files.
    host_private_bytes: u64,
}

/// What all ways share.
struct Partition<'a> {
    output: Output,
    gpu: &'a Gpu,
    circuit: &'a Arc<R1cs>,
    witness: Witness,
    blinding: Blinding,
    expected: Option<Proof>,
    compared: Vec<Compared>,
}

/// Proves partition 0 in every way that the options ask for; gives back bases on the host where there are still any.
pub(super) fn compare(
    args: &Args,
    output: Output,
    gpu: &Gpu,
    circuit: &Arc<R1cs>,
    (id, request): (CircuitId, &ProofRequest),
    made: DeviceParameters,
) -> Result<(Option<HostQueries>, Vec<Compared>), Error> {
    let statement = Statement::decode(request)?;
    let mut partition = Partition {
        output,
        gpu,
        circuit,
        witness: crate::conformance::witness(id, &statement, circuit)?,
        blinding: Blinding::from_rng(ChaCha20Rng::seed_from_u64(args.seed)),
        expected: None,
        compared: Vec::new(),
    };
    let vk = made.vk.clone();
    let begun = Instant::now();
    let host = HostQueries::copy_of(&made.bases).map_err(|cause| failed("host memory", &cause))?;
    if output.is_text() {
        let seconds = begun.elapsed().as_secs_f64();
        println!("bases copied to pinned memory in {seconds:.1} s");
    }
    partition.prove_resident(made)?;
    partition.check(&statement, &vk)?;
    for cap in &args.caps {
        partition.prove_capped(cap.0, &vk, &host)?;
    }
    let host = if args.compare_cpu {
        partition.prove_from_file(&vk, host)?;
        None
    } else {
        Some(host)
    };
    match partition.compared.iter().find(|way| !way.equal) {
        Some(way) => Err(Error::Failed(format!(
            "{}: found another proof than with all bases on the GPU, expected the same for the same r and s",
            way.how
        ))),
        None => Ok((host, partition.compared)),
    }
}

impl Partition<'_> {
    fn prove_resident(&mut self, made: DeviceParameters) -> Result<(), Error> {
        let backend = CudaBackend::new(self.gpu.device.clone());
        let backend = backend.map_err(|cause| failed("GPU", &cause))?;
        let begun = Instant::now();
        let key = backend.adopt(self.circuit.clone(), made);
        let key = key.map_err(|cause| failed("resident key", &cause))?;
        self.prove_on_gpu("GPU".into(), &backend, &key, begun)
    }

    fn prove_capped(
        &mut self,
        cap: u64,
        vk: &VerifyingKey,
        host: &HostQueries,
    ) -> Result<(), Error> {
        let backend = CudaBackend::with_memory_cap(self.gpu.device.clone(), Some(cap));
        let backend = backend.map_err(|cause| failed("GPU", &cause))?;
        let how = format!("GPU as one of {}", output::bytes(cap));
        let begun = Instant::now();
        let key = backend.adopt_host(self.circuit.clone(), vk.clone(), host);
        let key = key.map_err(|cause| failed(&how, &cause))?;
        self.prove_on_gpu(how, &backend, &key, begun)
    }

    /// Writes a standard parameter file into memory; proves with it on the GPU, and on the CPU.
    fn prove_from_file(&mut self, vk: &VerifyingKey, host: HostQueries) -> Result<(), Error> {
        let (file, params) = self.write_params(vk, host)?;
        let params = Arc::new(params);
        let backend = CudaBackend::new(self.gpu.device.clone());
        let backend = backend.map_err(|cause| failed("GPU", &cause))?;
        let begun = Instant::now();
        let key = backend.load(self.circuit.clone(), params.clone());
        let key = key.map_err(|cause| failed("loading on the GPU", &cause))?;
        self.prove_on_gpu("GPU from a file".into(), &backend, &key, begun)?;
        drop((key, backend));

        let (cpu, begun) = (CpuBackend::new(), Instant::now());
        let key = cpu.load(self.circuit.clone(), params.clone());
        let key = key.map_err(|cause| failed("CPU", &cause))?;
        let load_seconds = begun.elapsed().as_secs_f64();
        let how = format!("{}, {} threads", cpu.name(), rayon::current_num_threads());
        self.prove(how, None, load_seconds, |witness, blinding| {
            cpu.prove_timed(&key, witness, blinding)
        })?;
        drop(file);
        Ok(())
    }

    fn write_params(
        &self,
        vk: &VerifyingKey,
        host: HostQueries,
    ) -> Result<(File, ParameterFile), Error> {
        let begun = Instant::now();
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let file = rustix::fs::memfd_create("parameters", flags).map(File::from);
        let file = file.map_err(|cause| failed("a file in memory", &cause))?;
        let size = host.write_params(vk, &file);
        let size = size.map_err(|cause| failed("parameters", &cause))?;
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        let params = ParameterFile::open(path).map_err(|cause| failed("parameters", &cause))?;
        if self.output.is_text() {
            println!(
                "parameter file of {} written into memory in {:.1} s",
                output::bytes(size),
                begun.elapsed().as_secs_f64()
            );
        }
        Ok((file, params))
    }

    fn prove_on_gpu(
        &mut self,
        how: String,
        backend: &CudaBackend,
        key: &CudaKey,
        begun: Instant,
    ) -> Result<(), Error> {
        let load_seconds = begun.elapsed().as_secs_f64();
        let plan = Some(key.resident().plan().to_string());
        self.prove(how, plan, load_seconds, |witness, blinding| {
            let proof = backend.prove(key, witness, blinding)?;
            Ok::<_, ProveError>((proof, Vec::new()))
        })
    }

    fn prove<E: std::fmt::Display>(
        &mut self,
        how: String,
        plan: Option<String>,
        load_seconds: f64,
        prove: impl Fn(&Witness, &Blinding) -> Result<(Proof, Vec<StageTime>), E>,
    ) -> Result<(), Error> {
        let sampler = Sampler::start();
        let (mut proof_seconds, mut stages, mut equal) = (Vec::new(), Vec::new(), true);
        // The second one in memory that is there already.
        for _ in 0..2 {
            let begun = Instant::now();
            let proof = prove(&self.witness, &self.blinding);
            proof_seconds.push(begun.elapsed().as_secs_f64());
            let (proof, times) = proof.map_err(|cause| failed(&how, &cause))?;
            stages.extend((!times.is_empty()).then_some(times));
            let expected = self.expected.get_or_insert(proof);
            equal &= proof.to_bytes() == expected.to_bytes();
        }
        let compared = Compared {
            how,
            plan,
            load_seconds,
            proof_seconds,
            stages,
            equal,
            device_bytes: self.gpu.used_memory()?.0,
            host_private_bytes: sampler.finish(),
        };
        if self.output.is_text() {
            print(&compared);
        }
        self.compared.push(compared);
        Ok(())
    }

    /// The first way's proof must verify.
    fn check(&self, statement: &Statement, vk: &VerifyingKey) -> Result<(), Error> {
        let inputs = statement
            .public_inputs(0)
            .map_err(|cause| failed("public inputs", &cause))?;
        let verifies = |proof: &Proof| verify(&PreparedVerifyingKey::new(vk), &inputs, proof);
        match self.expected.as_ref().map(verifies) {
            Some(Ok(())) => Ok(()),
            Some(Err(cause)) => Err(failed("verification of partition 0", &cause)),
            None => Err(Error::Failed("found no proof of partition 0".into())),
        }
    }
}

fn print(compared: &Compared) {
    let seconds: Vec<_> = compared
        .proof_seconds
        .iter()
        .map(|s| format!("{s:.3}"))
        .collect();
    println!(
        "partition, {}: {} s, {}; key {:.1} s, device {}, host {} private ({} at the peak so far)",
        compared.how,
        seconds.join(" "),
        if compared.equal {
            "same bytes"
        } else {
            "OTHER BYTES"
        },
        compared.load_seconds,
        output::bytes(compared.device_bytes),
        output::bytes(compared.host_private_bytes),
        output::bytes(PeakMemory::of_this_process().resident_bytes),
    );
    if let Some(plan) = &compared.plan {
        println!("  plan: {plan}");
    }
    for stages in &compared.stages {
        let one = |stage: &StageTime| {
            let processors = stage.processor_seconds.unwrap_or(f64::NAN);
            format!("{} {:.2} ({processors:.1})", stage.name, stage.seconds)
        };
        let stages: Vec<_> = stages.iter().map(one).collect();
        println!("  seconds (of processors): {}", stages.join(", "));
    }
}
