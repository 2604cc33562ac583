//! `cuzk-bench cancel`.

use cuzk_proto::v1::CancelProofRequest;
use serde::Serialize;

use crate::client::connect;
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
}

pub(crate) async fn run(addr: &str, args: &Args, output: Output) -> Result<(), Error> {
    let request = CancelProofRequest {
        job_id: args.job_id.clone(),
    };
    let answer = connect(addr)
        .await?
        .cancel_proof(request)
        .await
        .map_err(|status| Error::rpc("CancelProof", &status))?
        .into_inner();
    let cancelled = Cancelled {
        job_id: args.job_id.clone(),
        was_running: answer.was_running,
    };
    output.print(&cancelled, |cancelled| {
        println!("job_id:      {}", cancelled.job_id);
        println!("was running: {}", cancelled.was_running);
    })
}
