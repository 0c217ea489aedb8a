//! `labels.csv` and `centers.csv`: results for other programs, with every digit.
//!
//! How fields and numbers are written is the business of [`lehr_data::write::csv`]: the shortest text that reads back as the
//! same bits, so that equal results are equal files. Here is only what the rows say.

use std::io::{self, Write};
use std::ops::Range;

use lehr_data::write::csv::Table;
use lehr_mining::vector::Model;

use crate::space::Space;

const LABEL_COLUMNS: [&str; 3] = ["id", "cluster", "probability"];

/// `id,cluster,probability`, the first line of `labels.csv`.
pub fn labels_head() -> Vec<u8> {
    let mut text = Vec::new();
    Table::new(&mut text, &LABEL_COLUMNS).expect("memory takes any text");
    text
}

/// Lines of `labels.csv`, one an input row in input order, for the rows of a range, of which everything else has as many entries.
///
/// The id is the input's, or the 0-based row. The probability is that of the cluster named, at the last temperature at
/// which assignments were soft.
pub fn label_rows(rows: Range<usize>, ids: Option<&[String]>, labels: &[u32], probabilities: &[f64]) -> Vec<u8> {
    let mut text = Vec::with_capacity(rows.len() * 32);
    let mut table = Table::rows(&mut text, LABEL_COLUMNS.len());
    let mut write = |place: usize, row: usize| -> io::Result<()> {
        match ids {
            Some(ids) => table.text(&ids[place])?,
            None => table.count(row as u64)?,
        }
        table.count(u64::from(labels[place]))?;
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
/// cluster's rows to the centre, in km along the surface with `--lonlat`, in scaled units with `--scale`.
pub fn centers(out: &mut impl Write, space: &Space, model: &Model) -> io::Result<()> {
    let columns: Vec<&str> = std::iter::once("cluster")
        .chain(space.table().columns().iter().map(String::as_str))
        .chain(["weight", "spread"])
        .collect();
    let mut table = Table::new(out, &columns)?;
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
