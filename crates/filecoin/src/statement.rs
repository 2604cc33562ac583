//! From a request to a statement that can be proved, and from its proofs to bytes that may leave the process.

use crate::kind::{CircuitId, ProofKind};
use crate::porep::PoRep;
use crate::post::PoSt;
use crate::request::{ProofRequest, RequestError};
use crate::snap::SnapDeals;
use crate::upstream::UpstreamError;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use cuzk_groth16::{PROOF_BYTES, PreparedVerifyingKey, Proof, verify_batch};
use cuzk_r1cs::{R1cs, Witness, WitnessAssigner, WitnessError};
use ff::PrimeField;
use std::time::{Duration, Instant};

/// A decoded, checked request: what is to be proved, with everything needed to prove it.
#[derive(Clone, Debug)]
pub struct Statement {
    circuit_id: CircuitId,
    inputs: Inputs,
}

/// Where the time of decoding goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeTimes {
    /// From the request's bytes to the native inputs of all partitions, in the right shape and below the modulus.
    pub read: Duration,
    /// Whether they are true: hashes, paths, labels, challenges.
    pub check: Duration,
}

/// The native inputs of a statement, by kind.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// PoRep.
    PoRep(PoRep),
    /// SnapDeals.
    SnapDeals(SnapDeals),
    /// WindowPoSt or WinningPoSt.
    PoSt(PoSt),
}

/// Why a statement has no inputs or no witness.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// There is no such partition.
    #[error("partition {found}, expected one below {partitions}")]
    Partition {
        /// The partition asked for.
        found: usize,
        /// How many there are.
        partitions: usize,
    },
    /// The storage-proofs crates refused.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The circuit could not be run.
    #[error("the circuit could not be synthesised: {0}")]
    Synthesis(#[from] SynthesisError),
    /// The circuit's values do not fit the compiled circuit.
    #[error(transparent)]
    Witness(#[from] WitnessError),
}

/// Why proofs do not prove a statement.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Not one proof a partition.
    #[error("found {found} proofs, expected {expected}, one a partition")]
    Count {
        /// Number of proofs.
        found: usize,
        /// Number of partitions.
        expected: usize,
    },
    /// The public inputs could not be derived.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// A proof was rejected, or the verifying key is another circuit's.
    #[error(transparent)]
    Rejected(#[from] cuzk_groth16::VerifyError),
}

/// Proofs that were verified against their statement. Nothing else is sent to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedProof {
    kind: ProofKind,
    bytes: Vec<u8>,
}

impl VerifiedProof {
    /// The kind of proof.
    pub fn kind(&self) -> ProofKind {
        self.kind
    }

    /// The proofs of all partitions in order, 192 bytes each.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Statement {
    /// Decodes a request and checks every value in it, the vanilla proofs included.
    pub fn decode(request: &ProofRequest) -> Result<Self, RequestError> {
        Self::decode_timed(request).map(|(statement, _)| statement)
    }

    /// The same, and where the time went.
    pub fn decode_timed(request: &ProofRequest) -> Result<(Self, DecodeTimes), RequestError> {
        let (start, mut read) = (Instant::now(), Duration::ZERO);
        let done = || read = start.elapsed();
        let inputs = match request.kind {
            ProofKind::PoRep => Inputs::PoRep(PoRep::decode(request, done)?),
            ProofKind::SnapDeals => Inputs::SnapDeals(SnapDeals::decode(request, done)?),
            ProofKind::WindowPoSt | ProofKind::WinningPoSt => {
                Inputs::PoSt(PoSt::decode(request, done)?)
            }
        };
        let check = start.elapsed() - read;
        let sector_size = match &inputs {
            Inputs::PoRep(porep) => porep.sector_size,
            Inputs::SnapDeals(snap) => snap.sector_size,
            Inputs::PoSt(post) => post.sector_size,
        };
        let statement = Self {
            circuit_id: CircuitId::new(request.kind, sector_size),
            inputs,
        };
        Ok((statement, DecodeTimes { read, check }))
    }

