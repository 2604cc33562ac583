//! Which slots are found to be bits: the gadgets circuits are made of, and rows solved by brute force.

mod common;

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError, Variable};
use common::{Listing, Row, Step, aux, boolean, coefficient, input};
use cuzk_r1cs::{R1cs, Recorder, Scalar, compile};
use ff::{Field, PrimeField};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Wide slots of a circuit that is preceded by enough bits for it to be packed.
fn wide(synthesize: impl FnOnce(&mut Recorder) -> Result<(), SynthesisError>) -> Vec<usize> {
    const PADDING: usize = 2000;
    let circuit: R1cs = compile(|cs| {
        for _ in 0..PADDING {
            AllocatedBit::alloc(&mut *cs, None)?;
        }
        synthesize(cs)
    })
    .expect("it compiles");
    let layout = circuit.layout();
    assert!(!layout.is_dense());
    assert!((0..PADDING).all(|i| !layout.is_wide(i)));
    let slots = PADDING..circuit.num_aux();
    slots
        .filter(|&i| layout.is_wide(i))
        .map(|i| i - PADDING)
        .collect()
}

/// A bit, or what is not that bit.
fn literal(cs: &mut Recorder, negated: bool) -> Result<Boolean, SynthesisError> {
    let bit = Boolean::from(AllocatedBit::alloc(cs, None)?);
    Ok(if negated { bit.not() } else { bit })
}

#[test]
fn what_boolean_gadgets_compute_is_a_bit() {
    for negations in 0..8 {
        let found = wide(|cs| {
            let mut next = (0..3).map(|i| negations >> i & 1 == 1);
            let mut bit = || next.next().expect("three bits");
            let (a, b, c) = (
                literal(cs, bit())?,
                literal(cs, bit())?,
                literal(cs, bit())?,
            );
            let xor = Boolean::xor(&mut *cs, &a, &b)?;
            let and = Boolean::and(&mut *cs, &xor, &c)?;
            let choice = Boolean::sha256_ch(&mut *cs, &a, &and, &c)?;
            let majority = Boolean::sha256_maj(&mut *cs, &choice, &b, &c)?;
            Boolean::xor(&mut *cs, &majority, &choice.not())?;
            Ok(())
        });
        assert_eq!(found, [0; 0], "negations {negations:03b}");
    }
}

#[test]
fn unpacked_bits_are_bits_and_the_number_is_wide() {
    let found = wide(|cs| {
        let number = AllocatedNum::alloc(&mut *cs, || Ok(Scalar::ONE))?;
        number.to_bits_le(&mut *cs)?;
        let number = AllocatedNum::alloc(&mut *cs, || Ok(Scalar::ONE))?;
        number.to_bits_le_strict(&mut *cs)?;
        Ok(())
    });
    assert_eq!(found, [0, 256]);
}

#[test]
fn what_is_not_made_certain_is_wide() {
    let found = wide(|cs| {
        let a = AllocatedBit::alloc(&mut *cs, None)?;
        let one = Recorder::one();
        // Free; a sum of bits; a product with an unknown; x² = x + 2.
        let free = cs.alloc(|| "", || Ok(Scalar::ONE))?;
        let sum = cs.alloc(|| "", || Ok(Scalar::ONE))?;
        cs.enforce(
            || "",
            |lc| lc + a.get_variable() + aux(0),
            |lc| lc + one,
            |lc| lc + sum,
        );
        let product = cs.alloc(|| "", || Ok(Scalar::ONE))?;
        cs.enforce(
            || "",
            |lc| lc + free,
            |lc| lc + a.get_variable(),
            |lc| lc + product,
        );
        let x = cs.alloc(|| "", || Ok(Scalar::ONE))?;
        cs.enforce(
            || "",
            |lc| lc + x,
            |lc| lc + x,
            |lc| lc + x + (Scalar::from(2), one),
        );
        // 0 = 0, and a·y = a, which leaves y alone when a is 0.
        let y = cs.alloc(|| "", || Ok(Scalar::ONE))?;
        cs.enforce(|| "", |lc| lc, |lc| lc, |lc| lc + (Scalar::ZERO, y));
        cs.enforce(
            || "",
            |lc| lc + a.get_variable(),
            |lc| lc + y,
            |lc| lc + a.get_variable(),
        );
        Ok(())
    });
    assert_eq!(found, [1, 2, 3, 4, 5]);
}

