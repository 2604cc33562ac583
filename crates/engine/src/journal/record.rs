//! The journal's file format: a header in JSON, byte strings, a checksum.
//!
//! `"cuzkjrn1" · u32 header length · header · byte strings · BLAKE2b-256 of everything before`, integers little-endian. The header says
//! how long each byte string is.

use cuzk_filecoin::{CircuitId, ParseNameError, ProofRequest};
use serde::{Deserialize, Serialize};

use crate::job::JobId;
use crate::payload::PayloadDigest;
use crate::priority::Priority;

const MAGIC: &[u8; 8] = b"cuzkjrn1";
const CHECKSUM_BYTES: usize = 32;
/// Commitments and randomness, before the vanilla proofs.
const FIXED_STRINGS: usize = 4;

/// An accepted job, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) job_id: JobId,
    pub(crate) request_id: String,
    pub(crate) priority: Priority,
    pub(crate) digest: PayloadDigest,
    pub(crate) circuit: CircuitId,
    pub(crate) partitions: usize,
    pub(crate) accepted_at_ms: u64,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RecordError {
    /// Another program's file, or another version's.
    #[error("found no journal record of format {}", String::from_utf8_lossy(MAGIC))]
    Magic,
    /// Too short for what it says it holds.
    #[error("found {found} bytes, expected {expected}")]
    Length {
        /// Bytes in the file.
        found: usize,
        /// Bytes it should have.
        expected: usize,
    },
    /// Bytes were changed.
    #[error("the checksum does not match")]
    Checksum,
    /// The header is not one.
    #[error("header: {0}")]
    Header(String),
}

#[derive(Serialize, Deserialize)]
struct Header {
    job_id: JobId,
    request_id: String,
    priority: Priority,
    digest: PayloadDigest,
    circuit: String,
    partitions: usize,
    accepted_at_ms: u64,
    kind: String,
    sector_size: u64,
    registered_proof: u64,
    sector_number: u64,
    miner_id: u64,
    partition_index: u32,
    lengths: Vec<usize>,
}

pub(crate) fn encode(accepted: &Accepted, request: &ProofRequest) -> Vec<u8> {
    let strings = [
        &request.randomness,
        &request.comm_r_old,
        &request.comm_r_new,
        &request.comm_d_new,
    ];
    let strings: Vec<&Vec<u8>> = strings.into_iter().chain(&request.vanilla_proofs).collect();
    let header = Header {
        job_id: accepted.job_id,
        request_id: accepted.request_id.clone(),
        priority: accepted.priority,
        digest: accepted.digest,
        circuit: accepted.circuit.to_string(),
        partitions: accepted.partitions,
        accepted_at_ms: accepted.accepted_at_ms,
        kind: request.kind.name().into(),
        sector_size: request.sector_size,
        registered_proof: request.registered_proof,
        sector_number: request.sector_number,
        miner_id: request.miner_id,
        partition_index: request.partition_index,
        lengths: strings.iter().map(|s| s.len()).collect(),
    };
    let header = serde_json::to_vec(&header).expect("a header of plain fields is valid JSON");
    let payload: usize = strings.iter().map(|s| s.len()).sum();
    let mut out = Vec::with_capacity(12 + header.len() + payload + CHECKSUM_BYTES);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&(header.len() as u32).to_le_bytes());
    out.extend_from_slice(&header);
    for string in strings {
        out.extend_from_slice(string);
    }
    seal(&mut out);
    out
}

