//! The wire types of `cuzk.v1`, generated from `proto/cuzk/v1/proving.proto` when this crate is built.

/// Package `cuzk.v1`.
pub mod v1 {
    #![allow(missing_docs, clippy::all, unreachable_pub)]
    tonic::include_proto!("cuzk.v1");
}

/// The encoded `FileDescriptorSet` of [`v1`], for server reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = tonic::include_file_descriptor_set!("cuzk_v1");

/// Largest message that a server or client of this service takes, in bytes: 256 MiB of payload and 1 MiB for the fields around it.
pub const MAX_MESSAGE_BYTES: usize = (256 + 1) << 20;
