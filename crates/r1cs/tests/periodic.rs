//! Circuits that repeat a block, compiled from one and two copies and recorded in full.

mod common;

use bellpepper_core::{Circuit, ConstraintSystem, Index, SynthesisError, Variable};
use common::{Listing, Row, Step, aux, boolean, coefficient, input};
use cuzk_r1cs::{
    Class, Column, Matrix, R1cs, Recorder, Scalar, Witness, WitnessAssigner, compile,
    compile_periodic, row_digest,
};
use ff::Field;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A variable as a repeated row sees it.
#[derive(Clone, Copy, Debug)]
enum Name {
    One,
    /// Private variable of the prologue.
    Outer(usize),
    /// Input of the prologue.
    OuterInput(usize),
    /// Private variable of this block.
    Local(usize),
    /// Input of this block.
    LocalInput(usize),
    /// Private variable of the block before; of the prologue, in the first block.
    Before(usize),
}

/// A circuit with a prologue, a block that can be repeated, and an epilogue.
#[derive(Clone, Debug)]
struct Shape {
    outer: usize,
    outer_inputs: usize,
    local: usize,
    local_inputs: usize,
    block: Vec<[Vec<(Name, Scalar)>; 3]>,
    epilogue: Vec<[Vec<(Name, Scalar)>; 3]>,
}

impl Shape {
    /// With at least one row a block, and every local variable used.
    fn random(rng: &mut impl Rng, chained: bool) -> Self {
        let (outer, outer_inputs) = (rng.gen_range(1..5), rng.gen_range(0..3));
        let (local, local_inputs) = (rng.gen_range(1..6), rng.gen_range(0..3));
        let outer = outer.max(local);
        let mut shape = Self {
            outer,
            outer_inputs,
            local,
            local_inputs,
            block: Vec::new(),
            epilogue: Vec::new(),
        };
        for _ in 0..rng.gen_range(1..8) {
            let row = shape.row(rng, chained);
            shape.block.push(row);
        }
        for _ in 0..rng.gen_range(0..3) {
            let row = shape.row(rng, false);
            shape.epilogue.push(row);
        }
        shape
    }

    fn row(&self, rng: &mut impl Rng, chained: bool) -> [Vec<(Name, Scalar)>; 3] {
        [(); 3].map(|()| {
            let entries = (0..rng.gen_range(0..4)).map(|_| {
                let name = match rng.gen_range(0..8) {
                    0 => Name::One,
                    1 => Name::Outer(rng.gen_range(0..self.outer)),
                    2 if self.outer_inputs > 0 => {
                        Name::OuterInput(rng.gen_range(0..self.outer_inputs))
                    }
                    3 if self.local_inputs > 0 => {
                        Name::LocalInput(rng.gen_range(0..self.local_inputs))
                    }
                    4 if chained => Name::Before(rng.gen_range(0..self.local)),
                    _ => Name::Local(rng.gen_range(0..self.local)),
                };
                (name, coefficient(rng))
            });
            entries.collect()
        })
    }

    fn variable(&self, name: Name, copy: usize) -> Variable {
        let first = self.outer + copy * self.local;
        match name {
            Name::One => input(0),
            Name::Outer(i) => aux(i),
            Name::OuterInput(i) => input(1 + i),
            Name::Local(i) => aux(first + i),
            Name::LocalInput(i) => input(1 + self.outer_inputs + copy * self.local_inputs + i),
            Name::Before(i) => aux(first - self.local + i),
        }
    }

    /// All steps, values arbitrary. The epilogue names variables of the last block.
    fn listing(&self, copies: usize) -> Listing {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut steps = Vec::new();
        let mut allocate = |steps: &mut Vec<Step>, inputs: usize, aux: usize| {
            steps.extend((0..inputs).map(|_| Step::Input(Scalar::random(&mut rng))));
            steps.extend((0..aux).map(|_| Step::Aux(Scalar::random(&mut rng))));
        };
        allocate(&mut steps, self.outer_inputs, self.outer);
        for i in 0..self.outer {
            let entries = [(aux(i), Scalar::from(3 + i as u64))];
            steps.push(Step::Enforce([(); 3].map(|()| entries.to_vec())));
        }
        let resolve = |row: &[Vec<(Name, Scalar)>; 3], copy: usize| -> Row {
            row.each_ref().map(|entries| {
                entries
                    .iter()
                    .map(|&(n, c)| (self.variable(n, copy), c))
                    .collect()
            })
        };
        for copy in 0..copies {
            allocate(&mut steps, self.local_inputs, self.local);
            let rows = self
                .block
                .iter()
                .map(|row| Step::Enforce(resolve(row, copy)));
            steps.extend(rows);
        }
        allocate(&mut steps, 1, 2);
        let rows = self
            .epilogue
            .iter()
            .map(|row| Step::Enforce(resolve(row, copies - 1)));
        steps.extend(rows);
        let last = aux(self.outer + copies * self.local + 1);
        steps.push(Step::Enforce([
            vec![(last, Scalar::ONE)],
            vec![(aux(0), Scalar::ONE)],
            vec![],
        ]));
        Listing { steps }
    }
}

