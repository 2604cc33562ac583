//! Errors as gRPC status codes.

use cuzk_engine::{EngineError, Refused};
use tonic::{Code, Status};

/// The status of an error. The text says it all; the code says whether a retry makes sense.
pub(crate) fn status(error: &EngineError) -> Status {
    Status::new(code(error), error.to_string())
}

fn code(error: &EngineError) -> Code {
    match error {
        EngineError::Request(_) => Code::InvalidArgument,
        EngineError::RequestIdTaken { .. } => Code::AlreadyExists,
        EngineError::UnknownJob { .. } => Code::NotFound,
        // Later may do.
        EngineError::Limit { .. } => Code::ResourceExhausted,
        EngineError::Memory {
            source: Refused::NotNow { .. },
            ..
        } => Code::ResourceExhausted,
        EngineError::ShuttingDown => Code::Unavailable,
        // Only an operator can change it.
        EngineError::Memory { .. }
        | EngineError::Circuit { .. }
        | EngineError::InUse { .. }
        | EngineError::Pinned { .. } => Code::FailedPrecondition,
        EngineError::Panicked(_) | EngineError::Journal(_) => Code::Internal,
    }
}
