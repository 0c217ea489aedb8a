//! The sparse rows of `bench kernels`: one E+M step by the kernel for sparse rows, against the kernel of numbers over
//! the same rows ([`sparse_step`](crate::sparse_step)).

use anyhow::{Result, bail};
use lehr_data::synthetic;

use super::{WIDTHS, report};
use crate::arguments::MeasurementArguments;
use crate::definition::Kernels;
use crate::output;
use crate::record::Record;
use crate::sparse_step::Problem;

/// Measures the sparse case of `mining/kernels.json`, on one thread.
///
/// # Errors
/// Returns an error if an answer of either side is wrong.
pub(super) fn run(
    arguments: &MeasurementArguments,
    definition: &Kernels,
    rounds: usize,
    record: &mut Record,
) -> Result<()> {
    let case = &definition.sparse;
    let (mut is_told, columns) = (false, case.columns);
    for &clusters in &case.clusters {
        if !arguments.wants(&format!("{columns} sparse columns K={clusters}")) {
            continue;
        }
        let (rows, labels) = synthetic::topics(clusters, case.rows.div_ceil(clusters), columns, case.words, 7);
        if !is_told {
            output::line(&format!(
                "sparse rows of {columns} columns, {:.2} % of which are not 0: against all columns, ns per point and centre",
                100.0 * rows.density()
            ));
            output::row(&WIDTHS, &["case", "sparse", "numbers", "ratio by round", "aim", "error"].map(String::from));
            is_told = true;
        }
        let problem = Problem::new(rows, clusters, |row| labels[row] as usize);
        for precision in &definition.precisions {
            let tolerance = definition.tolerance[precision];
            let turns = match precision.as_str() {
                "f32" => problem.measure::<f32>(rounds, tolerance)?,
                "f64" => problem.measure::<f64>(rounds, tolerance)?,
                other => bail!("mining/kernels.json: unknown precision {other:?}"),
            };
            let name = format!("{columns} sparse columns {precision} K={clusters}");
            report(&name, ["sparse", "numbers"], [&turns.own, &turns.numbers], (turns.error, case.aim), record);
        }
    }
    Ok(())
}
