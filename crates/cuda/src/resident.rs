//! A circuit and the bases of its queries on a device, and what a proof does with them.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use blstrs::{G1Projective, G2Projective, Scalar};
use cuzk_groth16::field::Isa;
use cuzk_groth16::ntt::Domain;
use cuzk_groth16::quotient::quotient;
use cuzk_groth16::{HostGrant, ProveError, QuerySums};
use cuzk_r1cs::{Matrix, R1cs, Witness};
use ff::{Field, PrimeField};
use group::Group;

use crate::circuit::DeviceCircuit;
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::maps::{Maps, Query, SliceWork, choose, values_bytes};
use crate::memory_plan::MemoryPlan;
use crate::quotient::{ELEMENT, Quotient};
use crate::stored::{BasesSource, StoredQueries};
use crate::uploads::Uploads;

/// A circuit and its bases on a device, or as much of them as there is room for.
pub struct Resident {
    device: Arc<Device>,
    circuit: Arc<R1cs>,
    on_device: DeviceCircuit,
    transform: Transform,
    bases: StoredQueries,
    maps: Maps,
    plan: MemoryPlan,
    /// The slices of all queries, in the order in which they are summed.
    jobs: Vec<(Query, usize)>,
    /// What streams comes by it.
    lane: Option<Arc<Device>>,
    /// For a small circuit, whose sums are too short to fill the device: orders of work to do them side by side.
    lanes: Option<[Arc<Device>; 4]>,
}

/// Who finds the quotient.
enum Transform {
    Device(Quotient),
    /// For domains smaller than there are kernels for.
    Host(Domain),
}