/// Compiled from one and two copies, and recorded in full.
fn both(shape: &Shape, copies: usize) -> (R1cs, R1cs, Listing) {
    let periodic = compile_periodic(copies, |n, cs| shape.listing(n).synthesize(cs));
    let listing = shape.listing(copies);
    let plain = compile(|cs| listing.synthesize(cs));
    (
        periodic.expect("it compiles"),
        plain.expect("it compiles"),
        listing,
    )
}

fn rows(circuit: &R1cs) -> Vec<Row> {
    let mut rows = Vec::new();
    circuit.for_each_row(|_, row| rows.push(row.map(<[_]>::to_vec)));
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn repeated_and_plain_form_are_one_circuit(
        seed in any::<u64>(), copies in 2..7usize, chained in any::<bool>(),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let shape = Shape::random(&mut rng, chained);
        let (periodic, plain, listing) = both(&shape, copies);
        prop_assert_eq!(plain.blocks(), 1);
        prop_assert_eq!(rows(&periodic), rows(&plain));
        prop_assert_eq!(periodic.num_rows(), plain.num_rows());
        prop_assert_eq!(periodic.num_inputs(), plain.num_inputs());
        prop_assert_eq!(periodic.num_aux(), plain.num_aux());
        prop_assert_eq!(periodic.num_nonzeros(), plain.num_nonzeros());
        prop_assert_eq!(periodic.densities(), plain.densities());
        prop_assert_eq!(periodic.row_digest(), plain.row_digest());
        // In a chain, what block 0 has before it may sort otherwise than what block 1 has: no repetition.
        prop_assert!(periodic.blocks() == copies || chained && periodic.blocks() == 1);

        let weights: Vec<_> = (0..plain.num_rows()).map(|_| Scalar::random(&mut rng)).collect();
        let witness = |circuit: &R1cs| {
            // Any assignment evaluates alike; the layouts may differ in what they prove to be bits.
            let aux: Vec<_> = listing.aux().iter().enumerate().map(|(i, v)| {
                let wide = periodic.layout().is_wide(i) && plain.layout().is_wide(i);
                if wide { *v } else { Scalar::from(i as u64 % 2) }
            }).collect();
            Witness::from_dense(circuit.layout().clone(), &listing.inputs(), &aux).expect("bits")
        };
        for matrix in Matrix::ALL {
            let mut found = vec![Scalar::ZERO; periodic.num_rows()];
            let mut expected = found.clone();
            periodic.evaluate(matrix, &witness(&periodic), &mut found);
            plain.evaluate(matrix, &witness(&plain), &mut expected);
            prop_assert_eq!(found, expected);
            let combined = periodic.combine_rows(matrix, &weights);
            prop_assert_eq!(combined, plain.combine_rows(matrix, &weights));
        }
    }
}

/// A block of five rows: three bits of its own, its own input, a product with the prologue's variable.
fn small(copies: usize, recorder: &mut Recorder) -> Result<(), SynthesisError> {
    small_shape().listing(copies).synthesize(recorder)
}

fn small_shape() -> Shape {
    let one = Scalar::ONE;
    let bit = |x| [vec![(Name::One, one), (x, -one)], vec![(x, one)], vec![]];
    Shape {
        outer: 1,
        outer_inputs: 1,
        local: 4,
        local_inputs: 1,
        block: vec![
            bit(Name::Local(0)),
            bit(Name::Local(2)),
            bit(Name::Local(3)),
            [
                vec![(Name::LocalInput(0), one)],
                vec![(Name::One, one)],
                vec![(Name::Local(1), one)],
            ],
            [
                vec![(Name::Local(0), one)],
                vec![(Name::Outer(0), one)],
                vec![
                    (Name::Local(1), one),
                    (Name::OuterInput(0), Scalar::from(9)),
                ],
            ],
        ],
        epilogue: vec![[vec![(Name::Local(1), one)], vec![], vec![]]],
    }
}

