//! Parameter files on disk: where they are, and making them with a developer setup.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cuzk_cuda::DeviceParameters;
use cuzk_filecoin::{CircuitId, ParameterNames, compile_circuit, parameter_file_names};
use cuzk_groth16::Progress;
use cuzk_groth16::setup::{SetupReport, write_files, write_files_with};
use cuzk_r1cs::R1cs;

use crate::error::Error;
use crate::gpu::{Gpu, failed};

/// Upstream's variable for the folder of the parameter files.
pub(crate) const CACHE_VARIABLE: &str = "FIL_PROOFS_PARAMETER_CACHE";
const DEFAULT_CACHE: &str = "/var/tmp/filecoin-proof-parameters";

/// The folder that an option names, or that upstream would use.
pub(crate) fn cache(option: Option<&Path>) -> PathBuf {
    match option {
        Some(folder) => folder.to_owned(),
        None => {
            std::env::var_os(CACHE_VARIABLE).map_or_else(|| DEFAULT_CACHE.into(), PathBuf::from)
        }
    }
}

/// The two files of a circuit.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) params: PathBuf,
    pub(crate) vk: PathBuf,
}

impl Files {
    pub(crate) fn of(id: CircuitId, folder: &Path) -> Result<Self, Error> {
        let names: ParameterNames = parameter_file_names(id);
        Ok(Self {
            params: folder.join(names.params),
            vk: folder.join(names.vk),
        })
    }
}

/// What a developer setup did.
pub(crate) struct Made {
    pub(crate) files: Files,
    pub(crate) report: SetupReport,
    pub(crate) compile_seconds: f64,
    pub(crate) setup_seconds: f64,
}

/// Makes insecure parameters for a circuit on the CPU, or keeps those that an earlier setup left intact.
pub(crate) fn make(
    id: CircuitId,
    folder: &Path,
    seed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Made, Error> {
    make_on(None, id, folder, seed, progress)
}

/// [`make`] on a GPU, where one is given.
pub(crate) fn make_on(
    gpu: Option<&Gpu>,
    id: CircuitId,
    folder: &Path,
    seed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Made, Error> {
    progress.begin("circuit", 1);
    let start = Instant::now();
    let circuit = compile(id)?;
    let compile_seconds = start.elapsed().as_secs_f64();
    progress.advance(1);

    let start = Instant::now();
    let files = Files::of(id, folder)?;
    let (params, vk) = (&files.params, &files.vk);
    let what = format!("setup of {id}");
    let report = match gpu {
        None => write_files(&circuit, params, vk, seed, progress)
            .map_err(|cause| failed(&what, &cause))?,
        Some(gpu) => write_files_with(&circuit, params, vk, seed, progress, |toxic, out| {
            DeviceParameters::generate(&gpu.device, &circuit, toxic, progress)?
                .write_params(out, progress)
        })
        .map_err(|cause| failed(&what, &cause))?,
    };
    Ok(Made {
        files,
        report,
        compile_seconds,
        setup_seconds: start.elapsed().as_secs_f64(),
    })
}

pub(crate) fn compile(id: CircuitId) -> Result<R1cs, Error> {
    compile_circuit(id).map_err(|cause| Error::Failed(cause.to_string()))
}
