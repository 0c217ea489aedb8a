//! The pages of `lehr pairwise` and `lehr embed`: a heat map of the matrix in the order of its clusters, and a map to be turned.
//!
//! As for `lehr cluster`, words and figures are written here and the script (`pairs.js`) only draws: what is in the page is all there is, and nothing is loaded. Points are drawn by WebGL,
//! all of them in one call; where there is none, by a canvas.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_mining::pairwise::Model;
use lehr_mining::smacof::{Map, Shepard, Stop};
use serde_json::{Value, json};

use crate::markup::{self, escape, notes};
use lehr_methods::{Classes, Matrix};

use lehr_methods::numbers::{amount, counted, grouped, share, significant};

const PAGE: &str = include_str!("pairs.html");
const STYLE: &str = include_str!("pairs.css");
const SCRIPT: &str = include_str!("pairs.js");

/// Cells a side of the heat map at most.
const CELLS: usize = 320;
/// Items of a cell that are looked at, a side.
const SAMPLED: usize = 12;
/// Rows of a table at most; the files have all.
const ROWS: usize = 200;

/// A way to colour the items of a map.
pub enum Colouring<'a> {
    /// By the class that each is of.
    Classes(&'a Classes),
    /// By the stress of each: where the map is to be trusted.
    Stress,
}

impl Colouring<'_> {
    fn data(&self, map: &Map) -> Value {
        match self {
            Colouring::Classes(classes) => {
                json!({ "name": classes.name, "classes": classes.of, "names": classes.classes })
            }
            Colouring::Stress => {
                json!({ "name": "stress", "values": map.item_stress.iter().map(|x| rounded(*x)).collect::<Vec<_>>() })
            }
        }
    }
}

/// The page of a pairwise clustering.
pub fn clusters_page(source: &str, matrix: &Matrix, model: &Model) -> String {
    let headline =
        format!("{} in {}", counted(matrix.ids.len() as u64, "item"), counted(model.clusters.len() as u64, "cluster"));
    let lead = format!(
        "Annealed from the temperature {}, below which the whole is unstable. The cost of the clusters is {}.{}{}",
        significant(model.critical_temperature, 4),
        significant(model.cost, 7),
        suggested(model),
        missing(model.missing_pairs),
    );
    let figures = heat_section() + &growth_section();
    let data = json!({
        "heat": heat(&matrix.dissimilarities, &model.labels),
        "curves": { "growth": growth(model) },
    });
    fill(source, &headline, &lead, &model.warnings, &figures, &clusters_table(&matrix.ids, model), &data)
}

/// The page of a map, coloured by the classes of its items if they are known.
pub fn map_page(source: &str, matrix: &Matrix, map: &Map, shepard: &Shepard) -> String {
    let headline =
        format!("{} in {}", counted(matrix.ids.len() as u64, "item"), counted(map.dimension as u64, "dimension"));
    let lead = trust(map, shepard) + &missing(map.missing_pairs);
    let figures = map_section(map.dimension) + &shepard_section() + &fall_section();
    let mut worst: Vec<usize> = (0..matrix.ids.len()).collect();
    worst.sort_by(|&a, &b| map.item_stress[b].total_cmp(&map.item_stress[a]).then(a.cmp(&b)));
    let rows: Vec<String> = worst
        .iter()
        .take(20)
        .map(|&item| {
            format!(
                "<tr><td>{}</td><td class=\"number\">{}</td></tr>",
                escape(&matrix.ids[item]),
                significant(map.item_stress[item], 4)
            )
        })
        .collect();
    let table = format!(
        "<div class=\"scroll\"><table><thead><tr><th>item of the largest stress</th><th class=\"number\">its stress</th></tr></thead><tbody>\n{}\n</tbody></table></div>",
        rows.join("\n")
    );
    let colourings: Vec<Colouring<'_>> =
        matrix.classes.iter().map(Colouring::Classes).chain([Colouring::Stress]).collect();
    let data = json!({
        "map": map_data(&matrix.ids, map, &colourings),
        "shepard": shepard_data(shepard),
        "curves": { "fall": fall(map) },
    });
    fill(source, &headline, &lead, &map.warnings, &figures, &table, &data)
}

