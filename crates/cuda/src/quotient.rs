//! The quotient of a satisfied system, on a device.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::ffi::{RawDigits, RawError, RawQuotient};

/// Tables for one domain.
pub struct Quotient {
    device: Arc<Device>,
    /// What `raw` points into.
    _tables: DeviceMemory,
    raw: NonNull<RawQuotient>,
    log_n: u32,
}

// SAFETY: the library only reads what `raw` points to, once made.
unsafe impl Send for Quotient {}
// SAFETY: likewise.
unsafe impl Sync for Quotient {}

/// Bytes of a field element.
pub(crate) const ELEMENT: u64 = 32;

impl Quotient {
    /// Binary logarithms of the domains there are kernels for.
    pub const LOG_DOMAINS: std::ops::RangeInclusive<u32> = 9..=27;

    /// Tables for `2^log_n` points.
    ///
    /// # Errors
    /// When there are no kernels for the size, memory runs out, or the device fails.
    pub fn new(device: &Arc<Device>, log_n: u32) -> Result<Self, DeviceError> {
        let mut digits = RawDigits { digit: [0; 3] };
        let mut error = RawError::empty();
        // SAFETY: both pointers are to live values.
        if unsafe { (device.api().quotient_digits)(log_n, &raw mut digits, &raw mut error) } != 0 {
            return Err(error.typed(0));
        }
        Self::with_digits(device, digits.digit)
    }

    /// Tables for a domain whose index has the given digits: 3, 4, 6, 7, 8 or 9 bits each, top digit first.
    ///
    /// # Errors
    /// When there are no kernels for a digit, memory runs out, or the device fails.
    pub fn with_digits(device: &Arc<Device>, digits: [u32; 3]) -> Result<Self, DeviceError> {
        let log_n = digits.iter().sum();
        let digits = RawDigits { digit: digits };
        let mut bytes = 0;
        let mut error = RawError::empty();
        // SAFETY: the pointers are to live values.
        if unsafe {
            (device.api().quotient_bytes)(&raw const digits, &raw mut bytes, &raw mut error)
        } != 0
        {
            return Err(error.typed(0));
        }
        let tables = device.allocate(bytes)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the memory is as large as the library asked for, and lives as long as what is made in it.
        device.call(0, |api, handle, error| unsafe {
            (api.quotient_create)(
                handle,
                &raw const digits,
                tables.all().address(),
                &raw mut raw,
                error,
            )
        })?;
        let raw = NonNull::new(raw).expect("what was created has an address");
        Ok(Self {
            device: device.clone(),
            _tables: tables,
            raw,
            log_n,
        })
    }

    /// From the values a and b of A and B on the domain to the coefficients h of `(A·B − C)/(Xⁿ − 1)`, where C has the
    /// values a∘b. `a` holds plain values, `b` values in Montgomery form, both below r; `c` is room. `a` is left with h,
    /// plain and in bit-reversed order. Not waited for.
    ///
    /// # Errors
    /// When the device refuses a launch.
    ///
    /// # Panics
    /// When a region is not `2^log_n` elements long.
    pub fn run(&self, a: Region<'_>, b: Region<'_>, c: Region<'_>) -> Result<(), DeviceError> {
        [a, b, c].into_iter().for_each(|region| self.check(region));
        // SAFETY: three regions of the size that the kernels work on.
        self.device.call(0, |api, device, error| unsafe {
            (api.quotient_run)(
                device,
                self.raw.as_ptr(),
                a.address(),
                b.address(),
                c.address(),
                error,
            )
        })
    }

    /// From values to half the coefficients, bit-reversed: an inverse transform by itself. Not waited for.
    ///
    /// # Errors
    /// When the device refuses a launch.
    ///
    /// # Panics
    /// When the region is not `2^log_n` elements long.
    pub fn half_inverse(&self, x: Region<'_>) -> Result<(), DeviceError> {
        self.check(x);
        // SAFETY: a region of the size that the kernels work on.
        self.device.call(0, |api, device, error| unsafe {
            (api.half_inverse)(device, self.raw.as_ptr(), x.address(), error)
        })
    }

    fn check(&self, region: Region<'_>) {
        assert!(
            Arc::ptr_eq(region.device(), &self.device),
            "memory of the tables' device"
        );
        assert_eq!(
            region.bytes(),
            ELEMENT << self.log_n,
            "elements of the domain"
        );
    }
}

impl Drop for Quotient {
    fn drop(&mut self) {
        // SAFETY: made by the library, and not used again.
        unsafe { (self.device.api().quotient_destroy)(self.raw.as_ptr()) }
    }
}
