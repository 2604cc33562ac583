//! What of a circuit's bases stays on a device, and what streams from the host for every proof. Arithmetic only.

use std::fmt;

/// The queries, in the order that plans list them.
pub const QUERY_NAMES: [&str; 5] = ["H", "L", "A", "B in G1", "B in G2"];
const QUERIES: usize = QUERY_NAMES.len();

/// A query's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryShape {
    /// Whether its bases lie in G2.
    pub is_g2: bool,
    /// Number of bases.
    pub bases: u32,
    /// How many of them meet values that need a multiplication.
    pub wide: u32,
    /// Words of 64 bits that choose among the others; 0 when there are no others.
    pub words: u32,
}

/// A circuit's sizes, as far as proofs need memory for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitShape {
    /// Binary logarithm of the domain.
    pub log_domain: u32,
    /// Bytes of inputs and wide values.
    pub values_bytes: u64,
    /// Bytes of a witness's bits.
    pub bits_bytes: u64,
    /// H, L, A, B in G1, B in G2.
    pub queries: [QueryShape; QUERIES],
}

/// Where the queries' bases are, and where things lie in the scratch memory.
///
/// The scratch memory holds values, bits, the domain-sized array that becomes h, and then what is b and c first and later
/// two slices of bases under way, if any are streamed, and the workspace of a sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryPlan {
    /// Of each query, in bytes.
    pub query_bytes: [u64; QUERIES],
    /// Queries whose bases come from the host.
    pub streamed: [bool; QUERIES],
    /// Most bases in G1 that are summed at a time; half as many in G2.
    pub slice_points: u32,
    /// Bytes of values that give way to c during the transforms and are brought up again; 0: they have a place of their own.
    pub(crate) again: u64,
    pub(crate) values: u64,
    pub(crate) bits: u64,
    pub(crate) domain: u64,
    pub(crate) rest: u64,
    /// Of L, A, B in G1 and B in G2, where sums are done side by side; else zero.
    pub(crate) beside: [u64; 4],
    /// Seconds that the sums of a proof may take, by a model of a large device on PCIe 5.
    pub estimate: f64,
}

/// There is not enough memory, whatever is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Bytes that there are.
    pub available: u64,
    /// Bytes that would do.
    pub least: u64,
}

/// Of everything in the scratch memory.
pub(crate) const ALIGNMENT: u64 = 256;
const ELEMENT_BYTES: u64 = 32;
const G1_POINT_BYTES: u64 = 96;
/// Sums whose workspaces together are no larger than this are done side by side.
const SIDE_BY_SIDE_BYTES: u64 = 8 << 30;
/// The fewest points of a slice that are tried.
const FEWEST_POINTS: u32 = 1 << 10;

// The model: additions in G1 a second, the cost of one in G2, seconds around a multiplication, bytes a second to the device.
const ADDITIONS: f64 = 3.4e9;
const G2_COST: f64 = 3.3;
const CALL_SECONDS: f64 = 0.002;
const UPLOAD: f64 = 50e9;

impl QueryShape {
    fn point_bytes(&self) -> u64 {
        if self.is_g2 {
            2 * G1_POINT_BYTES
        } else {
            G1_POINT_BYTES
        }
    }

    fn bytes(&self) -> u64 {
        self.point_bytes() * u64::from(self.bases)
    }

    /// Bases in a slice.
    fn most(&self, slice_points: u32) -> u32 {
        if self.is_g2 {
            slice_points / 2
        } else {
            slice_points
        }
    }

    /// The largest part that is summed at a time.
    fn part(&self, slice_points: u32) -> Self {
        let bases = self.bases.min(self.most(slice_points));
        Self {
            bases,
            wide: self.wide.min(bases),
            ..*self
        }
    }

    /// Seconds of all its slices' sums.
    fn seconds(&self, slice_points: u32) -> f64 {
        let slices = f64::from(self.bases.div_ceil(self.most(slice_points).max(1)));
        let ones = if self.words == 0 {
            0.0
        } else {
            f64::from(self.bases - self.wide) / 2.0
        };
        let additions = slices * multiplication(f64::from(self.wide) / slices) + ones;
        let cost = if self.is_g2 { G2_COST } else { 1.0 };
        additions * cost / ADDITIONS + CALL_SECONDS * slices
    }
}

/// Additions of a multiplication of n terms: a term costs one a window, a bucket one and a half.
fn multiplication(n: f64) -> f64 {
    (11..=51u32)
        .map(|w| f64::from(w) * (n + 1.5 * 2f64.powf(256.0 / f64::from(w) - 1.0)))
        .fold(f64::INFINITY, f64::min)
}

impl MemoryPlan {
    /// The plan that a proof takes the least time with, within `available` bytes for bases and scratch together.
    /// `workspace` tells the bytes that a sum over a part of a query works in.
    ///
    /// # Errors
    /// When no plan fits.
    pub fn choose(
        circuit: &CircuitShape,
        available: u64,
        workspace: &mut dyn FnMut(&QueryShape) -> u64,
    ) -> Result<Self, NoRoom> {
        let largest = circuit
            .queries
            .iter()
            .map(|q| q.bases << u32::from(q.is_g2));
        let largest = largest.max().unwrap_or(1).next_power_of_two();
        let mut best: Option<Self> = None;
        let mut least = u64::MAX;
        let mut slice_points = largest.max(FEWEST_POINTS);
        while slice_points >= FEWEST_POINTS {
            let parts = circuit.queries.map(|q| q.part(slice_points));
            let spaces = parts.map(|part| workspace(&part).next_multiple_of(ALIGNMENT));
            for choice in 0..2 << QUERIES {
                let plan = Self::with(circuit, slice_points, choice, &spaces);
                let Some(plan) = plan else { continue };
                least = least.min(plan.bytes());
                let better = |best: &Self| {
                    (plan.estimate, plan.streamed_bytes()) < (best.estimate, best.streamed_bytes())
                };
                if plan.bytes() <= available && best.as_ref().is_none_or(better) {
                    best = Some(plan);
                }
            }
            slice_points /= 2;
        }
        best.ok_or(NoRoom { available, least })
    }

