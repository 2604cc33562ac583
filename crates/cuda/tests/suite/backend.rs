//! The whole backend on the emulated device: the CPU prover's bytes.

use cuzk_cuda::{CudaBackend, self_test};
use cuzk_groth16::Backend;

use crate::support::device;

fn backend() -> CudaBackend {
    CudaBackend::new(device()).expect("a backend")
}

#[test]
fn proofs_are_the_cpu_provers_bytes() {
    cuzk_groth16::conformance::check(&backend());
}

#[test]
fn the_self_test_passes() {
    assert_eq!(backend().name(), "emulated:0 emulated device");
    assert_eq!(self_test(&backend()), Ok(()));
}
