//! A request as it arrives, and why it is refused.

use crate::kind::ProofKind;

/// What a client asks for, before anything was checked. It knows nothing of the wire it came over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofRequest {
    /// The kind of proof.
    pub kind: ProofKind,
    /// Sector size in bytes; 0 where the payload or `registered_proof` names it.
    pub sector_size: u64,
    /// The number that go-state-types gives the registered seal, PoSt or update proof. For PoRep, 0 leaves it to
    /// the C1 output, which names its own.
    pub registered_proof: u64,
    /// Sector number (PoRep; 0 leaves it to the envelope).
    pub sector_number: u64,
    /// Miner actor id. For PoRep, 0 means that the client did not say.
    pub miner_id: u64,
    /// PoSt randomness, 32 bytes.
    pub randomness: Vec<u8>,
    /// Index of the partition within the deadline (WindowPoSt).
    pub partition_index: u32,
    /// CommR before the update, 32 bytes (SnapDeals).
    pub comm_r_old: Vec<u8>,
    /// CommR after the update, 32 bytes (SnapDeals).
    pub comm_r_new: Vec<u8>,
    /// CommD after the update, 32 bytes (SnapDeals).
    pub comm_d_new: Vec<u8>,
    /// The vanilla proofs: one C1 output (PoRep), one proof a partition (SnapDeals), one a sector (PoSt).
    pub vanilla_proofs: Vec<Vec<u8>>,
}

impl ProofRequest {
    /// A request of this kind with every other field empty or zero.
    pub fn new(kind: ProofKind) -> Self {
        Self {
            kind,
            sector_size: 0,
            registered_proof: 0,
            sector_number: 0,
            miner_id: 0,
            randomness: Vec::new(),
            partition_index: 0,
            comm_r_old: Vec::new(),
            comm_r_new: Vec::new(),
            comm_d_new: Vec::new(),
            vanilla_proofs: Vec::new(),
        }
    }
}

impl Default for ProofRequest {
    /// An empty PoRep request.
    fn default() -> Self {
        Self::new(ProofKind::PoRep)
    }
}

/// A field of a request, what it held and what it should have held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: found {found}, expected {expected}")]
pub struct RequestError {
    /// Path of the field within the request, for instance `vanilla_proofs[0].Phase1Out.comm_r`.
    pub field: String,
    /// What was there.
    pub found: String,
    /// What should have been there.
    pub expected: String,
}

impl RequestError {
    /// `field` held `found` where it should have held `expected`.
    pub fn new(field: impl Into<String>, found: impl ToString, expected: impl ToString) -> Self {
        Self {
            field: field.into(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// The same error about a field that lies within `outer`.
    #[must_use]
    pub fn within(mut self, outer: impl AsRef<str>) -> Self {
        let outer = outer.as_ref();
        self.field = match self.field.chars().next() {
            _ if outer.is_empty() => self.field,
            None => outer.into(),
            Some('[') => format!("{outer}{}", self.field),
            Some(_) => format!("{outer}.{}", self.field),
        };
        self
    }
}

/// A 32-byte field of a request.
pub(crate) fn bytes32(field: &str, bytes: &[u8]) -> Result<[u8; 32], RequestError> {
    bytes
        .try_into()
        .map_err(|_| RequestError::new(field, format!("{} bytes", bytes.len()), "32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_whole_path() {
        let e = RequestError::new("[3]", 300, "a byte")
            .within("comm_r")
            .within("Phase1Out");
        assert_eq!(
            e.to_string(),
            "Phase1Out.comm_r[3]: found 300, expected a byte"
        );
    }
}
