//! Developer trusted setup: one party draws the toxic waste, so whoever ran it can forge proofs. For tests and
//! development only; production parameters come from Filecoin's ceremony.
//!
//! The output is what bellperson's generator gives for the same toxic waste, byte for byte.

mod error;
mod files;
mod lagrange;
mod marker;
mod qap;
mod stream;
mod toxic;

use std::io::Write;
use std::ops::Range;

use blstrs::Scalar;
use cuzk_r1cs::R1cs;
use ff::Field;
use group::Curve;
use rand::RngCore;

pub use error::SetupError;
pub use files::{SetupReport, params_bytes, write_files, write_files_with};
pub(crate) use marker::circuit_name;
pub use marker::{InsecureMarker, MARKER_SUFFIX, marker_path};
pub use qap::Qap;
pub use toxic::ToxicWaste;

use crate::field::Isa;
use crate::msm::fixed_base::Table;
use crate::msm::{G1, G2, Group};
use crate::progress::Progress;
use crate::vk::VerifyingKey;
use stream::Stream;

/// Draws toxic waste from `rng` and streams the parameters for `circuit` to `out` in bellperson's `.params` format.
/// Returns the verifying key. On all cores; memory is 32 bytes a row and about 250 bytes a variable.
pub fn generate(
    circuit: &R1cs,
    rng: impl RngCore,
    out: &mut (dyn Write + Send),
    progress: &dyn Progress,
) -> Result<VerifyingKey, SetupError> {
    let toxic = ToxicWaste::random(rng);
    generate_with(circuit, &toxic, Isa::detect(), out, progress)
}

/// [`generate`] with given toxic waste and a given instruction set.
pub fn generate_with(
    circuit: &R1cs,
    toxic: &ToxicWaste,
    isa: Isa,
    out: &mut (dyn Write + Send),
    progress: &dyn Progress,
) -> Result<VerifyingKey, SetupError> {
    let qap = Qap::evaluate(circuit, toxic, progress)?;

    let domain = 1usize << circuit.log_domain();
    let b_points = qap.nonzero_b();
    let g1_points = domain + 2 * (circuit.num_inputs() + circuit.num_aux()) + b_points;
    progress.begin("tables of the generators", 2);
    let g1 = Table::<G1>::new(isa, &toxic.g1.to_affine(), g1_points);
    progress.advance(1);
    let g2 = Table::<G2>::new(isa, &toxic.g2.to_affine(), b_points);
    progress.advance(1);

    let vk = toxic.verifying_key(g1.multiply(&qap.ic));
    let mut stream = Stream::new(out);
    stream.bytes(&vk.to_bytes())?;

    progress.begin("query H", domain as u64 - 1);
    let coefficient = toxic.h_coefficient(domain);
    stream.query(&g1, domain - 1, progress, &|range, scalars| {
        powers(coefficient, toxic.tau, range, scalars);
    })?;
    let (a, b) = (
        [&qap.a_inputs[..], &qap.a_aux],
        [&qap.b_inputs[..], &qap.b_aux],
    );
    stream_nonzero(&mut stream, &g1, "query L", [&[], &qap.l], progress)?;
    stream_nonzero(&mut stream, &g1, "query A", a, progress)?;
    stream_nonzero(&mut stream, &g1, "query B in G1", b, progress)?;
    stream_nonzero(&mut stream, &g2, "query B in G2", b, progress)?;
    stream.finish()?;
    Ok(vk)
}

/// `coefficient·baseⁱ` for every i of the range.
fn powers(coefficient: Scalar, base: Scalar, range: Range<usize>, out: &mut [Scalar]) {
    let mut power = coefficient * base.pow_vartime([range.start as u64]);
    for out in out {
        *out = power;
        power *= base;
    }
}

/// Streams the points of the scalars that are not zero: bellperson leaves points at infinity out of its queries.
fn stream_nonzero<G: Group>(
    stream: &mut Stream<'_>,
    base: &Table<G>,
    name: &str,
    parts: [&[Scalar]; 2],
    progress: &dyn Progress,
) -> Result<(), SetupError> {
    let nonzero = |scalar: &&Scalar| !bool::from(scalar.is_zero());
    let scalars: Vec<&Scalar> = parts.into_iter().flatten().filter(nonzero).collect();
    progress.begin(name, scalars.len() as u64);
    stream.query(base, scalars.len(), progress, &|range, out| {
        scalars[range]
            .iter()
            .zip(out)
            .for_each(|(scalar, out)| *out = **scalar);
    })
}
