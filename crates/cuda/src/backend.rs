//! Proofs on a device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blstrs::Scalar;
use cuzk_groth16::field::Isa;
use cuzk_groth16::ntt::Domain;
use cuzk_groth16::quotient::quotient;
use cuzk_groth16::{Backend, Blinding, ParameterFile, Proof, ProveError, QuerySums, assemble};
use cuzk_r1cs::{Matrix, R1cs, Witness};
use ff::{Field, PrimeField};

use crate::circuit::DeviceCircuit;
use crate::curve::{G1, G2};
use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::identity::DeviceIdentity;
use crate::query::QueryMap;
use crate::quotient::{ELEMENT, Quotient};
use crate::sums::{Bases, Pairing, msm, msm_workspace};

impl From<DeviceError> for ProveError {
    fn from(error: DeviceError) -> Self {
        Self::Device(Box::new(error))
    }
}

/// Proves on one device. Keys are resident; a proof sends the witness up and gets five points down, and allocates
/// nothing. Proofs take turns.
pub struct CudaBackend {
    device: Arc<Device>,
    identity: DeviceIdentity,
    /// What every proof works in, as large as the largest key's needs. Whoever holds the lock is proving.
    scratch: Mutex<Option<DeviceMemory>>,
}

/// A circuit and its parameters on a device.
pub struct CudaKey {
    circuit: Arc<R1cs>,
    params: Arc<ParameterFile>,
    on_device: DeviceCircuit,
    transform: Transform,
    h: Bases<G1>,
    l: Bases<G1>,
    a: Bases<G1>,
    b_g1: Bases<G1>,
    b_g2: Bases<G2>,
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

impl Plan {
    fn total(self) -> u64 {
        self.values + self.bits + self.domain + self.rest
    }
}

/// The scratch memory, cut.
#[derive(Clone, Copy)]
struct Scratch<'a> {
    values: Region<'a>,
    bits: Region<'a>,
    domain: Region<'a>,
    rest: Region<'a>,
}

