//! What can go wrong with a device.

use std::ffi::CStr;

use crate::ffi::RawError;

/// Why a device did not do its work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The program has no code for such devices.
    #[error("found a build without feature {feature}, expected one with it")]
    NotCompiled {
        /// The cargo feature that would bring it.
        feature: &'static str,
    },
    /// There is no device of that number.
    #[error("found {found} devices, expected one of number {ordinal}")]
    NoDevice {
        /// The number asked for.
        ordinal: u32,
        /// How many there are.
        found: u32,
    },
    /// Device memory, or pinned memory, ran out.
    #[error("out of memory at {file}:{line}: {call}, for {requested} bytes")]
    OutOfMemory {
        /// Bytes that were asked for; 0 when the library asked for its own.
        requested: u64,
        /// What was called.
        call: String,
        /// Where, in the kernels' sources.
        file: String,
        /// The line there.
        line: u32,
    },
    /// Not even streaming all bases would do.
    #[error(
        "found {available} bytes of device memory for a circuit's bases and its proofs, expected {least} or more"
    )]
    NoRoom {
        /// Bytes that there are.
        available: u64,
        /// Bytes that would do.
        least: u64,
    },
    /// A call or a launch failed.
    #[error("CUDA error {code} ({text}) at {file}:{line}: {call}")]
    Cuda {
        /// CUDA's number.
        code: i32,
        /// CUDA's words.
        text: String,
        /// What was called or launched.
        call: String,
        /// Where, in the kernels' sources.
        file: String,
        /// The line there.
        line: u32,
    },
    /// The kernels are not made for this.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// Another process uses the device.
    #[error("device {ordinal} is held by process {holder}")]
    Held {
        /// The device's number.
        ordinal: u32,
        /// What the holder wrote into its lock: its process id, or nothing yet.
        holder: String,
    },
    /// The lock file could not be used.
    #[error("lock file {path}: {reason}")]
    Lock {
        /// Its path.
        path: String,
        /// What failed.
        reason: String,
    },
    /// A parameter file's point is not on its curve.
    #[error("found point {index} of query {query} off the curve")]
    OffCurve {
        /// `h`, `l`, `a`, `b_g1` or `b_g2`.
        query: &'static str,
        /// The point's number there, bit-reversed for `h`.
        index: u32,
    },
    /// The self-test gave another proof than the CPU.
    #[error("self-test of {device}: {reason}")]
    SelfTest {
        /// The device.
        device: String,
        /// What differed, or failed.
        reason: String,
    },
}

impl DeviceError {
    /// Whether the same call may succeed later or elsewhere: memory may come free, and a device that failed may have been
    /// lost. What is wrong with the input stays wrong.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::OutOfMemory { .. } | Self::Cuda { .. } | Self::Held { .. }
        )
    }
}

/// CUDA's `cudaErrorMemoryAllocation`, and ours of api.h.
const OUT_OF_MEMORY: i32 = 2;
const UNSUPPORTED: i32 = -1;
const NO_HOST_MEMORY: i32 = -2;
/// `cudaErrorInsufficientDriver`, `cudaErrorNoDevice`.
pub(crate) const NO_DRIVER: i32 = 35;
pub(crate) const NO_DEVICE: i32 = 100;

impl RawError {
    pub(crate) const fn empty() -> Self {
        Self {
            code: 0,
            line: 0,
            file: [0; 64],
            call: [0; 192],
            text: [0; 128],
        }
    }

    /// The typed error; `requested` is what the call was to allocate.
    pub(crate) fn typed(&self, requested: u64) -> DeviceError {
        let (call, text, file) = (text(&self.call), text(&self.text), text(&self.file));
        let line = self.line.unsigned_abs();
        match self.code {
            OUT_OF_MEMORY | NO_HOST_MEMORY => DeviceError::OutOfMemory {
                requested,
                call,
                file,
                line,
            },
            UNSUPPORTED => DeviceError::Unsupported(text),
            code => DeviceError::Cuda {
                code,
                text,
                call,
                file,
                line,
            },
        }
    }
}

/// A terminated string of the library.
fn text(chars: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|&c| c.cast_unsigned()).collect();
    CStr::from_bytes_until_nul(&bytes).map_or_else(
        |_| String::from_utf8_lossy(&bytes).into_owned(),
        |terminated| terminated.to_string_lossy().into_owned(),
    )
}
