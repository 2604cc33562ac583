//! From the options of the command line to a request.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::ValueEnum;
use cuzk_filecoin::{ProofKind, ProofRequest, SectorSize};
use cuzk_proto::v1;
use serde::Deserialize;

use crate::error::Error;
use crate::files;

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

/// What is proved, of what, and how urgently.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RequestArgs {
    /// What is proved: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND")]
    pub(crate) kind: ProofKind,

    #[command(flatten)]
    input: InputArgs,

    /// Order among waiting jobs; left out, the kind's default.
    #[arg(long, value_enum)]
    priority: Option<Priority>,
}

/// What `--help` says of registered proofs.
const REGISTERED_PROOFS: &str = "\
Number of the registered proof type, as go-state-types gives it:

  kind     version               2KiB  8MiB  512MiB  32GiB  64GiB
  porep    V1                       0     1       2      3      4
  porep    V1_1                     5     6       7      8      9
  porep    V1_1, synthetic         10    11      12     13     14
  porep    V1_2, non-interactive   15    16      17     18     19
  wpost    V1                       5     6       7      8      9
  wpost    V1_1                    10    11      12     13     14
  winning  V1                       0     1       2      3      4
  snap     V1                       0     1       2      3      4

Of porep, 0 leaves it to the C1 output to tell.";

/// The vanilla proof and the statement it belongs to.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct InputArgs {
    /// PoRep: the C1 output, as JSON.
    #[arg(long, value_name = "FILE")]
    c1: Option<PathBuf>,

    /// The other kinds: a JSON array of base64 vanilla proofs, one a sector (PoSt) or a partition (snap).
    #[arg(long, value_name = "FILE")]
    vanilla: Option<PathBuf>,

    /// Size of the sectors, such as 32GiB; left out, the payload or the registered proof tells.
    #[arg(long)]
    sector_size: Option<SectorSize>,

    /// Number of the registered proof type, as go-state-types gives it; `--help` has the table.
    #[arg(long, default_value_t = 0, long_help = REGISTERED_PROOFS)]
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
}

/// The fields of a C1 envelope that a request repeats. A bare C1 has neither.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Envelope {
    sector_num: Option<u64>,
    sector_size: Option<u64>,
}

impl RequestArgs {
    /// Reads the files and assembles the request.
    pub(crate) fn read(&self) -> Result<ProofRequest, Error> {
        self.input.read(self.kind)
    }

    /// The same for the wire, with an empty request id.
    pub(crate) fn read_for_wire(&self) -> Result<v1::SubmitProofRequest, Error> {
        let priority = self
            .priority
            .map_or(v1::Priority::Unspecified, Priority::wire);
        Ok(v1::SubmitProofRequest {
            priority: priority.into(),
            ..to_wire(self.read()?)
        })
    }
}

impl InputArgs {
    /// Whether a file with a vanilla proof was named.
    pub(crate) fn is_given(&self) -> bool {
        self.c1.is_some() || self.vanilla.is_some()
    }

    /// Reads the files and assembles a request of this kind.
    pub(crate) fn read(&self, kind: ProofKind) -> Result<ProofRequest, Error> {
        let mut request = ProofRequest {
            sector_size: self.sector_size.map_or(0, SectorSize::bytes),
            registered_proof: self.registered_proof,
            sector_number: self.sector_num.unwrap_or(0),
            miner_id: self.miner_id,
            randomness: commitment("--randomness", self.randomness.as_deref())?,
            partition_index: self.partition,
            comm_r_old: commitment("--comm-r-old", self.comm_r_old.as_deref())?,
            comm_r_new: commitment("--comm-r-new", self.comm_r_new.as_deref())?,
            comm_d_new: commitment("--comm-d-new", self.comm_d_new.as_deref())?,
            ..ProofRequest::new(kind)
        };
        match kind {
            ProofKind::PoRep => self.read_c1(&mut request)?,
            _ => self.read_vanilla(&mut request)?,
        }
        Ok(request)
    }

