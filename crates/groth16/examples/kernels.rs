//! Times the CPU kernels against blst in one run: `cargo run --release -p cuzk-groth16 --example kernels [-- JSON-FILE]`.
//!
//! One line a size, in milliseconds, best of a few runs that alternate between the implementations. `CUZK_MAX_LOG` bounds
//! the sizes (20), `CUZK_ONLY` picks rows by a part of their names. Threads: `RAYON_NUM_THREADS`. With `CUZK_CLOCK=cpu`
//! the processor time of all threads is shown instead, for machines with other work (Linux only).
#![allow(clippy::print_stdout, reason = "a report is what it is for")]

use blst::*;
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cuzk_groth16::field::Isa;
use cuzk_groth16::msm::{self, G1, G2, Group};
use cuzk_groth16::ntt::Domain;
use ff::{Field, PrimeField};
use group::{Curve, Group as _};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::time::Instant;

/// Which time is taken.
enum Clock {
    Wall(Instant),
    Cpu,
}

impl Clock {
    /// Seconds since some moment.
    fn now(&self) -> f64 {
        match self {
            Clock::Wall(start) => start.elapsed().as_secs_f64(),
            Clock::Cpu => {
                let tasks = std::fs::read_dir("/proc/self/task")
                    .into_iter()
                    .flatten()
                    .flatten();
                let on_cpu = |task: std::fs::DirEntry| -> Option<f64> {
                    let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
                    text.split(' ').next()?.parse().ok()
                };
                tasks.filter_map(on_cpu).sum::<f64>() * 1e-9
            }
        }
    }
}

struct Report {
    clock: Clock,
    rows: Vec<String>,
    only: Option<String>,
}

type Job<'a> = (&'a str, Box<dyn FnMut() + 'a>);

impl Report {
    fn wants(&self, name: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|part| name.contains(part.as_str()))
    }

    /// Runs the jobs in turn, a few times, and notes the best time of each.
    fn row(&mut self, name: &str, mut jobs: Vec<Job<'_>>) {
        let mut best = vec![f64::INFINITY; jobs.len()];
        for _ in 0..3 {
            for (best, (_, job)) in best.iter_mut().zip(&mut jobs) {
                let start = self.clock.now();
                job();
                *best = best.min((self.clock.now() - start) * 1e3);
            }
        }
        let last = *best.last().expect("a job");
        let cells = jobs
            .iter()
            .zip(&best)
            .map(|((kind, _), ms)| format!("{kind} {ms:10.2} ({:.2}x)", last / ms));
        println!("{name:24} {}", cells.collect::<Vec<_>>().join("   "));
        let fields = jobs
            .iter()
            .zip(&best)
            .map(|((kind, _), ms)| format!("\"{kind}\": {ms:.3}"));
        self.rows.push(format!(
            "{{\"row\": \"{name}\", {}}}",
            fields.collect::<Vec<_>>().join(", ")
        ));
    }
}

/// Makes the compiler believe that somebody wants this.
fn keep<T>(value: T) {
    std::hint::black_box(value);
}

fn isas() -> Vec<Isa> {
    Isa::ALL
        .into_iter()
        .filter(|isa| isa.is_available())
        .collect()
}

fn name(isa: Isa) -> &'static str {
    if isa == Isa::Portable {
        "portable"
    } else {
        "avx512ifma"
    }
}

/// A walk in steps of one of 64.
fn points<G: Group>(count: usize) -> Vec<G::Affine> {
    let part = |seed: u64, count: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let steps: Vec<_> = (0..64).map(|_| G::Projective::random(&mut rng)).collect();
        let mut at = G::Projective::random(&mut rng);
        let walk: Vec<_> = (0..count)
            .map(|_| {
                at += steps[rng.gen_range(0..64)];
                at
            })
            .collect();
        let mut affine = vec![G::Projective::identity().to_affine(); count];
        G::Projective::batch_normalize(&walk, &mut affine);
        affine
    };
    let parts = count.div_ceil(1 << 14);
    let mut points: Vec<_> = (0..parts)
        .into_par_iter()
        .flat_map_iter(|seed| part(seed as u64, 1 << 14))
        .collect();
    points.truncate(count);
    points
}

