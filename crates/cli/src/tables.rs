//! `labels.csv`, `centers.csv`, `components.csv`, `places.csv` and `nodes.csv`: results for other programs, with every digit.
//!
//! How fields and numbers are written is the business of [`lehr_data::write::csv`]: the shortest text that reads back as the
//! same bits, so that equal results are equal files; columns of the data whose names are those of results give way ([`names::beside`]). Here is only what the rows say.

use std::io::{self, Write};
use std::ops::Range;

use lehr_data::write::csv::Table;
use lehr_data::write::names;
use lehr_mining::minibatch;
use lehr_mining::vector::Assignment;

use crate::clustering::{Clustering, shown};
use lehr_methods::Rows;

const LABEL_COLUMNS: [&str; 3] = ["id", "cluster", "probability"];

/// `id,cluster,probability`, the first line of `labels.csv`.
pub fn labels_head() -> Vec<u8> {
    let mut text = Vec::new();
    Table::new(&mut text, &LABEL_COLUMNS).expect("memory takes any text");
    text
}

/// Lines of `labels.csv`, one an input row in input order, for the rows of a range, of which everything else has as many entries.
///
/// The id is the input's, or the 0-based row. The cluster is -1 for rows in the sponge. The probability is that of the cluster named, at the last temperature at
/// which assignments were soft.
pub fn label_rows(rows: Range<usize>, ids: Option<&[String]>, labels: &[u32], probabilities: &[f64]) -> Vec<u8> {
    let mut text = Vec::with_capacity(rows.len() * 32);
    let mut table = Table::rows(&mut text, LABEL_COLUMNS.len());
    let mut write = |place: usize, row: usize| -> io::Result<()> {
        match ids {
            Some(ids) => table.text(&ids[place])?,
            None => table.count(row as u64)?,
        }
        table.integer(shown(labels[place]))?;
        table.number(probabilities[place])?;
        table.end_row()
    };
    for (place, row) in rows.enumerate() {
        write(place, row).expect("memory takes any text");
    }
    text
}

/// `cluster`, the columns, `weight`, `spread`, a line per cluster, by falling weight.
///
/// Centres are in the units of the columns (degrees with `--lonlat`); the spread is the root mean square distance of the
/// cluster's rows to the centre, in km along the surface with `--lonlat`, in scaled units with `--scale`. Of bits, a centre is how frequent each is.
pub fn centers(out: &mut impl Write, space: &Rows, model: &Clustering) -> io::Result<()> {
    let mut table = Table::new(out, &center_names(space.columns()))?;
    for (cluster, (center, facts)) in model.centers.chunks_exact(model.dimension).zip(&model.clusters).enumerate() {
        table.count(cluster as u64)?;
        for value in space.center(center) {
            table.number(value)?;
        }
        table.number(facts.weight)?;
        table.number(space.distance(facts.spread))?;
        table.end_row()?;
    }
    Ok(())
}

/// The same of a stream, of which nothing is left but centres: those given are in the units of the columns.
pub fn centers_of_stream(
    out: &mut impl Write,
    columns: &[String],
    centers: &[Vec<f64>],
    clusters: &[minibatch::Cluster],
) -> io::Result<()> {
    let mut table = Table::new(out, &center_names(columns))?;
    for (cluster, (center, facts)) in centers.iter().zip(clusters).enumerate() {
        table.count(cluster as u64)?;
        for &value in center {
            table.number(value)?;
        }
        table.number(facts.weight)?;
        table.number(facts.spread)?;
        table.end_row()?;
    }
    Ok(())
}

/// The columns of `centers.csv`, for these columns of the data.
fn center_names(columns: &[String]) -> Vec<String> {
    let columns = names::beside(&["cluster", "weight", "spread"], columns, &[]);
    let [first, last] =
        [&["cluster"][..], &["weight", "spread"]].map(|names| names.iter().map(|&name| name.to_owned()));
    first.chain(columns).chain(last).collect()
}

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
        table.integer(shown(label))?;
        table.number(found.probabilities[row])?;
        table.number(distance(found.distances[row]))?;
        for &membership in memberships.map_or(&[][..], |memberships| &memberships[row * count..][..count]) {
            table.number(membership)?;
        }
        table.end_row()?;
    }
    Ok(())
}
