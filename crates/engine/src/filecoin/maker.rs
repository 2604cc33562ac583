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
    use cuzk_filecoin::{ProofKind, ProofRequest, compile_circuit};

    use super::*;

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
    fn a_circuit_that_the_generator_does_not_know_is_run() {
        let statement = statement();
        let id = statement.circuit_id();
        let window = CircuitId::new(ProofKind::WindowPoSt, id.sector_size);
        let r1cs = Arc::new(compile_circuit(id).expect("compiles"));
        let fast = WitnessMaker::new(id, r1cs.clone());
        // Under another circuit's name the variables are not where its generator writes them.
        let slow = WitnessMaker::new(window, r1cs.clone());
        assert!(fast.generator.is_some() && slow.generator.is_none());

        let [fast, slow] = [fast, slow].map(|maker| {
            let mut witness = Witness::new(r1cs.layout().clone());
            maker.fill(&statement, 0, &mut witness).expect("a witness");
            witness
        });
        assert!(fast == slow);
        assert!(r1cs.check(&fast).is_ok());
    }
}
