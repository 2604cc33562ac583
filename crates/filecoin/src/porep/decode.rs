//! From the bytes of a C1 output to field elements.
//!
//! Clients wrap the output in an envelope, `{"SectorNum": n, "Phase1Out": base64(JSON), "SectorSize": n}`; the bare
//! inner JSON is taken too. What is decoded here has the right shape; whether it is true is for [`super::check`].

use super::circuit::layers;
use super::label::LABEL_PARENTS;
use super::{DRG_PARENTS, EXPANDER_PARENTS};
use crate::decode::MerkleProof;
use crate::decode::base64::Base64;
use crate::decode::json::{Scanner, Source};
use crate::kind::{ProofKind, SectorSize};
use crate::merkle::TreeShape;
use crate::registered;
use crate::request::{ProofRequest, RequestError};
use blstrs::Scalar;
use filecoin_proofs_api::RegisteredSealProof;

type Result<T> = std::result::Result<T, RequestError>;

/// A C1 output, redundancies and all.
pub(super) struct C1 {
    /// Where in the request the output stood, for errors.
    pub(super) place: &'static str,
    /// The envelope's sector number and sector size in bytes.
    pub(super) envelope: Option<(u64, u64)>,
    pub(super) registered_proof: String,
    pub(super) sector_size: SectorSize,
    pub(super) partitions: Vec<Vec<Challenge>>,
    pub(super) comm_r: [u8; 32],
    pub(super) comm_d: [u8; 32],
    pub(super) replica_id: Scalar,
    pub(super) seed: [u8; 32],
    pub(super) ticket: [u8; 32],
}

#[derive(Default)]
pub(super) struct Challenge {
    pub(super) data: MerkleProof,
    pub(super) replica: MerkleProof,
    pub(super) column: Column,
    pub(super) drg_parents: Vec<Column>,
    pub(super) expander_parents: Vec<Column>,
    pub(super) labels: Vec<Label>,
    pub(super) encoding: Label,
}

#[derive(Default)]
pub(super) struct Column {
    pub(super) index: u64,
    pub(super) labels: Vec<Scalar>,
    pub(super) inclusion: MerkleProof,
}

/// The preimage of a label.
#[derive(Default)]
pub(super) struct Label {
    pub(super) parents: Vec<[u8; 32]>,
    pub(super) layer: u64,
    pub(super) node: u64,
}

/// The names by which the vanilla proofs of each sector size are tagged, whatever their version.
const VARIANTS: [&str; 5] = [
    "StackedDrg2KiBV1",
    "StackedDrg8MiBV1",
    "StackedDrg512MiBV1",
    "StackedDrg32GiBV1",
    "StackedDrg64GiBV1",
];

/// Reads a C1 output, in its envelope or bare.
pub(super) fn decode(payload: &[u8]) -> Result<C1> {
    const BARE: &str = "vanilla_proofs[0]";
    const WRAPPED: &str = "vanilla_proofs[0].Phase1Out";
    if payload.is_empty() {
        return Err(RequestError::new(BARE, "0 bytes", "a C1 output"));
    }
    let Some(envelope) = envelope(payload).map_err(|e| e.within(BARE))? else {
        return output(&mut Scanner::new(payload), BARE).map_err(|e| e.within(BARE));
    };
    let mut scanner = Scanner::new(Base64::new(envelope.phase1_out));
    let c1 = output(&mut scanner, WRAPPED);
    let mut c1 = scanner.source().finish(c1).map_err(|e| e.within(WRAPPED))?;
    c1.envelope = Some((envelope.sector_number, envelope.sector_size));
    Ok(c1)
}

#[derive(Default)]
struct Envelope<'a> {
    sector_number: u64,
    sector_size: u64,
    phase1_out: &'a [u8],
}

/// The envelope, or `None` when the document starts with one of the inner output's keys.
fn envelope(payload: &[u8]) -> Result<Option<Envelope<'_>>> {
    let mut envelope = Envelope::default();
    let mut scanner = Scanner::new(payload);
    let keys = ["SectorNum", "Phase1Out", "SectorSize"];
    let first = Scanner::new(payload).first_key()?;
    if !keys.contains(&first.as_str()) {
        return Ok(None);
    }
    scanner.object(keys, |s, key| match key {
        0 => s.integer().map(|n| envelope.sector_number = n),
        1 => s.raw_string().map(|text| envelope.phase1_out = text),
        _ => s.integer().map(|n| envelope.sector_size = n),
    })?;
    scanner.end().map(|()| Some(envelope))
}

/// Reads the inner JSON.
fn output<S: Source>(scanner: &mut Scanner<S>, place: &'static str) -> Result<C1> {
    let mut registered_proof = String::new();
    let mut vanilla = None;
    let (mut comm_r, mut comm_d, mut seed, mut ticket) = ([0; 32], [0; 32], [0; 32], [0; 32]);
    let mut replica_id = Scalar::default();
    let keys = [
        "registered_proof",
        "vanilla_proofs",
        "comm_r",
        "comm_d",
        "replica_id",
        "seed",
        "ticket",
    ];
    scanner.object(keys, |s, key| match key {
        0 => s.string().map(|name| registered_proof = name),
        1 => s.vanilla_proofs().map(|v| vanilla = Some(v)),
        2 => s.bytes32().map(|b| comm_r = b),
        3 => s.bytes32().map(|b| comm_d = b),
        4 => s.element().map(|e| replica_id = e),
        5 => s.bytes32().map(|b| seed = b),
        _ => s.bytes32().map(|b| ticket = b),
    })?;
    scanner.end()?;
    let (sector_size, partitions) = vanilla.expect("`object` saw every key");
    Ok(C1 {
        place,
        envelope: None,
        registered_proof,
        sector_size,
        partitions,
        comm_r,
        comm_d,
        replica_id,
        seed,
        ticket,
    })
}