    fn read_c1(&self, request: &mut ProofRequest) -> Result<(), Error> {
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
                shortened(&cause.to_string()),
                "the JSON of a C1 output",
            )
        })?;
        if self.sector_num.is_none() {
            request.sector_number = envelope.sector_num.unwrap_or(0);
        }
        if self.sector_size.is_none() {
            request.sector_size = envelope.sector_size.unwrap_or(0);
        }
        request.vanilla_proofs = vec![bytes];
        Ok(())
    }

    fn read_vanilla(&self, request: &mut ProofRequest) -> Result<(), Error> {
        let kind = request.kind;
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

/// A request as the wire carries it, with an empty id and the kind's default priority.
pub fn to_wire(request: ProofRequest) -> v1::SubmitProofRequest {
    let mut vanilla_proofs = request.vanilla_proofs;
    let (kind, vanilla_proof) = match request.kind {
        ProofKind::PoRep => (
            v1::ProofKind::PorepSealCommit,
            vanilla_proofs.pop().unwrap_or_default(),
        ),
        ProofKind::SnapDeals => (v1::ProofKind::SnapDealsUpdate, Vec::new()),
        ProofKind::WindowPoSt => (v1::ProofKind::WindowPostPartition, Vec::new()),
        ProofKind::WinningPoSt => (v1::ProofKind::WinningPost, Vec::new()),
    };
    v1::SubmitProofRequest {
        proof_kind: kind.into(),
        sector_size: request.sector_size,
        registered_proof: request.registered_proof,
        vanilla_proof,
        vanilla_proofs,
        sector_number: request.sector_number,
        miner_id: request.miner_id,
        randomness: request.randomness,
        partition_index: request.partition_index,
        comm_r_old: request.comm_r_old,
        comm_r_new: request.comm_r_new,
        comm_d_new: request.comm_d_new,
        ..v1::SubmitProofRequest::default()
    }
}

/// What a file for `--c1` or `--vanilla` holds for this request.
pub fn file_content(request: &ProofRequest) -> Result<Vec<u8>, Error> {
    match (request.kind, request.vanilla_proofs.as_slice()) {
        (ProofKind::PoRep, [c1]) => Ok(c1.clone()),
        (_, proofs) => {
            let encoded: Vec<String> = proofs.iter().map(|proof| BASE64.encode(proof)).collect();
            serde_json::to_vec(&encoded)
                .map_err(|cause| Error::Failed(format!("no JSON could be made: {cause}")))
        }
    }
}

/// The options from which [`RequestArgs`] reads this request again, its vanilla proofs being in `file`.
pub fn options(request: &ProofRequest, file: &Path) -> Vec<String> {
    let mut options = vec!["--type".to_owned(), request.kind.to_string()];
    options.extend(input_options(request, file));
    options
}

/// The same for [`InputArgs`].
pub(crate) fn input_options(request: &ProofRequest, file: &Path) -> Vec<String> {
    let file_option = match request.kind {
        ProofKind::PoRep => "--c1",
        _ => "--vanilla",
    };
    let mut options = vec![file_option.to_owned(), file.to_string_lossy().into_owned()];
    let numbers = [
        ("--sector-size", request.sector_size),
        ("--registered-proof", request.registered_proof),
        ("--sector-num", request.sector_number),
        ("--miner-id", request.miner_id),
        ("--partition", request.partition_index.into()),
    ];
    for (option, number) in numbers.into_iter().filter(|(_, number)| *number != 0) {
        options.extend([option.to_owned(), number.to_string()]);
    }
    let bytes = [
        ("--randomness", &request.randomness),
        ("--comm-r-old", &request.comm_r_old),
        ("--comm-r-new", &request.comm_r_new),
        ("--comm-d-new", &request.comm_d_new),
    ];
    for (option, bytes) in bytes.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        options.extend([option.to_owned(), hex::encode(bytes)]);
    }
    options
}

/// Decodes an option of 32 bytes in hex; empty when it was not given.
fn commitment(option: &str, text: Option<&str>) -> Result<Vec<u8>, Error> {
    Ok(bytes32(option, text)?.map_or_else(Vec::new, Vec::from))
}

/// Decodes an option of 32 bytes in hex.
pub(crate) fn bytes32(option: &str, text: Option<&str>) -> Result<Option<[u8; 32]>, Error> {
    let Some(text) = text else {
        return Ok(None);
    };
    let bytes = hex::decode(text.strip_prefix("0x").unwrap_or(text))
        .map_err(|cause| Error::input(option, cause.to_string(), "32 bytes in hex"))?;
    match bytes.try_into() {
        Ok(array) => Ok(Some(array)),
        Err(bytes) => Err(Error::input(
            option,
            format!("{} bytes", Vec::len(&bytes)),
            "32 bytes in hex",
        )),
    }
}

/// At most 200 characters of a text, which may quote the payload.
fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
