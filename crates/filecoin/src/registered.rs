//! Registered proofs: the numbers under which the chain knows a kind, a sector size and a version.
//!
//! The numbers are go-state-types' (`abi/sector.go`). Each row of a table holds the five sector sizes in order.

use crate::kind::{CircuitId, ProofKind, SectorSize};
use crate::request::{ProofRequest, RequestError};
use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};

/// RegisteredSealProof 0..19: V1, V1_1, synthetic PoRep and non-interactive PoRep.
const SEAL: [RegisteredSealProof; 20] = {
    use RegisteredSealProof::*;
    [
        StackedDrg2KiBV1,
        StackedDrg8MiBV1,
        StackedDrg512MiBV1,
        StackedDrg32GiBV1,
        StackedDrg64GiBV1,
        StackedDrg2KiBV1_1,
        StackedDrg8MiBV1_1,
        StackedDrg512MiBV1_1,
        StackedDrg32GiBV1_1,
        StackedDrg64GiBV1_1,
        StackedDrg2KiBV1_1_Feat_SyntheticPoRep,
        StackedDrg8MiBV1_1_Feat_SyntheticPoRep,
        StackedDrg512MiBV1_1_Feat_SyntheticPoRep,
        StackedDrg32GiBV1_1_Feat_SyntheticPoRep,
        StackedDrg64GiBV1_1_Feat_SyntheticPoRep,
        StackedDrg2KiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg8MiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg512MiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg32GiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg64GiBV1_2_Feat_NonInteractivePoRep,
    ]
};

/// RegisteredPoStProof 0..14: WinningPoSt, WindowPoSt, WindowPoSt with the grinding fix (V1_1 in go-state-types,
/// V1_2 in filecoin-proofs-api).
const POST: [RegisteredPoStProof; 15] = {
    use RegisteredPoStProof::*;
    [
        StackedDrgWinning2KiBV1,
        StackedDrgWinning8MiBV1,
        StackedDrgWinning512MiBV1,
        StackedDrgWinning32GiBV1,
        StackedDrgWinning64GiBV1,
        StackedDrgWindow2KiBV1,
        StackedDrgWindow8MiBV1,
        StackedDrgWindow512MiBV1,
        StackedDrgWindow32GiBV1,
        StackedDrgWindow64GiBV1,
        StackedDrgWindow2KiBV1_2,
        StackedDrgWindow8MiBV1_2,
        StackedDrgWindow512MiBV1_2,
        StackedDrgWindow32GiBV1_2,
        StackedDrgWindow64GiBV1_2,
    ]
};

/// RegisteredUpdateProof 0..4.
const UPDATE: [RegisteredUpdateProof; 5] = {
    use RegisteredUpdateProof::*;
    [
        StackedDrg2KiBV1,
        StackedDrg8MiBV1,
        StackedDrg512MiBV1,
        StackedDrg32GiBV1,
        StackedDrg64GiBV1,
    ]
};

/// The numbers that each kind takes.
fn numbers(kind: ProofKind) -> std::ops::RangeInclusive<u64> {
    match kind {
        ProofKind::PoRep => 0..=19,
        ProofKind::SnapDeals | ProofKind::WinningPoSt => 0..=4,
        ProofKind::WindowPoSt => 5..=14,
    }
}

/// The sector size of a registered proof of a kind; `None` when the kind has no such number.
pub fn sector_size_of(kind: ProofKind, registered_proof: u64) -> Option<SectorSize> {
    numbers(kind)
        .contains(&registered_proof)
        .then(|| SectorSize::ALL[(registered_proof % 5) as usize])
}

/// The number of the latest interactive version of a kind for a sector size: V1_1 for PoRep and WindowPoSt, V1 for
/// WinningPoSt and SnapDeals.
pub fn latest(id: CircuitId) -> u64 {
    let size = id.sector_size as u64;
    match id.kind {
        ProofKind::PoRep => 5 + size,
        ProofKind::WindowPoSt => 10 + size,
        ProofKind::WinningPoSt | ProofKind::SnapDeals => size,
    }
}

/// The registered seal proof with this number.
pub fn seal(registered_proof: u64) -> Option<RegisteredSealProof> {
    SEAL.get(usize::try_from(registered_proof).ok()?).copied()
}

/// The registered seal proof with this name, as C1 outputs spell it, and its number.
pub(crate) fn seal_named(name: &str) -> Option<(u64, RegisteredSealProof)> {
    let number = SEAL.iter().position(|p| format!("{p:?}") == name)?;
    Some((number as u64, SEAL[number]))
}

/// The registered PoSt proof with this number.
pub fn post(registered_proof: u64) -> Option<RegisteredPoStProof> {
    POST.get(usize::try_from(registered_proof).ok()?).copied()
}

/// The registered update proof with this number.
pub fn update(registered_proof: u64) -> Option<RegisteredUpdateProof> {
    UPDATE.get(usize::try_from(registered_proof).ok()?).copied()
}

/// The sector size of a request whose payload does not name one, from its two fields, which must agree.
pub(crate) fn requested_size(request: &ProofRequest) -> Result<SectorSize, RequestError> {
    let registered = sector_size_of(request.kind, request.registered_proof).ok_or_else(|| {
        let range = numbers(request.kind);
        RequestError::new(
            "registered_proof",
            request.registered_proof,
            format!("{} to {} for {}", range.start(), range.end(), request.kind),
        )
    })?;
    if request.sector_size == 0 || request.sector_size == registered.bytes() {
        return Ok(registered);
    }
    match SectorSize::from_bytes(request.sector_size) {
        None => Err(unknown_size("sector_size", request.sector_size)),
        Some(found) => Err(RequestError::new(
            "registered_proof",
            format!("{} ({registered})", request.registered_proof),
            format!("a number for sector_size {found}"),
        )),
    }
}

/// `field` names a size that is not one of the five.
pub(crate) fn unknown_size(field: &str, found: u64) -> RequestError {
    let known = SectorSize::ALL.map(|s| s.bytes().to_string()).join(", ");
    RequestError::new(field, found, format!("a sector size of {known} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_upstreams() {
        for (i, proof) in SEAL.iter().enumerate() {
            let ours = sector_size_of(ProofKind::PoRep, i as u64).unwrap();
            assert_eq!(u64::from(proof.sector_size()), ours.bytes());
            // Upstream keeps the number in the first eight bytes of the PoRep id.
            assert_eq!(proof.as_v1_config().porep_id[..8], (i as u64).to_le_bytes());
        }
        for (i, proof) in POST.iter().enumerate() {
            let kind = if i < 5 {
                ProofKind::WinningPoSt
            } else {
                ProofKind::WindowPoSt
            };
            let ours = sector_size_of(kind, i as u64).unwrap();
            assert_eq!(u64::from(proof.sector_size()), ours.bytes());
        }
        for (i, proof) in UPDATE.iter().enumerate() {
            let ours = sector_size_of(ProofKind::SnapDeals, i as u64).unwrap();
            assert_eq!(u64::from(proof.sector_size()), ours.bytes());
        }
    }
}