impl C1 {
    /// The registered proof that the output names, when the request and the envelope agree with it.
    pub(super) fn registered(&self, request: &ProofRequest) -> Result<RegisteredSealProof> {
        let named = format!("{}.registered_proof", self.place);
        let name = self.registered_proof.as_str();
        let (number, proof) = registered::seal_named(name).ok_or_else(|| {
            RequestError::new(
                &named,
                format!("{name:?}"),
                "the name of a registered seal proof",
            )
        })?;
        let size =
            registered::sector_size_of(ProofKind::PoRep, number).expect("seal proofs have a size");
        if size != self.sector_size {
            let expected = format!(
                "a seal proof of {}, as the vanilla proofs are",
                self.sector_size
            );
            return Err(RequestError::new(&named, format!("{name:?}"), expected));
        }
        if request.registered_proof != 0 && request.registered_proof != number {
            return Err(RequestError::new(
                "registered_proof",
                request.registered_proof,
                format!("{number} ({name}), as the C1 output says"),
            ));
        }
        let expected = || format!("{} ({size}), as {named} says", size.bytes());
        if request.sector_size != 0 && request.sector_size != size.bytes() {
            return Err(RequestError::new(
                "sector_size",
                request.sector_size,
                expected(),
            ));
        }
        match self.envelope {
            Some((_, found)) if found != size.bytes() => Err(RequestError::new(
                "vanilla_proofs[0].SectorSize",
                found,
                expected(),
            )),
            _ => Ok(proof),
        }
    }
}

impl<S: Source> Scanner<S> {
    fn vanilla_proofs(&mut self) -> Result<(SectorSize, Vec<Vec<Challenge>>)> {
        let mut proofs = None;
        self.one_of(VARIANTS, |s, i| {
            let (size, mut partitions) = (SectorSize::ALL[i], Vec::new());
            s.array(|s, _| {
                let mut challenges = Vec::new();
                s.array(|s, _| s.challenge(size).map(|c| challenges.push(c)))?;
                partitions.push(challenges);
                Ok(())
            })?;
            proofs = Some((size, partitions));
            Ok(())
        })?;
        Ok(proofs.expect("`one_of` saw a key"))
    }

    fn challenge(&mut self, size: SectorSize) -> Result<Challenge> {
        let mut challenge = Challenge::default();
        let keys = [
            "comm_d_proofs",
            "comm_r_last_proof",
            "replica_column_proofs",
            "labeling_proofs",
            "encoding_proof",
        ];
        let (binary, octal) = (TreeShape::binary(size), TreeShape::octal(size));
        self.object(keys, |s, key| match key {
            0 => s.merkle_proof(&binary).map(|p| challenge.data = p),
            1 => s.merkle_proof(&octal).map(|p| challenge.replica = p),
            2 => s.columns(size, &mut challenge),
            3 => s.array_of(layers(size), "labels", |s, _| {
                s.label().map(|l| challenge.labels.push(l))
            }),
            _ => s.label().map(|l| challenge.encoding = l),
        })?;
        Ok(challenge)
    }

    fn columns(&mut self, size: SectorSize, challenge: &mut Challenge) -> Result<()> {
        self.object(["c_x", "drg_parents", "exp_parents"], |s, key| match key {
            0 => s.column(size).map(|c| challenge.column = c),
            1 => s.array_of(DRG_PARENTS, "columns", |s, _| {
                s.column(size).map(|c| challenge.drg_parents.push(c))
            }),
            _ => s.array_of(EXPANDER_PARENTS, "columns", |s, _| {
                s.column(size).map(|c| challenge.expander_parents.push(c))
            }),
        })
    }

    fn column(&mut self, size: SectorSize) -> Result<Column> {
        let mut column = Column::default();
        self.object(["column", "inclusion_proof"], |s, key| match key {
            0 => s.object(["index", "rows", "_h"], |s, key| match key {
                0 => s.integer().map(|i| column.index = i),
                1 => s.array_of(layers(size), "rows", |s, _| {
                    s.element().map(|e| column.labels.push(e))
                }),
                _ => s.null(),
            }),
            _ => s
                .merkle_proof(&TreeShape::octal(size))
                .map(|p| column.inclusion = p),
        })?;
        Ok(column)
    }

    fn label(&mut self) -> Result<Label> {
        let mut label = Label::default();
        label.parents.reserve_exact(LABEL_PARENTS);
        self.object(["parents", "layer_index", "node"], |s, key| match key {
            0 => s.array_of(LABEL_PARENTS, "parents", |s, _| {
                s.bytes32().map(|b| label.parents.push(b))
            }),
            1 => s.integer().map(|i| label.layer = i),
            _ => s.integer().map(|i| label.node = i),
        })?;
        Ok(label)
    }
}
