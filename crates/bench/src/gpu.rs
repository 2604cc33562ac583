//! The GPU that a command works on directly, without a daemon.

use std::sync::Arc;

use cuzk_cuda::{CudaBackend, Device, DeviceIdentity, DeviceLock, Platform};

use crate::error::Error;

#[derive(clap::Args, Clone, Debug)]
pub(crate) struct GpuArgs {
    /// The GPU's number.
    #[arg(long, default_value_t = 0)]
    device: u32,

    /// The CPU in a GPU's place, running the same kernels: to try the command itself. Needs feature `emulate`.
    #[arg(long, hide = true)]
    emulated: bool,
}

/// An open device, which no other process of ours uses.
pub(crate) struct Gpu {
    pub(crate) device: Arc<Device>,
    pub(crate) backend: CudaBackend,
    _lock: DeviceLock,
}

impl GpuArgs {
    pub(crate) fn open(&self) -> Result<Gpu, Error> {
        let platform = if self.emulated {
            Platform::Emulated
        } else {
            Platform::Cuda
        };
        let open = || {
            let device = Device::open(platform, self.device)?;
            let backend = CudaBackend::new(device.clone())?;
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