/// Every root in `x` of `row`, the other variables having the values of `bits`: none when that is
/// every number. Found by evaluating the row at three points and solving the quadratic equation.
fn roots(row: &Row, x: usize, bits: u64) -> Option<Vec<Scalar>> {
    let at = |point: Scalar| {
        let value = |v: Variable| match v.get_unchecked() {
            bellpepper_core::Index::Input(_) => Scalar::ONE,
            bellpepper_core::Index::Aux(i) if i == x => point,
            bellpepper_core::Index::Aux(i) => Scalar::from(bits >> i & 1),
        };
        let sum = |entries: &[(Variable, Scalar)]| -> Scalar {
            entries.iter().map(|&(v, c)| value(v) * c).sum()
        };
        sum(&row[0]) * sum(&row[1]) - sum(&row[2])
    };
    let (p0, p1, p2) = (at(Scalar::ZERO), at(Scalar::ONE), at(Scalar::from(2)));
    let half = Scalar::TWO_INV;
    let square = (p2 - p1.double() + p0) * half;
    let linear = p1 - p0 - square;
    if square.is_zero_vartime() && linear.is_zero_vartime() {
        return if p0.is_zero_vartime() {
            None
        } else {
            Some(vec![])
        };
    }
    if square.is_zero_vartime() {
        return Some(vec![-p0 * linear.invert().unwrap()]);
    }
    let discriminant = linear.square() - square * p0 * Scalar::from(4);
    let Some(root) = Option::<Scalar>::from(discriminant.sqrt()) else {
        return Some(vec![]);
    };
    let scale = square.double().invert().unwrap();
    Some(vec![(root - linear) * scale, (-root - linear) * scale])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// One row over some bits and one more variable: that is called a bit only if no root is anything
    /// else; and it is called one if all roots exist and are 0 or 1.
    #[test]
    fn a_slot_is_a_bit_only_if_nothing_else_satisfies_its_row(seed in any::<u64>()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let known = rng.gen_range(0..4usize);
        let mut entries = |limit: usize| {
            let length = rng.gen_range(0..=limit);
            (0..length).map(|_| {
                let variable = match rng.gen_range(0..5) {
                    0 => input(0),
                    1..=2 => aux(known),
                    _ => aux(rng.gen_range(0..=known)),
                };
                let small = rng.gen_bool(0.8);
                let c = if small { Scalar::ONE } else { coefficient(&mut rng) };
                (variable, if rng.gen_bool(0.5) { -c } else { c })
            }).collect::<Vec<_>>()
        };
        let row: Row = [entries(3), entries(3), entries(3)];
        let found = {
            let mut steps: Vec<_> = (0..known).flat_map(|i| {
                [Step::Aux(Scalar::ZERO), Step::Enforce(boolean(aux(i)))]
            }).collect();
            steps.push(Step::Aux(Scalar::ZERO));
            steps.push(Step::Enforce(row.clone()));
            for i in 0..20 {
                steps.push(Step::Aux(Scalar::ZERO));
                steps.push(Step::Enforce(boolean(aux(known + 1 + i))));
            }
            let circuit = compile(|cs| (&Listing { steps }).synthesize(cs)).expect("it compiles");
            prop_assert!(!circuit.layout().is_dense());
            !circuit.layout().is_wide(known)
        };
        let all: Option<Vec<_>> = (0..1 << known).map(|bits| roots(&row, known, bits)).collect();
        let is_bit = |x: &Scalar| *x == Scalar::ZERO || *x == Scalar::ONE;
        let expected = all.as_ref().is_some_and(|all| all.iter().flatten().all(is_bit));
        if found {
            prop_assert!(expected, "{row:?}");
        } else if all.is_some_and(|all| all.iter().all(|roots| !roots.is_empty())) {
            prop_assert!(!expected, "{row:?}");
        }
    }
}
