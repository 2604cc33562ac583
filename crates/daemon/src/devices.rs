//! The devices that the configuration asks for: GPUs by explicit ordinal, and the CPU for what they fail on.

use std::sync::Arc;

use cuzk_cuda::{CudaBackend, DeviceError, DeviceLock, Platform, Telemetry};
use cuzk_engine::{BackendDevice, Device};

use crate::config::{DeviceMemory, Devices};

/// Why a device cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DevicesError {
    /// A configured ordinal is not there.
    #[error("gpus.devices: found ordinal {found}, expected one below {count}, the number of GPUs")]
    NoSuchDevice { found: u32, count: u32 },
    /// There is no GPU at all, or no code for one in this program.
    #[error(
        "gpus.devices: found ordinals {found:?}, expected [] or [0]: this program sees no GPU and can only use the CPU"
    )]
    NoGpu { found: Vec<u32> },
    /// The device's.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Open devices, in the order of their ordinals in the service, and the locks that are held on them.
pub(crate) struct OpenDevices {
    pub(crate) devices: Vec<Arc<dyn Device>>,
    pub(crate) locks: Vec<DeviceLock>,
}

/// Opens what is wanted. Without any GPU the CPU proves, and the log says so.
pub(crate) fn open(wanted: &Devices, memory: &DeviceMemory) -> Result<OpenDevices, DevicesError> {
    let count = Platform::Cuda.device_count()?;
    let ordinals = match wanted {
        Devices::All => (0..count).collect(),
        Devices::Only(ordinals) => ordinals.clone(),
    };
    if count == 0 {
        if ordinals.iter().any(|&ordinal| ordinal != 0) {
            return Err(DevicesError::NoGpu { found: ordinals });
        }
        tracing::warn!("there is no GPU: proofs are made on the CPU");
        return Ok(OpenDevices {
            devices: vec![Arc::new(BackendDevice::cpu())],
            locks: Vec::new(),
        });
    }
    let mut open = OpenDevices {
        devices: Vec::new(),
        locks: Vec::new(),
    };
    for (place, ordinal) in ordinals.into_iter().enumerate() {
        if ordinal >= count {
            let found = ordinal;
            return Err(DevicesError::NoSuchDevice { found, count });
        }
        open.add_gpu(ordinal, memory.cap(place))?;
    }
    open.devices
        .push(Arc::new(BackendDevice::cpu().as_fallback()));
    Ok(open)
}

impl OpenDevices {
    fn add_gpu(&mut self, ordinal: u32, memory_cap: Option<u64>) -> Result<(), DevicesError> {
        let device = cuzk_cuda::Device::open(Platform::Cuda, ordinal)?;
        let backend = CudaBackend::with_memory_cap(device, memory_cap)?;
        let identity = backend.identity().clone();
        self.locks.push(DeviceLock::take_in_common(&identity)?);
        // The management library answers while the device computes; asking the device would wait for it.
        let probe = move || {
            let memory = Telemetry::of(&identity);
            memory.map_or((0, 0), |m| {
                (m.total_bytes, m.total_bytes.saturating_sub(m.used_bytes))
            })
        };
        let device = BackendDevice::new(backend, Box::new(probe));
        self.devices.push(Arc::new(device));
        Ok(())
    }
}
