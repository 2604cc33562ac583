//! The C boundary of `kernels/api.h`, item by item.

use std::ffi::{c_char, c_int, c_void};

/// `CuzkError`.
#[repr(C)]
pub(crate) struct RawError {
    pub code: i32,
    pub line: i32,
    pub file: [c_char; 64],
    pub call: [c_char; 192],
    pub text: [c_char; 128],
}

/// `CuzkDevice`, known to the library alone.
#[repr(C)]
pub(crate) struct RawDevice {
    _private: [u8; 0],
}

/// `CuzkQuotient`, likewise.
#[repr(C)]
pub(crate) struct RawQuotient {
    _private: [u8; 0],
}

/// `CuzkDigits`.
#[repr(C)]
pub(crate) struct RawDigits {
    pub digit: [u32; 3],
}

#[repr(C)]
pub(crate) struct RawMsm {
    pub is_g2: u32,
    pub windows: u32,
    pub windows_per_batch: u32,
    pub bases_count: u32,
    pub count: u32,
    pub bases: *const c_void,
    pub scalars: *const c_void,
    pub scalar_of: *const u32,
    pub base_of: *const u32,
}

/// `CuzkLayout`.
#[repr(C)]
pub(crate) struct RawLayout {
    pub windows: u32,
    pub side_bits: u32,
    pub tiles: u32,
    pub bits: [u32; 64],
    pub tiles_of_window: [u32; 64],
}

#[repr(C)]
pub(crate) struct RawOnes {
    pub is_g2: u32,
    pub bases_count: u32,
    pub words: u32,
    pub first_base: u32,
    pub first_rank: u32,
    pub bases: *const c_void,
    pub bits: *const u64,
    pub density: *const u64,
    pub ranks: *const u32,
}

#[repr(C)]
pub(crate) struct RawWitness {
    pub values: *const c_void,
    pub words: *const c_void,
    pub ranks: *const u32,
    pub num_inputs: u32,
}

/// `CUZK_SHORT_ROW`: rows of more entries are listed as long.
pub(crate) const SHORT_ROW: u32 = 12;

#[repr(C)]
pub(crate) struct RawRows {
    pub row_ptr: *const u32,
    pub columns: *const u32,
    pub coefficients: *const u16,
    pub links: *const u32,
    pub long_rows: *const u32,
    pub num_long: u32,
    pub rows: u32,
    pub copies: u32,
    pub aux_stride: u32,
    pub num_links: u32,
    pub first_row: u32,
}

#[repr(C)]
pub(crate) struct RawDictionary {
    pub factors: *const c_void,
    pub terms: *const c_void,
    pub one: u32,
    pub minus_one: u32,
}

/// `CuzkMultiples`.
#[repr(C)]
pub(crate) struct RawMultiples {
    pub is_g2: u32,
    pub digit_bits: u32,
    pub count: u32,
    pub points: *mut c_void,
    pub table: *const c_void,
    pub scalars: *const c_void,
}

type Error = *mut RawError;
type Device = *mut RawDevice;
type Memory = *mut c_void;
type Constant = *const c_void;

