//! The reports of `lehr pairwise`, `lehr kmedoids`, `lehr hierarchy`, `lehr hdbscan` and `lehr embed`: a heat map of the
//! dissimilarities, a tree, or a map of the items.

use lehr_methods::hierarchy;
use lehr_mining::hierarchy::Model as Tree;
use lehr_mining::pairwise::Model;
use lehr_mining::smacof::{Map, Shepard, Stop};
use lehr_mining::{hdbscan, kmedoids};
use maud::{Markup, Render, html};
use serde_json::{Value, json};

use crate::chart::{self, Chart, Colors};
use crate::dendrogram::Dendrogram;
use crate::drawing::Drawing;
use crate::figure::{Figures, anneal, density, lines};
use crate::heat::Heat;
use crate::markup::{self, Fold, section, swatch, table, tile, tiles};
use crate::picture::{self, Picture};
use crate::scene::Scene;
use crate::{Run, run_section};
use lehr_data::dissimilarities::Dissimilarities;
use lehr_methods::{Classes, Matrix};

use lehr_methods::numbers::{amount, counted, grouped, share, significant};

/// The maximum number of rows in a table of clusters; the result files have all clusters.
const ROWS: usize = 200;
/// The maximum number of items in the list of items with the largest stress.
const WORST: usize = 20;

/// Returns the report of a pairwise clustering.
pub fn clusters_page(run: &Run<'_>, matrix: &Matrix, model: &Model) -> String {
    let headline =
        format!("{} in {}", counted(matrix.ids.len() as u64, "item"), counted(model.clusters.len() as u64, "cluster"));
    let lead = format!("{}. Pairwise annealing.{}{}", run.name(), suggested(model), missing(model.missing_pairs),);
    let mut figures = Figures::default();
    let within = "half the weighted mean dissimilarities within";
    let found = [
        tile("Items", grouped(matrix.ids.len() as u64), "", ""),
        tile("Clusters", grouped(model.clusters.len() as u64), "", counted(model.splits.len() as u64, "split")),
        tile("Cost", significant(model.cost, 5), "", within),
        tile("Critical temperature", significant(model.critical_temperature, 4), "", "one cluster above it"),
        run.time(counted(model.iterations, "reading") + " of the matrix"),
    ];
    let main = html! {
        (tiles("The run in figures", found))
        (heat_section(Fold::Open, &matrix.dissimilarities, &model.labels, &matrix.ids, &mut figures))
        (clusters_table(Fold::Open, &matrix.ids, model, matrix.smiles.as_deref()))
        (growth_section(Fold::Open, model, run.command_without_end, &mut figures))
    };
    finish(run, &headline, lead, &model.warnings, main, figures)
}

/// Returns the report of a k-medoids clustering.
pub fn medoids_page(run: &Run<'_>, matrix: &Matrix, model: &kmedoids::Model) -> String {
    let [items, clusters] = [counted(matrix.ids.len() as u64, "item"), counted(model.clusters.len() as u64, "cluster")];
    let headline = format!("{items} in {clusters} about medoids");
    let mut figures = Figures::default();
    let body = html! {
        @for (number, cluster) in model.clusters.iter().enumerate().take(ROWS) {
            tr {
                td data-value=(number) { (swatch(number)) (number) }
                td { (grouped(cluster.items)) }
                td { (amount(cluster.weight)) }
                td { (significant(cluster.mean, 4)) }
                td { (significant(cluster.radius, 4)) }
                (item_cell(&matrix.ids, cluster.medoid, matrix.smiles.as_deref()))
            }
        }
    };
    let head = ["cluster", "items", "weight", "mean to the medoid", "farthest", "medoid\t"];
    let ended = if model.is_converged { "converged" } else { "not converged" };
    let found = [
        tile("Items", grouped(matrix.ids.len() as u64), "", ""),
        tile("Clusters", grouped(model.clusters.len() as u64), "", ""),
        tile("Cost", significant(model.cost, 5), "", "the sum of dissimilarities to the medoids"),
        tile("Swaps", grouped(model.swaps), "", ended),
        run.time(counted(model.iterations, "iteration")),
    ];
    let main = html! {
        (tiles("The run in figures", found))
        (heat_section(Fold::Open, &matrix.dissimilarities, &model.labels, &matrix.ids, &mut figures))
        (section("table", "The clusters", "", table("clusters", "The clusters", head, body)))
    };
    finish(run, &headline, format!("{}. k-medoids (FasterPAM).", run.name()), &model.warnings, main, figures)
}

