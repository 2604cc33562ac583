//! A cursor over a file's bytes that names the file and the part in every error.

use std::path::Path;

use super::{G1_BYTES, G1Points, G2_BYTES, G2Points, ParamsError, PointError};

/// Reads a file from the front; every read is checked against the file's size first.
pub(crate) struct Bytes<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self {
            path,
            bytes,
            offset: 0,
        }
    }

    /// Bytes read so far.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// A 32-bit big-endian count.
    pub(crate) fn count(&mut self, part: &str) -> Result<usize, ParamsError> {
        let bytes = self.take(4, part)?;
        Ok(u32::from_be_bytes(bytes.try_into().expect("four bytes")) as usize)
    }

    pub(crate) fn g1_points(
        &mut self,
        count: usize,
        part: &str,
    ) -> Result<G1Points<'a>, ParamsError> {
        let bytes = self.take(count * G1_BYTES, part)?;
        Ok(G1Points::from_bytes(bytes).expect("a multiple of a point's size"))
    }

    pub(crate) fn g2_points(
        &mut self,
        count: usize,
        part: &str,
    ) -> Result<G2Points<'a>, ParamsError> {
        let bytes = self.take(count * G2_BYTES, part)?;
        Ok(G2Points::from_bytes(bytes).expect("a multiple of a point's size"))
    }

    /// Nothing may be left.
    pub(crate) fn finish(&self) -> Result<(), ParamsError> {
        if self.offset == self.bytes.len() {
            return Ok(());
        }
        Err(self.size_error(self.offset, "whole file"))
    }

    pub(crate) fn point_error(&self, part: &str, index: usize, source: PointError) -> ParamsError {
        ParamsError::Point {
            path: self.path.into(),
            part: part.into(),
            index,
            source,
        }
    }

    fn take(&mut self, length: usize, part: &str) -> Result<&'a [u8], ParamsError> {
        let end = self.offset + length;
        let taken = self.bytes.get(self.offset..end);
        let taken = taken.ok_or_else(|| self.size_error(end, &format!("up to the {part}")))?;
        self.offset = end;
        Ok(taken)
    }

    fn size_error(&self, expected: usize, part: &str) -> ParamsError {
        ParamsError::Size {
            path: self.path.into(),
            found: self.bytes.len() as u64,
            expected: expected as u64,
            part: part.into(),
        }
    }
}
