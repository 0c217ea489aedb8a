//! Tests of the report of every method: its text and its data. `LEHR_PAGES=FOLDER` keeps the reports for inspection.

use std::fs;
use std::path::Path;

use lehr_data::Points;
use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::read::{Batches, Selection};
use lehr_data::scale::Scale;
use lehr_methods::{About, Classes, Data, Fit, Frame, Matrix, Rows, Stream, Task};
use lehr_mining::Execution;
use lehr_mining::anneal::Silent;
use lehr_ranks::Layout;
use lehr_report::Run;
use lehr_report::drawing::Format;
use serde_json::Value;
use serde_json::json;

/// Returns a table with three groups in three columns, a row that is far out, an id, and a column whose names need
/// escaping.
fn table() -> Points {
    let (mut values, mut ids) = (Vec::new(), Vec::new());
    let spread = |n: usize| (n as f64 * 0.618_033_988_749_894_9).fract();
    for row in 0..150 {
        let (x, y) = [(0.0, 0.0), (10.0, 0.0), (5.0, 9.0)][row % 3];
        values.extend([x + 2.0 * spread(row + 1), y + 2.0 * spread(7 * row + 3), 3.0 * spread(31 * row + 5)]);
        ids.push(format!("row-{row}"));
    }
    values.extend([900.0, -700.0, 1.0]);
    ids.push("<img src=x onerror=alert(1)>".to_owned());
    let columns = ["x", "<b>y</b>", "z"].map(str::to_owned).to_vec();
    Points::new(values, 3).unwrap().with_columns(columns).unwrap().with_ids(ids).unwrap()
}

fn rows() -> Rows {
    Rows::new(table(), Frame::Columns(Scale::None)).unwrap()
}

