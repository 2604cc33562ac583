//! The kernels and the backend on the emulated device, against the CPU.

mod backend;
mod device;
mod multiples;
mod quotient;
mod setup;
mod sums;
mod support;
