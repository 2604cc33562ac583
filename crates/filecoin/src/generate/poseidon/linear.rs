//! The linear layers, in the forms that take the fewest multiplications.

use blstrs::Scalar;
use ff::Field;

/// The matrix of all rounds, which is Cauchy's: entry (i, j) is 1 / (i + j + width). A common multiple of the
/// denominators fits a word, so a row is small integers and one division for the sum.
///
/// Source: neptune 11, `mds::generate_mds`.
pub(super) struct Mds {
    /// Entry (i, j), times the common multiple, at i + j.
    pub(super) numerators: Vec<u64>,
    /// The inverse of the common multiple.
    pub(super) scale: Scalar,
}

impl Mds {
    /// Panics when the matrix is another.
    pub(super) fn new(matrix: &[Vec<Scalar>]) -> Mds {
        let width = matrix.len() as u64;
        let denominators = width..3 * width - 1;
        let multiple = denominators.clone().fold(1, least_common_multiple);
        let numerators: Vec<u64> = denominators.map(|d| multiple / d).collect();
        assert!(numerators.iter().all(|n| *n < 1 << 52));
        for (i, row) in matrix.iter().enumerate() {
            for (entry, numerator) in row.iter().zip(&numerators[i..]) {
                let expected = Scalar::from(*numerator);
                assert_eq!(entry * Scalar::from(multiple), expected, "not Cauchy's");
            }
        }
        Mds {
            numerators,
            scale: Scalar::from(multiple).invert().expect("not zero"),
        }
    }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// The partial rounds as a recurrence over lane 0.
///
/// Let s_k be the state before the S-box of partial round k, u_k its lane 0, and y_k what the S-box makes of that, the key
/// added. Then s_{k+1} = A s_k + b y_k, where b is the first column of the matrix and A the matrix with that column
/// zero. A's characteristic polynomial is of degree `width` and without a constant term, so each lane of s_k is a sum of
/// multiples of the `width` - 1 values u and the `width` values y before it, the same in every round (Cayley and
/// Hamilton). The other lanes are needed only once, at the end.
pub(super) struct PartialRounds<T> {
    /// Row k gives u_{k+1}, where there are fewer values before it: coefficients of lanes 1.. of s_0, then those of
    /// y_0, ..., y_k.
    pub(super) first: Vec<Vec<T>>,
    /// Row j gives lane j of a later s_k: coefficients of the values u before it, then those of the values y, the
    /// oldest first.
    pub(super) later: Vec<Vec<T>>,
}

impl PartialRounds<Scalar> {
    pub(super) fn new(matrix: &[Vec<Scalar>]) -> Self {
        let width = matrix.len();
        let times = |row: &[Scalar], j: usize| -> Scalar {
            row.iter().zip(matrix).map(|(x, m)| x * m[j]).sum()
        };
        // Row vectors e_j A^i, and the responses e_j A^i b.
        let powers = |j: usize| -> Vec<Vec<Scalar>> {
            let unit = (0..width).map(|i| Scalar::from(u64::from(i == j)));
            let next = |row: &Vec<Scalar>| {
                let mut next: Vec<_> = (0..width).map(|j| times(row, j)).collect();
                next[0] = Scalar::ZERO;
                Some(next)
            };
            std::iter::successors(Some(unit.collect()), next)
                .take(width + 1)
                .collect()
        };
        let response = |row: &Vec<Scalar>| times(row, 0);

        let lane_0 = powers(0);
        let h: Vec<Scalar> = lane_0.iter().map(response).collect();
        let first = (1..width)
            .map(|k| {
                let of_outputs = h[..k].iter().rev();
                lane_0[k][1..].iter().chain(of_outputs).copied().collect()
            })
            .collect();

        // Lanes 1.. of the state `width` rounds ago follow from the inputs since, and s_k from those.
        let observed: Vec<&[Scalar]> = lane_0[1..width].iter().map(|row| &row[1..]).collect();
        let later = (0..width)
            .map(|j| {
                let rows = powers(j);
                let of_inputs = combination(&observed, &rows[width][1..]);
                let of_output = |q: usize| {
                    let known = of_inputs[q..].iter().zip(&h);
                    response(&rows[width - 1 - q]) - known.map(|(x, h)| x * h).sum::<Scalar>()
                };
                let of_outputs: Vec<_> = (0..width).map(of_output).collect();
                of_inputs.into_iter().chain(of_outputs).collect()
            })
            .collect();
        PartialRounds { first, later }
    }

    /// The same in another form.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) fn map<T>(&self, form: impl Fn(&Scalar) -> T) -> PartialRounds<T> {
        let rows = |rows: &[Vec<Scalar>]| -> Vec<Vec<T>> {
            rows.iter()
                .map(|row| row.iter().map(&form).collect())
                .collect()
        };
        PartialRounds {
            first: rows(&self.first),
            later: rows(&self.later),
        }
    }
}

/// The factors with which the rows add up to a target, by elimination. Panics when the rows are not independent.
fn combination(rows: &[&[Scalar]], target: &[Scalar]) -> Vec<Scalar> {
    let n = rows.len();
    // One equation a column.
    let mut equations: Vec<Vec<Scalar>> = (0..n)
        .map(|j| rows.iter().map(|row| row[j]).chain([target[j]]).collect())
        .collect();
    for i in 0..n {
        let pivot = (i..n)
            .find(|k| !equations[*k][i].is_zero_vartime())
            .expect("independent rows");
        equations.swap(i, pivot);
        let inverse = equations[i][i].invert().expect("not zero");
        equations[i].iter_mut().for_each(|x| *x *= inverse);
        let reduced = equations[i].clone();
        for (_, equation) in equations.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let factor = equation[i];
            for (x, y) in equation.iter_mut().zip(&reduced) {
                *x -= factor * y;
            }
        }
    }
    equations.into_iter().map(|equation| equation[n]).collect()
}

/// The last values of a sequence, one after the other in memory.
pub(super) struct History<T> {
    values: [T; 2 * super::MAX_WIDTH],
    end: usize,
}

impl<T: Copy> History<T> {
    #[inline(always)]
    pub(super) fn new(nothing: T) -> Self {
        History {
            values: [nothing; 2 * super::MAX_WIDTH],
            end: 0,
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: T) {
        if self.end == self.values.len() {
            self.values.copy_within(super::MAX_WIDTH.., 0);
            self.end = super::MAX_WIDTH;
        }
        self.values[self.end] = value;
        self.end += 1;
    }

    /// The last `count`, at most [`super::MAX_WIDTH`] of them.
    #[inline(always)]
    pub(super) fn last(&self, count: usize) -> &[T] {
        &self.values[self.end - count..self.end]
    }
}
