//! Kernels' times, at the sizes of real circuits.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_cuda::{
    Bases, Curve, Density, Device, G1, G2, IndexList, Pairing, Quotient, Windows, msm,
    msm_workspace,
};
use group::Group;

use crate::Outcome;
use crate::synthetic::Inputs;
use crate::table::Table;

pub(crate) fn run(device: &Arc<Device>, inputs: &Inputs, largest: u32, table: &mut Table) {
    let tables: [(u32, Option<f64>); 6] = [
        (17, None),
        (20, None),
        (21, None),
        (22, None),
        (24, None),
        (27, Some(145.0)),
    ];
    for (log_n, target) in tables {
        if log_n <= largest
            && let Err(error) = quotient(device, inputs, log_n, target, table)
        {
            table.failed("quotient", error.as_ref());
        }
    }
    let g1 = [
        (15, None),
        (17, None),
        (20, Some(7.0)),
        (21, None),
        (22, None),
        (24, Some(66.0)),
        (27, Some(440.0)),
    ];
    msms::<G1>(device, inputs, &g1, largest, "g1", table);
    msms::<G2>(
        device,
        inputs,
        &[(15, None), (17, None), (18, None), (20, None), (22, None)],
        largest,
        "g2",
        table,
    );
    if largest >= 27 {
        let rows: [Outcome; 4] = [
            sum_of_ones::<G1>(
                device,
                inputs,
                130_000_000,
                "sum of ones g1, 65M of 130M",
                18.0,
                table,
            ),
            sum_of_ones::<G2>(
                device,
                inputs,
                33_000_000,
                "sum of ones g2, 16M of 33M",
                15.0,
                table,
            ),
            wide_tail::<G1>(
                device,
                inputs,
                (130_000_000, 1_700_000),
                "wide msm g1, 1.7M of 130M",
                11.0,
                table,
            ),
            wide_tail::<G2>(
                device,
                inputs,
                (33_000_000, 400_000),
                "wide msm g2, 0.4M of 33M",
                10.0,
                table,
            ),
        ];
        for row in rows {
            if let Err(error) = row {
                table.failed("large sums", error.as_ref());
            }
        }
    }
}

fn quotient(
    device: &Arc<Device>,
    inputs: &Inputs,
    log_n: u32,
    target: Option<f64>,
    table: &mut Table,
) -> Outcome {
    if !table.wants(&format!("quotient 2^{log_n}")) {
        return Ok(());
    }
    let bytes = 32u64 << log_n;
    let memory = device.allocate(3 * bytes)?;
    let [a, b, c] = [0, 1, 2].map(|i| memory.region(i * bytes, bytes));
    a.upload(&inputs.scalars[..1 << log_n])?;
    b.upload(&inputs.scalars[..1 << log_n])?;
    let quotient = Quotient::new(device, log_n)?;
    table.time(&format!("quotient 2^{log_n}"), 5, target, || {
        quotient.run(a, b, c)?;
        Ok(device.wait()?)
    });
    Ok(())
}

fn msms<C: Curve>(
    device: &Arc<Device>,
    inputs: &Inputs,
    sizes: &[(u32, Option<f64>)],
    largest: u32,
    curve: &str,
    table: &mut Table,
) where
    C::Point: Group<Scalar = Scalar>,
{
    for &(log_n, target) in sizes.iter().filter(|(log_n, _)| *log_n <= largest) {
        let name = format!("msm {curve} 2^{log_n}");
        if let Err(error) = time_msm::<C>(device, inputs, log_n, &[None], &name, target, table) {
            table.failed(&name, error.as_ref());
        }
    }
}

