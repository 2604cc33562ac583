//! Constants of the two fields, derived at compile time from the moduli alone.

/// The base field's modulus p, little-endian words.
pub(crate) const P: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// The scalar field's modulus r, little-endian words.
pub(crate) const R: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];

/// a - b and whether that borrows.
pub(crate) const fn sub_words<const N: usize>(a: [u64; N], b: [u64; N]) -> ([u64; N], bool) {
    let (mut difference, mut borrow, mut i) = ([0; N], false, 0);
    while i < N {
        let (t, under) = a[i].overflowing_sub(b[i]);
        let (t, under_again) = t.overflowing_sub(borrow as u64);
        difference[i] = t;
        borrow = under | under_again;
        i += 1;
    }
    (difference, borrow)
}

/// 2^exponent modulo m, by doubling; m must leave the top bit free.
pub(crate) const fn power_of_two<const N: usize>(m: [u64; N], exponent: u32) -> [u64; N] {
    let (mut power, mut step) = ([0; N], 0);
    power[0] = 1;
    while step < exponent {
        let (mut carry, mut i) = (0, 0);
        while i < N {
            let word = power[i];
            power[i] = word << 1 | carry;
            carry = word >> 63;
            i += 1;
        }
        let (reduced, below) = sub_words(power, m);
        if !below {
            power = reduced;
        }
        step += 1;
    }
    power
}

/// 2^exponent modulo p as blst's words. A multiplication with it by `blst_fp_mul` shifts by `exponent - 384` bits.
pub(crate) const fn fp_power_of_two(exponent: u32) -> blst::blst_fp {
    blst::blst_fp {
        l: power_of_two(P, exponent),
    }
}
