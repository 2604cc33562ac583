//! Values that go to a device as the bytes they are.

use blst::{blst_p1, blst_p2};
use blstrs::Scalar;

/// Types without padding or pointers, any bytes of which are a value.
///
/// # Safety
/// That is what an implementation promises.
pub unsafe trait Plain: Copy + Send + Sync {}

// SAFETY: numbers.
unsafe impl Plain for u8 {}
// SAFETY: numbers.
unsafe impl Plain for u16 {}
// SAFETY: numbers.
unsafe impl Plain for u32 {}
// SAFETY: numbers.
unsafe impl Plain for u64 {}
// SAFETY: `repr(transparent)` over `blst_fr`, four limbs; limbs at or above the modulus are a value that blst computes with,
// if not the one meant.
unsafe impl Plain for Scalar {}
// SAFETY: 18 limbs.
unsafe impl Plain for blst_p1 {}
// SAFETY: 36 limbs.
unsafe impl Plain for blst_p2 {}
// SAFETY: an array has no padding between elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

pub(crate) fn as_bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain values are initialised bytes, without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

pub(crate) fn as_bytes_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and any bytes written are a value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
