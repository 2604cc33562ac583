//! What ends a command early, and the exit code it gets.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code of a usage error or of input that is refused; clap uses the same number.
const BAD_INPUT: u8 = 2;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An option or a file has content that cannot be used.
    #[error("{field}: found {found}, expected {expected}")]
    Input {
        field: String,
        found: String,
        expected: String,
    },
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("no daemon answers at {addr}: {cause}")]
    Connect { addr: String, cause: String },
    /// The daemon refused the content of a request.
    #[error("refused: {0}")]
    Refused(String),
    #[error("{rpc}: {code:?}: {message}")]
    Rpc {
        rpc: &'static str,
        code: tonic::Code,
        message: String,
    },
    /// The command was carried out and its answer is no success.
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
            _ => ExitCode::FAILURE,
        }
    }
}
