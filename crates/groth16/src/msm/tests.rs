//! Against blstrs, term by term.

use super::*;
use ::group::{Curve, Group as _};
use blstrs::G1Projective;
use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn isas() -> Vec<Isa> {
    let (here, absent): (Vec<_>, Vec<_>) = Isa::ALL.into_iter().partition(|isa| isa.is_available());
    for isa in absent {
        eprintln!("skipped: this cpu has no {isa}");
    }
    here
}

/// Random points out of few scalar multiplications: a walk in steps of one of 16.
fn points<G: Group>(count: usize, rng: &mut ChaCha8Rng) -> Vec<G::Affine> {
    let steps: Vec<_> = (0..16).map(|_| G::Projective::random(&mut *rng)).collect();
    let mut walk = G::Projective::random(&mut *rng);
    (0..count)
        .map(|_| {
            walk += steps[rng.gen_range(0..16)];
            walk.to_affine()
        })
        .collect()
}

fn encode<G: Group>(points: &[G::Affine]) -> Vec<G::Encoding> {
    points.iter().map(G::encode).collect()
}

fn naive<G: Group>(points: &[G::Affine], scalars: &[Scalar]) -> G::Affine {
    let terms = points
        .iter()
        .zip(scalars)
        .map(|(point, scalar)| G::Projective::from(*point) * scalar);
    terms
        .fold(G::Projective::identity(), |sum, term| sum + term)
        .to_affine()
}

fn extremes() -> [Scalar; 6] {
    let half = (-Scalar::ONE) * Scalar::from(2).invert().unwrap();
    [
        Scalar::ZERO,
        Scalar::ONE,
        -Scalar::ONE,
        -Scalar::from(2),
        half,
        half + Scalar::ONE,
    ]
}

/// A third of the scalars are extremes.
fn scalars(count: usize, rng: &mut ChaCha8Rng) -> Vec<Scalar> {
    let one = |rng: &mut ChaCha8Rng| match rng.gen_range(0..18) {
        i @ 0..6 => extremes()[i],
        6 => Scalar::from(rng.gen_range(0..300u64)),
        _ => Scalar::random(rng),
    };
    (0..count).map(|_| one(rng)).collect()
}

fn multiplies_like_blstrs<G: Group>(lengths: &[usize]) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for &len in lengths {
        let (points, scalars) = (points::<G>(len, &mut rng), scalars(len, &mut rng));
        let expected = naive::<G>(&points, &scalars);
        for isa in isas() {
            let found = multiply::<G>(isa, &encode::<G>(&points), &scalars).to_affine();
            assert_eq!(found, expected, "{isa}, {len} terms");
        }
    }
}

#[test]
fn g1_multiplies_like_blstrs() {
    multiplies_like_blstrs::<G1>(&[
        0, 1, 7, 8, 9, 127, 128, 129, 255, 256, 257, 1000, 4095, 4097,
    ]);
}

#[test]
fn g2_multiplies_like_blstrs() {
    multiplies_like_blstrs::<G2>(&[0, 1, 8, 9, 127, 128, 129, 257, 1500, 2049]);
}

/// Few different points, their negatives, and infinity: trees meet equal and opposite operands on all levels.
fn survives_special_cases<G: Group>(count: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let few = points::<G>(5, &mut rng);
    let pool: Vec<G::Affine> = few
        .iter()
        .flat_map(|p| [*p, (-G::Projective::from(*p)).to_affine()])
        .chain([G::Projective::identity().to_affine()])
        .collect();
    for kinds in [1, 2, 3, pool.len()] {
        let points: Vec<_> = (0..count).map(|_| pool[rng.gen_range(0..kinds)]).collect();
        let encodings = encode::<G>(&points);
        let scalars: Vec<_> = (0..count)
            .map(|_| extremes()[rng.gen_range(1..6)])
            .collect();
        let selected: Vec<u64> = (0..count.div_ceil(64)).map(|_| rng.r#gen()).collect();
        let chosen = |i: usize| {
            if selected[i / 64] >> (i % 64) & 1 == 1 {
                Scalar::ONE
            } else {
                Scalar::ZERO
            }
        };
        let mut cut = selected.clone();
        *cut.last_mut().unwrap() &= u64::MAX >> (count.next_multiple_of(64) - count);
        let ones: Vec<_> = (0..count).map(chosen).collect();
        for isa in isas() {
            let product = multiply::<G>(isa, &encodings, &scalars).to_affine();
            assert_eq!(
                product,
                naive::<G>(&points, &scalars),
                "{isa}, {kinds} kinds"
            );
            let total = sum::<G>(isa, &encodings, &cut).to_affine();
            assert_eq!(
                total,
                naive::<G>(&points, &ones),
                "{isa}, sum of {kinds} kinds"
            );
        }
    }
}

#[test]
fn g1_survives_equal_opposite_and_infinite_bases() {
    survives_special_cases::<G1>(3301);
}

#[test]
fn g2_survives_equal_opposite_and_infinite_bases() {
    survives_special_cases::<G2>(700);
}

#[test]
fn all_scalars_alike_fill_one_bucket() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let points = points::<G1>(5000, &mut rng);
    let encodings = encode::<G1>(&points);
    for scalar in extremes() {
        let scalars = vec![scalar; points.len()];
        let expected = naive::<G1>(&points, &scalars);
        for isa in isas() {
            assert_eq!(
                multiply::<G1>(isa, &encodings, &scalars).to_affine(),
                expected,
                "{isa}"
            );
        }
    }
}

