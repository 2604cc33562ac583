//! Kernels against identities, at sizes that no scalar-by-scalar reference reaches.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_cuda::{
    Bases, Curve, Density, Device, G1, G2, IndexList, Pairing, Quotient, msm, msm_workspace,
};
use ff::{Field, PrimeField};
use group::Group;
use rayon::prelude::*;

use crate::Outcome;
use crate::synthetic::{Inputs, value};
use crate::table::Table;

pub(crate) fn run(device: &Arc<Device>, inputs: &Inputs, largest: u32, table: &mut Table) {
    for log_n in [
        9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 27,
    ] {
        if log_n <= largest {
            table.check(&format!("quotient 2^{log_n}"), || {
                quotient(device, inputs, log_n)
            });
        }
    }
    for count in [
        1,
        2,
        1000,
        1 << 15,
        (1 << 17) - 1,
        1 << 20,
        1 << 22,
        1 << 24,
        1 << 27,
    ] {
        if count <= 1 << largest {
            table.check(&format!("msm g1 of {count}"), || {
                whole_msm::<G1>(device, inputs, count)
            });
        }
        if count <= 1 << largest.min(22) {
            table.check(&format!("msm g2 of {count}"), || {
                whole_msm::<G2>(device, inputs, count)
            });
        }
    }
    table.check("msm g1 by list", || {
        listed_msm::<G1>(device, inputs, 1 << largest.min(20))
    });
    table.check("msm g2 by list", || {
        listed_msm::<G2>(device, inputs, 1 << largest.min(20))
    });
    table.check("sum of ones g1", || {
        ones::<G1>(device, inputs, 1 << largest.min(24))
    });
    table.check("sum of ones g2", || {
        ones::<G2>(device, inputs, 1 << largest.min(22))
    });
}

fn same<T: PartialEq>(found: &T, expected: &T) -> Outcome {
    if found == expected {
        Ok(())
    } else {
        Err("found another sum than expected".into())
    }
}

fn whole_msm<C: Curve>(device: &Arc<Device>, inputs: &Inputs, count: u32) -> Outcome {
    let bases: Bases<C> = inputs.bases(device, count)?;
    let scalars = device.allocate_copy(&inputs.scalars[..count as usize])?;
    let workspace = device.allocate(msm_workspace::<C>(device, count, None)?)?;
    workspace.all().fill(0xee)?;
    let sum = msm(
        &bases,
        scalars.all(),
        &Pairing::straight(count),
        None,
        workspace.all(),
    )?;
    same(
        &sum,
        &(C::Point::generator() * inputs.expected(count as usize)),
    )
}

/// Every third scalar with some base or other.
fn listed_msm<C: Curve>(device: &Arc<Device>, inputs: &Inputs, count: u32) -> Outcome {
    let bases: Bases<C> = inputs.bases(device, count)?;
    let scalars = device.allocate_copy(&inputs.scalars[..count as usize])?;
    let scalar_of: Vec<u32> = (0..count).step_by(3).collect();
    let base_of: Vec<u32> = (0..scalar_of.len() as u32)
        .map(|i| i.wrapping_mul(0x9e37_79b1) % count)
        .collect();
    let expected: Scalar = scalar_of
        .par_iter()
        .zip(&base_of)
        .map(|(&s, &b)| value(&inputs.scalars[s as usize]) * inputs.logarithm(b as usize))
        .sum();
    let pairing = Pairing {
        count: scalar_of.len() as u32,
        scalar_of: Some(IndexList::new(device, &scalar_of)?),
        base_of: Some(IndexList::new(device, &base_of)?),
    };
    let workspace = device.allocate(msm_workspace::<C>(device, pairing.count, None)?)?;
    let sum = msm(&bases, scalars.all(), &pairing, None, workspace.all())?;
    same(&sum, &(C::Point::generator() * expected))
}

fn ones<C: Curve>(device: &Arc<Device>, inputs: &Inputs, count: u32) -> Outcome {
    let words = &inputs.words[..(count as usize).div_ceil(64)];
    let bases: Bases<C> = inputs.bases(device, 64 * words.len() as u32)?;
    let density = Density::new(device, &vec![u64::MAX; words.len()], 0)?;
    let bits = device.allocate_copy(words)?;
    let workspace = device.allocate(density.workspace::<C>()?)?;
    let sum = density.sum_ones(&bases, bits.all(), workspace.all())?;
    same(&sum, &(C::Point::generator() * inputs.expected_ones(words)))
}

