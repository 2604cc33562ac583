//! Digests as Filecoin's `parameters.json` states them: BLAKE2b-512, the first 32 hexadecimal digits.

use blake2b_simd::Params;

use super::{ParameterFile, ParamsError};
use crate::progress::Progress;

const CHUNK: usize = 16 << 20;

/// Digest of a byte string.
pub(crate) fn short_digest(bytes: &[u8]) -> String {
    let mut hex = Params::new()
        .to_state()
        .update(bytes)
        .finalize()
        .to_hex()
        .to_string();
    hex.truncate(32);
    hex
}

impl ParameterFile {
    /// Digest of the whole file, as `parameters.json` states it.
    pub fn digest(&self, progress: &dyn Progress) -> String {
        let bytes = self.bytes();
        let mut state = Params::new().to_state();
        progress.begin("digest of the parameters", bytes.len() as u64);
        for chunk in bytes.chunks(CHUNK) {
            state.update(chunk);
            progress.advance(chunk.len() as u64);
        }
        let mut hex = state.finalize().to_hex().to_string();
        hex.truncate(32);
        hex
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
