//! Opening a parameter file and finding out whether its content can be relied upon.

use std::path::Path;

use super::{CheckedFiles, ParameterFile, ParamsError, read_file, short_digest};
use crate::progress::Progress;
use crate::setup::{InsecureMarker, marker_path};
use crate::vk::VerifyingKey;

/// Digests of a parameter file and its verifying key, as `parameters.json` states them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedDigests {
    /// Of the `.params` file.
    pub params: String,
    /// Of the `.vk` file.
    pub vk: String,
}

/// What vouches for a parameter file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The digests are the published ones.
    Published,
    /// The digests are those that a developer setup recorded: intact, but worthless as a proof of anything.
    Insecure(InsecureMarker),
    /// Nobody recorded a digest; all points are on their curves.
    CurveChecked,
}

/// The comparison of a parameter file with its published digest, which takes a second a gigabyte.
#[derive(Clone, Debug)]
#[must_use = "a file with another digest is damaged"]
pub struct PendingCheck {
    digest: String,
    notes: Option<CheckedFiles>,
}

impl PendingCheck {
    /// Reads the file and compares. What passed is noted, where [`ParameterFile::load_ahead`] was told where.
    pub fn run(self, file: &ParameterFile, progress: &dyn Progress) -> Result<(), ParamsError> {
        file.check_once(self.notes.as_ref(), Some(&self.digest), progress)
    }

    fn passed_before(&self, file: &ParameterFile) -> bool {
        file.passed_before(self.notes.as_ref(), &self.digest)
    }
}

impl ParameterFile {
    /// Opens a parameter file, reads all of it once and checks that it is intact. What passed is noted in `checked`, where
    /// given, and not read again for it until the file changes.
    ///
    /// A developer setup's marker beside the file is believed first, and a warning is logged; otherwise the published
    /// digests decide where there are any; otherwise every point is checked. The `.vk` file beside, where given, must hold the
    /// same verifying key.
    pub fn load(
        params: &Path,
        vk: Option<&Path>,
        published: Option<&PublishedDigests>,
        checked: Option<&CheckedFiles>,
        progress: &dyn Progress,
    ) -> Result<(Self, Trust), ParamsError> {
        let (file, trust, check) = Self::load_ahead(params, vk, published, checked, progress)?;
        check.map_or(Ok(()), |check| check.run(&file, progress))?;
        Ok((file, trust))
    }

    /// [`load`](Self::load), but the comparison with the published digest is left to the caller, to be made beside other
    /// work, where the `.vk` file has its own published digest: proofs made with damaged parameters do not verify by that key.
    pub fn load_ahead(
        params: &Path,
        vk: Option<&Path>,
        published: Option<&PublishedDigests>,
        checked: Option<&CheckedFiles>,
        progress: &dyn Progress,
    ) -> Result<(Self, Trust, Option<PendingCheck>), ParamsError> {
        let file = Self::open(params)?;
        let marker = InsecureMarker::beside(params);
        let marker = marker.map_err(|source| ParamsError::Io {
            path: marker_path(params),
            source,
        })?;
        let mut pending = None;
        let trust = match (marker, published) {
            (Some(marker), _) => {
                tracing::warn!(file = %params.display(), "parameters of a developer setup: proofs made with them prove nothing");
                file.check_once(checked, Some(&marker.params_digest), progress)?;
                vk.map_or(Ok(()), |vk| check_file_digest(vk, &marker.vk_digest))?;
                Trust::Insecure(marker)
            }
            (None, Some(published)) => {
                vk.map_or(Ok(()), |vk| check_file_digest(vk, &published.vk))?;
                let check = PendingCheck {
                    digest: published.params.clone(),
                    notes: checked.cloned(),
                };
                match vk {
                    Some(_) => pending = Some(check).filter(|check| !check.passed_before(&file)),
                    None => check.run(&file, progress)?,
                }
                Trust::Published
            }
            (None, None) => {
                file.check_once(checked, None, progress)?;
                Trust::CurveChecked
            }
        };
        vk.map_or(Ok(()), |vk| file.check_vk_file(vk))?;
        Ok((file, trust, pending))
    }

    /// Checks the digest, or the points where there is none to compare with, unless that was done before.
    fn check_once(
        &self,
        checked: Option<&CheckedFiles>,
        digest: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<(), ParamsError> {
        let what = digest.unwrap_or("points");
        if self.passed_before(checked, what) {
            return Ok(());
        }
        match digest {
            Some(digest) => self.check_digest(digest, progress)?,
            None => self.check_points(progress)?,
        }
        let noted = checked.map_or(Ok(()), |notes| {
            notes.add(self.path(), self.metadata(), what)
        });
        // Without the note the next load takes as long as this one.
        if let Err(error) = noted {
            tracing::warn!(file = %self.path().display(), %error, "that the parameters are intact cannot be noted");
        }
        Ok(())
    }

    fn passed_before(&self, checked: Option<&CheckedFiles>, what: &str) -> bool {
        checked.is_some_and(|notes| notes.has(self.path(), self.metadata(), what))
    }

    /// The key in a `.vk` file must be the one in this file.
    fn check_vk_file(&self, vk_path: &Path) -> Result<(), ParamsError> {
        let found = VerifyingKey::read_from(vk_path)?;
        if found == *self.vk() {
            return Ok(());
        }
        Err(ParamsError::ForeignVerifyingKey {
            vk_path: vk_path.into(),
            params_path: self.path().into(),
            found: found.digest(),
            expected: self.vk().digest(),
        })
    }
}

fn check_file_digest(path: &Path, expected: &str) -> Result<(), ParamsError> {
    let found = short_digest(&read_file(path)?);
    if found == expected {
        return Ok(());
    }
    Err(ParamsError::Digest {
        path: path.into(),
        found,
        expected: expected.into(),
    })
}
