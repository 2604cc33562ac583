//! A device, and memory on it.

mod memory;

use std::ffi::c_int;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::error::{DeviceError, NO_DEVICE, NO_DRIVER};
use crate::ffi::{self, Api, RawDevice, RawError};
use crate::plain::Plain;

pub use memory::{DeviceMemory, Region};

/// What runs the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// NVIDIA devices.
    Cuda,
    /// The CPU, which runs the kernels as loops: for tests.
    Emulated,
}

impl Platform {
    fn api(self) -> Result<&'static Api, DeviceError> {
        match self {
            Self::Cuda => ffi::cuda().ok_or(DeviceError::NotCompiled { feature: "cuda" }),
            Self::Emulated => {
                ffi::emulated().ok_or(DeviceError::NotCompiled { feature: "emulate" })
            }
        }
    }

    /// Number of devices; zero where there is no driver or no code for them.
    ///
    /// # Errors
    /// When the driver answers with another error than that there is nothing.
    pub fn device_count(self) -> Result<u32, DeviceError> {
        let Ok(api) = self.api() else { return Ok(0) };
        if self == Self::Emulated {
            return Ok(EMULATED_DEVICES);
        }
        let mut count = 0;
        let mut error = RawError::empty();
        // SAFETY: both pointers are to live values of the types api.h names.
        let code = unsafe { (api.device_count)(&raw mut count, &raw mut error) };
        match code {
            0 => Ok(count.unsigned_abs()),
            NO_DRIVER | NO_DEVICE => Ok(0),
            _ => Err(error.typed(0)),
        }
    }
}

/// The emulation takes any number for a device; so many, to try how work is spread. They share one memory.
const EMULATED_DEVICES: u32 = 2;

/// Bytes of each of the two pinned buffers that uploads go through.
const STAGING_BYTES: usize = 32 << 20;

/// One device. Its work is done in order, one call at a time whatever the threads.
pub struct Device {
    api: &'static Api,
    platform: Platform,
    ordinal: u32,
    /// Valid from `open` to `drop`. The lock is what makes calls one at a time.
    raw: Mutex<Handle>,
    /// Bytes that are allocated through it.
    allocated: AtomicU64,
}

struct Handle {
    device: NonNull<RawDevice>,
    /// Made for the first upload.
    staging: Option<[NonNull<u8>; 2]>,
}

// SAFETY: the library keeps no thread-bound state behind these pointers: every call selects the device by its ordinal.
unsafe impl Send for Handle {}

impl Device {
    /// Opens device `ordinal`, with its streams and pinned buffers.
    ///
    /// # Errors
    /// When the program has no code for the platform, there is no such device, or it fails.
    pub fn open(platform: Platform, ordinal: u32) -> Result<Arc<Self>, DeviceError> {
        let api = platform.api()?;
        let found = platform.device_count()?;
        if ordinal >= found {
            return Err(DeviceError::NoDevice { ordinal, found });
        }
        let mut device = ptr::null_mut();
        let mut error = RawError::empty();
        // SAFETY: both pointers are to live values of the types api.h names.
        let code = unsafe { (api.open)(ordinal.cast_signed(), &raw mut device, &raw mut error) };
        let device = NonNull::new(device)
            .filter(|_| code == 0)
            .ok_or_else(|| error.typed(0))?;
        Ok(Arc::new(Self {
            api,
            platform,
            ordinal,
            raw: Mutex::new(Handle {
                device,
                staging: None,
            }),
            allocated: AtomicU64::new(0),
        }))
    }

    /// The same device once more, with an order of work of its own: what is called on one need not wait for what is called
    /// on the other.
    ///
    /// # Errors
    /// When the device fails.
    pub fn another(&self) -> Result<Arc<Self>, DeviceError> {
        Self::open(self.platform, self.ordinal)
    }

