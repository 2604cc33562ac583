//! Checks of every point, for files whose digest nobody knows.

use cuzk_r1cs::R1cs;
use rayon::prelude::*;

use super::{ParameterFile, ParamsError, PointError, Query};
use crate::progress::Progress;
use crate::setup::circuit_name;

/// Points between two progress reports.
const CHUNK: usize = 1 << 16;

impl ParameterFile {
    /// Checks that every point of every query is uncompressed, finite, canonical and on its curve. On all cores.
    ///
    /// Not checked: membership in the prime-order subgroup, at about a hundred times the cost. A point that a bit
    /// error moved is off the curve; a file made with bad intent is what the digest is for.
    pub fn check_points(&self, progress: &dyn Progress) -> Result<(), ParamsError> {
        let total = [self.h(), self.l(), self.a(), self.b_g1()].map(|q| q.len() as u64);
        let total = total.iter().sum::<u64>() + self.b_g2().len() as u64;
        progress.begin("curve checks of the parameters", total);
        for query in [Query::H, Query::L, Query::A, Query::BG1] {
            let points = self.g1(query);
            self.check_query(query, points.len(), |i| points.check(i).map(drop), progress)?;
        }
        let points = self.b_g2();
        self.check_query(
            Query::BG2,
            points.len(),
            |i| points.check(i).map(drop),
            progress,
        )
    }

    fn check_query(
        &self,
        query: Query,
        len: usize,
        check: impl Fn(usize) -> Result<(), PointError> + Sync,
        progress: &dyn Progress,
    ) -> Result<(), ParamsError> {
        let bytes = self.range(query);
        let point = bytes.len() / len.max(1);
        (0..len.div_ceil(CHUNK))
            .into_par_iter()
            .try_for_each(|chunk| {
                let (start, end) = (chunk * CHUNK, len.min((chunk + 1) * CHUNK));
                for index in start..end {
                    check(index).map_err(|source| ParamsError::Point {
                        path: self.path().into(),
                        part: format!("query {query}"),
                        index,
                        source,
                    })?;
                }
                progress.advance((end - start) as u64);
                self.release_range(bytes.start + start * point..bytes.start + end * point);
                Ok(())
            })
    }
}

impl ParameterFile {
    /// Compares the lengths of the queries with what the circuit calls for.
    pub fn check_circuit(&self, circuit: &R1cs) -> Result<(), ParamsError> {
        let densities = circuit.densities();
        let a = circuit.num_inputs() + densities.a_aux.count_ones();
        let b = densities.b_inputs.count_ones() + densities.b_aux.count_ones();
        let counts = [
            (
                "input points in the verifying key",
                self.vk().ic.len(),
                circuit.num_inputs(),
            ),
            (
                "points in query H",
                self.h().len(),
                (1 << circuit.log_domain()) - 1,
            ),
            ("points in query L", self.l().len(), circuit.num_aux()),
            ("points in query A", self.a().len(), a),
            ("points in query B in G1", self.b_g1().len(), b),
            ("points in query B in G2", self.b_g2().len(), b),
        ];
        match counts
            .into_iter()
            .find(|(_, found, expected)| found != expected)
        {
            None => Ok(()),
            Some((what, found, expected)) => Err(ParamsError::Circuit {
                path: self.path().into(),
                what: what.into(),
                found,
                expected,
                circuit: circuit_name(circuit),
            }),
        }
    }
}