#[test]
fn one_block_is_stored_with_its_columns_told_apart() {
    let circuit = compile_periodic(5, small).expect("it compiles");
    let [before, block, after] = circuit.segments() else {
        panic!("{} segments", circuit.segments().len());
    };
    assert_eq!((before.rows(), before.copies()), (1, 1));
    assert_eq!(
        (block.rows(), block.copies(), block.aux_stride()),
        (5, 5, 4)
    );
    assert_eq!((after.rows(), after.copies()), (2, 1));
    let column = |matrix, row| block.matrix(matrix).row(row).next().expect("an entry").0;
    assert_eq!(column(Matrix::A, 4), Column::new(Class::LocalAux, 1));
    assert_eq!(column(Matrix::B, 4), Column::new(Class::OuterAux, 0));
    assert_eq!(column(Matrix::C, 4), Column::new(Class::OuterInput, 1));
    assert_eq!(column(Matrix::A, 3), Column::new(Class::Linked, 0));
    let inputs: Vec<_> = block.links().iter().map(|w| w & 0xff).collect();
    assert_eq!((block.num_links(), inputs), (1, vec![2, 3, 4, 5, 6]));
    // The epilogue's first row names the last block's second variable.
    let last = after.matrix(Matrix::A).row(0).next().expect("an entry").0;
    assert_eq!(last, Column::new(Class::OuterAux, 1 + 4 * 4 + 1));
    let wide: Vec<_> = (0..circuit.num_aux())
        .filter(|&i| circuit.layout().is_wide(i))
        .collect();
    assert_eq!(
        wide,
        [0, 2, 6, 10, 14, 18, 21, 22],
        "the bits of every block are known"
    );
}

#[test]
fn an_unsatisfied_row_says_which_block_it_is_in() {
    let circuit = compile_periodic(4, small).expect("it compiles");
    let mut witness = Witness::new(circuit.layout().clone());
    assert_eq!(circuit.check(&witness), Ok(()));
    let third_block_second_variable = 1 + 2 * 4 + 1;
    witness
        .set_aux(third_block_second_variable, &Scalar::from(4))
        .expect("it is wide");
    let error = circuit.check(&witness).expect_err("its input is zero");
    assert_eq!((error.row, error.block), (1 + 2 * 5 + 3, Some(2)));
    assert_eq!(
        (error.a, error.b, error.c),
        (Scalar::ZERO, Scalar::ONE, Scalar::from(4))
    );
    let (row, rows) = (error.row, circuit.num_rows());
    for with in [row..row + 1, 0..row + 1, row..rows, row - 7..row + 7] {
        assert_eq!(circuit.check_rows(&witness, with), Err(error.clone()));
    }
    for without in [0..row, row + 2..rows, row..row, rows..rows + 9] {
        assert_eq!(circuit.check_rows(&witness, without), Ok(()));
    }
    // The variable is in the next row too.
    let next = circuit.check_rows(&witness, row + 1..rows);
    assert_eq!(next.expect_err("it is wrong").row, row + 1);
}

#[test]
fn a_growing_sum_is_not_taken_for_a_repetition() {
    let sum = |copies: usize, cs: &mut Recorder| -> Result<(), SynthesisError> {
        let mut bits = Vec::new();
        for _ in 0..copies {
            let bit = cs.alloc(|| "", || Ok(Scalar::ONE))?;
            Listing {
                steps: vec![Step::Enforce(boolean(bit))],
            }
            .synthesize(cs)?;
            bits.push((bit, Scalar::ONE));
        }
        Listing {
            steps: vec![Step::Enforce([bits, vec![], vec![]])],
        }
        .synthesize(cs)
    };
    let circuit = compile_periodic(6, sum).expect("it compiles");
    assert_eq!(
        (circuit.blocks(), circuit.num_aux(), circuit.num_rows()),
        (1, 6, 8)
    );
    let full = row_digest(|cs| sum(6, cs)).expect("it compiles");
    assert_eq!(circuit.row_digest(), full);
}

