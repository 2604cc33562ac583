//! Parameter files that were found damaged after they had been loaded.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cuzk_groth16::ParameterFile;

/// Files that a late check found damaged, until they change.
#[derive(Debug, Default)]
pub(super) struct DamagedFiles(Mutex<HashMap<PathBuf, (Content, String)>>);

/// What changes when a file is written or replaced: device, inode, size, and the time of the last change in seconds and
/// nanoseconds.
#[derive(Debug, PartialEq, Eq)]
struct Content(u64, u64, u64, i64, i64);

impl Content {
    fn of(file: &Metadata) -> Self {
        let (device, inode) = (file.dev(), file.ino());
        Self(device, inode, file.size(), file.ctime(), file.ctime_nsec())
    }
}

impl DamagedFiles {
    pub(super) fn add(&self, params: &ParameterFile, cause: &str) {
        let damaged = (Content::of(params.metadata()), cause.to_owned());
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(params.path().into(), damaged);
    }

    /// Fails with the cause when this file is one of them and has not changed since.
    pub(super) fn check(&self, path: &Path) -> Result<(), String> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((content, cause)) = files.get(path) else {
            return Ok(());
        };
        let now = std::fs::metadata(path).map(|file| Content::of(&file));
        match now {
            Ok(now) if now == *content => Err(cause.clone()),
            _ => Ok(()),
        }
    }
}
