//! S-boxes, and where the values they allocate go.

use super::lanes::{Element, LANES, Limbs52, Loose, mul, raised, scaled, settle, splat, zero};
use blstrs::Scalar;
use core::arch::x86_64::*;

/// Values in a cache line.
const LINE: usize = 2;
/// How many values before they are stored their line is fetched: the next S-box's.
const AHEAD: usize = 4;

/// Where each lane's allocated values go.
pub(super) struct Outs<const G: usize> {
    starts: [[*mut Scalar; LANES]; G],
    /// Values stored in each lane.
    stored: usize,
    /// Values that each lane has room for.
    slots: usize,
    /// Of the last S-box: x, x^2, x^4, x^5 + key. Kept so as not to be cleared for each.
    values: [[Element; G]; 4],
}

impl<const G: usize> Outs<G> {
    /// `out(k)` must point to `slots` values for lane k, valid as long as the result is used. Lanes may share them.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
    pub(super) fn new(slots: usize, mut out: impl FnMut(usize) -> *mut Scalar) -> Self {
        Outs {
            starts: std::array::from_fn(|g| std::array::from_fn(|k| out(LANES * g + k))),
            stored: 0,
            slots,
            values: [[zero(); G]; 4],
        }
    }

    vector_code! {
    /// Takes a value below twice the modulus; allocates it, its square, its fourth power, and its fifth power plus key.
    /// Returns the first and the last.
    pub(super) fn s_box<const STORE: bool>(&mut self, x: &[Loose; G], key: Option<&Limbs52>) -> [&[Element; G]; 2] {
        for (value, x) in self.values[0].iter_mut().zip(x) {
            *value = settle::<STORE>(*x);
        }
        self.powers::<STORE>(key);
        if STORE {
            self.store::<4>(0);
        }
        [&self.values[0], &self.values[3]]
    }

    /// The first round's: the input is a sum of a canonical variable and a key, and not allocated.
    pub(super) fn first_s_box<const STORE: bool>(&mut self, x: &[Loose; G], before: &Limbs52, after: &Limbs52) -> &[Element; G] {
        for (value, x) in self.values[0].iter_mut().zip(x) {
            *value = settle::<STORE>(x.plus(&splat(before)));
        }
        self.powers::<STORE>(Some(after));
        if STORE {
            self.store::<3>(1);
        }
        &self.values[3]
    }

    /// From x: x^2, x^4, x^5 + key. Step by step for all groups, so that one's latency hides the other's.
    fn powers<const STORE: bool>(&mut self, key: Option<&Limbs52>) {
        let [x, square, fourth, fifth] = &mut self.values;
        for g in 0..G {
            square[g] = settle::<STORE>(mul(&scaled::<STORE>(&x[g]), &x[g]));
        }
        for g in 0..G {
            fourth[g] = settle::<STORE>(mul(&scaled::<STORE>(&square[g]), &square[g]));
        }
        for g in 0..G {
            let power = mul(&scaled::<STORE>(&x[g]), &fourth[g]);
            fifth[g] = match key {
                None => settle::<STORE>(power),
                Some(key) => {
                    let sum = power.plus(&splat(key));
                    if STORE { sum.canonical_of_thrice() } else { sum.carry() }
                }
            };
        }
    }

    /// Stores the digest, a value below twice the modulus.
    pub(super) fn digest(&mut self, digest: [Loose; G]) {
        for (value, digest) in self.values[0].iter_mut().zip(digest) {
            *value = digest.canonical();
        }
        self.store::<1>(0);
    }
    }

    /// Stores `N` of the canonical values, one after the other.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
    #[inline]
    fn store<const N: usize>(&mut self, first: usize) {
        assert!(N <= self.slots - self.stored);
        for g in 0..G {
            for (i, value) in self.values[first..][..N].iter().enumerate() {
                // SAFETY: `new` was given room for `slots` values in each lane.
                unsafe { store_lanes(&value[g], &self.starts[g], self.stored + i) };
            }
            // Sixteen streams of stores are too many for the processor to see them coming.
            for start in &self.starts[g] {
                for line in 0..N.div_ceil(LINE) {
                    let ahead = start.wrapping_add(self.stored + N + AHEAD + line * LINE);
                    _mm_prefetch::<_MM_HINT_ET0>(ahead.cast());
                }
            }
        }
        self.stored += N;
    }
}

/// Lane k to `out[k].add(at)`.
///
/// # Safety
/// Those places must be valid for writing a `Scalar`.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
unsafe fn store_lanes(x: &Element, out: &[*mut Scalar; LANES], at: usize) {
    let below = raised(x);
    let w0 = _mm512_shrdi_epi64(below[0], x[1], 12);
    let w1 = _mm512_shrdi_epi64(below[1], x[2], 24);
    let w2 = _mm512_shrdi_epi64(below[2], x[3], 36);
    let w3 = _mm512_shrdi_epi64(below[3], x[4], 48);
    // Transposes 4 words x 8 lanes; lanes k and k + 2 come out as the halves of one vector.
    let (even_low, odd_low) = (_mm512_unpacklo_epi64(w0, w1), _mm512_unpackhi_epi64(w0, w1));
    let (even_high, odd_high) = (_mm512_unpacklo_epi64(w2, w3), _mm512_unpackhi_epi64(w2, w3));
    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let quads = [
        (0, _mm512_permutex2var_epi64(even_low, first, even_high)),
        (1, _mm512_permutex2var_epi64(odd_low, first, odd_high)),
        (4, _mm512_permutex2var_epi64(even_low, second, even_high)),
        (5, _mm512_permutex2var_epi64(odd_low, second, odd_high)),
    ];
    for (lane, mut quad) in quads {
        // SAFETY: nothing is done. Otherwise the compiler takes the halves apart before they are permuted, which takes
        // three instructions instead of one.
        unsafe {
            core::arch::asm!("/* {0} */", inout(zmm_reg) quad, options(pure, nomem, nostack, preserves_flags))
        };
        // SAFETY: guaranteed by the caller; a `Scalar` is four words in memory, and the stores need no alignment.
        unsafe {
            _mm256_storeu_si256(out[lane].add(at).cast(), _mm512_castsi512_si256(quad));
            _mm256_storeu_si256(
                out[lane + 2].add(at).cast(),
                _mm512_extracti64x4_epi64(quad, 1),
            );
        }
    }
}
