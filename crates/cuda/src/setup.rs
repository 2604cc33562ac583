//! Developer parameters made on a device, straight into resident bases. Insecure by construction: whoever made them can
//! forge proofs.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_groth16::setup::{Qap, SetupError, ToxicWaste};
use cuzk_groth16::{Progress, VerifyingKey};
use cuzk_r1cs::R1cs;
use ff::Field;
use group::Curve as _;
use rayon::prelude::*;

use crate::bases::Bases;
use crate::curve::{Curve, G1, G2};
use crate::device::Device;
use crate::error::DeviceError;
use crate::multiples::Multiples;
use crate::stored::QueryBases;

/// Variables whose zero scalars are left out at a time, and scalars of H that are made at a time.
const CHUNK: usize = 1 << 23;

/// Why there are no parameters.
#[derive(Debug, thiserror::Error)]
pub enum DeviceSetupError {
    /// The toxic waste or the circuit does not do.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// What a circuit's setup gives: the same points as `cuzk_groth16::setup::generate_with` writes to a file.
pub struct DeviceParameters {
    /// The verifying key.
    pub vk: VerifyingKey,
    /// The queries.
    pub bases: QueryBases,
}

impl DeviceParameters {
    /// Evaluates the circuit's QAP on all cores, and multiplies the generators on the device. Host memory is 32 bytes a
    /// row and about 130 bytes a variable.
    ///
    /// # Errors
    /// When the toxic waste is degenerate or leaves a variable unconstrained, memory runs out, or the device fails.
    pub fn generate(
        device: &Arc<Device>,
        circuit: &R1cs,
        toxic: &ToxicWaste,
        progress: &dyn Progress,
    ) -> Result<Self, DeviceSetupError> {
        let qap = Qap::evaluate(circuit, toxic, progress)?;
        let made = Self::from_qap(device, circuit.log_domain(), &qap, toxic, progress)?;
        Ok(made)
    }

    /// The device's part of [`DeviceParameters::generate`]: several devices may share one QAP, evaluated at the toxic
    /// waste's τ.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn from_qap(
        device: &Arc<Device>,
        log_domain: u32,
        qap: &Qap,
        toxic: &ToxicWaste,
        progress: &dyn Progress,
    ) -> Result<Self, DeviceError> {
        let ic = qap.ic.par_iter().map(|x| (toxic.g1 * x).to_affine());
        let vk = toxic.verifying_key(ic.collect());

        let a = [&qap.a_inputs[..], &qap.a_aux];
        let b = [&qap.b_inputs[..], &qap.b_aux];
        let g1_points = (1 << log_domain) + qap.l.len() + qap.a_aux.len();
        let g1 = Multiples::<G1>::new(device, toxic.g1, g1_points)?;
        let coefficient = toxic.h_coefficient(1 << log_domain);
        let h = h_query(device, &g1, coefficient, toxic.tau, log_domain, progress)?;
        let l = query(device, &g1, "query L", [&[], &qap.l], progress)?;
        let a = query(device, &g1, "query A", a, progress)?;
        let b_g1 = query(device, &g1, "query B in G1", b, progress)?;
        drop(g1);
        let g2 = Multiples::<G2>::new(device, toxic.g2, b_g1.count() as usize)?;
        let b_g2 = query(device, &g2, "query B in G2", b, progress)?;
        let bases = QueryBases {
            h,
            l,
            a,
            b_g1,
            b_g2,
        };
        Ok(Self { vk, bases })
    }
}

/// The generator times `coefficient·τⁱ`, at the place whose number is i with its bits reversed; the last is at infinity.
fn h_query(
    device: &Arc<Device>,
    generator: &Multiples<G1>,
    coefficient: Scalar,
    tau: Scalar,
    log_domain: u32,
    progress: &dyn Progress,
) -> Result<Bases<G1>, DeviceError> {
    let domain = 1usize << log_domain;
    progress.begin("query H", domain as u64);
    let powers = ReversedPowers::new(coefficient, tau, log_domain);
    let bases = Bases::at_infinity(device, domain)?;
    let mut scalars = Vec::new();
    for first in (0..domain).step_by(CHUNK) {
        let places = first..domain.min(first + CHUNK);
        let count = places.len();
        places
            .into_par_iter()
            .map(|place| powers.get(place))
            .collect_into_vec(&mut scalars);
        generator.write(&bases, first, &scalars)?;
        progress.advance(count as u64);
    }
    Ok(bases)
}

/// `coefficient·τ^rev(place)`, zero at the last place. The place's high bits are the low bits of the power, so two short
/// tables do.
struct ReversedPowers {
    log_n: u32,
    low_bits: u32,
    /// By the place's low bits.
    by_low: Vec<Scalar>,
    /// By its high bits.
    by_high: Vec<Scalar>,
}

impl ReversedPowers {
    fn new(coefficient: Scalar, tau: Scalar, log_n: u32) -> Self {
        let low_bits = log_n / 2;
        let high_bits = log_n - low_bits;
        let table = |first: Scalar, step: Scalar, bits: u32| {
            let powers: Vec<_> = std::iter::successors(Some(first), |power| Some(*power * step))
                .take(1 << bits)
                .collect();
            (0..1 << bits).map(|i| powers[reversed(i, bits)]).collect()
        };
        let stride = tau.pow_vartime([1 << high_bits]);
        Self {
            log_n,
            low_bits,
            by_low: table(coefficient, stride, low_bits),
            by_high: table(Scalar::ONE, tau, high_bits),
        }
    }

    fn get(&self, place: usize) -> Scalar {
        if place + 1 == 1 << self.log_n {
            return Scalar::ZERO;
        }
        let low = place & ((1 << self.low_bits) - 1);
        self.by_low[low] * self.by_high[place >> self.low_bits]
    }
}

/// The number of `bits` bits that `i` is when read backwards.
fn reversed(i: usize, bits: u32) -> usize {
    match bits {
        0 => 0,
        _ => i.reverse_bits() >> (usize::BITS - bits),
    }
}

/// The generator times those of the scalars that are not zero.
fn query<C: Curve>(
    device: &Arc<Device>,
    generator: &Multiples<C>,
    name: &str,
    parts: [&[Scalar]; 2],
    progress: &dyn Progress,
) -> Result<Bases<C>, DeviceError> {
    let nonzero = |scalar: &&Scalar| !bool::from(scalar.is_zero());
    let count = |part: &[Scalar]| part.par_iter().filter(nonzero).count();
    let bases = Bases::at_infinity(device, parts.into_iter().map(count).sum())?;
    progress.begin(name, u64::from(bases.count()));
    let mut first = 0;
    for chunk in parts.into_iter().flat_map(|part| part.chunks(CHUNK)) {
        let scalars: Vec<Scalar> = chunk.par_iter().filter(nonzero).copied().collect();
        generator.write(&bases, first, &scalars)?;
        first += scalars.len();
        progress.advance(scalars.len() as u64);
    }
    Ok(bases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_come_in_reversed_order() {
        let (coefficient, tau) = (Scalar::from(5), Scalar::from(3));
        for log_n in [0u32, 1, 2, 5, 8] {
            let powers = ReversedPowers::new(coefficient, tau, log_n);
            for place in 0..1usize << log_n {
                let power = reversed(place, log_n) as u64;
                let expected = match place + 1 == 1 << log_n {
                    true => Scalar::ZERO,
                    false => coefficient * tau.pow_vartime([power]),
                };
                assert_eq!(powers.get(place), expected, "place {place} of 2^{log_n}");
            }
        }
    }
}
