//! Verification: `e(A, B) = e(α, β) · e(Σ xᵢ·icᵢ, γ) · e(C, δ)` (Groth16, section 3.2).

use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Prepared, Gt, Scalar};
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use pairing::{Engine, MillerLoopResult, MultiMillerLoop};
use rand::RngCore;
use rayon::prelude::*;

use crate::{Proof, VerifyingKey};

/// A verifying key with what all verifications share computed once.
pub struct PreparedVerifyingKey {
    alpha_beta: Gt,
    neg_gamma: G2Prepared,
    neg_delta: G2Prepared,
    ic: Vec<G1Projective>,
}

/// Why proofs are not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The statement is for another circuit.
    #[error("found {found} public inputs for proof {proof}, expected {expected}")]
    Inputs {
        /// Which proof.
        proof: usize,
        /// Inputs given, without ONE.
        found: usize,
        /// Inputs of the verifying key, without ONE.
        expected: usize,
    },
    /// Not one list of inputs for each proof, or no proof at all.
    #[error("found {found} proofs for {expected} statements, expected as many, and at least one")]
    Proofs {
        /// Proofs given.
        found: usize,
        /// Statements given.
        expected: usize,
    },
    /// A point is at infinity or outside the prime-order subgroup.
    #[error(
        "found point {point} of proof {proof} outside its group, expected a finite point of prime order"
    )]
    Point {
        /// Which proof.
        proof: usize,
        /// `A`, `B` or `C`.
        point: char,
    },
    /// The pairing equation does not hold.
    #[error("proof {proof} does not verify: the pairing equation does not hold")]
    Rejected {
        /// Which proof.
        proof: usize,
    },
}

impl PreparedVerifyingKey {
    /// Prepares a key: one pairing.
    pub fn new(vk: &VerifyingKey) -> Self {
        Self {
            alpha_beta: Bls12::pairing(&vk.alpha_g1, &vk.beta_g2),
            neg_gamma: (-vk.gamma_g2).into(),
            neg_delta: (-vk.delta_g2).into(),
            ic: vk.ic.iter().map(G1Projective::from).collect(),
        }
    }

    /// Number of public inputs, without ONE.
    pub fn num_public_inputs(&self) -> usize {
        self.ic.len() - 1
    }
}

/// Accepts a proof, or says why not. `public_inputs` come without ONE.
pub fn verify(
    vk: &PreparedVerifyingKey,
    public_inputs: &[Scalar],
    proof: &Proof,
) -> Result<(), VerifyError> {
    check_statement(vk, 0, public_inputs, proof)?;
    if holds(vk, &[(Scalar::ONE, public_inputs, proof)]) {
        return Ok(());
    }
    Err(VerifyError::Rejected { proof: 0 })
}

/// Accepts several proofs for one circuit, or names the first that fails. The equations are checked together, each
/// raised to a random 128-bit power, so a false batch passes with probability 2⁻¹²⁸.
pub fn verify_batch<I: AsRef<[Scalar]>>(
    vk: &PreparedVerifyingKey,
    public_inputs: &[I],
    proofs: &[Proof],
) -> Result<(), VerifyError> {
    if proofs.is_empty() || proofs.len() != public_inputs.len() {
        let (found, expected) = (proofs.len(), public_inputs.len());
        return Err(VerifyError::Proofs { found, expected });
    }
    let statements = || {
        public_inputs
            .iter()
            .map(AsRef::as_ref)
            .zip(proofs)
            .enumerate()
    };
    for (index, (inputs, proof)) in statements() {
        check_statement(vk, index, inputs, proof)?;
    }
    let weighted: Vec<_> = statements()
        .map(|(index, (inputs, proof))| {
            (
                if index == 0 { Scalar::ONE } else { weight() },
                inputs,
                proof,
            )
        })
        .collect();
    if holds(vk, &weighted) {
        return Ok(());
    }
    // Some proof is wrong; look for it one by one.
    let wrong =
        statements().find(|(_, (inputs, proof))| !holds(vk, &[(Scalar::ONE, inputs, proof)]));
    Err(VerifyError::Rejected {
        proof: wrong.map_or(0, |(index, _)| index),
    })
}

fn weight() -> Scalar {
    let mut bytes = [0; 32];
    rand::rngs::OsRng.fill_bytes(&mut bytes[..16]);
    Option::from(Scalar::from_repr(bytes)).expect("128 bits are below the group's order")
}

fn check_statement(
    vk: &PreparedVerifyingKey,
    proof: usize,
    inputs: &[Scalar],
    points: &Proof,
) -> Result<(), VerifyError> {
    let (found, expected) = (inputs.len(), vk.num_public_inputs());
    if found != expected {
        return Err(VerifyError::Inputs {
            proof,
            found,
            expected,
        });
    }
    let outside_g1 =
        |p: &G1Affine| bool::from(p.is_identity() | !p.is_on_curve() | !p.is_torsion_free());
    let outside_g2 =
        |p: &G2Affine| bool::from(p.is_identity() | !p.is_on_curve() | !p.is_torsion_free());
    let wrong = [
        ('A', outside_g1(&points.a)),
        ('B', outside_g2(&points.b)),
        ('C', outside_g1(&points.c)),
    ];
    match wrong.into_iter().find(|(_, outside)| *outside) {
        Some((point, _)) => Err(VerifyError::Point { proof, point }),
        None => Ok(()),
    }
}

/// `Π e(wⱼ·Aⱼ, Bⱼ) · e(Σ wⱼ·Σᵢ xⱼᵢ·icᵢ, −γ) · e(Σ wⱼ·Cⱼ, −δ) = e(α, β)^(Σ wⱼ)`: one final exponentiation for all.
fn holds(vk: &PreparedVerifyingKey, proofs: &[(Scalar, &[Scalar], &Proof)]) -> bool {
    let mut exponents = vec![Scalar::ZERO; vk.ic.len()];
    for (weight, inputs, _) in proofs {
        exponents[0] += weight;
        for (exponent, input) in exponents[1..].iter_mut().zip(*inputs) {
            *exponent += *weight * input;
        }
    }
    let total_weight = exponents[0];
    let (inputs, pairs): (G1Projective, Vec<(G1Affine, G2Prepared)>) = rayon::join(
        || combine_inputs(&vk.ic, &exponents),
        || {
            let pair = |&(weight, _, proof): &(Scalar, &[Scalar], &Proof)| {
                ((proof.a * weight).to_affine(), proof.b.into())
            };
            proofs.par_iter().map(pair).collect()
        },
    );
    let c: G1Projective = proofs
        .iter()
        .map(|(weight, _, proof)| proof.c * weight)
        .sum();
    let (inputs, c) = (inputs.to_affine(), c.to_affine());
    let mut terms: Vec<(&G1Affine, &G2Prepared)> = pairs.iter().map(|(a, b)| (a, b)).collect();
    terms.extend([(&inputs, &vk.neg_gamma), (&c, &vk.neg_delta)]);
    Bls12::multi_miller_loop(&terms).final_exponentiation() == vk.alpha_beta * total_weight
}

/// `Σ eᵢ·icᵢ`, on all cores.
fn combine_inputs(ic: &[G1Projective], exponents: &[Scalar]) -> G1Projective {
    const CHUNK: usize = 1 << 10;
    ic.par_chunks(CHUNK)
        .zip(exponents.par_chunks(CHUNK))
        .map(|(points, exponents)| G1Projective::multi_exp(points, exponents))
        .reduce(G1Projective::identity, |left, right| left + right)
}
