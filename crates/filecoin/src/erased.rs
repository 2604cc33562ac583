//! One type for every constraint system that runs upstream's large circuits.
//!
//! The circuits are generic over the constraint system, and compiling one for another system costs half a minute. Behind
//! this type they are compiled once; a virtual call a variable or row is nothing beside what they compute between.
//! Names of variables, rows and namespaces are left out: nobody here reads them.

use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;

type Combination = LinearCombination<Scalar>;
type Value<'a> = &'a mut dyn FnMut() -> Result<Scalar, SynthesisError>;
type Term<'a> = &'a mut dyn FnMut(Combination) -> Combination;

/// What a constraint system does, in a form that has a virtual table. Each closure may be called once.
trait System: Send {
    fn aux(&mut self, value: Value<'_>) -> Result<Variable, SynthesisError>;
    fn input(&mut self, value: Value<'_>) -> Result<Variable, SynthesisError>;
    fn row(&mut self, a: Term<'_>, b: Term<'_>, c: Term<'_>);
}

impl<CS: ConstraintSystem<Scalar>> System for CS {
    fn aux(&mut self, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.alloc(|| "", value)
    }

    fn input(&mut self, value: Value<'_>) -> Result<Variable, SynthesisError> {
        self.alloc_input(|| "", value)
    }

    fn row(&mut self, a: Term<'_>, b: Term<'_>, c: Term<'_>) {
        self.enforce(|| "", a, b, c);
    }
}

/// A constraint system behind a virtual table.
pub(crate) struct Erased<'a>(&'a mut dyn System);

impl<'a> Erased<'a> {
    pub(crate) fn new(cs: &'a mut impl ConstraintSystem<Scalar>) -> Self {
        Self(cs)
    }
}

/// A closure that is called once, as one that could be called more often.
fn once<A, R>(f: impl FnOnce(A) -> R) -> impl FnMut(A) -> R {
    let mut f = Some(f);
    move |argument| f.take().expect("a closure is called once")(argument)
}

impl ConstraintSystem<Scalar> for Erased<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let mut value = once(|()| value());
        self.0.aux(&mut || value(()))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let mut value = once(|()| value());
        self.0.input(&mut || value(()))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(Combination) -> Combination,
        LB: FnOnce(Combination) -> Combination,
        LC: FnOnce(Combination) -> Combination,
    {
        self.0.row(&mut once(a), &mut once(b), &mut once(c));
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}
