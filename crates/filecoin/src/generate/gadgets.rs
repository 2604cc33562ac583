//! What the circuits are built of, as sequences of variables: hashes, Merkle paths, bit decompositions.

use super::poseidon::Poseidon;
use super::sha256::{Bits, Block, Digest, Hash, pad};
use super::sink::Sink;
use crate::merkle::TreeShape;
use blstrs::Scalar;
use ff::PrimeField;
use filecoin_hashers::{POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8, POSEIDON_CONSTANTS_11};
use std::sync::LazyLock;
use storage_proofs_update::constants::POSEIDON_CONSTANTS_GEN_RANDOMNESS;

/// The Poseidon instances of the circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instance {
    /// Commitments, columns of two layers, top levels of trees C and R at 64 GiB.
    Two,
    /// Trees C and R.
    Eight,
    /// Columns of eleven layers.
    Eleven,
    /// Randomness of a sector update, with a tag of its own; two elements.
    Randomness,
}

struct Gadgets {
    two: Poseidon,
    eight: Poseidon,
    eleven: Poseidon,
    randomness: Poseidon,
    node: Hash,
    label: Hash,
}

static GADGETS: LazyLock<Gadgets> = LazyLock::new(|| Gadgets {
    two: Poseidon::new(&*POSEIDON_CONSTANTS_2),
    eight: Poseidon::new(&*POSEIDON_CONSTANTS_8),
    eleven: Poseidon::new(&*POSEIDON_CONSTANTS_11),
    randomness: Poseidon::new(&*POSEIDON_CONSTANTS_GEN_RANDOMNESS),
    node: node_hash(),
    label: label_hash(1),
});

impl Instance {
    pub(super) fn poseidon(self) -> &'static Poseidon {
        match self {
            Instance::Two => &GADGETS.two,
            Instance::Eight => &GADGETS.eight,
            Instance::Eleven => &GADGETS.eleven,
            Instance::Randomness => &GADGETS.randomness,
        }
    }

    /// The instance of a tree level.
    pub(super) fn of_arity(arity: usize) -> Instance {
        match arity {
            2 => Instance::Two,
            8 => Instance::Eight,
            other => unreachable!("no tree has arity {other}"),
        }
    }
}

/// A field element as a SHA-256 message holds it: its 32 little-endian bytes, in big-endian words.
pub(super) type Words = [u32; 8];

pub(super) fn words(element: &Scalar) -> Words {
    let bytes = element.to_repr();
    std::array::from_fn(|i| {
        u32::from_be_bytes(bytes[4 * i..4 * i + 4].try_into().expect("4 bytes"))
    })
}

/// A digest without its two top bits, as a field element.
pub(super) fn truncated(digest: &Digest) -> Scalar {
    let mut bytes = [0u8; 32];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(digest) {
        chunk.copy_from_slice(&word.to_be_bytes());
    }
    bytes[31] &= 0x3f;
    Option::from(Scalar::from_repr(bytes)).expect("254 bits are below the modulus")
}

/// Constant bits of an element's words: the circuits allocate 255 bits of it, the top bit of the last byte is a
/// constant zero.
const ELEMENT: [Bits; 8] = {
    let mut words = [Bits::VARIABLE; 8];
    words[7] = Bits::zero_in(1 << 7);
    words
};

fn two_elements() -> [Bits; 16] {
    std::array::from_fn(|i| ELEMENT[i % 8])
}

fn node_hash() -> Hash {
    Hash::new(&[two_elements(), node_padding().map(Bits::constant)])
}

fn node_padding() -> Block {
    let mut block = [0; 16];
    pad(&mut block, 0, 512);
    block
}

/// Hash of an inner node of tree D.
pub(super) fn node() -> &'static Hash {
    &GADGETS.node
}

/// Block `j` of its message.
pub(super) fn node_block(children: &[Words; 2], j: usize) -> Block {
    match j {
        0 => std::array::from_fn(|i| children[i / 8][i % 8]),
        _ => node_padding(),
    }
}

/// Parents that a label hashes, repetitions counted.
const LABEL_PARENTS: usize = 37;
/// Bits of a label's preimage: replica id, layer and node padded to an element, parents.
const LABEL_BITS: u32 = 256 * (2 + LABEL_PARENTS as u32);