/// Returns the report of dense groups of items.
pub fn dense_page(run: &Run<'_>, matrix: &Matrix, model: &hdbscan::Model) -> String {
    let [items, clusters] = [counted(matrix.ids.len() as u64, "item"), counted(model.clusters.len() as u64, "cluster")];
    let headline = format!("{items} in {clusters}; {} of noise", counted(model.noise, "item"));
    let mut figures = Figures::default();
    let apart = |distance: f64| if distance.is_finite() { significant(distance, 4) } else { "all items".to_owned() };
    let body = html! {
        @for (number, cluster) in model.clusters.iter().enumerate().take(ROWS) {
            tr {
                td data-value=(number) { (swatch(number)) (number) }
                td { (grouped(cluster.items)) }
                td { (amount(cluster.weight)) }
                td { (apart(cluster.distance)) }
                td { (significant(cluster.persistence, 3)) }
                (item_cell(&matrix.ids, cluster.exemplar, matrix.smiles.as_deref()))
            }
        }
    };
    let head = ["cluster", "items", "weight", "apart below", "persistence", "exemplar\t"];
    let noise = share(model.noise as f64, matrix.ids.len() as f64);
    let found = [
        tile("Items", grouped(matrix.ids.len() as u64), "", ""),
        tile(
            "Clusters",
            grouped(model.clusters.len() as u64),
            "",
            counted(model.tree.len() as u64, "group") + " compared",
        ),
        tile("Noise", grouped(model.noise), "", format!("{noise} of the items, labelled -1")),
        run.time("core distances and a spanning tree".to_owned()),
    ];
    let heat = Heat::of(&matrix.dissimilarities, &model.labels).figure("dissimilarities", &matrix.ids);
    let heat_note = "Dark means a small dissimilarity. The items stand in the order of their clusters, without noise. A group that is not compact need not be dark \
                     everywhere: its items are close to their neighbours only.";
    let note = "Below this distance, a cluster is apart from all others. Persistence is the share of densities over which it stays one group, at most 1.";
    let main = html! {
        (tiles("The run in figures", found))
        @if !model.clusters.is_empty() {
            (section("matrix", "The dissimilarities", heat_note, figures.add("heat", heat)))
            (section("table", "The clusters", note, table("clusters", "The clusters", head, body)))
        }
    };
    finish(run, &headline, format!("{}. Dense groups (HDBSCAN*).", run.name()), &model.warnings, main, figures)
}

/// Returns the picture of the dissimilarities within and between dense groups for a separate file.
pub fn dense_drawing(run: &Run<'_>, matrix: &Matrix, model: &hdbscan::Model) -> Drawing {
    let clusters: Vec<(u64, usize)> = model.clusters.iter().map(|cluster| (cluster.items, cluster.exemplar)).collect();
    matrix_drawing(run, matrix, &model.labels, &clusters)
}

