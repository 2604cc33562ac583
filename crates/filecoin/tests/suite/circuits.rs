//! The compiled circuits, the witnesses that run upstream's definitions, and the names of the parameters.

use crate::common::{porep_request, snap_request, window_request, winning_request};
use cuzk_filecoin::{
    CircuitId, ProofKind, ProofRequest, SectorSize, Statement, compile_circuit, official_digest,
    parameter_file_names,
};
use cuzk_r1cs::{R1cs, Scalar, Witness};
use storage_proofs_core::parameter_cache::PARAMETERS;

#[test]
fn every_circuit_has_published_parameters() {
    for id in CircuitId::all() {
        let names = parameter_file_names(id);
        assert_ne!(names.params, names.vk);
        for name in [&names.params, &names.vk] {
            let published = &PARAMETERS[name.as_str()];
            assert_eq!(published.sector_size, id.sector_size.bytes(), "{id}");
            assert_eq!(official_digest(name), Some(published.digest.as_str()));
        }
    }
    assert_eq!(official_digest("v28-nothing.params"), None);
}

/// Compiles the circuit of a request, runs its witness and checks it; gives the circuit.
fn satisfied(request: &ProofRequest) -> R1cs {
    let statement = Statement::decode(request).unwrap();
    let circuit = compile_circuit(statement.circuit_id()).unwrap();
    let mut witness = Witness::new(circuit.layout().clone());
    for k in 0..statement.num_partitions() {
        statement.witness(k, &circuit, &mut witness).unwrap();
        circuit.check(&witness).unwrap();
        assert_eq!(witness.inputs()[0], Scalar::from(1));
        assert_eq!(witness.inputs()[1..], statement.public_inputs(k).unwrap());
    }
    circuit
}

/// Rows, inputs and aux, counted with bellperson's own constraint system, and non-zeros of A, B and C.
fn counts(circuit: &R1cs) -> ([usize; 3], [u64; 3]) {
    let sizes = [circuit.num_rows(), circuit.num_inputs(), circuit.num_aux()];
    (sizes, circuit.num_nonzeros())
}

#[test]
fn porep_2k() {
    let circuit = satisfied(&porep_request());
    let (sizes, _) = counts(&circuit);
    assert_eq!(sizes, [2_687_961, 40, 2_685_673]);
    assert_eq!(circuit.log_domain(), 22);
    assert_eq!(circuit.blocks(), 2);
}

#[test]
fn snap_2k() {
    let (sizes, _) = counts(&satisfied(&snap_request()));
    assert_eq!(sizes, [1_705_044, 5, 1_703_569]);
}

#[test]
fn winning_2k() {
    let circuit = satisfied(&winning_request());
    let (sizes, _) = counts(&circuit);
    assert_eq!(sizes, [90_883, 133, 91_674]);
    assert_eq!(circuit.blocks(), 66);
}

#[test]
fn window_2k() {
    let circuit = satisfied(&window_request());
    let (sizes, _) = counts(&circuit);
    assert_eq!(sizes, [21_889, 23, 22_128]);
    assert_eq!(circuit.blocks(), 2);
    let mut one = window_request();
    one.vanilla_proofs.pop();
    satisfied(&one);
}

#[test]
fn a_witness_of_another_circuit_is_refused() {
    let winning = CircuitId::new(ProofKind::WinningPoSt, SectorSize::S2KiB);
    let circuit = compile_circuit(winning).unwrap();
    let mut witness = Witness::new(circuit.layout().clone());
    let window = Statement::decode(&window_request()).unwrap();
    assert!(window.witness(0, &circuit, &mut witness).is_err());
}

/// The circuits on the chain, with the sizes of their published parameters: rows, inputs, private variables and
/// repeated blocks.
const AT_32_GIB: [(ProofKind, [usize; 3], usize); 4] = [
    (ProofKind::PoRep, [130_278_869, 328, 130_169_893], 18),
    (ProofKind::WinningPoSt, [370_723, 133, 375_210], 66),
    (
        ProofKind::WindowPoSt,
        [125_305_057, 25_840, 126_902_376],
        2349,
    ),
    (ProofKind::SnapDeals, [81_049_504, 5, 80_978_488], 86),
];

fn check_32_gib(kind: ProofKind) {
    let id = CircuitId::new(kind, SectorSize::S32GiB);
    let circuit = compile_circuit(id).unwrap();
    let found = (kind, counts(&circuit).0, circuit.blocks());
    assert!(AT_32_GIB.contains(&found), "{found:?}");
}

#[test]
fn winning_32g_has_the_published_size() {
    check_32_gib(ProofKind::WinningPoSt);
}

#[test]
#[ignore = "a minute of CPU time"]
fn circuits_at_32_gib_have_the_published_sizes() {
    for (kind, ..) in AT_32_GIB {
        check_32_gib(kind);
    }
}
