//! A whole Groth16 proof followed by hand: the circuit `x·y = z` with x and z public.
//!
//! With the rows that Groth16 appends for its inputs ONE, x and z there are four, on the domain {1, i, −1, −i}:
//!
//! | row | A   | B | C |
//! |-----|-----|---|---|
//! | 0   | x   | y | z |
//! | 1   | ONE | 0 | 0 |
//! | 2   | x   | 0 | 0 |
//! | 3   | z   | 0 | 0 |
//!
//! For x, y, z = 6, 7, 42 the rows evaluate to a = (6, 1, 6, 42), b = (7, 0, 0, 0), c = (42, 0, 0, 0), so
//! B = 7/4·(1 + X + X² + X³), and A's coefficients above the constant are a₁ = 41i/4, a₂ = −31/4, a₃ = −41i/4.
//! The upper half of A·B is h = 7/4·((a₁ + a₂ + a₃) + (a₂ + a₃)·X + a₃·X²) = −7/16·(31 + (31 + 41i)·X + 41i·X²).

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cuzk_groth16::conformance::circuits::Product;
use cuzk_groth16::conformance::{assign, compile};
use cuzk_groth16::field::Isa;
use cuzk_groth16::ntt::Domain;
use cuzk_groth16::quotient::quotient;
use cuzk_groth16::setup::{ToxicWaste, generate_with};
use cuzk_groth16::{Backend, Blinding, CpuBackend, NoProgress, ParameterFile};
use ff::{Field, PrimeField};
use group::Group;
use std::sync::Arc;

fn s(value: u64) -> Scalar {
    Scalar::from(value)
}

fn over(numerator: Scalar, denominator: Scalar) -> Scalar {
    numerator * denominator.invert().expect("not zero")
}

/// The fourth root of unity that generates the domain.
fn i() -> Scalar {
    Scalar::ROOT_OF_UNITY.pow_vartime([1 << 30])
}

/// h of the module's text, and the zero that the domain's size leaves room for.
fn h() -> [Scalar; 4] {
    let scale = -over(s(7), s(16));
    let (real, imaginary) = (s(31), s(41) * i());
    [
        scale * real,
        scale * (real + imaginary),
        scale * imaginary,
        s(0),
    ]
}

#[test]
fn quotient_of_the_product() {
    assert_eq!(i().square(), -s(1));
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let domain = Domain::new(isa, 2).expect("a small domain");
        let mut a = [6, 1, 6, 42].map(s);
        let mut b = [7, 0, 0, 0].map(s);
        quotient(&domain, &mut a, &mut b);
        assert_eq!(a, h());
    }
}

fn toxic() -> ToxicWaste {
    ToxicWaste {
        g1: G1Projective::generator(),
        g2: G2Projective::generator(),
        alpha: s(1009),
        beta: s(2003),
        gamma: s(3001),
        delta: s(4001),
        tau: s(5003),
    }
}

/// Lagrange's basis at τ by its definition: the product of (τ − ωᵏ)/(ωʲ − ωᵏ) over k ≠ j.
fn lagrange(tau: Scalar) -> [Scalar; 4] {
    let points = [s(1), i(), -s(1), -i()];
    let factor = |j: usize, k: usize| over(tau - points[k], points[j] - points[k]);
    std::array::from_fn(|j| (0..4).filter(|k| *k != j).map(|k| factor(j, k)).product())
}

/// The QAP at τ, read off the table: for ONE, x, z and y in this order, u, v and w.
fn qap() -> [[Scalar; 3]; 4] {
    let [l0, l1, l2, l3] = lagrange(toxic().tau);
    [
        [l1, s(0), s(0)],
        [l0 + l2, s(0), s(0)],
        [l3, s(0), l0],
        [s(0), l0, s(0)],
    ]
}

fn g1(exponent: Scalar) -> G1Affine {
    (G1Projective::generator() * exponent).into()
}

fn g2(exponent: Scalar) -> G2Affine {
    (G2Projective::generator() * exponent).into()
}

#[test]
fn parameters_and_proof_of_the_product() {
    let circuit = compile(Product { x: 6, y: 7 });
    assert_eq!(
        (circuit.num_inputs(), circuit.num_aux(), circuit.num_rows()),
        (3, 1, 4)
    );
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut out = file.as_file();
    generate_with(&circuit, &toxic(), Isa::detect(), &mut out, &NoProgress).expect("parameters");
    let params = ParameterFile::open(file.path()).expect("parameters");

    let ToxicWaste {
        alpha,
        beta,
        gamma,
        delta,
        tau,
        ..
    } = toxic();
    let [one, x, z, y] = qap();
    let combined = |[u, v, w]: [Scalar; 3]| beta * u + alpha * v + w;
    let t = tau.pow_vartime([4]) - s(1);
    let points = |points: cuzk_groth16::G1Points<'_>| -> Vec<G1Affine> {
        (0..points.len()).map(|i| points.get(i)).collect()
    };
    let ic = [one, x, z].map(|column| g1(over(combined(column), gamma)));
    assert_eq!(params.vk().ic, ic);
    let powers = [s(1), tau, tau.square()];
    assert_eq!(
        points(params.h()),
        powers.map(|power| g1(over(power * t, delta)))
    );
    assert_eq!(points(params.l()), [g1(over(combined(y), delta))]);
    assert_eq!(points(params.a()), [one, x, z].map(|[u, ..]| g1(u)));
    assert_eq!(points(params.b_g1()), [g1(y[1])]);
    assert_eq!((params.b_g2().len(), params.b_g2().get(0)), (1, g2(y[1])));

    // A = α + Σ zᵢuᵢ + rδ, B = β + Σ zᵢvᵢ + sδ, C = (7·(βu + αv + w of y) + h·t)/δ + sA + rB − rsδ.
    let blinding = Blinding { r: s(11), s: s(13) };
    let a = alpha + one[0] + s(6) * x[0] + s(42) * z[0] + s(11) * delta;
    let b = beta + s(7) * y[1] + s(13) * delta;
    let [h0, h1, h2, _] = h();
    let h_at_tau = h0 + h1 * tau + h2 * tau.square();
    let private = over(s(7) * combined(y) + h_at_tau * t, delta);
    let c = private + s(13) * a + s(11) * b - s(11 * 13) * delta;
    // The exponents satisfy the verifier's equation.
    let public = combined(one) + s(6) * combined(x) + s(42) * combined(z);
    assert_eq!(a * b, alpha * beta + public + c * delta);

    let witness = assign(&circuit, Product { x: 6, y: 7 });
    let backend = CpuBackend::new();
    let key = backend
        .load(Arc::new(circuit), Arc::new(params))
        .expect("a key");
    let proof = backend.prove(&key, &witness, &blinding).expect("a proof");
    assert_eq!((proof.a, proof.b, proof.c), (g1(a), g2(b), g1(c)));
}
