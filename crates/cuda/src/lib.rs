//! Groth16 proofs on CUDA devices.
//!
//! A [`CudaBackend`] keeps circuits and parameters resident on one [`Device`]. For a proof the packed witness goes up; the
//! device evaluates A·z and B·z, finds the quotient in six transforms, and sums bases: those of ones directly, those of wide
//! values by multi-scalar multiplication; five points come down. The kernels are CUDA C++, in `kernels/`.
//!
//! Without feature `cuda` the crate builds everywhere, with no toolkit, and finds no device. Feature `emulate` compiles the
//! same kernels for the CPU, as a device for tests.
//!
//! All `unsafe` of the service's device code is here, behind safe types.

mod backend;
mod bases;
mod circuit;
mod curve;
mod density;
mod device;
mod error;
mod ffi;
mod host_bases;
mod identity;
mod lock;
mod maps;
mod memory_plan;
mod multiples;
mod params_file;
mod plain;
mod query;
mod quotient;
mod resident;
mod self_test;
mod setup;
mod slices;
mod stored;
mod sums;
mod telemetry;
mod uploads;

pub use backend::{CudaBackend, CudaKey};
pub use bases::Bases;
pub use curve::{Curve, G1, G2};
pub use density::Density;
pub use device::{Device, DeviceMemory, Platform, Region};
pub use error::DeviceError;
pub use host_bases::{HostBases, PinnedMemory};
pub use identity::DeviceIdentity;
pub use lock::DeviceLock;
pub use memory_plan::{CircuitShape, MemoryPlan, NoRoom, QUERY_NAMES, QueryShape};
pub use multiples::Multiples;
pub use plain::Plain;
pub use query::sum_workspace;
pub use quotient::Quotient;
pub use resident::Resident;
pub use self_test::self_test;
pub use setup::{DeviceParameters, DeviceSetupError};
pub use stored::{BasesSource, HostQueries, QueryBases};
pub use sums::{IndexList, Pairing, Windows, msm, msm_workspace};
pub use telemetry::{Telemetry, TelemetryError};
