//! `cuzk-bench full-size`: proofs at the size that is on the chain, from request bytes to upstream's verdict.
//!
//! No parameter file is needed: a developer setup on the GPUs puts the proving key where it is used, and the verifying key
//! goes to a file for filecoin-proofs' verifier. The request is synthetic and valid. The engine schedules as it does in the
//! daemon; only the wire is left out.

mod partition;
mod pipeline;
mod report;
mod set_up;
mod whole;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuzk_filecoin::vanilla::synthetic::{self, SyntheticOptions};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize};
use cuzk_groth16::VerifyingKey;

use crate::error::Error;
use crate::gpu::{GpuArgs, Size, failed};
use crate::memory::PeakMemory;
use crate::output::Output;
use crate::parameters::Files;
use crate::{files, request, verify};
use report::{Report, print_text};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What is proved: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND", default_value = "porep")]
    kind: ProofKind,

    /// Size of the sectors.
    #[arg(long, default_value = "32GiB")]
    sector_size: SectorSize,

    #[command(flatten)]
    gpu: GpuArgs,

    /// Several GPUs by their numbers, such as 0,1: each gets a key of its own, and partitions are spread over them.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "device"
    )]
    devices: Vec<u32>,

    /// The proofs back to back once more on the first GPU alone: how many times as fast are all of them together?
    #[arg(long)]
    compare_one: bool,

    /// Compiled before by `cuzk-bench compile --out FILE`.
    #[arg(long, value_name = "FILE")]
    circuit: Option<PathBuf>,

    /// Proves one partition first, then again as on GPUs with so much memory: the proofs must be equal.
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    caps: Vec<Size>,

    /// Writes the parameters into a file in memory, loads them on the GPU and proves the partition, and proves it on the
    /// CPU: the proofs must be equal.
    #[arg(long)]
    compare_cpu: bool,

    /// Whole proofs one after the other, from request bytes to bytes of a verified proof. 0: no whole proofs.
    #[arg(long, default_value_t = 2)]
    single: u32,

    /// Proofs back to back after that.
    #[arg(long, default_value_t = 20)]
    proofs: u32,

    /// How many of them are in flight at a time.
    #[arg(short = 'j', long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,

    /// Seed of the parameters.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Do not ask filecoin-proofs about a proof.
    #[arg(long)]
    no_verify: bool,
}

impl Args {
    /// Numbers of the GPUs that are used.
    fn ordinals(&self) -> Result<Vec<u32>, Error> {
        if self.devices.is_empty() {
            return Ok(vec![self.gpu.device]);
        }
        for (place, ordinal) in self.devices.iter().enumerate() {
            if self.devices[..place].contains(ordinal) {
                return Err(Error::Failed(format!(
                    "--devices: found {ordinal} more than once, expected each GPU once"
                )));
            }
        }
        Ok(self.devices.clone())
    }
}

pub(crate) fn run(args: &Args, output: Output) -> Result<(), Error> {
    let id = CircuitId::new(args.kind, args.sector_size);
    let folder =
        tempfile::tempdir().map_err(|source| Error::file(Path::new("temporary folder"), source))?;
    let begun = set_up::set_up(args, id, output)?;
    let request = synthetic::request(id, &SyntheticOptions::default())
        .map_err(|cause| failed("synthetic request", &cause))?;
    let request = Arc::new(request);
    let ready = begun.compare(args, output, (id, &request))?;
    let mut report = Report {
        circuit_id: id.to_string(),
        gpus: ready.gpus,
        request_bytes: request.vanilla_proofs.iter().map(Vec::len).sum(),
        setup: ready.setup,
        compared: ready.compared,
        whole: None,
        accepted_by_upstream: None,
        host_peak: PeakMemory::of_this_process(),
    };
    if let Some(provers) = ready.provers.filter(|_| args.single > 0) {
        let (whole, proof) = whole::prove(args, provers, &request, folder.path(), output)?;
        if !args.no_verify {
            ask_upstream(id, &ready.vk, &request, &proof, folder.path())?;
            report.accepted_by_upstream = Some(true);
        }
        report.whole = Some(whole);
    }
    report.host_peak = PeakMemory::of_this_process();
    output.print(&report, print_text)
}

/// Has filecoin-proofs verify a proof, with the verifying key in a file of upstream's name.
fn ask_upstream(
    id: CircuitId,
    vk: &VerifyingKey,
    request: &ProofRequest,
    proof: &[u8],
    folder: &Path,
) -> Result<(), Error> {
    let [vanilla, proof_file] = ["vanilla", "proof"].map(|name| folder.join(name));
    files::write_whole(&Files::of(id, folder)?.vk, &vk.to_bytes())?;
    files::write_whole(&vanilla, &request::file_content(request)?)?;
    files::write_whole(&proof_file, proof)?;
    let executable: PathBuf = std::env::current_exe()
        .map_err(|source| Error::file(Path::new("this executable"), source))?;
    verify::in_child(&executable, folder, request, &vanilla, &proof_file)
}
