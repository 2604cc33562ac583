//! Eight independent messages at once, each lane writing its own stream of bits.
//!
//! All lanes allocate the same number of bits at every step, so the shift register is a vector with one fill level.
//! Full words collect until there are eight of each lane; those are transposed, moved to each lane's own bit phase by
//! a funnel shift and stored 64 bytes at a time.

use super::shape::{Kept, SUM_OF_2, SUM_OF_4, SUM_OF_6_TO_8, Shape, Step};
use super::{Block, BlockBits, Digest, Hash, IV, K};
use core::arch::x86_64::*;

const LANES: usize = 8;
/// A 32-bit word of each message, in the low half of each 64-bit lane.
type Word = __m512i;

/// See [`Hash::hash_many`].
pub(super) fn hash_many(
    hash: &Hash,
    out: &mut BlockBits<'_>,
    at: &[usize],
    message: &impl Fn(usize, usize) -> Block,
) -> Vec<Digest> {
    assert!(super::super::Isa::Avx512.is_available());
    let mut digests = Vec::with_capacity(at.len());
    for (group, slots) in at.chunks(LANES).enumerate() {
        // Idle lanes repeat the last message: the same bits to the same place.
        let lane = |k: usize| k.min(slots.len() - 1);
        let message = |k: usize, j| message(group * LANES + lane(k), j);
        // SAFETY: the instructions exist, asserted above.
        let states =
            unsafe { hash_group(hash, out, std::array::from_fn(|k| slots[lane(k)]), &message) };
        digests.extend_from_slice(&states[..slots.len()]);
    }
    digests
}

/// Functions of this file that work on vectors. A macro, because the attribute is long and must be the same on all,
/// or calls between them are not inlined and every vector goes through memory.
macro_rules! vector_code {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,gfni")] $item)*
    };
}

vector_code! {
fn hash_group(
    hash: &Hash,
    out: &mut BlockBits<'_>,
    at: [usize; LANES],
    message: &impl Fn(usize, usize) -> Block,
) -> [Digest; LANES] {
    let mut writer = LaneWriter::open(out, at, hash.slots());
    let mut state = IV.map(|word| _mm512_set1_epi64(i64::from(word)));
    for (j, shape) in hash.shapes().enumerate() {
        let blocks: [Block; LANES] = std::array::from_fn(|k| message(k, j));
        let words = std::array::from_fn(|i| gather(blocks.each_ref().map(|block| block[i])));
        state = compress(&mut writer, shape, &words, &state);
    }
    writer.close(out);
    let words = to_arrays(&state);
    std::array::from_fn(|k| std::array::from_fn(|i| words[i][k] as u32))
}

#[inline]
fn gather(w: [u32; LANES]) -> Word {
    let w = w.map(i64::from);
    _mm512_setr_epi64(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
}

#[inline]
fn to_array(v: __m512i) -> [u64; LANES] {
    let mut words = [0; LANES];
    // SAFETY: the array is as long as the vector, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), v) };
    words
}

#[inline]
fn to_arrays(vectors: &[__m512i; 8]) -> [[u64; LANES]; 8] {
    let mut words = [[0; LANES]; 8];
    for (array, vector) in words.iter_mut().zip(vectors) {
        *array = to_array(*vector);
    }
    words
}
}

/// Eight bit streams of equal length into one block.
struct LaneWriter {
    /// Bits not yet a full word, and their number.
    register: __m512i,
    fill: u32,
    /// Full words not yet stored.
    pending: [__m512i; 8],
    count: usize,
    /// Full words that every lane may still store in the block's interior.
    left: usize,
    /// The eight words stored last: the funnel shift takes their upper bits.
    previous: [__m512i; LANES],
    /// Where each lane's next word goes: its index, a pointer to it, and the phase of its stream in it.
    index: [usize; LANES],
    next: [*mut u64; LANES],
    phase: [u32; LANES],
}

impl LaneWriter {
    vector_code! {
    /// Every lane's full words must lie inside the block: `at[k]` in its interior, and `slots` more bits before its end.
    fn open(out: &mut BlockBits<'_>, at: [usize; LANES], slots: usize) -> LaneWriter {
        let end = out.end();
        let index = at.map(|slot| slot / 64);
        let phase = at.map(|slot| (slot % 64) as u32);
        // The bits below the opening slot stay: as if they had been the end of words stored before.
        let previous = std::array::from_fn(|k| {
            let below = if phase[k] == 0 { 0 } else { out.get(index[k]) << (64 - phase[k]) };
            _mm512_set1_epi64(below as i64)
        });
        let (first, interior) = out.interior();
        assert!(end / 64 <= first + interior.len());
        let base = interior.as_mut_ptr();
        let next = std::array::from_fn(|k| {
            assert!(index[k] >= first && at[k] + slots <= end);
            base.wrapping_add(index[k] - first)
        });
        let left = slots / 64;
        let zero = _mm512_setzero_si512();
        LaneWriter { register: zero, fill: 0, pending: [zero; 8], count: 0, left, previous, index, next, phase }
    }

    /// Stores eight words of each lane.
    fn flush(&mut self) {
        assert!(self.left >= 8);
        self.left -= 8;
        for (k, words) in transpose(&self.pending).into_iter().enumerate() {
            let before = _mm512_alignr_epi64(words, self.previous[k], 7);
            let shifted = _mm512_shldv_epi64(words, before, _mm512_set1_epi64(i64::from(self.phase[k])));
            // SAFETY: `open` checked that `left` full words from a lane's first one on lie in the block's interior, and
            // these are eight of them. `hash_group` holds the block's only reference and does not use it meanwhile.
            unsafe { _mm512_storeu_si512(self.next[k].cast(), shifted) };
            self.next[k] = self.next[k].wrapping_add(8);
            // A flush comes sooner than a line from memory: fetch the one of four flushes later.
            _mm_prefetch::<_MM_HINT_ET0>(self.next[k].wrapping_add(4 * 8).cast());
            self.index[k] += 8;
            self.previous[k] = words;
        }
        self.count = 0;
    }

    /// Writes what is left, keeping the bits behind it.
    fn close(mut self, out: &mut BlockBits<'_>) {
        self.pending[self.count] = self.register;
        for (k, words) in to_arrays(&transpose(&self.pending)).iter().enumerate() {
            let phase = self.phase[k];
            let upper = |word: u64| if phase == 0 { 0 } else { word >> (64 - phase) };
            let mut carry = upper(to_array(self.previous[k])[7]);
            let mut index = self.index[k];
            for word in &words[..self.count] {
                out.set(index, word << phase | carry);
                carry = upper(*word);
                index += 1;
            }
            let mut left = self.fill + phase;
            let mut word = words[self.count] << phase | carry;
            if left >= 64 {
                out.set(index, word);
                (index, left, word) = (index + 1, left - 64, upper(words[self.count]));
            }
            if left > 0 {
                out.set(index, out.get(index) >> left << left | word);
            }
        }
    }
    }
}

vector_code! {
#[inline]
fn transpose(rows: &[__m512i; 8]) -> [__m512i; 8] {
    let mut pairs = *rows;
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    let mut fours = pairs;
    for i in [0, 1, 4, 5] {
        let (x, y) = (pairs[i], pairs[i + 2]);
        fours[i] = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), y);
        fours[i + 2] = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), y);
    }
    let mut columns = fours;
    for i in 0..4 {
        columns[i] = _mm512_shuffle_i64x2(fours[i], fours[i + 4], 0x44);
        columns[i + 4] = _mm512_shuffle_i64x2(fours[i], fours[i + 4], 0xee);
    }
    columns
}

