//! Groth16 over BLS12-381 for circuits that never change.
//!
//! The flow of a proof is `Witness -> a, b, c = a∘b -> quotient h -> five multi-scalar multiplications -> Proof`.
//! Whoever runs it implements [`Backend`]; [`CpuBackend`] is the readable reference, and because a proof is
//! determined by the parameters, the witness and the blinding, every backend must give the same bytes.
//!
//! Parameter files, verifying keys and proofs are byte-compatible with bellperson 0.27.
//!
//! Reference: Jens Groth, "On the Size of Pairing-based Non-interactive Arguments", Eurocrypt 2016, section 3.2.

mod backend;
pub mod conformance;
pub mod field;
mod memory;
pub mod msm;
pub mod ntt;
mod params;
mod progress;
mod proof;
mod prove;
pub mod quotient;
pub mod setup;
mod verify;
mod vk;

pub use backend::{Backend, HostGrant, Placement, ProveError};
pub use params::{
    CheckedFiles, G1_BYTES, G1Points, G2_BYTES, G2Points, ParameterFile, ParamsError, PendingCheck,
    PointError, PublishedDigests, Query, Trust,
};
pub use progress::{NoProgress, Progress};
pub use proof::{Blinding, PROOF_BYTES, Proof, ProofError};
pub use prove::{CpuBackend, CpuKey, QuerySums, StageTime, assemble};
pub use verify::{PreparedVerifyingKey, VerifyError, verify, verify_batch};
pub use vk::VerifyingKey;
