//! Witness generation at the speed of the hash.
//!
//! A circuit's witness is what its gadgets allocate, in order. Running the gadgets to get it costs an allocation closure
//! and a few linear combinations a variable; here the same values are computed natively and written straight to their
//! places in the packed (or dense) witness.
//!
//! A [`Generator`] is bound to a compiled circuit: its idea of every variable is compared with the circuit's layout, so
//! that a circuit of another version is noticed before anything is proved with it. Equality of the values with those of
//! the circuit's own definition is what the tests are for.

pub mod arbitrary;
mod bits;
mod circuit;
mod compare;
mod digests;
mod gadgets;
mod isa;
mod jobs;
mod plan;
mod porep;
mod poseidon;
mod post;
mod sha256;
mod sink;
mod snap;
mod survey;
#[cfg(test)]
mod tamper;
#[cfg(test)]
mod tests;
mod times;

pub use circuit::ShapeError;
pub(crate) use digests::poseidon_digests;
pub use isa::Isa;
pub(crate) use poseidon::element;
pub use times::GadgetTimes;

use crate::kind::{CircuitId, ProofKind};
use crate::statement::{Inputs, Statement};
use bellpepper_core::SynthesisError;
use blstrs::Scalar;
use circuit::{Circuit, Difference, Failure};
use compare::Comparer;
use cuzk_r1cs::{R1cs, Witness, WitnessLayout};
use std::sync::Arc;
use survey::Survey;

/// Writes the witnesses of one compiled circuit.
#[derive(Clone, Debug)]
pub struct Generator {
    id: CircuitId,
    layout: Arc<WitnessLayout>,
    prologue: Extent,
    block: Extent,
    blocks: usize,
    isa: Isa,
}

/// Numbers of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    slots: usize,
    wide: usize,
    inputs: usize,
}

/// A compiled circuit that is laid out otherwise than the generator would write it. Its witnesses come from running the
/// circuit's own definition instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutMismatch {
    /// Another number of variables.
    #[error("circuit {id} has {found} {what}, the generator writes {expected}")]
    Count {
        /// The circuit.
        id: CircuitId,
        /// Which variables.
        what: &'static str,
        /// How many the circuit has.
        found: usize,
        /// How many the generator would write, or of what they would be a multiple.
        expected: String,
    },
    /// A bit where the generator has a field element, or the other way round.
    #[error("circuit {id}, {block}: private variable {slot} is {}, the generator's {gadget} makes it {}", kind(*wide), kind(!*wide))]
    Slot {
        /// The circuit.
        id: CircuitId,
        /// The prologue, or the number of the block.
        block: String,
        /// What the generator writes there.
        gadget: String,
        /// Index of the private variable.
        slot: usize,
        /// Whether it is wide in the circuit.
        wide: bool,
    },
    /// There is no generator for this kind of circuit in this layout.
    #[error("no generator for circuit {id} in a dense layout")]
    Dense {
        /// The circuit.
        id: CircuitId,
    },
}

/// Why a statement's witness could not be generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// The statement is another circuit's.
    #[error("a statement of circuit {found}, the generator is bound to {expected}")]
    Circuit {
        /// The statement's circuit.
        found: CircuitId,
        /// The generator's.
        expected: CircuitId,
    },
    /// There is no such partition.
    #[error("partition {found}, expected one below {partitions}")]
    Partition {
        /// The partition asked for.
        found: usize,
        /// How many there are.
        partitions: usize,
    },
    /// The native inputs do not have the circuit's shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The circuit allows only 0 and 1 for this private variable.
    #[error("private variable {slot} is neither 0 nor 1")]
    NotABit {
        /// Its index.
        slot: usize,
    },
}

/// A witness that is not the circuit's, or could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A variable has another value, or only one of the two has it.
    #[error(
        "{place}: the witness has {}, the circuit {}",
        shown(found),
        shown(expected)
    )]
    Different {
        /// Public input, or block, gadget and number of a private variable.
        place: String,
        /// The witness's value.
        found: Option<Scalar>,
        /// The circuit's.
        expected: Option<Scalar>,
    },
    /// The circuit's definition could not be run.
    #[error("the circuit could not be synthesised: {0}")]
    Synthesis(#[from] SynthesisError),
}

fn shown(value: &Option<Scalar>) -> String {
    value.map_or("none".to_string(), |value| value.to_string())
}