/// Where the number of clusters was not given: which it became, and why.
pub fn suggested(model: &Model) -> String {
    model.suggestion.as_ref().map_or(String::new(), |suggestion| {
        format!(" {} lasted over the widest range of temperatures.", counted(suggestion.clusters as u64, "cluster"))
    })
}

/// That pairs are missing, if any are.
pub fn missing(pairs: u64) -> String {
    if pairs == 0 { String::new() } else { format!(" {} without a value had no say.", counted(pairs, "pair")) }
}

/// How far a map is to be trusted, in a sentence.
pub fn trust(map: &Map, shepard: &Shepard) -> String {
    let iterations = counted(map.history.len() as u64, "iteration");
    let ended = match map.stop {
        Stop::Converged => format!("after {iterations}"),
        Stop::MostIterations => format!("and still falling after {iterations}"),
    };
    format!(
        "Stress {} ({ended}), stress-1 {}; dissimilarity and distance correlate by {}.",
        significant(map.stress, 4),
        significant(map.stress_1, 4),
        significant(shepard.correlation, 4),
    )
}

/// The table of clusters.
pub fn clusters_table(ids: &[String], model: &Model) -> String {
    let total: f64 = model.clusters.iter().map(|cluster| cluster.weight).sum();
    let mut rows = String::new();
    for (number, cluster) in model.clusters.iter().enumerate().take(ROWS) {
        let representatives: Vec<String> = cluster.representatives.iter().map(|&item| escape(&ids[item])).collect();
        rows.push_str(&format!(
            "<tr><td><i class=\"swatch\" data-cluster=\"{number}\"></i>{number}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
            grouped(cluster.items),
            amount(cluster.weight),
            share(cluster.weight, total),
            escape(&ids[cluster.medoid]),
            representatives.join(", "),
            significant(cluster.mean_within, 4),
            significant(cluster.mean_nearest, 4),
        ));
    }
    let head = [
        ("cluster", false),
        ("items", true),
        ("weight", true),
        ("share", true),
        ("medoid", false),
        ("inner, middle, outer item", false),
        ("mean within", true),
        ("mean to the nearest other", true),
    ];
    let head: String = head
        .map(|(name, is_number)| format!("<th{}>{name}</th>", if is_number { " class=\"number\"" } else { "" }))
        .concat();
    format!("<div class=\"scroll\"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>")
}

/// Where the heat map is drawn.
pub fn heat_section() -> String {
    section(
        "The dissimilarities, in the order of the clusters",
        "Dark is near. A cluster is a dark square on the diagonal; what lies beside it says which clusters are close to one another.",
        "heat",
    )
}

/// Where the number of clusters is drawn.
pub fn growth_section() -> String {
    section(
        "How the clusters came about",
        "The number of clusters while the temperature falls, from left to right.",
        "growth",
    )
}

/// Where the map is drawn.
pub fn map_section(dimension: usize) -> String {
    let drag = if dimension > 2 { "Drag to turn it" } else { "Drag to move it" };
    let beyond = if dimension > 3 { " The first three dimensions are drawn." } else { "" };
    let caption = format!(
        "{drag}, scroll to come nearer, point at an item for its name. By stress: where an item's place is to be trusted.{beyond}"
    );
    section("The map", &caption, "map")
}

/// Where the Shepard diagram is drawn.
pub fn shepard_section() -> String {
    section(
        "The Shepard diagram",
        "How often a dissimilarity (upwards) came to which distance in the map (to the right). A map without error is the line.",
        "shepard",
    )
}

/// Where the fall of the stress is drawn.
pub fn fall_section() -> String {
    section("How the stress fell", "One point an iteration.", "fall")
}

/// The number of clusters against temperature.
pub fn growth(model: &Model) -> Value {
    let steps: Vec<Value> = model.history.iter().map(|step| json!([step.temperature, step.clusters])).collect();
    json!({ "points": steps, "x": "temperature", "y": "clusters", "logX": true, "falls": true })
}

