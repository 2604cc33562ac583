//! What can go wrong in a setup.

use std::io;
use std::path::PathBuf;

use crate::params::ParamsError;

/// Why a setup gave no parameters.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An auxiliary variable occurs in no constraint, so anyone could give it any value.
    #[error(
        "auxiliary variable {variable} occurs in no constraint, expected every variable to be constrained"
    )]
    Unconstrained {
        /// Its index.
        variable: usize,
    },
    /// The toxic waste is degenerate: astronomically unlikely unless given by hand.
    #[error(
        "found toxic waste {name} that is zero or a root of unity of the domain, expected neither"
    )]
    Toxic {
        /// Which element.
        name: &'static str,
    },
    /// A query has more points than the format's 32-bit count holds.
    #[error("found {found} points in a query, expected at most {}", u32::MAX)]
    QueryLength {
        /// Number of points.
        found: usize,
    },
    /// A file stands where the parameters would go, and nothing says that it came from a developer setup.
    #[error("{}: found a file without marker {}, expected to overwrite only what a developer setup wrote", path.display(), marker.display())]
    NotOurs {
        /// The file that is there.
        path: PathBuf,
        /// The marker that is not.
        marker: PathBuf,
    },
    /// The parameters would not fit.
    #[error("{}: found {found} bytes free in its file system, expected at least {expected} for the parameters", path.display())]
    Room {
        /// The file that would be written.
        path: PathBuf,
        /// Free bytes.
        found: u64,
        /// The file's size.
        expected: u64,
    },
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The stream that takes the parameters failed.
    #[error("writing the parameters: {0}")]
    Write(#[from] io::Error),
    /// What stands under the parameters' name cannot be read.
    #[error(transparent)]
    Params(#[from] ParamsError),
}
