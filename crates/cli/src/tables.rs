//! `labels.csv`, `centers.csv`, `components.csv`, `places.csv` and `nodes.csv`: results for other programs, with every digit.
//!
//! How fields and numbers are written is the business of [`lehr_data::write::csv`]: the shortest text that reads back as the
//! same bits, so that equal results are equal files; columns of the data whose names are those of results give way ([`names::beside`]). Here is only what the rows say.

use std::io::{self, Write};
use std::ops::Range;

use lehr_data::write::csv::Table;
use lehr_data::write::names;
use lehr_mining::gtm::{Map, Projection};
use lehr_mining::vector::Assignment;
use lehr_mining::{minibatch, mixture};

use crate::clustering::{Clustering, shown};
use crate::space::Space;
use crate::summary;

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
pub fn centers(out: &mut impl Write, space: &Space, model: &Clustering) -> io::Result<()> {
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

/// `id,component,probability,log_density`, a line per input row in input order.
///
/// The probability is that of the component named; the log-density is the mixture's at the row, in the unit it was fitted in. Behind them stand the memberships in all components
/// (`membership0`, …), if there are any.
pub fn components_of_rows(
    out: &mut impl Write,
    ids: Option<&[String]>,
    labels: &[u32],
    probabilities: &[f64],
    log_densities: &[f64],
    memberships: Option<&[f64]>,
) -> io::Result<()> {
    let count = memberships.map_or(0, |memberships| memberships.len() / labels.len().max(1));
    let names: Vec<String> = ["id", "component", "probability", "log_density"]
        .into_iter()
        .map(str::to_owned)
        .chain(membership_names(count))
        .collect();
    let mut table = Table::new(out, &names)?;
    for (row, &label) in labels.iter().enumerate() {
        match ids {
            Some(ids) => table.text(&ids[row])?,
            None => table.count(row as u64)?,
        }
        table.count(u64::from(label))?;
        table.number(probabilities[row])?;
        table.number(log_densities[row])?;
        for &membership in memberships.map_or(&[][..], |memberships| &memberships[row * count..][..count]) {
            table.number(membership)?;
        }
        table.end_row()?;
    }
    Ok(())
}

/// `component`, `weight`, `rows`, the means by column, the standard deviations by column as `sd_COLUMN`: a line per component, by falling weight, in the columns' units.
///
/// Covariances of columns are in `summary.json`.
pub fn components(out: &mut impl Write, space: &Space, model: &mixture::Model) -> io::Result<()> {
    let ours = ["component", "weight", "rows"];
    let columns = names::beside(&ours, space.table().columns(), &["sd_"]);
    let names: Vec<String> = ours
        .into_iter()
        .map(str::to_owned)
        .chain(columns.iter().cloned())
        .chain(columns.iter().map(|column| format!("sd_{column}")))
        .collect();
    let mut table = Table::new(out, &names)?;
    for (k, rows) in summary::mixture::rows_of_each(model).into_iter().enumerate() {
        table.count(k as u64)?;
        table.number(model.mixture.weights()[k])?;
        table.count(rows as u64)?;
        let means = space.center(model.mixture.mean(k));
        for value in means.into_iter().chain(summary::mixture::deviations(space, &model.mixture, k)) {
            table.number(value)?;
        }
        table.end_row()?;
    }
    Ok(())
}

/// `id`, the place on the map by axis (`z1`, `z2`, …), `node`, `probability`, `entropy`, `log_density`: a line per input row in input order.
///
/// The place is the posterior mean, -1 to 1 along each axis; the node is the likeliest, the probability its share; the entropy is over nodes, in nats; the log-density is
/// the map's at the row, in the unit it was fitted in.
pub fn places(out: &mut impl Write, ids: Option<&[String]>, places: &Projection) -> io::Result<()> {
    let axes = (1..=places.latent).map(|axis| format!("z{axis}"));
    let rest = ["node", "probability", "entropy", "log_density"].map(str::to_owned);
    let names: Vec<String> = std::iter::once("id".to_owned()).chain(axes).chain(rest).collect();
    let mut table = Table::new(out, &names)?;
    for (row, &node) in places.modes.iter().enumerate() {
        match ids {
            Some(ids) => table.text(&ids[row])?,
            None => table.count(row as u64)?,
        }
        for &z in places.position(row) {
            table.number(z)?;
        }
        table.count(u64::from(node))?;
        table.number(places.probabilities[row])?;
        table.number(places.entropies[row])?;
        table.number(places.log_densities[row])?;
        table.end_row()?;
    }
    Ok(())
}

/// `node`, its place on the map (`z1`, …), its image by column in the columns' own units, `magnification`, `rows`: a line per node.
///
/// The magnification is how much the map is stretched there, in the unit it was fitted in; rows are those whose likeliest node it is.
pub fn nodes(out: &mut impl Write, space: &Space, map: &Map, places: &Projection) -> io::Result<()> {
    let first: Vec<String> =
        std::iter::once("node".to_owned()).chain((1..=map.latent()).map(|axis| format!("z{axis}"))).collect();
    let last = ["magnification", "rows"];
    let ours: Vec<&str> = first.iter().map(String::as_str).chain(last).collect();
    let columns = names::beside(&ours, space.table().columns(), &[]);
    let names: Vec<&str> = first.iter().chain(&columns).map(String::as_str).chain(last).collect();
    let mut table = Table::new(out, &names)?;
    for (k, rows) in summary::gtm::rows_of_each(map, places).into_iter().enumerate() {
        let place = map.node(k);
        table.count(k as u64)?;
        for value in place.iter().copied().chain(space.center(&map.at(&place))).chain([map.magnification(&place)]) {
            table.number(value)?;
        }
        table.count(rows as u64)?;
        table.end_row()?;
    }
    Ok(())
}
