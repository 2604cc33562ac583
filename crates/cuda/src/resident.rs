//! A circuit and the bases of its queries on a device, and what a proof does with them.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use blstrs::{G1Projective, Scalar};
use cuzk_groth16::field::Isa;
use cuzk_groth16::ntt::Domain;
use cuzk_groth16::quotient::quotient;
use cuzk_groth16::{ParameterFile, ProveError, QuerySums};
use cuzk_r1cs::{Matrix, R1cs, Witness};
use ff::{Field, PrimeField};

use crate::bases::Bases;
use crate::circuit::DeviceCircuit;
use crate::curve::{G1, G2};
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::query::QueryMap;
use crate::quotient::{ELEMENT, Quotient};
use crate::sums::{Pairing, msm, msm_workspace};

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

/// A circuit and its bases on a device.
pub struct Resident {
    device: Arc<Device>,
    circuit: Arc<R1cs>,
    on_device: DeviceCircuit,
    transform: Transform,
    bases: QueryBases,
    l_map: QueryMap,
    a_map: QueryMap,
    b_map: QueryMap,
    plan: Plan,
    /// For a small circuit, whose sums are too short to fill the device: orders of work to do them side by side.
    lanes: Option<[Arc<Device>; 4]>,
}

/// Who finds the quotient.
enum Transform {
    Device(Quotient),
    /// For domains smaller than there are kernels for.
    Host(Domain),
}

/// Where things lie in the scratch memory, in bytes: values, bits, then the domain-sized array that becomes h, then what is
/// b and c first and workspace of the sums later, and workspaces of sums that are done beside.
#[derive(Clone, Copy, Default)]
struct Plan {
    values: u64,
    bits: u64,
    domain: u64,
    rest: u64,
    /// Of L, A, B in G1 and B in G2; all zero where sums are done one after the other.
    beside: [u64; 4],
}

/// Sums whose workspaces together are no larger than this are done side by side.
const SIDE_BY_SIDE_BYTES: u64 = 8 << 30;

/// The scratch memory, cut.
#[derive(Clone, Copy)]
struct Scratch<'a> {
    values: Region<'a>,
    bits: Region<'a>,
    domain: Region<'a>,
    rest: Region<'a>,
    beside: [Region<'a>; 4],
}

/// Of everything in the scratch memory.
const ALIGNMENT: u64 = 256;

impl Resident {
    /// Puts a circuit beside its bases.
    ///
    /// # Errors
    /// When the domain is larger than there are kernels for, memory runs out, or the device fails.
    ///
    /// # Panics
    /// When the numbers of bases are not the circuit's.
    pub fn new(
        device: &Arc<Device>,
        circuit: Arc<R1cs>,
        bases: QueryBases,
    ) -> Result<Self, ProveError> {
        let mut resident = Self {
            on_device: DeviceCircuit::new(device, &circuit)?,
            transform: Transform::new(device, circuit.log_domain())?,
            l_map: QueryMap::l(device, &circuit)?,
            a_map: QueryMap::a(device, &circuit)?,
            b_map: QueryMap::b(device, &circuit)?,
            plan: Plan::default(),
            lanes: None,
            device: device.clone(),
            circuit,
            bases,
        };
        assert_eq!(
            resident.bases.h.count(),
            1 << resident.circuit.log_domain(),
            "bases of H"
        );
        resident.plan = resident.plan()?;
        if resident.plan.beside[0] > 0 {
            let [l, a, b_g1, b_g2] = [(); 4].map(|()| device.another());
            resident.lanes = Some([l?, a?, b_g1?, b_g2?]);
        }
        Ok(resident)
    }

    /// The circuit.
    pub fn circuit(&self) -> &Arc<R1cs> {
        &self.circuit
    }

    /// Its bases.
    pub fn bases(&self) -> &QueryBases {
        &self.bases
    }

