//! Standard base64 with padding, decoded a block at a time: what reads the text uses it up while it is in the cache.

use super::json::Source;
use crate::request::RequestError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64_simd::Out;

#[cfg(target_arch = "x86_64")]
mod avx512;

/// Characters decoded at a time.
const BLOCK: usize = 1 << 15;

/// The bytes that a base64 text stands for.
pub(crate) struct Base64<'a> {
    text: &'a [u8],
    /// What is not decoded yet.
    rest: &'a [u8],
    window: Vec<u8>,
    wrong: bool,
    lanes: bool,
}

impl<'a> Base64<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        #[cfg(target_arch = "x86_64")]
        let lanes = avx512::is_available();
        #[cfg(not(target_arch = "x86_64"))]
        let lanes = false;
        Self {
            text,
            rest: text,
            window: Vec::new(),
            wrong: false,
            lanes,
        }
    }

    /// What was made of the text, if all of it is base64. What is no base64 seems to end early, so that an error in what it
    /// stands for says less.
    pub(crate) fn finish<T>(&self, made: Result<T, RequestError>) -> Result<T, RequestError> {
        if made.is_ok() && !self.wrong {
            return made;
        }
        // The other decoder says what is wrong, and has the last word.
        match STANDARD.decode(self.text) {
            Ok(_) => made,
            Err(e) => Err(RequestError::new("", e, "standard base64 with padding")),
        }
    }

    /// Decodes a block behind the window; whether it is right.
    fn decode(&mut self, block: &[u8], last: bool) -> bool {
        let start = self.window.len();
        self.window.resize(start + block.len().div_ceil(4) * 3, 0);
        let decoded = decode(block, last, self.lanes, &mut self.window[start..]);
        self.window.truncate(start + decoded.unwrap_or(0));
        decoded.is_some()
    }
}

/// Decodes a block, of a multiple of 4 characters if it is not the last; the number of bytes.
fn decode(block: &[u8], last: bool, lanes: bool, out: &mut [u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if lanes && !last && block.len().is_multiple_of(avx512::CHARACTERS) {
        return avx512::decode(block, out);
    }
    let _ = lanes;
    let decoder = match last {
        true => base64_simd::STANDARD,
        // Padding is right at the end only.
        false => base64_simd::STANDARD_NO_PAD,
    };
    let decoded = decoder.decode(block, Out::from_slice(out));
    decoded.map(|bytes| bytes.len()).ok()
}

impl Source for Base64<'_> {
    fn window(&self) -> &[u8] {
        &self.window
    }

    fn more(&mut self, used: usize) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        self.window.drain(..used);
        let (block, rest) = self.rest.split_at(BLOCK.min(self.rest.len()));
        self.rest = rest;
        if !self.decode(block, rest.is_empty()) {
            self.wrong = true;
            self.rest = &[];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngCore, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// All bytes, read in windows, and whether they were right.
    fn read(text: &[u8], lanes: bool) -> Result<Vec<u8>, RequestError> {
        let mut source = Base64::new(text);
        source.lanes &= lanes;
        let mut bytes = Vec::new();
        while source.more(source.window().len()) {
            bytes.extend_from_slice(source.window());
        }
        source.finish(Ok(())).map(|()| bytes)
    }

    #[test]
    fn blocks_are_the_whole_and_what_is_wrong_is_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for length in [0, 1, 2, 3, 100, 24_575, 24_576, 24_577, 49_152, 100_000] {
            let mut bytes = vec![0; length];
            rng.fill_bytes(&mut bytes);
            let text = STANDARD.encode(&bytes).into_bytes();
            for lanes in [false, true] {
                assert_eq!(read(&text, lanes).as_ref(), Ok(&bytes), "{length}");
                for _ in 0..if text.is_empty() { 0 } else { 50 } {
                    let mut damaged = text.clone();
                    let at = rng.gen_range(0..text.len());
                    damaged[at] = *b"=*\"\\-_ \n\0\x80\xff".get(rng.gen_range(0..11)).unwrap();
                    let expected = STANDARD.decode(&damaged).map_err(|_| ());
                    let found = read(&damaged, lanes).map_err(|_| ());
                    assert_eq!(found, expected, "{length}, {at}");
                    let shorter = &text[..at];
                    let expected = STANDARD.decode(shorter).map_err(|_| ());
                    assert_eq!(read(shorter, lanes).map_err(|_| ()), expected);
                }
            }
        }
    }
}
