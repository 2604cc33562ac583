//! `cuzk-bench batch`: many proofs, and the throughput.

use std::time::Instant;

use serde::Serialize;
use tokio::task::JoinSet;

use crate::client::{Client, connect};
use crate::error::Error;
use crate::output::Output;
use crate::request::RequestArgs;
use crate::single::{self, ProofResult};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    request: RequestArgs,

    /// How many proofs.
    #[arg(short, long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// How many of them at a time.
    #[arg(short = 'j', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: u32,
}

#[derive(Serialize)]
struct Report {
    r#type: &'static str,
    count: u32,
    concurrency: u32,
    completed: usize,
    failed: usize,
    total_seconds: f64,
    seconds_per_proof: Option<f64>,
    proofs_per_minute: Option<f64>,
    wall_seconds: Option<Spread>,
    proofs: Vec<Outcome>,
}

/// Over the completed proofs.
#[derive(Serialize)]
struct Spread {
    avg: f64,
    min: f64,
    max: f64,
}

#[derive(Serialize)]
struct Outcome {
    status: &'static str,
    job_id: String,
    error: String,
    wall_seconds: f64,
    prove_ms: u64,
    queue_wait_ms: u64,
    /// The daemon refused the request's content: it would again.
    #[serde(skip)]
    refused: bool,
}

pub(crate) async fn run(addr: &str, args: &Args, output: Output) -> Result<(), Error> {
    let client = connect(addr).await?;
    // The requests are equal but for their ids, which are left empty: each is a job of its own.
    let request = args.request.read_for_wire()?;
    if output.is_text() {
        println!("=== Batch ===");
        println!("type:        {}", args.request.kind.name());
        println!("count:       {}", args.count);
        println!("concurrency: {}", args.concurrency);
    }

    let start = Instant::now();
    let mut started = 0;
    let mut running = JoinSet::new();
    let mut proofs = Vec::new();
    loop {
        while running.len() < args.concurrency as usize && started < args.count {
            started += 1;
            let (mut client, request): (Client, _) = (client.clone(), request.clone());
            running.spawn(async move {
                let start = Instant::now();
                let result = single::prove(&mut client, request).await;
                Outcome::new(result, start)
            });
        }
        let Some(outcome) = running.join_next().await else {
            break;
        };
        let outcome =
            outcome.map_err(|cause| Error::Failed(format!("a request's task died: {cause}")))?;
        if outcome.refused && started < args.count {
            // The others are the same request.
            eprintln!(
                "the request is refused; {} more are not sent",
                args.count - started
            );
            started = args.count;
        }
        proofs.push(outcome);
        if output.is_text() {
            print_outcome(proofs.len(), args.count, &proofs[proofs.len() - 1]);
        }
    }

    let report = Report::new(args, start.elapsed().as_secs_f64(), proofs);
    output.print(&report, print_summary)?;
    match (
        report.proofs.iter().find(|proof| proof.refused),
        report.failed,
    ) {
        (Some(refused), _) => Err(Error::Refused(refused.error.clone())),
        (None, 0) => Ok(()),
        (None, failed) => Err(Error::Failed(format!(
            "{failed} of {} proofs failed",
            report.count
        ))),
    }
}

impl Outcome {
    fn new(result: Result<ProofResult, Error>, start: Instant) -> Self {
        let wall_seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(result) => Self {
                status: result.status,
                prove_ms: result.prove_ms(),
                job_id: result.job_id,
                error: result.error,
                wall_seconds,
                queue_wait_ms: result.queue_wait_ms,
                refused: false,
            },
            Err(error) => Self {
                status: "ERROR",
                job_id: String::new(),
                refused: matches!(error, Error::Refused(_)),
                error: match error {
                    Error::Refused(cause) => cause,
                    other => other.to_string(),
                },
                wall_seconds,
                prove_ms: 0,
                queue_wait_ms: 0,
            },
        }
    }

    fn completed(&self) -> bool {
        self.status == "COMPLETED"
    }
}

impl Report {
    fn new(args: &Args, total_seconds: f64, proofs: Vec<Outcome>) -> Self {
        let walls: Vec<f64> = proofs
            .iter()
            .filter(|p| p.completed())
            .map(|p| p.wall_seconds)
            .collect();
        let completed = walls.len();
        let spread = (completed > 0).then(|| Spread {
            avg: walls.iter().sum::<f64>() / completed as f64,
            min: walls.iter().copied().fold(f64::INFINITY, f64::min),
            max: walls.iter().copied().fold(0.0, f64::max),
        });
        Self {
            r#type: args.request.kind.name(),
            count: args.count,
            concurrency: args.concurrency,
            completed,
            failed: proofs.len() - completed,
            total_seconds,
            seconds_per_proof: (completed > 0).then(|| total_seconds / completed as f64),
            proofs_per_minute: (completed > 0).then(|| completed as f64 * 60.0 / total_seconds),
            wall_seconds: spread,
            proofs,
        }
    }
}

fn print_outcome(number: usize, count: u32, outcome: &Outcome) {
    if outcome.completed() {
        println!(
            "[{number}/{count}] COMPLETED — {:.1}s (prove={} ms, queue={} ms)",
            outcome.wall_seconds, outcome.prove_ms, outcome.queue_wait_ms
        );
    } else {
        println!(
            "[{number}/{count}] {} — {:.1}s ({})",
            outcome.status, outcome.wall_seconds, outcome.error
        );
    }
}

fn print_summary(report: &Report) {
    println!("=== Batch Summary ===");
    println!(
        "completed:   {} ({} failed)",
        report.completed, report.failed
    );
    println!("total time:  {:.1} s", report.total_seconds);
    if let (Some(seconds), Some(rate)) = (report.seconds_per_proof, report.proofs_per_minute) {
        println!("throughput:  {seconds:.2} s/proof, {rate:.2} proofs/min");
    }
    if let Some(wall) = &report.wall_seconds {
        println!(
            "wall time:   avg={:.1}s min={:.1}s max={:.1}s",
            wall.avg, wall.min, wall.max
        );
    }
}
