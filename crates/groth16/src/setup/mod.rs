//! Developer trusted setup: one party draws the toxic waste, so whoever ran it can forge proofs. For tests and
//! development only; production parameters come from Filecoin's ceremony.
//!
//! The output is what bellperson's generator gives for the same toxic waste, byte for byte.

mod error;
mod files;
mod fixed_base;
mod lagrange;
mod marker;
mod qap;
mod stream;
mod toxic;

use std::io::Write;

use blstrs::{G1Projective, Scalar};
use cuzk_r1cs::R1cs;
use ff::Field;
use group::Curve;
use rand::RngCore;

pub use error::SetupError;
pub use files::{SetupReport, write_files};
pub(crate) use marker::circuit_name;
pub use marker::{InsecureMarker, MARKER_SUFFIX, marker_path};
pub use toxic::ToxicWaste;

use crate::progress::Progress;
use crate::vk::VerifyingKey;
use fixed_base::FixedBase;
use qap::Qap;
use stream::Stream;

/// Draws toxic waste from `rng` and streams the parameters for `circuit` to `out` in bellperson's `.params` format.
/// Returns the verifying key. On all cores; memory is 32 bytes a row and about 200 bytes a variable.
pub fn generate(
    circuit: &R1cs,
    rng: impl RngCore,
    out: &mut (dyn Write + Send),
    progress: &dyn Progress,
) -> Result<VerifyingKey, SetupError> {
    generate_with(circuit, &ToxicWaste::random(rng), out, progress)
}

/// [`generate`] with given toxic waste.
pub fn generate_with(
    circuit: &R1cs,
    toxic: &ToxicWaste,
    out: &mut (dyn Write + Send),
    progress: &dyn Progress,
) -> Result<VerifyingKey, SetupError> {
    toxic.check(circuit.log_domain())?;
    progress.begin("QAP at tau", 4);
    let qap = Qap::evaluate(circuit, toxic, progress)?;

    let domain = 1usize << circuit.log_domain();
    let b_points = qap.nonzero_b();
    let g1_count = domain + 2 * (circuit.num_inputs() + circuit.num_aux()) + b_points;
    progress.begin("window tables", 2);
    let g1 = FixedBase::new(toxic.g1, g1_count);
    progress.advance(1);
    let g2 = FixedBase::new(toxic.g2, b_points);
    progress.advance(1);

    let vk = verifying_key(toxic, &g1, &qap);
    let mut stream = Stream::new(out);
    stream.bytes(&vk.to_bytes())?;

    progress.begin("query H", domain as u64 - 1);
    let coefficient = toxic.vanishing(domain) * toxic.delta.invert().expect("checked above");
    stream.query(&g1, domain - 1, progress, &|range, scalars| {
        powers(coefficient, toxic.tau, range, scalars);
    })?;
    for (name, parts) in [
        ("query L", [&[], &qap.l[..]]),
        ("query A", [&qap.a_inputs, &qap.a_aux]),
        ("query B in G1", [&qap.b_inputs, &qap.b_aux]),
    ] {
        stream_nonzero(&mut stream, &g1, name, parts, progress)?;
    }
    stream_nonzero(
        &mut stream,
        &g2,
        "query B in G2",
        [&qap.b_inputs, &qap.b_aux],
        progress,
    )?;
    stream.finish()?;
    Ok(vk)
}

fn verifying_key(toxic: &ToxicWaste, g1: &FixedBase<G1Projective>, qap: &Qap) -> VerifyingKey {
    VerifyingKey {
        alpha_g1: (toxic.g1 * toxic.alpha).to_affine(),
        beta_g1: (toxic.g1 * toxic.beta).to_affine(),
        beta_g2: (toxic.g2 * toxic.beta).to_affine(),
        gamma_g2: (toxic.g2 * toxic.gamma).to_affine(),
        delta_g1: (toxic.g1 * toxic.delta).to_affine(),
        delta_g2: (toxic.g2 * toxic.delta).to_affine(),
        ic: g1.multiply(&qap.ic),
    }
}

/// Appends `coefficient·baseⁱ` for every i of the range.
fn powers(coefficient: Scalar, base: Scalar, range: std::ops::Range<usize>, out: &mut Vec<Scalar>) {
    let mut power = coefficient * base.pow_vartime([range.start as u64]);
    for _ in range {
        out.push(power);
        power *= base;
    }
}

/// Streams the points of the scalars that are not zero: bellperson leaves points at infinity out of its queries.
fn stream_nonzero<C: stream::Encode>(
    stream: &mut Stream<'_>,
    base: &FixedBase<C>,
    name: &str,
    parts: [&[Scalar]; 2],
    progress: &dyn Progress,
) -> Result<(), SetupError> {
    let nonzero = |scalar: &&Scalar| !bool::from(scalar.is_zero());
    let scalars: Vec<&Scalar> = parts.into_iter().flatten().filter(nonzero).collect();
    progress.begin(name, scalars.len() as u64);
    stream.query(base, scalars.len(), progress, &|range, out| {
        out.extend(scalars[range].iter().copied());
    })
}
