//! Whole proofs through the engine: one after the other, then back to back.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_engine::{DeviceWork, Engine, Limits, Outcome, Settings, Submission, Waited};
use cuzk_filecoin::ProofRequest;
use tokio::task::JoinSet;

use super::Args;
use super::pipeline::{Circuit, FullSize, Prover};
use super::report::{OnGpu, Proved, Share, Sustained, Whole, say};
use crate::client::block_on;
use crate::error::Error;
use crate::gpu::failed;
use crate::memory::Sampler;
use crate::output::Output;

/// Proves as often as the options say; returns the first proof as well.
pub(super) fn prove(
    args: &Args,
    (circuit, provers): (Arc<Circuit>, Vec<Arc<Prover>>),
    request: &Arc<ProofRequest>,
    folder: &Path,
    output: Output,
) -> Result<(Whole, Vec<u8>), Error> {
    if output.is_text() {
        for prover in &provers {
            let (gpu, plan) = (prover.gpu.identity(), prover.key.resident().plan());
            println!("{gpu}: {plan}");
        }
    }
    let sampler = Sampler::start();
    let engine = start(&circuit, &provers, &folder.join("journal"))?;
    let mut single = Vec::new();
    for _ in 0..args.single {
        let proved = block_on(prove_one(engine.clone(), request.clone()))?;
        say(output, "single", &proved);
        single.push(proved);
    }
    let sustained = match args.proofs {
        0 => None,
        _ => Some(block_on(sustain(args, &engine, request, output))?),
    };
    engine.close();
    let on_one = match &sustained {
        Some(_) if args.compare_one => {
            let journal = folder.join("journal of one");
            let engine = start(&circuit, &provers[..1], &journal)?;
            let sustained = block_on(sustain(args, &engine, request, output))?;
            engine.close();
            Some(sustained)
        }
        _ => None,
    };
    let host_private_bytes = sampler.finish();
    let gpus: Result<_, Error> = provers.iter().map(|prover| on_gpu(prover)).collect();
    let proof = single[0].proof.clone();
    let whole = Whole {
        partitions: proof.len() / cuzk_groth16::PROOF_BYTES,
        single,
        times_as_fast_as_one: on_one
            .as_ref()
            .zip(sustained.as_ref())
            .map(|(one, all)| one.seconds_per_proof / all.seconds_per_proof),
        sustained,
        on_one,
        gpus: gpus?,
        host_private_bytes,
    };
    Ok((whole, proof))
}

fn on_gpu(prover: &Prover) -> Result<OnGpu, Error> {
    let (bytes_used, bytes) = prover.gpu.used_memory()?;
    Ok(OnGpu {
        gpu: prover.gpu.identity().to_string(),
        plan: prover.key.resident().plan().to_string(),
        bytes_used,
        bytes,
    })
}

fn start(
    circuit: &Arc<Circuit>,
    provers: &[Arc<Prover>],
    journal: &Path,
) -> Result<Engine<FullSize>, Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let limits = Limits {
        decoders: cores,
        // As in the daemon, whose last device is the CPU.
        ..Limits::for_devices(provers.len() + 1)
    };
    let settings = Settings {
        limits,
        memory_bytes: 64 << 30,
        eviction_min_idle: Duration::MAX,
        cpu_threads: cores,
        journal_dir: journal.into(),
    };
    let pipeline = FullSize {
        circuit: circuit.clone(),
        provers: provers.to_vec(),
    };
    Engine::start(pipeline, settings).map_err(|cause| failed("engine", &cause))
}

async fn prove_one(engine: Engine<FullSize>, request: Arc<ProofRequest>) -> Result<Proved, Error> {
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
    let before = work(engine);
    let begun = Instant::now();
    let (mut running, mut started, mut proofs) = (JoinSet::new(), 0, Vec::new());
    loop {
        while running.len() < args.jobs as usize && started < args.proofs {
            started += 1;
            running.spawn(prove_one(engine.clone(), request.clone()));
        }
        let Some(proved) = running.join_next().await else {
            break;
        };
        let proved = proved.map_err(|cause| failed("a proof's task", &cause))??;
        say(output, "sustained", &proved);
        proofs.push(proved);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let shares: Vec<Share> = work(engine)
        .into_iter()
        .zip(before)
        .map(|((gpu, after), (_, before))| Share {
            gpu,
            partitions: after.proved - before.proved,
            busy: (after.busy_ms - before.busy_ms) as f64 / 1e3 / seconds,
        })
        .collect();
    Ok(Sustained {
        jobs: args.jobs,
        seconds,
        seconds_per_proof: seconds / f64::from(args.proofs),
        device_busy: shares.iter().map(|share| share.busy).sum::<f64>() / shares.len() as f64,
        shares,
        proofs,
    })
}

/// What each GPU has done so far.
fn work(engine: &Engine<FullSize>) -> Vec<(String, DeviceWork)> {
    let devices = engine.status().devices.into_iter();
    devices
        .map(|device| (device.info.name, device.work))
        .collect()
}