    /// The plan of a choice: a bit for every query that is streamed, and one for bringing the values up twice.
    fn with(
        circuit: &CircuitShape,
        slice_points: u32,
        choice: usize,
        spaces: &[u64; QUERIES],
    ) -> Option<Self> {
        let aligned = |bytes: u64| bytes.next_multiple_of(ALIGNMENT);
        let queries = &circuit.queries;
        let streamed: [bool; QUERIES] = std::array::from_fn(|i| choice >> i & 1 != 0);
        let values_again = choice >> QUERIES != 0;
        let domain = ELEMENT_BYTES << circuit.log_domain;
        let values = aligned(circuit.values_bytes);
        if values_again && values > domain {
            return None;
        }
        let whole = |q: &QueryShape| q.bases <= q.most(slice_points);
        let none_streamed = !streamed.contains(&true);
        let side_by_side = none_streamed
            && !values_again
            && queries.iter().all(whole)
            && spaces.iter().sum::<u64>() <= SIDE_BY_SIDE_BYTES;
        let buffers = if none_streamed {
            0
        } else {
            2 * aligned(G1_POINT_BYTES * u64::from(slice_points))
        };
        let in_turn = if side_by_side {
            spaces[0]
        } else {
            spaces.iter().copied().fold(0, u64::max)
        };
        let again = if values_again { values } else { 0 };
        let sums: f64 = queries.iter().map(|q| q.seconds(slice_points)).sum();
        let plan = Self {
            query_bytes: queries.map(|q| q.bytes()),
            streamed,
            slice_points,
            again,
            values: values - again,
            bits: aligned(circuit.bits_bytes),
            domain: aligned(domain),
            rest: aligned((2 * domain).max(again + buffers + in_turn)),
            beside: if side_by_side {
                [spaces[1], spaces[2], spaces[3], spaces[4]]
            } else {
                [0; 4]
            },
            estimate: 0.0,
        };
        // Uploads and sums overlap, though not quite.
        let upload = plan.streamed_bytes() as f64 / UPLOAD;
        let estimate = sums.max(upload) + 0.25 * sums.min(upload) + again as f64 / UPLOAD;
        Some(Self { estimate, ..plan })
    }

    /// Grows the scratch memory where sums need more than was foreseen.
    pub(crate) fn make_room(&mut self, spaces: [u64; QUERIES]) {
        if self.beside[0] > 0 {
            self.rest = self.rest.max(spaces[0]);
            for (beside, space) in self.beside.iter_mut().zip(&spaces[1..]) {
                *beside = (*beside).max(*space);
            }
        } else {
            let in_turn = spaces.into_iter().fold(0, u64::max);
            self.rest = self
                .rest
                .max(self.again + 2 * self.buffer_bytes() + in_turn);
        }
    }

    /// Names of the queries that are streamed, or of those that are not.
    pub fn queries(&self, streamed: bool) -> Vec<&'static str> {
        let names = QUERY_NAMES.into_iter().zip(self.streamed);
        let names = names.filter(|query| query.1 == streamed);
        names.map(|query| query.0).collect()
    }

    /// Bytes of bases that stay on the device.
    pub fn resident_bytes(&self) -> u64 {
        self.query_bytes.iter().sum::<u64>() - self.streamed_bytes()
    }

    /// Bytes of bases that come from the host for every proof.
    pub fn streamed_bytes(&self) -> u64 {
        let queries = self.query_bytes.iter().zip(self.streamed);
        queries.filter(|(_, streamed)| *streamed).map(|q| q.0).sum()
    }

    /// Bytes of scratch memory.
    pub fn scratch_bytes(&self) -> u64 {
        self.values + self.bits + self.domain + self.rest + self.beside.iter().sum::<u64>()
    }

    /// Bytes on the device, beside the circuit itself.
    pub fn bytes(&self) -> u64 {
        self.resident_bytes() + self.scratch_bytes()
    }

    /// Bytes of each of the two buffers for slices under way.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        if self.streamed.contains(&true) {
            (G1_POINT_BYTES * u64::from(self.slice_points)).next_multiple_of(ALIGNMENT)
        } else {
            0
        }
    }
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        let list = |streamed: bool| {
            let names = self.queries(streamed);
            if names.is_empty() {
                "nothing".to_owned()
            } else {
                names.join(", ")
            }
        };
        write!(
            f,
            "{} resident in {:.1} GiB, {} streamed, {:.1} GiB a proof; scratch {:.1} GiB, slices of {} points{}",
            list(false),
            gib(self.resident_bytes()),
            list(true),
            gib(self.streamed_bytes()),
            gib(self.scratch_bytes()),
            self.slice_points,
            if self.again > 0 {
                ", witness brought up twice"
            } else {
                ""
            }
        )
    }
}
