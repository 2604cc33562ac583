//! Points that wait in the host's memory, in the form that a device uses them in.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use rayon::prelude::*;

use crate::bases::Bases;
use crate::curve::Curve;
use crate::device::Device;
use crate::error::DeviceError;

/// Memory of the host that a device copies from at full speed.
pub struct PinnedMemory {
    device: Arc<Device>,
    address: NonNull<u8>,
    bytes: usize,
    pinned: bool,
}

// SAFETY: plain memory that this owns.
unsafe impl Send for PinnedMemory {}
// SAFETY: it is only written through an exclusive borrow.
unsafe impl Sync for PinnedMemory {}

/// Of a huge page.
const PAGE: usize = 2 << 20;

impl PinnedMemory {
    /// So many bytes, all zero. Where the system pins no more memory it is taken unpinned, and copies are slower.
    pub fn new(device: &Arc<Device>, bytes: usize) -> Self {
        let layout = Self::layout(bytes);
        // SAFETY: the layout's size is not zero.
        let address = NonNull::new(unsafe { alloc(layout) });
        let address = address.unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: the allocation's own whole pages; the advice changes no content.
        let advised = unsafe {
            let advice = rustix::mm::Advice::LinuxHugepage;
            rustix::mm::madvise(address.as_ptr().cast(), layout.size(), advice)
        };
        if let Err(error) = advised {
            tracing::debug!(%error, "no huge pages");
        }
        // SAFETY: the whole allocation, of which nothing is read before it was written.
        let pages: &mut [MaybeUninit<u8>] =
            unsafe { std::slice::from_raw_parts_mut(address.as_ptr().cast(), layout.size()) };
        pages
            .par_chunks_mut(PAGE)
            .for_each(|page| page.fill(MaybeUninit::new(0)));
        let pinned = device.pin(address, layout.size());
        if let Err(error) = &pinned {
            tracing::warn!(%error, bytes, "host memory stays unpinned: copies from it are slower");
        }
        Self {
            device: device.clone(),
            address,
            bytes,
            pinned: pinned.is_ok(),
        }
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes.max(1).next_multiple_of(PAGE), PAGE)
            .expect("a size that fits the address space")
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: all of them were written by `new`.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.bytes) }
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        if self.pinned {
            self.device.unpin(self.address);
        }
        // SAFETY: allocated by `new` with this layout.
        unsafe { dealloc(self.address.as_ptr(), Self::layout(self.bytes)) }
    }
}

/// Bases in the host's memory.
pub struct HostBases<C> {
    memory: PinnedMemory,
    count: u32,
    curve: PhantomData<C>,
}

/// Encoded bytes that are decoded at a time.
const CHUNK_BYTES: usize = 64 << 20;

impl<C: Curve> HostBases<C> {
    /// A copy of bases on a device.
    ///
    /// # Errors
    /// When the device fails.
    pub fn copy_of(bases: &Bases<C>) -> Result<Self, DeviceError> {
        let mut memory = PinnedMemory::new(bases.device(), bases.bytes() as usize);
        bases.region().download(memory.bytes_mut())?;
        Ok(Self {
            memory,
            count: bases.count(),
            curve: PhantomData,
        })
    }

    /// From a query of a parameter file, as [`Bases::load`]; the device decodes and checks the points.
    ///
    /// # Errors
    /// When the device fails, or a point is off its curve.
    pub fn load(
        device: &Arc<Device>,
        query: &'static str,
        encoded: &[u8],
        reversed_bits: Option<u32>,
    ) -> Result<Self, DeviceError> {
        let points = encoded.len() / C::POINT_BYTES;
        let places = reversed_bits.map_or(points, |bits| 1 << bits);
        let count = u32::try_from(places)
            .map_err(|_| DeviceError::Unsupported(format!("{places} bases")))?;
        let mut memory = PinnedMemory::new(device, places * C::POINT_BYTES);
        let chunk_points = CHUNK_BYTES / C::POINT_BYTES;
        let mut decoded = vec![0; (chunk_points.min(points)) * C::POINT_BYTES];
        for (i, chunk) in encoded.chunks(chunk_points * C::POINT_BYTES).enumerate() {
            let first = i * chunk_points;
            let bases =
                Bases::<C>::load(device, query, chunk, None).map_err(|error| match error {
                    DeviceError::OffCurve { query, index } => DeviceError::OffCurve {
                        query,
                        index: index + first as u32,
                    },
                    other => other,
                })?;
            let decoded = &mut decoded[..chunk.len()];
            bases.region().download(decoded)?;
            match reversed_bits {
                None => memory.bytes_mut()[first * C::POINT_BYTES..][..decoded.len()]
                    .copy_from_slice(decoded),
                Some(bits) => scatter::<C>(memory.bytes_mut(), decoded, first, bits),
            }
        }
        Ok(Self {
            memory,
            count,
            curve: PhantomData,
        })
    }

    /// A copy on a device.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn to_device(&self, device: &Arc<Device>) -> Result<Bases<C>, DeviceError> {
        let bases = Bases::uninitialized(device, self.count)?;
        // SAFETY: pinned memory of ours, which stays until the copy was waited for.
        unsafe { device.enqueue_upload(bases.region(), self.memory.bytes())? };
        device.wait()?;
        Ok(bases)
    }

    /// Number of points.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Points of a range, as they lie on a device.
    pub fn part(&self, points: &Range<u32>) -> &[u8] {
        let byte = |point: u32| point as usize * C::POINT_BYTES;
        &self.memory.bytes()[byte(points.start)..byte(points.end)]
    }
}

/// Point `first + i` to the place whose number is that with its bits reversed.
fn scatter<C: Curve>(to: &mut [u8], from: &[u8], first: usize, bits: u32) {
    for (i, point) in from.chunks_exact(C::POINT_BYTES).enumerate() {
        let place = match bits {
            0 => 0,
            _ => (first + i).reverse_bits() >> (usize::BITS - bits),
        };
        to[place * C::POINT_BYTES..][..C::POINT_BYTES].copy_from_slice(point);
    }
}
