//! An advisory lock on a device, which tells a second process who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::DeviceError;
use crate::identity::DeviceIdentity;

/// Held as long as this lives, and by the operating system's doing no longer than the process.
#[derive(Debug)]
pub struct DeviceLock {
    _file: File,
    path: PathBuf,
}

/// Where processes tell each other who holds a device; the temporary folder where there is no such place.
const LOCKS: &str = "/run/lock";

impl DeviceLock {
    /// Takes the lock of a device where all processes look for it.
    ///
    /// # Errors
    /// As [`DeviceLock::take`].
    pub fn take_in_common(device: &DeviceIdentity) -> Result<Self, DeviceError> {
        let shared = Path::new(LOCKS);
        let temporary = std::env::temp_dir();
        let directory = if shared.is_dir() { shared } else { &temporary };
        Self::take(directory, device)
    }

    /// Takes the lock of a device, a file in `directory` named by the device's bus address, and writes this process's id
    /// into it.
    ///
    /// # Errors
    /// [`DeviceError::Held`] when another process has it, [`DeviceError::Lock`] when the file cannot be used.
    pub fn take(directory: &Path, device: &DeviceIdentity) -> Result<Self, DeviceError> {
        let address: String = device
            .bus_id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let path = directory.join(format!("cuzk-gpu-{address}.lock"));
        let failed = |error: std::io::Error| DeviceError::Lock {
            path: path.display().to_string(),
            reason: error.to_string(),
        };
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder).map_err(failed)?;
                return Err(DeviceError::Held {
                    ordinal: device.ordinal,
                    holder: holder.trim().into(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file, path })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Platform;

    #[test]
    fn a_second_holder_is_told_of_the_first() {
        let directory = std::env::temp_dir().join(format!("cuzk-lock-test-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let device = DeviceIdentity {
            ordinal: 3,
            platform: Platform::Cuda,
            name: "test".into(),
            bus_id: "0000:65:00.0".into(),
        };
        let lock = DeviceLock::take(&directory, &device).expect("free");
        assert!(lock.path().ends_with("cuzk-gpu-0000-65-00-0.lock"));
        let refused = DeviceLock::take(&directory, &device).expect_err("held");
        assert_eq!(
            refused,
            DeviceError::Held {
                ordinal: 3,
                holder: std::process::id().to_string()
            }
        );
        assert!(refused.is_retryable());
        drop(lock);
        DeviceLock::take(&directory, &device).expect("free again");
        std::fs::remove_dir_all(directory).expect("clean up");
    }
}
