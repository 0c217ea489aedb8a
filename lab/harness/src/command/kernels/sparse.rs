//! The sparse rows of `bench kernels`: one E+M step by the kernel that goes over what is not 0 against the kernel of numbers over the same rows ([`sparse_step`](crate::sparse_step)).

use anyhow::{Result, bail};
use lehr_data::synthetic;

use super::WIDTHS;
use crate::arguments::Arguments;
use crate::compare::{ratios, verdict};
use crate::definition::Kernels;
use crate::measure::Spread;
use crate::output;
use crate::record::Record;
use crate::sparse_step::{Problem, Turns};

/// Measures the sparse case of `mining/kernels.json`, on one thread.
///
/// # Errors
/// A wrong answer on either side.
pub(super) fn run(arguments: &Arguments, definition: &Kernels, rounds: usize, record: &mut Record) -> Result<()> {
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
            report(&format!("{columns} sparse columns {precision} K={clusters}"), &turns, case.aim, record);
        }
    }
    Ok(())
}

fn report(name: &str, turns: &Turns, aim: f64, record: &mut Record) {
    let (sparse, numbers) = (Spread::of(&turns.sparse), Spread::of(&turns.numbers));
    let ratio = ratios(&turns.sparse, &turns.numbers);
    let shown = |spread: Spread| format!("{:.1} {:.1} {:.1}", spread.min, spread.median, spread.max);
    let cells = [
        name.to_string(),
        shown(sparse),
        shown(numbers),
        format!("{:.3} {:.3} {:.3}", ratio.min, ratio.median, ratio.max),
        verdict(ratio.median, aim),
        format!("{:.1e}", turns.error),
    ];
    output::row(&WIDTHS, &cells);
    let count = turns.sparse.len();
    record.add(name, "sparse", "time per point and centre", "ns", count, sparse);
    record.add(name, "numbers", "time per point and centre", "ns", count, numbers);
    record.add(name, "sparse/numbers", "ratio", "1", count, ratio);
}
