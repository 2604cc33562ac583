//! What is known of parameter files from earlier checks.
//!
//! Reading 44 GiB to compute a digest takes most of a minute, at each start of a process. The outcome is written down with
//! what identifies the file's content to the file system; a file that was written to since is checked again.

use std::fs::Metadata;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A folder with a note for every parameter file that passed its check.
#[derive(Clone, Debug)]
pub struct CheckedFiles {
    folder: PathBuf,
}

/// Contents that passed. `check` says which check: a digest, or the points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_s: i64,
    modified_ns: i64,
    changed_s: i64,
    changed_ns: i64,
    check: String,
}

impl Note {
    fn new(file: &Metadata, check: &str) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
            bytes: file.size(),
            modified_s: file.mtime(),
            modified_ns: file.mtime_nsec(),
            changed_s: file.ctime(),
            changed_ns: file.ctime_nsec(),
            check: check.to_owned(),
        }
    }
}

impl CheckedFiles {
    /// Notes in `folder`, which is made when the first is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Whether this file, unchanged since, has passed this check.
    pub(super) fn has(&self, params: &Path, file: &Metadata, check: &str) -> bool {
        // A note that cannot be read counts as none: the file is checked then.
        let note = std::fs::read(self.note_path(params)).ok();
        let note = note.and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok());
        note == Some(Note::new(file, check))
    }

    pub(super) fn add(&self, params: &Path, file: &Metadata, check: &str) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(&self.folder)?;
        temporary.write_all(&serde_json::to_vec(&Note::new(file, check))?)?;
        temporary.persist(self.note_path(params))?;
        Ok(())
    }

    fn note_path(&self, params: &Path) -> PathBuf {
        let mut name = params.file_name().unwrap_or_default().to_owned();
        name.push(".checked.json");
        self.folder.join(name)
    }
}