    /// What runs its kernels.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// Its number.
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Bytes of memory, free and in all.
    ///
    /// # Errors
    /// When the device fails.
    pub fn memory(&self) -> Result<(u64, u64), DeviceError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are to live numbers.
        self.call(0, |api, device, error| unsafe {
            (api.memory)(device, &raw mut free, &raw mut total, error)
        })?;
        Ok((free, total))
    }

    /// Bytes that are allocated through this handle.
    pub fn allocated(&self) -> u64 {
        self.allocated.load(Ordering::Relaxed)
    }

    /// Takes memory of its own.
    ///
    /// # Errors
    /// When there is not so much left.
    pub fn allocate(self: &Arc<Self>, bytes: u64) -> Result<DeviceMemory, DeviceError> {
        let mut address = ptr::null_mut();
        // SAFETY: the pointer is to a live pointer.
        self.call(bytes, |api, device, error| unsafe {
            (api.allocate)(device, bytes.max(1), &raw mut address, error)
        })?;
        let address =
            NonNull::new(address.cast()).expect("an allocation that succeeded has an address");
        self.allocated.fetch_add(bytes, Ordering::Relaxed);
        Ok(DeviceMemory::new(self.clone(), address, bytes))
    }

    /// Memory with a copy of `values`.
    ///
    /// # Errors
    /// When there is not so much left, or the copy fails.
    pub fn allocate_copy<T: Plain>(
        self: &Arc<Self>,
        values: &[T],
    ) -> Result<DeviceMemory, DeviceError> {
        let memory = self.allocate(size_of_val(values) as u64)?;
        memory.all().upload(values)?;
        Ok(memory)
    }

    /// Waits for all work given to the device so far.
    ///
    /// # Errors
    /// What that work failed with.
    pub fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: takes nothing but the device.
        self.call(0, |api, device, error| unsafe { (api.wait)(device, error) })
    }

    /// One call of the library. `requested`: what it is to allocate, for the error.
    pub(crate) fn call(
        &self,
        requested: u64,
        body: impl FnOnce(&'static Api, *mut RawDevice, *mut RawError) -> c_int,
    ) -> Result<(), DeviceError> {
        let raw = self.raw.lock().unwrap_or_else(PoisonError::into_inner);
        let mut error = RawError::empty();
        match body(self.api, raw.device.as_ptr(), &raw mut error) {
            0 => Ok(()),
            _ => Err(error.typed(requested)),
        }
    }

    pub(crate) fn api(&self) -> &'static Api {
        self.api
    }

    /// Lets the device copy from the host's own memory at full speed.
    pub(crate) fn pin(&self, address: NonNull<u8>, bytes: usize) -> Result<(), DeviceError> {
        // SAFETY: pinning changes nothing of the memory's content.
        self.call(bytes as u64, |api, device, error| unsafe {
            (api.pin)(device, address.as_ptr().cast(), bytes as u64, error)
        })
    }

    /// Undoes [`Device::pin`].
    pub(crate) fn unpin(&self, address: NonNull<u8>) {
        let undone = self.call(0, |api, device, _| {
            // SAFETY: the library refuses memory that it did not pin.
            unsafe { (api.unpin)(device, address.as_ptr().cast()) };
            0
        });
        debug_assert!(undone.is_ok());
    }

    /// Copies `from` to the beginning of a region of the same device, in this handle's order of work; not waited for.
    ///
    /// # Safety
    /// Both sides stay as they are until the copy was waited for.
    pub(crate) unsafe fn enqueue_upload(
        &self,
        to: Region<'_>,
        from: &[u8],
    ) -> Result<(), DeviceError> {
        let bytes = from.len() as u64;
        let to = to.part(0, bytes).address();
        // SAFETY: both sides hold that many bytes, and stay so by the caller's promise.
        self.call(0, |api, device, error| unsafe {
            (api.upload)(device, to, from.as_ptr().cast(), bytes, error)
        })
    }

    /// Copies through the two pinned buffers: while one is on its way the other is filled, on all cores.
    fn upload(&self, to: *mut u8, bytes: &[u8]) -> Result<(), DeviceError> {
        const PIECE: usize = 1 << 20;
        let mut raw = self.raw.lock().unwrap_or_else(PoisonError::into_inner);
        let staging = raw.staging(self.api)?;
        let device = raw.device.as_ptr();
        let mut error = RawError::empty();
        for (i, chunk) in bytes.chunks(STAGING_BYTES).enumerate() {
            // SAFETY: the buffer is ours under the lock, STAGING_BYTES long, and the copy that read it last was waited
            // for in the turn before.
            let buffer =
                unsafe { std::slice::from_raw_parts_mut(staging[i % 2].as_ptr(), chunk.len()) };
            if chunk.len() > PIECE {
                buffer
                    .par_chunks_mut(PIECE)
                    .zip(chunk.par_chunks(PIECE))
                    .for_each(|(to, from)| to.copy_from_slice(from));
            } else {
                buffer.copy_from_slice(chunk);
            }
            // SAFETY: the caller's region holds `bytes.len()` bytes from `to` on; the buffer stays until it was waited for.
            let code = unsafe {
                match (self.api.wait)(device, &raw mut error) {
                    0 => (self.api.upload)(
                        device,
                        to.wrapping_add(i * STAGING_BYTES).cast(),
                        buffer.as_ptr().cast(),
                        chunk.len() as u64,
                        &raw mut error,
                    ),
                    code => code,
                }
            };
            if code != 0 {
                return Err(error.typed(0));
            }
        }
        // SAFETY: takes nothing but the device.
        match unsafe { (self.api.wait)(device, &raw mut error) } {
            0 => Ok(()),
            _ => Err(error.typed(0)),
        }
    }
}

impl Handle {
    /// The two pinned buffers.
    fn staging(&mut self, api: &Api) -> Result<[NonNull<u8>; 2], DeviceError> {
        if let Some(staging) = self.staging {
            return Ok(staging);
        }
        let first = allocate_pinned(api, self.device, STAGING_BYTES)?;
        let second = allocate_pinned(api, self.device, STAGING_BYTES).inspect_err(|_| {
            // SAFETY: the buffer came from the library and nobody knows of it.
            unsafe { (api.release_pinned)(self.device.as_ptr(), first.as_ptr().cast()) }
        })?;
        Ok(*self.staging.insert([first, second]))
    }
}

fn allocate_pinned(
    api: &Api,
    device: NonNull<RawDevice>,
    bytes: usize,
) -> Result<NonNull<u8>, DeviceError> {
    let mut address = ptr::null_mut();
    let mut error = RawError::empty();
    // SAFETY: the device is open, and both pointers are to live values.
    let code = unsafe {
        (api.allocate_pinned)(
            device.as_ptr(),
            bytes as u64,
            &raw mut address,
            &raw mut error,
        )
    };
    NonNull::new(address.cast())
        .filter(|_| code == 0)
        .ok_or_else(|| error.typed(bytes as u64))
}

impl Drop for Device {
    fn drop(&mut self) {
        let raw = self.raw.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the pointers came from the library and this is their last use: memory on the device keeps an Arc of it.
        unsafe {
            for buffer in raw.staging.into_iter().flatten() {
                (self.api.release_pinned)(raw.device.as_ptr(), buffer.as_ptr().cast());
            }
            (self.api.close)(raw.device.as_ptr());
        }
    }
}
