//! The memory-mapped parameter file.

use std::fs::{File, Metadata};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::{Mmap, UncheckedAdvice};

use super::{Bytes, G1Points, G2Points, ParamsError, Query};
use crate::vk::VerifyingKey;

/// A proving key: a memory-mapped `.params` file. Points are decoded where they are used, never all at once.
pub struct ParameterFile {
    path: PathBuf,
    map: Mmap,
    metadata: Metadata,
    vk: VerifyingKey,
    /// Byte ranges of the points of H, L, A, B in G1 and B in G2. All lie inside `map`, and each length is a
    /// multiple of its point's size.
    queries: [Range<usize>; 5],
}

impl ParameterFile {
    /// Maps a file and reads its verifying key. The file's size must be exactly what the counts in it call for, which
    /// is checked before any point is looked at. The queries' points are not checked here: see
    /// [`check_points`](Self::check_points) and [`check_digest`](Self::check_digest).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ParamsError> {
        let path = path.as_ref().to_path_buf();
        let (map, metadata) = map_file(&path)?;
        let queries = layout(&path, &map)?;
        let vk = VerifyingKey::decode(&mut Bytes::new(&path, &map))?;
        Ok(Self {
            path,
            map,
            metadata,
            vk,
            queries,
        })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file system said of the file when it was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// The verifying key at the front of the file.
    pub fn vk(&self) -> &VerifyingKey {
        &self.vk
    }

    /// `τⁱ·t(τ)/δ` for i below the domain size less one.
    pub fn h(&self) -> G1Points<'_> {
        self.g1(Query::H)
    }

    /// `(β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ` of each auxiliary variable.
    pub fn l(&self) -> G1Points<'_> {
        self.g1(Query::L)
    }

    /// `uᵢ(τ)` of each input, then of each auxiliary variable that occurs in A.
    pub fn a(&self) -> G1Points<'_> {
        self.g1(Query::A)
    }

    /// `vᵢ(τ)` in G1 of each input, then each auxiliary variable, that occurs in B.
    pub fn b_g1(&self) -> G1Points<'_> {
        self.g1(Query::BG1)
    }

    /// `vᵢ(τ)` in G2 of each input, then each auxiliary variable, that occurs in B.
    pub fn b_g2(&self) -> G2Points<'_> {
        let bytes = &self.map[self.queries[Query::BG2 as usize].clone()];
        G2Points::from_bytes(bytes).expect("layout() took whole points")
    }

    /// Takes a query's pages out of this process's memory. They stay in the system's cache and are mapped again where
    /// they are read again.
    pub fn release(&self, query: Query) {
        self.release_range(self.queries[query as usize].clone());
    }

    /// [`release`](Self::release) for some of a query's points in G1.
    pub(crate) fn release_g1(&self, query: Query, points: Range<usize>) {
        let start = self.queries[query as usize].start;
        let at = |point: usize| start + point * super::G1_BYTES;
        self.release_range(at(points.start)..at(points.end));
    }

    /// [`release`](Self::release) for a range of bytes.
    pub(super) fn release_range(&self, range: Range<usize>) {
        let (offset, advice) = (range.start, UncheckedAdvice::DontNeed);
        // SAFETY: the mapping is of a file, shared and never written, so a dropped page is read again unchanged.
        let advised = unsafe { self.map.unchecked_advise_range(advice, offset, range.len()) };
        // Advice only: whoever does not take it keeps the pages.
        if let Err(error) = advised {
            tracing::debug!(%error, "pages of the parameters stay mapped");
        }
    }

    /// Where a query's points lie in the file, in bytes.
    pub(super) fn range(&self, query: Query) -> Range<usize> {
        self.queries[query as usize].clone()
    }

    /// A query in G1. Panics for [`Query::BG2`].
    pub(crate) fn g1(&self, query: Query) -> G1Points<'_> {
        assert!(query != Query::BG2, "B in G2 has no points in G1");
        let bytes = &self.map[self.queries[query as usize].clone()];
        G1Points::from_bytes(bytes).expect("layout() took whole points")
    }
}

impl std::fmt::Debug for ParameterFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParameterFile")
            .field("path", &self.path)
            .field("bytes", &self.map.len())
            .finish_non_exhaustive()
    }
}

/// Walks the counts and returns where each query's points lie.
fn layout(path: &Path, map: &[u8]) -> Result<[Range<usize>; 5], ParamsError> {
    let mut bytes = Bytes::new(path, map);
    bytes.g1_points(3, "verifying key")?;
    bytes.g2_points(3, "verifying key")?;
    let inputs = bytes.count("number of input points")?;
    bytes.g1_points(inputs, "input points")?;
    let mut queries = [const { 0..0 }; 5];
    for query in [Query::H, Query::L, Query::A, Query::BG1, Query::BG2] {
        let count = bytes.count(&format!("length of query {query}"))?;
        let start = bytes.offset();
        let part = format!("{count} points of query {query}");
        match query {
            Query::BG2 => bytes.g2_points(count, &part).map(drop)?,
            _ => bytes.g1_points(count, &part).map(drop)?,
        }
        queries[query as usize] = start..bytes.offset();
    }
    bytes.finish()?;
    Ok(queries)
}

fn map_file(path: &Path) -> Result<(Mmap, Metadata), ParamsError> {
    let io = |source| ParamsError::Io {
        path: path.into(),
        source,
    };
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if metadata.len() == 0 {
        return Err(ParamsError::Size {
            path: path.into(),
            found: 0,
            expected: (3 * (super::G1_BYTES + super::G2_BYTES) + 4) as u64,
            part: "up to the verifying key".into(),
        });
    }
    // SAFETY: the map is only read, as bytes. Parameter files are written to a temporary and renamed, never changed in
    // place; an operator who truncates one under a running process kills that process with SIGBUS.
    let map = unsafe { Mmap::map(&file) }.map_err(io)?;
    Ok((map, metadata))
}

/// Reads a small file whole.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, ParamsError> {
    std::fs::read(path).map_err(|source| ParamsError::Io {
        path: path.into(),
        source,
    })
}
