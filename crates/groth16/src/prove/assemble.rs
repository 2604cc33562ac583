//! The last step: five sums, a verifying key and the blinding make a proof.

use blstrs::{G1Projective, G2Projective};
use group::Curve;
use group::prime::PrimeCurveAffine;

use crate::backend::ProveError;
use crate::proof::{Blinding, Proof};
use crate::vk::VerifyingKey;

/// The multi-scalar multiplications of one proof: each query with the witness, H with the quotient's coefficients.
#[derive(Clone, Copy, Debug)]
pub struct QuerySums {
    /// `h(τ)·t(τ)/δ`.
    pub h: G1Projective,
    /// `Σ zᵢ·(β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ` over the auxiliary variables.
    pub l: G1Projective,
    /// `Σ zᵢ·uᵢ(τ)` over all variables.
    pub a: G1Projective,
    /// `Σ zᵢ·vᵢ(τ)` over all variables, in G1.
    pub b_g1: G1Projective,
    /// `Σ zᵢ·vᵢ(τ)` over all variables, in G2.
    pub b_g2: G2Projective,
}

/// Groth16, section 3.2:
///
/// ```text
/// A = α + Σ zᵢ·uᵢ(τ) + r·δ
/// B = β + Σ zᵢ·vᵢ(τ) + s·δ
/// C = L + H + s·A + r·B − r·s·δ
/// ```
pub fn assemble(
    vk: &VerifyingKey,
    sums: &QuerySums,
    blinding: &Blinding,
) -> Result<Proof, ProveError> {
    let Blinding { r, s } = blinding;
    let a = sums.a + vk.alpha_g1 + vk.delta_g1 * r;
    let b_g1 = sums.b_g1 + vk.beta_g1 + vk.delta_g1 * s;
    let b = sums.b_g2 + vk.beta_g2 + vk.delta_g2 * s;
    let c = sums.l + sums.h + a * s + b_g1 * r - vk.delta_g1 * (*r * s);
    let proof = Proof {
        a: a.to_affine(),
        b: b.to_affine(),
        c: c.to_affine(),
    };
    let infinite = [
        ('A', proof.a.is_identity()),
        ('B', proof.b.is_identity()),
        ('C', proof.c.is_identity()),
    ];
    match infinite
        .into_iter()
        .find(|(_, infinite)| bool::from(*infinite))
    {
        Some((point, _)) => Err(ProveError::Degenerate { point }),
        None => Ok(proof),
    }
}
