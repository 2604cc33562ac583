//! Every generator against upstream's circuit, value by value.

use super::*;
use crate::circuit::compile_circuit;
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

/// Larger sectors. Run by name, with `--ignored`; the largest take minutes and gigabytes.
mod large {
    use super::check;

    macro_rules! circuits {
        ($($name:ident $id:literal)*) => {
            $(
                #[test]
                #[ignore = "takes minutes"]
                fn $name() {
                    check($id, 0..1);
                }
            )*
        };
    }

    circuits! {
        porep_8m "porep-8m"
        porep_512m "porep-512m"
        porep_32g "porep-32g"
        porep_64g "porep-64g"
        snap_8m "snap-8m"
        snap_512m "snap-512m"
        snap_32g "snap-32g"
        snap_64g "snap-64g"
        winning_8m "winning-8m"
        winning_512m "winning-512m"
        winning_32g "winning-32g"
        winning_64g "winning-64g"
        window_8m "wpost-8m"
        window_512m "wpost-512m"
        window_32g "wpost-32g"
        window_64g "wpost-64g"
    }
}
