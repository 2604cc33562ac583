//! A statement as the C1 output it could have come from, in upstream's types.

use super::PoRep;
use crate::kind::SectorSize;
use crate::upstream::UpstreamError;
use ff::PrimeField;
use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub8, SectorShapeTop2};
use filecoin_proofs_api::seal::{SealCommitPhase1Output, VanillaSealProof};

impl PoRep {
    /// The C1 output as JSON.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, UpstreamError> {
        serde_json::to_vec(&self.c1()).map_err(|e| UpstreamError::new("C1 output", e))
    }

    /// The C1 output.
    pub(crate) fn c1(&self) -> SealCommitPhase1Output {
        use VanillaSealProof as Tagged;
        let partitions = 0..self.partitions.len();
        let base = |k| self.upstream_proofs::<SectorShapeBase>(k);
        let vanilla_proofs = match self.sector_size {
            SectorSize::S2KiB => Tagged::StackedDrg2KiBV1(partitions.map(base).collect()),
            SectorSize::S8MiB => Tagged::StackedDrg8MiBV1(partitions.map(base).collect()),
            SectorSize::S512MiB => Tagged::StackedDrg512MiBV1(partitions.map(base).collect()),
            SectorSize::S32GiB => Tagged::StackedDrg32GiBV1(
                partitions
                    .map(|k| self.upstream_proofs::<SectorShapeSub8>(k))
                    .collect(),
            ),
            SectorSize::S64GiB => Tagged::StackedDrg64GiBV1(
                partitions
                    .map(|k| self.upstream_proofs::<SectorShapeTop2>(k))
                    .collect(),
            ),
        };
        SealCommitPhase1Output {
            registered_proof: self.registered,
            vanilla_proofs,
            comm_r: self.comm_r.to_repr(),
            comm_d: self.comm_d.to_repr(),
            replica_id: self.replica_id.into(),
            seed: self.seed,
            ticket: self.ticket,
        }
    }
}
