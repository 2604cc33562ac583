//! Setup to disk: temporary files, renamed when complete, under a lock.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cuzk_r1cs::R1cs;
use rand::SeedableRng;
use rand::rngs::OsRng;
use rand_chacha::ChaCha20Rng;
use tempfile::NamedTempFile;

use super::marker::circuit_name;
use super::{InsecureMarker, SetupError, ToxicWaste, generate_with, marker_path};
use crate::field::Isa;
use crate::params::{G1_BYTES, G2_BYTES, ParameterFile, ShortDigest};
use crate::progress::{NoProgress, Progress};
use crate::vk::VerifyingKey;

/// What [`write_files`] left on disk.
#[derive(Clone, Debug)]
pub struct SetupReport {
    /// What the marker beside the parameters says.
    pub marker: InsecureMarker,
    /// Size of the `.params` file in bytes.
    pub params_bytes: u64,
    /// Whether intact files of an earlier setup for the same circuit and seed were kept.
    pub reused: bool,
}

/// Runs a developer setup on the CPU and writes `.params`, `.vk` and the marker that says they are insecure.
///
/// With a seed the files are the same every time; without, the randomness is the operating system's. Files of an
/// earlier developer setup for the same circuit (and seed, when one is given) are kept when their digests still hold,
/// and replaced otherwise; any other file is left alone and is an error. Another process that runs the same setup is
/// waited for. Nothing is made when the file system has too little room.
pub fn write_files(
    circuit: &R1cs,
    params: &Path,
    vk: &Path,
    seed: Option<u64>,
    progress: &dyn Progress,
) -> Result<SetupReport, SetupError> {
    write_files_with(circuit, params, vk, seed, progress, |toxic, out| {
        generate_with(circuit, toxic, Isa::detect(), out, progress)
    })
}

/// [`write_files`] with another maker of the parameters: `make` gets the toxic waste, writes the `.params` file and
/// returns the verifying key.
///
/// # Errors
/// Those of [`write_files`], and the maker's.
pub fn write_files_with<E: From<SetupError>>(
    circuit: &R1cs,
    params: &Path,
    vk: &Path,
    seed: Option<u64>,
    progress: &dyn Progress,
    make: impl FnOnce(&ToxicWaste, &mut (dyn Write + Send)) -> Result<VerifyingKey, E>,
) -> Result<SetupReport, E> {
    let _lock = lock(params, progress)?;
    if let Some(report) = earlier(circuit, params, vk, seed)? {
        return Ok(report);
    }
    check_room(params_bytes(circuit), params)?;
    let toxic = match seed {
        Some(seed) => ToxicWaste::random(ChaCha20Rng::seed_from_u64(seed)),
        None => ToxicWaste::random(OsRng),
    };
    let mut params_file = Temporary::create(params)?;
    let key = make(&toxic, &mut params_file)?;
    Ok(persist(circuit, (params_file, vk), &key, seed)?)
}

/// Gives the files their names.
fn persist(
    circuit: &R1cs,
    (params_file, vk): (Temporary, &Path),
    key: &VerifyingKey,
    seed: Option<u64>,
) -> Result<SetupReport, SetupError> {
    let mut vk_file = Temporary::create(vk)?;
    vk_file.write_all(&key.to_bytes())?;

    let marker = InsecureMarker::new(
        circuit,
        params_file.digest.hex(),
        vk_file.digest.hex(),
        seed,
    );
    let mut json = Temporary::create(&marker_path(&params_file.path))?;
    json.write_all(&serde_json::to_vec_pretty(&marker).map_err(io::Error::from)?)?;
    // The marker goes first, so that no crash leaves unmarked parameters behind.
    json.persist()?;
    vk_file.persist()?;
    let params_bytes = params_file.bytes;
    params_file.persist()?;
    Ok(SetupReport {
        marker,
        params_bytes,
        reused: false,
    })
}

