//! The server over real connections, with a pipeline that proves nothing.

mod arriving;
#[path = "../../../engine/tests/suite/fake.rs"]
mod fake;
mod grpc;
mod http;
mod listening;
mod support;
