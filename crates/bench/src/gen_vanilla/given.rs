//! From sectors that somebody else sealed, given as paths, to requests.

use std::path::{Path, PathBuf};

use cuzk_filecoin::vanilla::{
    Replica, SealInputs, VanillaError, replica_c1, replicas_post, update_vanilla,
};
use cuzk_filecoin::{CircuitId, ProofKind, ProofRequest, SectorSize, registered};

use super::commitments::{comm_d, comm_r};
use super::options::{PorepArgs, PostArgs, SealArgs, SectorFiles, SnapArgs};
use crate::error::Error;
use crate::request;

pub(super) fn porep(args: &PorepArgs) -> Result<ProofRequest, Error> {
    let replicas = replicas(&args.seal, &args.files)?;
    let [replica] = replicas.as_slice() else {
        let found = format!("{} files", replicas.len());
        return Err(Error::input("--sealed", found, "one"));
    };
    let request = request_for(ProofKind::PoRep, &args.seal, &replica.replica)?;
    let bytes = |option: &str, text: &Option<String>| {
        request::bytes32(option, text.as_deref())?
            .ok_or_else(|| Error::input(option, "nothing", "32 bytes in hex"))
    };
    let inputs = SealInputs {
        registered_proof: request.registered_proof,
        miner_id: args.seal.miner_id,
        comm_d: comm_d("--comm-d", args.comm_d.as_deref())?,
        ticket: bytes("--ticket", &args.ticket)?,
        seed: bytes("--seed", &args.seed)?,
    };
    Ok(ProofRequest {
        vanilla_proofs: vec![replica_c1(&inputs, replica).map_err(refused)?],
        ..request
    })
}

pub(super) fn post(
    kind: ProofKind,
    args: &PostArgs,
    randomness: &[u8; 32],
) -> Result<ProofRequest, Error> {
    let replicas = replicas(&args.seal, &args.files)?;
    let request = request_for(kind, &args.seal, &replicas[0].replica)?;
    let proofs = replicas_post(
        request.registered_proof,
        args.seal.miner_id,
        &replicas,
        randomness,
    );
    Ok(ProofRequest {
        randomness: randomness.to_vec(),
        vanilla_proofs: proofs.map_err(refused)?,
        ..request
    })
}

pub(super) fn snap(args: &SnapArgs) -> Result<ProofRequest, Error> {
    let path = |option: &str, path: &Option<PathBuf>| existing(option, path.as_deref());
    let sector_number = args.seal.only_number()?;
    let (new_r, new_d) = match &args.update_commdr {
        Some(file) => (Some(file.as_str()), Some(file.as_str())),
        None => (args.comm_r_new.as_deref(), args.comm_d_new.as_deref()),
    };
    let old = Replica {
        sector_number,
        comm_r: comm_r("--comm-r-old", args.comm_r_old.as_deref())?,
        cache: path("--sector-key-cache", &args.sector_key_cache)?,
        replica: path("--sector-key", &args.sector_key)?,
    };
    let new = Replica {
        sector_number,
        comm_r: comm_r("--comm-r-new", new_r)?,
        cache: path("--replica-cache", &args.replica_cache)?,
        replica: path("--replica", &args.replica)?,
    };
    let comm_d_new = comm_d("--comm-d-new", new_d)?;
    let request = request_for(ProofKind::SnapDeals, &args.seal, &new.replica)?;
    let proofs = update_vanilla(request.registered_proof, &old, &new, comm_d_new);
    Ok(ProofRequest {
        comm_r_old: old.comm_r.to_vec(),
        comm_r_new: new.comm_r.to_vec(),
        comm_d_new: comm_d_new.to_vec(),
        vanilla_proofs: proofs.map_err(refused)?,
        ..request
    })
}

/// One replica for each sector: at least one, and as many of each option.
fn replicas(args: &SealArgs, files: &SectorFiles) -> Result<Vec<Replica>, Error> {
    let count = files.sealed.len().max(1);
    for (option, found) in [
        ("--sealed", files.sealed.len()),
        ("--cache", files.cache.len()),
        ("--comm-r", files.comm_r.len()),
        ("--sector-num", args.sector_num.len()),
    ] {
        if found != count {
            let expected = format!("{count}, one for each sector");
            return Err(Error::input(option, found.to_string(), expected));
        }
    }
    let sectors = args.sector_num.iter().zip(&files.sealed);
    sectors
        .zip(files.cache.iter().zip(&files.comm_r))
        .map(|((number, sealed), (cache, commitment))| {
            Ok(Replica {
                sector_number: *number,
                comm_r: comm_r("--comm-r", Some(commitment))?,
                cache: existing("--cache", Some(cache))?,
                replica: existing("--sealed", Some(sealed))?,
            })
        })
        .collect()
}

fn existing(option: &str, path: Option<&Path>) -> Result<PathBuf, Error> {
    match path {
        Some(path) if path.exists() => Ok(path.to_owned()),
        Some(path) => {
            let field = format!("{option} {}", path.display());
            Err(Error::input(field, "nothing", "a file or folder"))
        }
        None => Err(Error::input(option, "nothing", "a path")),
    }
}

/// A request without its proofs. The size of a sector is that of its replica's file.
fn request_for(kind: ProofKind, args: &SealArgs, replica: &Path) -> Result<ProofRequest, Error> {
    let metadata = std::fs::metadata(replica).map_err(|source| Error::file(replica, source))?;
    let size = SectorSize::from_bytes(metadata.len()).ok_or_else(|| {
        let found = format!("{} bytes", metadata.len());
        let expected = SectorSize::ALL.map(SectorSize::name).join(", ");
        Error::input(replica.display().to_string(), found, expected)
    })?;
    if let Some(expected) = args.sector_size.filter(|expected| *expected != size) {
        let field = replica.display().to_string();
        return Err(Error::input(field, size.name(), expected.name()));
    }
    let id = CircuitId::new(kind, size);
    let registered_proof = args
        .registered_proof
        .unwrap_or_else(|| registered::latest(id));
    if registered::sector_size_of(kind, registered_proof) != Some(size) {
        return Err(Error::input(
            "--registered-proof",
            registered_proof.to_string(),
            format!("a number of {id}, for instance {}", registered::latest(id)),
        ));
    }
    Ok(ProofRequest {
        sector_size: size.bytes(),
        registered_proof,
        sector_number: args.sector_num[0],
        miner_id: args.miner_id,
        ..ProofRequest::new(kind)
    })
}

fn refused(cause: VanillaError) -> Error {
    Error::Failed(cause.to_string())
}
