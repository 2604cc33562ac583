//! `cuzk-bench gen-vanilla`: vanilla proofs of sectors that are sealed for the purpose, and synthetic ones.

mod sealed;

use std::path::{Path, PathBuf};
use std::time::Instant;

use cuzk_filecoin::vanilla::SealOptions;
use cuzk_filecoin::vanilla::synthetic::{self, SyntheticOptions};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize};
use serde::Serialize;

use crate::error::Error;
use crate::files;
use crate::output::{self, Output};
use crate::request;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// Seal a sector up to commit phase 1 and write the C1 output in its envelope.
    Porep(SealArgs),
    /// Seal a sector and write its WinningPoSt vanilla proof.
    WinningPost(SealArgs),
    /// Seal two sectors and write the WindowPoSt vanilla proofs of the partition that they fill.
    WindowPost(SealArgs),
    /// Seal a sector, update its data, and write the vanilla proofs of the update.
    SnapProve(SealArgs),
    /// Build a valid vanilla proof of any size from sparse trees, without a sector, in seconds.
    Synthetic(SyntheticArgs),
}

#[derive(clap::Args, Debug)]
struct SealArgs {
    /// Size of the sector, such as 2KiB.
    #[arg(long)]
    sector_size: SectorSize,

    /// Number of the (first) sector.
    #[arg(long, default_value_t = 1)]
    sector_num: u64,

    /// Actor id of the miner.
    #[arg(long, default_value_t = 1000)]
    miner_id: u64,

    /// PoRep: number of the registered seal proof; left out, V1_1 of the size.
    #[arg(long)]
    registered_proof: Option<u64>,

    /// Where to write the C1 output or the JSON array of base64 vanilla proofs.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(clap::Args, Debug)]
struct SyntheticArgs {
    /// What is proved: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND")]
    kind: ProofKind,

    /// Size of the sectors, such as 32GiB.
    #[arg(long)]
    sector_size: SectorSize,

    /// Number of the registered proof; left out, the latest interactive one of the size.
    #[arg(long)]
    registered_proof: Option<u64>,

    /// WindowPoSt: how many sectors; left out, a full partition.
    #[arg(long)]
    sectors: Option<usize>,

    /// WindowPoSt: index of the partition within the deadline.
    #[arg(long, default_value_t = 0)]
    partition: u32,

    /// Number of the (first) sector.
    #[arg(long, default_value_t = 1)]
    sector_num: u64,

    /// Actor id of the miner.
    #[arg(long, default_value_t = 1000)]
    miner_id: u64,

    /// Seed of all values.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Where to write the C1 output or the JSON array of base64 vanilla proofs.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Report {
    out: PathBuf,
    bytes: usize,
    circuit_id: String,
    sector_num: u64,
    miner_id: u64,
    seconds: f64,
    /// The options that `single` needs for this proof.
    request_options: Vec<String>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    match &args.what {
        What::Porep(args) => sealed(ProofKind::PoRep, args, output),
        What::WinningPost(args) => sealed(ProofKind::WinningPoSt, args, output),
        What::WindowPost(args) => sealed(ProofKind::WindowPoSt, args, output),
        What::SnapProve(args) => sealed(ProofKind::SnapDeals, args, output),
        What::Synthetic(args) => synthetic(args, output),
    }
}

fn sealed(kind: ProofKind, args: &SealArgs, output: Output) -> Result<(), Error> {
    let id = CircuitId::new(kind, args.sector_size);
    let options = SealOptions {
        registered_proof: args.registered_proof,
        sector_number: args.sector_num,
        miner_id: args.miner_id,
        ..SealOptions::default()
    };
    let start = Instant::now();
    let request = seal(id, &options)?;
    write(id, &request, start, &args.out, output)
}

fn synthetic(args: &SyntheticArgs, output: Output) -> Result<(), Error> {
    let id = CircuitId::new(args.kind, args.sector_size);
    let options = SyntheticOptions {
        registered_proof: args.registered_proof,
        miner_id: args.miner_id,
        sector_number: args.sector_num,
        sectors: args.sectors,
        partition_index: args.partition,
        seed: args.seed,
    };
    let start = Instant::now();
    let request = synthetic::request(id, &options)
        .map_err(|cause| Error::Failed(format!("vanilla proof for {id}: {cause}")))?;
    write(id, &request, start, &args.out, output)
}

fn write(
    id: CircuitId,
    request: &ProofRequest,
    start: Instant,
    out: &Path,
    output: Output,
) -> Result<(), Error> {
    let seconds = start.elapsed().as_secs_f64();
    let content = request::file_content(request)?;
    files::write_whole(out, &content)?;
    let report = Report {
        out: out.to_owned(),
        bytes: content.len(),
        circuit_id: id.to_string(),
        sector_num: request.sector_number,
        miner_id: request.miner_id,
        seconds,
        request_options: request::options(request, out),
    };
    output.print(&report, |report| {
        println!(
            "made for {} (miner {}) in {:.1} s",
            report.circuit_id, report.miner_id, report.seconds
        );
        println!(
            "file:    {} ({})",
            report.out.display(),
            output::bytes(report.bytes as u64)
        );
        println!("options: {}", report.request_options.join(" "));
    })
}

/// Seals what the circuit proves, in a temporary folder, and returns a request for it.
pub(crate) fn seal(id: CircuitId, options: &SealOptions) -> Result<ProofRequest, Error> {
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    sealed::request(id, options, folder.path())
        .map_err(|cause| Error::Failed(format!("sealing for {id}: {cause}")))
}
