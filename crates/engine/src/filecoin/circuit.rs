//! Circuits and parameters on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cuzk_filecoin::{
    CircuitId, ParameterNames, ProofKind, Statement, compile_circuit, official_digest,
    parameter_file_names,
};
use cuzk_groth16::{
    CheckedFiles, NoProgress, ParameterFile, PreparedVerifyingKey, PublishedDigests, Trust,
};
use cuzk_r1cs::{R1cs, Witness};

use super::maker::WitnessMaker;
use crate::pipeline::{Footprint, Opened};

/// A compiled circuit with its parameters and verifying key.
pub struct OpenCircuit {
    pub(super) r1cs: Arc<R1cs>,
    pub(super) params: Arc<ParameterFile>,
    pub(super) vk: PreparedVerifyingKey,
    maker: WitnessMaker,
    /// Buffers of finished witnesses.
    idle: Mutex<Vec<Witness>>,
}

impl OpenCircuit {
    /// A witness buffer: a used one where there is one.
    fn buffer(&self) -> Witness {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        idle.unwrap_or_else(|| Witness::new(self.r1cs.layout().clone()))
    }

    /// The witness of one partition.
    pub(super) fn witness(&self, statement: &Statement, k: usize) -> Result<Witness, String> {
        let mut witness = self.buffer();
        self.maker.fill(statement, k, &mut witness)?;
        Ok(witness)
    }

    pub(super) fn recycle(&self, witness: Witness) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(witness);
    }
}

/// Where parameter files and compiled circuits lie.
#[derive(Clone, Debug)]
pub struct Store {
    /// Folder of the parameter files.
    pub param_dir: PathBuf,
    /// Folder of the compiled circuits.
    pub circuit_dir: PathBuf,
}

impl Store {
    /// What a circuit will take, from the sizes that its parameter file states.
    pub(super) fn footprint(&self, id: CircuitId) -> Result<Footprint, String> {
        let path = self.existing_params(id)?;
        let params = ParameterFile::open(&path).map_err(|e| advise(id, e))?;
        let aux = params.l().len() as u64;
        let domain = (params.h().len() as u64 + 1).next_power_of_two();
        Ok(Footprint {
            circuit: circuit_bytes(aux) + SCALARS_PER_DOMAIN * SCALAR_BYTES * domain,
            witness: witness_bytes(id.kind, aux),
            parameters: params.bytes().len() as u64,
        })
    }

    /// Opens the parameters, checks that they are intact, and gets the compiled circuit that belongs to them.
    pub(super) fn open(&self, id: CircuitId) -> Result<Opened<OpenCircuit>, String> {
        let (params, trust) = self.parameters(id)?;
        let r1cs = Arc::new(self.circuit(id, &params)?);
        let insecure = matches!(trust, Trust::Insecure(_));
        if insecure {
            tracing::warn!(circuit = %id, "INSECURE developer parameters are loaded: whoever made them can forge proofs; do not use them on a real chain");
        }
        Ok(Opened {
            circuit: OpenCircuit {
                vk: PreparedVerifyingKey::new(params.vk()),
                maker: WitnessMaker::new(id, r1cs.clone()),
                params: Arc::new(params),
                r1cs,
                idle: Mutex::new(Vec::new()),
            },
            insecure,
        })
    }

    fn parameters(&self, id: CircuitId) -> Result<(ParameterFile, Trust), String> {
        let names = parameter_file_names(id);
        let path = self.existing_params(id)?;
        let vk = Some(self.param_dir.join(&names.vk)).filter(|vk| vk.exists());
        let begun = Instant::now();
        let published = published_digests(&names);
        let notes = CheckedFiles::new(&self.circuit_dir);
        let loaded = ParameterFile::load(
            &path,
            vk.as_deref(),
            published.as_ref(),
            Some(&notes),
            &NoProgress,
        )
        .map_err(|e| advise(id, e))?;
        tracing::info!(circuit = %id, file = %path.display(), ms = begun.elapsed().as_millis() as u64, "parameters are intact");
        Ok(loaded)
    }

    fn existing_params(&self, id: CircuitId) -> Result<PathBuf, String> {
        let path = self.param_dir.join(parameter_file_names(id).params);
        match path.is_file() {
            true => Ok(path),
            false => Err(advise(
                id,
                format!("{}: no such parameter file", path.display()),
            )),
        }
    }

    /// The compiled circuit, from the cache where that holds one that fits the parameters.
    fn circuit(&self, id: CircuitId, params: &ParameterFile) -> Result<R1cs, String> {
        let path = self.circuit_dir.join(format!("{id}.r1cs"));
        match cached(&path, params) {
            Ok(Some(r1cs)) => return Ok(r1cs),
            Ok(None) => tracing::info!(circuit = %id, "compiling the circuit, once"),
            Err(cause) => {
                tracing::warn!(circuit = %id, file = %path.display(), %cause, "the compiled circuit cannot be used and is compiled again");
            }
        }
        let begun = Instant::now();
        let r1cs = compile_circuit(id).map_err(|e| e.to_string())?;
        params.check_circuit(&r1cs).map_err(|e| advise(id, e))?;
        tracing::info!(circuit = %id, ms = begun.elapsed().as_millis() as u64, rows = r1cs.num_rows(), "the circuit is compiled");
        let written = fs::create_dir_all(&self.circuit_dir)
            .map_err(|e| e.to_string())
            .and_then(|()| r1cs.write_to(&path).map_err(|e| e.to_string()));
        if let Err(cause) = written {
            // Proving works without the cache.
            tracing::warn!(circuit = %id, file = %path.display(), %cause, "the compiled circuit cannot be kept");
        }
        Ok(r1cs)
    }
}

fn cached(path: &Path, params: &ParameterFile) -> Result<Option<R1cs>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let r1cs = R1cs::read_from(path).map_err(|e| e.to_string())?;
    params.check_circuit(&r1cs).map_err(|e| e.to_string())?;
    Ok(Some(r1cs))
}

/// Digests that Filecoin published for these files, where it did for both.
fn published_digests(names: &ParameterNames) -> Option<PublishedDigests> {
    Some(PublishedDigests {
        params: official_digest(&names.params)?.into(),
        vk: official_digest(&names.vk)?.into(),
    })
}

/// An error about parameters, with what to do about it.
fn advise(id: CircuitId, error: impl ToString) -> String {
    let (kind, size) = (id.kind.name(), id.sector_size.name());
    format!(
        "{}; get the official parameters with Filecoin's `paramfetch`, or make insecure ones for development with `cuzk-bench setup --type {kind} --sector-size {size}`",
        error.to_string()
    )
}

const SCALAR_BYTES: u64 = 32;

/// Vectors of the domain's length that a proof on the CPU takes: a, b, c, and the tables and buckets beside them.
const SCALARS_PER_DOMAIN: u64 = 6;

/// A compiled circuit takes about 40 bytes a variable where nothing repeats, and 400 MB at most where blocks do.
fn circuit_bytes(aux: u64) -> u64 {
    aux.saturating_mul(64).min(1 << 30)
}

/// PoRep's witness is all but bits; the others' may be wide throughout.
fn witness_bytes(kind: ProofKind, aux: u64) -> u64 {
    match kind {
        ProofKind::PoRep => aux.saturating_mul(4),
        ProofKind::SnapDeals | ProofKind::WindowPoSt | ProofKind::WinningPoSt => {
            aux.saturating_mul(SCALAR_BYTES + 1)
        }
    }
}