/// The layer is a constant of the circuit, but its value changes no shape.
fn label_hash(layer: u32) -> Hash {
    let mut blocks = vec![two_elements(); 20];
    for (i, word) in blocks[0].iter_mut().enumerate().skip(8) {
        *word = match i {
            8 => Bits::constant(layer),
            9 | 10 => Bits::VARIABLE,
            _ => Bits::constant(0),
        };
    }
    let mut padding = [0; 16];
    pad(&mut padding, 8, LABEL_BITS);
    for (word, value) in blocks[19].iter_mut().zip(padding).skip(8) {
        *word = Bits::constant(value);
    }
    Hash::new(&blocks)
}

/// Hash of a label's preimage.
pub(super) fn label() -> &'static Hash {
    &GADGETS.label
}

/// What a label is the hash of.
pub(super) struct LabelPreimage {
    pub(super) replica_id: Words,
    pub(super) layer: u32,
    pub(super) node: u64,
    /// The distinct parents, repeated in the message to 37.
    pub(super) parents: Vec<Words>,
}

impl LabelPreimage {
    /// Block `j` of the message.
    pub(super) fn block(&self, j: usize) -> Block {
        let parent = |k: usize| &self.parents[k % self.parents.len()];
        let mut block = [0; 16];
        if j == 0 {
            block[..8].copy_from_slice(&self.replica_id);
            block[8..11].copy_from_slice(&[self.layer, (self.node >> 32) as u32, self.node as u32]);
        } else {
            block[..8].copy_from_slice(parent(2 * j - 2));
            match j {
                19 => pad(&mut block, 8, LABEL_BITS),
                _ => block[8..].copy_from_slice(parent(2 * j - 1)),
            }
        }
        block
    }
}

/// The 255 bits of an element, the lowest first.
pub(super) fn element_bits<'i>(out: &mut impl Sink<'i>, words: &Words) {
    let quad = |i: usize| {
        u64::from(words[2 * i].swap_bytes()) | u64::from(words[2 * i + 1].swap_bytes()) << 32
    };
    (0..3).for_each(|i| out.bits(quad(i), 64));
    out.bits(quad(3), 63);
}

/// An inner node of tree D from its children, which exist already: their bits, the hash, the node.
pub(super) fn tree_d_node<'i>(out: &mut impl Sink<'i>, children: [Scalar; 2]) -> Scalar {
    let children = children.each_ref().map(words);
    children.iter().for_each(|child| element_bits(out, child));
    let node = truncated(&out.node(&children));
    out.number(node);
    node
}

/// How a path comes into a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathForm {
    /// Each level allocates the bits of its position and its siblings.
    Allocating,
    /// Both exist already.
    Given,
}

/// A path in tree D, `index` being the leaf's.
pub(super) fn climb_tree_d<'i>(
    out: &mut impl Sink<'i>,
    form: PathForm,
    leaf: Scalar,
    index: u64,
    siblings: &[Scalar],
) -> Scalar {
    let mut node = leaf;
    for (level, sibling) in siblings.iter().enumerate() {
        out.gadget("tree D level", level);
        let right = index >> level & 1;
        if form == PathForm::Allocating {
            out.bits(right, 1);
            out.number(*sibling);
        }
        let children = if right == 1 {
            [*sibling, node]
        } else {
            [node, *sibling]
        };
        children.iter().for_each(|child| out.number(*child));
        node = tree_d_node(out, children);
    }
    node
}

/// The levels of a path in tree C or R: arity, position of the node, its siblings.
pub(super) fn levels<'p>(
    shape: &TreeShape,
    index: u64,
    siblings: &'p [Scalar],
) -> impl Iterator<Item = (usize, u64, &'p [Scalar])> {
    let (mut index, mut siblings) = (index, siblings);
    shape.arities().map(move |arity| {
        let (level, rest) = siblings.split_at(arity - 1);
        let position = index % arity as u64;
        (index, siblings) = (index / arity as u64, rest);
        (arity, position, level)
    })
}