/// Returns the report of a tree of items.
pub fn tree_page(run: &Run<'_>, matrix: &Matrix, fitted: &hierarchy::Fitted) -> String {
    let model = &fitted.model;
    let [items, clusters] = [counted(matrix.ids.len() as u64, "item"), counted(model.clusters.len() as u64, "cluster")];
    let headline = format!("{items} in {clusters} of a tree");
    let mut figures = Figures::default();
    let body = html! {
        @for (number, cluster) in model.clusters.iter().enumerate().take(ROWS) {
            tr {
                td data-value=(number) { (swatch(number)) (number) }
                td { (grouped(cluster.items)) }
                td { (amount(cluster.weight)) }
                td { (significant(cluster.height, 4)) }
                td { (significant(cluster.mean_within, 4)) }
                td { (significant(cluster.silhouette, 3)) }
                (item_cell(&matrix.ids, cluster.medoid, matrix.smiles.as_deref()))
            }
        }
    };
    let head = ["cluster", "items", "weight", "height", "mean within", "silhouette", "medoid\t"];
    let found = [
        tile("Items", grouped(matrix.ids.len() as u64), "", ""),
        tile("Clusters", grouped(model.clusters.len() as u64), "", ""),
        tile("Silhouette", significant(model.silhouette, 3), "", "the mean over all items; at most 1"),
        tile("Height", significant(fitted.height(), 4), "", "where the last two parts are joined"),
        run.time(counted(model.joins.len() as u64, "join")),
    ];
    let tree = Dendrogram::of(model, &matrix.ids, fitted.parameters.height);
    let note = format!("{TREE_NOTE} Of a large tree, only the top is drawn; tree.nwk has all of it.");
    let main = html! {
        (tiles("The run in figures", found))
        (section("tree", "The tree", &note, figures.add("dendrogram", tree.figure("tree"))))
        (ordered_heat_section(matrix, model, &mut figures))
        (section("table", "The clusters", "", table("clusters", "The clusters", head, body)))
        (candidates_section(model, &mut figures))
    };
    let lead = format!("{}. Agglomerative clustering. {}", run.name(), fitted.reason());
    finish(run, &headline, lead.trim_end().to_owned(), &model.warnings, main, figures)
}

/// The note below a tree.
const TREE_NOTE: &str =
    "Two parts are joined at the height of their distance. The dashed line cuts the tree into the clusters.";

/// Returns the section with a heat map of the dissimilarities, in which the items are in the order of the tree.
fn ordered_heat_section(matrix: &Matrix, model: &Tree, figures: &mut Figures) -> Markup {
    let note = "Dark means a small dissimilarity. The items stand in the order of the tree.";
    let heat = Heat::in_tree(&matrix.dissimilarities, model).figure("dissimilarities", &matrix.ids);
    section("matrix", "The dissimilarities", note, figures.add("heat", heat))
}

/// Returns the section that compares numbers of clusters; empty if the number was given.
fn candidates_section(model: &Tree, figures: &mut Figures) -> Markup {
    if model.candidates.is_empty() {
        return Markup::default();
    }
    let note = "The mean silhouette is 1 if all items are far closer to their own cluster than to another, and 0 or less if they are not.";
    let drawn = lines(vec![json!({
        "title": "Mean silhouette",
        "xName": "clusters",
        "x": model.candidates.iter().map(|candidate| candidate.clusters).collect::<Vec<_>>(),
        "y": model.candidates.iter().map(|candidate| candidate.silhouette).collect::<Vec<_>>(),
    })]);
    section("candidates", "How many clusters", note, figures.add("silhouettes", drawn))
}

/// Returns the picture of a tree for a separate file.
pub fn tree_drawing(run: &Run<'_>, matrix: &Matrix, fitted: &hierarchy::Fitted) -> Drawing {
    let model = &fitted.model;
    let parts =
        [counted(matrix.ids.len() as u64, "item"), counted(model.clusters.len() as u64, "cluster")].join(" in ");
    chart::dendrogram::draw(
        &format!("{}: {parts}", run.name()),
        TREE_NOTE,
        &Dendrogram::of(model, &matrix.ids, fitted.parameters.height),
    )
}

