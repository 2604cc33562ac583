//! What stays on devices of several sizes, of the circuits that are proved at 32 GiB. Counts are the circuits' own.

use cuzk_cuda::{CircuitShape, MemoryPlan, NoRoom, QueryShape, sum_workspace};

use crate::support::device;

const GB: u64 = 1_000_000_000;
/// What the driver and a circuit's matrices and lists take, at most.
const BESIDE: u64 = 19 * GB / 10;

/// Inputs, private variables and wide ones of them, those that occur in A and B and are wide there.
struct Counts {
    log_domain: u32,
    inputs: u32,
    aux: u32,
    wide: u32,
    in_a: [u32; 2],
    in_b: [u32; 2],
    dense: bool,
}

const POREP: Counts = Counts {
    log_domain: 27,
    inputs: 328,
    aux: 130_169_893,
    wide: 1_699_102,
    in_a: [129_753_292, 1_699_102],
    in_b: [33_112_282, 420_000],
    dense: false,
};
const SNAP: Counts = Counts {
    log_domain: 27,
    inputs: 5,
    aux: 80_978_488,
    wide: 965_000,
    in_a: [80_700_000, 965_000],
    in_b: [21_000_000, 250_000],
    dense: false,
};
const WINDOW: Counts = Counts {
    log_domain: 27,
    inputs: 25_840,
    aux: 126_902_376,
    wide: 126_902_376,
    in_a: [96_200_000, 96_200_000],
    in_b: [91_900_000, 91_900_000],
    dense: true,
};
const WINNING: Counts = Counts {
    log_domain: 19,
    inputs: 133,
    aux: 375_210,
    wide: 375_210,
    in_a: [284_000, 284_000],
    in_b: [272_000, 272_000],
    dense: true,
};

impl Counts {
    fn shape(&self) -> CircuitShape {
        let words = if self.dense { 0 } else { self.aux.div_ceil(64) };
        let query = |is_g2, bases, wide, words| QueryShape {
            is_g2,
            bases,
            wide,
            words,
        };
        let inputs = self.inputs;
        let [a, wide_a] = self.in_a;
        let [b, wide_b] = self.in_b;
        let n = 1 << self.log_domain;
        CircuitShape {
            log_domain: self.log_domain,
            values_bytes: 32 * u64::from(inputs + self.wide),
            bits_bytes: 8 * u64::from(words),
            queries: [
                query(false, n, n - 1, 0),
                query(false, self.aux, self.wide, words),
                query(false, inputs + a, inputs + wide_a, words),
                query(false, inputs + b, inputs + wide_b, words),
                query(true, inputs + b, inputs + wide_b, words),
            ],
        }
    }

    fn plan(&self, cap: u64) -> Result<MemoryPlan, NoRoom> {
        let device = device();
        let mut workspace = |part: &QueryShape| sum_workspace(&device, part).expect("workspace");
        MemoryPlan::choose(&self.shape(), cap - BESIDE, &mut workspace)
    }
}

#[test]
fn every_circuit_has_a_plan_on_every_device() {
    for (name, counts) in [
        ("PoRep", POREP),
        ("SnapDeals", SNAP),
        ("WindowPoSt", WINDOW),
        ("WinningPoSt", WINNING),
    ] {
        let mut streamed_before = 0;
        let mut seconds_before = 0.0;
        for cap in [140, 80, 48, 24, 16] {
            let plan = counts.plan(cap * GB);
            let plan = plan.unwrap_or_else(|refused| panic!("{name} in {cap} GB: {refused:?}"));
            assert!(
                plan.bytes() + BESIDE <= cap * GB,
                "{name} in {cap} GB: {plan}"
            );
            // Less memory is never better.
            assert!(
                plan.estimate >= seconds_before,
                "{name} in {cap} GB: {plan}"
            );
            assert!(
                plan.streamed_bytes() >= streamed_before,
                "{name} in {cap} GB: {plan}"
            );
            (streamed_before, seconds_before) = (plan.streamed_bytes(), plan.estimate);
        }
    }
}

#[test]
fn a_porep_is_whole_on_a_card_of_80_gb() {
    let plan = POREP.plan(76 * GB).expect("a plan");
    assert_eq!(plan.streamed, [false; 5], "{plan}");
    let less = POREP.plan(48 * GB).expect("a plan");
    assert!(less.streamed_bytes() > 0, "{less}");
    // Of 47 GB of bases 22 do not fit beside the scratch; queries stay or stream whole, and L and A are 25.
    assert!(less.streamed_bytes() <= 25 * GB, "{less}");
}

#[test]
fn what_no_plan_fits_is_told_what_would_do() {
    let refused = WINDOW
        .plan(12 * GB)
        .expect_err("three arrays alone are 12.9 GB");
    assert_eq!(refused.available, 12 * GB - BESIDE);
    assert!(
        refused.least > 12 * GB && refused.least < 15 * GB,
        "{refused:?}"
    );
}
