//! The bits of `bench kernels`: one E+M step over rows of bits, by the kernel that reads bits against the kernel of numbers over the same rows ([`bit_step`](crate::bit_step)).

use anyhow::{Result, bail};
use lehr_data::synthetic;

use super::WIDTHS;
use crate::arguments::Arguments;
use crate::bit_step::{Problem, Turns};
use crate::compare::{ratios, verdict};
use crate::definition::{BitCase, Kernels};
use crate::measure::Spread;
use crate::output;
use crate::record::Record;

/// Measures the case of bits of `mining/kernels.json`, on one thread.
///
/// # Errors
/// A wrong answer on either side.
pub(super) fn run(arguments: &Arguments, definition: &Kernels, rounds: usize, record: &mut Record) -> Result<()> {
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
            report(&format!("{} bits {precision} K={clusters}", case.bits), &turns, case.aim, record);
        }
    }
    Ok(())
}

/// Rows of as many templates as there are centres.
fn problem(case: &BitCase, clusters: usize) -> Problem {
    let flip = 0.05;
    // As dense, once bits are flipped, as the case says.
    let set = (case.density - flip) / (1.0 - 2.0 * flip);
    let (rows, labels) = synthetic::bit_templates(clusters, case.rows.div_ceil(clusters), case.bits, set, flip, 7);
    Problem::new(rows, clusters, |row| labels[row] as usize)
}

fn report(name: &str, turns: &Turns, aim: f64, record: &mut Record) {
    let (bits, numbers) = (Spread::of(&turns.bits), Spread::of(&turns.numbers));
    let ratio = ratios(&turns.bits, &turns.numbers);
    let shown = |spread: Spread| format!("{:.2} {:.2} {:.2}", spread.min, spread.median, spread.max);
    let cells = [
        name.to_string(),
        shown(bits),
        shown(numbers),
        format!("{:.2} {:.2} {:.2}", ratio.min, ratio.median, ratio.max),
        verdict(ratio.median, aim),
        format!("{:.1e}", turns.error),
    ];
    output::row(&WIDTHS, &cells);
    let count = turns.bits.len();
    record.add(name, "bits", "time per point and centre", "ns", count, bits);
    record.add(name, "numbers", "time per point and centre", "ns", count, numbers);
    record.add(name, "bits/numbers", "ratio", "1", count, ratio);
}