/// A list of bits in a prologue that grows with the number of blocks, two of them read by each block,
/// and every third block a variable of the prologue more.
fn readers(copies: usize, cs: &mut Recorder) -> Result<(), SynthesisError> {
    let mut steps = vec![Step::Aux(Scalar::ONE)];
    let groups = copies.div_ceil(3);
    for i in 0..groups * 7 {
        steps.push(Step::Aux(Scalar::ONE));
        steps.push(Step::Enforce(boolean(aux(1 + i))));
    }
    let first = 1 + groups * 7;
    for copy in 0..copies {
        let bits = 1 + copy / 3 * 7 + copy % 3 * 2;
        let own = first + copy * 3;
        let term = |i: usize, c: u64| (aux(i), Scalar::from(c));
        steps.extend([(); 3].map(|()| Step::Aux(Scalar::ONE)));
        let and = [
            vec![term(bits, 1)],
            vec![term(bits + 1, 1)],
            vec![term(own, 1)],
        ];
        let sum = [
            vec![term(0, 4), term(bits, 1), term(own, 1)],
            vec![],
            vec![term(own + 1, 1)],
        ];
        steps.extend([and, sum].map(Step::Enforce));
    }
    (&Listing { steps }).synthesize(cs)
}

#[test]
fn blocks_that_read_from_a_list_are_linked_to_it() {
    for copies in [3, 6, 7, 11] {
        let circuit = compile_periodic(copies, readers).expect("it compiles");
        let plain = compile(|cs| readers(copies, cs)).expect("it compiles");
        assert_eq!((circuit.blocks(), plain.blocks()), (copies, 1));
        let block = circuit.segments().last().expect("segments");
        assert_eq!((block.rows(), block.num_links()), (2, 2));
        assert_eq!(rows(&circuit), rows(&plain));
        assert_eq!(circuit.row_digest(), plain.row_digest());
        assert_eq!(circuit.densities(), plain.densities());
        // What is an and of two bits of the list is a bit, known through links.
        assert_eq!(circuit.layout(), plain.layout());
        assert!(!circuit.layout().is_wide(circuit.num_aux() - 3));
        assert_eq!(
            R1cs::from_bytes(&circuit.to_bytes()).expect("it reads"),
            circuit
        );
    }
}

#[test]
fn a_circuit_that_stops_repeating_is_caught_by_its_digest() {
    let odd = |copies: usize, cs: &mut Recorder| -> Result<(), SynthesisError> {
        for copy in 0..copies {
            let x = cs.alloc(|| "", || Ok(Scalar::ONE))?;
            let coefficient = Scalar::from(if copy < 3 { 5 } else { 6 });
            let row = [vec![(x, coefficient)], vec![], vec![]];
            Listing {
                steps: vec![Step::Enforce(row)],
            }
            .synthesize(cs)?;
        }
        Ok(())
    };
    let agrees = |copies| {
        let circuit = compile_periodic(copies, odd).expect("it compiles");
        circuit.row_digest() == row_digest(|cs| odd(copies, cs)).expect("it compiles")
    };
    assert!(agrees(3));
    assert!(
        !agrees(4),
        "the fourth copy differs from the extrapolated one"
    );
}

#[test]
fn a_block_may_consist_of_anything_but_nothing() {
    let nothing = |_: usize, cs: &mut Recorder| -> Result<(), SynthesisError> {
        cs.alloc(|| "", || Ok(Scalar::ONE)).map(drop)
    };
    let circuit = compile_periodic(3, nothing).expect("it compiles");
    assert_eq!(
        (circuit.blocks(), circuit.num_aux(), circuit.num_rows()),
        (1, 1, 1)
    );
    assert!(compile_periodic(0, small).is_err());
    let once = compile_periodic(1, small).expect("it compiles");
    assert_eq!(once.blocks(), 1);
}

#[test]
fn a_witness_is_assigned_in_every_block() {
    let shape = small_shape();
    let circuit = compile_periodic(3, small).expect("it compiles");
    let mut listing = shape.listing(3);
    let bits = [0, 2, 3].map(Name::Local);
    for (i, bit) in (0..3)
        .flat_map(|copy| bits.map(|bit| (copy, bit)))
        .enumerate()
    {
        let Index::Aux(bit) = shape.variable(bit.1, bit.0).get_unchecked() else {
            panic!("a private variable");
        };
        listing.set_aux(bit, Scalar::from(i as u64 % 2));
    }
    let mut witness = Witness::new(circuit.layout().clone());
    let mut assigner = WitnessAssigner::new(&mut witness);
    (&listing).synthesize(&mut assigner).expect("values");
    assigner.finish().expect("bits are bits");
    assert_eq!(witness.to_dense(), (listing.inputs(), listing.aux()));

    listing.set_aux(3, Scalar::from(2));
    let mut assigner = WitnessAssigner::new(&mut witness);
    assert!((&listing).synthesize(&mut assigner).is_err());
    let error = assigner.finish().expect_err("2 is no bit").to_string();
    assert!(
        error.contains("private value 3") && error.contains("0 or 1"),
        "{error}"
    );
}
