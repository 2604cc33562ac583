//! Parameter files as bellperson writes them, read through a memory map.
//!
//! Layout: the verifying key, then the five queries H, L, A, B in G1 and B in G2. Each query is a 32-bit big-endian
//! count followed by that many uncompressed big-endian points (96 bytes in G1, 192 in G2), none of them at infinity.

mod bytes;
mod check;
mod checked;
mod digest;
mod error;
mod file;
mod load;
mod points;

pub(crate) use bytes::Bytes;
pub use checked::CheckedFiles;
pub(crate) use digest::{ShortDigest, short_digest};
pub use error::{ParamsError, Query};
pub use file::ParameterFile;
pub(crate) use file::read_file;
pub use load::{PendingCheck, PublishedDigests, Trust};
pub use points::{G1_BYTES, G1Points, G2_BYTES, G2Points, PointError};
