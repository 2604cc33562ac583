//! One partition of a request, for the commands that work on it without a daemon.

use std::time::Instant;

use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{ProofKind, ProofRequest, Statement};
use cuzk_r1cs::{R1cs, Witness};

use crate::error::Error;
use crate::parameters;
use crate::request::InputArgs;

#[derive(clap::Args, Debug)]
pub(crate) struct PartitionArgs {
    /// What is proved: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND", default_value = "porep")]
    kind: ProofKind,

    /// For PoRep and snap, `--partition` chooses which of the request's partitions.
    #[command(flatten)]
    input: InputArgs,
}

/// A decoded statement, its compiled circuit, and which partition is meant.
pub(crate) struct Partition {
    pub(crate) statement: Statement,
    pub(crate) circuit: R1cs,
    pub(crate) index: usize,
    pub(crate) decode_seconds: f64,
    pub(crate) compile_seconds: f64,
}

impl PartitionArgs {
    /// The request that the partition is of.
    pub(crate) fn read(&self) -> Result<ProofRequest, Error> {
        self.input.read(self.kind)
    }

    pub(crate) fn load(&self) -> Result<Partition, Error> {
        let request = self.read()?;
        let start = Instant::now();
        let statement = Statement::decode(&request)?;
        let decode_seconds = start.elapsed().as_secs_f64();
        // A PoSt request holds one partition, whose place in the deadline `--partition` gives.
        let index = match self.kind {
            ProofKind::PoRep | ProofKind::SnapDeals => request.partition_index as usize,
            ProofKind::WindowPoSt | ProofKind::WinningPoSt => 0,
        };
        let partitions = statement.num_partitions();
        if index >= partitions {
            return Err(Error::input(
                "--partition",
                index.to_string(),
                format!("one below {partitions}"),
            ));
        }
        let start = Instant::now();
        let circuit = parameters::compile(statement.circuit_id())?;
        Ok(Partition {
            statement,
            circuit,
            index,
            decode_seconds,
            compile_seconds: start.elapsed().as_secs_f64(),
        })
    }
}

impl Partition {
    pub(crate) fn empty_witness(&self) -> Witness {
        Witness::new(self.circuit.layout().clone())
    }

    /// Fills the witness by running upstream's circuit definition.
    pub(crate) fn synthesize(&self, witness: &mut Witness) -> Result<(), Error> {
        self.statement
            .witness(self.index, &self.circuit, witness)
            .map_err(|cause| Error::Failed(format!("witness of partition {}: {cause}", self.index)))
    }

    /// The native generator for the circuit.
    pub(crate) fn generator(&self) -> Result<Generator, Error> {
        Generator::bind(&self.circuit, self.statement.circuit_id())
            .map_err(|mismatch| Error::Failed(mismatch.to_string()))
    }

    /// Fills the witness natively.
    pub(crate) fn generate(
        &self,
        generator: &Generator,
        witness: &mut Witness,
    ) -> Result<(), Error> {
        generator
            .witness(&self.statement, self.index, witness)
            .map_err(|cause| Error::Failed(format!("witness of partition {}: {cause}", self.index)))
    }
}
