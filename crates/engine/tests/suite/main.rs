//! The engine with a pipeline that does what the test says: every schedule and every fault, in milliseconds.

mod fake;
mod faults;
mod restart;
mod scheduling;
