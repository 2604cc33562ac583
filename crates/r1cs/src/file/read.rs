//! Reading, with every length checked against what is left before anything is allocated for it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use blake2b_simd::blake2bp;
use blstrs::Scalar;
use ff::PrimeField;

use super::{HEADER, MAGIC, VERSION};
use crate::bits::BitVec;
use crate::density::Densities;
use crate::error::FileError;
use crate::layout::WitnessLayout;
use crate::matrix::{Csr, Segment};
use crate::system::R1cs;

impl R1cs {
    /// Reads a stored circuit.
    ///
    /// # Errors
    /// When the file cannot be read, is of another kind or version, or is not what was written;
    /// compiling anew is the remedy for all but the first.
    pub fn read_from(path: impl AsRef<Path>) -> Result<R1cs, FileError> {
        let path = path.as_ref();
        let failed = |action| {
            let path = path.display().to_string();
            move |source| FileError::Io {
                action,
                path,
                source,
            }
        };
        let file = File::open(path).map_err(failed("open"))?;
        let size = file.metadata().map_err(failed("read"))?.len();
        read(file, size).map_err(|e| match e {
            FileError::Io { action, source, .. } => failed(action)(source),
            other => other,
        })
    }

    /// Reads the stored form from memory.
    ///
    /// # Errors
    /// As [`R1cs::read_from`].
    pub fn from_bytes(bytes: &[u8]) -> Result<R1cs, FileError> {
        read(bytes, bytes.len() as u64)
    }
}

fn read(mut source: impl Read, size: u64) -> Result<R1cs, FileError> {
    let (body, digest) = read_header(&mut source, size)?;
    let mut reader = Reader {
        source,
        remaining: body,
        hasher: blake2bp::Params::new().hash_length(32).to_state(),
    };
    let circuit = read_body(&mut reader, digest)?;
    if reader.remaining != 0 {
        return Err(FileError::Malformed {
            what: "number of bytes behind the last array",
            found: reader.remaining,
            expected: "0".into(),
        });
    }
    let hash = reader.hasher.finalize();
    if hash.as_bytes() != digest {
        return Err(FileError::Checksum {
            found: hash.to_hex().to_string(),
            expected: hex(&digest),
        });
    }
    circuit.validate()?;
    Ok(R1cs {
        densities: Densities::of(&circuit.segments, circuit.num_inputs, circuit.num_aux),
        ..circuit
    })
}

/// Length and digest of the body.
fn read_header(source: &mut impl Read, size: u64) -> Result<(u64, [u8; 32]), FileError> {
    let mut header = [0; HEADER];
    let present = header.len().min(size as usize);
    source
        .read_exact(&mut header[..present])
        .map_err(unreadable)?;
    let magic = header[..8].try_into().expect("eight bytes");
    if magic != MAGIC {
        return Err(FileError::Magic {
            found: magic,
            expected: MAGIC,
        });
    }
    let half = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if half(8) != VERSION {
        return Err(FileError::Version {
            found: half(8),
            expected: VERSION,
        });
    }
    if half(12) != 0 {
        return Err(FileError::Malformed {
            what: "reserved word of the header",
            found: half(12).into(),
            expected: "0".into(),
        });
    }
    let body = u64::from_le_bytes(header[16..24].try_into().expect("eight bytes"));
    if body.checked_add(HEADER as u64) != Some(size) {
        return Err(FileError::Length {
            found: size,
            expected: body.saturating_add(HEADER as u64),
        });
    }
    Ok((body, header[24..].try_into().expect("32 bytes")))
}

/// Everything but the densities, not yet validated.
fn read_body<R: Read>(reader: &mut Reader<R>, digest: [u8; 32]) -> Result<R1cs, FileError> {
    let [inputs, aux, rows, coefficients, segments, mask] = reader.counts()?;
    let dictionary = reader.scalars(coefficients)?;
    reader.expect_room("number of segments", segments, 7 * 8)?;
    let segments: Vec<_> = (0..segments)
        .map(|_| reader.segment())
        .collect::<Result<_, _>>()?;
    let mask = reader.words("number of mask words", mask, u64::from_le_bytes)?;
    let (num_inputs, num_aux) = (inputs as usize, aux as usize);
    let layout = if mask.is_empty() {
        WitnessLayout::dense(num_inputs, num_aux)
    } else {
        let found = mask.len() as u64;
        let layout = BitVec::from_words(mask, num_aux)
            .map(|wide| WitnessLayout::new(num_inputs, wide))
            .filter(|layout| !layout.is_dense());
        layout.ok_or_else(|| FileError::Malformed {
            what: "number of mask words",
            found,
            expected: format!("those of {aux} slots, at most half of them wide"),
        })?
    };
    Ok(R1cs {
        num_inputs,
        num_aux,
        num_stored_rows: rows as usize,
        segments,
        dictionary,
        densities: Densities::default(),
        layout: Arc::new(layout),
        digest,
    })
}

