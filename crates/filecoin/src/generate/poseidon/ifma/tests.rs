//! Values next to multiples of the modulus, which random ones never are.

use super::super::field::{Limbs, MODULUS};
use super::lanes::{LANES, Loose, split};
use super::outs::Outs;
use crate::generate::Isa;
use blstrs::Scalar;
use core::arch::x86_64::*;
use ff::Field;

/// `times` the modulus plus `offset`, as 52-bit limbs that do not carry yet.
fn near(times: u64, offset: i64) -> [i64; 5] {
    let mut limbs = split(MODULUS).map(|limb| (limb * times) as i64);
    limbs[0] += offset;
    if limbs[0] < 0 {
        limbs[0] += 1 << 52;
        limbs[1] -= 1;
    }
    limbs
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
fn canonical(limbs: [i64; 5]) -> Vec<Scalar> {
    let mut values = [Scalar::ZERO; LANES];
    let start = values.as_mut_ptr();
    let mut out = Outs::<1>::new(1, |k| start.wrapping_add(k));
    out.digest([Loose(limbs.map(|limb| _mm512_set1_epi64(limb)))]);
    values.to_vec()
}

#[test]
fn values_next_to_multiples_of_the_modulus() {
    if !Isa::Avx512.is_available() {
        return;
    }
    for times in [0, 1] {
        for offset in [-(1 << 51), -2, -1, 0, 1, 2, 1 << 51] {
            if times == 0 && offset < 0 {
                continue;
            }
            let mut limbs = near(times, offset);
            for moved in 0..5 {
                // Part of a limb in the one below it, where it carries back.
                if moved > 0 && limbs[moved] > 0 {
                    limbs[moved] -= 1;
                    limbs[moved - 1] += 1 << 52;
                }
                // SAFETY: the instructions exist, as asked above.
                let found = unsafe { canonical(limbs) };
                let expected = if offset < 0 {
                    -raw(offset.unsigned_abs())
                } else {
                    raw(offset.unsigned_abs())
                };
                assert!(
                    found
                        .iter()
                        .all(|x| x.to_bytes_le() == expected.to_bytes_le()),
                    "{times} p + {offset}"
                );
            }
        }
    }
}

/// The element whose limbs in memory are a small number.
fn raw(value: u64) -> Scalar {
    let limbs: Limbs = [value, 0, 0, 0];
    super::super::field::scalar(limbs)
}
