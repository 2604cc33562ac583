//! 64 characters at a time. Source: Mula and Lemire, "Base64 encoding and decoding at almost the speed of a memory copy"
//! (2019), section 4.

use core::arch::x86_64::*;

/// Characters decoded at a time.
pub(super) const CHARACTERS: usize = 64;
/// Bytes that they stand for.
const BYTES: usize = 48;

/// The value of each character, 0x80 for what is none.
const VALUES: [u8; 128] = {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut values, mut i) = ([0x80; 128], 0);
    while i < 64 {
        values[alphabet[i] as usize] = i as u8;
        i += 1;
    }
    values
};

/// Where the bytes come to lie in groups of four values: three bytes, the highest first, of each 32 bits.
const ORDER: [u8; 64] = {
    let (mut order, mut i) = ([0; 64], 0);
    while i < BYTES {
        order[i] = (i / 3 * 4 + 2 - i % 3) as u8;
        i += 1;
    }
    order
};

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
}

/// Decodes a multiple of [`CHARACTERS`], if all are of the alphabet; the number of bytes.
pub(super) fn decode(text: &[u8], out: &mut [u8]) -> Option<usize> {
    assert!(is_available());
    // SAFETY: the instructions exist.
    unsafe { decode_groups(text, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn decode_groups(text: &[u8], out: &mut [u8]) -> Option<usize> {
    // SAFETY: 64 bytes each.
    let (low, high, order) = unsafe {
        (
            _mm512_loadu_si512(VALUES.as_ptr().cast()),
            _mm512_loadu_si512(VALUES[64..].as_ptr().cast()),
            _mm512_loadu_si512(ORDER.as_ptr().cast()),
        )
    };
    let mut wrong = _mm512_setzero_si512();
    let groups = text.as_chunks::<CHARACTERS>().0;
    for (group, out) in groups.iter().zip(out.chunks_exact_mut(BYTES)) {
        // SAFETY: 64 bytes.
        let characters = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        let values = _mm512_permutex2var_epi8(low, characters, high);
        wrong = _mm512_or_si512(wrong, _mm512_or_si512(characters, values));
        // Two values to 12 bits, two of those to 24.
        let pairs = _mm512_maddubs_epi16(values, _mm512_set1_epi32(0x0140_0140));
        let quads = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_1000));
        let bytes = _mm512_permutexvar_epi8(order, quads);
        // SAFETY: the mask has 48 bytes, as `out` has.
        unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), (1 << BYTES) - 1, bytes) };
    }
    (_mm512_movepi8_mask(wrong) == 0).then_some(groups.len() * BYTES)
}
