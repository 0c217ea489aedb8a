//! The parts of a report that answer the first questions: why the clusters differ, which rows are outliers, and how
//! Lehr uses the columns.

use lehr_data::scale::Spreads;
use lehr_methods::Rows;
use lehr_methods::cluster::{Fitted, Outlying, OutlyingRow};
use lehr_methods::explain::Explanation;
use lehr_methods::numbers::{counted, grouped, significant};
use lehr_methods::origin::Origin;
use maud::{Markup, html};

use crate::markup::{section, swatch, table, typeset};

/// The maximum number of clusters that are described in words and in the profile; `marks.csv` describes all clusters.
const CLUSTERS_MAX: usize = 40;
/// The maximum number of marks in the description of a cluster.
const MARKS_MAX: usize = 4;
/// The maximum number of columns in the profile; `centers.csv` has all columns.
const COLUMNS_MAX: usize = 100;
/// The maximum number of outliers in the list; `outliers.csv` has all outliers.
const OUTLIERS_MAX: usize = 15;
/// The deviation from the mean at which a cell of the profile has its full colour, in standard deviations.
const FULL_COLOR: f64 = 2.0;

/// Returns the descriptions of the clusters, their profile over all columns, and the rules that reproduce the labels.
pub fn apart(space: &Rows, model: &Fitted, explained: &Explanation) -> Markup {
    let names: Vec<&str> = explained.clusters.iter().map(|portrait| &*portrait.name).collect();
    let content = html! {
        ul.portraits {
            @for (cluster, portrait) in explained.clusters.iter().enumerate().take(CLUSTERS_MAX) {
                li {
                    (swatch(cluster))
                    span { b { (cluster) ": " (portrait.name) } " " (typeset(&portrait.line(MARKS_MAX))) }
                }
            }
        }
        (profile(space, model, &names))
        @if let Some(tree) = &explained.tree {
            details {
                summary { "Rules that repeat " (significant(100.0 * tree.accuracy, 3)) " % of the labels" }
                pre { (tree.text()) }
            }
        }
    };
    section(
        "apart",
        "What sets the clusters apart",
        "The columns in which a cluster differs most from all rows, largest effect first. marks.csv has every difference \
         with its test value.",
        content,
    )
}

/// Returns a table with a row for each cluster and a column for each column of the data. A cell shows the centre, and
/// its colour shows how many standard deviations the centre deviates from the mean of all rows.
fn profile(space: &Rows, model: &Fitted, names: &[&str]) -> Markup {
    let points = space.points();
    let columns = &space.columns()[..points.dimension().min(COLUMNS_MAX)];
    let spreads = Spreads::of(points);
    let cell = |column: usize, center: &[f64], own: f64| {
        let (mean, deviation) = (spreads.mean(column), spreads.deviation(column));
        let z = if deviation > 0.0 { (center[column] - mean) / deviation } else { 0.0 };
        let side = if z < 0.0 { "below" } else { "above" };
        let color = format!("--z:{:.0}%", 100.0 * (z.abs() / FULL_COLOR).min(1.0));
        let title = format!("{}: {}, {} standard deviations", columns[column], significant(own, 4), significant(z, 2));
        html! { td class=(side) style=(color) title=(title) { (typeset(&significant(own, 3))) } }
    };
    html! {
        h3 { "Profiles" }
        p.note {
            "Centres in the units of the columns, coloured by how far they lie above (" span.above.key { "blue" }
            ") or below (" span.below.key { "orange" }
            ") the mean of all rows; full colour at two standard deviations."
        }
        div.scroll tabindex="0" role="region" aria-label="Profiles of the clusters" {
            table.profile.sortable {
                thead {
                    tr { th scope="col" { "cluster" } @for name in columns { th scope="col" { span { (name) } } } }
                }
                tbody {
                    @for (cluster, center) in model.each_center().enumerate().take(CLUSTERS_MAX) {
                        @let own = space.center(center);
                        tr {
                            th scope="row" title=(names.get(cluster).unwrap_or(&"")) { (swatch(cluster)) (cluster) }
                            @for column in 0..columns.len() { (cell(column, center, own[column])) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the table of outliers.
pub fn outliers(space: &Rows, outlying: &Outlying) -> Markup {
    if outlying.rows.is_empty() {
        return Markup::default();
    }
    let named = |found: &OutlyingRow| {
        let name = |(column, share): &(usize, f64)| format!("{} ({:.0} %)", space.columns()[*column], 100.0 * share);
        found.columns.iter().filter(|_| !space.is_sphere()).map(name).collect::<Vec<_>>().join(", ")
    };
    let body = html! {
        @for found in outlying.rows.iter().take(OUTLIERS_MAX) {
            tr {
                td.words { @if let Some(ids) = space.ids() { (ids[found.row]) } @else { (found.row) } }
                td { (found.cluster) }
                td { (significant(space.distance(found.distance), 4)) }
                td { (significant(found.score, 3)) }
                td.words { (named(found)) }
            }
        }
    };
    let rest = outlying.rows.len().saturating_sub(OUTLIERS_MAX);
    let content = html! {
        (table("outliers", "Rows far out", ["row\t", "nearest cluster", "distance", "score", "columns\t"], body))
        @if rest > 0 { p.note { (counted(rest as u64, "more row")) " in outliers.csv." } }
    };
    section(
        "far-out",
        &format!("{} far out", counted(outlying.rows.len() as u64, "row")),
        "Farther from the nearest centre than three interquartile ranges above the upper quartile of the cluster's \
         distances. The score is the distance divided by that limit; the columns have most of the squared distance.",
        content,
    )
}

/// Returns the table of the columns, with the role and use of each column.
pub fn columns(origin: &Origin) -> Markup {
    let lines = origin.lines();
    let (head, rows) = lines.split_first().expect("a head, whatever there is");
    let head: Vec<String> = head.iter().map(|name| format!("{name}\t")).collect();
    let body = html! { @for line in rows { tr { @for text in line { td.words { (text) } } } } };
    let used = origin.preparation.uses.iter().filter(|used| used.is_used).count();
    section(
        "columns",
        "The columns",
        &format!(
            "{} of {} make the distances. model.json keeps how they were prepared, and lehr predict prepares other \
             tables in the same way.",
            grouped(used as u64),
            counted(origin.accounts.len() as u64, "column")
        ),
        table("account", "The columns", head.iter().map(String::as_str), body),
    )
}