fn scalars(count: usize) -> Vec<Scalar> {
    let part = |seed: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64 + 1000);
        (0..1 << 14)
            .map(move |_| Scalar::random(&mut rng))
            .collect::<Vec<_>>()
    };
    let mut scalars: Vec<_> = (0..count.div_ceil(1 << 14))
        .into_par_iter()
        .flat_map_iter(part)
        .collect();
    scalars.truncate(count);
    scalars
}

/// What blst offers for a group, on all threads.
trait Blst: Group {
    fn pippenger(points: &[Self::Affine], scalars: &[[u8; 32]]) -> Self::Projective;
    fn add(points: &[Self::Affine]) -> Self::Projective;
}

macro_rules! blst_side {
    ($group:ty, $affine:ty, $projective:ty, $raw:ty, $size:ident, $pippenger:ident, $add:ident) => {
        impl Blst for $group {
            fn pippenger(points: &[$affine], scalars: &[[u8; 32]]) -> $projective {
                let part = points.len().div_ceil(rayon::current_num_threads());
                let parts = points.par_chunks(part).zip(scalars.par_chunks(part));
                let parts = parts.map(|(points, scalars)| {
                    let mut out = <$projective>::identity();
                    // SAFETY: consecutive points and scalars are asked for by a first address and a null.
                    unsafe {
                        let mut scratch = vec![0u64; $size(points.len()).div_ceil(8)];
                        let p: [*const $raw; 2] = [points[0].as_ref(), std::ptr::null()];
                        let s = [scalars[0].as_ptr(), std::ptr::null()];
                        $pippenger(
                            out.as_mut(),
                            p.as_ptr(),
                            points.len(),
                            s.as_ptr(),
                            255,
                            scratch.as_mut_ptr(),
                        );
                    }
                    out
                });
                parts.reduce(<$projective>::identity, |a, b| a + b)
            }
            fn add(points: &[$affine]) -> $projective {
                let parts = points.par_chunks(points.len().div_ceil(rayon::current_num_threads()));
                let parts = parts.map(|points| {
                    let mut out = <$projective>::identity();
                    let p: [*const $raw; 2] = [points[0].as_ref(), std::ptr::null()];
                    // SAFETY: as above.
                    unsafe { $add(out.as_mut(), p.as_ptr(), points.len()) };
                    out
                });
                parts.reduce(<$projective>::identity, |a, b| a + b)
            }
        }
    };
}
blst_side!(
    G1,
    G1Affine,
    G1Projective,
    blst_p1_affine,
    blst_p1s_mult_pippenger_scratch_sizeof,
    blst_p1s_mult_pippenger,
    blst_p1s_add
);
blst_side!(
    G2,
    G2Affine,
    G2Projective,
    blst_p2_affine,
    blst_p2s_mult_pippenger_scratch_sizeof,
    blst_p2s_mult_pippenger,
    blst_p2s_add
);

fn msm_rows<G: Blst>(report: &mut Report, group: &str, logs: &[u32]) {
    for &log in logs {
        let count = 1usize << log;
        let (multiply, sum) = (
            format!("msm {group} 2^{log}"),
            format!("sum {group} 2^{log}"),
        );
        if !report.wants(&multiply) && !report.wants(&sum) {
            continue;
        }
        let (points, scalars) = (points::<G>(count), scalars(count));
        let encodings: Vec<_> = points.par_iter().map(G::encode).collect();
        let words: Vec<_> = scalars.iter().map(|s| s.to_repr()).collect();
        let selected = vec![u64::MAX; count / 64];
        if report.wants(&multiply) {
            let ours = |isa| -> Job<'_> {
                let (encodings, scalars) = (&encodings, &scalars);
                (
                    name(isa),
                    Box::new(move || keep(msm::multiply::<G>(isa, encodings, scalars))),
                )
            };
            let mut jobs: Vec<_> = isas().into_iter().map(ours).collect();
            jobs.push(("blst", Box::new(|| keep(G::pippenger(&points, &words)))));
            report.row(&multiply, jobs);
        }
        if report.wants(&sum) {
            let ours = |isa| -> Job<'_> {
                let (encodings, selected) = (&encodings, &selected);
                (
                    name(isa),
                    Box::new(move || keep(msm::sum::<G>(isa, encodings, selected))),
                )
            };
            let mut jobs: Vec<_> = isas().into_iter().map(ours).collect();
            jobs.push(("blst", Box::new(|| keep(G::add(&points)))));
            report.row(&sum, jobs);
        }
    }
}