/// Returns the distances of all rows except the last.
fn matrix() -> Matrix {
    let table = table();
    let items = table.len() - 1;
    let mut values = Vec::new();
    for i in 0..items {
        for j in i + 1..items {
            let squared: f64 = table.row(i).iter().zip(table.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
            values.push(squared.sqrt());
        }
    }
    let classes: Vec<&str> = (0..items).map(|item| ["a", "b", "<c>"][item % 3]).collect();
    Matrix {
        dissimilarities: Dissimilarities::new(items, Form::Condensed, Values::F64(values), 1.0).unwrap(),
        ids: table.ids().unwrap()[..items].to_vec(),
        weights: None,
        classes: vec![Classes::new("known", &classes)],
        smiles: None,
    }
}

/// The report of a method: its text without the script, its figures, and its picture as a file.
struct Made {
    words: String,
    figures: Value,
    svg: String,
}

fn page(kept: &str, name: &str, data: Data<'_>, options: &str) -> (String, Value) {
    let Made { words, figures, .. } = made(kept, name, data, options);
    (words, figures)
}

/// Runs a method.
fn fitted(name: &str, data: Data<'_>, options: &str) -> (&'static About, Box<dyn Fit>) {
    let method = lehr_methods::find(name).unwrap();
    let task = Task { data, checkpoint: None, execution: &Execution::default(), observer: &mut Silent };
    (method.about(), method.run(task, &serde_json::from_str(options).unwrap()).unwrap())
}

/// Returns the facts about a run.
fn run_of<'a>(about: &'a About, fit: &'a dyn Fit) -> Run<'a> {
    let execution = Execution::default();
    Run {
        about,
        source: "some/points & more.csv",
        subject: None,
        command: Some("lehr cluster points.csv -k 3"),
        command_without_end: Some("lehr cluster points.csv"),
        finished: Some(1_795_000_000_000),
        weights: None,
        ids: None,
        scale: Scale::None,
        engine: execution.engine,
        layout: Layout::threads(execution.ranks),
        threads: execution.threads,
        is_resumed: false,
        warnings: fit.warnings(),
        phases: fit.spent().phases,
    }
}

/// Makes the report of a method, and checks the properties that all reports share.
fn made(kept: &str, name: &str, data: Data<'_>, options: &str) -> Made {
    let (about, fit) = fitted(name, data, options);
    let run = run_of(about, &*fit);
    let drawing = lehr_report::drawing(&run, data, &*fit).expect("every method has a picture");
    let svg = String::from_utf8(drawing.bytes(Format::Svg)).unwrap();
    expect_well_formed(kept, &svg);
    let png = drawing.bytes(Format::Png);
    assert_eq!((&png[1..4], &png[16..24]), (&b"PNG"[..], &[0, 0, 7, 128, 0, 0, 5, 0][..]), "{kept}: 1920 by 1280");
    let page = lehr_report::page(&run, data, &*fit);
    #[allow(clippy::disallowed_methods, reason = "who looks at pages says where to keep them")]
    let folder = std::env::var("LEHR_PAGES");
    if let Ok(folder) = folder {
        fs::create_dir_all(Path::new(&folder).join(kept)).unwrap();
        let folder = Path::new(&folder).join(kept);
        fs::write(folder.join("report.html"), &page).unwrap();
        fs::write(folder.join("figure.svg"), &svg).unwrap();
        fs::write(folder.join("figure.png"), &png).unwrap();
    }
    let (words, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, script) = rest.split_once("</script>").unwrap();
    assert!(!words.contains("<img src") && !words.contains("<b>y</b>"), "{kept}: {words}");
    assert!(!data.contains('<'), "{kept}: data cannot end their element");
    assert!(script.ends_with("</script></body></html>"), "{kept}");
    let figures = serde_json::from_str::<Value>(data).unwrap()["figures"].clone();
    for id in figures.as_object().unwrap().keys() {
        assert!(words.contains(&format!("<div class=\"figure\" id=\"{id}\">")), "{kept}: {id} has no place");
    }
    Made { words: words.to_owned(), figures, svg }
}

/// Checks that an SVG closes its elements in order, has finite numbers, and escapes names.
fn expect_well_formed(kept: &str, svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{kept}");
    assert!(!svg.contains("<img") && !svg.contains("<b>"), "{kept}");
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1).map(|part| part.split('>').next().unwrap()) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{kept}");
        } else if !tag.starts_with('!') && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && svg.ends_with("</svg>\n"), "{kept}: {open:?}");
}

/// Returns the number of bytes of a packed column.
fn bytes(packed: &Value) -> usize {
    let text = packed.as_str().unwrap();
    text.len() / 4 * 3 - text.bytes().rev().take_while(|&byte| byte == b'=').count()
}

