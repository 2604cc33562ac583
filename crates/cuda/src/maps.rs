//! The five queries of a circuit: how bases meet witnesses, in slices.

use std::ops::AddAssign;
use std::sync::Arc;

use cuzk_groth16::ProveError;
use cuzk_r1cs::R1cs;

use crate::circuit::DeviceCircuit;
use crate::curve::{Curve, G1, G2};
use crate::device::{Device, Region};
use crate::error::DeviceError;
use crate::memory_plan::{ALIGNMENT, CircuitShape, MemoryPlan, NoRoom};
use crate::query::{QueryMap, sum_workspace};
use crate::quotient::ELEMENT;
use crate::stored::{Stored, StoredQueries};
use crate::uploads::Uploads;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    H,
    L,
    A,
    BG1,
    BG2,
}

impl Query {
    /// For traces.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::H => "h",
            Self::L => "l",
            Self::A => "a",
            Self::BG1 => "b_g1",
            Self::BG2 => "b_g2",
        }
    }
}

/// How the queries' bases meet a witness. Both B queries have the same variables, but not slices of the same size.
pub(crate) struct Maps {
    pub(crate) h: QueryMap,
    pub(crate) l: QueryMap,
    pub(crate) a: QueryMap,
    pub(crate) b_g1: QueryMap,
    pub(crate) b_g2: QueryMap,
}

impl Maps {
    pub(crate) fn new(device: &Arc<Device>, circuit: &R1cs) -> Result<Self, DeviceError> {
        let b = QueryMap::b(device, circuit)?;
        Ok(Self {
            h: QueryMap::h(circuit),
            l: QueryMap::l(device, circuit)?,
            a: QueryMap::a(device, circuit)?,
            b_g1: b.clone(),
            b_g2: b,
        })
    }

    /// What a plan is made for.
    pub(crate) fn shape(&self, circuit: &R1cs, on_device: &DeviceCircuit) -> CircuitShape {
        CircuitShape {
            log_domain: circuit.log_domain(),
            values_bytes: values_bytes(circuit),
            bits_bytes: on_device.bits_bytes(),
            queries: [
                self.h.shape::<G1>(),
                self.l.shape::<G1>(),
                self.a.shape::<G1>(),
                self.b_g1.shape::<G1>(),
                self.b_g2.shape::<G2>(),
            ],
        }
    }

    /// Cuts the queries as the plan says. Where a part needs more workspace than the plan foresaw, which took all for full,
    /// the plan follows.
    pub(crate) fn cut(
        &mut self,
        device: &Device,
        plan: &mut MemoryPlan,
    ) -> Result<(), DeviceError> {
        let most = plan.slice_points;
        for map in [&mut self.h, &mut self.l, &mut self.a, &mut self.b_g1] {
            map.cut(most);
        }
        self.b_g2.cut(most / 2);
        let spaces = [
            self.h.workspace::<G1>(device)?,
            self.l.workspace::<G1>(device)?,
            self.a.workspace::<G1>(device)?,
            self.b_g1.workspace::<G1>(device)?,
            self.b_g2.workspace::<G2>(device)?,
        ];
        plan.make_room(spaces.map(|bytes| bytes.next_multiple_of(ALIGNMENT)));
        Ok(())
    }

    /// # Panics
    /// When the numbers of bases are not the circuit's.
    pub(crate) fn check(&self, bases: &StoredQueries) {
        let pairs = [
            ("H", self.h.num_bases(), bases.h.count()),
            ("L", self.l.num_bases(), bases.l.count()),
            ("A", self.a.num_bases(), bases.a.count()),
            ("B in G1", self.b_g1.num_bases(), bases.b_g1.count()),
            ("B in G2", self.b_g2.num_bases(), bases.b_g2.count()),
        ];
        for (name, expected, found) in pairs {
            assert_eq!(found, expected, "bases of {name}");
        }
    }

    /// All slices, those of the queries mixed evenly: while H, which takes long to sum, is worked on, others arrive.
    pub(crate) fn jobs(&self) -> Vec<(Query, usize)> {
        let queries = [
            (Query::H, &self.h),
            (Query::L, &self.l),
            (Query::A, &self.a),
            (Query::BG1, &self.b_g1),
            (Query::BG2, &self.b_g2),
        ];
        let mut jobs = Vec::new();
        for (query, map) in queries {
            let slices = map.num_slices();
            jobs.extend((0..slices).map(|i| ((2 * i + 1) as f64 / slices as f64, query, i)));
        }
        jobs.sort_by(|a, b| a.0.total_cmp(&b.0));
        jobs.into_iter().map(|(_, query, i)| (query, i)).collect()
    }
}

pub(crate) fn values_bytes(circuit: &R1cs) -> u64 {
    let layout = circuit.layout();
    ELEMENT * (layout.num_inputs() + layout.num_wide()) as u64
}

/// The best plan within `available` bytes.
pub(crate) fn choose(
    device: &Device,
    shape: &CircuitShape,
    available: u64,
) -> Result<MemoryPlan, ProveError> {
    let mut failure = None;
    let plan = MemoryPlan::choose(shape, available, &mut |part| {
        sum_workspace(device, part).unwrap_or_else(|error| {
            failure = Some(error);
            0
        })
    });
    match (failure, plan) {
        (Some(error), _) => Err(error.into()),
        (None, Ok(plan)) => Ok(plan),
        (None, Err(NoRoom { available, least })) => {
            Err(DeviceError::NoRoom { available, least }.into())
        }
    }
}

/// What a slice is summed with.
pub(crate) struct SliceWork<'w, 'a> {
    pub(crate) device: &'w Device,
    pub(crate) values: Region<'a>,
    pub(crate) bits: Region<'a>,
    pub(crate) workspace: Region<'a>,
    pub(crate) uploads: Option<&'w mut Uploads<'a>>,
}

impl<'a> SliceWork<'_, 'a> {
    /// Adds a slice's sum.
    pub(crate) fn add<C: Curve>(
        &mut self,
        sum: &mut C::Point,
        bases: &'a Stored<C>,
        map: &QueryMap,
        slice: usize,
    ) -> Result<(), DeviceError>
    where
        C::Point: AddAssign,
    {
        let uploads = &mut self.uploads;
        let part = bases.on_device(map.bases_of(slice), || {
            let uploads = uploads.as_mut();
            uploads.expect("what streams is on its way").next()
        })?;
        *sum += map.sum::<C>(
            self.device,
            slice,
            part,
            self.values,
            self.bits,
            self.workspace,
        )?;
        Ok(())
    }
}
