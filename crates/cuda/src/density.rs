//! Sums of the bases of ones.

use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use crate::bases::{Bases, BasesPart};
use crate::curve::Curve;
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::ffi::RawOnes;
use crate::slices::Slice;

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

    /// Number of bases in front of the variables'.
    pub(crate) fn first_base(&self) -> u32 {
        self.first_base
    }

    /// Bytes of workspace that a sum over ones needs.
    ///
    /// # Errors
    /// When the device fails.
    pub fn workspace<C: Curve>(&self) -> Result<u64, DeviceError> {
        let (bases, words) = (self.bases() - self.first_base, self.num_words);
        ones_workspace(self.words.all().device(), C::IS_G2, bases, words)
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
        let all = Slice {
            bases: 0..bases.count(),
            terms: 0..0,
            words: 0..self.num_words,
        };
        assert_eq!(
            bases.count(),
            self.bases(),
            "a base for every dense variable"
        );
        let part = bases.part(&all.bases);
        self.sum_ones_on::<C>(bases.device(), part, &all, 0, bits, workspace)
    }

    /// [`Density::sum_ones`] over a slice's words, before which `rank` variables are dense, in another order of work on the
    /// bases' device.
    pub(crate) fn sum_ones_on<C: Curve>(
        &self,
        device: &Device,
        bases: BasesPart<'_>,
        slice: &Slice,
        rank: u32,
        bits: Region<'_>,
        workspace: Region<'_>,
    ) -> Result<C::Point, DeviceError> {
        let Range { start, end } = slice.words;
        assert!(
            bits.bytes() >= 8 * u64::from(self.num_words),
            "a bit for every variable"
        );
        let count = slice.bases.len() as u32;
        assert_eq!(
            bases.region.bytes(),
            u64::from(count) * C::POINT_BYTES as u64,
            "the slice's bases"
        );
        let first_base = if slice.bases.start == 0 {
            self.first_base
        } else {
            0
        };
        let needed = ones_workspace(device, C::IS_G2, count - first_base, end - start)?;
        assert!(
            needed <= workspace.bytes(),
            "{} bytes of workspace, {needed} needed",
            workspace.bytes()
        );
        let part = |region: Region<'_>, bytes: u64| {
            let (first, words) = (u64::from(start), u64::from(end - start));
            region.part(bytes * first, bytes * words).address()
        };
        let raw = RawOnes {
            is_g2: u32::from(C::IS_G2),
            bases_count: count,
            words: end - start,
            first_base,
            first_rank: rank,
            bases: bases.region.address(),
            bits: part(bits, 8).cast(),
            density: part(self.words.all(), 8).cast(),
            ranks: part(self.ranks.all(), 4).cast(),
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

/// Bytes of workspace for a sum over so many bases, chosen by so many words.
pub(crate) fn ones_workspace(
    device: &Device,
    is_g2: bool,
    bases: u32,
    words: u32,
) -> Result<u64, DeviceError> {
    let raw = RawOnes {
        is_g2: u32::from(is_g2),
        bases_count: bases,
        words,
        first_base: 0,
        first_rank: 0,
        bases: ptr::null(),
        bits: ptr::null(),
        density: ptr::null(),
        ranks: ptr::null(),
    };
    let mut bytes = 0;
    device.call(0, |api, device, error| {
        // SAFETY: only the counts are looked at.
        unsafe { (api.ones_bytes)(device, &raw const raw, &raw mut bytes, error) }
    })?;
    Ok(bytes)
}
