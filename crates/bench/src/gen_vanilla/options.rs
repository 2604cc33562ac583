//! The options of `gen-vanilla`.

use std::path::PathBuf;

use cuzk_filecoin::vanilla::SealOptions;
use cuzk_filecoin::{ProofKind, SectorSize};

use crate::error::Error;

/// What all kinds have in common.
#[derive(clap::Args, Debug)]
pub(super) struct SealArgs {
    /// Size of the sector, such as 2KiB; of a sector given as paths, the replica file tells.
    #[arg(long)]
    pub(super) sector_size: Option<SectorSize>,

    /// Number of the (first) sector; given once for each sector that is given as paths.
    #[arg(long, visible_alias = "sector-number", default_values_t = [1])]
    pub(super) sector_num: Vec<u64>,

    /// Actor id of the miner.
    #[arg(long, default_value_t = 1000)]
    pub(super) miner_id: u64,

    /// Number of the registered proof (table: `single --help`); left out, the latest interactive one of the kind and size.
    #[arg(long)]
    pub(super) registered_proof: Option<u64>,

    /// Keep the files of the sectors that are sealed for the purpose in this folder.
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,

    /// Where to write the C1 output or the JSON array of base64 vanilla proofs.
    #[arg(long, short, visible_alias = "output", value_name = "FILE")]
    pub(super) out: PathBuf,
}

impl SealArgs {
    /// The options for sealing, where one number stands for all sectors.
    pub(super) fn options(&self) -> Result<SealOptions, Error> {
        Ok(SealOptions {
            sector_number: self.only_number()?,
            miner_id: self.miner_id,
            ..SealOptions::default()
        })
    }

    pub(super) fn only_number(&self) -> Result<u64, Error> {
        match self.sector_num.as_slice() {
            [number] => Ok(*number),
            numbers => Err(Error::input(
                "--sector-num",
                format!("{} numbers", numbers.len()),
                "one",
            )),
        }
    }
}

/// Sealed sectors given as paths: each option once for each sector, in the same order.
#[derive(clap::Args, Debug)]
pub(super) struct SectorFiles {
    /// A sealed sector file.
    #[arg(long, value_name = "FILE")]
    pub(super) sealed: Vec<PathBuf>,

    /// Its cache folder, with p_aux and tree R.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Vec<PathBuf>,

    /// Its CommR: hex, a CID (bagboea4b5abc...), or a file with `d:CID r:CID`.
    #[arg(long, value_name = "HEX|CID|FILE")]
    pub(super) comm_r: Vec<String>,
}

impl SectorFiles {
    pub(super) fn is_given(&self) -> bool {
        !(self.sealed.is_empty() && self.cache.is_empty() && self.comm_r.is_empty())
    }
}

#[derive(clap::Args, Debug)]
pub(super) struct PorepArgs {
    #[command(flatten)]
    pub(super) seal: SealArgs,

    #[command(flatten)]
    pub(super) files: SectorFiles,

    /// CommD of a sector given as paths: hex, a CID (baga6ea4seaq...), or a file with `d:CID r:CID`.
    #[arg(long, value_name = "HEX|CID|FILE")]
    pub(super) comm_d: Option<String>,

    /// Randomness of the replica id, 32 bytes.
    #[arg(long, value_name = "HEX")]
    pub(super) ticket: Option<String>,

    /// Interactive randomness of the challenges, 32 bytes.
    #[arg(long, value_name = "HEX")]
    pub(super) seed: Option<String>,
}

#[derive(clap::Args, Debug)]
pub(super) struct PostArgs {
    #[command(flatten)]
    pub(super) seal: SealArgs,

    #[command(flatten)]
    pub(super) files: SectorFiles,

    /// Randomness of the challenges: 32 bytes, the two top bits of the last one clear.
    #[arg(long, value_name = "HEX")]
    pub(super) randomness: Option<String>,
}

#[derive(clap::Args, Debug)]
pub(super) struct SnapArgs {
    #[command(flatten)]
    pub(super) seal: SealArgs,

    /// The sealed sector file before the update.
    #[arg(long, value_name = "FILE")]
    pub(super) sector_key: Option<PathBuf>,

    /// Its cache folder.
    #[arg(long, value_name = "DIR")]
    pub(super) sector_key_cache: Option<PathBuf>,

    /// The updated replica.
    #[arg(long, value_name = "FILE")]
    pub(super) replica: Option<PathBuf>,

    /// Its cache folder.
    #[arg(long, value_name = "DIR")]
    pub(super) replica_cache: Option<PathBuf>,

    /// CommR before the update: hex, a CID (bagboea4b5abc...), or a file with `d:CID r:CID`.
    #[arg(long, visible_alias = "orig-commdr", value_name = "HEX|CID|FILE")]
    pub(super) comm_r_old: Option<String>,

    /// CommR after the update.
    #[arg(long, value_name = "HEX|CID|FILE")]
    pub(super) comm_r_new: Option<String>,

    /// CommD after the update.
    #[arg(long, value_name = "HEX|CID|FILE")]
    pub(super) comm_d_new: Option<String>,

    /// A file with `d:CID r:CID` after the update, instead of the two options.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["comm_r_new", "comm_d_new"])]
    pub(super) update_commdr: Option<String>,
}

impl SnapArgs {
    pub(super) fn is_given(&self) -> bool {
        self.sector_key.is_some()
            || self.sector_key_cache.is_some()
            || self.replica.is_some()
            || self.replica_cache.is_some()
    }
}

#[derive(clap::Args, Debug)]
pub(super) struct SyntheticArgs {
    /// What is proved: porep, snap, wpost or winning.
    #[arg(long = "type", value_name = "KIND")]
    pub(super) kind: ProofKind,

    /// Size of the sectors, such as 32GiB.
    #[arg(long)]
    pub(super) sector_size: SectorSize,

    /// Number of the registered proof (table: `single --help`); left out, the latest interactive one of the size.
    #[arg(long)]
    pub(super) registered_proof: Option<u64>,

    /// WindowPoSt: how many sectors; left out, a full partition.
    #[arg(long)]
    pub(super) sectors: Option<usize>,

    /// WindowPoSt: index of the partition within the deadline.
    #[arg(long, default_value_t = 0)]
    pub(super) partition: u32,

    /// Number of the (first) sector.
    #[arg(long, visible_alias = "sector-number", default_value_t = 1)]
    pub(super) sector_num: u64,

    /// Actor id of the miner.
    #[arg(long, default_value_t = 1000)]
    pub(super) miner_id: u64,

    /// Seed of all values.
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,

    /// Where to write the C1 output or the JSON array of base64 vanilla proofs.
    #[arg(long, short, visible_alias = "output", value_name = "FILE")]
    pub(super) out: PathBuf,
}
