//! `labels.csv` and `centers.csv`: results for other programs, with every digit.
//!
//! How fields and numbers are written is the business of [`lehr_data::write::csv`]: the shortest text that reads back as the
//! same bits, so that equal results are equal files. Here is only what the rows say.

use std::io::{self, Write};

use lehr_data::write::csv::Table;
use lehr_mining::vector::Model;

use crate::space::Space;

/// `id,cluster,probability`, a line per input row in input order.
///
/// The id is the input's, or the 0-based row. The probability is that of the cluster named, at the last temperature at
/// which assignments were soft.
pub fn labels(out: &mut impl Write, space: &Space, model: &Model) -> io::Result<()> {
    let mut table = Table::new(out, &["id", "cluster", "probability"])?;
    let ids = space.table().ids();
    for (row, (&label, &probability)) in model.labels.iter().zip(&model.probabilities).enumerate() {
        match ids {
            Some(ids) => table.text(&ids[row])?,
            None => table.count(row as u64)?,
        }
        table.count(u64::from(label))?;
        table.number(probability)?;
        table.end_row()?;
    }
    Ok(())
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
