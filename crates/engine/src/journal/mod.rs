//! The journal: what must outlive the process.
//!
//! A folder with up to three files a job:
//!
//! ```text
//! <job id>.request   an accepted job; written, synced and renamed into place before its submitter is answered
//! <job id>.starts    one byte for each process that began to work on it
//! <job id>.result    how it ended; written before .request is removed, kept for a bounded time
//! ```
//!
//! After a crash, a job with a `.request` and no `.result` goes back into the queue under its old id.

mod record;

pub(crate) use record::Accepted;
pub use record::RecordError;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cuzk_filecoin::ProofRequest;

use crate::job::{Finished, JobId};
use crate::payload::payload_bytes;

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system's error.
    #[error("journal: {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The record is damaged.
    #[error("journal: {}: {source}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: RecordError,
    },
    /// Another process uses the folder.
    #[error("journal: {} is in use by another process", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
}

/// An open journal. Only one process can hold one folder.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    _lock: File,
}

/// What a journal held when it was opened.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// Jobs to be done, oldest first.
    pub(crate) jobs: Vec<RecoveredJob>,
    /// Jobs that have ended, oldest end first.
    pub(crate) finished: Vec<Finished>,
}

/// A job to be done. Its request stays on disk until its turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecoveredJob {
    pub(crate) accepted: Accepted,
    pub(crate) payload_bytes: u64,
    /// Processes that began to work on it.
    pub(crate) starts: u64,
}

impl Journal {
    /// Opens the folder, which is made when absent, and reads what is in it. Damaged records are set aside under the suffix `.damaged`
    /// and reported in the log: one bad file must not keep the service down.
    pub(crate) fn open(dir: &Path) -> Result<(Self, Recovered), JournalError> {
        fs::create_dir_all(dir).map_err(io_error(dir))?;
        let journal = Self {
            dir: dir.to_path_buf(),
            _lock: lock(dir)?,
        };
        let recovered = journal.recover()?;
        Ok((journal, recovered))
    }

    /// Makes a job durable.
    pub(crate) fn accept(
        &self,
        accepted: &Accepted,
        request: &ProofRequest,
    ) -> Result<(), JournalError> {
        let bytes = record::encode(accepted, request);
        self.write_durably(&self.path(accepted.job_id, "request"), &bytes)
    }

    /// Reads a job's request again.
    pub(crate) fn request(&self, job: JobId) -> Result<ProofRequest, JournalError> {
        read_request(&self.path(job, "request")).map(|(_, request)| request)
    }

    /// Notes that this process begins to work on a job.
    pub(crate) fn start(&self, job: JobId) -> Result<(), JournalError> {
        let path = self.path(job, "starts");
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(io_error(&path))?;
        file.write_all(b".")
            .and_then(|()| file.sync_all())
            .map_err(io_error(&path))
    }

    /// Takes the notes of [`start`](Self::start) back.
    pub(crate) fn unstart(&self, job: JobId) -> Result<(), JournalError> {
        self.remove(job, &["starts"])
    }

    /// Writes down how a job ended and removes its request.
    pub(crate) fn finish(&self, finished: &Finished) -> Result<(), JournalError> {
        let mut bytes = serde_json::to_vec(finished).expect("plain fields are valid JSON");
        record::seal(&mut bytes);
        self.write_durably(&self.path(finished.job_id, "result"), &bytes)?;
        self.remove(finished.job_id, &["request", "starts"])
    }

    /// Forgets a job that has ended.
    pub(crate) fn forget(&self, job: JobId) -> Result<(), JournalError> {
        self.remove(job, &["result", "request", "starts"])
    }

    fn path(&self, job: JobId, suffix: &str) -> PathBuf {
        self.dir.join(format!("{job}.{suffix}"))
    }

    fn remove(&self, job: JobId, suffixes: &[&str]) -> Result<(), JournalError> {
        for suffix in suffixes {
            let path = self.path(job, suffix);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io_error(&path)(e)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Temporary file, sync, rename, sync of the folder: after this the content is there in full, whatever happens.
    fn write_durably(&self, path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
        let write = || -> io::Result<()> {
            let mut file = tempfile::Builder::new()
                .prefix(".writing-")
                .tempfile_in(&self.dir)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|e| e.error)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(io_error(path))
    }

    fn recover(&self) -> Result<Recovered, JournalError> {
        let mut recovered = Recovered::default();
        let mut requests = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(io_error(&self.dir))? {
            let path = entry.map_err(io_error(&self.dir))?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
            if name.starts_with(".writing-") {
                // Never answered for: its submitter got no job id.
                let _ = fs::remove_file(&path);
            }
            match path.extension().and_then(|e| e.to_str()) {
                Some("request") => requests.push(path),
                Some("result") => recovered.finished.extend(keep(&path, read_result(&path))),
                _ => {}
            }
        }
        recovered.finished.sort_by_key(|f| f.ended_at_ms);
        for path in requests {
            let Some((accepted, request)) = keep(&path, read_request(&path)) else {
                continue;
            };
            if recovered
                .finished
                .iter()
                .any(|f| f.job_id == accepted.job_id)
            {
                self.remove(accepted.job_id, &["request", "starts"])?;
                continue;
            }
            let starts = fs::metadata(self.path(accepted.job_id, "starts")).map_or(0, |m| m.len());
            recovered.jobs.push(RecoveredJob {
                payload_bytes: payload_bytes(&request),
                accepted,
                starts,
            });
        }
        recovered
            .jobs
            .sort_by_key(|job| (job.accepted.accepted_at_ms, job.accepted.job_id));
        Ok(recovered)
    }
}

fn lock(dir: &Path) -> Result<File, JournalError> {
    let path = dir.join("lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(io_error(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(JournalError::InUse { path: dir.into() }),
        Err(fs::TryLockError::Error(e)) => Err(io_error(&path)(e)),
    }
}

fn read_request(path: &Path) -> Result<(Accepted, ProofRequest), JournalError> {
    let bytes = fs::read(path).map_err(io_error(path))?;
    record::decode(&bytes).map_err(|source| record_error(path, source))
}

fn read_result(path: &Path) -> Result<Finished, JournalError> {
    let bytes = fs::read(path).map_err(io_error(path))?;
    let body = record::unseal(&bytes).map_err(|source| record_error(path, source))?;
    serde_json::from_slice(body).map_err(|e| record_error(path, RecordError::Header(e.to_string())))
}

fn keep<T>(path: &Path, read: Result<T, JournalError>) -> Option<T> {
    match read {
        Ok(record) => Some(record),
        Err(error) => {
            tracing::error!(%error, "a damaged journal record is set aside");
            let mut aside = path.as_os_str().to_owned();
            aside.push(".damaged");
            if let Err(error) = fs::rename(path, &aside) {
                tracing::error!(%error, file = %path.display(), "cannot rename the damaged record");
            }
            None
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_path_buf();
    move |source| JournalError::Io { path, source }
}

fn record_error(path: &Path, source: RecordError) -> JournalError {
    JournalError::Record {
        path: path.into(),
        source,
    }
}

#[cfg(test)]
mod tests;
