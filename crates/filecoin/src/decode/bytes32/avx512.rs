//! All 32 numbers at once: where they end is compressed into a vector of positions, and the digits are looked up there.

use super::LONGEST;
use core::arch::x86_64::*;

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

/// See [`super::Reader::read`].
#[inline]
pub(super) fn read(text: &[u8]) -> Option<([u8; 32], usize)> {
    let text = text.first_chunk::<LONGEST>()?;
    // SAFETY: only a reader that was detected gets here, so the instructions exist.
    unsafe { read_chunk(text) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn read_chunk(text: &[u8; LONGEST]) -> Option<([u8; 32], usize)> {
    const IOTA: [u8; 64] = {
        let (mut iota, mut i) = ([0; 64], 0);
        while i < 64 {
            iota[i] = i as u8;
            i += 1;
        }
        iota
    };
    // SAFETY: 64 bytes each.
    let (low, high, iota) = unsafe {
        (
            _mm512_loadu_si512(text[1..65].as_ptr().cast()),
            _mm512_loadu_si512(text[65..129].as_ptr().cast()),
            _mm512_loadu_si512(IOTA.as_ptr().cast()),
        )
    };
    // The array's length, for the next one not to wait for the numbers.
    let closing = _mm512_set1_epi8(b']' as i8);
    let closed = [low, high].map(|half| _mm512_cmpeq_epi8_mask(half, closing));
    let end = match closed[0] {
        0 => 64 + closed[1].trailing_zeros(),
        first => first.trailing_zeros(),
    };

    let (zero, nine) = (_mm512_set1_epi8(b'0' as i8), _mm512_set1_epi8(9));
    let [low_digits, high_digits] = [low, high].map(|half| _mm512_sub_epi8(half, zero));
    let low_ends = _mm512_cmpgt_epu8_mask(low_digits, nine);
    let high_ends = _mm512_cmpgt_epu8_mask(high_digits, nine);
    // Positions of what is no digit, those of the lower half first; 32 of them count.
    let places = _mm512_maskz_compress_epi8(low_ends, iota);
    let upper = _mm512_add_epi8(iota, _mm512_set1_epi8(64));
    let upper = _mm512_maskz_compress_epi8(high_ends, upper);
    let filled = low_ends.count_ones().min(63);
    let places = _mm512_mask_expand_epi8(places, !0 << filled, upper);

    let follows = _mm512_castsi512_si256(_mm512_permutex2var_epi8(low, places, high));
    let comma = _mm256_set1_epi8(b',' as i8);
    let expected = _mm256_mask_mov_epi8(comma, 1 << 31, _mm512_castsi512_si256(closing));
    let mut wrong = _mm256_cmpneq_epi8_mask(follows, expected);

    // Digits of a number: what lies between its end and the end before.
    let ends = _mm512_castsi512_si256(places);
    let before = _mm512_castsi512_si256(_mm512_sub_epi8(iota, _mm512_set1_epi8(1)));
    let before = _mm256_permutexvar_epi8(before, ends);
    let before = _mm256_mask_mov_epi8(before, 1, _mm256_set1_epi8(-1));
    let more = _mm256_sub_epi8(_mm256_sub_epi8(ends, before), _mm256_set1_epi8(2));
    wrong |= _mm256_cmpgt_epu8_mask(more, _mm256_set1_epi8(2));
    let two = _mm256_cmpgt_epu8_mask(more, _mm256_setzero_si256());
    let three = _mm256_cmpgt_epu8_mask(more, _mm256_set1_epi8(1));
    let digit = |back: i8| {
        let at = _mm512_sub_epi8(places, _mm512_set1_epi8(back));
        _mm512_castsi512_si256(_mm512_permutex2var_epi8(low_digits, at, high_digits))
    };
    let ones = digit(1);
    let tens = _mm256_maskz_mov_epi8(two, digit(2));
    let hundreds = _mm256_maskz_mov_epi8(three, digit(3));
    let first = _mm256_mask_mov_epi8(tens, three, hundreds);
    wrong |= _mm256_mask_cmpeq_epi8_mask(two, first, _mm256_setzero_si256());
    wrong |= _mm256_cmpgt_epu8_mask(hundreds, _mm256_set1_epi8(2));

    // Multiples of 10 and 100, up to those that a byte has.
    let tens_of = _mm_setr_epi8(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0, 0, 0, 0, 0, 0);
    let hundreds_of = _mm_setr_epi8(0, 100, -56, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    let multiple = |of, digit| _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(of), digit);
    let below_100 = _mm256_add_epi8(multiple(tens_of, tens), ones);
    let hundreds = multiple(hundreds_of, hundreds);
    let value = _mm256_add_epi8(hundreds, below_100);
    // A sum above 255 differs from the saturated one.
    wrong |= _mm256_cmpneq_epi8_mask(value, _mm256_adds_epu8(hundreds, below_100));
    if wrong != 0 || text[0] != b'[' {
        return None;
    }
    let mut bytes = [0; 32];
    // SAFETY: 32 bytes.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) };
    // The first `]` follows number 31: `[` and what is before it, and itself.
    Some((bytes, end as usize + 2))
}
