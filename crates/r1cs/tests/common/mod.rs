//! Circuits to test with, and an oracle that knows them as plain lists of rows.
#![allow(dead_code)]

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};
use cuzk_r1cs::Scalar;
use ff::Field;
use rand::Rng;

/// Entries of one row in A, B and C.
pub(crate) type Row = [Vec<(Variable, Scalar)>; 3];

/// A circuit as a list of what it does, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Input(Scalar),
    Aux(Scalar),
    Enforce(Row),
}

impl Circuit<Scalar> for &Listing {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        for step in &self.steps {
            match step {
                Step::Input(value) => drop(cs.alloc_input(|| "", || Ok(*value))?),
                Step::Aux(value) => drop(cs.alloc(|| "", || Ok(*value))?),
                Step::Enforce(row) => {
                    let [a, b, c] = row.each_ref().map(|entries| terms(entries));
                    cs.enforce(|| "", |_| a, |_| b, |_| c);
                }
            }
        }
        Ok(())
    }
}

fn terms(entries: &[(Variable, Scalar)]) -> LinearCombination<Scalar> {
    let zero = LinearCombination::zero();
    entries.iter().fold(zero, |sum, &(v, c)| sum + (c, v))
}

impl Listing {
    pub(crate) fn inputs(&self) -> Vec<Scalar> {
        let inputs = self.steps.iter().filter_map(|step| match step {
            Step::Input(value) => Some(*value),
            _ => None,
        });
        [Scalar::ONE].into_iter().chain(inputs).collect()
    }

    pub(crate) fn aux(&self) -> Vec<Scalar> {
        let aux = self.steps.iter().filter_map(|step| match step {
            Step::Aux(value) => Some(*value),
            _ => None,
        });
        aux.collect()
    }

    /// The rows, those that Groth16 appends at the end.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let rows = self.steps.iter().filter_map(|step| match step {
            Step::Enforce(row) => Some(row.clone()),
            _ => None,
        });
        let appended =
            (0..self.inputs().len()).map(|i| [vec![(input(i), Scalar::ONE)], vec![], vec![]]);
        rows.chain(appended).collect()
    }

    /// Every row of one matrix times the assignment, the long way.
    pub(crate) fn evaluate(&self, matrix: usize) -> Vec<Scalar> {
        let rows = self.rows().into_iter();
        rows.map(|row| self.value(&row[matrix])).collect()
    }

    /// A linear combination of the assignment.
    pub(crate) fn value(&self, entries: &[(Variable, Scalar)]) -> Scalar {
        let (inputs, aux) = (self.inputs(), self.aux());
        let value = |v: Variable| match v.get_unchecked() {
            Index::Input(i) => inputs[i],
            Index::Aux(i) => aux[i],
        };
        entries.iter().map(|&(v, c)| value(v) * c).sum()
    }

    /// Gives private variable `i` another value.
    pub(crate) fn set_aux(&mut self, i: usize, new: Scalar) {
        let mut values = self.steps.iter_mut().filter_map(|step| match step {
            Step::Aux(value) => Some(value),
            _ => None,
        });
        *values.nth(i).expect("in range") = new;
    }

    /// Transposed matrix times weights, the long way: inputs and private variables.
    pub(crate) fn combine(&self, matrix: usize, weights: &[Scalar]) -> (Vec<Scalar>, Vec<Scalar>) {
        let mut inputs = vec![Scalar::ZERO; self.inputs().len()];
        let mut aux = vec![Scalar::ZERO; self.aux().len()];
        for (row, weight) in self.rows().iter().zip(weights) {
            for (v, c) in &row[matrix] {
                match v.get_unchecked() {
                    Index::Input(i) => inputs[i] += weight * c,
                    Index::Aux(i) => aux[i] += weight * c,
                }
            }
        }
        (inputs, aux)
    }

    /// Whether each variable occurs with a coefficient that is not zero: inputs and private ones.
    pub(crate) fn occurs(&self, matrix: usize) -> (Vec<bool>, Vec<bool>) {
        let mut inputs = vec![false; self.inputs().len()];
        let mut aux = vec![false; self.aux().len()];
        for row in self.rows() {
            let mut seen: Vec<(Variable, Scalar)> = Vec::new();
            for &(v, c) in &row[matrix] {
                match seen.iter_mut().find(|(w, _)| *w == v) {
                    Some((_, sum)) => *sum += c,
                    None => seen.push((v, c)),
                }
            }
            for (v, c) in seen {
                if c != Scalar::ZERO {
                    match v.get_unchecked() {
                        Index::Input(i) => inputs[i] = true,
                        Index::Aux(i) => aux[i] = true,
                    }
                }
            }
        }
        (inputs, aux)
    }
}

