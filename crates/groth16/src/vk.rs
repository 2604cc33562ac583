//! Verifying keys in bellperson's encoding.

use std::io::{self, Write};
use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use crate::params::{Bytes, G1_BYTES, G2_BYTES, ParamsError, PointError, read_file, short_digest};

/// What the verifier needs of a trusted setup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// α in G1.
    pub alpha_g1: G1Affine,
    /// β in G1.
    pub beta_g1: G1Affine,
    /// β in G2.
    pub beta_g2: G2Affine,
    /// γ in G2.
    pub gamma_g2: G2Affine,
    /// δ in G1.
    pub delta_g1: G1Affine,
    /// δ in G2.
    pub delta_g2: G2Affine,
    /// `(β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/γ` in G1, one for each input, ONE first.
    pub ic: Vec<G1Affine>,
}

impl VerifyingKey {
    /// Reads a `.vk` file: the whole file must be one key.
    pub fn read_from(path: &Path) -> Result<Self, ParamsError> {
        let content = read_file(path)?;
        let mut bytes = Bytes::new(path, &content);
        let key = Self::decode(&mut bytes)?;
        bytes.finish()?;
        Ok(key)
    }

    /// Decodes a key from the front of `bytes`. Every point must be finite and of prime order.
    pub(crate) fn decode(bytes: &mut Bytes<'_>) -> Result<Self, ParamsError> {
        let alpha_g1 = g1(bytes, "alpha in G1")?;
        let beta_g1 = g1(bytes, "beta in G1")?;
        let beta_g2 = g2(bytes, "beta in G2")?;
        let gamma_g2 = g2(bytes, "gamma in G2")?;
        let delta_g1 = g1(bytes, "delta in G1")?;
        let delta_g2 = g2(bytes, "delta in G2")?;
        let count = bytes.count("number of input points")?;
        let points = bytes.g1_points(count, "input points")?;
        let ic = (0..count)
            .into_par_iter()
            .map(|i| {
                points
                    .check(i)
                    .and_then(prime_order)
                    .map_err(|source| bytes.point_error("input points", i, source))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            alpha_g1,
            beta_g1,
            beta_g2,
            gamma_g2,
            delta_g1,
            delta_g2,
            ic,
        })
    }

    /// Writes the key as bellperson does.
    pub fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(&self.alpha_g1.to_uncompressed())?;
        out.write_all(&self.beta_g1.to_uncompressed())?;
        out.write_all(&self.beta_g2.to_uncompressed())?;
        out.write_all(&self.gamma_g2.to_uncompressed())?;
        out.write_all(&self.delta_g1.to_uncompressed())?;
        out.write_all(&self.delta_g2.to_uncompressed())?;
        let count = u32::try_from(self.ic.len()).map_err(io::Error::other)?;
        out.write_all(&count.to_be_bytes())?;
        for point in &self.ic {
            out.write_all(&point.to_uncompressed())?;
        }
        Ok(())
    }

    /// The key as a `.vk` file holds it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            Vec::with_capacity(3 * (G1_BYTES + G2_BYTES) + 4 + self.ic.len() * G1_BYTES);
        self.write_to(&mut bytes)
            .expect("a vector takes all that is written");
        bytes
    }

    /// Digest of the encoding, as Filecoin's `parameters.json` states it for a `.vk` file.
    pub fn digest(&self) -> String {
        short_digest(&self.to_bytes())
    }
}

fn g1(bytes: &mut Bytes<'_>, part: &str) -> Result<G1Affine, ParamsError> {
    let points = bytes.g1_points(1, part)?;
    let point = points.check(0).and_then(prime_order);
    point.map_err(|source| bytes.point_error(part, 0, source))
}

fn g2(bytes: &mut Bytes<'_>, part: &str) -> Result<G2Affine, ParamsError> {
    let points = bytes.g2_points(1, part)?;
    let point = points.check(0).and_then(|point| {
        if point.is_torsion_free().into() {
            Ok(point)
        } else {
            Err(PointError::Subgroup)
        }
    });
    point.map_err(|source| bytes.point_error(part, 0, source))
}

fn prime_order(point: G1Affine) -> Result<G1Affine, PointError> {
    debug_assert!(!bool::from(point.is_identity()));
    if point.is_torsion_free().into() {
        Ok(point)
    } else {
        Err(PointError::Subgroup)
    }
}
