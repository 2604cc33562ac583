//! The engine with a pipeline that does what the test says: every schedule and every fault, in milliseconds.

mod devices;
mod fake;
mod faults;
mod gpus;
mod parameters;
mod restart;
mod scheduling;
