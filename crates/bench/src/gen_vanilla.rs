//! `cuzk-bench gen-vanilla`: vanilla proofs of sectors that are sealed for the purpose.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cuzk_filecoin::SectorSize;
use cuzk_filecoin::vanilla::{SealOptions, seal_porep};
use serde::Serialize;

use crate::error::Error;
use crate::files;
use crate::output::{self, Output};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// Seal a sector with filecoin-proofs up to commit phase 1 and write the C1 output in its envelope.
    Porep(Porep),
}

#[derive(clap::Args, Debug)]
struct Porep {
    /// Size of the sector, such as 2KiB.
    #[arg(long)]
    sector_size: SectorSize,

    /// Sector number.
    #[arg(long, default_value_t = 1)]
    sector_num: u64,

    /// Actor id of the miner.
    #[arg(long, default_value_t = 1000)]
    miner_id: u64,

    /// Where to write the JSON.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Report {
    out: PathBuf,
    bytes: usize,
    sector_size: String,
    sector_num: u64,
    miner_id: u64,
    seconds: f64,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    match &args.what {
        What::Porep(args) => porep(args, output),
    }
}

fn porep(args: &Porep, output: Output) -> Result<(), Error> {
    let start = Instant::now();
    let c1 = seal(args.sector_size, args.sector_num, args.miner_id)?;
    let report = Report {
        out: args.out.clone(),
        bytes: c1.len(),
        sector_size: args.sector_size.to_string(),
        sector_num: args.sector_num,
        miner_id: args.miner_id,
        seconds: start.elapsed().as_secs_f64(),
    };
    files::write_whole(&args.out, &c1)?;
    output.print(&report, |report| {
        println!(
            "sealed a {} sector (number {}, miner {}) in {:.1} s",
            report.sector_size, report.sector_num, report.miner_id, report.seconds
        );
        println!(
            "C1: {} ({})",
            report.out.display(),
            output::bytes(report.bytes as u64)
        );
    })
}

/// Seals a sector in a temporary folder and returns its C1 envelope.
pub(crate) fn seal(size: SectorSize, sector_number: u64, miner_id: u64) -> Result<Vec<u8>, Error> {
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    let options = SealOptions {
        sector_number,
        miner_id,
        ..SealOptions::default()
    };
    seal_porep(size, &options, folder.path())
        .map_err(|cause| Error::Failed(format!("sealing: {cause}")))
}
