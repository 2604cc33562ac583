//! `cuzk-bench single`: one proof, start to end.

use std::path::PathBuf;
use std::time::Instant;

use cuzk_proto::v1::await_proof_response::Status;
use cuzk_proto::v1::{AwaitProofRequest, AwaitProofResponse, SubmitProofRequest};
use serde::Serialize;

use crate::client::{Client, connect};
use crate::error::Error;
use crate::files;
use crate::output::Output;
use crate::request::RequestArgs;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    request: RequestArgs,

    /// The daemon attaches a repeated id with the same content to the job it made before.
    #[arg(long, default_value = "")]
    request_id: String,

    /// Milliseconds to wait; 0 waits without a limit.
    #[arg(long, default_value_t = 0)]
    timeout_ms: u64,

    /// Write the proof's bytes here.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// How one job ended, and where its time went.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProofResult {
    pub(crate) status: &'static str,
    pub(crate) job_id: String,
    pub(crate) error: String,
    pub(crate) total_ms: u64,
    pub(crate) queue_wait_ms: u64,
    pub(crate) srs_load_ms: u64,
    pub(crate) synthesis_ms: u64,
    pub(crate) gpu_compute_ms: u64,
    pub(crate) wall_ms: u64,
    pub(crate) devices: String,
    pub(crate) proof_bytes: usize,
    #[serde(serialize_with = "hex::serde::serialize")]
    pub(crate) proof: Vec<u8>,
}

pub(crate) async fn run(addr: &str, args: &Args, output: Output) -> Result<(), Error> {
    let mut request = args.request.read_for_wire()?;
    request.request_id.clone_from(&args.request_id);
    let mut client = connect(addr).await?;
    let start = Instant::now();
    let job_id = submit(&mut client, request).await?;
    // Whoever waits long may want to look at the job, or to cancel it.
    eprintln!("job {job_id} is accepted");
    let result = wait(&mut client, job_id, args.timeout_ms, start).await?;
    output.print(&result, print_text)?;
    result.succeeded()?;
    match &args.out {
        Some(path) => files::write_whole(path, &result.proof),
        None => Ok(()),
    }
}

/// Submits a request and waits for its job; the wall time covers both calls.
pub(crate) async fn prove(
    client: &mut Client,
    request: SubmitProofRequest,
) -> Result<ProofResult, Error> {
    let start = Instant::now();
    let job_id = submit(client, request).await?;
    wait(client, job_id, 0, start).await
}

async fn submit(client: &mut Client, request: SubmitProofRequest) -> Result<String, Error> {
    let accepted = client
        .submit_proof(request)
        .await
        .map_err(|status| Error::rpc("SubmitProof", &status))?;
    Ok(accepted.into_inner().job_id)
}

/// Waits for a job, at most so many milliseconds; 0 is no limit.
async fn wait(
    client: &mut Client,
    job_id: String,
    timeout_ms: u64,
    start: Instant,
) -> Result<ProofResult, Error> {
    let answer = client
        .await_proof(AwaitProofRequest { job_id, timeout_ms })
        .await
        .map_err(|status| Error::rpc("AwaitProof", &status))?
        .into_inner();
    Ok(ProofResult::new(answer, start))
}

impl ProofResult {
    fn new(answer: AwaitProofResponse, start: Instant) -> Self {
        Self {
            status: answer.status().as_str_name(),
            job_id: answer.job_id,
            error: answer.error_message,
            total_ms: answer.total_ms,
            queue_wait_ms: answer.queue_wait_ms,
            srs_load_ms: answer.srs_load_ms,
            synthesis_ms: answer.synthesis_ms,
            gpu_compute_ms: answer.gpu_compute_ms,
            wall_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            devices: answer.devices,
            proof_bytes: answer.proof.len(),
            proof: answer.proof,
        }
    }

    /// Milliseconds that the job was worked on.
    pub(crate) fn prove_ms(&self) -> u64 {
        self.total_ms.saturating_sub(self.queue_wait_ms)
    }

    /// An error unless there is a proof.
    pub(crate) fn succeeded(&self) -> Result<(), Error> {
        if self.status == Status::Completed.as_str_name() {
            return Ok(());
        }
        let cause = if self.status == Status::Timeout.as_str_name() {
            "it goes on; wait again with the same --request-id, or end it with `cancel`"
        } else if self.error.is_empty() {
            "no cause given"
        } else {
            &self.error
        };
        Err(Error::Failed(format!(
            "job {} is {}: {cause}",
            self.job_id, self.status
        )))
    }
}

pub(crate) fn print_text(result: &ProofResult) {
    println!("=== Proof Result ===");
    println!("status:    {}", result.status);
    println!("job_id:    {}", result.job_id);
    println!(
        "timings:   total={} ms (queue={} ms, srs={} ms, synth={} ms, gpu={} ms)",
        result.total_ms,
        result.queue_wait_ms,
        result.srs_load_ms,
        result.synthesis_ms,
        result.gpu_compute_ms
    );
    println!("wall time: {} ms", result.wall_ms);
    if !result.error.is_empty() {
        println!("error:     {}", result.error);
    }
    if !result.proof.is_empty() {
        let start = &result.proof[..result.proof.len().min(5)];
        println!(
            "proof:     {} bytes (hex: {}...)",
            result.proof_bytes,
            hex::encode(start)
        );
    }
}