/// The stress against iterations.
pub fn fall(map: &Map) -> Value {
    let step = |(number, stress): (usize, f64)| json!([number + 1, rounded(stress)]);
    let steps: Vec<Value> = map.history.iter().map(|step| step.stress).enumerate().map(step).collect();
    json!({ "points": steps, "x": "iteration", "y": "stress", "logY": true })
}

/// The map, its first three dimensions if it has more, and how it may be coloured.
pub fn map_data(ids: &[String], map: &Map, colourings: &[Colouring<'_>]) -> Value {
    let shown = map.dimension.min(3);
    let position = |item| map.position(item)[..shown].iter().map(|x| rounded(*x)).collect::<Vec<f64>>();
    let colourings: Vec<Value> = colourings.iter().map(|colouring| colouring.data(map)).collect();
    json!({
        "dimension": shown,
        "points": (0..ids.len()).map(position).collect::<Vec<_>>(),
        "ids": ids,
        "colourings": colourings,
    })
}

/// The counts of the Shepard diagram.
pub fn shepard_data(shepard: &Shepard) -> Value {
    json!({
        "bins": shepard.bins,
        "counts": shepard.counts,
        "dissimilarity": shepard.largest_dissimilarity,
        "distance": shepard.largest_distance,
    })
}

/// Five digits, which are more than a screen has.
fn rounded(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// A figure that the script draws, under its words.
pub fn section(title: &str, caption: &str, figure: &str) -> String {
    format!(
        "<section><h2>{}</h2><p class=\"caption\">{}</p><div class=\"figure\" id=\"{figure}\" role=\"img\" aria-label=\"{}\"></div></section>\n",
        escape(title),
        escape(caption),
        escape(title)
    )
}

/// Means of the dissimilarities in a grid of items in the order of their clusters, from 0 to 255 of the largest; null where none is known.
pub fn heat(matrix: &Dissimilarities, labels: &[u32]) -> Value {
    let items = matrix.items();
    let mut order: Vec<usize> = (0..items).collect();
    order.sort_by_key(|&item| (labels[item], item));
    let cells = items.min(CELLS);
    let edge = |cell: usize| cell * items / cells;
    let mut means = vec![None; cells * cells];
    let mut largest = 0.0f64;
    for row in 0..cells {
        for column in row..cells {
            let (mut sum, mut count) = (0.0, 0u32);
            let some = |cell: usize| {
                let range = edge(cell)..edge(cell + 1);
                let step = range.len().div_ceil(SAMPLED);
                range.step_by(step.max(1))
            };
            for i in some(row) {
                for j in some(column).filter(|&j| j != i) {
                    if let Some(value) = matrix.get(order[i], order[j]) {
                        sum += value;
                        count += 1;
                    }
                }
            }
            if row == column && count == 0 {
                means[row * cells + column] = Some(0.0);
            } else if count > 0 {
                let mean = sum / f64::from(count);
                largest = largest.max(mean);
                means[row * cells + column] = Some(mean);
                means[column * cells + row] = Some(mean);
            }
        }
    }
    let level = |mean: &Option<f64>| match mean {
        Some(mean) if largest > 0.0 => json!((255.0 * mean / largest).round() as u32),
        Some(_) => json!(0),
        None => Value::Null,
    };
    let ends: Vec<f64> = (1..items)
        .filter(|&place| labels[order[place]] != labels[order[place - 1]])
        .map(|place| place as f64 / items as f64)
        .collect();
    json!({ "cells": cells, "levels": means.iter().map(level).collect::<Vec<_>>(), "ends": ends, "largest": rounded(largest) })
}

/// The whole page.
pub fn fill(
    source: &str,
    headline: &str,
    lead: &str,
    warnings: &[String],
    figures: &str,
    table: &str,
    data: &Value,
) -> String {
    // JSON cannot end its script element.
    let data = data.to_string().replace('<', "\\u003c");
    markup::fill(PAGE, |name| match name {
        "title" => escape(&format!("{headline} – {source} – lehr")),
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "headline" => escape(headline),
        "source" => escape(source),
        "lead" => escape(lead),
        "warnings" => notes(warnings),
        "figures" => figures.to_owned(),
        "table" => table.to_owned(),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "data" => data.clone(),
        other => unreachable!("the page asks for {other}, which nobody writes"),
    })
}
