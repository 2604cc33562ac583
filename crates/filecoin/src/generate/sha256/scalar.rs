//! One compression at a time: the reference for the lanes.

use super::shape::{SUM_OF_2, SUM_OF_4, SUM_OF_6_TO_8, Shape, Step};
use super::{BitSink, Block, Digest, K};

/// Writes what the gadget allocates for one compression and returns the new chaining value.
pub(super) fn compress(
    out: &mut impl BitSink,
    shape: &Shape,
    block: &Block,
    state: &Digest,
) -> Digest {
    let w = schedule(out, shape, block);
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    // Sums before they are reduced mod 2^32. The gadget allocates e and a, carries included, where the next round
    // first needs them, and the last ones together with the final addition.
    let (mut e_sum, mut a_sum) = (0u64, 0u64);
    for i in 0..64 {
        if i > 0 {
            out.bits(e_sum, SUM_OF_6_TO_8);
        }
        let folded = if shape.constant_iv { i } else { 3 };
        let s1_half = e.rotate_right(6) ^ e.rotate_right(11);
        let s1 = s1_half ^ e.rotate_right(25);
        let ch = (e & f) ^ (!e & g);
        if folded > 0 {
            out.bits(pair(s1_half, s1), 64);
        }
        match folded {
            0 | 1 => {}                                // a constant, or another name for e's bits
            2 => out.bits(u64::from(e & (f ^ g)), 32), // g constant: `e and f` or `e and not f`
            _ => out.bits(u64::from(ch), 32),
        }
        if i > 0 {
            out.bits(a_sum, SUM_OF_6_TO_8);
        }
        let s0_half = a.rotate_right(2) ^ a.rotate_right(13);
        let s0 = s0_half ^ a.rotate_right(22);
        let maj = (a & b) ^ (a & c) ^ (b & c);
        if folded > 0 {
            out.bits(pair(s0_half, s0), 64);
        }
        match folded {
            0 | 1 => {}
            2 => out.bits(u64::from((a ^ c) & (b ^ c)), 32), // c constant: `a and b` or `a nor b`
            _ => out.bits(interleave(maj, b & c), 64),
        }
        let t1 = [h, s1, ch, K[i], w[i]]
            .iter()
            .map(|v| u64::from(*v))
            .sum::<u64>();
        e_sum = t1 + u64::from(d);
        a_sum = t1 + u64::from(s0) + u64::from(maj);
        (h, g, f, e) = (g, f, e, e_sum as u32);
        (d, c, b, a) = (c, b, a, a_sum as u32);
    }
    // The last a and e enter by their operands, so the unreduced sums count.
    let last = [
        a_sum,
        b.into(),
        c.into(),
        d.into(),
        e_sum,
        f.into(),
        g.into(),
        h.into(),
    ];
    std::array::from_fn(|i| {
        let sum = last[i] + u64::from(state[i]);
        out.bits(sum, if i % 4 == 0 { SUM_OF_6_TO_8 } else { SUM_OF_2 });
        sum as u32
    })
}

fn schedule(out: &mut impl BitSink, shape: &Shape, block: &Block) -> [u32; 64] {
    let mut w = [0u32; 64];
    w[..16].copy_from_slice(block);
    for (step, i) in shape.schedule.iter().zip(16..) {
        let v = w[i - 15];
        let s0_half = v.rotate_right(7) ^ v.rotate_right(18);
        let s0 = s0_half ^ v >> 3;
        let v = w[i - 2];
        let s1_half = v.rotate_right(17) ^ v.rotate_right(19);
        let s1 = s1_half ^ v >> 10;
        let sum = [w[i - 16], s0, w[i - 7], s1]
            .iter()
            .map(|v| u64::from(*v))
            .sum::<u64>();
        w[i] = sum as u32;
        match step {
            Step::Variable => {
                out.bits(pair(s0_half, s0 & (!0 >> 3)), 61);
                out.bits(pair(s1_half, s1 & (!0 >> 10)), 54);
                out.bits(sum, SUM_OF_4);
            }
            Step::Folded {
                xors,
                sum: allocated,
            } => {
                for (kept, word) in xors.iter().zip([s0_half, s0, s1_half, s1]) {
                    out.bits(kept.extract(word), kept.count);
                }
                if *allocated {
                    out.bits(sum, SUM_OF_4);
                }
            }
        }
    }
    w
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Bit i of `even` to bit 2i, bit i of `odd` to bit 2i + 1.
fn interleave(even: u32, odd: u32) -> u64 {
    let spread = |v: u32| {
        let mut v = u64::from(v);
        v = (v | v << 16) & 0x0000_ffff_0000_ffff;
        v = (v | v << 8) & 0x00ff_00ff_00ff_00ff;
        v = (v | v << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        v = (v | v << 2) & 0x3333_3333_3333_3333;
        (v | v << 1) & 0x5555_5555_5555_5555
    };
    spread(even) | spread(odd) << 1
}
