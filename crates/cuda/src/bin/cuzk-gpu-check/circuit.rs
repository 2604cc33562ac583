//! A compiled circuit at its real size, with a random witness and bases of known logarithms: every sum of its proof is
//! compared with the CPU's, then the proof is timed by stages.

use std::path::Path;
use std::sync::Arc;

use blstrs::{G1Projective, G2Projective, Scalar};
use cuzk_cuda::{BasesSource, CudaBackend, G1, QueryBases};
use cuzk_groth16::QuerySums;
use cuzk_groth16::field::Isa;
use cuzk_groth16::ntt::Domain;
use cuzk_groth16::quotient::quotient;
use cuzk_r1cs::{BitVec, Matrix, R1cs, Witness};
use ff::Field;
use group::Group;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::Outcome;
use crate::stages::Stages;
use crate::synthetic::{Inputs, value};
use crate::table::Table;

pub(crate) fn run(
    backend: &CudaBackend,
    inputs: &Inputs,
    path: &Path,
    stages: &Stages,
    table: &mut Table,
) -> Outcome {
    let name = path
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let circuit = Arc::new(R1cs::read_from(path)?);
    let witness = random_witness(&circuit, inputs);
    let wide = circuit.layout().num_wide();
    table.note(
        &name,
        &format!(
            "{} rows, {} variables, {wide} wide",
            circuit.num_rows(),
            circuit.num_aux()
        ),
    );

    let source = BasesSource::Device(bases(backend, inputs, &circuit)?);
    let resident = backend.place(circuit.clone(), source)?;
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    let (bases, scratch) = (
        gigabytes(resident.plan().resident_bytes()),
        gigabytes(resident.scratch_bytes()),
    );
    table.note(
        &name,
        &format!("bases {bases:.1} GB, scratch {scratch:.1} GB"),
    );
    table.check(&format!("{name}: sums"), || {
        let found = backend.sums(&resident, &witness)?;
        compare(&found, &expected(&circuit, &witness, inputs)?)
    });
    stages.clear();
    const REPEATS: usize = 5;
    table.time(&format!("{name}: witness to sums"), REPEATS, None, || {
        backend.sums(&resident, &witness)?;
        Ok(())
    });
    for (stage, milliseconds) in stages.take() {
        table.note(
            &format!("{name}: {stage}"),
            &format!("{:>10.2} ms", milliseconds / (REPEATS + 1) as f64),
        );
    }
    Ok(())
}

fn random_witness(circuit: &R1cs, inputs: &Inputs) -> Witness {
    let mut witness = Witness::new(circuit.layout().clone());
    let random = |i: usize| value(&inputs.scalars[i % inputs.scalars.len()]);
    let mask = circuit
        .layout()
        .mask_words()
        .map(<[u64]>::to_vec)
        .unwrap_or_default();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (public, bits, wide) = witness.parts_mut();
    public
        .iter_mut()
        .enumerate()
        .skip(1)
        .for_each(|(i, x)| *x = random(i));
    bits.iter_mut()
        .zip(mask)
        .for_each(|(word, wide)| *word = rng.next_u64() & !wide);
    if let (Some(last), used @ 1..) = (bits.last_mut(), circuit.num_aux() % 64) {
        *last &= (1 << used) - 1;
    }
    wide.par_iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x = random(i + 1000));
    witness
}

fn bases(backend: &CudaBackend, inputs: &Inputs, circuit: &R1cs) -> Outcome<QueryBases> {
    let (device, densities) = (backend.device(), circuit.densities());
    let a = circuit.num_inputs() + densities.a_aux.count_ones();
    let b = densities.b_inputs.count_ones() + densities.b_aux.count_ones();
    let g1 = |count: usize| inputs.bases::<G1>(device, count as u32);
    Ok(QueryBases {
        h: g1(1 << circuit.log_domain())?,
        l: g1(circuit.num_aux())?,
        a: g1(a)?,
        b_g1: g1(b)?,
        b_g2: inputs.bases(device, b as u32)?,
    })
}

/// The logarithms of the five sums: H, L, A, B.
fn expected(circuit: &R1cs, witness: &Witness, inputs: &Inputs) -> Outcome<[Scalar; 4]> {
    let (public, aux) = witness.to_dense();
    let densities = circuit.densities();
    let every = |n: usize| (0..n).collect::<Vec<_>>();
    let of = |variables: &BitVec| BitVec::ones(variables).collect::<Vec<_>>();
    let query = |public_variables: &[usize], private: &[usize]| -> Scalar {
        let first: Scalar = public_variables
            .iter()
            .enumerate()
            .map(|(i, &v)| public[v] * inputs.logarithm(i))
            .sum();
        let offset = public_variables.len();
        first
            + private
                .par_iter()
                .enumerate()
                .map(|(i, &v)| aux[v] * inputs.logarithm(offset + i))
                .sum::<Scalar>()
    };
    let l = query(&[], &every(aux.len()));
    let a = query(&every(public.len()), &of(&densities.a_aux));
    let b = query(&of(&densities.b_inputs), &of(&densities.b_aux));
    Ok([h(circuit, witness, inputs)?, l, a, b])
}

fn h(circuit: &R1cs, witness: &Witness, inputs: &Inputs) -> Outcome<Scalar> {
    let log_n = circuit.log_domain();
    let domain = Domain::new(Isa::detect(), log_n)?;
    let [mut a, mut b] = [(); 2].map(|()| vec![Scalar::ZERO; 1 << log_n]);
    circuit.evaluate(Matrix::A, witness, &mut a);
    circuit.evaluate(Matrix::B, witness, &mut b);
    quotient(&domain, &mut a, &mut b);
    // Coefficient k meets the base at the place with k's bits reversed.
    let place = |k: usize| k.reverse_bits() >> (usize::BITS - log_n);
    Ok(a.par_iter()
        .enumerate()
        .map(|(k, h)| *h * inputs.logarithm(place(k)))
        .sum())
}

fn compare(found: &QuerySums, [h, l, a, b]: &[Scalar; 4]) -> Outcome {
    let (g1, g2) = (G1Projective::generator(), G2Projective::generator());
    let equal = [
        ("h", found.h == g1 * h),
        ("l", found.l == g1 * l),
        ("a", found.a == g1 * a),
        ("b_g1", found.b_g1 == g1 * b),
        ("b_g2", found.b_g2 == g2 * b),
    ];
    match equal.into_iter().find(|(_, equal)| !equal) {
        Some((query, _)) => Err(format!("found another sum of query {query} than the CPU").into()),
        None => Ok(()),
    }
}
