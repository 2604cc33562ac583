//! Witnesses from the fast generator where it fits the circuit, from the circuit's own definition where not.

use std::sync::Arc;

use cuzk_filecoin::generate::Generator;
use cuzk_filecoin::{CircuitId, Statement};
use cuzk_r1cs::{R1cs, Witness};

/// Makes witnesses of one circuit.
pub(super) struct WitnessMaker {
    r1cs: Arc<R1cs>,
    /// Absent where the circuit is laid out otherwise than the generator expects.
    generator: Option<Generator>,
}

impl WitnessMaker {
    pub(super) fn new(id: CircuitId, r1cs: Arc<R1cs>) -> Self {
        let bound = Generator::bind(&r1cs, id).inspect_err(|cause| {
            tracing::warn!(circuit = %id, %cause, "witnesses are made by running the circuit, which is slow");
        });
        Self {
            r1cs,
            generator: bound.ok(),
        }
    }

    /// Writes the witness of partition `k` into a buffer, whatever that held.
    pub(super) fn fill(
        &self,
        statement: &Statement,
        k: usize,
        witness: &mut Witness,
    ) -> Result<(), String> {
        match &self.generator {
            Some(generator) => generator
                .witness(statement, k, witness)
                .map_err(|e| e.to_string()),
            None => statement
                .witness(k, &self.r1cs, witness)
                .map_err(|e| e.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cuzk_filecoin::{ProofKind, ProofRequest, compile_circuit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Counts warnings.
    #[derive(Clone, Default)]
    struct Warnings(Arc<AtomicUsize>);

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::WARN
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    /// A maker, and how many warnings came with it.
    fn maker(id: CircuitId, r1cs: &Arc<R1cs>) -> (WitnessMaker, usize) {
        let warnings = Warnings::default();
        let make = || WitnessMaker::new(id, r1cs.clone());
        let maker = tracing::subscriber::with_default(warnings.clone(), make);
        (maker, warnings.0.load(Ordering::Relaxed))
    }

    fn statement() -> Statement {
        let mut randomness = vec![3; 32];
        randomness[31] = 0;
        let vanilla = include_bytes!("../../../filecoin/tests/data/winning-2k.sector1.bin");
        Statement::decode(&ProofRequest {
            sector_size: 2048,
            miner_id: 9,
            randomness,
            vanilla_proofs: vec![vanilla.to_vec()],
            ..ProofRequest::new(ProofKind::WinningPoSt)
        })
        .expect("the fixture is valid")
    }

    #[test]
    fn a_circuit_that_the_generator_does_not_know_is_run_with_a_warning() {
        let statement = statement();
        let id = statement.circuit_id();
        let window = CircuitId::new(ProofKind::WindowPoSt, id.sector_size);
        let r1cs = Arc::new(compile_circuit(id).expect("compiles"));
        let (fast, fast_warnings) = maker(id, &r1cs);
        // Under another circuit's name the variables are not where its generator writes them.
        let (slow, slow_warnings) = maker(window, &r1cs);
        assert!(fast.generator.is_some() && slow.generator.is_none());
        assert_eq!((fast_warnings, slow_warnings), (0, 1));

        let [fast, slow] = [fast, slow].map(|maker| {
            let mut witness = Witness::new(r1cs.layout().clone());
            maker.fill(&statement, 0, &mut witness).expect("a witness");
            witness
        });
        assert!(fast == slow);
        assert!(r1cs.check(&fast).is_ok());
    }
}
