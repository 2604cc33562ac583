//! This project's side: whole proofs from a daemon, and the proving part alone from the backend.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{CircuitId, ProofRequest, Statement};
use cuzk_groth16::{Backend, Blinding, ParameterFile, PreparedVerifyingKey};
use cuzk_r1cs::Witness;
use serde::{Deserialize, Serialize};

use super::Args;
use crate::client::{block_on, connect};
use crate::daemon::Daemon;
use crate::error::Error;
use crate::gpu::failed;
use crate::memory::PeakMemory;
use crate::parameters::{self, Files};
use crate::request::to_wire;
use crate::single;

/// Whole proofs, one after the other, from one daemon.
#[derive(Debug, Serialize)]
pub(super) struct Service {
    /// In order; circuit and parameters are loaded within the first.
    pub(super) proofs: Vec<Served>,
    /// Of the daemon.
    pub(super) peak_resident_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Served {
    /// From the call that submits the request to the verified proof's bytes.
    pub(super) seconds: f64,
    /// Whole milliseconds, as the service states them.
    pub(super) witness_ms: u64,
    pub(super) proving_ms: u64,
    pub(super) devices: String,
    #[serde(serialize_with = "hex::serde::serialize")]
    pub(super) proof: Vec<u8>,
}

/// Starts a daemon, has it prove, and stops it.
pub(super) fn serve(
    args: &Args,
    request: &ProofRequest,
    param_cache: &Path,
    folder: &Path,
) -> Result<Service, Error> {
    let executable = std::env::current_exe()
        .map_err(|source| Error::file(Path::new("this executable"), source))?;
    let state = folder.join("state").to_string_lossy().into_owned();
    let param_cache = param_cache.to_string_lossy();
    let mut options = vec!["--param-cache", &*param_cache, "--state-dir", &state];
    let config = folder.join("cuzk.toml");
    let path = config.to_string_lossy();
    if let Some(ordinal) = args.gpu.ordinal() {
        let text = format!("[gpus]\ndevices = [{ordinal}]\n");
        crate::files::write_whole(&config, text.as_bytes())?;
        options.extend(["--config", &*path]);
    }
    let daemon = Daemon::start(&executable, &options, &folder.join("daemon.log"))?;
    let proofs = block_on(prove(&daemon.addr(), request, args.proofs_each()))
        .map_err(|error| Error::Failed(format!("{error} (daemon: {})", daemon.log_end())))?;
    let peak = PeakMemory::of(daemon.pid());
    Ok(Service {
        proofs,
        peak_resident_bytes: peak.resident_bytes,
    })
}

async fn prove(addr: &str, request: &ProofRequest, count: u32) -> Result<Vec<Served>, Error> {
    let mut client = connect(addr).await?;
    let mut proofs = Vec::new();
    for _ in 0..count {
        let request = to_wire(request.clone());
        let begun = Instant::now();
        let result = single::prove(&mut client, request).await?;
        let seconds = begun.elapsed().as_secs_f64();
        result.succeeded()?;
        proofs.push(Served {
            seconds,
            witness_ms: result.synthesis_ms,
            proving_ms: result.gpu_compute_ms,
            devices: result.devices,
            proof: result.proof,
        });
    }
    Ok(proofs)
}

/// The two parts of a proof alone.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Parts {
    pub(super) gpu: String,
    pub(super) load_seconds: f64,
    /// In order, the first included.
    pub(super) witness_seconds: Vec<f64>,
    /// From the witness to the proof; the circuit's rows are evaluated within.
    pub(super) proving_seconds: Vec<f64>,
}

/// Makes proofs without the service around them.
pub(super) fn prove_parts(
    args: &Args,
    id: CircuitId,
    request: &ProofRequest,
    param_cache: &Path,
) -> Result<Parts, Error> {
    let gpu = args.gpu.open()?;
    let statement = Statement::decode(request)?;
    let partitions = statement.num_partitions();
    if partitions != 1 {
        return Err(Error::input(
            "--circuit",
            format!("{id}, proved in {partitions} partitions"),
            "one with a single partition",
        ));
    }
    let circuit = Arc::new(parameters::compile(id)?);
    let params = ParameterFile::open(Files::of(id, param_cache)?.params)
        .map_err(|cause| failed("parameters", &cause))?;
    let vk = PreparedVerifyingKey::new(params.vk());
    let begun = Instant::now();
    let key = gpu.backend.load(circuit.clone(), Arc::new(params));
    let key = key.map_err(|cause| failed("loading on the GPU", &cause))?;
    let mut parts = Parts {
        gpu: gpu.identity().to_string(),
        load_seconds: begun.elapsed().as_secs_f64(),
        witness_seconds: Vec::new(),
        proving_seconds: Vec::new(),
    };
    let generator =
        Generator::bind(&circuit, id).map_err(|cause| failed("witness generator", &cause))?;
    let mut witness = Witness::new(circuit.layout().clone());
    for _ in 0..args.proofs_each() {
        let begun = Instant::now();
        let generated = generator.witness(&statement, 0, &mut witness);
        generated.map_err(|cause| failed("witness", &cause))?;
        parts.witness_seconds.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let proof = gpu.backend.prove(&key, &witness, &Blinding::random());
        parts.proving_seconds.push(begun.elapsed().as_secs_f64());
        let proof = proof.map_err(|cause| failed("proof", &cause))?;
        statement
            .verify(&vk, &[proof])
            .map_err(|cause| failed("verification", &cause))?;
    }
    Ok(parts)
}