impl CudaBackend {
    /// A backend on an open device.
    ///
    /// # Errors
    /// When the device does not say what it is.
    pub fn new(device: Arc<Device>) -> Result<Self, DeviceError> {
        let identity = DeviceIdentity::of(&device)?;
        Ok(Self { device, identity, scratch: Mutex::new(None) })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What it is.
    pub fn identity(&self) -> &DeviceIdentity {
        &self.identity
    }

    fn lock_scratch(&self) -> MutexGuard<'_, Option<DeviceMemory>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the scratch memory as large as a key needs, when no proof is under way.
    fn reserve(&self, bytes: u64) -> Result<(), DeviceError> {
        let mut scratch = self.lock_scratch();
        if scratch.as_ref().is_none_or(|memory| memory.bytes() < bytes) {
            // The old one first: there may not be room for both.
            let before = scratch.take().map_or(0, |memory| memory.bytes());
            match self.device.allocate(bytes) {
                Ok(memory) => *scratch = Some(memory),
                Err(error) => {
                    *scratch = Some(self.device.allocate(before)?);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn query_sums(&self, key: &CudaKey, witness: &Witness, scratch: Scratch<'_>) -> Result<QuerySums, DeviceError> {
        let Scratch { values, bits, domain, rest } = scratch;
        stage("upload", || key.on_device.upload(witness, values, bits))?;
        key.find_quotient(witness, scratch)?;
        let terms = Pairing::straight(key.h.count() - 1);
        let h = stage("h", || msm(&key.h, domain, &terms, None, rest))?;
        let l = stage("l", || key.l_map.sum(&key.l, values, bits, rest))?;
        let a = stage("a", || key.a_map.sum(&key.a, values, bits, rest))?;
        let b_g1 = stage("b_g1", || key.b_map.sum(&key.b_g1, values, bits, rest))?;
        let b_g2 = stage("b_g2", || key.b_map.sum(&key.b_g2, values, bits, rest))?;
        Ok(QuerySums { h, l, a, b_g1, b_g2 })
    }
}

impl Backend for CudaBackend {
    type Key = CudaKey;

    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn load(&self, circuit: Arc<R1cs>, params: Arc<ParameterFile>) -> Result<CudaKey, ProveError> {
        params.check_circuit(&circuit)?;
        let key = CudaKey::new(&self.device, circuit, params)?;
        self.reserve(key.plan.total())?;
        Ok(key)
    }

    fn prove(&self, key: &CudaKey, witness: &Witness, blinding: &Blinding) -> Result<Proof, ProveError> {
        key.check_layout(witness)?;
        let memory = self.lock_scratch();
        let Some(memory) = memory.as_ref() else {
            return Err(DeviceError::Unsupported("a key that another backend loaded".into()).into());
        };
        let sums = self.query_sums(key, witness, key.plan.cut(memory))?;
        assemble(key.params.vk(), &sums, blinding)
    }
}

impl CudaKey {
    fn new(device: &Arc<Device>, circuit: Arc<R1cs>, params: Arc<ParameterFile>) -> Result<Self, ProveError> {
        let log_n = circuit.log_domain();
        if log_n > *Quotient::LOG_DOMAINS.end() {
            return Err(ProveError::Domain { found: log_n, expected: *Quotient::LOG_DOMAINS.end() });
        }
        let transform = if Quotient::LOG_DOMAINS.contains(&log_n) {
            Transform::Device(Quotient::new(device, log_n)?)
        } else {
            let domain = Domain::new(Isa::detect(), log_n);
            Transform::Host(domain.map_err(|_| ProveError::Domain { found: log_n, expected: 27 })?)
        };
        let mut key = Self {
            on_device: DeviceCircuit::new(device, &circuit)?,
            transform,
            h: Bases::load(device, "h", params.h().raw(), Some(log_n))?,
            l: Bases::load(device, "l", params.l().raw(), None)?,
            a: Bases::load(device, "a", params.a().raw(), None)?,
            b_g1: Bases::load(device, "b_g1", params.b_g1().raw(), None)?,
            b_g2: Bases::load(device, "b_g2", params.b_g2().raw(), None)?,
            l_map: QueryMap::l(device, &circuit)?,
            a_map: QueryMap::a(device, &circuit)?,
            b_map: QueryMap::b(device, &circuit)?,
            plan: Plan { values: 0, bits: 0, domain: 0, rest: 0 },
            circuit,
            params,
        };
        key.plan = key.plan(device)?;
        Ok(key)
    }

    fn plan(&self, device: &Device) -> Result<Plan, DeviceError> {
        let layout = self.circuit.layout();
        let domain = ELEMENT << self.circuit.log_domain();
        let workspaces = [
            msm_workspace::<G1>(device, self.h.count() - 1, None)?,
            self.l_map.workspace::<G1>(device)?,
            self.a_map.workspace::<G1>(device)?,
            self.b_map.workspace::<G1>(device)?,
            self.b_map.workspace::<G2>(device)?,
        ];
        Ok(Plan {
            values: (ELEMENT * (layout.num_inputs() + layout.num_wide()) as u64).next_multiple_of(ALIGNMENT),
            bits: self.on_device.bits_bytes().next_multiple_of(ALIGNMENT),
            domain: domain.next_multiple_of(ALIGNMENT),
            rest: workspaces.into_iter().fold(2 * domain, u64::max),
        })
    }

    /// The circuit.
    pub fn circuit(&self) -> &Arc<R1cs> {
        &self.circuit
    }

    /// Bytes on the device that the bases take.
    pub fn bases_bytes(&self) -> u64 {
        self.h.bytes() + self.l.bytes() + self.a.bytes() + self.b_g1.bytes() + self.b_g2.bytes()
    }

    /// Bytes of scratch memory that its proofs work in.
    pub fn scratch_bytes(&self) -> u64 {
        self.plan.total()
    }

    /// The quotient's coefficients to `scratch.domain`, plain and bit-reversed.
    fn find_quotient(&self, witness: &Witness, scratch: Scratch<'_>) -> Result<(), DeviceError> {
        let bytes = ELEMENT << self.circuit.log_domain();
        let (a, b, c) = (scratch.domain, scratch.rest.part(0, bytes), scratch.rest.part(bytes, bytes));
        match &self.transform {
            Transform::Device(quotient) => {
                let values = self.values(scratch);
                stage("evaluate", || {
                    self.on_device.evaluate(Matrix::A, values, a)?;
                    self.on_device.evaluate(Matrix::B, values, b)
                })?;
                stage("quotient", || quotient.run(a, b, c))
            }
            Transform::Host(domain) => a.upload(&self.quotient_on_host(domain, witness)),
        }
    }

    fn values<'a>(&self, scratch: Scratch<'a>) -> Region<'a> {
        let layout = self.circuit.layout();
        scratch.values.part(0, ELEMENT * (layout.num_inputs() + layout.num_wide()) as u64)
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

    fn check_layout(&self, witness: &Witness) -> Result<(), ProveError> {
        let (found, expected) = (witness.layout(), self.circuit.layout());
        if Arc::ptr_eq(found, expected) || found == expected {
            return Ok(());
        }
        let shape = |layout: &cuzk_r1cs::WitnessLayout| {
            let (inputs, aux, wide) = (layout.num_inputs(), layout.num_aux(), layout.num_wide());
            format!("{inputs} inputs and {aux} private variables, {wide} of them wide")
        };
        Err(ProveError::Witness { found: shape(found), expected: shape(expected) })
    }
}

/// Of everything in the scratch memory.
const ALIGNMENT: u64 = 256;

impl Plan {
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