/// Size of a circuit's `.params` file in bytes.
pub fn params_bytes(circuit: &R1cs) -> u64 {
    let densities = circuit.densities();
    let inputs = circuit.num_inputs();
    let a = inputs + densities.a_aux.count_ones();
    let b = densities.b_inputs.count_ones() + densities.b_aux.count_ones();
    // The verifying key's six points and inputs, H, L, A, and B in G1 and in G2, with six counts.
    let g1 = 3 + inputs + ((1 << circuit.log_domain()) - 1) + circuit.num_aux() + a + b;
    let g2 = 3 + b;
    (6 * size_of::<u32>() + g1 * G1_BYTES + g2 * G2_BYTES) as u64
}

/// Whether a file of so many bytes fits beside `params`; where the system does not tell, writing it will.
fn check_room(expected: u64, params: &Path) -> Result<(), SetupError> {
    match free_bytes(&folder_of(params)) {
        Some(found) if found < expected => Err(SetupError::Room {
            path: params.into(),
            found,
            expected,
        }),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn free_bytes(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(not(target_os = "linux"))]
fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

/// The folder that a file is or will be in.
fn folder_of(path: &Path) -> PathBuf {
    let named = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    named.unwrap_or(Path::new(".")).to_owned()
}

fn at(path: &Path) -> impl Fn(io::Error) -> SetupError {
    move |source| SetupError::Io {
        path: path.into(),
        source,
    }
}

/// Makes the folder, and keeps other setups of these parameters waiting.
fn lock(params: &Path, progress: &dyn Progress) -> Result<File, SetupError> {
    let folder = folder_of(params);
    std::fs::create_dir_all(&folder).map_err(at(&folder))?;
    let mut path = params.as_os_str().to_owned();
    path.push(".lock");
    let path = PathBuf::from(path);
    let file = File::create(&path).map_err(at(&path))?;
    if file.try_lock().is_err() {
        progress.begin("waiting for another setup", 1);
        file.lock().map_err(at(&path))?;
        progress.advance(1);
    }
    Ok(file)
}

/// Looks at what stands under the names: files to keep, nothing or damaged developer files to replace, or foreign ones.
fn earlier(
    circuit: &R1cs,
    params: &Path,
    vk: &Path,
    seed: Option<u64>,
) -> Result<Option<SetupReport>, SetupError> {
    let marker_file = marker_path(params);
    let Some(marker) = InsecureMarker::beside(params).map_err(at(&marker_file))? else {
        let foreign = [params, vk].into_iter().find(|path| path.exists());
        return match foreign {
            Some(path) => Err(SetupError::NotOurs {
                path: path.into(),
                marker: marker_file,
            }),
            None => Ok(None),
        };
    };
    let wanted = marker.circuit == circuit_name(circuit) && (seed.is_none() || seed == marker.seed);
    if !wanted {
        return Ok(None);
    }
    let Ok(file) = ParameterFile::open(params) else {
        return Ok(None);
    };
    let intact = file
        .check_digest(&marker.params_digest, &NoProgress)
        .is_ok()
        && VerifyingKey::read_from(vk).is_ok_and(|key| key == *file.vk());
    let params_bytes = file.bytes().len() as u64;
    Ok(intact.then_some(SetupReport {
        marker,
        params_bytes,
        reused: true,
    }))
}

/// A file under a temporary name, with the digest of what was written.
struct Temporary {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    digest: ShortDigest,
    bytes: u64,
}

impl Temporary {
    fn create(path: &Path) -> Result<Self, SetupError> {
        let file = tempfile::Builder::new()
            .prefix(".setup-")
            .permissions(Permissions::from_mode(0o644))
            .tempfile_in(folder_of(path))
            .map_err(at(path))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self {
            path: path.into(),
            file,
            digest: ShortDigest::new(),
            bytes: 0,
        })
    }

    fn persist(self) -> Result<(), SetupError> {
        let file = self
            .file
            .into_inner()
            .map_err(|error| at(&self.path)(error.into_error()))?;
        file.persist(&self.path)
            .map_err(|error| at(&self.path)(error.error))?;
        Ok(())
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.digest.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
