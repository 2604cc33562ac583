//! `cuzk-bench gen-vanilla`: vanilla proofs of sectors that are sealed for the purpose, of sectors given as paths, and
//! synthetic ones.

mod commitments;
mod given;
mod options;
mod sealed;

use std::path::{Path, PathBuf};
use std::time::Instant;

use cuzk_filecoin::vanilla::synthetic::{self, SyntheticOptions};
use cuzk_filecoin::vanilla::{SealOptions, VanillaError};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize, Statement};
use serde::Serialize;

use self::options::{PorepArgs, PostArgs, SealArgs, SnapArgs, SyntheticArgs};
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
    /// Write the C1 output, in its envelope, of a sector that is sealed for the purpose or given as paths.
    Porep(PorepArgs),
    /// Write the WinningPoSt vanilla proof of a sector that is sealed for the purpose or given as paths.
    WinningPost(PostArgs),
    /// Write the WindowPoSt vanilla proofs of two sectors sealed for the purpose, or of a partition given as paths.
    WindowPost(PostArgs),
    /// Write the vanilla proofs of an empty sector update that is made for the purpose or given as paths.
    SnapProve(SnapArgs),
    /// Build a valid vanilla proof of any size from sparse trees, without a sector, in seconds.
    Synthetic(SyntheticArgs),
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
    let start = Instant::now();
    let (request, out) = match &args.what {
        What::Porep(args) => (porep(args)?, &args.seal.out),
        What::WinningPost(args) => (post(ProofKind::WinningPoSt, args)?, &args.seal.out),
        What::WindowPost(args) => (post(ProofKind::WindowPoSt, args)?, &args.seal.out),
        What::SnapProve(args) => (snap(args)?, &args.seal.out),
        What::Synthetic(args) => (synthetic(args)?, &args.out),
    };
    write(&request, start, out, output)
}

fn porep(args: &PorepArgs) -> Result<ProofRequest, Error> {
    if args.files.is_given() {
        return checked(given::porep(args)?);
    }
    let default = SealOptions::default();
    let bytes = |option, text: &Option<String>| request::bytes32(option, text.as_deref());
    let options = SealOptions {
        ticket: bytes("--ticket", &args.ticket)?.unwrap_or(default.ticket),
        porep_seed: bytes("--seed", &args.seed)?.unwrap_or(default.porep_seed),
        ..args.seal.options()?
    };
    seal_kept(ProofKind::PoRep, &args.seal, &options, &sealed::RANDOMNESS)
}

fn post(kind: ProofKind, args: &PostArgs) -> Result<ProofRequest, Error> {
    let randomness = request::bytes32("--randomness", args.randomness.as_deref())?;
    let randomness = randomness.unwrap_or(sealed::RANDOMNESS);
    if args.files.is_given() {
        return checked(given::post(kind, args, &randomness)?);
    }
    seal_kept(kind, &args.seal, &args.seal.options()?, &randomness)
}

fn snap(args: &SnapArgs) -> Result<ProofRequest, Error> {
    if args.is_given() {
        return checked(given::snap(args)?);
    }
    let options = args.seal.options()?;
    seal_kept(
        ProofKind::SnapDeals,
        &args.seal,
        &options,
        &sealed::RANDOMNESS,
    )
}

/// Sealing keeps the sector and its trees in memory and takes hours for production sizes, which is other tools' work.
const LARGEST_SEALED: SectorSize = SectorSize::S512MiB;

/// Upstream makes proofs of a sector with another's commitments without complaint; nobody would prove them.
fn checked(request: ProofRequest) -> Result<ProofRequest, Error> {
    Statement::decode(&request)?;
    Ok(request)
}

fn seal_kept(
    kind: ProofKind,
    args: &SealArgs,
    options: &SealOptions,
    randomness: &[u8; 32],
) -> Result<ProofRequest, Error> {
    let size = args.sector_size.ok_or_else(|| {
        let expected = "the size of the sector to seal, or --sealed and --cache of one";
        Error::input("--sector-size", "nothing", expected)
    })?;
    if size.bytes() > LARGEST_SEALED.bytes() {
        let most = LARGEST_SEALED.name();
        return Err(Error::input(
            "--sector-size",
            size.name(),
            format!(
                "at most {most} to seal here; else --sealed and --cache of a sector, or `gen-vanilla synthetic`"
            ),
        ));
    }
    let id = CircuitId::new(kind, size);
    let seal = |folder: &Path| {
        sealed::request(id, args.registered_proof, options, randomness, folder)
            .map_err(|cause| refused(id, cause))
    };
    match &args.keep {
        None => in_temporary_folder(seal),
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
            seal(folder)
        }
    }
}

fn synthetic(args: &SyntheticArgs) -> Result<ProofRequest, Error> {
    let id = CircuitId::new(args.kind, args.sector_size);
    let options = SyntheticOptions {
        registered_proof: args.registered_proof,
        miner_id: args.miner_id,
        sector_number: args.sector_num,
        sectors: args.sectors,
        partition_index: args.partition,
        seed: args.seed,
    };
    synthetic::request(id, &options).map_err(|cause| refused(id, cause))
}

/// Why no vanilla proof of a circuit can be made.
fn refused(id: CircuitId, cause: VanillaError) -> Error {
    match cause {
        VanillaError::Sectors { found, most } => Error::input(
            "--sectors",
            found.to_string(),
            format!("1 to {most} for {id}"),
        ),
        VanillaError::RegisteredProof { found, expected } => {
            Error::input("--registered-proof", found.to_string(), expected)
        }
        other => Error::Failed(format!("{id}: {other}")),
    }
}

fn write(request: &ProofRequest, start: Instant, out: &Path, output: Output) -> Result<(), Error> {
    let seconds = start.elapsed().as_secs_f64();
    let content = request::file_content(request)?;
    files::write_whole(out, &content)?;
    let size = SectorSize::from_bytes(request.sector_size);
    let report = Report {
        out: out.to_owned(),
        bytes: content.len(),
        circuit_id: size.map_or_else(String::new, |size| {
            CircuitId::new(request.kind, size).to_string()
        }),
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

/// A request for sectors that are sealed for it and then dropped.
pub(crate) fn seal(id: CircuitId) -> Result<ProofRequest, Error> {
    let options = SealOptions::default();
    in_temporary_folder(|folder| {
        sealed::request(id, None, &options, &sealed::RANDOMNESS, folder)
            .map_err(|cause| refused(id, cause))
    })
}

fn in_temporary_folder<T>(work: impl FnOnce(&Path) -> Result<T, Error>) -> Result<T, Error> {
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    work(folder.path())
}
