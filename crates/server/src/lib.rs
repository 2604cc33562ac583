//! The faces of the proving service: gRPC for clients, HTTP for operators.
//!
//! Wire messages become [`cuzk_engine::Submission`]s here, once, and the engine's answers become wire messages. Nothing is proved here.

mod address;
mod arriving;
mod convert;
mod errors;
mod grpc;
mod http;
mod listen;
mod metrics;
mod picture;
mod service;

pub use address::{Address, AddressError};
pub use cuzk_proto::MAX_MESSAGE_BYTES;
pub use grpc::{Phases, serve_grpc};
pub use http::{router, serve_http};
pub use listen::{ListenError, Listener};
pub use metrics::render as render_metrics;
pub use service::Service;
