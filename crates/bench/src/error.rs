//! What ends a command early, and the exit code it gets.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code of a usage error or of input that is refused; clap uses the same number.
const BAD_INPUT: u8 = 2;

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option or a file has content that cannot be used.
    #[error("{field}: found {found}, expected {expected}")]
    Input {
        /// The option, the file, or the path within it.
        field: String,
        /// What was there.
        found: String,
        /// What should have been there.
        expected: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no daemon at an address.
    #[error("no daemon answers at {addr}: {cause}")]
    Connect {
        /// The address.
        addr: String,
        /// What the system said.
        cause: String,
    },
    /// The daemon refused the content of a request.
    #[error("refused: {0}")]
    Refused(String),
    /// The daemon answered a call with another error.
    #[error("{rpc}: {code:?}: {message}")]
    Rpc {
        /// The call.
        rpc: &'static str,
        /// The kind of error.
        code: tonic::Code,
        /// What the daemon said.
        message: String,
    },
    /// A child process failed with this code, and has said why.
    #[error("a child process ended with code {0}")]
    Child(u8),
    /// The command was carried out, and its end is no success.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    pub(crate) fn input(
        field: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Input {
            field: field.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn rpc(rpc: &'static str, status: &tonic::Status) -> Self {
        match status.code() {
            tonic::Code::InvalidArgument => Self::Refused(status.message().to_owned()),
            code => Self::Rpc {
                rpc,
                code,
                message: status.message().to_owned(),
            },
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Input { .. } | Self::Refused(_) => ExitCode::from(BAD_INPUT),
            Self::Child(code) => ExitCode::from(*code),
            _ => ExitCode::FAILURE,
        }
    }
}

impl From<cuzk_filecoin::RequestError> for Error {
    fn from(error: cuzk_filecoin::RequestError) -> Self {
        Self::Input {
            field: error.field,
            found: error.found,
            expected: error.expected,
        }
    }
}
