//! Where a query's bases are: on the device, or in the host's memory.

use std::sync::Arc;

use cuzk_groth16::ParameterFile;

use crate::bases::{Bases, BasesPart};
use crate::curve::{Curve, G1, G2};
use crate::device::{Device, Region};
use crate::error::DeviceError;
use crate::host_bases::HostBases;
use crate::memory_plan::MemoryPlan;

/// The five queries' bases. H's are bit-reversed, as the quotient comes, and one at infinity fills them up.
pub struct QueryBases {
    /// `τⁱ·t(τ)/δ`.
    pub h: Bases<G1>,
    /// Of private variables.
    pub l: Bases<G1>,
    /// Of all inputs, and private variables that occur in A.
    pub a: Bases<G1>,
    /// Of inputs and private variables that occur in B.
    pub b_g1: Bases<G1>,
    /// The same in G2.
    pub b_g2: Bases<G2>,
}

impl QueryBases {
    /// From a parameter file.
    ///
    /// # Errors
    /// When memory runs out, the device fails, or a point is off its curve.
    pub fn load(
        device: &Arc<Device>,
        params: &ParameterFile,
        log_domain: u32,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            h: Bases::load(device, "h", params.h().raw(), Some(log_domain))?,
            l: Bases::load(device, "l", params.l().raw(), None)?,
            a: Bases::load(device, "a", params.a().raw(), None)?,
            b_g1: Bases::load(device, "b_g1", params.b_g1().raw(), None)?,
            b_g2: Bases::load(device, "b_g2", params.b_g2().raw(), None)?,
        })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        self.h.bytes() + self.l.bytes() + self.a.bytes() + self.b_g1.bytes() + self.b_g2.bytes()
    }
}

/// The five queries' bases in the host's memory, as [`QueryBases`].
pub struct HostQueries {
    /// Bit-reversed, with one at infinity.
    pub h: Arc<HostBases<G1>>,
    /// Of private variables.
    pub l: Arc<HostBases<G1>>,
    /// Of all inputs, and private variables that occur in A.
    pub a: Arc<HostBases<G1>>,
    /// Of inputs and private variables that occur in B.
    pub b_g1: Arc<HostBases<G1>>,
    /// The same in G2.
    pub b_g2: Arc<HostBases<G2>>,
}

impl HostQueries {
    /// A copy of bases on a device.
    ///
    /// # Errors
    /// When the device fails.
    pub fn copy_of(bases: &QueryBases) -> Result<Self, DeviceError> {
        Ok(Self {
            h: Arc::new(HostBases::copy_of(&bases.h)?),
            l: Arc::new(HostBases::copy_of(&bases.l)?),
            a: Arc::new(HostBases::copy_of(&bases.a)?),
            b_g1: Arc::new(HostBases::copy_of(&bases.b_g1)?),
            b_g2: Arc::new(HostBases::copy_of(&bases.b_g2)?),
        })
    }
}

/// Where bases come from.
pub enum BasesSource<'a> {
    /// A device, on which they stay.
    Device(QueryBases),
    /// The host's memory; what streams is shared.
    Host(&'a HostQueries),
    /// A parameter file; what streams is decoded into the host's memory.
    File(&'a ParameterFile),
}

/// A query's bases.
pub(crate) enum Stored<C> {
    Resident(Bases<C>),
    Streamed(Arc<HostBases<C>>),
}

/// All queries' bases, H, L, A, B in G1 and B in G2.
pub(crate) struct StoredQueries {
    pub(crate) h: Stored<G1>,
    pub(crate) l: Stored<G1>,
    pub(crate) a: Stored<G1>,
    pub(crate) b_g1: Stored<G1>,
    pub(crate) b_g2: Stored<G2>,
}

impl StoredQueries {
    /// Puts the bases where the plan wants them.
    pub(crate) fn new(
        device: &Arc<Device>,
        source: BasesSource<'_>,
        log_domain: u32,
        plan: &MemoryPlan,
    ) -> Result<Self, DeviceError> {
        let [h, l, a, b_g1, b_g2] = plan.streamed;
        Ok(match source {
            BasesSource::Device(bases) => Self {
                h: Stored::of_device(bases.h, h)?,
                l: Stored::of_device(bases.l, l)?,
                a: Stored::of_device(bases.a, a)?,
                b_g1: Stored::of_device(bases.b_g1, b_g1)?,
                b_g2: Stored::of_device(bases.b_g2, b_g2)?,
            },
            BasesSource::Host(bases) => Self {
                h: Stored::of_host(device, &bases.h, h)?,
                l: Stored::of_host(device, &bases.l, l)?,
                a: Stored::of_host(device, &bases.a, a)?,
                b_g1: Stored::of_host(device, &bases.b_g1, b_g1)?,
                b_g2: Stored::of_host(device, &bases.b_g2, b_g2)?,
            },
            BasesSource::File(file) => Self {
                h: Stored::of_file(device, "h", file.h().raw(), Some(log_domain), h)?,
                l: Stored::of_file(device, "l", file.l().raw(), None, l)?,
                a: Stored::of_file(device, "a", file.a().raw(), None, a)?,
                b_g1: Stored::of_file(device, "b_g1", file.b_g1().raw(), None, b_g1)?,
                b_g2: Stored::of_file(device, "b_g2", file.b_g2().raw(), None, b_g2)?,
            },
        })
    }
}

impl<C: Curve> Stored<C> {
    fn of_device(bases: Bases<C>, streamed: bool) -> Result<Self, DeviceError> {
        Ok(match streamed {
            true => Self::Streamed(Arc::new(HostBases::copy_of(&bases)?)),
            false => Self::Resident(bases),
        })
    }

    fn of_host(
        device: &Arc<Device>,
        bases: &Arc<HostBases<C>>,
        streamed: bool,
    ) -> Result<Self, DeviceError> {
        Ok(match streamed {
            true => Self::Streamed(bases.clone()),
            false => Self::Resident(bases.to_device(device)?),
        })
    }

    fn of_file(
        device: &Arc<Device>,
        query: &'static str,
        encoded: &[u8],
        reversed_bits: Option<u32>,
        streamed: bool,
    ) -> Result<Self, DeviceError> {
        Ok(if streamed {
            let bases = HostBases::load(device, query, encoded, reversed_bits)?;
            Self::Streamed(Arc::new(bases))
        } else {
            Self::Resident(Bases::load(device, query, encoded, reversed_bits)?)
        })
    }

    /// Number of bases.
    pub(crate) fn count(&self) -> u32 {
        match self {
            Self::Resident(bases) => bases.count(),
            Self::Streamed(bases) => bases.count(),
        }
    }

    /// Bytes of a range on the host, for what streams.
    pub(crate) fn on_host(&self, bases: &std::ops::Range<u32>) -> Option<&[u8]> {
        match self {
            Self::Resident(_) => None,
            Self::Streamed(host) => Some(host.part(bases)),
        }
    }

    /// A range of the bases on the device; `arrived` says where those lie that came from the host.
    pub(crate) fn on_device<'a>(
        &'a self,
        bases: &std::ops::Range<u32>,
        arrived: impl FnOnce() -> Result<Region<'a>, DeviceError>,
    ) -> Result<BasesPart<'a>, DeviceError> {
        Ok(match self {
            Self::Resident(all) => all.part(bases),
            Self::Streamed(_) => BasesPart {
                region: arrived()?,
                first: bases.start,
            },
        })
    }
}