/// Returns the report of a map, coloured by the classes of its items if they are known.
pub fn map_page(run: &Run<'_>, matrix: &Matrix, map: &Map, shepard: &Shepard) -> String {
    let headline =
        format!("{} in {}", counted(matrix.ids.len() as u64, "item"), counted(map.dimension as u64, "dimension"));
    let lead = format!("{}. {}{}", run.name(), trust(map, shepard), missing(map.missing_pairs));
    let mut figures = Figures::default();
    let known: Vec<&Classes> = matrix.classes.iter().collect();
    let mut worst: Vec<usize> = (0..matrix.ids.len()).collect();
    worst.sort_by(|&a, &b| map.item_stress[b].total_cmp(&map.item_stress[a]).then(a.cmp(&b)));
    let rows = html! {
        @for &item in worst.iter().take(WORST) {
            tr { td.words { (matrix.ids[item]) } td { (significant(map.item_stress[item], 4)) } }
        }
    };
    let found = [
        tile("Items", grouped(matrix.ids.len() as u64), "", ""),
        tile("Stress", significant(map.stress, 4), "", format!("stress-1 {}", significant(map.stress_1, 4))),
        tile("Correlation", significant(shepard.correlation, 4), "", "dissimilarity and distance"),
        run.time(counted(map.history.len() as u64, "iteration")),
    ];
    let main = html! {
        (tiles("The run in figures", found))
        (map_section(run.name(), &matrix.ids, map, &known, matrix.smiles.as_deref(), &mut figures))
        (fit_sections(Fold::Open, map, shepard, &mut figures))
        (section(
            "worst",
            "Items of the largest stress",
            "The items whose positions fit their dissimilarities worst. positions.csv has the stress of every item.",
            table("stress", "Items of the largest stress", ["item\t", "stress"], rows),
        ))
    };
    finish(run, &headline, lead, &map.warnings, main, figures)
}

/// Returns the picture of a pairwise clustering's dissimilarities for a separate file.
pub fn clusters_drawing(run: &Run<'_>, matrix: &Matrix, model: &Model) -> Drawing {
    let clusters: Vec<(u64, usize)> = model.clusters.iter().map(|cluster| (cluster.items, cluster.medoid)).collect();
    matrix_drawing(run, matrix, &model.labels, &clusters)
}

/// Returns the picture of a k-medoids clustering's dissimilarities for a separate file.
pub fn medoids_drawing(run: &Run<'_>, matrix: &Matrix, model: &kmedoids::Model) -> Drawing {
    let clusters: Vec<(u64, usize)> = model.clusters.iter().map(|cluster| (cluster.items, cluster.medoid)).collect();
    matrix_drawing(run, matrix, &model.labels, &clusters)
}

/// Draws a heat map of a matrix, in which the items are sorted by cluster. `clusters` has the size and the medoid of
/// each cluster.
fn matrix_drawing(run: &Run<'_>, matrix: &Matrix, labels: &[u32], clusters: &[(u64, usize)]) -> Drawing {
    let name = |(cluster, (items, medoid)): (usize, &(u64, usize))| {
        format!("{cluster}: about {} ({})", matrix.ids[*medoid], grouped(*items))
    };
    let names: Vec<String> = clusters.iter().enumerate().map(name).collect();
    let parts = [counted(labels.len() as u64, "item"), counted(clusters.len() as u64, "cluster")];
    let title = format!("{}: {}", run.name(), parts.join(" in "));
    let note =
        "Dark means a small dissimilarity: a cluster is a dark square on the diagonal. Grey pairs have no value.";
    chart::matrix::draw(&title, note, &Heat::of(&matrix.dissimilarities, labels), &names)
}

