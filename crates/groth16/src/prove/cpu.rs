//! The CPU backend: the readable reference, and what proves where no device does.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_r1cs::{Matrix, R1cs, Witness};
use ff::Field;
use rayon::prelude::*;

use super::query::QueryPlan;
use super::stages::{StageTime, Stages};
use super::{QuerySums, assemble};
use crate::backend::{Backend, ProveError};
use crate::field::Isa;
use crate::memory::{self, Pool};
use crate::msm::{self, G1, G2};
use crate::ntt::Domain;
use crate::params::{ParameterFile, Query};
use crate::proof::{Blinding, Proof};
use crate::quotient::quotient;

/// Proves on the CPU, with all threads of the current rayon pool.
#[derive(Clone, Copy, Debug)]
pub struct CpuBackend {
    isa: Isa,
}

/// A circuit and its parameters, which stay mapped from disk, ready for the CPU.
pub struct CpuKey {
    circuit: Arc<R1cs>,
    params: Arc<ParameterFile>,
    domain: Domain,
    l: QueryPlan,
    a: QueryPlan,
    b: QueryPlan,
    /// Buffers of finished proofs.
    workspaces: Pool<Workspace>,
}

/// What one proof needs besides circuit, parameters and witness. The quotient's other buffers are given back before the
/// largest multiplication, which needs as much memory for bases.
#[derive(Default)]
struct Workspace {
    a: Vec<Scalar>,
    scalars: Vec<Scalar>,
}

impl CpuBackend {
    /// With the best instruction set that the CPU has.
    pub fn new() -> Self {
        Self::with_isa(Isa::detect())
    }

    /// With a given instruction set, which the CPU must have.
    pub fn with_isa(isa: Isa) -> Self {
        assert!(isa.is_available(), "this CPU has no {isa}");
        Self { isa }
    }
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for CpuBackend {
    type Key = CpuKey;

    fn name(&self) -> String {
        format!("cpu-{}", self.isa)
    }

    fn load(&self, circuit: Arc<R1cs>, params: Arc<ParameterFile>) -> Result<CpuKey, ProveError> {
        params.check_circuit(&circuit)?;
        let log_domain = circuit.log_domain();
        let domain = Domain::new(self.isa, log_domain).map_err(|_| ProveError::Domain {
            found: log_domain,
            expected: MAX_LOG_DOMAIN,
        })?;
        Ok(CpuKey {
            domain,
            l: QueryPlan::l(&circuit),
            a: QueryPlan::a(&circuit),
            b: QueryPlan::b(&circuit),
            workspaces: Pool::default(),
            circuit,
            params,
        })
    }

    fn prove(
        &self,
        key: &CpuKey,
        witness: &Witness,
        blinding: &Blinding,
    ) -> Result<Proof, ProveError> {
        Ok(self.prove_timed(key, witness, blinding)?.0)
    }
}

/// The coset of the quotient needs a root of twice the domain's order; the field has 2^32.
const MAX_LOG_DOMAIN: u32 = 31;

impl CpuBackend {
    /// [`prove`](Backend::prove), and how long each stage took, in order.
    ///
    /// # Errors
    /// As `prove`.
    pub fn prove_timed(
        &self,
        key: &CpuKey,
        witness: &Witness,
        blinding: &Blinding,
    ) -> Result<(Proof, Vec<StageTime>), ProveError> {
        check_layout(&key.circuit, witness)?;
        let mut stages = Stages::default();
        let prove = |workspace: &mut _| self.query_sums(key, witness, workspace, &mut stages);
        let sums = key.workspaces.with(prove);
        let proof = assemble(key.params.vk(), &sums, blinding)?;
        Ok((proof, stages.finish()))
    }

    fn query_sums(
        &self,
        key: &CpuKey,
        witness: &Witness,
        workspace: &mut Workspace,
        stages: &mut Stages,
    ) -> QuerySums {
        let Workspace { a, scalars } = workspace;
        let mut b = Vec::new();
        key.evaluate(witness, a, &mut b, stages);
        stages.run("quotient", || quotient(&key.domain, a, &mut b));
        drop(b);
        // The quotient has degree n − 2: its last coefficient is zero and has no base.
        let h = &a[..a.len() - 1];
        let (params, isa) = (&key.params, self.isa);
        let h = query(params, Query::H, stages, || {
            let release = &mut |points| params.release_g1(Query::H, points);
            msm::multiply_once::<G1>(isa, params.h().encodings(), h, release)
        });
        let l = query(params, Query::L, stages, || {
            let bases = params.l().encodings();
            key.l.multiply::<G1>(isa, bases, witness, scalars)
        });
        let a = query(params, Query::A, stages, || {
            let bases = params.a().encodings();
            key.a.multiply::<G1>(isa, bases, witness, scalars)
        });
        let b_g1 = query(params, Query::BG1, stages, || {
            let bases = params.b_g1().encodings();
            key.b.multiply::<G1>(isa, bases, witness, scalars)
        });
        let b_g2 = query(params, Query::BG2, stages, || {
            let bases = params.b_g2().encodings();
            key.b.multiply::<G2>(isa, bases, witness, scalars)
        });
        QuerySums {
            h,
            l,
            a,
            b_g1,
            b_g2,
        }
    }
}

/// Runs a query's stage and lets go of its pages: one query at a time is in memory.
fn query<T>(
    params: &ParameterFile,
    query: Query,
    stages: &mut Stages,
    run: impl FnOnce() -> T,
) -> T {
    let name = match query {
        Query::H => "h",
        Query::L => "l",
        Query::A => "a",
        Query::BG1 => "b_g1",
        Query::BG2 => "b_g2",
    };
    let sum = stages.run(name, run);
    params.release(query);
    sum
}

impl CpuKey {
    /// The circuit.
    pub fn circuit(&self) -> &Arc<R1cs> {
        &self.circuit
    }

    /// Its parameters.
    pub fn params(&self) -> &Arc<ParameterFile> {
        &self.params
    }

    /// a = A·z and b = B·z, padded with zeros to the domain.
    fn evaluate(
        &self,
        witness: &Witness,
        a: &mut Vec<Scalar>,
        b: &mut Vec<Scalar>,
        stages: &mut Stages,
    ) {
        let (rows, n) = (self.circuit.num_rows(), 1 << self.circuit.log_domain());
        for (name, matrix, out) in [("evaluate a", Matrix::A, a), ("evaluate b", Matrix::B, b)] {
            stages.run(name, || {
                if out.len() != n {
                    memory::reserve(out, n);
                    // On all cores: the first touch of memory is slow.
                    let zeros = rayon::iter::repeat_n(Scalar::ZERO, n);
                    zeros.with_min_len(1 << 14).collect_into_vec(out);
                }
                out[rows..].fill(Scalar::ZERO);
                self.circuit.evaluate(matrix, witness, out);
            });
        }
    }
}

/// The witness must be laid out as the circuit says.
fn check_layout(circuit: &R1cs, witness: &Witness) -> Result<(), ProveError> {
    let (found, expected) = (witness.layout(), circuit.layout());
    if Arc::ptr_eq(found, expected) || found == expected {
        return Ok(());
    }
    let shape = |layout: &cuzk_r1cs::WitnessLayout| {
        let (inputs, aux, wide) = (layout.num_inputs(), layout.num_aux(), layout.num_wide());
        format!("{inputs} inputs and {aux} auxiliary variables, {wide} of them wide")
    };
    Err(ProveError::Witness {
        found: shape(found),
        expected: shape(expected),
    })
}