/// Bit i of `even` (32 bits a lane) to bit 2i, bit i of `odd` to bit 2i + 1.
#[inline]
fn interleave(even: __m512i, odd: __m512i) -> __m512i {
    // Byte j gets nibble j of `even` below nibble j of `odd`; then one bit permutation inside each byte.
    let even = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(0x1c18_1410_0c08_0400), even);
    let odd = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(0x1814_100c_0804_003c), odd);
    let nibbles = _mm512_ternarylogic_epi64(_mm512_set1_epi8(0x0f), even, odd, 0xca);
    // Output bit b is input bit b / 2 + 4 (b % 2); its row is byte 7 - b of the matrix.
    const MATRIX: u64 = {
        let (mut matrix, mut b) = (0, 0);
        while b < 8 {
            matrix |= 1u64 << (b / 2 + 4 * (b % 2)) << (8 * (7 - b));
            b += 1;
        }
        matrix
    };
    _mm512_gf2p8affine_epi64_epi8(nibbles, _mm512_set1_epi64(MATRIX as i64), 0)
}

#[inline]
fn extract(kept: &Kept, word: Word) -> Word {
    let word = _mm512_xor_si512(word, _mm512_set1_epi64(i64::from(kept.flip)));
    let mut bits = _mm512_setzero_si512();
    for (shift, mask) in &kept.runs {
        let run = _mm512_srl_epi64(word, _mm_cvtsi32_si128(*shift as i32));
        bits = _mm512_or_si512(bits, _mm512_and_si512(run, _mm512_set1_epi64(i64::from(*mask))));
    }
    bits
}
}

macro_rules! ror {
    ($x:expr, $n:literal) => {
        _mm512_ror_epi32($x, $n)
    };
}
macro_rules! xor {
    ($a:expr, $b:expr) => {
        _mm512_xor_si512($a, $b)
    };
}
macro_rules! sum {
    ($a:expr, $($b:expr),+) => {{
        let mut sum = $a;
        $(sum = _mm512_add_epi64(sum, $b);)+
        sum
    }};
}

