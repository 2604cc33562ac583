//! The circuits, compiled without values.

use crate::kind::{CircuitId, ProofKind};
use crate::upstream::UpstreamError;
use crate::{porep, post, snap};
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use cuzk_r1cs::{R1cs, compile_periodic};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use storage_proofs_core::parameter_cache;

/// Why a circuit could not be compiled.
#[derive(Debug, thiserror::Error)]
#[error("circuit {id}: {source}")]
pub struct CircuitError {
    id: CircuitId,
    source: cuzk_r1cs::Error,
}

/// Compiles a circuit: its challenges or sectors repeat, so that few of them have to be run.
pub fn compile_circuit(id: CircuitId) -> Result<R1cs, CircuitError> {
    compile_periodic(blocks(id), |blocks, cs| synthesize_blocks(id, blocks, cs))
        .map_err(|source| CircuitError { id, source })
}

/// Runs upstream's definition of a whole circuit, without values.
pub fn synthesize_blank<CS: ConstraintSystem<Scalar>>(
    id: CircuitId,
    cs: &mut CS,
) -> Result<(), SynthesisError> {
    synthesize_blocks(id, blocks(id), cs)
}

/// How often a circuit repeats its block: challenges of a PoRep or SnapDeals partition, sectors of a PoSt.
fn blocks(id: CircuitId) -> usize {
    match id.kind {
        ProofKind::PoRep => porep::challenges_per_partition(id.sector_size),
        ProofKind::SnapDeals => snap::challenges_per_partition(id.sector_size),
        ProofKind::WindowPoSt | ProofKind::WinningPoSt => post::blocks(id),
    }
}

/// Runs upstream's definition of the circuit with so many blocks, without values.
fn synthesize_blocks<CS: ConstraintSystem<Scalar>>(
    id: CircuitId,
    blocks: usize,
    cs: &mut CS,
) -> Result<(), SynthesisError> {
    match id.kind {
        ProofKind::PoRep => porep::synthesize_blank(id.sector_size, blocks, cs),
        ProofKind::SnapDeals => snap::synthesize_blank(id.sector_size, blocks, cs),
        ProofKind::WindowPoSt | ProofKind::WinningPoSt => post::synthesize_blank(id, blocks, cs),
    }
}

/// File names of a circuit's parameters, under which every Filecoin implementation looks for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterNames {
    /// The Groth16 parameters.
    pub params: String,
    /// The verifying key.
    pub vk: String,
}

/// The names of a circuit's parameter files.
pub fn parameter_file_names(id: CircuitId) -> ParameterNames {
    NAMES[&id].clone()
}

/// All names. Working one out hashes a description of the circuit's public parameters.
static NAMES: LazyLock<BTreeMap<CircuitId, ParameterNames>> = LazyLock::new(|| {
    let names = |id| {
        let identifier = cache_identifier(id).expect("the identifier of a known circuit");
        ParameterNames {
            params: parameter_cache::parameter_id(&identifier),
            vk: parameter_cache::verifying_key_id(&identifier),
        }
    };
    CircuitId::all().map(|id| (id, names(id))).collect()
});

fn cache_identifier(id: CircuitId) -> Result<String, UpstreamError> {
    match id.kind {
        ProofKind::PoRep => porep::cache_identifier(id.sector_size),
        ProofKind::SnapDeals => Ok(snap::cache_identifier(id.sector_size)),
        ProofKind::WindowPoSt | ProofKind::WinningPoSt => Ok(post::cache_identifier(id)),
    }
}

/// The published digest of a parameter file or verifying key: the first 16 bytes of its BLAKE2b, in hexadecimal.
///
/// Source: `parameters.json` of the storage-proofs crates.
pub fn official_digest(file_name: &str) -> Option<&'static str> {
    parameter_cache::PARAMETERS
        .get(file_name)
        .map(|data| data.digest.as_str())
}
