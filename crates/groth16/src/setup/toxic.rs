//! The secrets of a setup.

use blstrs::{G1Affine, G1Projective, G2Projective, Scalar};
use ff::Field;
use group::{Curve, Group};
use rand::RngCore;

use super::SetupError;
use crate::vk::VerifyingKey;

/// The secret exponents of a setup and the generators they apply to. Who knows them can forge proofs.
#[derive(Clone)]
pub struct ToxicWaste {
    /// Generator of G1.
    pub g1: G1Projective,
    /// Generator of G2.
    pub g2: G2Projective,
    /// α of Groth16.
    pub alpha: Scalar,
    /// β of Groth16.
    pub beta: Scalar,
    /// γ of Groth16.
    pub gamma: Scalar,
    /// δ of Groth16.
    pub delta: Scalar,
    /// The point at which the QAP is evaluated.
    pub tau: Scalar,
}

impl ToxicWaste {
    /// Draws everything at random, in bellperson's order.
    pub fn random(mut rng: impl RngCore) -> Self {
        Self {
            g1: G1Projective::random(&mut rng),
            g2: G2Projective::random(&mut rng),
            alpha: Scalar::random(&mut rng),
            beta: Scalar::random(&mut rng),
            gamma: Scalar::random(&mut rng),
            delta: Scalar::random(&mut rng),
            tau: Scalar::random(&mut rng),
        }
    }

    /// `t(τ) = τⁿ − 1`, the polynomial that vanishes on the domain of `n` points.
    pub(super) fn vanishing(&self, domain: usize) -> Scalar {
        self.tau.pow_vartime([domain as u64]) - Scalar::ONE
    }

    /// `t(τ)/δ` for the domain of `n` points: base i of query H is the generator of G1 times this and `τⁱ`.
    ///
    /// # Panics
    /// When δ is zero, which [`Qap::evaluate`](super::Qap::evaluate) refuses.
    pub fn h_coefficient(&self, domain: usize) -> Scalar {
        let delta_inverse = self.delta.invert().expect("delta is not zero");
        self.vanishing(domain) * delta_inverse
    }

    /// The verifying key, given the inputs' points: the generator of G1 times each of [`Qap::ic`](super::Qap::ic).
    pub fn verifying_key(&self, ic: Vec<G1Affine>) -> VerifyingKey {
        VerifyingKey {
            alpha_g1: (self.g1 * self.alpha).to_affine(),
            beta_g1: (self.g1 * self.beta).to_affine(),
            beta_g2: (self.g2 * self.beta).to_affine(),
            gamma_g2: (self.g2 * self.gamma).to_affine(),
            delta_g1: (self.g1 * self.delta).to_affine(),
            delta_g2: (self.g2 * self.delta).to_affine(),
            ic,
        }
    }

    pub(super) fn check(&self, log_domain: u32) -> Result<(), SetupError> {
        let elements = [
            ("alpha", self.alpha),
            ("beta", self.beta),
            ("gamma", self.gamma),
            ("delta", self.delta),
            ("tau", self.tau * self.vanishing(1 << log_domain)),
        ];
        match elements
            .into_iter()
            .find(|(_, value)| value.is_zero().into())
        {
            Some((name, _)) => Err(SetupError::Toxic { name }),
            None => Ok(()),
        }
    }
}

/// The values stay secret.
impl std::fmt::Debug for ToxicWaste {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ToxicWaste(..)")
    }
}
