//! Slices of bases on their way to the device: while one is summed, the next arrives.

use crate::device::{Device, Region};
use crate::error::DeviceError;

/// Uploads in turn to two buffers, in an order of work of their own.
pub(crate) struct Uploads<'a> {
    lane: &'a Device,
    buffers: [Region<'a>; 2],
    slices: Vec<&'a [u8]>,
    begun: usize,
}

impl<'a> Uploads<'a> {
    /// Begins the first. The slices must fit the buffers.
    pub(crate) fn begin(
        lane: &'a Device,
        buffers: [Region<'a>; 2],
        slices: Vec<&'a [u8]>,
    ) -> Result<Self, DeviceError> {
        let mut uploads = Self {
            lane,
            buffers,
            slices,
            begun: 0,
        };
        uploads.begin_next()?;
        Ok(uploads)
    }

    /// Waits for the next slice, and begins the one after it: whatever was done with the slice before must be done.
    pub(crate) fn next(&mut self) -> Result<Region<'a>, DeviceError> {
        let at = self.begun - 1;
        self.lane.wait()?;
        self.begin_next()?;
        Ok(self.buffers[at % 2].part(0, self.slices[at].len() as u64))
    }

    fn begin_next(&mut self) -> Result<(), DeviceError> {
        if let Some(slice) = self.slices.get(self.begun) {
            // SAFETY: both sides outlive `self`, whose end waits, and nobody uses the buffer until `next` returns it.
            unsafe {
                self.lane
                    .enqueue_upload(self.buffers[self.begun % 2], slice)?;
            }
        }
        self.begun += 1;
        Ok(())
    }
}

impl Drop for Uploads<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.lane.wait() {
            tracing::warn!(%error, "an upload that nobody waited for failed");
        }
    }
}