/// `CuzkApi`.
#[repr(C)]
pub(crate) struct Api {
    pub device_count: unsafe extern "C" fn(*mut i32, Error) -> c_int,
    pub describe: unsafe extern "C" fn(i32, *mut c_char, *mut c_char, u32, Error) -> c_int,
    pub open: unsafe extern "C" fn(i32, *mut Device, Error) -> c_int,
    pub close: unsafe extern "C" fn(Device),
    pub memory: unsafe extern "C" fn(Device, *mut u64, *mut u64, Error) -> c_int,
    pub allocate: unsafe extern "C" fn(Device, u64, *mut Memory, Error) -> c_int,
    pub release: unsafe extern "C" fn(Device, Memory),
    pub allocate_pinned: unsafe extern "C" fn(Device, u64, *mut Memory, Error) -> c_int,
    pub release_pinned: unsafe extern "C" fn(Device, Memory),
    pub pin: unsafe extern "C" fn(Device, Memory, u64, Error) -> c_int,
    pub unpin: unsafe extern "C" fn(Device, Memory),
    pub upload: unsafe extern "C" fn(Device, Memory, Constant, u64, Error) -> c_int,
    pub download: unsafe extern "C" fn(Device, Memory, Constant, u64, Error) -> c_int,
    pub copy: unsafe extern "C" fn(Device, Memory, Constant, u64, Error) -> c_int,
    pub fill: unsafe extern "C" fn(Device, Memory, u8, u64, Error) -> c_int,
    pub wait: unsafe extern "C" fn(Device, Error) -> c_int,
    pub quotient_digits: unsafe extern "C" fn(u32, *mut RawDigits, Error) -> c_int,
    pub quotient_bytes: unsafe extern "C" fn(*const RawDigits, *mut u64, Error) -> c_int,
    pub quotient_create: unsafe extern "C" fn(
        Device,
        *const RawDigits,
        Memory,
        *mut *mut RawQuotient,
        Error,
    ) -> c_int,
    pub quotient_destroy: unsafe extern "C" fn(*mut RawQuotient),
    pub quotient_run:
        unsafe extern "C" fn(Device, *const RawQuotient, Memory, Memory, Memory, Error) -> c_int,
    pub half_inverse: unsafe extern "C" fn(Device, *const RawQuotient, Memory, Error) -> c_int,
    pub msm_bytes:
        unsafe extern "C" fn(Device, *const RawMsm, *mut u64, *mut RawLayout, Error) -> c_int,
    pub msm_run: unsafe extern "C" fn(Device, *const RawMsm, Memory, *mut c_void, Error) -> c_int,
    pub ones_bytes: unsafe extern "C" fn(Device, *const RawOnes, *mut u64, Error) -> c_int,
    pub ones_run: unsafe extern "C" fn(Device, *const RawOnes, Memory, *mut c_void, Error) -> c_int,
    pub make_plain: unsafe extern "C" fn(Device, Memory, u64, Error) -> c_int,
    pub make_dictionary:
        unsafe extern "C" fn(Device, Memory, Memory, Constant, u32, Error) -> c_int,
    pub place_bits: unsafe extern "C" fn(Device, Memory, *const u64, u32, Error) -> c_int,
    pub evaluate: unsafe extern "C" fn(
        Device,
        Memory,
        *const RawRows,
        *const RawDictionary,
        *const RawWitness,
        Error,
    ) -> c_int,
    pub decode_points:
        unsafe extern "C" fn(Device, Memory, Constant, u32, u32, u32, u32, Error) -> c_int,
    pub extend_points: unsafe extern "C" fn(Device, Memory, u32, u32, u32, Error) -> c_int,
    pub multiply_fixed: unsafe extern "C" fn(Device, *const RawMultiples, Error) -> c_int,
    pub first_off_curve: unsafe extern "C" fn(Device, Constant, u32, u32, *mut u32, Error) -> c_int,
}

#[cfg(feature = "cuda")]
unsafe extern "C" {
    fn cuzk_device_api() -> *const Api;
}

#[cfg(feature = "emulate")]
unsafe extern "C" {
    fn cuzk_emulated_device_api() -> *const Api;
}

/// The library of real devices, if it was compiled.
pub(crate) fn cuda() -> Option<&'static Api> {
    #[cfg(feature = "cuda")]
    // SAFETY: the function returns the address of a table that lives as long as the program and is never written.
    return unsafe { cuzk_device_api().as_ref() };
    #[cfg(not(feature = "cuda"))]
    None
}

/// The library of the emulated device, if it was compiled.
pub(crate) fn emulated() -> Option<&'static Api> {
    #[cfg(feature = "emulate")]
    // SAFETY: as for `cuda`.
    return unsafe { cuzk_emulated_device_api().as_ref() };
    #[cfg(not(feature = "emulate"))]
    None
}
