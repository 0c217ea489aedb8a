//! The report of a method that has no layout of its own: a headline, the figures of the result as numbers, and tables.
//! The centres of a streaming clustering are drawn.

use lehr_methods::minibatch::Fitted;
use lehr_methods::numbers::{counted, grouped, share, significant};
use lehr_methods::{Column, Content, Data, Fit, Stream, Table, shown_label};
use lehr_mining::minibatch::{Cluster, Model};

use maud::{Markup, Render, html};
use serde_json::Value;

use crate::chart::{Chart, Colors};
use crate::drawing::Drawing;
use crate::figure::Figures;
use crate::markup::{self, Page, section, tile, tiles};
use crate::picture::{self, Picture};
use crate::scene::Scene;
use crate::{Run, run_section};

/// The maximum number of rows of a table in the report; the result file has all rows.
const ROWS_SHOWN: usize = 50;
/// The maximum number of columns of a drawn centre; the result file has all columns.
const COLUMNS_MAX: usize = 60;

/// Returns the whole report.
pub fn page(run: &Run<'_>, data: Data<'_>, fit: &dyn Fit) -> String {
    let about = run.about;
    let mut figures = Figures::default();
    let found = fit.figures(data);
    let found = found.iter().map(|(name, value)| tile(&capital(&name.replace('_', " ")), number(*value), "", ""));
    let main = html! {
        (tiles("The run in figures", found))
        @if let Some(fitted) = fit.as_any().downcast_ref::<Fitted>() {
            (centers(run, data.stream(), &fitted.model, &mut figures))
        }
        @for file in about.files {
            @if let Some(Content::Table(table)) = fit.file(file, data) {
                (section(&file.replace('.', "-"), file, "", shown(file, &table)))
            }
        }
        (run_section::of_method(run, [run.carried_out_by().to_vec()], ""))
    };
    let headline = fit.headline(data);
    let headline = headline.lines().next().unwrap_or_default();
    let lead = format!("{}. {}.", run.name(), about.line).render();
    Page { headline, source: run.source, lead, warnings: run.warnings, main, figures }.html()
}

/// The centres of a streaming clustering in the columns' units, their weights, and their layout.
struct Centers {
    own: Vec<Vec<f64>>,
    weights: Vec<f64>,
    picture: Picture,
}

impl Centers {
    fn of(stream: &Stream, model: &Model) -> Self {
        let own: Vec<Vec<f64>> =
            model.centers.chunks_exact(model.dimension).map(|center| stream.center(center)).collect();
        let weights: Vec<f64> = model.clusters.iter().map(|cluster| cluster.weight).collect();
        let picture = picture::of_centers(stream.columns(), &model.centers, &own, &weights);
        Self { own, weights, picture }
    }
}

/// Returns the section with the centres of a streaming clustering as points. The list of clusters has their weights,
/// because all points of a scene have the same size.
fn centers(run: &Run<'_>, stream: &Stream, model: &Model, figures: &mut Figures) -> Markup {
    let Centers { own, weights, picture } = Centers::of(stream, model);
    let mut scene = Scene::new(run.name(), own.len());
    scene.name_rows((0..own.len()).map(|cluster| format!("cluster {cluster}")).collect());
    for (place, column) in stream.columns().iter().enumerate().take(COLUMNS_MAX) {
        scene.column(column, own.iter().map(|center| center[place]));
    }
    scene.column("weight", weights.iter().copied());
    scene.column("spread", model.clusters.iter().map(|cluster| cluster.spread));
    let total: f64 = weights.iter().sum();
    let shares: Vec<String> = weights.iter().map(|weight| format!("{} of the weight", share(*weight, total))).collect();
    scene.grouping("clusters", 0..own.len() as u32, None);
    scene.about_groups(shares.iter().map(String::as_str).collect());
    scene.picture(&picture, Value::Null);
    let note = "Each point is the centre of a cluster. Colour the centres by weight to see which clusters are heavy.";
    section("points", "The centres", note, figures.add("picture", scene.figure()))
}

/// Draws the centres of a streaming clustering for a separate file, as discs. The area of a disc grows with the weight
/// of the cluster.
pub fn centers_drawing(run: &Run<'_>, stream: &Stream, model: &Model) -> Drawing {
    let Centers { weights, mut picture, .. } = Centers::of(stream, model);
    let heaviest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
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

/// Formats a figure of the result; counts have no decimals.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) { grouped(value as u64) } else { significant(value, 5) }
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