/// The body as it goes by: counted and hashed.
struct Reader<R> {
    source: R,
    remaining: u64,
    hasher: blake2bp::State,
}

impl<R: Read> Reader<R> {
    fn bytes(&mut self, buffer: &mut [u8]) -> Result<(), FileError> {
        self.expect_room("number of bytes", buffer.len() as u64, 1)?;
        self.source.read_exact(buffer).map_err(unreadable)?;
        self.hasher.update(buffer);
        self.remaining -= buffer.len() as u64;
        Ok(())
    }

    /// Whether `count` things of `size` bytes can still follow.
    fn expect_room(&self, what: &'static str, count: u64, size: u64) -> Result<(), FileError> {
        if count > self.remaining / size {
            return Err(FileError::Malformed {
                what,
                found: count,
                expected: format!(
                    "at most {}, there being no more bytes",
                    self.remaining / size
                ),
            });
        }
        Ok(())
    }

    fn counts<const N: usize>(&mut self) -> Result<[u64; N], FileError> {
        let mut counts = [0; N];
        for count in &mut counts {
            let mut bytes = [0; 8];
            self.bytes(&mut bytes)?;
            *count = u64::from_le_bytes(bytes);
        }
        Ok(counts)
    }

    fn words<T, const N: usize>(
        &mut self,
        what: &'static str,
        count: u64,
        from_bytes: fn([u8; N]) -> T,
    ) -> Result<Vec<T>, FileError> {
        self.expect_room(what, count, N as u64)?;
        let mut words = Vec::with_capacity(count as usize);
        let mut buffer = vec![0; (count as usize * N).min(1 << 18)];
        while words.len() < count as usize {
            let missing = (count as usize - words.len()) * N;
            let piece = missing.min(buffer.len());
            self.bytes(&mut buffer[..piece])?;
            let read = buffer[..piece].chunks_exact(N);
            words.extend(read.map(|b| from_bytes(b.try_into().expect("N bytes"))));
        }
        Ok(words)
    }

    fn scalars(&mut self, count: u64) -> Result<Vec<Scalar>, FileError> {
        self.expect_room("number of coefficients", count, 32)?;
        let mut scalars = Vec::with_capacity(count as usize);
        for i in 0..count {
            let mut bytes = [0; 32];
            self.bytes(&mut bytes)?;
            let scalar = Scalar::from_repr_vartime(bytes).ok_or_else(|| FileError::Malformed {
                what: "coefficient outside the field, number",
                found: i,
                expected: "below the modulus".into(),
            })?;
            scalars.push(scalar);
        }
        Ok(scalars)
    }

    fn segment(&mut self) -> Result<Segment, FileError> {
        let [rows, copies, aux_stride, num_links, a, b, c] = self.counts()?;
        let links = copies.saturating_mul(num_links);
        let links = self.words("number of links", links, u32::from_le_bytes)?;
        let pointers = rows.saturating_add(1);
        let mut matrices = [Csr::default(), Csr::default(), Csr::default()];
        for (csr, entries) in matrices.iter_mut().zip([a, b, c]) {
            csr.row_ptr = self.words("number of row pointers", pointers, u32::from_le_bytes)?;
            csr.columns = self.words("number of columns", entries, u32::from_le_bytes)?;
            csr.coefficients = self.words("number of coefficients", entries, u16::from_le_bytes)?;
        }
        Ok(Segment {
            copies: copies as usize,
            aux_stride: aux_stride as usize,
            links,
            num_links: num_links as usize,
            matrices,
        })
    }
}

fn unreadable(source: std::io::Error) -> FileError {
    let source = match source.kind() {
        ErrorKind::UnexpectedEof => std::io::Error::new(source.kind(), "the file became shorter"),
        _ => source,
    };
    FileError::Io {
        action: "read",
        path: String::new(),
        source,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
