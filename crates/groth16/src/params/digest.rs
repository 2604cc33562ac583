//! Digests as Filecoin's `parameters.json` states them: BLAKE2b-512, the first 32 hexadecimal digits.

use blake2b_simd::State;

use super::{ParameterFile, ParamsError};
use crate::progress::Progress;

const CHUNK: usize = 16 << 20;

/// A digest in the making.
pub(crate) struct ShortDigest(State);

impl ShortDigest {
    pub(crate) fn new() -> Self {
        Self(State::new())
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn hex(&self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}

/// Digest of a byte string.
pub(crate) fn short_digest(bytes: &[u8]) -> String {
    let mut digest = ShortDigest::new();
    digest.update(bytes);
    digest.hex()
}

impl ParameterFile {
    /// Digest of the whole file, as `parameters.json` states it.
    pub fn digest(&self, progress: &dyn Progress) -> String {
        let bytes = self.bytes();
        let mut digest = ShortDigest::new();
        progress.begin("digest of the parameters", bytes.len() as u64);
        for (i, chunk) in bytes.chunks(CHUNK).enumerate() {
            digest.update(chunk);
            progress.advance(chunk.len() as u64);
            self.release_range(i * CHUNK..i * CHUNK + chunk.len());
        }
        digest.hex()
    }

    /// Compares the file's digest with the one that was published or recorded.
    pub fn check_digest(&self, expected: &str, progress: &dyn Progress) -> Result<(), ParamsError> {
        let found = self.digest(progress);
        if found == expected {
            return Ok(());
        }
        Err(ParamsError::Digest {
            path: self.path().into(),
            found,
            expected: expected.into(),
        })
    }
}