/// Returns the map for a separate file. The colours show the first column of classes, or the stress of the items if
/// there are no classes.
pub fn map_drawing(run: &Run<'_>, matrix: &Matrix, map: &Map) -> Drawing {
    let position = |item: usize| {
        let place = map.position(item);
        (place[0], place.get(1).copied().unwrap_or_default())
    };
    let points = (0..matrix.ids.len()).map(position).collect();
    let colors = match matrix.classes.first().map(|classes| (classes, classes.scale())) {
        Some((classes, Some(values))) => Colors::Scale(classes.name.clone(), values),
        Some((classes, None)) => {
            let mut items = vec![0u64; classes.classes.len()];
            for &class in classes.of.iter().filter(|class| **class != u32::MAX) {
                items[class as usize] += 1;
            }
            let name = |(class, items): (&String, u64)| format!("{} {class} ({})", classes.name, grouped(items));
            Colors::Groups(classes.of.clone(), classes.classes.iter().zip(items).map(name).collect())
        }
        None => Colors::Scale("stress of the item".to_owned(), map.item_stress.clone()),
    };
    let beyond = if map.dimension > 2 { " The first two dimensions are drawn." } else { "" };
    let names = ["x", if map.dimension == 1 { "" } else { "y" }].map(str::to_owned);
    let picture = Picture {
        is_equal: map.dimension > 1,
        note: format!(
            "Items with a small dissimilarity lie near each other. Stress-1 {}.{beyond}",
            significant(map.stress_1, 4)
        ),
        ..picture::plain(points, Vec::new(), names, "map".to_owned())
    };
    let title = format!("{}: map of {}", run.name(), counted(matrix.ids.len() as u64, "item"));
    Chart::new(title, picture, colors).draw()
}

fn finish(run: &Run<'_>, headline: &str, lead: String, warnings: &[String], main: Markup, figures: Figures) -> String {
    let main = html! { (main) (run_section::of_method(run, [run.carried_out_by().to_vec()], "")) };
    markup::Page { headline, source: run.source, lead: lead.render(), warnings, main, figures }.html()
}

/// Returns a sentence with the number of clusters that was found and the reason for it. Returns an empty text if the
/// user gave the number.
pub fn suggested(model: &Model) -> String {
    model.suggestion.as_ref().map_or(String::new(), |suggestion| {
        format!(" {} lasted over the widest range of temperatures.", counted(suggestion.clusters as u64, "cluster"))
    })
}

/// Returns a note about missing pairs, or an empty text if none is missing.
pub fn missing(pairs: u64) -> String {
    if pairs == 0 { String::new() } else { format!(" {} without a value had no say.", counted(pairs, "pair")) }
}

/// Describes the quality of a map in a sentence.
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

/// Returns the cell with the name of an item. If the items are compounds, the page draws its structure there.
fn item_cell(ids: &[String], item: usize, smiles: Option<&[String]>) -> Markup {
    html! { td.words data-smiles=[smiles.map(|smiles| &smiles[item])] { (ids[item]) } }
}

/// Returns the table of clusters. If the items are compounds, the page draws the structures of the medoids from
/// `smiles`.
pub fn clusters_table(fold: Fold, ids: &[String], model: &Model, smiles: Option<&[String]>) -> Markup {
    let total: f64 = model.clusters.iter().map(|cluster| cluster.weight).sum();
    let representatives = |items: &[usize]| items.iter().map(|&item| &*ids[item]).collect::<Vec<_>>().join(", ");
    let rows = html! {
        @for (number, cluster) in model.clusters.iter().enumerate().take(ROWS) {
            tr data-cluster=(number) {
                td data-value=(number) { (swatch(number)) (number) }
                td { (grouped(cluster.items)) }
                td { (amount(cluster.weight)) }
                td { (share(cluster.weight, total)) }
                (item_cell(ids, cluster.medoid, smiles))
                td.words { (representatives(&cluster.representatives)) }
                td { (significant(cluster.mean_within, 4)) }
                td { (significant(cluster.mean_nearest, 4)) }
            }
        }
    };
    let head = [
        "cluster",
        "items",
        "weight",
        "share",
        "medoid\t",
        "inner, middle, outer item\t",
        "mean within",
        "mean to the nearest other",
    ];
    fold.section("table", "The clusters", "", table("clusters", "The clusters", head, rows))
}

/// Returns the section with a heat map of the dissimilarities, in which the items are sorted by cluster.
pub fn heat_section(
    fold: Fold,
    matrix: &Dissimilarities,
    labels: &[u32],
    ids: &[String],
    figures: &mut Figures,
) -> Markup {
    let title = "The dissimilarities";
    let note = "Dark means a small dissimilarity: a cluster is a dark square on the diagonal. Close clusters stand beside each other, \
                joined above by the mean dissimilarity between them (up to 300 clusters).";
    fold.section("matrix", title, note, figures.add("heat", Heat::of(matrix, labels).figure("dissimilarities", ids)))
}