/// h·(xⁿ − 1) = A·B − C at a point, where a, b and c = a∘b are the values of A, B and C.
fn quotient(device: &Arc<Device>, inputs: &Inputs, log_n: u32) -> Outcome {
    let n = 1usize << log_n;
    let bytes = 32u64 << log_n;
    let a = &inputs.scalars[..n];
    // the device takes b in Montgomery form: these bytes are b times 2^256
    let b_bytes: Vec<[u8; 32]> = a.par_iter().rev().copied().collect();
    let memory = device.allocate(3 * bytes)?;
    let [to_a, to_b, to_c] = [0, 1, 2].map(|i| memory.region(i * bytes, bytes));
    to_a.upload(a)?;
    to_b.upload(&b_bytes)?;
    to_c.fill(0xee)?;
    Quotient::new(device, log_n)?.run(to_a, to_b, to_c)?;
    let mut h = vec![[0u8; 32]; n];
    to_a.download(&mut h)?;

    let inverse_r = Scalar::from(2)
        .pow_vartime([256])
        .invert()
        .expect("2 is not zero");
    let x = Scalar::from(0x1234_5678_9abc_def1).square();
    let values = |j: usize| {
        let (a, b) = (value(&a[j]), value(&b_bytes[j]) * inverse_r);
        [a, b, a * b]
    };
    let [a, b, c] = interpolate(log_n, x, values);
    let h = bit_reversed_polynomial(&h, log_n, x)?;
    if h * (x.pow_vartime([n as u64]) - Scalar::ONE) == a * b - c {
        Ok(())
    } else {
        Err("the identity does not hold at a point".into())
    }
}

/// The three polynomials with these values on the n-th roots of unity, at `x`: `(xⁿ − 1)/n · Σ vⱼ wʲ/(x − wʲ)`.
fn interpolate(log_n: u32, x: Scalar, values: impl Fn(usize) -> [Scalar; 3] + Sync) -> [Scalar; 3] {
    const CHUNK: usize = 1 << 10;
    let n = 1usize << log_n;
    let w = (log_n..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
    let sums = (0..n.div_ceil(CHUNK)).into_par_iter().map(|chunk| {
        let (start, end) = (chunk * CHUNK, n.min((chunk + 1) * CHUNK));
        let first = w.pow_vartime([start as u64]);
        let powers: Vec<_> = std::iter::successors(Some(first), |p| Some(*p * w))
            .take(end - start)
            .collect();
        let mut inverses: Vec<_> = powers.iter().map(|p| x - p).collect();
        invert_all(&mut inverses);
        let mut sums = [Scalar::ZERO; 3];
        for (i, j) in (start..end).enumerate() {
            let weight = powers[i] * inverses[i];
            for (sum, value) in sums.iter_mut().zip(values(j)) {
                *sum += value * weight;
            }
        }
        sums
    });
    let add = |a: [Scalar; 3], b: [Scalar; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    let sums = sums.reduce(|| [Scalar::ZERO; 3], add);
    let scale = (x.pow_vartime([n as u64]) - Scalar::ONE)
        * Scalar::from(n as u64).invert().expect("n is not zero");
    sums.map(|sum| sum * scale)
}

/// By one inversion.
fn invert_all(values: &mut [Scalar]) {
    let mut products = vec![Scalar::ONE];
    for (i, value) in values.iter().enumerate() {
        products.push(products[i] * value);
    }
    let mut inverse = products[values.len()]
        .invert()
        .expect("x is no root of unity");
    for (value, before) in values.iter_mut().zip(&products).rev() {
        (*value, inverse) = (inverse * before, inverse * *value);
    }
}

/// Coefficients in bit-reversed order: position p holds that of x^rev(p). By halves: the low half's even, the high half's
/// odd powers.
fn bit_reversed_polynomial(h: &[[u8; 32]], log_n: u32, x: Scalar) -> Outcome<Scalar> {
    if log_n <= 8 {
        let mut sum = Scalar::ZERO;
        for (p, coefficient) in h.iter().enumerate() {
            let power = if log_n == 0 {
                0
            } else {
                p.reverse_bits() >> (usize::BITS - log_n)
            };
            let coefficient = Option::<Scalar>::from(Scalar::from_repr(*coefficient))
                .ok_or("found a coefficient above r")?;
            sum += coefficient * x.pow_vartime([power as u64]);
        }
        return Ok(sum);
    }
    let (even, odd) = h.split_at(h.len() / 2);
    let square = x.square();
    let half = |h| bit_reversed_polynomial(h, log_n - 1, square).map_err(|e| e.to_string());
    let (even, odd) = rayon::join(|| half(even), || half(odd));
    Ok(even? + odd? * x)
}