/// The scratch memory, cut.
#[derive(Clone, Copy)]
struct Scratch<'a> {
    /// Values, for the mat-vecs and for the sums: not the same place where they are brought up twice.
    values: [Region<'a>; 2],
    bits: Region<'a>,
    domain: Region<'a>,
    /// Of b and c.
    arrays: Region<'a>,
    buffers: [Region<'a>; 2],
    workspace: Region<'a>,
    beside: [Region<'a>; 4],
}

impl Resident {
    /// Puts a circuit and its bases on a device, with the plan that suits `available` bytes of memory for bases and scratch
    /// memory, beyond what the circuit itself takes. Bases of a device that stay there count as well. `grant` is asked for the
    /// host's memory that streamed bases take.
    ///
    /// # Errors
    /// When the domain is larger than there are kernels for, no plan fits, host memory for what streams is not granted, memory
    /// runs out, a point is off its curve, or the device fails.
    ///
    /// # Panics
    /// When the numbers of bases are not the circuit's.
    pub fn new(
        device: &Arc<Device>,
        circuit: Arc<R1cs>,
        source: BasesSource<'_>,
        available: impl FnOnce() -> Result<u64, DeviceError>,
        grant: &HostGrant<'_>,
    ) -> Result<Self, ProveError> {
        let on_device = DeviceCircuit::new(device, &circuit)?;
        let transform = Transform::new(device, circuit.log_domain())?;
        let mut maps = Maps::new(device, &circuit)?;
        let shape = maps.shape(&circuit, &on_device);
        let mut plan = choose(device, &shape, available()?)?;
        maps.cut(device, &mut plan)?;
        let streams = plan.streamed.contains(&true);
        if streams {
            grant(plan.streamed_bytes()).map_err(ProveError::HostMemory)?;
        }
        let bases = StoredQueries::new(device, source, circuit.log_domain(), &plan)?;
        maps.check(&bases);
        let side_by_side = plan.beside[0] > 0;
        let lane = streams.then(|| device.another()).transpose()?;
        let lanes = if side_by_side {
            let [l, a, b_g1, b_g2] = [(); 4].map(|()| device.another());
            Some([l?, a?, b_g1?, b_g2?])
        } else {
            None
        };
        Ok(Self {
            jobs: maps.jobs(),
            on_device,
            transform,
            bases,
            maps,
            plan,
            lane,
            lanes,
            device: device.clone(),
            circuit,
        })
    }

    /// The circuit.
    pub fn circuit(&self) -> &Arc<R1cs> {
        &self.circuit
    }

    /// Where its bases are.
    pub fn plan(&self) -> &MemoryPlan {
        &self.plan
    }

    /// Bytes of scratch memory that [`Resident::sums`] works in.
    pub fn scratch_bytes(&self) -> u64 {
        self.plan.scratch_bytes()
    }

    /// The five sums of a proof.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// When the scratch memory is smaller than [`Resident::scratch_bytes`], or the witness is laid out for another circuit.
    pub fn sums(
        &self,
        witness: &Witness,
        scratch: &DeviceMemory,
    ) -> Result<QuerySums, DeviceError> {
        let scratch = self.cut(scratch);
        stage("upload", || {
            let [values, _] = scratch.values;
            self.on_device.upload(witness, values, scratch.bits)?;
            self.device.wait()
        })?;
        match &self.lanes {
            Some(lanes) => self.sums_side_by_side(lanes, witness, scratch),
            None => self.sums_in_turn(witness, scratch),
        }
    }

    fn sums_in_turn(
        &self,
        witness: &Witness,
        scratch: Scratch<'_>,
    ) -> Result<QuerySums, DeviceError> {
        self.find_quotient(witness, scratch)?;
        if self.plan.again > 0 {
            let [_, values] = scratch.values;
            self.on_device.upload(witness, values, scratch.bits)?;
        }
        let mut uploads = self.begin_uploads(scratch)?;
        let [_, values] = scratch.values;
        let mut work = SliceWork {
            device: &self.device,
            values,
            bits: scratch.bits,
            workspace: scratch.workspace,
            uploads: uploads.as_mut(),
        };
        let mut sums = no_sums();
        let (bases, maps) = (&self.bases, &self.maps);
        for &(query, i) in &self.jobs {
            work.values = if query == Query::H {
                scratch.domain
            } else {
                values
            };
            stage(query.name(), || match query {
                Query::H => work.add(&mut sums.h, &bases.h, &maps.h, i),
                Query::L => work.add(&mut sums.l, &bases.l, &maps.l, i),
                Query::A => work.add(&mut sums.a, &bases.a, &maps.a, i),
                Query::BG1 => work.add(&mut sums.b_g1, &bases.b_g1, &maps.b_g1, i),
                Query::BG2 => work.add(&mut sums.b_g2, &bases.b_g2, &maps.b_g2, i),
            })?;
        }
        drop(uploads);
        Ok(sums)
    }

    /// Starts what streams on its way.
    fn begin_uploads<'a>(
        &'a self,
        scratch: Scratch<'a>,
    ) -> Result<Option<Uploads<'a>>, DeviceError> {
        let Some(lane) = &self.lane else {
            return Ok(None);
        };
        let (bases, maps) = (&self.bases, &self.maps);
        let on_host = |&(query, i): &(Query, usize)| match query {
            Query::H => bases.h.on_host(maps.h.bases_of(i)),
            Query::L => bases.l.on_host(maps.l.bases_of(i)),
            Query::A => bases.a.on_host(maps.a.bases_of(i)),
            Query::BG1 => bases.b_g1.on_host(maps.b_g1.bases_of(i)),
            Query::BG2 => bases.b_g2.on_host(maps.b_g2.bases_of(i)),
        };
        let slices = self.jobs.iter().filter_map(on_host).collect();
        Uploads::begin(lane, scratch.buffers, slices).map(Some)
    }

    fn sums_side_by_side(
        &self,
        lanes: &[Arc<Device>; 4],
        witness: &Witness,
        scratch: Scratch<'_>,
    ) -> Result<QuerySums, DeviceError> {
        let (bases, maps) = (&self.bases, &self.maps);
        let [_, values] = scratch.values;
        let on = |device, values, workspace| SliceWork {
            device,
            values,
            bits: scratch.bits,
            workspace,
            uploads: None,
        };
        let on_lane = |i: usize| on(&*lanes[i], values, scratch.beside[i]);
        let [mut on_l, mut on_a, mut on_b_g1, mut on_b_g2] = std::array::from_fn(on_lane);
        let QuerySums {
            mut h,
            mut l,
            mut a,
            mut b_g1,
            mut b_g2,
        } = no_sums();
        std::thread::scope(|scope| {
            let others = [
                scope.spawn(|| on_l.add(&mut l, &bases.l, &maps.l, 0)),
                scope.spawn(|| on_a.add(&mut a, &bases.a, &maps.a, 0)),
                scope.spawn(|| on_b_g1.add(&mut b_g1, &bases.b_g1, &maps.b_g1, 0)),
                scope.spawn(|| on_b_g2.add(&mut b_g2, &bases.b_g2, &maps.b_g2, 0)),
            ];
            let mut on_h = on(&*self.device, scratch.domain, scratch.workspace);
            let on_h = self
                .find_quotient(witness, scratch)
                .and_then(|()| on_h.add(&mut h, &bases.h, &maps.h, 0));
            others.into_iter().map(joined).fold(on_h, Result::and)
        })?;
        Ok(QuerySums {
            h,
            l,
            a,
            b_g1,
            b_g2,
        })
    }

    fn cut<'a>(&self, memory: &'a DeviceMemory) -> Scratch<'a> {
        let plan = &self.plan;
        let mut used = 0;
        let mut take = |bytes| {
            let region = memory.region(used, bytes);
            used += bytes;
            region
        };
        let values_bytes = values_bytes(&self.circuit);
        let apart = take(plan.values);
        let (bits, domain, rest) = (take(plan.bits), take(plan.domain), take(plan.rest));
        let beside = plan.beside.map(take);
        let values = if plan.again > 0 {
            // Over c, which comes when the mat-vecs are done; then at the beginning.
            [plan.domain, 0].map(|offset| rest.part(offset, values_bytes))
        } else {
            [apart.part(0, values_bytes); 2]
        };
        let (again, buffer) = (plan.again, plan.buffer_bytes());
        let buffers = [again, again + buffer].map(|offset| rest.part(offset, buffer));
        let before = again + 2 * buffer;
        Scratch {
            values,
            bits,
            domain,
            arrays: rest,
            buffers,
            workspace: rest.part(before, rest.bytes() - before),
            beside,
        }
    }

    /// The quotient's coefficients to `scratch.domain`, plain and bit-reversed.
    fn find_quotient(&self, witness: &Witness, scratch: Scratch<'_>) -> Result<(), DeviceError> {
        let bytes = ELEMENT << self.circuit.log_domain();
        let a = scratch.domain.part(0, bytes);
        let [b, c] = [0, bytes].map(|offset| scratch.arrays.part(offset, bytes));
        match &self.transform {
            Transform::Device(quotient) => {
                let [values, _] = scratch.values;
                stage("evaluate", || {
                    self.on_device.evaluate(Matrix::A, values, a)?;
                    self.on_device.evaluate(Matrix::B, values, b)?;
                    self.device.wait()
                })?;
                stage("quotient", || {
                    quotient.run(a, b, c)?;
                    self.device.wait()
                })
            }
            Transform::Host(domain) => a.upload(&self.quotient_on_host(domain, witness)),
        }
    }

    fn quotient_on_host(&self, domain: &Domain, witness: &Witness) -> Vec<[u8; 32]> {
        let log_n = self.circuit.log_domain();
        let [mut a, mut b] = [(); 2].map(|()| vec![Scalar::ZERO; 1 << log_n]);
        self.circuit.evaluate(Matrix::A, witness, &mut a);
        self.circuit.evaluate(Matrix::B, witness, &mut b);
        quotient(domain, &mut a, &mut b);
        let reversed = |i: usize| {
            if log_n == 0 {
                0
            } else {
                i.reverse_bits() >> (usize::BITS - log_n)
            }
        };
        (0..a.len()).map(|i| a[reversed(i)].to_repr()).collect()
    }
}

impl Transform {
    fn new(device: &Arc<Device>, log_n: u32) -> Result<Self, ProveError> {
        let most = *Quotient::LOG_DOMAINS.end();
        let too_large = |_| ProveError::Domain {
            found: log_n,
            expected: most,
        };
        if log_n > most {
            return Err(too_large(()));
        }
        if Quotient::LOG_DOMAINS.contains(&log_n) {
            return Ok(Self::Device(Quotient::new(device, log_n)?));
        }
        Ok(Self::Host(
            Domain::new(Isa::detect(), log_n).map_err(|_| too_large(()))?,
        ))
    }
}

fn no_sums() -> QuerySums {
    QuerySums {
        h: G1Projective::identity(),
        l: G1Projective::identity(),
        a: G1Projective::identity(),
        b_g1: G1Projective::identity(),
        b_g2: G2Projective::identity(),
    }
}

/// What a thread came to.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs a stage in a span of its name, for traces.
fn stage<T>(name: &'static str, run: impl FnOnce() -> T) -> T {
    tracing::debug_span!("stage", name).in_scope(run)
}
