//! The report of a method that has no layout of its own: a headline, the figures of the result as numbers, and tables.

use lehr_methods::numbers::{counted, grouped, significant};
use lehr_methods::{Column, Content, Data, Fit, Stream, Table, shown_label};
use lehr_mining::minibatch::{Cluster, Model};

use maud::{Markup, Render, html};

use crate::Run;
use crate::chart::{Chart, Colors};
use crate::drawing::Drawing;
use crate::figure::Figures;
use crate::markup::{self, Page, section, tile};
use crate::picture;

/// The maximum number of rows of a table in the report; the result file has all rows.
const ROWS_SHOWN: usize = 50;

/// Returns the whole report.
pub fn page(run: &Run<'_>, data: Data<'_>, fit: &dyn Fit) -> String {
    let about = run.about;
    let main = html! {
        dl.tiles {
            @for (name, value) in fit.figures(data) {
                (tile(&capital(&name.replace('_', " ")), significant(value, 7), "", ""))
            }
        }
        @for file in about.files {
            @if let Some(Content::Table(table)) = fit.file(file, data) {
                (section(&file.replace('.', "-"), file, "", shown(file, &table)))
            }
        }
    };
    let headline = fit.headline(data);
    let headline = headline.lines().next().unwrap_or_default();
    let lead = capital(about.result).render();
    Page { headline, source: run.source, lead, warnings: run.warnings, main, figures: Figures::default() }.html()
}

/// Draws the centres of a streaming clustering for a separate file, as discs. The area of a disc grows with the weight
/// of the cluster.
pub fn centers_drawing(run: &Run<'_>, stream: &Stream, model: &Model) -> Drawing {
    let own: Vec<Vec<f64>> = model.centers.chunks_exact(model.dimension).map(|center| stream.center(center)).collect();
    let weights: Vec<f64> = model.clusters.iter().map(|cluster| cluster.weight).collect();
    let heaviest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut picture = picture::of_centers(stream.columns(), &model.centers, &own, &weights);
    let note = "Discs are the centres: their areas are the weights of the rows that passed.";
    picture.note = format!("{note} {}", picture.note);
    picture.centers = picture.points.clone();
    let name = |(cluster, facts): (usize, &Cluster)| format!("cluster {cluster} ({})", grouped(facts.rows));
    let names = model.clusters.iter().enumerate().map(name).collect();
    let colors = Colors::Groups((0..weights.len() as u32).collect(), names);
    let parts = [counted(model.rows, "row"), counted(weights.len() as u64, "cluster")];
    let title = format!("{}: {}", run.name(), parts.join(" in "));
    let radii = weights.iter().map(|weight| (weight / heaviest).sqrt()).collect();
    Chart { radii, center: "centre", ..Chart::new(title, picture, colors) }.draw()
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// Returns the first rows of a table.
fn shown(file: &str, table: &Table<'_>) -> Markup {
    let rows = table.rows();
    let names = table.columns.iter().map(|(name, _)| name.as_ref());
    let body = html! {
        @for row in 0..rows.min(ROWS_SHOWN) {
            tr { @for (_, column) in &table.columns { td { (cell(column, row)) } } }
        }
    };
    html! {
        (markup::table(&file.replace('.', "-rows-"), file, names, body))
        @if rows > ROWS_SHOWN { p { (counted((rows - ROWS_SHOWN) as u64, "more row")) " in the file." } }
    }
}

fn cell(column: &Column<'_>, row: usize) -> String {
    match column {
        Column::Ids { given: Some(ids), .. } => ids[row].clone(),
        Column::Ids { given: None, .. } => row.to_string(),
        Column::Numbers(values) => significant(values[row], 6),
        Column::Weights(values) => significant(values[row], 6),
        Column::Labels { of_rows, .. } => shown_label(of_rows[row]).map_or_else(String::new, |label| label.to_string()),
        Column::Counts(values) => values[row].to_string(),
        Column::Texts(values) => values[row].clone(),
    }
}
