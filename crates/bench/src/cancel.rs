//! `cuzk-bench cancel`.

use cuzk_proto::v1::await_proof_response::Status;
use cuzk_proto::v1::{AwaitProofRequest, CancelProofRequest};
use serde::Serialize;

use crate::client::{Client, connect};
use crate::error::Error;
use crate::output::Output;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The job, as `single` or the daemon's status names it.
    #[arg(long)]
    job_id: String,
}

#[derive(Serialize)]
struct Cancelled {
    job_id: String,
    was_running: bool,
    /// RUNNING or WAITING, and then it is cancelled; or how the job had ended before.
    found: &'static str,
}

pub(crate) async fn run(addr: &str, args: &Args, output: Output) -> Result<(), Error> {
    let mut client = connect(addr).await?;
    let cancelled = cancel(&mut client, args.job_id.clone()).await?;
    output.print(&cancelled, |cancelled| {
        println!("job_id:      {}", cancelled.job_id);
        println!("found:       {}", cancelled.found);
        println!("was running: {}", cancelled.was_running);
        println!("{}", cancelled.sentence());
    })
}

async fn cancel(client: &mut Client, job_id: String) -> Result<Cancelled, Error> {
    let before = end_of(client, &job_id).await?;
    let request = CancelProofRequest {
        job_id: job_id.clone(),
    };
    let answer = client
        .cancel_proof(request)
        .await
        .map_err(|status| Error::rpc("CancelProof", &status))?;
    let was_running = answer.into_inner().was_running;
    let found = match before {
        Some(end) => end.as_str_name(),
        None if was_running => "RUNNING",
        // Waiting, or it ended between the two calls.
        None => match end_of(client, &job_id).await? {
            Some(Status::Cancelled) | None => "WAITING",
            Some(end) => end.as_str_name(),
        },
    };
    Ok(Cancelled {
        job_id,
        was_running,
        found,
    })
}

/// How a job ended, if it did.
async fn end_of(client: &mut Client, job_id: &str) -> Result<Option<Status>, Error> {
    let shortest = AwaitProofRequest {
        job_id: job_id.to_owned(),
        timeout_ms: 1,
    };
    let answer = client
        .await_proof(shortest)
        .await
        .map_err(|status| Error::rpc("AwaitProof", &status))?;
    let status = answer.into_inner().status();
    Ok((status != Status::Timeout).then_some(status))
}

impl Cancelled {
    fn sentence(&self) -> String {
        match self.found {
            "RUNNING" => "the job was being proved and is cancelled".to_owned(),
            "WAITING" => "the job was waiting and is cancelled".to_owned(),
            end => format!("the job had ended ({end}); nothing was cancelled"),
        }
    }
}
