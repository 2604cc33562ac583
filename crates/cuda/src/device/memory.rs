//! Memory on a device, and parts of it.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Device;
use crate::error::DeviceError;
use crate::plain::{Plain, as_bytes, as_bytes_mut};

/// Memory on a device.
pub struct DeviceMemory {
    device: Arc<Device>,
    address: NonNull<u8>,
    bytes: u64,
}

// SAFETY: the address is only ever handed to the library, one call at a time.
unsafe impl Send for DeviceMemory {}
// SAFETY: likewise.
unsafe impl Sync for DeviceMemory {}

impl DeviceMemory {
    /// Takes over `bytes` at `address` that `allocate` returned.
    pub(super) fn new(device: Arc<Device>, address: NonNull<u8>, bytes: u64) -> Self {
        Self {
            device,
            address,
            bytes,
        }
    }

    /// All of it.
    pub fn all(&self) -> Region<'_> {
        Region {
            memory: self,
            offset: 0,
            bytes: self.bytes,
        }
    }

    /// Bytes `offset ..` of it, `bytes` of them; panics when it has not so many.
    pub fn region(&self, offset: u64, bytes: u64) -> Region<'_> {
        self.all().part(offset, bytes)
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let address = self.address.as_ptr().cast::<c_void>();
        let released = self.device.call(0, |api, device, _| {
            // SAFETY: the address came from `allocate`, and no work is under way that a caller has not waited for.
            unsafe { (api.release)(device, address) };
            0
        });
        debug_assert!(released.is_ok());
        self.device
            .allocated
            .fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A part of a device's memory.
#[derive(Clone, Copy)]
pub struct Region<'a> {
    memory: &'a DeviceMemory,
    offset: u64,
    bytes: u64,
}

impl<'a> Region<'a> {
    /// Bytes `offset ..` of it, `bytes` of them; panics when it has not so many.
    pub fn part(self, offset: u64, bytes: u64) -> Region<'a> {
        let fits = offset
            .checked_add(bytes)
            .is_some_and(|end| end <= self.bytes);
        assert!(fits, "{bytes} bytes from {offset} on, of {}", self.bytes);
        Region {
            memory: self.memory,
            offset: self.offset + offset,
            bytes,
        }
    }

    /// Its size.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// Its device.
    pub fn device(self) -> &'a Arc<Device> {
        &self.memory.device
    }

    /// Copies `values` to its beginning.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When it is too small.
    pub fn upload<T: Plain>(self, values: &[T]) -> Result<(), DeviceError> {
        let bytes = as_bytes(values);
        let to = self.part(0, bytes.len() as u64).address();
        self.device().upload(to.cast(), bytes)
    }

    /// Copies its beginning to `values`.
    ///
    /// # Errors
    /// What the device failed with, then or before.
    ///
    /// # Panics
    /// When it is too small.
    pub fn download<T: Plain>(self, values: &mut [T]) -> Result<(), DeviceError> {
        let bytes = as_bytes_mut(values);
        let from = self.part(0, bytes.len() as u64).address();
        // SAFETY: both sides hold that many bytes, and the call returns when the copy is done.
        self.device().call(0, |api, device, error| unsafe {
            (api.download)(
                device,
                bytes.as_mut_ptr().cast(),
                from,
                bytes.len() as u64,
                error,
            )
        })
    }

    /// Copies `from`, of the same device, to its beginning; not waited for.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn copy_from(self, from: Region<'_>) -> Result<(), DeviceError> {
        assert!(
            Arc::ptr_eq(self.device(), from.device()),
            "a copy within a device"
        );
        let to = self.part(0, from.bytes).address();
        // SAFETY: both regions are live and large enough.
        self.device().call(0, |api, device, error| unsafe {
            (api.copy)(device, to, from.address(), from.bytes, error)
        })
    }

    /// Fills it; not waited for.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn fill(self, byte: u8) -> Result<(), DeviceError> {
        // SAFETY: the region is live.
        self.device().call(0, |api, device, error| unsafe {
            (api.fill)(device, self.address(), byte, self.bytes, error)
        })
    }

    /// Its address on the device.
    pub(crate) fn address(self) -> *mut c_void {
        self.memory
            .address
            .as_ptr()
            .wrapping_add(usize::try_from(self.offset).expect("64-bit addresses"))
            .cast()
    }
}
