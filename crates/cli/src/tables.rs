//! What `lehr predict` says of rows, for other programs, with every digit.
//!
//! How fields and numbers are written is the business of [`lehr_data::write::csv`]: the shortest text that reads back as the same bits, so that equal results are
//! equal files. Here is only what the rows say.

use std::io::{self, Write};

use lehr_data::write::csv::Table;
use lehr_mining::vector::Assignment;

use lehr_methods::shown_label;

/// What columns of memberships are called.
fn membership_names(components: usize) -> impl Iterator<Item = String> {
    (0..components).map(|k| format!("membership{k}"))
}

/// `id,cluster,probability,distance`, a line per row in the order of the table, `cost` in place of the distance by likelihood; behind them the memberships in all clusters (`membership0`, …), if there are any.
///
/// The cluster is the nearest, or -1 where none is within the sponge's radius; the distance is to its centre, as spreads are given in `centers.csv`.
pub fn clusters_of_rows(
    out: &mut impl Write,
    ids: Option<&[String]>,
    found: &Assignment,
    distance: impl Fn(f64) -> f64,
    memberships: Option<&[f64]>,
    is_likelihood: bool,
) -> io::Result<()> {
    let measure = if is_likelihood { "cost" } else { "distance" };
    let count = memberships.map_or(0, |memberships| memberships.len() / found.labels.len().max(1));
    let names: Vec<String> = ["id", "cluster", "probability", measure]
        .into_iter()
        .map(str::to_owned)
        .chain(membership_names(count))
        .collect();
    let mut table = Table::new(out, &names)?;
    for (row, &label) in found.labels.iter().enumerate() {
        match ids {
            Some(ids) => table.text(&ids[row])?,
            None => table.count(row as u64)?,
        }
        table.integer(shown_label(label))?;
        table.number(found.probabilities[row])?;
        table.number(distance(found.distances[row]))?;
        for &membership in memberships.map_or(&[][..], |memberships| &memberships[row * count..][..count]) {
            table.number(membership)?;
        }
        table.end_row()?;
    }
    Ok(())
}
