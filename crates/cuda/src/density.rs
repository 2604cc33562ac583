//! Sums of the bases of ones.

use std::ptr;
use std::sync::Arc;

use crate::bases::Bases;
use crate::curve::Curve;
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::ffi::RawOnes;

/// Which variables of a circuit have a base: variable `i` if bit `i % 64` of word `i / 64` is set. Their bases lie in their
/// order, from number `first_base` on.
pub struct Density {
    words: DeviceMemory,
    /// Dense variables before each word.
    ranks: DeviceMemory,
    num_words: u32,
    first_base: u32,
    count: u32,
}

impl Density {
    /// A copy of `words`.
    ///
    /// # Errors
    /// When memory runs out or the device fails.
    pub fn new(device: &Arc<Device>, words: &[u64], first_base: u32) -> Result<Self, DeviceError> {
        let mut count = 0;
        let ranks: Vec<u32> = words
            .iter()
            .map(|word| {
                let before = count;
                count += word.count_ones();
                before
            })
            .collect();
        Ok(Self {
            words: device.allocate_copy(words)?,
            ranks: device.allocate_copy(&ranks)?,
            num_words: words.len() as u32,
            first_base,
            count,
        })
    }

    /// Number of bases in front of the variables' and of them.
    pub fn bases(&self) -> u32 {
        self.first_base + self.count
    }

    fn raw<C: Curve>(&self) -> RawOnes {
        RawOnes {
            is_g2: u32::from(C::IS_G2),
            bases_count: self.bases(),
            words: self.num_words,
            first_base: self.first_base,
            bases: ptr::null(),
            bits: ptr::null(),
            density: self.words.all().address().cast(),
            ranks: self.ranks.all().address().cast(),
        }
    }

    /// Bytes of workspace that a sum over ones needs.
    ///
    /// # Errors
    /// When the device fails.
    pub fn workspace<C: Curve>(&self) -> Result<u64, DeviceError> {
        let raw = self.raw::<C>();
        let mut bytes = 0;
        let device = self.words.all().device();
        device.call(0, |api, device, error| {
            // SAFETY: only the counts are looked at.
            unsafe { (api.ones_bytes)(device, &raw const raw, &raw mut bytes, error) }
        })?;
        Ok(bytes)
    }

    /// The sum of the bases of dense variables whose bit is one. `bits`: of all variables, as words of 64.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When there are more or fewer bases than dense variables, fewer bits than variables, or the workspace is smaller
    /// than [`Density::workspace`] says.
    pub fn sum_ones<C: Curve>(
        &self,
        bases: &Bases<C>,
        bits: Region<'_>,
        workspace: Region<'_>,
    ) -> Result<C::Point, DeviceError> {
        self.sum_ones_on(bases.device(), bases, bits, workspace)
    }

    /// [`Density::sum_ones`] in another order of work on the bases' device.
    pub(crate) fn sum_ones_on<C: Curve>(
        &self,
        device: &Device,
        bases: &Bases<C>,
        bits: Region<'_>,
        workspace: Region<'_>,
    ) -> Result<C::Point, DeviceError> {
        assert_eq!(
            bases.count(),
            self.bases(),
            "a base for every dense variable"
        );
        assert!(
            bits.bytes() >= 8 * u64::from(self.num_words),
            "a bit for every variable"
        );
        let needed = self.workspace::<C>()?;
        assert!(
            needed <= workspace.bytes(),
            "{} bytes of workspace, {needed} needed",
            workspace.bytes()
        );
        let raw = RawOnes {
            bases: bases.region().address(),
            bits: bits.address().cast(),
            ..self.raw::<C>()
        };
        let mut sum = C::Jacobian::default();
        // SAFETY: the regions are live and hold what the counts say; the sum has the curve's size.
        device.call(0, |api, handle, error| unsafe {
            (api.ones_run)(
                handle,
                &raw const raw,
                workspace.address(),
                (&raw mut sum).cast(),
                error,
            )
        })?;
        Ok(C::point(sum))
    }
}
