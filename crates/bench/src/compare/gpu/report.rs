//! Medians and ratios of a comparison on a GPU.

use cuzk_filecoin::CircuitId;
use serde::Serialize;

use super::Round;
use crate::output::{self, median};

#[derive(Serialize)]
pub(super) struct Report {
    circuit_id: String,
    gpu: String,
    published: Side,
    cuzk: Side,
    speedup: Speedup,
    /// Proofs of both sides; filecoin-proofs accepted all of them.
    proofs_accepted: usize,
    rounds: Vec<Round>,
}

/// Medians over all rounds; those of the warm proofs leave each round's first one out.
#[derive(Serialize)]
struct Side {
    name: String,
    first_seconds: f64,
    /// From the request's bytes to the proof's.
    whole_seconds: f64,
    /// The published prover evaluates the circuit's rows here, this project's while proving.
    witness_seconds: f64,
    first_proving_seconds: f64,
    proving_seconds: f64,
    warm_proofs: usize,
    peak_resident_bytes: u64,
}

/// How many times faster than the published prover.
#[derive(Serialize)]
struct Speedup {
    whole: f64,
    proving: f64,
}

/// Times of a round, in the order of its proofs.
type Times = Vec<f64>;

fn first(rounds: &[Times]) -> f64 {
    median(rounds.iter().filter_map(|times| times.first().copied()))
}

fn warm(rounds: &[Times]) -> f64 {
    median(
        rounds
            .iter()
            .flat_map(|times| times.iter().skip(1).copied()),
    )
}

impl Side {
    fn new(
        name: String,
        [whole, witness, proving]: [Vec<Times>; 3],
        peaks: impl Iterator<Item = u64>,
    ) -> Self {
        Self {
            name,
            first_seconds: first(&whole),
            whole_seconds: warm(&whole),
            witness_seconds: warm(&witness),
            first_proving_seconds: first(&proving),
            proving_seconds: warm(&proving),
            warm_proofs: whole
                .iter()
                .map(|times| times.len().saturating_sub(1))
                .sum(),
            peak_resident_bytes: peaks.max().unwrap_or(0),
        }
    }
}

impl Report {
    pub(super) fn new(id: CircuitId, rounds: Vec<Round>, proofs_accepted: usize) -> Self {
        let of_published = |time: fn(&super::published::Proved) -> f64| {
            let times = |round: &Round| round.published.proofs.iter().map(time).collect();
            rounds.iter().map(times).collect()
        };
        let published = Side::new(
            rounds[0].published.prover.clone(),
            [
                of_published(|proof| proof.seconds),
                of_published(|proof| proof.synthesis_seconds),
                of_published(|proof| proof.proving_seconds),
            ],
            rounds
                .iter()
                .map(|round| round.published.peak_resident_bytes),
        );
        let of_parts = |times: fn(&super::ours::Parts) -> &Times| {
            rounds
                .iter()
                .map(|round| times(&round.parts).clone())
                .collect()
        };
        let served = |round: &Round| round.service.proofs.iter().map(|p| p.seconds).collect();
        let cuzk = Side::new(
            "cuzk".to_owned(),
            [
                rounds.iter().map(served).collect(),
                of_parts(|parts| &parts.witness_seconds),
                of_parts(|parts| &parts.proving_seconds),
            ],
            rounds.iter().map(|round| round.service.peak_resident_bytes),
        );
        Self {
            circuit_id: id.to_string(),
            gpu: rounds[0].parts.gpu.clone(),
            speedup: Speedup {
                whole: published.whole_seconds / cuzk.whole_seconds,
                proving: published.proving_seconds / cuzk.proving_seconds,
            },
            published,
            cuzk,
            proofs_accepted,
            rounds,
        }
    }
}

pub(super) fn print_text(report: &Report) {
    println!("{} on {}", report.circuit_id, report.gpu);
    println!(
        "{:26} {:>10} {:>10} {:>10} {:>10} {:>14} {:>10}",
        "side", "whole", "first", "witness", "proving", "first proving", "memory"
    );
    for side in [&report.published, &report.cuzk] {
        let ms = |seconds: f64| format!("{:.1} ms", 1e3 * seconds);
        println!(
            "{:26} {:>10} {:>10} {:>10} {:>10} {:>14} {:>10}",
            side.name,
            ms(side.whole_seconds),
            ms(side.first_seconds),
            ms(side.witness_seconds),
            ms(side.proving_seconds),
            ms(side.first_proving_seconds),
            output::bytes(side.peak_resident_bytes)
        );
    }
    println!(
        "speedup: whole {:.1}x, proving part {:.1}x (medians of {} proofs after the first of each of {} rounds)",
        report.speedup.whole,
        report.speedup.proving,
        report.published.warm_proofs,
        report.rounds.len()
    );
    println!(
        "verdict: all {} proofs ACCEPTED by filecoin-proofs",
        report.proofs_accepted
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::gpu::ours::{Parts, Served, Service};
    use crate::compare::gpu::published::{Measurement, Proved};

    fn round(published: [f64; 3], cuzk: [f64; 3]) -> Round {
        let proved = |seconds| Proved {
            seconds,
            synthesis_seconds: seconds / 2.0,
            proving_seconds: seconds / 4.0,
            proof: Vec::new(),
        };
        let served = |seconds| Served {
            seconds,
            witness_ms: 0,
            proving_ms: 0,
            devices: String::new(),
            proof: Vec::new(),
        };
        Round {
            published: Measurement {
                prover: "published".to_owned(),
                proofs: published.into_iter().map(proved).collect(),
                peak_resident_bytes: 5,
            },
            service: Service {
                proofs: cuzk.into_iter().map(served).collect(),
                peak_resident_bytes: 6,
            },
            parts: Parts {
                gpu: "GPU".to_owned(),
                load_seconds: 0.0,
                witness_seconds: cuzk.to_vec(),
                proving_seconds: cuzk.to_vec(),
            },
        }
    }

    #[test]
    fn ratios_are_of_warm_medians() {
        let rounds = vec![
            round([100.0, 8.0, 16.0], [50.0, 1.0, 2.0]),
            round([90.0, 24.0, 32.0], [40.0, 3.0, 4.0]),
        ];
        let id = "porep-2k".parse().expect("a circuit");
        let report = Report::new(id, rounds, 12);
        // Of four values the lower one in the middle.
        assert_eq!(report.published.whole_seconds, 16.0);
        assert_eq!(report.published.proving_seconds, 4.0);
        assert_eq!(report.cuzk.whole_seconds, 2.0);
        assert_eq!(report.cuzk.first_seconds, 40.0);
        assert_eq!(report.speedup.whole, 8.0);
        assert_eq!(report.speedup.proving, 2.0);
        assert_eq!(report.published.warm_proofs, 4);
    }
}
