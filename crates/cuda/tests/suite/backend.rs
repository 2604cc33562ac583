//! The whole backend on the emulated device: the CPU prover's bytes.

use cuzk_cuda::CudaBackend;

#[test]
fn proofs_are_the_cpu_provers_bytes() {
    cuzk_groth16::conformance::check(
        &CudaBackend::new(crate::support::device()).expect("a backend"),
    );
}