fn kind(wide: bool) -> &'static str {
    if wide { "a field element" } else { "a bit" }
}

impl Extent {
    fn of(survey: &Survey<'_>, start: usize) -> Extent {
        Extent {
            slots: survey.slot - start,
            wide: survey.wide,
            inputs: survey.inputs,
        }
    }

    fn times(self, n: usize) -> Extent {
        Extent {
            slots: self.slots * n,
            wide: self.wide * n,
            inputs: self.inputs * n,
        }
    }
}

/// Runs an expression on the blank circuit of an id.
macro_rules! with_blank {
    ($id:expr, |$circuit:ident| $body:expr) => {
        match $id.kind {
            ProofKind::PoRep => {
                let blank = porep::blank($id.sector_size);
                let $circuit = &porep::Partition::new(&blank, 0);
                $body
            }
            ProofKind::SnapDeals => {
                let blank = snap::blank($id.sector_size);
                let $circuit = &snap::Partition::new(&blank, 0);
                $body
            }
            ProofKind::WindowPoSt | ProofKind::WinningPoSt => {
                let blank = post::blank($id);
                let $circuit = &post::Sectors::new(&blank);
                $body
            }
        }
    };
}

impl Generator {
    /// Binds to a compiled circuit, for the fastest path of this processor.
    ///
    /// # Errors
    /// When the circuit's variables are not those that the generator writes.
    pub fn bind(circuit: &R1cs, id: CircuitId) -> Result<Generator, LayoutMismatch> {
        with_blank!(id, |blank| Generator::bind_as(circuit, id, blank))
    }

