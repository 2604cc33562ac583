//! What the driver's management library (NVML, found at run time) knows of a device.

use std::fmt;

use crate::identity::DeviceIdentity;

/// A device as the management library sees it, other processes' use included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// Product name.
    pub name: String,
    /// Unique and lasting.
    pub uuid: String,
    /// Version of the driver.
    pub driver: String,
    /// Bytes of memory in use, by whomever.
    pub used_bytes: u64,
    /// Bytes of memory in all.
    pub total_bytes: u64,
}

/// Why the management library said nothing: it is absent, or the device is not one of its.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("device management library: {reason}")]
pub struct TelemetryError {
    reason: String,
}

impl TelemetryError {
    fn new(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }
}

impl Telemetry {
    /// Asks for the device at that bus address.
    ///
    /// # Errors
    /// When there is no such library, or it fails.
    #[cfg(feature = "nvml")]
    pub fn of(device: &DeviceIdentity) -> Result<Self, TelemetryError> {
        let nvml = nvml_wrapper::Nvml::init().map_err(TelemetryError::new)?;
        let found = nvml
            .device_by_pci_bus_id(device.bus_id.as_str())
            .map_err(TelemetryError::new)?;
        let memory = found.memory_info().map_err(TelemetryError::new)?;
        Ok(Self {
            name: found.name().map_err(TelemetryError::new)?,
            uuid: found.uuid().map_err(TelemetryError::new)?,
            driver: nvml.sys_driver_version().map_err(TelemetryError::new)?,
            used_bytes: memory.used,
            total_bytes: memory.total,
        })
    }

    /// Asks for the device at that bus address.
    ///
    /// # Errors
    /// Always: the program was built without feature `nvml`.
    #[cfg(not(feature = "nvml"))]
    pub fn of(device: &DeviceIdentity) -> Result<Self, TelemetryError> {
        Err(TelemetryError::new(format_args!(
            "not compiled in, asked for {device}"
        )))
    }
}
