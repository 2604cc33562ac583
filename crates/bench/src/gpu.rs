//! The GPU that a command works on directly, without a daemon.

use std::sync::Arc;

use cuzk_cuda::{CudaBackend, Device, DeviceIdentity, DeviceLock, Platform};

use crate::error::Error;

#[derive(clap::Args, Clone, Debug)]
pub(crate) struct GpuArgs {
    /// The GPU's number.
    #[arg(long, default_value_t = 0)]
    pub(crate) device: u32,

    /// Takes the GPU for one with so much memory: bases that do not fit stream from the host.
    #[arg(long, value_name = "SIZE")]
    device_memory: Option<Size>,

    /// The CPU in a GPU's place, running the same kernels: to try the command itself. Needs feature `emulate`.
    #[arg(long, hide = true)]
    emulated: bool,
}

/// Bytes, as in `24GB`, `24GiB` or `25769803776`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, u64); 4] = [
            ("GiB", 1 << 30),
            ("MiB", 1 << 20),
            ("GB", 1_000_000_000),
            ("MB", 1_000_000),
        ];
        let unit = UNITS.iter().find(|unit| text.ends_with(unit.0));
        let (digits, unit) = unit.map_or((text, 1), |&(name, unit)| {
            (text.trim_end_matches(name).trim_end(), unit)
        });
        let bytes = digits.parse().ok().and_then(|n: u64| n.checked_mul(unit));
        bytes
            .map(Self)
            .ok_or_else(|| format!("found {text:?}, expected a size such as 24GB or 24GiB"))
    }
}

/// An open device, which no other process of ours uses.
pub(crate) struct Gpu {
    pub(crate) device: Arc<Device>,
    pub(crate) backend: CudaBackend,
    _lock: DeviceLock,
}

impl GpuArgs {
    /// The GPU of this number; without a number the CPU in its place, if that was asked for.
    pub(crate) fn chosen(device: Option<u32>, emulated: bool) -> Option<Self> {
        (device.is_some() || emulated).then(|| Self {
            device: device.unwrap_or(0),
            device_memory: None,
            emulated,
        })
    }

    /// The number of the GPU; none where the CPU stands in for it.
    pub(crate) fn ordinal(&self) -> Option<u32> {
        (!self.emulated).then_some(self.device)
    }

    pub(crate) fn open(&self) -> Result<Gpu, Error> {
        self.open_numbered(self.device)
    }

    /// Another GPU than the one that `--device` names, with the other options.
    pub(crate) fn open_numbered(&self, ordinal: u32) -> Result<Gpu, Error> {
        let platform = if self.emulated {
            Platform::Emulated
        } else {
            Platform::Cuda
        };
        let open = || {
            let device = Device::open(platform, ordinal)?;
            let cap = self.device_memory.map(|size| size.0);
            let backend = CudaBackend::with_memory_cap(device.clone(), cap)?;
            let lock = DeviceLock::take_in_common(backend.identity())?;
            Ok::<_, cuzk_cuda::DeviceError>(Gpu {
                device,
                backend,
                _lock: lock,
            })
        };
        open().map_err(|cause| failed("GPU", &cause))
    }
}

impl Gpu {
    pub(crate) fn identity(&self) -> &DeviceIdentity {
        self.backend.identity()
    }

    /// Bytes of its memory in use, and in all.
    pub(crate) fn used_memory(&self) -> Result<(u64, u64), Error> {
        let (free, total) = self
            .device
            .memory()
            .map_err(|cause| failed("GPU", &cause))?;
        Ok((total - free, total))
    }
}

/// A command's failure: what was tried, and why it failed.
pub(crate) fn failed(what: &str, cause: &dyn std::fmt::Display) -> Error {
    Error::Failed(format!("{what}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("24GiB", Some(24 << 30)),
            ("24 GB", Some(24_000_000_000)),
            ("600MiB", Some(600 << 20)),
            ("4096", Some(4096)),
            ("GiB", None),
            ("-1GB", None),
            ("1.5GB", None),
            ("99999999999GiB", None),
        ] {
            assert_eq!(text.parse::<Size>().ok(), expected.map(Size), "{text}");
        }
    }
}