#[test]
fn clusters_have_points_with_names_a_table_outliers_and_a_course() {
    let rows = rows();
    let (words, figures) = page("cluster", "cluster", Data::Rows(&rows), r#"{ "clusters": 4 }"#);
    assert!(words.contains("151 rows in 4 clusters") && words.contains("&lt;b&gt;y&lt;/b&gt;"));
    assert!(words.contains("What sets the clusters apart"));
    assert_eq!(words.matches("<tr data-cluster=").count(), 4);
    let scene = &figures["picture"];
    assert_eq!((&scene["kind"], &scene["rows"], &scene["table"]), (&"scene".into(), &151.into(), &"clusters".into()));
    assert_eq!(scene["ids"][150], "<img src=x onerror=alert(1)>");
    assert_eq!(bytes(&scene["columns"][1]["values"]), 4 * 151);
    assert_eq!(bytes(&scene["groupings"][0]["of"]), 2 * 151);
    assert_eq!(scene["groupings"][0]["about"].as_array().unwrap().len(), 4);
    assert_eq!(bytes(&scene["groupings"][0]["probability"]), 2 * 151);
    assert!(words.contains("merges first with"));
    for (part, count) in [("means", 4), ("partners", 4)] {
        assert_eq!(scene["groupings"][0][part].as_array().unwrap().len(), count, "{part}");
    }
    assert!(scene["layouts"][0]["names"][0].as_str().unwrap().starts_with("first principal axis ("));
    let course = &figures["course"];
    assert_eq!((&course["kind"], &course["command"]), (&"anneal".into(), &"lehr cluster points.csv".into()));
    assert_eq!(course["steps"][0][1], 1);
    assert_eq!(course["splits"][0].as_array().unwrap()[1..], [json!(0), json!(null), json!(null)]);
    // A single cluster has no name, and k-means has initialisations in place of an annealing.
    let (words, figures) = page("one", "cluster", Data::Rows(&rows), r#"{ "clusters": 1 }"#);
    assert!(words.contains("1 row far out") && words.contains("&lt;img src=x"));
    assert!(words.contains("151 rows in 1 cluster") && !words.contains("What sets the clusters apart"));
    assert_eq!(figures["picture"]["groupings"][0].get("about"), None);
    assert!(figures["picture"]["groupings"][0].get("partners").is_none() && !words.contains("merges first with"));
    let (words, figures) =
        page("kmeans", "cluster", Data::Rows(&rows), r#"{ "clusters": 8, "method": "kmeans", "starts": 12 }"#);
    assert!(words.contains("of 12 starts") || words.contains("Of 12 starts"), "{words}");
    assert_eq!(figures.get("course"), None);
}

#[test]
fn a_map_of_the_world_leaves_out_what_is_empty() {
    let towns = [(-119.0, 39.0), (-81.0, 38.5)];
    let place = |row: usize| [towns[row % 2].0 + 0.01 * row as f64, towns[row % 2].1 + 0.005 * row as f64];
    let values: Vec<f64> = (0..80).flat_map(place).collect();
    let points = Points::new(values, 2).unwrap().with_columns(vec!["lon".into(), "lat".into()]).unwrap();
    let rows = Rows::new(points, Frame::Sphere).unwrap();
    let (_, figures) = page("sphere", "cluster", Data::Rows(&rows), r#"{ "clusters": 2 }"#);
    let layout = &figures["picture"]["layouts"][0];
    assert_eq!((&layout["title"], layout["degrees"]["breaks"].as_array().unwrap().len()), (&"map".into(), 1));
    let narrowing = layout["stretch"][0].as_f64().unwrap();
    assert!((narrowing - libm::cos(39.0_f64.to_radians())).abs() < 0.01, "{narrowing}");
}

#[test]
fn components_have_outlines_and_the_evidence_for_their_number() {
    let rows = rows();
    let (words, figures) = page("mixture", "mixture", Data::Rows(&rows), r#"{ "max_components": 4 }"#);
    assert!(words.contains("How many components"), "{words}");
    let layout = &figures["picture"]["layouts"][0];
    let outlines = layout["outlines"].as_array().unwrap();
    assert_eq!(outlines.len(), words.matches("<tr data-cluster=").count());
    let covariance = |at: usize| outlines[0]["covariance"][at].as_f64().unwrap();
    assert!(covariance(0) > 0.0 && covariance(0) * covariance(2) >= covariance(1).powi(2) - 1e-9);
    let curve = &figures["criteria"]["lines"][0];
    let bic: Vec<f64> = curve["y"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    let best = curve["best"].as_u64().unwrap() as usize;
    assert!(bic.len() == 4 && bic.iter().all(|value| *value >= bic[best]), "{bic:?}");
}

#[test]
fn topographic_maps_of_one_to_three_dimensions_are_coloured_by_a_column() {
    let rows = rows();
    for (dimensions, nodes, cells) in [(1, 12, 12), (2, 8, 64), (3, 4, 0)] {
        let options = format!(r#"{{ "dimensions": {dimensions}, "nodes": {nodes} }}"#);
        let (words, figures) = page(&format!("gtm-{dimensions}"), "gtm", Data::Rows(&rows), &options);
        assert!(words.contains("151 rows on a map"));
        let scene = &figures["picture"];
        assert_eq!(scene["colour"], "column:x");
        let layout = &scene["layouts"][0];
        assert_eq!(layout["ground"]["shade"].as_array().map_or(0, Vec::len), cells, "{dimensions}");
        assert_eq!(layout["axes"].as_array().unwrap().len(), if dimensions == 3 { 3 } else { 2 });
        let planes = figures["planes"]["planes"].as_array().map_or(0, Vec::len);
        assert_eq!(planes, if dimensions == 3 { 0 } else { 3 });
    }
}

#[test]
fn dissimilarities_stand_in_the_order_of_their_tree_and_items_have_names() {
    let matrix = matrix();
    let data = Data::Matrix(&matrix);
    let (words, figures) = page("pairwise", "pairwise", data, r#"{ "clusters": 3 }"#);
    assert!(words.contains("150 items in 3 clusters") && figures["course"]["kind"] == "anneal");
    let (of_medoids, medoids) = page("kmedoids", "kmedoids", data, r#"{ "clusters": 3 }"#);
    assert!(of_medoids.contains("150 items in 3 clusters about medoids"));
    for heat in [&figures["heat"], &medoids["heat"]] {
        assert_eq!((&heat["cells"], bytes(&heat["levels"])), (&150.into(), 150 * 150));
        assert_eq!((heat["blocks"].as_array().unwrap().len(), heat["tree"].as_array().unwrap().len()), (3, 2));
        assert_eq!(bytes(&heat["between"]), 4 * 9);
        assert_eq!(heat["ids"].as_array().unwrap().len(), 150);
    }
    let (words, figures) = page("embed", "embed", data, r#"{ "dimension": 3 }"#);
    assert!(words.contains("150 items in 3 dimensions"));
    let scene = &figures["picture"];
    assert_eq!(scene["groupings"][0]["names"], serde_json::json!(["<c>", "a", "b"]));
    assert_eq!(scene["layouts"][0]["axes"].as_array().unwrap().len(), 3);
    let counts = figures["density"]["counts"].as_array().unwrap();
    assert_eq!(counts.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), 150 * 149 / 2);
}

#[test]
fn a_method_without_a_layout_has_its_figures_its_tables_and_a_picture_of_its_centres() {
    let text = "x,<b>y</b>\n0,1\n1,0\n10,11\n11,10\n10,10\n";
    let batches = Batches::new(text.as_bytes(), "t.csv", &Selection::default()).unwrap();
    let stream = Stream::begin(Box::new(batches), 5, Scale::None).unwrap().unwrap();
    let (words, figures) = page("plain", "minibatch", Data::Stream(&stream), r#"{ "clusters": 2 }"#);
    assert!(words.contains("<dt>Rows</dt><dd class=\"big\">5</dd>"), "{words}");
    assert!(words.contains("&lt;b&gt;y&lt;/b&gt;</th>"), "{words}");
    assert_eq!(words.matches("<tr><td>").count(), 2);
    let scene = &figures["picture"];
    assert_eq!(scene["rows"], 2);
    assert_eq!(scene["groupings"][0]["about"], json!(["60.0 % of the weight", "40.0 % of the weight"]));
    let names: Vec<&Value> = scene["columns"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["x", "<b>y</b>", "weight", "spread"]);
    assert_eq!(scene["columns"][2]["values"], lehr_report::packed::floats([3.0, 2.0].into_iter()));
}

#[test]
fn what_only_readers_who_compare_runs_need_is_closed_in_every_report() {
    let (rows, matrix) = (rows(), matrix());
    let batches = Batches::new(&b"x,y\n0,1\n1,0\n10,11\n"[..], "t.csv", &Selection::default()).unwrap();
    let stream = Stream::begin(Box::new(batches), 3, Scale::None).unwrap().unwrap();
    let [rows, matrix, stream] = [Data::Rows(&rows), Data::Matrix(&matrix), Data::Stream(&stream)];
    for (name, data, options) in [
        ("cluster", rows, r#"{ "clusters": 3 }"#),
        ("mixture", rows, r#"{ "components": 3 }"#),
        ("gtm", rows, r#"{ "nodes": 6 }"#),
        ("pairwise", matrix, r#"{ "clusters": 3 }"#),
        ("kmedoids", matrix, r#"{ "clusters": 3 }"#),
        ("hierarchy", matrix, r#"{ "clusters": 3 }"#),
        ("hdbscan", matrix, "{}"),
        ("embed", matrix, "{}"),
        ("minibatch", stream, r#"{ "clusters": 2 }"#),
    ] {
        let (about, fit) = fitted(name, data, options);
        let page = lehr_report::page(&run_of(about, &*fit), data, &*fit);
        let (_, run) = page.split_once("The run</h2>").unwrap();
        let (run, _) = run.split_once("<footer>").unwrap();
        let (seen, closed) = run.split_once("<details>").unwrap();
        for told in
            ["some/points &amp; more.csv", "lehr cluster points.csv -k 3", "2026-11-18 ", " UTC", "<dt>Time</dt>"]
        {
            assert!(seen.contains(told), "{name}: {told}: {seen}");
        }
        for told in ["Fingerprint", "Engine", "Shared by", "Precision", "Regularisation", "Where the time went"] {
            assert!(!seen.contains(told), "{name}: {told}");
        }
        assert!(closed.contains("Engine") && closed.contains("Where the time went"), "{name}: {closed}");
    }
}

#[test]
fn limits_of_a_picture_come_from_the_clusters_and_far_rows_are_marked_at_its_edge() {
    let rows = rows();
    let Made { svg, .. } = made("edge", "cluster", Data::Rows(&rows), r#"{ "clusters": 3, "outlier_radius": 20 }"#);
    // The only row far out is a triangle in the picture, and the legend has another triangle.
    assert_eq!(svg.matches("<polygon").count(), 2, "{svg}");
    for words in [">in none (1)</text>", ">1 outlier</text>", ">beyond the edge (1)</text>", "151 rows in 3 clusters"] {
        assert!(svg.contains(words), "{words}");
    }
    // The remaining rows fill the picture. If the far row were within the limits, they would be within a few units of
    // each other.
    let circles =
        svg.split("<circle cx=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap());
    let inside: Vec<f64> = circles.filter(|x| *x < 660.0).collect();
    let least = inside.iter().copied().fold(f64::INFINITY, f64::min);
    let most = inside.iter().copied().fold(0.0, f64::max);
    assert!(most - least > 300.0, "{least} to {most}");
    // An outlier within the limits has a ring.
    let near =
        Rows::new(Points::new([table().values(), &[5.0, 4.0, 40.0]].concat(), 3).unwrap(), Frame::Columns(Scale::None));
    let near = near.unwrap();
    let Made { svg, .. } = made("ring", "cluster", Data::Rows(&near), r#"{ "clusters": 3, "outlier_radius": 20 }"#);
    assert!(svg.contains(">2 outliers</text>"), "{svg}");
}

#[test]
fn a_legend_has_the_first_twenty_of_many_clusters() {
    let values: Vec<f64> = (0..250).flat_map(|row| [f64::from(row % 25) * 10.0, f64::from(row / 25)]).collect();
    let rows = Rows::new(Points::new(values, 2).unwrap(), Frame::Columns(Scale::None)).unwrap();
    let Made { svg, .. } = made("many", "cluster", Data::Rows(&rows), r#"{ "clusters": 25, "method": "kmeans" }"#);
    assert!(svg.contains(">and 5 more, colours again</text>"), "{svg}");
    assert_eq!(svg.matches("fill-opacity").count(), 25 + 20, "a group of discs for each cluster, a mark for each line");
    // Each cluster has its number at its centre.
    assert!(svg.contains("paint-order=\"stroke\">24</text>"));
}
