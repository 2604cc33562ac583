//! A Groth16 proof, its encoding and its blinding.

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;
use rand::RngCore;

/// Length of an encoded proof: A and C compressed in G1 (48 bytes each), B compressed in G2 (96 bytes).
pub const PROOF_BYTES: usize = 192;

/// A Groth16 proof `(A, B, C)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// `A = α + Σ zᵢ·uᵢ(τ) + r·δ` in G1.
    pub a: G1Affine,
    /// `B = β + Σ zᵢ·vᵢ(τ) + s·δ` in G2.
    pub b: G2Affine,
    /// `C` in G1: the private part, the quotient and the blinding, over δ.
    pub c: G1Affine,
}

/// Why 192 bytes are not a proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The length is wrong.
    #[error("a proof has {PROOF_BYTES} bytes, found {found}")]
    Length {
        /// Bytes found.
        found: usize,
    },
    /// One of the three points does not decode to a point of its prime-order group.
    #[error("point {point} of the proof is not in its group: found {found}, expected {expected}")]
    Point {
        /// `A`, `B` or `C`.
        point: char,
        /// What the bytes hold.
        found: &'static str,
        /// What they should hold.
        expected: &'static str,
    },
}

impl Proof {
    /// The protocol's encoding: compressed A, B, C, in this order.
    pub fn to_bytes(&self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        bytes[..48].copy_from_slice(&self.a.to_compressed());
        bytes[48..144].copy_from_slice(&self.b.to_compressed());
        bytes[144..].copy_from_slice(&self.c.to_compressed());
        bytes
    }

    /// Decodes a proof; each point must be on its curve, in the prime-order subgroup and not the identity.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProofError> {
        let bytes: &[u8; PROOF_BYTES] = bytes
            .try_into()
            .map_err(|_| ProofError::Length { found: bytes.len() })?;
        let (a, rest) = bytes.split_first_chunk::<48>().expect("192 >= 48");
        let (b, rest) = rest.split_first_chunk::<96>().expect("144 >= 96");
        let (c, _) = rest.split_first_chunk::<48>().expect("48 >= 48");
        Ok(Self {
            a: in_group('A', G1Affine::from_compressed(a).into())?,
            b: in_group('B', G2Affine::from_compressed(b).into())?,
            c: in_group('C', G1Affine::from_compressed(c).into())?,
        })
    }
}

fn in_group<P: PrimeCurveAffine>(name: char, point: Option<P>) -> Result<P, ProofError> {
    let wrong = |found| ProofError::Point {
        point: name,
        found,
        expected: "a finite point of the prime-order subgroup",
    };
    let point = point.ok_or_else(|| wrong("bytes that decode to no such point"))?;
    if point.is_identity().into() {
        return Err(wrong("the point at infinity"));
    }
    Ok(point)
}

/// The two scalars that make a proof zero-knowledge. Given explicitly, so that a proof can be reproduced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Blinding {
    /// Blinds A.
    pub r: Scalar,
    /// Blinds B.
    pub s: Scalar,
}

impl Blinding {
    /// Fresh blinding from the operating system.
    pub fn random() -> Self {
        Self::from_rng(rand::rngs::OsRng)
    }

    /// Blinding from a given source.
    pub fn from_rng(mut rng: impl RngCore) -> Self {
        Self {
            r: Scalar::random(&mut rng),
            s: Scalar::random(&mut rng),
        }
    }
}

/// The values stay secret: a proof with known blinding leaks its witness.
impl std::fmt::Debug for Blinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blinding(..)")
    }
}
