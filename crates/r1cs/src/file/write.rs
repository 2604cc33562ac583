//! Writing, and the digest that is the hash of what would be written.

use std::io::{BufWriter, Error as IoError, Write};
use std::path::Path;

use blake2b_simd::blake2bp;

use super::{HEADER, MAGIC, VERSION};
use crate::error::FileError;
use crate::matrix::Segment;
use crate::system::R1cs;

impl R1cs {
    /// Stores the circuit: written to a temporary file beside `path`, then renamed.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let failed = |action| {
            let path = path.display().to_string();
            move |source: IoError| FileError::Io {
                action,
                path,
                source,
            }
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = temporary(folder).map_err(failed("create"))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        self.write(&mut out).map_err(failed("write"))?;
        let file = out
            .into_inner()
            .map_err(|e| failed("write")(e.into_error()))?;
        file.as_file().sync_all().map_err(failed("write"))?;
        file.persist(path).map_err(|e| failed("rename")(e.error))?;
        Ok(())
    }

    /// The stored form in memory, as [`R1cs::from_bytes`] reads it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.body_len() as usize);
        self.write(&mut bytes).expect("a vector takes every byte");
        bytes
    }

    pub(crate) fn body_digest(&self) -> [u8; 32] {
        let mut hasher = blake2bp::Params::new().hash_length(32).to_state();
        self.write_body(&mut hasher)
            .expect("a hash takes every byte");
        let hash = hasher.finalize();
        hash.as_bytes().try_into().expect("asked for 32 bytes")
    }

    fn write(&self, out: &mut impl Write) -> Result<(), IoError> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&0u32.to_le_bytes())?;
        out.write_all(&self.body_len().to_le_bytes())?;
        out.write_all(&self.digest)?;
        self.write_body(out)
    }

    fn body_len(&self) -> u64 {
        let segments = self.segments.iter().map(|segment| {
            let entries = segment.matrices.iter().map(|m| m.num_nonzeros() as u64);
            let words = 3 * (segment.rows() as u64 + 1) + segment.links.len() as u64;
            7 * 8 + 4 * words + 6 * entries.sum::<u64>()
        });
        let mask = self.layout.mask_words().unwrap_or_default();
        let fixed = 6 * 8 + 32 * self.dictionary.len() + 8 * mask.len();
        fixed as u64 + segments.sum::<u64>()
    }

    fn write_body(&self, out: &mut impl Write) -> Result<(), IoError> {
        let mask = self.layout.mask_words().unwrap_or_default();
        let counts = [
            self.num_inputs,
            self.num_aux,
            self.num_stored_rows,
            self.dictionary.len(),
            self.segments.len(),
            mask.len(),
        ];
        write_words(out, &counts.map(|n| n as u64), u64::to_le_bytes)?;
        for value in &self.dictionary {
            out.write_all(&value.to_bytes_le())?;
        }
        for segment in &self.segments {
            write_segment(out, segment)?;
        }
        write_words(out, mask, u64::to_le_bytes)
    }
}

/// A file that is gone unless it is renamed; readable by whom the user lets read new files.
fn temporary(folder: &Path) -> Result<tempfile::NamedTempFile, IoError> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn write_segment(out: &mut impl Write, segment: &Segment) -> Result<(), IoError> {
    let [a, b, c] = segment.matrices.each_ref().map(|m| m.num_nonzeros());
    let counts = [
        segment.rows(),
        segment.copies,
        segment.aux_stride,
        segment.num_links,
        a,
        b,
        c,
    ];
    write_words(out, &counts.map(|n| n as u64), u64::to_le_bytes)?;
    write_words(out, &segment.links, u32::to_le_bytes)?;
    for csr in &segment.matrices {
        write_words(out, &csr.row_ptr, u32::to_le_bytes)?;
        write_words(out, &csr.columns, u32::to_le_bytes)?;
        write_words(out, &csr.coefficients, u16::to_le_bytes)?;
    }
    Ok(())
}

/// Words in pieces of a few kilobytes.
fn write_words<T: Copy, const N: usize>(
    out: &mut impl Write,
    words: &[T],
    to_bytes: fn(T) -> [u8; N],
) -> Result<(), IoError> {
    let mut buffer = [0; 1 << 14];
    for piece in words.chunks(buffer.len() / N) {
        for (bytes, word) in buffer.chunks_exact_mut(N).zip(piece) {
            bytes.copy_from_slice(&to_bytes(*word));
        }
        out.write_all(&buffer[..piece.len() * N])?;
    }
    Ok(())
}
