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
    CheckedFiles, NoProgress, ParameterFile, PendingCheck, PreparedVerifyingKey, PublishedDigests,
    Trust,
};
use cuzk_r1cs::{R1cs, Witness};

use super::damaged::DamagedFiles;
use super::maker::WitnessMaker;
use crate::pipeline::{Footprint, LateCheck, Opened};

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
    param_dir: PathBuf,
    circuit_dir: PathBuf,
    published: fn(&ParameterNames) -> Option<PublishedDigests>,
    damaged: Arc<DamagedFiles>,
}

impl Store {
    /// With the folder of the parameter files, and the folder of the compiled circuits, where notes on checked files lie too.
    pub fn new(param_dir: impl Into<PathBuf>, circuit_dir: impl Into<PathBuf>) -> Self {
        Self {
            param_dir: param_dir.into(),
            circuit_dir: circuit_dir.into(),
            published: published_digests,
            damaged: Arc::default(),
        }
    }

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
        let (params, trust, check) = self.parameters(id)?;
        let params = Arc::new(params);
        let r1cs = Arc::new(self.circuit(id, &params)?);
        let insecure = matches!(trust, Trust::Insecure(_));
        if insecure {
            tracing::warn!(circuit = %id, "INSECURE developer parameters are loaded: whoever made them can forge proofs; do not use them on a real chain");
        }
        Ok(Opened {
            circuit: OpenCircuit {
                vk: PreparedVerifyingKey::new(params.vk()),
                maker: WitnessMaker::new(id, r1cs.clone()),
                params: params.clone(),
                r1cs,
                idle: Mutex::new(Vec::new()),
            },
            insecure,
            check: check.map(|check| self.late_check(id, check, params)),
        })
    }

    /// What finds that a file is damaged remembers it, so that it is not loaded again before it changes.
    fn late_check(
        &self,
        id: CircuitId,
        check: PendingCheck,
        params: Arc<ParameterFile>,
    ) -> LateCheck {
        let damaged = self.damaged.clone();
        LateCheck::new(move || {
            let begun = Instant::now();
            let checked = check.run(&params, &NoProgress);
            let (file, ms) = (params.path().display(), begun.elapsed().as_millis() as u64);
            let checked = checked.map_err(|error| advise(id, error));
            match &checked {
                Ok(()) => {
                    tracing::info!(circuit = %id, %file, ms, "the parameters have the published digest")
                }
                Err(cause) => damaged.add(&params, cause),
            }
            checked
        })
    }

    fn parameters(
        &self,
        id: CircuitId,
    ) -> Result<(ParameterFile, Trust, Option<PendingCheck>), String> {
        let names = parameter_file_names(id);
        let path = self.existing_params(id)?;
        let vk = Some(self.param_dir.join(&names.vk)).filter(|vk| vk.exists());
        let begun = Instant::now();
        let published = (self.published)(&names);
        let notes = CheckedFiles::new(&self.circuit_dir);
        let loaded = ParameterFile::load_ahead(
            &path,
            vk.as_deref(),
            published.as_ref(),
            Some(&notes),
            &NoProgress,
        )
        .map_err(|e| advise(id, e))?;
        let ms = begun.elapsed().as_millis() as u64;
        match &loaded.2 {
            None => {
                tracing::info!(circuit = %id, file = %path.display(), ms, "parameters are intact")
            }
            Some(_) => {
                tracing::info!(circuit = %id, file = %path.display(), ms, "parameters are open; their digest is computed meanwhile")
            }
        }
        Ok(loaded)
    }

    fn existing_params(&self, id: CircuitId) -> Result<PathBuf, String> {
        let path = self.param_dir.join(parameter_file_names(id).params);
        if !path.is_file() {
            let missing = format!("{}: no such parameter file", path.display());
            return Err(advise(id, missing));
        }
        self.damaged.check(&path)?;
        Ok(path)
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

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use cuzk_filecoin::SectorSize;
    use cuzk_groth16::conformance::Fixture;
    use cuzk_groth16::conformance::circuits::Product;

    use super::*;

    static PUBLISHED: OnceLock<PublishedDigests> = OnceLock::new();

    /// FP/rust-fil-proofs#1185, lotus#5351: a flipped byte in a file with a published digest.
    #[test]
    fn a_damaged_file_is_found_late_remembered_and_used_again_when_it_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let id = CircuitId::new(ProofKind::WinningPoSt, SectorSize::S2KiB);
        let names = parameter_file_names(id);
        let fixture = Fixture::new(Product { x: 3, y: 5 });
        let digests = PUBLISHED.get_or_init(|| PublishedDigests {
            params: fixture.params.digest(&NoProgress),
            vk: fixture.params.vk().digest(),
        });
        let [params, vk] = [&names.params, &names.vk].map(|name| folder.path().join(name));
        fs::copy(fixture.vk_path(), vk).unwrap();
        let intact = fs::read(fixture.params_path()).unwrap();
        let mut damaged = intact.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let store = Store {
            published: |_| PUBLISHED.get().cloned(),
            ..Store::new(folder.path(), folder.path().join("circuits"))
        };

        fs::write(&params, damaged).unwrap();
        let (file, trust, check) = store.parameters(id).expect("opens");
        assert_eq!(trust, Trust::Published);
        let check = store.late_check(id, check.expect("not checked"), Arc::new(file));
        let cause = check.run().expect_err("damaged");
        assert!(
            cause.contains(&names.params) && cause.contains(&digests.params),
            "{cause}"
        );
        assert_eq!(store.parameters(id).err(), Some(cause.clone()));
        assert_eq!(store.footprint(id), Err(cause));

        let replacement = folder.path().join("new");
        fs::write(&replacement, intact).unwrap();
        fs::rename(replacement, &params).unwrap();
        let (file, _, check) = store.parameters(id).expect("replaced");
        let check = store.late_check(id, check.expect("not checked"), Arc::new(file));
        assert_eq!(check.run(), Ok(()));
        let (_, _, check) = store.parameters(id).expect("intact");
        assert!(check.is_none(), "remembered");
    }
}