fn fixed_base_rows<G: Group>(report: &mut Report, group: &str, log: u32) {
    let row = format!("fixed base {group} 2^{log}");
    if !report.wants(&row) {
        return;
    }
    let (base, scalars) = (points::<G>(1)[0], scalars(1 << log));
    let ours = |isa| -> Job<'_> {
        let table = msm::fixed_base::Table::<G>::new(isa, &base, 1 << 23);
        let scalars = &scalars;
        (name(isa), Box::new(move || keep(table.multiply(scalars))))
    };
    report.row(&row, isas().into_iter().map(ours).collect());
}

/// Of one or of two polynomials.
type Transform = fn(&Domain, &mut [Scalar], &mut [Scalar]);

fn ntt_rows(report: &mut Report, logs: &[u32]) {
    for &log in logs {
        let names = [
            format!("intt 2^{log}"),
            format!("coset ntt 2^{log}"),
            format!("extend 2^{log}"),
        ];
        if !names.iter().any(|name| report.wants(name)) {
            continue;
        }
        let values = scalars(1 << log);
        let kinds: [Transform; 3] = [
            |domain, a, _| domain.intt_to_bitrev(a),
            |domain, a, _| domain.coset_ntt_from_bitrev(a),
            Domain::extend_to_coset,
        ];
        for (row, transform) in names.iter().zip(kinds) {
            let ours = |isa| -> Job<'_> {
                let domain = Domain::new(isa, log).expect("a domain of the field");
                let (mut a, mut b) = (values.clone(), values.clone());
                (
                    name(isa),
                    Box::new(move || transform(&domain, &mut a, &mut b)),
                )
            };
            report.row(row, isas().into_iter().map(ours).collect());
        }
    }
}

fn main() -> std::io::Result<()> {
    let variable = |name: &str| std::env::var(name).ok();
    let max: u32 = variable("CUZK_MAX_LOG")
        .and_then(|log| log.parse().ok())
        .unwrap_or(20);
    let clock = if variable("CUZK_CLOCK").is_some_and(|clock| clock == "cpu") {
        Clock::Cpu
    } else {
        Clock::Wall(Instant::now())
    };
    let mut report = Report {
        clock,
        rows: vec![],
        only: variable("CUZK_ONLY"),
    };
    println!(
        "{} threads, milliseconds (last column's time / this one's)",
        rayon::current_num_threads()
    );
    let logs = |logs: &[u32]| {
        logs.iter()
            .copied()
            .filter(|log| *log <= max)
            .collect::<Vec<_>>()
    };
    msm_rows::<G1>(&mut report, "g1", &logs(&[10, 12, 14, 16, 18, 20, 22]));
    msm_rows::<G2>(&mut report, "g2", &logs(&[10, 12, 14, 16, 18, 20]));
    fixed_base_rows::<G1>(&mut report, "g1", 18.min(max));
    fixed_base_rows::<G2>(&mut report, "g2", 16.min(max));
    ntt_rows(&mut report, &logs(&[12, 15, 17, 20, 22, 24]));
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, format!("[\n{}\n]\n", report.rows.join(",\n")))?;
    }
    Ok(())
}