pub(crate) fn input(i: usize) -> Variable {
    Variable::new_unchecked(Index::Input(i))
}

pub(crate) fn aux(i: usize) -> Variable {
    Variable::new_unchecked(Index::Aux(i))
}

/// A coefficient of the kinds circuits have: ±1, small powers of two, anything, zero.
pub(crate) fn coefficient(rng: &mut impl Rng) -> Scalar {
    match rng.gen_range(0..10) {
        0..=3 => Scalar::ONE,
        4..=5 => -Scalar::ONE,
        6 => Scalar::from(1 << rng.gen_range(1..40)),
        7 => -Scalar::from(1 << rng.gen_range(1..40)),
        8 => Scalar::ZERO,
        _ => Scalar::random(rng),
    }
}

/// A random circuit, satisfied: bits have their booleanity rows, and every other row's C is made right
/// by a constant.
pub(crate) fn random(rng: &mut impl Rng, num_aux: usize, wide: f64) -> Listing {
    let mut listing = Listing::default();
    let mut inputs = 1;
    for i in 0..num_aux {
        if rng.gen_bool(0.1) {
            listing.steps.push(Step::Input(Scalar::random(&mut *rng)));
            inputs += 1;
        }
        if rng.gen_bool(wide) {
            let value = match rng.gen_range(0..4) {
                0 => Scalar::from(rng.gen_range(0..2)),
                _ => Scalar::random(&mut *rng),
            };
            listing.steps.push(Step::Aux(value));
        } else {
            listing
                .steps
                .push(Step::Aux(Scalar::from(rng.gen_range(0..2))));
            listing.steps.push(Step::Enforce(boolean(aux(i))));
        }
        for _ in 0..rng.gen_range(0..3) {
            let mut row = [(); 3].map(|()| {
                let length = [0, 1, 1, 2, 3, 8][rng.gen_range(0..6)];
                let entries = (0..length).map(|_| {
                    let variable = match rng.gen_range(0..6) {
                        0 => input(rng.gen_range(0..inputs)),
                        _ => aux(rng.gen_range(0..=i)),
                    };
                    (variable, coefficient(rng))
                });
                entries.collect::<Vec<_>>()
            });
            let [a, b, c] = row.each_ref().map(|entries| listing.value(entries));
            row[2].push((input(0), a * b - c));
            listing.steps.push(Step::Enforce(row));
        }
    }
    listing
}

/// `(1 − x)·x = 0`.
pub(crate) fn boolean(x: Variable) -> Row {
    let one = (input(0), Scalar::ONE);
    [vec![one, (x, -Scalar::ONE)], vec![(x, Scalar::ONE)], vec![]]
}

/// Makes the checksum of a stored circuit right: the 32 bytes before the body at 56.
pub(crate) fn seal(bytes: &mut [u8]) {
    let (header, body) = bytes.split_at_mut(56);
    let hash = blake2b_simd::blake2bp::Params::new()
        .hash_length(32)
        .hash(body);
    header[24..].copy_from_slice(hash.as_bytes());
}
