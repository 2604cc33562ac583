//! The daemon as a process.

mod scenario;
mod support;
