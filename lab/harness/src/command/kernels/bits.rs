//! The bits of `bench kernels`: one E+M step over rows of bits, by the kernel that reads bits against the kernel of
//! numbers over the same rows ([`bit_step`](crate::bit_step)).

use anyhow::{Result, bail};
use lehr_data::synthetic;

use super::{WIDTHS, report};
use crate::arguments::MeasurementArguments;
use crate::bit_step::Problem;
use crate::definition::{BitCase, Kernels};
use crate::output;
use crate::record::Record;

/// Measures the case of bits of `mining/kernels.json`, on one thread.
///
/// # Errors
/// Returns an error if an answer of either side is wrong.
pub(super) fn run(
    arguments: &MeasurementArguments,
    definition: &Kernels,
    rounds: usize,
    record: &mut Record,
) -> Result<()> {
    let case = &definition.bits;
    output::line(&format!(
        "rows of {} bits, {:.0} % of which are set: bits against numbers, ns per point and centre",
        case.bits,
        100.0 * case.density
    ));
    output::row(&WIDTHS, &["case", "bits", "numbers", "ratio by round", "aim", "error"].map(String::from));
    for &clusters in &case.clusters {
        if !arguments.wants(&format!("{} bits K={clusters}", case.bits)) {
            continue;
        }
        let problem = problem(case, clusters);
        for precision in &definition.precisions {
            let tolerance = definition.tolerance[precision];
            let turns = match precision.as_str() {
                "f32" => problem.measure::<f32>(rounds, tolerance)?,
                "f64" => problem.measure::<f64>(rounds, tolerance)?,
                other => bail!("mining/kernels.json: unknown precision {other:?}"),
            };
            let name = format!("{} bits {precision} K={clusters}", case.bits);
            report(&name, ["bits", "numbers"], [&turns.own, &turns.numbers], (turns.error, case.aim), record);
        }
    }
    Ok(())
}

/// Generates rows of as many templates as there are centres.
fn problem(case: &BitCase, clusters: usize) -> Problem {
    let flip = 0.05;
    // With this share, rows have the density of the case after bits are flipped.
    let set = (case.density - flip) / (1.0 - 2.0 * flip);
    let (rows, labels) = synthetic::bit_templates(clusters, case.rows.div_ceil(clusters), case.bits, set, flip, 7);
    Problem::new(rows, clusters, |row| labels[row] as usize)
}
