//! What Filecoin's four proofs are made of.
//!
//! A [`ProofRequest`] is decoded into a [`Statement`], which gives the public inputs and the witness of each
//! partition, and alone turns proofs into a [`VerifiedProof`]. [`compile_circuit`] gives the R1CS of a circuit, and
//! [`vanilla`] makes vanilla proofs: from really sealed sectors, or synthetic ones of any size.
//!
//! This is the only crate that knows the storage-proofs crates.

mod circuit;
mod commitment;
mod decode;
mod erased;
mod final_check;
pub mod generate;
mod kind;
pub mod merkle;
pub mod porep;
pub mod post;
pub mod registered;
mod request;
pub mod snap;
mod statement;
mod upstream;
pub mod vanilla;

pub use circuit::{
    CircuitError, ParameterNames, compile_circuit, official_digest, parameter_file_names,
    synthesize_blank,
};
pub use commitment::{CommitmentError, comm_d_cid, comm_r_cid, parse_comm_d, parse_comm_r};
pub use final_check::{FinalCheckError, verify_with_filecoin_proofs};
pub use kind::{CircuitId, ParseNameError, ProofKind, SectorSize};
pub use request::{ProofRequest, RequestError};
pub use statement::{DecodeTimes, Inputs, Statement, StatementError, VerifiedProof, VerifyError};
pub use upstream::UpstreamError;
