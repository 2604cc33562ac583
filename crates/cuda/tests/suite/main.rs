//! The kernels and the backend on the emulated device, against the CPU.

mod backend;
mod device;
mod multiples;
mod plans;
mod quotient;
mod setup;
mod streaming;
mod sums;
mod support;
