//! A circuit small enough to be worked out on paper.

use bellpepper_core::{ConstraintSystem, SynthesisError};
use cuzk_r1cs::{
    Class, Column, Error, Index, Matrix, R1cs, Recorder, Scalar, Variable, Witness,
    WitnessAssigner, WitnessError, compile,
};
use ff::Field;

/// y = x³ + x + 5 for a private x and a public y: a row for x², one for x³, one for the sum.
fn cubic<CS: ConstraintSystem<Scalar>>(cs: &mut CS, x: u64) -> Result<(), SynthesisError> {
    let value = |v: u64| move || Ok(Scalar::from(v));
    let y = cs.alloc_input(|| "y", value(x * x * x + x + 5))?;
    let x1 = cs.alloc(|| "x", value(x))?;
    let x2 = cs.alloc(|| "x²", value(x * x))?;
    let x3 = cs.alloc(|| "x³", value(x * x * x))?;
    cs.enforce(|| "", |lc| lc + x1, |lc| lc + x1, |lc| lc + x2);
    cs.enforce(|| "", |lc| lc + x2, |lc| lc + x1, |lc| lc + x3);
    // Written with a term twice and one that cancels, in no order.
    cs.enforce(
        || "",
        |lc| lc + x3 + (Scalar::from(2), x1) - x1 + (Scalar::from(5), CS::one()) + x2 - x2,
        |lc| lc + CS::one(),
        |lc| lc + y,
    );
    Ok(())
}

fn circuit() -> R1cs {
    compile(|recorder: &mut Recorder| cubic(recorder, 0)).expect("it compiles")
}

fn numbers<const N: usize>(values: [i64; N]) -> [Scalar; N] {
    values.map(|v| {
        let magnitude = Scalar::from(v.unsigned_abs());
        if v < 0 { -magnitude } else { magnitude }
    })
}

#[test]
fn counts() {
    let circuit = circuit();
    assert_eq!((circuit.num_inputs(), circuit.num_aux()), (2, 3));
    assert_eq!((circuit.num_rows(), circuit.log_domain()), (5, 3));
    assert_eq!(circuit.num_nonzeros(), [5, 3, 3]);
    assert_eq!(circuit.blocks(), 1);
    assert_eq!(circuit.dictionary(), numbers([1, -1, 5]));
    let densities = circuit.densities();
    assert_eq!(densities.a_aux.ones().collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(densities.b_inputs.ones().collect::<Vec<_>>(), [0]);
    assert_eq!(densities.b_aux.ones().collect::<Vec<_>>(), [0]);
}

#[test]
fn rows_are_sorted_merged_and_without_zeros() {
    let circuit = circuit();
    let sum = circuit.segments()[0].matrix(Matrix::A).row(2);
    let expected = [
        (Column::ONE, 2),
        (Column::new(Class::OuterAux, 0), 0),
        (Column::new(Class::OuterAux, 2), 0),
    ];
    assert_eq!(sum.collect::<Vec<_>>(), expected);
    let mut rows = Vec::new();
    circuit.for_each_row(|i, [a, b, c]| rows.push((i, a.to_vec(), b.len(), c.len())));
    let input = |i| Variable::new_unchecked(Index::Input(i));
    assert_eq!(rows[3], (3, vec![(input(0), Scalar::ONE)], 0, 0));
    assert_eq!(rows[4], (4, vec![(input(1), Scalar::ONE)], 0, 0));
}

#[test]
fn values() {
    let circuit = circuit();
    let mut witness = Witness::new(circuit.layout().clone());
    let mut assigner = WitnessAssigner::new(&mut witness);
    cubic(&mut assigner, 3).expect("values");
    assigner.finish().expect("all assigned");
    assert_eq!(witness.inputs(), numbers([1, 35]));
    assert_eq!(witness.to_dense().1, numbers([3, 9, 27]));
    let evaluated = Matrix::ALL.map(|matrix| {
        let mut out = vec![Scalar::ZERO; 5];
        circuit.evaluate(matrix, &witness, &mut out);
        out
    });
    assert_eq!(evaluated[0], numbers([3, 9, 35, 1, 35]));
    assert_eq!(evaluated[1], numbers([3, 3, 1, 0, 0]));
    assert_eq!(evaluated[2], numbers([9, 27, 35, 0, 0]));
    assert_eq!(circuit.check(&witness), Ok(()));

    witness.inputs_mut()[1] = Scalar::from(36);
    let error = circuit.check(&witness).expect_err("35 is not 36");
    assert_eq!((error.row, error.block), (2, None));
    assert!(error.to_string().starts_with("row 2 is not satisfied"));

    let weights = numbers([1, 10, 100, 1000, 10000]);
    let (inputs, aux) = circuit.combine_rows(Matrix::A, &weights);
    assert_eq!(inputs, numbers([500 + 1000, 10000]));
    assert_eq!(aux, numbers([1 + 100, 10, 100]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let circuit = circuit();
    let mut witness = Witness::new(circuit.layout().clone());
    let length = |what, found, expected| WitnessError::Length {
        what,
        found,
        expected,
    };

    let mut assigner = WitnessAssigner::new(&mut witness);
    assigner.alloc(|| "", || Ok(Scalar::ONE)).expect("a slot");
    assert_eq!(assigner.finish(), Err(length("inputs", 1, 2)));

    let mut assigner = WitnessAssigner::new(&mut witness);
    cubic(&mut assigner, 3).expect("values");
    assert!(assigner.alloc(|| "", || Ok(Scalar::ONE)).is_err());
    assert_eq!(assigner.finish(), Err(length("private values", 4, 3)));

    let from = |inputs: &[Scalar], aux: &[Scalar]| {
        Witness::from_dense(circuit.layout().clone(), inputs, aux).map(drop)
    };
    let aux = numbers([3, 9, 27]);
    assert_eq!(from(&numbers([1]), &aux), Err(length("inputs", 1, 2)));
    let two = Scalar::from(2);
    let not_one = WitnessError::NotOne {
        found: two.to_string(),
    };
    assert_eq!(from(&[two, two], &aux), Err(not_one));
}

#[test]
fn a_variable_of_nobody_is_refused() {
    let stray = Variable::new_unchecked(Index::Aux(7));
    let error = compile(|cs| {
        cs.enforce(|| "", |lc| lc + stray, |lc| lc, |lc| lc);
        Ok(())
    });
    let Err(Error::UnknownVariable { row, expected, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!((row, expected), (0, 0));
    let error = compile(|_| Err(SynthesisError::DivisionByZero));
    assert!(matches!(error, Err(Error::Synthesis(_))));
}

#[test]
fn no_value_is_asked_for() {
    compile(|cs| {
        cs.alloc(|| "", || panic!("a recorder needs no values"))?;
        cs.alloc_input(|| "", || panic!("a recorder needs no values"))?;
        Ok(())
    })
    .expect("it compiles");
}
