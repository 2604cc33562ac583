//! Jobs, scheduling, memory budget, residency and journal of the proving service.
//!
//! An [`Engine`] takes [`Submission`]s, checks them, writes them to the journal, and hands their partitions to threads and devices in
//! one order: priority, then age. It knows nothing of the wire. How a request becomes a proof is the [`Pipeline`]'s matter; the real one
//! is [`Filecoin`].

mod budget;
mod core;
mod counters;
mod engine;
mod error;
mod filecoin;
mod job;
mod journal;
mod limits;
pub mod memory;
mod payload;
mod pipeline;
mod priority;
mod recover;
mod residency;
mod retry;
mod status;
mod submit;
mod workers;

pub use crate::core::DeviceWork;
pub use budget::{Budget, Held, Refused, Reservation};
pub use counters::{CircuitTotals, Counters};
pub use cuzk_groth16::{HostGrant, Placement};
pub use engine::{Engine, Preloaded, Readiness, Settings, Submission, Submitted, Waited};
pub use error::{EngineError, StartError};
pub use filecoin::{BackendDevice, Device, Filecoin, LoadedKey, MemoryProbe, OpenCircuit, Store};
pub use job::{Finished, JobId, Outcome, Timings};
pub use journal::{JournalError, RecordError};
pub use limits::Limits;
pub use payload::PayloadDigest;
pub use pipeline::{Decoded, DeviceInfo, Footprint, LateCheck, Opened, Pipeline, ProveFault};
pub use priority::Priority;
pub use status::{
    CircuitStatus, DeviceStatus, JobStatus, KeyStatus, MemoryStatus, PartitionStatus, QueueStatus,
    RecentJob, Status,
};
