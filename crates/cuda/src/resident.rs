//! A circuit and the bases of its queries on a device, and what a proof does with them.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_groth16::field::Isa;
use cuzk_groth16::ntt::Domain;
use cuzk_groth16::quotient::quotient;
use cuzk_groth16::{ParameterFile, ProveError, QuerySums};
use cuzk_r1cs::{Matrix, R1cs, Witness};
use ff::{Field, PrimeField};

use crate::circuit::DeviceCircuit;
use crate::curve::{G1, G2};
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::query::QueryMap;
use crate::quotient::{ELEMENT, Quotient};
use crate::sums::{Bases, Pairing, msm, msm_workspace};

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
    pub fn load(device: &Arc<Device>, params: &ParameterFile, log_domain: u32) -> Result<Self, DeviceError> {
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
}

/// Who finds the quotient.
enum Transform {
    Device(Quotient),
    /// For domains smaller than there are kernels for.
    Host(Domain),
}

/// Where things lie in the scratch memory, in bytes: values, bits, then the domain-sized array that becomes h, then what is
/// b and c first and workspace later.
#[derive(Clone, Copy)]
struct Plan {
    values: u64,
    bits: u64,
    domain: u64,
    rest: u64,
}

/// The scratch memory, cut.
#[derive(Clone, Copy)]
struct Scratch<'a> {
    values: Region<'a>,
    bits: Region<'a>,
    domain: Region<'a>,
    rest: Region<'a>,
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
    pub fn new(device: &Arc<Device>, circuit: Arc<R1cs>, bases: QueryBases) -> Result<Self, ProveError> {
        let mut resident = Self {
            on_device: DeviceCircuit::new(device, &circuit)?,
            transform: Transform::new(device, circuit.log_domain())?,
            l_map: QueryMap::l(device, &circuit)?,
            a_map: QueryMap::a(device, &circuit)?,
            b_map: QueryMap::b(device, &circuit)?,
            plan: Plan { values: 0, bits: 0, domain: 0, rest: 0 },
            device: device.clone(),
            circuit,
            bases,
        };
        assert_eq!(resident.bases.h.count(), 1 << resident.circuit.log_domain(), "bases of H");
        resident.plan = resident.plan()?;
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
    pub fn sums(&self, witness: &Witness, scratch: &DeviceMemory) -> Result<QuerySums, DeviceError> {
        let scratch = self.plan.cut(scratch);
        let Scratch { bits, domain, rest, .. } = scratch;
        let values = self.values(scratch);
        stage("upload", || self.on_device.upload(witness, values, bits))?;
        self.find_quotient(witness, scratch)?;
        let (bases, terms) = (&self.bases, Pairing::straight(self.bases.h.count() - 1));
        Ok(QuerySums {
            h: stage("h", || msm(&bases.h, domain, &terms, None, rest))?,
            l: stage("l", || self.l_map.sum(&bases.l, values, bits, rest))?,
            a: stage("a", || self.a_map.sum(&bases.a, values, bits, rest))?,
            b_g1: stage("b_g1", || self.b_map.sum(&bases.b_g1, values, bits, rest))?,
            b_g2: stage("b_g2", || self.b_map.sum(&bases.b_g2, values, bits, rest))?,
        })
    }

    fn plan(&self) -> Result<Plan, DeviceError> {
        let device = &*self.device;
        let domain = ELEMENT << self.circuit.log_domain();
        let workspaces = [
            msm_workspace::<G1>(device, self.bases.h.count() - 1, None)?,
            self.l_map.workspace::<G1>(device)?,
            self.a_map.workspace::<G1>(device)?,
            self.b_map.workspace::<G1>(device)?,
            self.b_map.workspace::<G2>(device)?,
        ];
        Ok(Plan {
            values: self.values_bytes().next_multiple_of(ALIGNMENT),
            bits: self.on_device.bits_bytes().next_multiple_of(ALIGNMENT),
            domain: domain.next_multiple_of(ALIGNMENT),
            rest: workspaces.into_iter().fold(2 * domain, u64::max),
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
        let [mut a, mut b, mut c] = [(); 3].map(|()| vec![Scalar::ZERO; 1 << log_n]);
        self.circuit.evaluate(Matrix::A, witness, &mut a);
        self.circuit.evaluate(Matrix::B, witness, &mut b);
        quotient(domain, &mut a, &mut b, &mut c);
        let reversed = |i: usize| if log_n == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - log_n) };
        (0..a.len()).map(|i| a[reversed(i)].to_repr()).collect()
    }
}

impl Transform {
    fn new(device: &Arc<Device>, log_n: u32) -> Result<Self, ProveError> {
        let most = *Quotient::LOG_DOMAINS.end();
        let too_large = |_| ProveError::Domain { found: log_n, expected: most };
        if log_n > most {
            return Err(too_large(()));
        }
        if Quotient::LOG_DOMAINS.contains(&log_n) {
            return Ok(Self::Device(Quotient::new(device, log_n)?));
        }
        Ok(Self::Host(Domain::new(Isa::detect(), log_n).map_err(|_| too_large(()))?))
    }
}

impl Plan {
    fn total(self) -> u64 {
        self.values + self.bits + self.domain + self.rest
    }

    fn cut(self, memory: &DeviceMemory) -> Scratch<'_> {
        let domain = self.values + self.bits;
        Scratch {
            values: memory.region(0, self.values),
            bits: memory.region(self.values, self.bits),
            domain: memory.region(domain, self.domain),
            rest: memory.region(domain + self.domain, self.rest),
        }
    }
}

/// Runs a stage in a span of its name, for traces.
fn stage<T>(name: &'static str, run: impl FnOnce() -> T) -> T {
    tracing::debug_span!("stage", name).in_scope(run)
}
