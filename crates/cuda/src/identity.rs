//! What a device is called.

use std::ffi::{CStr, c_char};
use std::fmt;

use crate::device::{Device, Platform};
use crate::error::DeviceError;
use crate::ffi::RawError;

/// A device's name and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceIdentity {
    /// Its number among the devices of this process.
    pub ordinal: u32,
    /// What runs its kernels.
    pub platform: Platform,
    /// Its product name.
    pub name: String,
    /// Its PCI bus id, the same for every process.
    pub bus_id: String,
}

impl DeviceIdentity {
    /// Asks the device.
    ///
    /// # Errors
    /// When the device fails.
    pub fn of(device: &Device) -> Result<Self, DeviceError> {
        const SIZE: usize = 256;
        let (mut name, mut bus_id) = ([0 as c_char; SIZE], [0 as c_char; SIZE]);
        let mut error = RawError::empty();
        // SAFETY: both texts have SIZE characters, and the library terminates them.
        let code = unsafe {
            let ordinal = device.ordinal().cast_signed();
            (device.api().describe)(
                ordinal,
                name.as_mut_ptr(),
                bus_id.as_mut_ptr(),
                SIZE as u32,
                &raw mut error,
            )
        };
        if code != 0 {
            return Err(error.typed(0));
        }
        let [name, bus_id] = [name, bus_id].map(|text| {
            // SAFETY: terminated, as above.
            unsafe { CStr::from_ptr(text.as_ptr()) }
                .to_string_lossy()
                .into_owned()
        });
        Ok(Self {
            ordinal: device.ordinal(),
            platform: device.platform(),
            name,
            bus_id,
        })
    }
}

impl fmt::Display for DeviceIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let platform = match self.platform {
            Platform::Cuda => "cuda",
            Platform::Emulated => "emulated",
        };
        write!(f, "{platform}:{} {}", self.ordinal, self.name)
    }
}
