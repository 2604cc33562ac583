//! From the options of the command line to a request.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::ValueEnum;
use cuzk_proto::v1;
use serde::Deserialize;

use crate::error::Error;
use crate::files;

/// What is proved, as `--type` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Proof of replication (C2).
    Porep,
    /// Empty sector update.
    Snap,
    /// One partition of a WindowPoSt.
    Wpost,
    /// WinningPoSt.
    Winning,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Porep => "porep",
            Self::Snap => "snap",
            Self::Wpost => "wpost",
            Self::Winning => "winning",
        }
    }

    fn wire(self) -> v1::ProofKind {
        match self {
            Self::Porep => v1::ProofKind::PorepSealCommit,
            Self::Snap => v1::ProofKind::SnapDealsUpdate,
            Self::Wpost => v1::ProofKind::WindowPostPartition,
            Self::Winning => v1::ProofKind::WinningPost,
        }
    }
}

/// Order among the daemon's waiting jobs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Priority {
    Low,
    Normal,
    High,
    Critical,
}

impl Priority {
    fn wire(self) -> v1::Priority {
        match self {
            Self::Low => v1::Priority::Low,
            Self::Normal => v1::Priority::Normal,
            Self::High => v1::Priority::High,
            Self::Critical => v1::Priority::Critical,
        }
    }
}

/// The vanilla proof and the statement it belongs to.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RequestArgs {
    /// What is proved.
    #[arg(long = "type", value_enum, value_name = "KIND")]
    pub(crate) kind: Kind,

    /// PoRep: the C1 output, as JSON.
    #[arg(long, value_name = "FILE")]
    c1: Option<PathBuf>,

    /// The other kinds: a JSON array of base64 vanilla proofs, one a sector (PoSt) or a partition (snap).
    #[arg(long, value_name = "FILE")]
    vanilla: Option<PathBuf>,

    /// Bytes of the sector; 0 takes it from the payload where that names one.
    #[arg(long, default_value_t = 0)]
    sector_size: u64,

    /// Number of the registered proof type, as go-state-types gives it.
    #[arg(long, default_value_t = 0)]
    registered_proof: u64,

    /// Sector number; left out, the C1 envelope's.
    #[arg(long)]
    sector_num: Option<u64>,

    /// Actor id of the miner.
    #[arg(long, default_value_t = 0)]
    miner_id: u64,

    /// PoSt: 32 bytes of randomness.
    #[arg(long, value_name = "HEX")]
    randomness: Option<String>,

    /// WindowPoSt: which partition of the deadline.
    #[arg(long, default_value_t = 0)]
    partition: u32,

    /// Snap: CommR before the update.
    #[arg(long, value_name = "HEX")]
    comm_r_old: Option<String>,

    /// Snap: CommR after the update.
    #[arg(long, value_name = "HEX")]
    comm_r_new: Option<String>,

    /// Snap: CommD after the update.
    #[arg(long, value_name = "HEX")]
    comm_d_new: Option<String>,

    /// Order among waiting jobs; left out, the kind's default.
    #[arg(long, value_enum)]
    priority: Option<Priority>,
}

/// The fields of a C1 envelope that a request repeats. A bare C1 has neither.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Envelope {
    sector_num: Option<u64>,
    sector_size: Option<u64>,
}

impl RequestArgs {
    /// Reads the files and assembles the request, with an empty request id.
    pub(crate) fn read(&self) -> Result<v1::SubmitProofRequest, Error> {
        let mut request = v1::SubmitProofRequest {
            proof_kind: self.kind.wire().into(),
            sector_size: self.sector_size,
            registered_proof: self.registered_proof,
            priority: self
                .priority
                .map_or(v1::Priority::Unspecified, Priority::wire)
                .into(),
            sector_number: self.sector_num.unwrap_or(0),
            miner_id: self.miner_id,
            randomness: commitment("--randomness", self.randomness.as_deref())?,
            partition_index: self.partition,
            comm_r_old: commitment("--comm-r-old", self.comm_r_old.as_deref())?,
            comm_r_new: commitment("--comm-r-new", self.comm_r_new.as_deref())?,
            comm_d_new: commitment("--comm-d-new", self.comm_d_new.as_deref())?,
            ..v1::SubmitProofRequest::default()
        };
        match self.kind {
            Kind::Porep => self.read_c1(&mut request)?,
            Kind::Snap | Kind::Wpost | Kind::Winning => self.read_vanilla(&mut request)?,
        }
        Ok(request)
    }

    fn read_c1(&self, request: &mut v1::SubmitProofRequest) -> Result<(), Error> {
        if let Some(path) = &self.vanilla {
            return Err(Error::input(
                "--vanilla",
                path.display().to_string(),
                "--c1 FILE for --type porep",
            ));
        }
        let path = self.c1.as_ref().ok_or_else(|| {
            Error::input(
                "--c1",
                "nothing",
                "a file with the C1 output, for --type porep",
            )
        })?;
        let bytes = files::read_input("--c1", path)?;
        let envelope: Envelope = serde_json::from_slice(&bytes).map_err(|cause| {
            Error::input(
                format!("--c1 {}", path.display()),
                cause.to_string(),
                "the JSON of a C1 output",
            )
        })?;
        if self.sector_num.is_none() {
            request.sector_number = envelope.sector_num.unwrap_or(0);
        }
        if self.sector_size == 0 {
            request.sector_size = envelope.sector_size.unwrap_or(0);
        }
        request.vanilla_proof = bytes;
        Ok(())
    }

    fn read_vanilla(&self, request: &mut v1::SubmitProofRequest) -> Result<(), Error> {
        let kind = self.kind.name();
        if let Some(path) = &self.c1 {
            return Err(Error::input(
                "--c1",
                path.display().to_string(),
                format!("--vanilla FILE for --type {kind}"),
            ));
        }
        let path = self.vanilla.as_ref().ok_or_else(|| {
            Error::input(
                "--vanilla",
                "nothing",
                format!("a file with vanilla proofs, for --type {kind}"),
            )
        })?;
        let field = format!("--vanilla {}", path.display());
        let encoded: Vec<String> = serde_json::from_slice(&files::read_input("--vanilla", path)?)
            .map_err(|cause| {
            Error::input(&field, cause.to_string(), "a JSON array of base64 strings")
        })?;
        request.vanilla_proofs = encoded
            .iter()
            .enumerate()
            .map(|(index, text)| {
                BASE64.decode(text).map_err(|cause| {
                    Error::input(format!("{field} [{index}]"), cause.to_string(), "base64")
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// Decodes an option of 32 bytes in hex; empty when it was not given.
fn commitment(option: &str, text: Option<&str>) -> Result<Vec<u8>, Error> {
    let Some(text) = text else {
        return Ok(Vec::new());
    };
    let bytes = hex::decode(text.strip_prefix("0x").unwrap_or(text))
        .map_err(|cause| Error::input(option, cause.to_string(), "32 bytes in hex"))?;
    if bytes.len() != 32 {
        return Err(Error::input(
            option,
            format!("{} bytes", bytes.len()),
            "32 bytes in hex",
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