    /// The circuit that proves this.
    pub fn circuit_id(&self) -> CircuitId {
        self.circuit_id
    }

    /// The native inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The number of partitions; each takes one Groth16 proof.
    pub fn num_partitions(&self) -> usize {
        match &self.inputs {
            Inputs::PoRep(porep) => porep.partitions.len(),
            Inputs::SnapDeals(snap) => snap.partitions.len(),
            Inputs::PoSt(_) => 1,
        }
    }

    fn check_partition(&self, found: usize) -> Result<(), StatementError> {
        let partitions = self.num_partitions();
        if found < partitions {
            return Ok(());
        }
        Err(StatementError::Partition { found, partitions })
    }

    /// The public inputs of a partition, without the constant one.
    pub fn public_inputs(&self, partition: usize) -> Result<Vec<Scalar>, StatementError> {
        self.check_partition(partition)?;
        match &self.inputs {
            Inputs::PoRep(porep) => Ok(porep.public_inputs(partition)?),
            Inputs::SnapDeals(snap) => Ok(snap.public_inputs(partition)?),
            Inputs::PoSt(post) => Ok(post.public_inputs()),
        }
    }

    /// Runs upstream's circuit definition with the values of a partition.
    ///
    /// # Errors
    /// [`SynthesisError`], also for a partition that is not there.
    pub fn synthesize<CS: ConstraintSystem<Scalar>>(
        &self,
        partition: usize,
        cs: &mut CS,
    ) -> Result<(), SynthesisError> {
        self.check_partition(partition)
            .map_err(|e| SynthesisError::IoError(std::io::Error::other(e)))?;
        match &self.inputs {
            Inputs::PoRep(porep) => porep.synthesize(partition, cs),
            Inputs::SnapDeals(snap) => snap.synthesize(partition, cs),
            Inputs::PoSt(post) => post.synthesize(cs),
        }
    }

    /// The witness of a partition, into a buffer of the circuit's layout.
    ///
    /// This is the path that runs the circuit's own definition: slow, and the reference for generators.
    pub fn witness(
        &self,
        partition: usize,
        circuit: &R1cs,
        witness: &mut Witness,
    ) -> Result<(), StatementError> {
        self.check_partition(partition)?;
        if witness.layout() != circuit.layout() {
            *witness = Witness::new(circuit.layout().clone());
        }
        let mut assigner = WitnessAssigner::new(witness);
        let synthesized = self.synthesize(partition, &mut assigner);
        // What the assigner refused says more than that synthesis ended.
        match (assigner.finish(), synthesized) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(refused), Ok(()) | Err(SynthesisError::Unsatisfiable)) => Err(refused.into()),
            (_, Err(failed)) => Err(failed.into()),
        }
    }

    /// Verifies one proof a partition against public inputs derived from this statement.
    pub fn verify(
        &self,
        vk: &PreparedVerifyingKey,
        proofs: &[Proof],
    ) -> Result<VerifiedProof, VerifyError> {
        let expected = self.num_partitions();
        if proofs.len() != expected {
            let found = proofs.len();
            return Err(VerifyError::Count { found, expected });
        }
        let inputs = (0..expected)
            .map(|k| self.public_inputs(k))
            .collect::<Result<Vec<_>, _>>()?;
        verify_batch(vk, &inputs, proofs)?;
        let mut bytes = Vec::with_capacity(proofs.len() * PROOF_BYTES);
        for proof in proofs {
            bytes.extend_from_slice(&proof.to_bytes());
        }
        Ok(VerifiedProof {
            kind: self.circuit_id.kind,
            bytes,
        })
    }
}

/// A commitment: a field element that is not zero.
pub(crate) fn commitment(field: &str, bytes: &[u8; 32]) -> Result<Scalar, RequestError> {
    if *bytes == [0; 32] {
        return Err(RequestError::new(field, "32 zero bytes", "a commitment"));
    }
    Option::from(Scalar::from_repr(*bytes)).ok_or_else(|| {
        let expected = "a field element below the modulus (little-endian)";
        RequestError::new(field, hex::encode(bytes), expected)
    })
}
