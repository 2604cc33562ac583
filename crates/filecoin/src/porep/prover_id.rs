//! The miner behind a replica id.
//!
//! A replica id commits to the miner, the sector number, the ticket, CommD and the registered proof (FIP-0000's
//! sealing section: `SHA-256(prover id ‖ sector ‖ ticket ‖ CommD ‖ PoRep id)`), which binds the fields that no path
//! or label covers.

use super::PoRep;
use blstrs::Scalar;
use ff::PrimeField;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// The prover id of a miner: the payload of its ID address (an unsigned LEB128), padded with zeros.
pub fn prover_id(miner_id: u64) -> [u8; 32] {
    let mut id = [0; 32];
    let (mut rest, mut at) = (miner_id, 0);
    loop {
        let more = rest > 0x7f;
        id[at] = (rest & 0x7f) as u8 | (u8::from(more) << 7);
        if !more {
            return id;
        }
        rest >>= 7;
        at += 1;
    }
}

/// What a replica id is drawn from, besides the miner.
pub(super) struct ReplicaIdInputs<'a> {
    pub(super) sector_number: u64,
    pub(super) ticket: &'a [u8; 32],
    pub(super) comm_d: &'a [u8; 32],
    pub(super) porep_id: &'a [u8; 32],
}

/// Ids searched when a client does not name its miner; the highest on the chain are below 4 million.
pub(super) const SEARCHED_MINERS: u64 = 1 << 23;

impl ReplicaIdInputs<'_> {
    /// The replica id of a miner, as 32 bytes with the two top bits clear.
    pub(super) fn replica_id(&self, miner_id: u64) -> [u8; 32] {
        let hash = Sha256::new()
            .chain_update(prover_id(miner_id))
            .chain_update(self.sector_number.to_be_bytes())
            .chain_update(self.ticket)
            .chain_update(self.comm_d)
            .chain_update(self.porep_id);
        let mut id: [u8; 32] = hash.finalize().into();
        id[31] &= 0x3f;
        id
    }

    /// The miner with this replica id among the first [`SEARCHED_MINERS`].
    pub(super) fn find_miner(&self, replica_id: &[u8; 32]) -> Option<u64> {
        (1..SEARCHED_MINERS)
            .into_par_iter()
            .find_any(|miner| self.replica_id(*miner) == *replica_id)
    }
}

/// The replica id that a statement's other values give.
pub(crate) fn replica_id(porep: &PoRep) -> Scalar {
    let inputs = ReplicaIdInputs {
        sector_number: porep.sector_number,
        ticket: &porep.ticket,
        comm_d: &porep.comm_d.to_repr(),
        porep_id: &porep.registered.as_v1_config().porep_id,
    };
    let id = inputs.replica_id(porep.miner_id);
    Option::from(Scalar::from_repr(id)).expect("254 bits are below the modulus")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prover_ids_are_leb128() {
        let starts = |miner, bytes: &[u8]| {
            let id = prover_id(miner);
            id.starts_with(bytes) && id[bytes.len()..].iter().all(|b| *b == 0)
        };
        assert!(starts(9, &[9]));
        assert!(starts(1000, &[0xe8, 0x07]));
        assert!(starts(128, &[0x80, 0x01]));
        assert!(starts(
            u64::MAX,
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        ));
    }
}
