//! Values next to multiples of the modulus, which random ones never are.

use super::lanes::{LANES, Loose, Words, split};
use crate::generate::Isa;
use crate::generate::poseidon::field::{MODULUS, scalar};
use blstrs::Scalar;
use core::arch::x86_64::*;
use ff::Field;

#[target_feature(enable = "avx2,fma")]
fn scalars(Words(words): Words) -> [Scalar; LANES] {
    let lanes = words.map(|word| {
        [
            _mm256_extract_epi64(word, 0),
            _mm256_extract_epi64(word, 1),
            _mm256_extract_epi64(word, 2),
            _mm256_extract_epi64(word, 3),
        ]
    });
    std::array::from_fn(|k| scalar(lanes.map(|word| word[k] as u64)))
}

/// `times` the modulus plus `offset`: as it is, halved, halved from below four times the modulus.
#[target_feature(enable = "avx2,fma")]
fn check(times: u64, offset: i64) {
    // Limbs that do not carry yet, and may be negative.
    let mut limbs = split(MODULUS).map(|limb| limb * times);
    limbs[0] = limbs[0].wrapping_add_signed(offset);
    let distance = scalar([offset.unsigned_abs(), 0, 0, 0]);
    let value = if offset < 0 { -distance } else { distance };
    let half = value * Scalar::from(2).invert().unwrap();
    let same = |found: Words, expected: Scalar| {
        let bytes = scalars(found).map(|x| x.to_bytes_le());
        assert_eq!(
            bytes,
            [expected.to_bytes_le(); LANES],
            "{times} p + {offset}"
        );
    };
    if times < 2 {
        same(Loose::new(&limbs).canonical(), value);
        same(Loose::new(&limbs).halved(), half);
    }
    same(Loose::new(&limbs).halved_of_more(), half);
}

#[test]
fn values_next_to_multiples_of_the_modulus() {
    if !Isa::Avx2.is_available() {
        return;
    }
    for times in 0..4 {
        for offset in [-(1 << 60), -(1 << 50), -2, -1, 0, 1, 2, 1 << 50, 1 << 60] {
            if times > 0 || offset >= 0 {
                // SAFETY: the instructions exist, as asked above.
                unsafe { check(times, offset) };
            }
        }
    }
}
