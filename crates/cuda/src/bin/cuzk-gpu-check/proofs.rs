//! Whole proofs of circuits like the real ones: mostly bits, and all wide.

use blstrs::Scalar;
use cuzk_cuda::CudaBackend;
use cuzk_groth16::conformance::Fixture;
use cuzk_groth16::conformance::circuits::{BitMixer, CubeChain};
use cuzk_groth16::{Backend, Blinding};

use crate::Outcome;
use crate::table::Table;

pub(crate) fn run(backend: &CudaBackend, largest: u32, table: &mut Table) {
    // 128 rows a round, and two
    for log_n in [13u32, 17].into_iter().filter(|log_n| *log_n <= largest) {
        let packed = || {
            Fixture::new(BitMixer {
                state: 0x0123_4567_89ab_cdef,
                rounds: (1 << (log_n - 7)) - 8,
            })
        };
        prove(backend, &format!("proof, bits, 2^{log_n}"), packed, table);
        let dense = || {
            Fixture::new(CubeChain {
                start: Scalar::from(3),
                rounds: (1 << (log_n - 1)) - 8,
            })
        };
        prove(backend, &format!("proof, wide, 2^{log_n}"), dense, table);
    }
}

fn prove(backend: &CudaBackend, name: &str, fixture: impl FnOnce() -> Fixture, table: &mut Table) {
    if !table.wants(name) {
        return;
    }
    let result = || -> Outcome {
        let fixture = fixture();
        let key = backend.load(fixture.circuit.clone(), fixture.params.clone())?;
        table.note(
            name,
            &format!(
                "2^{} rows, {} wide",
                fixture.circuit.log_domain(),
                fixture.circuit.layout().num_wide()
            ),
        );
        let blinding = Blinding {
            r: Scalar::from(5),
            s: Scalar::from(7),
        };
        table.time(name, 10, None, || {
            backend.prove(&key, &fixture.witness, &blinding)?;
            Ok(())
        });
        Ok(())
    }();
    if let Err(error) = result {
        table.failed(name, error.as_ref());
    }
}