    fn bind_as<'i>(
        r1cs: &R1cs,
        id: CircuitId,
        blank: &impl Circuit<'i>,
    ) -> Result<Generator, LayoutMismatch> {
        let layout = r1cs.layout();
        if layout.is_dense() && matches!(id.kind, ProofKind::PoRep | ProofKind::SnapDeals) {
            return Err(LayoutMismatch::Dense { id });
        }
        let (prologue, block) = circuit::extents(blank, layout);
        let blocks = layout.num_aux().saturating_sub(prologue.slots) / block.slots;
        let counts = [
            (
                "private variables",
                layout.num_aux(),
                prologue.slots,
                block.slots,
            ),
            (
                "public inputs",
                layout.num_inputs(),
                prologue.inputs + 1,
                block.inputs,
            ),
        ];
        for (what, found, outside, in_block) in counts {
            if blocks == 0 || found != outside + blocks * in_block {
                let expected = format!("{outside} and {in_block} a block");
                return Err(LayoutMismatch::Count {
                    id,
                    what,
                    found,
                    expected,
                });
            }
        }
        let mismatch = |(slot, wide, block, gadget): Difference| LayoutMismatch::Slot {
            id,
            block: block_name(block),
            gadget: gadget.to_string(),
            slot,
            wide,
        };
        circuit::compare(blank, layout, blocks).map_err(mismatch)?;
        let (found, expected) = (layout.num_wide(), prologue.wide + blocks * block.wide);
        if found != expected {
            let expected = expected.to_string();
            return Err(LayoutMismatch::Count {
                id,
                what: "wide variables",
                found,
                expected,
            });
        }
        Ok(Generator {
            id,
            layout: layout.clone(),
            prologue,
            block,
            blocks,
            isa: Isa::detect(),
        })
    }

    /// The same generator on another path. Panics when this processor cannot take it.
    pub fn with_isa(self, isa: Isa) -> Generator {
        assert!(isa.is_available(), "{isa:?} is not available");
        Generator { isa, ..self }
    }

    /// The path taken.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The circuit.
    pub fn circuit_id(&self) -> CircuitId {
        self.id
    }

    /// The part of the circuit that allocates a private variable: block and gadget, to be read by people.
    pub fn locate(&self, slot: usize) -> String {
        let (block, gadget) =
            with_blank!(self.id, |blank| circuit::locate(blank, &self.layout, slot));
        let gadget = gadget.map_or("nothing".to_string(), |gadget| gadget.to_string());
        format!("{}, {gadget}", block_name(block))
    }

    /// Writes the witness of a statement's partition. A buffer of another layout is replaced; whatever it held is
    /// overwritten. The work is spread over the threads of the current rayon pool.
    ///
    /// # Errors
    /// When the statement is not one of this circuit.
    pub fn witness(
        &self,
        statement: &Statement,
        partition: usize,
        witness: &mut Witness,
    ) -> Result<(), GenerateError> {
        self.witness_from(statement.inputs(), partition, witness)?;
        Ok(())
    }

    /// The same from native inputs, which need not be true; also says where the time went.
    pub fn witness_from(
        &self,
        inputs: &Inputs,
        partition: usize,
        witness: &mut Witness,
    ) -> Result<GadgetTimes, GenerateError> {
        let (found, expected) = (circuit_id(inputs), self.id);
        if found != expected {
            return Err(GenerateError::Circuit { found, expected });
        }
        let (found, partitions) = (partition, partitions(inputs));
        if found >= partitions {
            return Err(GenerateError::Partition { found, partitions });
        }
        match inputs {
            Inputs::PoRep(porep) => self.fill(&porep::Partition::new(porep, partition), witness),
            Inputs::SnapDeals(snap) => self.fill(&snap::Partition::new(snap, partition), witness),
            Inputs::PoSt(post) => self.fill(&post::Sectors::new(post), witness),
        }
    }

    /// Compares a witness with what the circuit's own definition assigns, value by value.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(
        &self,
        statement: &Statement,
        partition: usize,
        witness: &Witness,
    ) -> Result<(), CompareError> {
        self.compare_from(statement.inputs(), partition, witness)
    }

    /// The same from native inputs, which need not be true.
    pub fn compare_from(
        &self,
        inputs: &Inputs,
        partition: usize,
        witness: &Witness,
    ) -> Result<(), CompareError> {
        let mut comparer = Comparer::new(witness);
        let synthesized = match inputs {
            Inputs::PoRep(porep) => porep.synthesize(partition, &mut comparer),
            Inputs::SnapDeals(snap) => snap.synthesize(partition, &mut comparer),
            Inputs::PoSt(post) => post.synthesize(&mut comparer),
        };
        let different = |difference| match difference {
            compare::Difference::Input {
                index,
                found,
                expected,
            } => CompareError::Different {
                place: format!("public input {index}"),
                found,
                expected,
            },
            compare::Difference::Aux {
                slot,
                found,
                expected,
            } => {
                let place = format!("{}, private variable {slot}", self.locate(slot));
                CompareError::Different {
                    place,
                    found,
                    expected,
                }
            }
        };
        match (comparer.finish(), synthesized) {
            // What differs says more than that synthesis ended.
            (Err(difference), Ok(()) | Err(SynthesisError::Unsatisfiable)) => {
                Err(different(difference))
            }
            (_, synthesized) => Ok(synthesized?),
        }
    }

    fn fill<'i>(
        &self,
        circuit: &impl Circuit<'i>,
        witness: &mut Witness,
    ) -> Result<GadgetTimes, GenerateError> {
        ShapeError::check("blocks", circuit.blocks(), self.blocks)?;
        circuit.check()?;
        let same = Arc::ptr_eq(witness.layout(), &self.layout) || *witness.layout() == self.layout;
        if !same {
            *witness = Witness::new(self.layout.clone());
        }
        circuit::fill(circuit, (self.prologue, self.block), self.isa, witness).map_err(|failure| {
            match failure {
                Failure::Extent(shape) => GenerateError::Shape(shape),
                Failure::NotABit(slot) => GenerateError::NotABit { slot },
            }
        })
    }
}

/// The circuit that inputs are for.
fn circuit_id(inputs: &Inputs) -> CircuitId {
    match inputs {
        Inputs::PoRep(porep) => CircuitId::new(ProofKind::PoRep, porep.sector_size),
        Inputs::SnapDeals(snap) => CircuitId::new(ProofKind::SnapDeals, snap.sector_size),
        Inputs::PoSt(post) => CircuitId::new(post.kind, post.sector_size),
    }
}

/// Partitions that inputs hold.
fn partitions(inputs: &Inputs) -> usize {
    match inputs {
        Inputs::PoRep(porep) => porep.partitions.len(),
        Inputs::SnapDeals(snap) => snap.partitions.len(),
        Inputs::PoSt(_) => 1,
    }
}

fn block_name(block: Option<usize>) -> String {
    block.map_or("prologue".to_string(), |k| format!("block {k}"))
}