pub(crate) fn decode(bytes: &[u8]) -> Result<(Accepted, ProofRequest), RecordError> {
    let body = unseal(bytes)?;
    let rest = body.strip_prefix(MAGIC).ok_or(RecordError::Magic)?;
    let (length, rest) = take(rest, 4)?;
    let length = u32::from_le_bytes(length.try_into().map_err(|_| RecordError::Magic)?) as usize;
    let (header, mut rest) = take(rest, length)?;
    let header: Header =
        serde_json::from_slice(header).map_err(|e| RecordError::Header(e.to_string()))?;
    let bad_name = |e: ParseNameError| RecordError::Header(e.to_string());
    let kind = header.kind.parse().map_err(bad_name)?;
    let circuit = header.circuit.parse().map_err(bad_name)?;

    let mut strings = Vec::with_capacity(header.lengths.len());
    for length in header.lengths {
        let (string, after) = take(rest, length)?;
        strings.push(string.to_vec());
        rest = after;
    }
    if strings.len() < FIXED_STRINGS || !rest.is_empty() {
        return Err(RecordError::Header("byte strings do not add up".into()));
    }
    let vanilla_proofs = strings.split_off(FIXED_STRINGS);
    let mut fixed = strings.into_iter();
    let mut next = || fixed.next().unwrap_or_default();
    let request = ProofRequest {
        sector_size: header.sector_size,
        registered_proof: header.registered_proof,
        sector_number: header.sector_number,
        miner_id: header.miner_id,
        partition_index: header.partition_index,
        randomness: next(),
        comm_r_old: next(),
        comm_r_new: next(),
        comm_d_new: next(),
        vanilla_proofs,
        ..ProofRequest::new(kind)
    };
    let accepted = Accepted {
        job_id: header.job_id,
        request_id: header.request_id,
        priority: header.priority,
        digest: header.digest,
        circuit,
        partitions: header.partitions,
        accepted_at_ms: header.accepted_at_ms,
    };
    Ok((accepted, request))
}

/// Appends the checksum.
pub(crate) fn seal(out: &mut Vec<u8>) {
    let sum = checksum(out);
    out.extend_from_slice(&sum);
}

/// What stands before the checksum, once that is found right.
pub(crate) fn unseal(bytes: &[u8]) -> Result<&[u8], RecordError> {
    let end = bytes.len().checked_sub(CHECKSUM_BYTES);
    let (body, sum) = bytes.split_at(end.ok_or(RecordError::Length {
        found: bytes.len(),
        expected: CHECKSUM_BYTES,
    })?);
    if checksum(body) != *sum {
        return Err(RecordError::Checksum);
    }
    Ok(body)
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let hash = blake2b_simd::Params::new()
        .hash_length(CHECKSUM_BYTES)
        .hash(bytes);
    let mut sum = [0; CHECKSUM_BYTES];
    sum.copy_from_slice(hash.as_bytes());
    sum
}

fn take(bytes: &[u8], count: usize) -> Result<(&[u8], &[u8]), RecordError> {
    bytes.split_at_checked(count).ok_or(RecordError::Length {
        found: bytes.len(),
        expected: count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuzk_filecoin::{ProofKind, SectorSize};
    use proptest::prelude::*;

    fn sample() -> (Accepted, ProofRequest) {
        let request = ProofRequest {
            sector_size: 2048,
            registered_proof: 5,
            sector_number: 7,
            miner_id: 1000,
            partition_index: 3,
            randomness: vec![1; 32],
            comm_d_new: vec![2; 32],
            vanilla_proofs: vec![vec![], vec![9; 100], vec![8]],
            ..ProofRequest::new(ProofKind::WindowPoSt)
        };
        let accepted = Accepted {
            job_id: JobId::random(),
            request_id: "wdpost-1000-3".into(),
            priority: Priority::High,
            digest: PayloadDigest::of(&request),
            circuit: CircuitId::new(ProofKind::WindowPoSt, SectorSize::S2KiB),
            partitions: 1,
            accepted_at_ms: 1,
        };
        (accepted, request)
    }

    #[test]
    fn records_are_read_back() {
        let (accepted, request) = sample();
        let bytes = encode(&accepted, &request);
        assert_eq!(decode(&bytes), Ok((accepted, request)));
    }

    proptest! {
        #[test]
        fn a_changed_or_cut_record_is_refused(at in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<bool>()) {
            let (accepted, request) = sample();
            let mut bytes = encode(&accepted, &request);
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1 << bit;
            }
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
