//! The quadratic arithmetic program of a circuit, evaluated at τ.

use blstrs::Scalar;
use cuzk_r1cs::{Matrix, R1cs};
use ff::Field;
use rayon::prelude::*;

use super::lagrange::lagrange_at;
use super::{SetupError, ToxicWaste};
use crate::progress::Progress;

/// `uᵢ(τ)`, `vᵢ(τ)` and their combination with `wᵢ(τ)` for each variable i: column i of A, B and C, each row weighted
/// with its Lagrange coefficient at τ.
pub struct Qap {
    /// `uᵢ(τ)` of the inputs.
    pub a_inputs: Vec<Scalar>,
    /// `uᵢ(τ)` of the auxiliary variables; zero where a variable does not occur in A.
    pub a_aux: Vec<Scalar>,
    /// `vᵢ(τ)` of the inputs.
    pub b_inputs: Vec<Scalar>,
    /// `vᵢ(τ)` of the auxiliary variables.
    pub b_aux: Vec<Scalar>,
    /// `(β·uᵢ + α·vᵢ + wᵢ)/γ` of the inputs.
    pub ic: Vec<Scalar>,
    /// `(β·uᵢ + α·vᵢ + wᵢ)/δ` of the auxiliary variables; none is zero.
    pub l: Vec<Scalar>,
}

impl Qap {
    /// Evaluates a circuit at the toxic waste's τ, on all cores. Memory is 32 bytes a row and about 130 bytes a variable.
    pub fn evaluate(
        circuit: &R1cs,
        toxic: &ToxicWaste,
        progress: &dyn Progress,
    ) -> Result<Self, SetupError> {
        toxic.check(circuit.log_domain())?;
        progress.begin("QAP at tau", 4);
        let weights = lagrange_at(toxic.tau, circuit.log_domain(), circuit.num_rows());
        progress.advance(1);
        let (a_inputs, a_aux) = circuit.combine_rows(Matrix::A, &weights);
        progress.advance(1);
        let (b_inputs, b_aux) = circuit.combine_rows(Matrix::B, &weights);
        progress.advance(1);
        let (mut ic, mut l) = circuit.combine_rows(Matrix::C, &weights);
        progress.advance(1);
        let invert = |x: Scalar| x.invert().expect("ToxicWaste::check refuses zero");
        combine(&mut ic, &a_inputs, &b_inputs, toxic, invert(toxic.gamma));
        combine(&mut l, &a_aux, &b_aux, toxic, invert(toxic.delta));
        match l.iter().position(|value| value.is_zero().into()) {
            Some(variable) => Err(SetupError::Unconstrained { variable }),
            None => Ok(Self {
                a_inputs,
                a_aux,
                b_inputs,
                b_aux,
                ic,
                l,
            }),
        }
    }

    /// Number of points in each B query.
    pub(super) fn nonzero_b(&self) -> usize {
        let all = self.b_inputs.iter().chain(&self.b_aux);
        all.filter(|value| !bool::from(value.is_zero())).count()
    }
}

/// `w = (β·u + α·v + w)·scale`, variable by variable.
fn combine(w: &mut [Scalar], u: &[Scalar], v: &[Scalar], toxic: &ToxicWaste, scale: Scalar) {
    let (alpha, beta) = (toxic.alpha * scale, toxic.beta * scale);
    w.par_iter_mut().zip(u).zip(v).for_each(|((w, u), v)| {
        *w = *w * scale + beta * u + alpha * v;
    });
}
