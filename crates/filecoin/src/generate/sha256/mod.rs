//! What the SHA-256 gadget of bellpepper 0.2 allocates, computed with whole words.
//!
//! The gadget (`bellpepper::gadgets::sha256`) allocates one bit for every xor, `ch` and carry bit of the compression
//! function and folds constants bit by bit. Which bits those are is fixed by the circuit and worked out once, as a
//! [`Shape`]; what is left per proof is plain SHA-256 whose words are written out as they appear.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
mod shape;

use super::Isa;
use super::bits::{BitSink, BitWriter, BlockBits};
use shape::Shape;
pub(super) use shape::{Bits, pad};

/// A message block, or a chaining value, as big-endian words (FIPS 180-4).
pub(super) type Block = [u32; 16];
pub(super) type Digest = [u32; 8];

/// Initial hash value, FIPS 180-4 section 5.3.3.
pub(super) const IV: Digest = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// Round constants, FIPS 180-4 section 4.2.2.
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// Hash of a message of fixed length in the circuit: the shapes of its blocks, constants and padding included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hash {
    shapes: Vec<Shape>,
    /// Index into `shapes` for each block.
    blocks: Vec<usize>,
    slots: usize,
}

impl Hash {
    /// `blocks` holds the constant bits of each message block. Equal shapes are kept once.
    pub(super) fn new(blocks: &[[Bits; 16]]) -> Hash {
        let (mut shapes, mut order) = (Vec::new(), Vec::new());
        for (i, block) in blocks.iter().enumerate() {
            let shape = Shape::new(block, i == 0);
            let found = shapes.iter().position(|s| *s == shape);
            order.push(found.unwrap_or(shapes.len()));
            if found.is_none() {
                shapes.push(shape);
            }
        }
        let slots = order.iter().map(|i| shapes[*i].slots()).sum();
        Hash {
            shapes,
            blocks: order,
            slots,
        }
    }

    /// Variables that the gadget allocates for one message.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.blocks.iter().map(|i| &self.shapes[*i])
    }

    /// Reference: one message into `out`. `message(j)` is block j with its padding.
    pub(super) fn hash(&self, out: &mut impl BitSink, message: impl Fn(usize) -> Block) -> Digest {
        let compress = |state, (j, shape)| scalar::compress(out, shape, &message(j), &state);
        self.shapes().enumerate().fold(IV, compress)
    }

    /// Hashes `at.len()` independent messages; message k's bits go to the slots from `at[k]`, which must not share a
    /// word with another message's. `message(k, j)` is block j of message k.
    pub(super) fn hash_many(
        &self,
        isa: Isa,
        out: &mut BlockBits<'_>,
        at: &[usize],
        message: impl Fn(usize, usize) -> Block,
    ) -> Vec<Digest> {
        #[cfg(target_arch = "x86_64")]
        if isa == Isa::Avx512 {
            return avx512::hash_many(self, out, at, &message);
        }
        let _ = isa;
        let one = |(k, slot): (usize, &usize)| {
            let mut writer = BitWriter::open(out, *slot);
            let digest = self.hash(&mut writer, |j| message(k, j));
            writer.close();
            digest
        };
        at.iter().enumerate().map(one).collect()
    }
}

#[cfg(test)]
mod tests;