    /// Bytes of scratch memory that [`Resident::sums`] works in.
    pub fn scratch_bytes(&self) -> u64 {
        self.plan.total()
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
        let scratch = self.plan.cut(scratch);
        let values = self.values(scratch);
        stage("upload", || {
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
        let (device, bases) = (&*self.device, &self.bases);
        let (values, Scratch { bits, rest, .. }) = (self.values(scratch), scratch);
        self.find_quotient(witness, scratch)?;
        Ok(QuerySums {
            h: self.h_sum(scratch)?,
            l: stage("l", || self.l_map.sum(device, &bases.l, values, bits, rest))?,
            a: stage("a", || self.a_map.sum(device, &bases.a, values, bits, rest))?,
            b_g1: stage("b_g1", || {
                self.b_map.sum(device, &bases.b_g1, values, bits, rest)
            })?,
            b_g2: stage("b_g2", || {
                self.b_map.sum(device, &bases.b_g2, values, bits, rest)
            })?,
        })
    }

    fn sums_side_by_side(
        &self,
        lanes: &[Arc<Device>; 4],
        witness: &Witness,
        scratch: Scratch<'_>,
    ) -> Result<QuerySums, DeviceError> {
        let [to_l, to_a, to_b_g1, to_b_g2] = scratch.beside;
        let [on_l, on_a, on_b_g1, on_b_g2] = lanes;
        let (bases, values, bits) = (&self.bases, self.values(scratch), scratch.bits);
        std::thread::scope(|scope| {
            let l = scope.spawn(|| self.l_map.sum(on_l, &bases.l, values, bits, to_l));
            let a = scope.spawn(|| self.a_map.sum(on_a, &bases.a, values, bits, to_a));
            let b_g1 = scope.spawn(|| self.b_map.sum(on_b_g1, &bases.b_g1, values, bits, to_b_g1));
            let b_g2 = scope.spawn(|| self.b_map.sum(on_b_g2, &bases.b_g2, values, bits, to_b_g2));
            let h = self
                .find_quotient(witness, scratch)
                .and_then(|()| self.h_sum(scratch));
            Ok(QuerySums {
                h: h?,
                l: joined(l)?,
                a: joined(a)?,
                b_g1: joined(b_g1)?,
                b_g2: joined(b_g2)?,
            })
        })
    }

    fn h_sum(&self, scratch: Scratch<'_>) -> Result<G1Projective, DeviceError> {
        let terms = Pairing::straight(self.bases.h.count() - 1);
        stage("h", || {
            msm(&self.bases.h, scratch.domain, &terms, None, scratch.rest)
        })
    }

    fn plan(&self) -> Result<Plan, DeviceError> {
        let device = &*self.device;
        let domain = ELEMENT << self.circuit.log_domain();
        let h = msm_workspace::<G1>(device, self.bases.h.count() - 1, None)?;
        let others = [
            self.l_map.workspace::<G1>(device)?,
            self.a_map.workspace::<G1>(device)?,
            self.b_map.workspace::<G1>(device)?,
            self.b_map.workspace::<G2>(device)?,
        ]
        .map(|bytes| bytes.next_multiple_of(ALIGNMENT));
        let side_by_side = h + others.iter().sum::<u64>() <= SIDE_BY_SIDE_BYTES;
        let in_turn = if side_by_side {
            0
        } else {
            others.into_iter().fold(0, u64::max)
        };
        Ok(Plan {
            values: self.values_bytes().next_multiple_of(ALIGNMENT),
            bits: self.on_device.bits_bytes().next_multiple_of(ALIGNMENT),
            domain: domain.next_multiple_of(ALIGNMENT),
            rest: h.max(2 * domain).max(in_turn).next_multiple_of(ALIGNMENT),
            beside: if side_by_side { others } else { [0; 4] },
        })
    }

    fn values_bytes(&self) -> u64 {
        let layout = self.circuit.layout();
        ELEMENT * (layout.num_inputs() + layout.num_wide()) as u64
    }

    fn values<'a>(&self, scratch: Scratch<'a>) -> Region<'a> {
        scratch.values.part(0, self.values_bytes())
    }

    /// The quotient's coefficients to `scratch.domain`, plain and bit-reversed.
    fn find_quotient(&self, witness: &Witness, scratch: Scratch<'_>) -> Result<(), DeviceError> {
        let bytes = ELEMENT << self.circuit.log_domain();
        let a = scratch.domain.part(0, bytes);
        let [b, c] = [0, bytes].map(|offset| scratch.rest.part(offset, bytes));
        match &self.transform {
            Transform::Device(quotient) => {
                let values = self.values(scratch);
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

impl Plan {
    fn total(self) -> u64 {
        self.values + self.bits + self.domain + self.rest + self.beside.iter().sum::<u64>()
    }

    fn cut(self, memory: &DeviceMemory) -> Scratch<'_> {
        let mut used = 0;
        let mut take = |bytes| {
            let region = memory.region(used, bytes);
            used += bytes;
            region
        };
        Scratch {
            values: take(self.values),
            bits: take(self.bits),
            domain: take(self.domain),
            rest: take(self.rest),
            beside: self.beside.map(take),
        }
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