vector_code! {
/// `scalar::compress` in eight lanes.
fn compress(out: &mut LaneWriter, shape: &Shape, block: &[Word; 16], state: &[Word; 8]) -> [Word; 8] {
    let low = _mm512_set1_epi64(0xffff_ffff);
    let both = |a, b| _mm512_or_si512(a, _mm512_slli_epi64(b, 32));
    // The shift register stays in registers for the whole compression. Macros again: `push` must be inlined.
    let (mut register, mut fill) = (out.register, out.fill);
    macro_rules! full {
        ($word:expr) => {
            out.pending[out.count] = $word;
            out.count += 1;
            if out.count == 8 {
                out.flush();
            }
        };
    }
    macro_rules! push {
        ($value:expr, $count:expr) => {{
            let value = $value;
            register = _mm512_or_si512(register, _mm512_sll_epi64(value, _mm_cvtsi32_si128(fill as i32)));
            let end = fill + $count;
            if end >= 64 {
                full!(register);
                // A vector shift by 64 gives 0, which is what is wanted here.
                register = _mm512_srl_epi64(value, _mm_cvtsi32_si128(64 - fill as i32));
                fill = end - 64;
            } else {
                fill = end;
            }
        }};
    }

    let mut w = [_mm512_setzero_si512(); 64];
    w[..16].copy_from_slice(block);
    for (step, i) in shape.schedule.iter().zip(16..) {
        let v = w[i - 15];
        let s0_half = xor!(ror!(v, 7), ror!(v, 18));
        let s0 = xor!(s0_half, _mm512_srli_epi64(v, 3));
        let v = w[i - 2];
        let s1_half = xor!(ror!(v, 17), ror!(v, 19));
        let s1 = xor!(s1_half, _mm512_srli_epi64(v, 10));
        let sum = sum!(w[i - 16], s0, w[i - 7], s1);
        w[i] = _mm512_and_si512(sum, low);
        match step {
            Step::Variable => {
                push!(both(s0_half, _mm512_and_si512(s0, _mm512_set1_epi64(i64::from(!0u32 >> 3)))), 61);
                push!(both(s1_half, _mm512_and_si512(s1, _mm512_set1_epi64(i64::from(!0u32 >> 10)))), 54);
                push!(sum, SUM_OF_4);
            }
            Step::Folded { xors, sum: allocated } => {
                for (kept, word) in xors.iter().zip([s0_half, s0, s1_half, s1]) {
                    if kept.count > 0 {
                        push!(extract(kept, word), kept.count);
                    }
                }
                if *allocated {
                    push!(sum, SUM_OF_4);
                }
            }
        }
    }

    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    let (mut e_sum, mut a_sum) = (low, low);
    for i in 0..64 {
        let folded = if shape.constant_iv { i } else { 3 };
        let s1_half = xor!(ror!(e, 6), ror!(e, 11));
        let s1 = xor!(s1_half, ror!(e, 25));
        let ch = _mm512_ternarylogic_epi64(e, f, g, 0xca);
        let t1 = sum!(h, s1, ch, _mm512_set1_epi64(i64::from(K[i])), w[i]);
        let s0_half = xor!(ror!(a, 2), ror!(a, 13));
        let s0 = xor!(s0_half, ror!(a, 22));
        let maj = _mm512_ternarylogic_epi64(a, b, c, 0xe8);
        if i > 0 {
            push!(e_sum, SUM_OF_6_TO_8);
        }
        if folded > 0 {
            push!(both(s1_half, s1), 64);
        }
        match folded {
            0 | 1 => {}
            2 => push!(_mm512_and_si512(e, xor!(f, g)), 32),
            _ => push!(ch, 32),
        }
        if i > 0 {
            push!(a_sum, SUM_OF_6_TO_8);
        }
        if folded > 0 {
            push!(both(s0_half, s0), 64);
        }
        match folded {
            0 | 1 => {}
            2 => push!(_mm512_and_si512(xor!(a, c), xor!(b, c)), 32),
            _ => push!(interleave(maj, _mm512_and_si512(b, c)), 64),
        }
        e_sum = sum!(t1, d);
        a_sum = sum!(t1, s0, maj);
        (h, g, f, e) = (g, f, e, _mm512_and_si512(e_sum, low));
        (d, c, b, a) = (c, b, a, _mm512_and_si512(a_sum, low));
    }
    let last = [a_sum, b, c, d, e_sum, f, g, h];
    let mut result = *state;
    for i in 0..8 {
        let sum = sum!(last[i], state[i]);
        push!(sum, if i % 4 == 0 { SUM_OF_6_TO_8 } else { SUM_OF_2 });
        result[i] = _mm512_and_si512(sum, low);
    }
    (out.register, out.fill) = (register, fill);
    result
}
}
