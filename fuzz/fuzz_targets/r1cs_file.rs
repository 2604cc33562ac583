//! Arbitrary bytes as a stored circuit: an error or a circuit that can be used, never a panic.
//!
//! `cargo +nightly fuzz run r1cs_file`

#![no_main]

use cuzk_r1cs::{Matrix, R1cs, Scalar, Witness};
use libfuzzer_sys::fuzz_target;

/// The header, up to and with the checksum of what follows.
const HEADER: usize = 56;
/// Larger circuits take the fuzzer's time, not more of the reader's paths.
const MAX_SIZE: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    try_circuit(bytes);
    // A checksum over whatever stands there lets the rest of the reader see it.
    if bytes.len() >= HEADER {
        let mut sealed = bytes.to_vec();
        let (header, body) = sealed.split_at_mut(HEADER);
        let hash = blake2b_simd::blake2bp::Params::new()
            .hash_length(32)
            .hash(body);
        header[..8].copy_from_slice(b"cuzkr1cs");
        header[8..16].copy_from_slice(&1u64.to_le_bytes());
        header[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
        header[24..].copy_from_slice(hash.as_bytes());
        try_circuit(&sealed);
    }
});

fn try_circuit(bytes: &[u8]) {
    let Ok(circuit) = R1cs::from_bytes(bytes) else {
        return;
    };
    assert_eq!(circuit.to_bytes(), bytes);
    if circuit.num_rows().max(circuit.num_aux()) > MAX_SIZE {
        return;
    }
    let witness = Witness::new(circuit.layout().clone());
    let mut out = vec![Scalar::default(); circuit.num_rows()];
    for matrix in Matrix::ALL {
        circuit.evaluate(matrix, &witness, &mut out);
        circuit.combine_rows(matrix, &out);
    }
    let _ = circuit.check(&witness);
}
