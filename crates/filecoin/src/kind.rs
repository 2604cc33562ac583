//! What is proved: the kind of proof, the sector size, and the circuit that the two select.

use std::fmt;
use std::str::FromStr;

/// The four proofs a storage provider owes the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProofKind {
    /// Proof of replication: a sector was sealed (its second commit phase).
    PoRep,
    /// Empty sector update: new data was encoded into a sealed sector.
    SnapDeals,
    /// Proof of spacetime of one partition of a deadline.
    WindowPoSt,
    /// Proof of spacetime of one sector, to win a block.
    WinningPoSt,
}

/// The sector sizes for which parameters have been published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SectorSize {
    /// 2 KiB, for tests.
    S2KiB,
    /// 8 MiB, for tests.
    S8MiB,
    /// 512 MiB, for test networks.
    S512MiB,
    /// 32 GiB, on the chain.
    S32GiB,
    /// 64 GiB, on the chain.
    S64GiB,
}

/// A circuit: it has one R1CS and one parameter file.
///
/// Written as `porep-32g`, `snap-2k`, `wpost-512m`, `winning-64g`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CircuitId {
    /// The kind of proof.
    pub kind: ProofKind,
    /// The size of the sectors that it speaks about.
    pub sector_size: SectorSize,
}

/// A name that is no kind, sector size or circuit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {found:?}, expected one of {expected}")]
pub struct ParseNameError {
    what: &'static str,
    found: String,
    expected: String,
}

/// Position in this table is the index that the registered proofs of [`crate::registered`] follow.
const SIZES: [(SectorSize, u64, &str, &str); 5] = [
    (SectorSize::S2KiB, 1 << 11, "2KiB", "2k"),
    (SectorSize::S8MiB, 1 << 23, "8MiB", "8m"),
    (SectorSize::S512MiB, 1 << 29, "512MiB", "512m"),
    (SectorSize::S32GiB, 1 << 35, "32GiB", "32g"),
    (SectorSize::S64GiB, 1 << 36, "64GiB", "64g"),
];

const KINDS: [(ProofKind, &str); 4] = [
    (ProofKind::PoRep, "porep"),
    (ProofKind::SnapDeals, "snap"),
    (ProofKind::WindowPoSt, "wpost"),
    (ProofKind::WinningPoSt, "winning"),
];

/// The size of a node of the sector's graph and trees, in bytes.
pub(crate) const NODE_BYTES: u64 = 32;

impl ProofKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::PoRep,
        Self::SnapDeals,
        Self::WindowPoSt,
        Self::WinningPoSt,
    ];

    /// The short name, as in circuit ids: `porep`, `snap`, `wpost`, `winning`.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].1
    }
}

impl SectorSize {
    /// All sizes, smallest first.
    pub const ALL: [Self; 5] = [
        Self::S2KiB,
        Self::S8MiB,
        Self::S512MiB,
        Self::S32GiB,
        Self::S64GiB,
    ];

    /// The size in bytes.
    pub fn bytes(self) -> u64 {
        SIZES[self as usize].1
    }

    /// The number of 32-byte nodes.
    pub fn nodes(self) -> u64 {
        self.bytes() / NODE_BYTES
    }

    /// The size of so many bytes, when it is one of the five.
    pub fn from_bytes(bytes: u64) -> Option<Self> {
        SIZES.iter().find(|s| s.1 == bytes).map(|s| s.0)
    }

    /// The name, for instance `32GiB`.
    pub fn name(self) -> &'static str {
        SIZES[self as usize].2
    }

    /// The short name, as in circuit ids, for instance `32g`.
    pub fn short_name(self) -> &'static str {
        SIZES[self as usize].3
    }
}

impl CircuitId {
    /// The circuit of a kind and a sector size.
    pub fn new(kind: ProofKind, sector_size: SectorSize) -> Self {
        Self { kind, sector_size }
    }

    /// Every circuit, by kind, then by size.
    pub fn all() -> impl Iterator<Item = Self> {
        ProofKind::ALL.into_iter().flat_map(|kind| {
            SectorSize::ALL
                .into_iter()
                .map(move |size| Self::new(kind, size))
        })
    }
}

impl fmt::Display for ProofKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for SectorSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for CircuitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind, self.sector_size.short_name())
    }
}

impl FromStr for ProofKind {
    type Err = ParseNameError;

    fn from_str(s: &str) -> Result<Self, ParseNameError> {
        let known = KINDS.iter().find(|k| k.1 == s);
        known.map(|k| k.0).ok_or_else(|| ParseNameError {
            what: "proof kind",
            found: s.into(),
            expected: KINDS.map(|k| k.1).join(", "),
        })
    }
}

impl FromStr for SectorSize {
    type Err = ParseNameError;

    /// Takes `32GiB`, `32gib`, `32g` and `34359738368`.
    fn from_str(s: &str) -> Result<Self, ParseNameError> {
        let named = SIZES.iter().find(|size| {
            s.eq_ignore_ascii_case(size.2)
                || s.eq_ignore_ascii_case(size.3)
                || s.parse() == Ok(size.1)
        });
        named.map(|size| size.0).ok_or_else(|| ParseNameError {
            what: "sector size",
            found: s.into(),
            expected: SIZES.map(|size| size.2).join(", "),
        })
    }
}

impl FromStr for CircuitId {
    type Err = ParseNameError;

    fn from_str(s: &str) -> Result<Self, ParseNameError> {
        Self::all()
            .find(|id| id.to_string() == s)
            .ok_or_else(|| ParseNameError {
                what: "circuit",
                found: s.into(),
                expected: Self::all()
                    .map(|id| id.to_string())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for id in CircuitId::all() {
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(id.kind.name().parse(), Ok(id.kind));
            assert_eq!(id.sector_size.name().parse(), Ok(id.sector_size));
            let bytes = id.sector_size.bytes();
            assert_eq!(bytes.to_string().parse(), Ok(id.sector_size));
            assert_eq!(SectorSize::from_bytes(bytes), Some(id.sector_size));
        }
        assert_eq!(
            "porep-32g".parse(),
            Ok(CircuitId::new(ProofKind::PoRep, SectorSize::S32GiB))
        );
        assert!("porep-32".parse::<CircuitId>().is_err());
        assert_eq!(SectorSize::from_bytes(0), None);
    }

    #[test]
    fn tables_are_in_the_order_of_the_enums() {
        for (i, size) in SectorSize::ALL.into_iter().enumerate() {
            assert_eq!((SIZES[i].0, size as usize), (size, i));
        }
        for (i, kind) in ProofKind::ALL.into_iter().enumerate() {
            assert_eq!((KINDS[i].0, kind as usize), (kind, i));
        }
    }
}
