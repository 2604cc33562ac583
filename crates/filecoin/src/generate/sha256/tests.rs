//! The lanes and the scalar reference against bellpepper's gadget and the `sha2` crate.

use super::super::bits::{Seams, merge_seams};
use super::shape::pad;
use super::*;
use bellpepper_core::ConstraintSystem;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::test_cs::TestConstraintSystem;
use blstrs::Scalar;
use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::Digest as _;

/// A message as a label hash has it: constants in the second half of the first block, elements of 255 bits.
fn shapes(blocks: usize) -> Vec<[Bits; 16]> {
    let mut element = [Bits::VARIABLE; 16];
    (element[7], element[15]) = (Bits::zero_in(0x80), Bits::zero_in(0x80));
    let mut all = vec![element; blocks];
    for (word, bits) in all[0].iter_mut().enumerate().skip(8) {
        *bits = match word {
            8 => Bits::constant(5),
            9 | 10 => Bits::VARIABLE,
            _ => Bits::constant(0),
        };
    }
    let mut padding = [0; 16];
    pad(&mut padding, 0, 512 * blocks as u32);
    all.push(padding.map(Bits::constant));
    all
}

fn message(blocks: usize, rng: &mut ChaCha8Rng) -> Vec<Block> {
    let mut all: Vec<Block> = (0..blocks).map(|_| rng.r#gen()).collect();
    all.iter_mut()
        .for_each(|block| [block[7], block[15]] = [block[7] & !0x80, block[15] & !0x80]);
    all[0][8] = 5;
    all[0][11..].fill(0);
    let mut padding = [0; 16];
    pad(&mut padding, 0, 512 * blocks as u32);
    all.push(padding);
    all
}

/// Bits that the gadget allocates after its message.
fn gadget(message: &[Block]) -> Vec<bool> {
    let mut cs = TestConstraintSystem::<Scalar>::new();
    let mut input = Vec::new();
    for (i, word) in message
        .iter()
        .flatten()
        .take(16 * (message.len() - 1))
        .enumerate()
    {
        for bit in (0..32).rev() {
            let value = word >> bit & 1 == 1;
            let element_top = (i > 15 && i % 8 == 7 || i == 7) && bit == 7;
            if (8..16).contains(&i) && !(9..11).contains(&i) || element_top {
                input.push(Boolean::constant(value));
            } else {
                let cs = cs.namespace(|| format!("word {i}, bit {bit}"));
                input.push(AllocatedBit::alloc(cs, Some(value)).unwrap().into());
            }
        }
    }
    let before = cs.scalar_aux().len();
    bellperson::gadgets::sha256::sha256(&mut cs, &input).unwrap();
    cs.scalar_aux()[before..]
        .iter()
        .map(|v| v == &Scalar::ONE)
        .collect()
}

fn sha2(message: &[Block]) -> Digest {
    let bytes: Vec<u8> = message[..message.len() - 1]
        .iter()
        .flatten()
        .flat_map(|word| word.to_be_bytes())
        .collect();
    let digest = sha2::Sha256::digest(bytes);
    std::array::from_fn(|i| u32::from_be_bytes(digest[4 * i..4 * i + 4].try_into().unwrap()))
}

#[test]
fn every_path_writes_what_the_gadget_allocates() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for blocks in [1, 3] {
        let hash = Hash::new(&shapes(blocks));
        let mut messages: Vec<Vec<Block>> = (0..11).map(|_| message(blocks, &mut rng)).collect();
        // Extreme words where the message has variables.
        for (k, extreme) in [(0, 0), (1, !0u32)] {
            for (j, block) in messages[k].iter_mut().take(blocks).enumerate() {
                for (i, word) in block.iter_mut().enumerate() {
                    let element_top = if i % 8 == 7 { !0x80 } else { !0 };
                    if j > 0 || i < 8 || (9..11).contains(&i) {
                        *word = extreme & element_top;
                    }
                }
            }
        }
        let expected: Vec<Vec<bool>> = messages.iter().map(|m| gadget(m)).collect();
        for isa in Isa::available() {
            // Every message at another phase, over garbage.
            let stride = hash.slots() + 131;
            let at: Vec<usize> = (0..messages.len()).map(|k| 64 + k * stride).collect();
            let end = 64 + messages.len() * stride;
            let mut words = vec![rng.r#gen::<u64>(); end.div_ceil(64)];
            let before = words.clone();
            let mut blocks = BlockBits::split(&mut words, [end]);
            let digests = hash.hash_many(isa, &mut blocks[0], &at, |k, j| messages[k][j]);
            let seams: Vec<Seams> = blocks.into_iter().map(BlockBits::seams).collect();
            drop(seams);
            let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
            for (k, m) in messages.iter().enumerate() {
                assert_eq!(digests[k], sha2(m), "{isa:?}");
                assert_eq!(expected[k].len(), hash.slots());
                let wrong = (0..hash.slots()).find(|i| bit(&words, at[k] + i) != expected[k][*i]);
                assert_eq!(wrong, None, "{isa:?}: message {k}");
                let gap = at[k] + hash.slots()..(at[k] + stride).min(end - 131);
                assert!(
                    gap.clone().all(|i| bit(&words, i) == bit(&before, i)),
                    "{isa:?}: wrote behind message {k}"
                );
            }
        }
    }
}

#[test]
fn seams_are_merged() {
    let hash = Hash::new(&shapes(1));
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let messages = [message(1, &mut rng), message(1, &mut rng)];
    // Two blocks that meet inside a word, the first ending with its hash.
    let middle = 70 + hash.slots();
    let end = middle + 100 + hash.slots();
    let reference: Vec<u64> = words_of(&hash, &messages, Isa::Portable, middle, end);
    for isa in Isa::available() {
        assert_eq!(
            words_of(&hash, &messages, isa, middle, end),
            reference,
            "{isa:?}"
        );
    }
}

fn words_of(
    hash: &Hash,
    messages: &[Vec<Block>; 2],
    isa: Isa,
    middle: usize,
    end: usize,
) -> Vec<u64> {
    let mut words = vec![!0; end.div_ceil(64)];
    let mut blocks = BlockBits::split(&mut words, [middle, end]);
    for (k, (block, gap)) in blocks.iter_mut().zip([70, 100]).enumerate() {
        let start = block.start();
        let mut writer = BitWriter::open(block, start);
        writer.zeros(gap);
        writer.skip(hash.slots());
        writer.close();
        hash.hash_many(isa, block, &[start + gap], |_, j| messages[k][j]);
    }
    let seams: Vec<Seams> = blocks.into_iter().map(BlockBits::seams).collect();
    merge_seams(&mut words, &seams);
    words
}
