//! What can be wrong with a parameter file.

use std::fmt;
use std::path::PathBuf;

use super::PointError;

/// One of the five queries of a proving key, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// `τⁱ·t(τ)/δ`, one for each quotient coefficient.
    H,
    /// `(β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ`, one for each auxiliary variable.
    L,
    /// `uᵢ(τ)`, one for each input and each auxiliary variable that occurs in A.
    A,
    /// `vᵢ(τ)` in G1, one for each variable that occurs in B.
    BG1,
    /// `vᵢ(τ)` in G2, one for each variable that occurs in B.
    BG2,
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Query::H => "H",
            Query::L => "L",
            Query::A => "A",
            Query::BG1 => "B in G1",
            Query::BG2 => "B in G2",
        })
    }
}

/// Why a parameter file or verifying key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ParamsError {
    /// The file cannot be opened, mapped, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file's size contradicts the counts that stand in it.
    #[error("{}: found {found} bytes, expected {expected} ({part})", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes in the file.
        found: u64,
        /// Bytes that its counts call for: exactly, or at least when `part` is not the whole file.
        expected: u64,
        /// Which part does not fit.
        part: String,
    },
    /// A point is not what the format allows.
    #[error("{}: point {index} of {part}: {source}", path.display())]
    Point {
        /// The file.
        path: PathBuf,
        /// Which point of the part.
        index: usize,
        /// A query's or a key element's name.
        part: String,
        /// What was found.
        source: PointError,
    },
    /// The content is not what was published or recorded.
    #[error("{}: found digest {found}, expected {expected}", path.display())]
    Digest {
        /// The file.
        path: PathBuf,
        /// Digest of the file.
        found: String,
        /// Digest it should have.
        expected: String,
    },
    /// The verifying key beside the parameters is not the one inside.
    #[error("{}: found verifying key {found}, but {} holds {expected}", vk_path.display(), params_path.display())]
    ForeignVerifyingKey {
        /// The .vk file.
        vk_path: PathBuf,
        /// The .params file.
        params_path: PathBuf,
        /// Digest of the key in the .vk file.
        found: String,
        /// Digest of the key in the .params file.
        expected: String,
    },
    /// The parameters were made for a circuit of another shape.
    #[error("{}: found {found} {what}, expected {expected} for circuit {circuit}", path.display())]
    Circuit {
        /// The file.
        path: PathBuf,
        /// What was counted.
        what: String,
        /// Count in the file.
        found: usize,
        /// Count that the circuit calls for.
        expected: usize,
        /// Digest of the circuit.
        circuit: String,
    },
}