/// A path in tree C or R, one level after the other.
pub(super) fn climb_levels<'i>(
    out: &mut impl Sink<'i>,
    shape: &TreeShape,
    form: PathForm,
    leaf: Scalar,
    index: u64,
    siblings: &[Scalar],
) -> Scalar {
    let mut node = leaf;
    for (i, (arity, position, siblings)) in levels(shape, index, siblings).enumerate() {
        out.gadget("tree level", i);
        if form == PathForm::Allocating {
            out.bits(position, arity.trailing_zeros());
            siblings.iter().for_each(|sibling| out.number(*sibling));
        }
        let mut picks = [Scalar::default(); MAX_PICKS];
        let picks = &mut picks[..num_picks(arity)];
        let children = insert(arity, position, node, siblings, picks);
        if let Some(helpers) = helper_bits(arity, position) {
            out.bits(helpers, 2);
        }
        picks.iter().for_each(|pick| out.number(*pick));
        node = out.poseidon(Instance::of_arity(arity), &children[..arity]);
    }
    node
}

const MAX_PICKS: usize = 20;

/// Choices that inserting a node among its siblings allocates.
pub(super) const fn num_picks(arity: usize) -> usize {
    if arity == 8 { MAX_PICKS } else { 2 }
}

/// At arity 8 two bits are allocated before the choices: whether the two low bits of the position are both 0, both 1.
pub(super) fn helper_bits(arity: usize, position: u64) -> Option<u64> {
    let low = position & 3;
    (arity == 8).then(|| u64::from(low == 0) | u64::from(low == 3) << 1)
}

/// Inserts a node among its siblings as the circuits do: writes the choices in the order of allocation, returns the
/// children. Source: `storage_proofs_core::gadgets::insertion`.
pub(super) fn insert(
    arity: usize,
    position: u64,
    node: Scalar,
    siblings: &[Scalar],
    picks: &mut [Scalar],
) -> [Scalar; 8] {
    let bit = |i: u64| position >> i & 1 == 1;
    let pick = |condition: bool, yes: Scalar, no: Scalar| if condition { yes } else { no };
    let (a, e) = (node, siblings);
    if arity == 2 {
        let children = [pick(bit(0), e[0], a), pick(bit(0), a, e[0])];
        picks.copy_from_slice(&children);
        let [left, right] = children;
        return std::array::from_fn(|i| [left, right].get(i).copied().unwrap_or_default());
    }
    let (b0, b1, b2) = (bit(0), bit(1), bit(2));
    let (neither, both) = (!b0 && !b1, b0 && b1);
    // Each child's chain of choices; the last one is the child.
    let c0 = pick(neither, a, e[0]);
    let c1 = pick(b0, a, e[0]);
    let d1 = pick(b1, e[1], c1);
    let c2 = pick(b0, e[2], a);
    let d2 = pick(b1, c2, e[1]);
    let c3 = pick(both, a, e[2]);
    let c4 = pick(neither, a, e[4]);
    let c5 = pick(b0, a, e[4]);
    let d5 = pick(b1, e[5], c5);
    let c6 = pick(b0, e[6], a);
    let d6 = pick(b1, c6, e[5]);
    let c7 = pick(both, a, e[6]);
    let children = [
        pick(b2, e[0], c0),
        pick(b2, e[1], d1),
        pick(b2, e[2], d2),
        pick(b2, e[3], c3),
        pick(b2, c4, e[3]),
        pick(b2, d5, e[4]),
        pick(b2, d6, e[5]),
        pick(b2, c7, e[6]),
    ];
    let [p0, p1, p2, p3, p4, p5, p6, p7] = children;
    picks.copy_from_slice(&[
        c0, p0, c1, d1, p1, c2, d2, p2, c3, p3, c4, p4, c5, d5, p5, c6, d6, p6, c7, p7,
    ]);
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_changes_no_shape() {
        for layer in 1..=11 {
            assert_eq!(label_hash(layer), *label());
        }
    }

    #[test]
    fn insertion_keeps_the_order_of_the_siblings() {
        for arity in [2usize, 8] {
            let siblings: Vec<Scalar> = (1..arity as u64).map(Scalar::from).collect();
            for position in 0..arity {
                let mut picks = vec![Scalar::default(); num_picks(arity)];
                let children = insert(
                    arity,
                    position as u64,
                    Scalar::from(99),
                    &siblings,
                    &mut picks,
                );
                let mut expected = siblings.clone();
                expected.insert(position, Scalar::from(99));
                assert_eq!(children[..arity], expected[..]);
            }
        }
    }
}