/// Returns the section that shows how the clusters split; empty if there was nothing to anneal.
pub fn growth_section(fold: Fold, model: &Model, command: Option<&str>, figures: &mut Figures) -> Markup {
    if model.history.is_empty() {
        return Markup::default();
    }
    let note = "While the temperature falls, a cluster splits when it becomes unstable. At the end the number of clusters is fixed \
                and each item is assigned to one cluster (dotted).";
    let drawn = figures.add("course", anneal(&model.history, &model.splits, "", command));
    fold.section("course", "How the clusters came about", note, drawn)
}

/// Returns the section with the map of the items, which the reader can colour by classes and by stress. If the items
/// are compounds, the report draws their structures from `smiles`.
pub fn map_section(
    name: &str,
    ids: &[String],
    map: &Map,
    classes: &[&Classes],
    smiles: Option<&[String]>,
    figures: &mut Figures,
) -> Markup {
    let shown = map.dimension.min(3);
    let mut scene = Scene::new(name, ids.len());
    scene.name_rows(ids.to_vec());
    scene.column("stress", map.item_stress.iter().copied());
    for classes in classes {
        // Numbers on a scale become a column of the scene. This column colours the points at first, unless there are
        // classes.
        if let Some(values) = classes.scale() {
            scene.column(&classes.name, values.into_iter());
            continue;
        }
        scene.texts(&classes.name, (0..ids.len()).map(|item| classes.class(item).to_owned()));
        scene.grouping(&classes.name, classes.of.iter().copied(), Some(&classes.classes));
    }
    if let Some(smiles) = smiles {
        scene.texts("smiles", smiles.iter().cloned());
    }
    if let Some(scale) = classes.iter().find(|classes| classes.scale().is_some()) {
        scene.coloured_by(&scale.name);
    } else if classes.is_empty() {
        scene.coloured_by("stress");
    }
    scene.with_table("clusters");
    let mut names = ["x", "y", "z"][..shown].to_vec();
    let mut places: Vec<Vec<f64>> = (0..ids.len()).map(|item| map.position(item)[..shown].to_vec()).collect();
    if shown == 1 {
        names.push("");
        places.iter_mut().for_each(|place| place.push(0.0));
    }
    scene.places("map", &names, &places, Value::Null);
    let beyond = if map.dimension > 3 { " The first three dimensions are drawn." } else { "" };
    let note = format!(
        "Items with a small dissimilarity lie near each other. Colour them by stress to see which positions fit worst.{beyond}"
    );
    section("map", "The map", &note, figures.add("picture", scene.figure()))
}

/// Returns the sections about the quality of a map and its iterations. If they are closed, there is only one section.
pub fn fit_sections(fold: Fold, map: &Map, shepard: &Shepard, figures: &mut Figures) -> Markup {
    let names = ["distance in the map", "dissimilarity"];
    let ends = [shepard.largest_distance, shepard.largest_dissimilarity];
    let drawn = density("Shepard diagram", shepard.bins, &shepard.counts, names, ends);
    let stress: Vec<f64> = map.history.iter().map(|step| step.stress).collect();
    let fall = lines(vec![json!({
        "title": "Stress",
        "xName": "iteration",
        "x": (1..=stress.len()).collect::<Vec<_>>(),
        "y": stress,
        "isLogY": true,
    })]);
    let note = "The number of pairs by dissimilarity and by distance in the map. On the line, both are equal.";
    let (drawn, fall) = (figures.add("density", drawn), figures.add("stress-course", fall));
    match fold {
        Fold::Open => html! {
            (section("shepard", "Distances and dissimilarities", note, drawn))
            (section("fall", "How the stress fell", "", fall))
        },
        Fold::Closed => {
            let both = html! { (drawn) h3 { "How the stress fell" } (fall) };
            fold.section("fit", "How well the map fits", note, both)
        }
    }
}
