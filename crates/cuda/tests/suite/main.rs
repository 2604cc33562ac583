//! The kernels and the backend on the emulated device, against the CPU.

mod backend;
mod device;
mod quotient;
mod sums;
mod support;
