//! Every generator against upstream's circuit, value by value.

use super::*;
use crate::circuit::compile_circuit;
use crate::kind::SectorSize;
use cuzk_r1cs::BitVec;
use sha2::{Digest, Sha256};

/// Fills a buffer with something else, as if from an earlier proof.
fn soil(witness: &mut Witness) {
    witness.bits_mut().fill(0x5a5a_5a5a_5a5a_5a5a);
    witness.wide_mut().fill(Scalar::from(77));
    witness.inputs_mut().fill(Scalar::from(78));
}

/// Digest of all that a witness holds; a second one of the largest would not fit into memory.
fn fingerprint(witness: &Witness) -> [u8; 32] {
    let mut hash = Sha256::new();
    witness
        .bits()
        .iter()
        .for_each(|word| hash.update(word.to_le_bytes()));
    witness
        .inputs()
        .iter()
        .chain(witness.wide())
        .for_each(|value| hash.update(value.to_bytes_le()));
    hash.finalize().into()
}

/// All paths give the values of upstream's circuit, and zero bits in wide slots.
fn check(id: &str, seeds: std::ops::Range<u64>) {
    let id: CircuitId = id.parse().unwrap();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    let mut witness = Witness::new(r1cs.layout().clone());
    for seed in seeds {
        let inputs = arbitrary::inputs(id, seed);
        let partition = partitions(&inputs) - 1;
        let mut compared = None;
        for isa in Isa::available().into_iter().rev() {
            let generator = generator.clone().with_isa(isa);
            soil(&mut witness);
            generator
                .witness_from(&inputs, partition, &mut witness)
                .unwrap();
            let fingerprint = fingerprint(&witness);
            if compared == Some(fingerprint) {
                continue;
            }
            // Either the first path, or one that differs from it: then this tells where.
            if let Err(error) = generator.compare_from(&inputs, partition, &witness) {
                panic!("{id}, seed {seed}, {isa:?}: {error}");
            }
            let mask = witness.layout().mask_words().unwrap_or_default();
            let stray = witness
                .bits()
                .iter()
                .zip(mask)
                .position(|(bits, mask)| bits & mask != 0);
            assert_eq!(stray, None, "{id}, {isa:?}: bits in wide slots");
            assert_eq!(
                compared, None,
                "{id}, seed {seed}: {isa:?} gives another witness"
            );
            compared = Some(fingerprint);
        }
    }
}

#[test]
fn porep() {
    check("porep-2k", 0..3);
}

#[test]
fn snap_deals() {
    check("snap-2k", 0..3);
}

#[test]
fn window_post() {
    check("wpost-2k", 0..3);
}

#[test]
fn winning_post() {
    check("winning-2k", 0..3);
}

#[test]
fn gadgets_are_named() {
    let id = "porep-2k".parse().unwrap();
    let r1cs = compile_circuit(id).unwrap();
    let generator = Generator::bind(&r1cs, id).unwrap();
    let inputs = arbitrary::inputs(id, 9);
    let mut witness = Witness::new(r1cs.layout().clone());
    generator.witness_from(&inputs, 0, &mut witness).unwrap();
    let Extent { slots, wide, .. } = generator.block;
    assert_eq!(generator.locate(0), "prologue, commitment 0");
    assert_eq!(
        generator.locate(generator.prologue.slots + slots - 1),
        "block 0, column path 0, tree level 1"
    );
    // The last wide variable of block 1.
    let last = generator.prologue.wide + 2 * wide - 1;
    witness.wide_mut()[last] += Scalar::from(1);
    let error = generator
        .compare_from(&inputs, 0, &witness)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("block 1, column path 0, tree level 1, private variable"),
        "{error}"
    );
    // A public input.
    generator.witness_from(&inputs, 0, &mut witness).unwrap();
    witness.inputs_mut()[2] += Scalar::from(1);
    let error = generator
        .compare_from(&inputs, 0, &witness)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("public input 2"), "{error}");
}

#[test]
fn other_circuits_are_refused() {
    let [small, other] =
        ["wpost-2k", "winning-2k"].map(|id| compile_circuit(id.parse().unwrap()).unwrap());
    let window: CircuitId = "wpost-2k".parse().unwrap();
    assert!(Generator::bind(&small, window).is_ok());
    assert!(matches!(
        Generator::bind(&other, window),
        Err(LayoutMismatch::Count { .. })
    ));
    assert!(matches!(
        Generator::bind(&small, "porep-2k".parse().unwrap()),
        Err(LayoutMismatch::Dense { .. })
    ));
    let generator = Generator::bind(&small, window).unwrap();
    let mut witness = Witness::new(small.layout().clone());
    let inputs = arbitrary::inputs("winning-2k".parse().unwrap(), 1);
    let refused = generator.witness_from(&inputs, 0, &mut witness);
    assert!(matches!(refused, Err(GenerateError::Circuit { .. })));
    let refused = generator.witness_from(&arbitrary::inputs(window, 1), 1, &mut witness);
    assert_eq!(
        refused,
        Err(GenerateError::Partition {
            found: 1,
            partitions: 1
        })
    );
}

/// A layout that has one bit where the generator has a field element, and the other way round.
#[test]
fn another_layout_is_noticed() {
    let id = "porep-2k".parse().unwrap();
    let r1cs = compile_circuit(id).unwrap();
    let layout = r1cs.layout();
    let blank = porep::blank(SectorSize::S2KiB);
    let blank = porep::Partition::new(&blank, 0);
    assert_eq!(circuit::compare(&blank, layout, 2), Ok(()));
    for slot in [0, 1, 700, 600_000, layout.num_aux() - 1] {
        let mut wide = BitVec::zeros(layout.num_aux());
        (0..layout.num_aux())
            .filter(|i| layout.is_wide(*i) != (*i == slot))
            .for_each(|i| wide.set(i));
        let other = WitnessLayout::new(layout.num_inputs(), wide);
        let difference = circuit::compare(&blank, &other, 2).unwrap_err();
        assert_eq!((difference.0, difference.1), (slot, other.is_wide(slot)));
    }
}

/// Larger sectors. Run by name, with `--ignored`; the largest take minutes and gigabytes.
mod large {
    use super::check;

    macro_rules! circuits {
        ($($name:ident $id:literal $seeds:literal)*) => {
            $(
                #[test]
                #[ignore = "takes minutes"]
                fn $name() {
                    check($id, 0..$seeds);
                }
            )*
        };
    }

    circuits! {
        porep_8m "porep-8m" 3
        porep_512m "porep-512m" 1
        porep_32g "porep-32g" 3
        porep_64g "porep-64g" 1
        snap_8m "snap-8m" 3
        snap_512m "snap-512m" 1
        snap_32g "snap-32g" 3
        snap_64g "snap-64g" 1
        winning_8m "winning-8m" 3
        winning_512m "winning-512m" 1
        winning_32g "winning-32g" 3
        winning_64g "winning-64g" 1
        window_8m "wpost-8m" 3
        window_512m "wpost-512m" 1
        window_32g "wpost-32g" 1
        window_64g "wpost-64g" 1
    }
}