/// Buckets go on from block to block, and are filled out of several sorted ranges: also with equal, opposite and infinite
/// sums so far, and with buckets that only a later block meets.
fn goes_on_from_block_to_block<G: Group>(count: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut points = points::<G>(count, &mut rng);
    let mut scalars = scalars(count, &mut rng);
    for i in 1..count / 3 {
        // Equal and opposite terms, mostly of other blocks.
        let (from, to) = (rng.gen_range(0..count), rng.gen_range(0..count));
        let point = G::Projective::from(points[from]);
        points[to] = if i % 2 == 0 { point } else { -point }.to_affine();
        scalars[to] = scalars[from];
    }
    let encodings = encode::<G>(&points);
    let expected = naive::<G>(&points, &scalars);
    for (block, range) in [(150, 40), (400, 400), (count - 1, 64)] {
        let sizes = buckets::Sizes { block, range };
        let mut seen = 0;
        let done = &mut |terms: Range<usize>| {
            assert_eq!(terms.start, seen, "in order");
            seen = terms.end;
        };
        let at = Positions::Leading;
        let found = buckets::in_blocks::<G::Portable>(&encodings, at, &scalars, sizes, done);
        assert_eq!(found.to_affine(), expected, "blocks of {block}");
        assert_eq!(seen, count);
        if Isa::Avx512Ifma.is_available() {
            let found =
                buckets::in_blocks::<G::Lanes>(&encodings, at, &scalars, sizes, &mut |_| ());
            assert_eq!(found.to_affine(), expected, "blocks of {block} in lanes");
        }
    }
}

#[test]
fn g1_goes_on_from_block_to_block() {
    goes_on_from_block_to_block::<G1>(1100);
}

#[test]
fn g2_goes_on_from_block_to_block() {
    goes_on_from_block_to_block::<G2>(500);
}

#[test]
fn positions_choose_the_bases() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let points = points::<G1>(2000, &mut rng);
    let encodings = encode::<G1>(&points);
    for len in [0, 5, 700, 3000] {
        let positions: Vec<u32> = (0..len).map(|_| rng.gen_range(0..2000)).collect();
        let scalars = scalars(len, &mut rng);
        let chosen: Vec<_> = positions.iter().map(|p| points[*p as usize]).collect();
        for isa in isas() {
            let found = multiply_at::<G1>(isa, &encodings, &positions, &scalars).to_affine();
            assert_eq!(found, naive::<G1>(&chosen, &scalars), "{isa}, {len} terms");
        }
    }
}

#[test]
fn sums_have_any_length() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let points = points::<G1>(70_000, &mut rng);
    let encodings = encode::<G1>(&points);
    for count in [0usize, 1, 2, 3, 63, 64, 65, 1535, 1536, 1537, 3072, 70_000] {
        let words: Vec<u64> = (0..count.div_ceil(64))
            .map(|i| u64::MAX >> (64 - (count - i * 64).min(64)))
            .collect();
        let expected = points[..count]
            .iter()
            .fold(G1Projective::identity(), |sum, p| sum + p)
            .to_affine();
        for isa in isas() {
            assert_eq!(
                sum::<G1>(isa, &encodings, &words).to_affine(),
                expected,
                "{isa}, {count} ones"
            );
        }
    }
}

fn multiplies_one_base<G: Group>(counts: &[usize]) {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for &count in counts {
        let base = G::Projective::random(&mut rng);
        let scalars = scalars(count, &mut rng);
        let expected: Vec<_> = scalars
            .iter()
            .map(|scalar| (base * scalar).to_affine())
            .collect();
        for isa in isas() {
            let table = fixed_base::Table::<G>::new(isa, &base.to_affine(), count);
            assert!(
                table.multiply(&scalars) == expected,
                "{isa}, {count} scalars"
            );
        }
    }
}

#[test]
fn g1_tables_multiply_like_blstrs() {
    multiplies_one_base::<G1>(&[0, 1, 50, 5000]);
}

#[test]
fn g2_tables_multiply_like_blstrs() {
    multiplies_one_base::<G2>(&[1, 600]);
}