/// Multiplications with other windows than are chosen.
pub(crate) fn tune(device: &Arc<Device>, inputs: &Inputs, largest: u32, table: &mut Table) {
    let choices = [
        (15, &[18, 20, 22, 24, 26][..]),
        (17, &[16, 18, 20, 22, 24]),
        (20, &[14, 15, 16, 17, 18]),
        (22, &[13, 14, 15]),
        (24, &[12, 13]),
    ];
    for (log_n, counts) in choices.into_iter().filter(|(log_n, _)| *log_n <= largest) {
        let batches = |count: u32| {
            [1, 2, 4].map(|batches| {
                Some(Windows {
                    count,
                    per_batch: count.div_ceil(batches),
                })
            })
        };
        let windows: Vec<_> = counts.iter().flat_map(|&count| batches(count)).collect();
        let mut run = || -> Outcome {
            time_msm::<G1>(
                device,
                inputs,
                log_n,
                &windows,
                &format!("msm g1 2^{log_n}"),
                None,
                table,
            )?;
            if log_n <= 20 {
                time_msm::<G2>(
                    device,
                    inputs,
                    log_n,
                    &windows,
                    &format!("msm g2 2^{log_n}"),
                    None,
                    table,
                )?;
            }
            Ok(())
        };
        if let Err(error) = run() {
            table.failed("tune", error.as_ref());
        }
    }
}

fn time_msm<C: Curve>(
    device: &Arc<Device>,
    inputs: &Inputs,
    log_n: u32,
    choices: &[Option<Windows>],
    name: &str,
    target: Option<f64>,
    table: &mut Table,
) -> Outcome {
    if !table.wants(name) {
        return Ok(());
    }
    let count = 1 << log_n;
    let bases: Bases<C> = inputs.bases(device, count)?;
    let scalars = device.allocate_copy(&inputs.scalars[..1 << log_n])?;
    for &windows in choices {
        let workspace = device.allocate(msm_workspace::<C>(device, count, windows)?)?;
        let gigabytes = workspace.bytes() as f64 / 1e9;
        let cut = windows.map_or(String::new(), |w| format!(" {}:{}", w.count, w.per_batch));
        table.time(
            &format!("{name}{cut}, {gigabytes:.1} GB"),
            3,
            target,
            || {
                msm(
                    &bases,
                    scalars.all(),
                    &Pairing::straight(count),
                    windows,
                    workspace.all(),
                )?;
                Ok(())
            },
        );
    }
    Ok(())
}

fn sum_of_ones<C: Curve>(
    device: &Arc<Device>,
    inputs: &Inputs,
    count: u32,
    name: &str,
    target: f64,
    table: &mut Table,
) -> Outcome {
    if !table.wants(name) {
        return Ok(());
    }
    let words: Vec<u64> = inputs
        .words
        .iter()
        .cycle()
        .take(count as usize / 64)
        .copied()
        .collect();
    let bases: Bases<C> = inputs.bases(device, count)?;
    let density = Density::new(device, &vec![u64::MAX; words.len()], 0)?;
    let bits = device.allocate_copy(&words)?;
    let workspace = device.allocate(density.workspace::<C>()?)?;
    table.time(name, 5, Some(target), || {
        density.sum_ones(&bases, bits.all(), workspace.all())?;
        Ok(())
    });
    Ok(())
}

/// `terms` scalars, with bases spread over all of them.
fn wide_tail<C: Curve>(
    device: &Arc<Device>,
    inputs: &Inputs,
    (count, terms): (u32, u32),
    name: &str,
    target: f64,
    table: &mut Table,
) -> Outcome {
    if !table.wants(name) {
        return Ok(());
    }
    let bases: Bases<C> = inputs.bases(device, count)?;
    let scalars = device.allocate_copy(&inputs.scalars[..terms as usize])?;
    let base_of: Vec<u32> = (0..terms)
        .map(|i| (u64::from(i) * u64::from(count) / u64::from(terms)) as u32)
        .collect();
    let pairing = Pairing {
        count: terms,
        scalar_of: None,
        base_of: Some(IndexList::new(device, &base_of)?),
    };
    let workspace = device.allocate(msm_workspace::<C>(device, terms, None)?)?;
    table.time(name, 5, Some(target), || {
        msm(&bases, scalars.all(), &pairing, None, workspace.all())?;
        Ok(())
    });
    Ok(())
}
