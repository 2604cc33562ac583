//! bellperson's CPU prover and parameter generator on Filecoin's circuits: what this project is measured against.
//!
//! A crate of its own because instantiating upstream's circuits takes the compiler long.

use std::io::Write;
use std::path::Path;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::groth16::{MappedParameters, Parameters, create_proof, generate_parameters};
use blstrs::{Bls12, Scalar};
use cuzk_filecoin::{CircuitId, Statement, synthesize_blank};
use cuzk_groth16::setup::ToxicWaste;
use cuzk_groth16::{Blinding, PROOF_BYTES};

/// Why bellperson has no result.
#[derive(Debug, thiserror::Error)]
#[error("bellperson cannot {what}: {cause}")]
pub struct Error {
    what: &'static str,
    cause: String,
}

impl Error {
    fn new<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> Self {
        move |cause| Self {
            what,
            cause: cause.to_string(),
        }
    }
}

/// Generates the parameters of a circuit from given toxic waste and writes them to `out`.
///
/// # Errors
/// bellperson's, and those of `out`.
pub fn generate(id: CircuitId, toxic: ToxicWaste, mut out: impl Write) -> Result<(), Error> {
    let ToxicWaste {
        g1,
        g2,
        alpha,
        beta,
        gamma,
        delta,
        tau,
    } = toxic;
    generate_parameters::<Bls12, _>(Blank(id), g1, g2, alpha, beta, gamma, delta, tau)
        .map_err(Error::new("generate parameters"))?
        .write(&mut out)
        .map_err(Error::new("write parameters"))
}

/// A parameter file, mapped as filecoin-proofs maps it.
pub struct Prover {
    params: MappedParameters<Bls12>,
}

impl Prover {
    /// Opens a `.params` file.
    ///
    /// # Errors
    /// When bellperson cannot read it.
    pub fn open(params: &Path) -> Result<Self, Error> {
        let params = Parameters::build_mapped_parameters(params.to_owned(), false)
            .map_err(Error::new("open parameters"))?;
        Ok(Self { params })
    }

    /// Synthesises a partition of the statement and proves it.
    ///
    /// # Errors
    /// When the statement does not satisfy its circuit, or has no such partition.
    pub fn prove(
        &self,
        statement: &Statement,
        partition: usize,
        blinding: &Blinding,
    ) -> Result<[u8; PROOF_BYTES], Error> {
        let circuit = Filled {
            statement,
            partition,
        };
        let proof = create_proof(circuit, &self.params, blinding.r, blinding.s)
            .map_err(Error::new("prove"))?;
        let mut bytes = [0; PROOF_BYTES];
        proof
            .write(&mut bytes[..])
            .map_err(Error::new("write a proof"))?;
        Ok(bytes)
    }
}

/// A circuit without values.
struct Blank(CircuitId);

impl Circuit<Scalar> for Blank {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        synthesize_blank(self.0, cs)
    }
}

/// One partition of a statement.
struct Filled<'a> {
    statement: &'a Statement,
    partition: usize,
}

impl Circuit<Scalar> for Filled<'_> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.statement.synthesize(self.partition, cs)
    }
}
