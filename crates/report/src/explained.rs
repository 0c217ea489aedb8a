//! The parts of a page that answer people's first questions. They are why clusters differ, which rows lie far out, and
//! how the columns are used.

use lehr_data::scale::Spreads;
use lehr_methods::Rows;
use lehr_methods::cluster::{Fitted, Outlying};
use lehr_methods::explain::Explanation;
use lehr_methods::numbers::{counted, grouped, significant};
use lehr_methods::origin::Origin;

use crate::markup::{escape, section, swatch, table, typeset};

/// Clusters that are described in words; `marks.csv` has all.
const CLUSTERS_MAX: usize = 40;
/// Marks of a cluster that its line has.
const MARKS_MAX: usize = 4;
/// Columns of the profile; `centers.csv` has all.
const COLUMNS_MAX: usize = 100;
/// Far-out rows that are shown; `outliers.csv` has all.
const OUTLIERS_MAX: usize = 15;
/// Standard deviations from the mean at which a cell of the profile has its full colour.
const FULL_COLOR: f64 = 2.0;

/// The clusters in words, their profile over all columns, and the rules that repeat the labels.
pub fn apart(space: &Rows, model: &Fitted, explained: &Explanation) -> String {
    let names: Vec<&str> = explained.clusters.iter().map(|portrait| &*portrait.name).collect();
    let line = |cluster: usize| {
        let portrait = &explained.clusters[cluster];
        format!(
            "<li>{}<span><b>{cluster}: {}</b> {}</span></li>",
            swatch(cluster),
            escape(&portrait.name),
            typeset(&portrait.line(MARKS_MAX))
        )
    };
    let shown = explained.clusters.len().min(CLUSTERS_MAX);
    let lines: String = (0..shown).map(line).collect();
    let rules = explained.tree.as_ref().map_or_else(String::new, |tree| {
        format!(
            "<details><summary>Rules that repeat {} % of the labels</summary><pre>{}</pre></details>",
            significant(100.0 * tree.accuracy, 3),
            escape(&tree.text())
        )
    });
    section(
        "apart",
        "What sets the clusters apart",
        "The columns in which a cluster differs most from all rows, largest effect first. marks.csv has every difference \
         with its test value.",
        &format!("<ul class=\"portraits\">{lines}</ul>{}{rules}", profile(space, model, &names)),
    )
}

/// A table of clusters by columns: how many standard deviations each centre lies from the mean of all rows.
fn profile(space: &Rows, model: &Fitted, names: &[&str]) -> String {
    let points = space.points();
    let columns = points.dimension().min(COLUMNS_MAX);
    let spreads = Spreads::of(points);
    let head: String = space.columns()[..columns]
        .iter()
        .map(|name| format!("<th scope=\"col\"><span>{}</span></th>", escape(name)))
        .collect();
    let row = |(cluster, center): (usize, &[f64])| {
        let own = space.center(center);
        let cells: String = (0..columns)
            .map(|column| {
                let (mean, deviation) = (spreads.mean(column), spreads.deviation(column));
                let z = if deviation > 0.0 { (center[column] - mean) / deviation } else { 0.0 };
                let side = if z < 0.0 { "below" } else { "above" };
                let strength = 100.0 * (z.abs() / FULL_COLOR).min(1.0);
                format!(
                    "<td class=\"{side}\" style=\"--z:{strength:.0}%\" title=\"{}: {}, {} standard deviations\">{}</td>",
                    escape(&space.columns()[column]),
                    significant(own[column], 4),
                    significant(z, 2),
                    typeset(&significant(own[column], 3))
                )
            })
            .collect();
        let name = names.get(cluster).copied().unwrap_or_default();
        format!("<tr><th scope=\"row\" title=\"{}\">{}{cluster}</th>{cells}</tr>", escape(name), swatch(cluster))
    };
    let body: String = model.each_center().enumerate().take(CLUSTERS_MAX).map(row).collect();
    format!(
        "<h3>Profiles</h3><p class=\"note\">Centres in the units of the columns, coloured by how far they \
         lie above (<span class=\"above key\">blue</span>) or below (<span class=\"below key\">orange</span>) the mean of \
         all rows; full colour at two standard deviations.</p>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Profiles of the clusters\">\
         <table class=\"profile sortable\"><thead><tr><th scope=\"col\">cluster</th>{head}</tr></thead>\
         <tbody>{body}</tbody></table></div>"
    )
}

/// The rows that lie far out.
pub fn outliers(space: &Rows, outlying: &Outlying) -> String {
    if outlying.rows.is_empty() {
        return String::new();
    }
    let line = |found: &lehr_methods::cluster::OutlyingRow| {
        let id = space.ids().map_or_else(|| found.row.to_string(), |ids| ids[found.row].clone());
        let named = found
            .columns
            .iter()
            .filter(|_| !space.is_sphere())
            .map(|(column, share)| format!("{} ({:.0} %)", escape(&space.columns()[*column]), 100.0 * share));
        format!(
            "<tr><td class=\"words\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"words\">{}</td></tr>",
            escape(&id),
            found.cluster,
            significant(space.distance(found.distance), 4),
            significant(found.score, 3),
            named.collect::<Vec<_>>().join(", ")
        )
    };
    let body: String = outlying.rows.iter().take(OUTLIERS_MAX).map(line).collect();
    let rest = outlying.rows.len().saturating_sub(OUTLIERS_MAX);
    let rest = if rest > 0 {
        format!("<p class=\"note\">{} in outliers.csv.</p>", counted(rest as u64, "more row"))
    } else {
        String::new()
    };
    section(
        "far-out",
        &format!("{} far out", counted(outlying.rows.len() as u64, "row")),
        "Farther from the nearest centre than three interquartile ranges above the upper quartile of the cluster's \
         distances. The score is the distance divided by that limit; the columns have most of the squared distance.",
        &(table("outliers", "Rows far out", ["row\t", "nearest cluster", "distance", "score", "columns\t"], &body)
            + &rest),
    )
}

/// The columns of the table, and how each is used.
pub fn columns(origin: &Origin) -> String {
    let cells = |line: &[String; 6]| -> String {
        line.iter().map(|text| format!("<td class=\"words\">{}</td>", escape(text))).collect()
    };
    let lines = origin.lines();
    let (head, rows) = lines.split_first().expect("a head, whatever there is");
    let head: Vec<String> = head.iter().map(|name| format!("{name}\t")).collect();
    let body: String = rows.iter().map(|line| format!("<tr>{}</tr>", cells(line))).collect();
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
        &table("account", "The columns", head.iter().map(String::as_str), &body),
    )
}
