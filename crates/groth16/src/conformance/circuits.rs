//! Circuits to test provers with. Each is a bellpepper circuit, so bellperson proves it too.

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Mostly bits, like a hash over bits: its witness is packed.
#[derive(Clone, Debug)]
pub struct BitMixer {
    /// The state to start from; every second word of a round is packed into a wide value.
    pub state: u64,
    /// Number of rounds.
    pub rounds: usize,
}

impl Circuit<Scalar> for BitMixer {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut state = Vec::with_capacity(64);
        for i in 0..64 {
            let value = Some(self.state >> i & 1 == 1);
            let bit = AllocatedBit::alloc(cs.namespace(|| format!("bit {i}")), value)?;
            state.push(Boolean::from(bit));
        }
        for round in 0..self.rounds {
            let mut next = Vec::with_capacity(64);
            for i in 0..64 {
                let mut cs = cs.namespace(|| format!("round {round} bit {i}"));
                let [a, b, c] = [0, 7, 23].map(|offset| &state[(i + offset) % 64]);
                let and = Boolean::and(cs.namespace(|| "and"), a, &b.not())?;
                next.push(Boolean::xor(cs.namespace(|| "xor"), &and, c)?);
            }
            state = next;
            if round % 2 == 1 {
                pack(&mut cs.namespace(|| format!("round {round}")), &state)?;
            }
        }
        let packed = pack(&mut cs.namespace(|| "result"), &state)?;
        packed.inputize(cs.namespace(|| "result as input"))
    }
}

/// A wide value with the bits' number.
fn pack<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    bits: &[Boolean],
) -> Result<AllocatedNum<Scalar>, SynthesisError> {
    let number = AllocatedNum::alloc(cs.namespace(|| "number"), || {
        let bit = |bit: &Boolean| bit.get_value().ok_or(SynthesisError::AssignmentMissing);
        bits.iter().rev().try_fold(Scalar::ZERO, |sum, b| {
            Ok(sum.double() + Scalar::from(u64::from(bit(b)?)))
        })
    })?;
    let mut sum = LinearCombination::zero();
    let mut coefficient = Scalar::ONE;
    for bit in bits {
        sum = sum + &bit.lc(CS::one(), coefficient);
        coefficient = coefficient.double();
    }
    cs.enforce(
        || "packing",
        |_| sum,
        |lc| lc + CS::one(),
        |lc| lc + number.get_variable(),
    );
    Ok(number)
}

/// A chain of cubes: its witness is dense.
#[derive(Clone, Debug)]
pub struct CubeChain {
    /// The preimage.
    pub start: Scalar,
    /// Number of cubes.
    pub rounds: usize,
}

impl Circuit<Scalar> for CubeChain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = self.start;
        let mut x = cs.alloc(|| "start", || Ok(value))?;
        for round in 0..self.rounds {
            let constant = Scalar::from(round as u64).square() + Scalar::from(5);
            let sum = value + constant;
            let square = cs.alloc(|| format!("square {round}"), || Ok(sum.square()))?;
            let with_constant = |lc: LinearCombination<Scalar>| lc + x + (constant, CS::one());
            cs.enforce(
                || format!("squaring {round}"),
                with_constant,
                with_constant,
                |lc| lc + square,
            );
            let cube = cs.alloc(|| format!("cube {round}"), || Ok(sum.square() * sum))?;
            cs.enforce(
                || format!("cubing {round}"),
                |lc| lc + square,
                with_constant,
                |lc| lc + cube,
            );
            (x, value) = (cube, sum.square() * sum);
        }
        let result = cs.alloc_input(|| "result", || Ok(value))?;
        cs.enforce(
            || "result",
            |lc| lc + result,
            |lc| lc + CS::one(),
            |lc| lc + x,
        );
        Ok(())
    }
}

/// Rows drawn at random: long and short, with coefficients 0, ±1, ±2^k and wide ones, with variables that occur twice in
/// a row, occur in one matrix only, or cancel; and about as many bits as wide values.
#[derive(Clone, Debug)]
pub struct RandomRows {
    /// Decides the rows.
    pub shape_seed: u64,
    /// Decides the values.
    pub value_seed: u64,
    /// Number of rows to draw.
    pub rows: usize,
}

struct Drawn {
    shape: ChaCha8Rng,
    variables: Vec<(Variable, Scalar)>,
}

impl Circuit<Scalar> for RandomRows {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut values = ChaCha8Rng::seed_from_u64(self.value_seed);
        let mut drawn = Drawn {
            shape: ChaCha8Rng::seed_from_u64(self.shape_seed),
            variables: vec![(CS::one(), Scalar::ONE)],
        };
        for row in 0..self.rows {
            let is_bit = drawn.shape.gen_bool(0.5);
            if is_bit {
                let value = values.r#gen();
                let bit = AllocatedBit::alloc(cs.namespace(|| format!("bit {row}")), Some(value))?;
                drawn
                    .variables
                    .push((bit.get_variable(), Scalar::from(u64::from(value))));
                continue;
            }
            let (a, a_value) = drawn.combination();
            let (b, b_value) = drawn.combination();
            let value = a_value * b_value;
            let is_input = drawn.shape.gen_bool(0.05);
            let variable = if is_input {
                cs.alloc_input(|| format!("input {row}"), || Ok(value))?
            } else {
                cs.alloc(|| format!("value {row}"), || Ok(value))?
            };
            cs.enforce(|| format!("row {row}"), |_| a, |_| b, |lc| lc + variable);
            drawn.variables.push((variable, value));
        }
        Ok(())
    }
}

impl Drawn {
    /// A linear combination and its value.
    fn combination(&mut self) -> (LinearCombination<Scalar>, Scalar) {
        let mut sum = LinearCombination::zero();
        let mut value = Scalar::ZERO;
        for _ in 0..self.shape.gen_range(0..5) {
            let (variable, of_variable) =
                self.variables[self.shape.gen_range(0..self.variables.len())];
            let coefficient = match self.shape.gen_range(0..6) {
                0 => Scalar::ZERO,
                1 => Scalar::ONE,
                2 => -Scalar::ONE,
                3 => Scalar::from(1 << self.shape.gen_range(0..63)),
                4 => -Scalar::from(1 << self.shape.gen_range(0..63)),
                _ => Scalar::random(&mut self.shape),
            };
            sum = sum + (coefficient, variable);
            value += coefficient * of_variable;
            if self.shape.gen_bool(0.1) {
                sum = sum - (coefficient, variable);
                value -= coefficient * of_variable;
            }
        }
        (sum, value)
    }
}

/// One product of an input and a private variable, to follow by hand: `x·y = z`, with x and z public.
#[derive(Clone, Debug)]
pub struct Product {
    /// The public factor.
    pub x: u64,
    /// The private factor.
    pub y: u64,
}

impl Circuit<Scalar> for Product {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc_input(|| "x", || Ok(Scalar::from(self.x)))?;
        let y = cs.alloc(|| "y", || Ok(Scalar::from(self.y)))?;
        let z = cs.alloc_input(|| "z", || Ok(Scalar::from(self.x) * Scalar::from(self.y)))?;
        cs.enforce(|| "product", |lc| lc + x, |lc| lc + y, |lc| lc + z);
        Ok(())
    }
}
