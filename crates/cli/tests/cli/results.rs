//! What a run leaves behind, and on which channel it speaks.

use super::sandbox::{CLUSTER_FILES, Sandbox};

/// Three well separated groups of 4, 3 and 2 rows, with ids that need quotes and a row that weighs nothing.
const GROUPS: &str = "\
name;x;y;w
\"a;1\";0;0;1
\"a,2\";0;2;1
a3;2;0;1
a4;2;2;1
b1;100;100;1
b2;100;103;1
b3;103;100;1
c1;-50;80;1
c2;-50;82;1
zero;101;101;0
";

const LINE: [&str; 11] =
    ["cluster", "groups.csv", "--columns", "x,y", "--weights", "w", "--id", "name", "-k", "3", "--quiet"];

#[test]
fn files_say_what_can_be_checked_on_paper() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert_eq!(sandbox.list("lehr-out"), CLUSTER_FILES);
    assert_eq!(outcome.stderr, "");

    let labels = sandbox.read("lehr-out/labels.csv");
    let rows: Vec<&str> = labels.lines().collect();
    let (head, rest) = rows[0].split_at("id,cluster,probability".len());
    assert_eq!((head, rest), ("id,cluster,probability", ",distance,second_cluster,second_distance"));
    let clusters: Vec<(&str, &str)> = rows[1..]
        .iter()
        .map(|row| {
            // How the row stands to the clusters is behind.
            let row = row.rsplitn(4, ',').last().unwrap();
            let (rest, probability) = row.rsplit_once(',').unwrap();
            assert!((0.99..=1.0).contains(&probability.parse::<f64>().unwrap()), "{row}");
            rest.rsplit_once(',').unwrap()
        })
        .collect();
    let expected = [
        ("a;1", "0"),
        ("\"a,2\"", "0"),
        ("a3", "0"),
        ("a4", "0"),
        ("b1", "1"),
        ("b2", "1"),
        ("b3", "1"),
        ("c1", "2"),
        ("c2", "2"),
        ("zero", "1"),
    ];
    assert_eq!(clusters, expected, "in the order of the input, quoted only where it must be");

    // Means (1, 1), (101, 101), (-50, 81); spreads sqrt 2, 2, 1. The row that weighs nothing is counted, and moves
    // nothing.
    let centers = sandbox.read("lehr-out/centers.csv");
    let expected = [[1.0, 1.0, 4.0, 2f64.sqrt()], [101.0, 101.0, 3.0, 2.0], [-50.0, 81.0, 2.0, 1.0]];
    let rows: Vec<&str> = centers.lines().collect();
    assert_eq!(rows[0], "cluster,x,y,weight,spread,probability,silhouette,merges_with,joins,joins_at,name");
    for (cluster, (row, expected)) in rows[1..].iter().zip(expected).enumerate() {
        let values: Vec<f64> = row.split(',').take(5).map(|field| field.parse().unwrap()).collect();
        assert_eq!(values[0], cluster as f64);
        for (value, expected) in values[1..].iter().zip(expected) {
            assert!((value - expected).abs() < 1e-9, "{row}");
        }
    }

    let summary = sandbox.summary("lehr-out");
    assert_eq!(summary["program"], "lehr");
    assert_eq!(summary["temperature_convention"], "full");
    assert_eq!((&summary["input"]["rows"], &summary["input"]["rows_of_weight_zero"]), (&10.into(), &1.into()));
    assert_eq!(summary["clusters"][1]["rows"], 4);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!((number(&summary["result"]["sum_of_squares"]) - (8.0 + 12.0 + 2.0)).abs() < 1e-9);
    assert!((number(&summary["result"]["objective"]) - 22.0 / 9.0).abs() < 1e-9);
    let history = summary["temperatures"]["history"].as_array().unwrap();
    assert_eq!(summary["temperatures"]["count"], history.len());
    assert!(!history.is_empty() && summary["splits"].as_array().unwrap().len() >= 2);
    let phases: Vec<&str> = (summary["seconds"]["phases"].as_array().unwrap().iter())
        .map(|phase| phase["phase"].as_str().unwrap())
        .collect();
    assert_eq!(phases[0], "reading");
    assert!(phases.contains(&"writing tables"), "{phases:?}");
}

#[test]
fn json_goes_to_standard_output_alone() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    let outcome = sandbox.lehr(&[&LINE[..10], &["--json"]].concat()).succeeded();
    assert_eq!(outcome.stdout, sandbox.read("lehr-out/summary.json"));
    assert!(outcome.stderr.contains("temperature"), "progress goes to standard error: {}", outcome.stderr);
}

#[test]
fn the_table_ends_with_where_the_report_is() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    let outcome = sandbox.lehr(&[&LINE[..], &["--out", "deep/er"]].concat()).succeeded();
    assert!(outcome.stdout.starts_with("10 rows in 3 clusters; root mean square distance to the centre 1.563\n"));
    assert!(outcome.stdout.ends_with("report: deep/er/report.html\n"), "{}", outcome.stdout);
}

#[test]
fn a_second_run_replaces_the_first_and_nothing_else() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    sandbox.lehr(&LINE).succeeded();
    sandbox.write("lehr-out/notes.txt", "mine");
    let outcome = sandbox.lehr(&[&LINE[..8], &["-k", "2", "--quiet"]].concat()).succeeded();
    assert_eq!(outcome.stderr, "note: replaced the results of an earlier run in lehr-out\n");
    assert_eq!(sandbox.summary("lehr-out")["result"]["clusters"], 2);
    assert_eq!(
        sandbox.list("lehr-out"),
        [
            "centers.csv",
            "labels.csv",
            "marks.csv",
            "model.json",
            "notes.txt",
            "outliers.csv",
            "report.html",
            "summary.json"
        ]
    );
    assert_eq!(sandbox.read("lehr-out/notes.txt"), "mine");
}

#[test]
fn a_run_that_fails_leaves_earlier_results_as_they_were() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    sandbox.lehr(&LINE).succeeded();
    let before = sandbox.read("lehr-out/summary.json");
    assert_eq!(sandbox.lehr(&["cluster", "groups.csv", "--columns", "x,y", "-k", "50"]).code, 3);
    assert_eq!(sandbox.read("lehr-out/summary.json"), before);
    assert_eq!(sandbox.list("lehr-out").len(), CLUSTER_FILES.len());
}

#[test]
fn engine_ranks_and_threads_do_not_change_a_byte_of_the_results() {
    let rows: String = (0..3000)
        .map(|row| {
            let angle = f64::from(row) * 2.399_963;
            let place = [(0.0, 0.0), (40.0, 5.0), (10.0, 60.0), (70.0, 70.0)][row as usize % 4];
            let radius = 8.0 * (f64::from(row % 97) / 97.0).sqrt();
            format!("{},{},{}\n", place.0 + radius * angle.cos(), place.1 + radius * angle.sin(), row % 5)
        })
        .collect();
    let sandbox = Sandbox::with("points.csv", format!("x,y,w\n{rows}"));
    let mut first: Option<(String, String, serde_json::Value)> = None;
    for execution in [
        ["--engine", "ranks", "--threads", "1"],
        ["--engine", "ranks", "--threads", "3"],
        ["--engine", "loop", "--threads", "2"],
        ["--engine", "ports", "--threads", "2"],
    ] {
        let line = ["cluster", "points.csv", "--columns", "x,y", "--weights", "w", "-k", "6", "--quiet"];
        sandbox.lehr(&[&line[..], &execution[..]].concat()).succeeded();
        let mut summary = sandbox.summary("lehr-out");
        // How it was computed is in these two parts and nowhere else.
        assert_eq!(summary["execution"]["engine"], execution[1]);
        summary.as_object_mut().unwrap().retain(|key, _| key != "execution" && key != "seconds");
        let found = (sandbox.read("lehr-out/labels.csv"), sandbox.read("lehr-out/centers.csv"), summary);
        match &first {
            None => first = Some(found),
            Some(first) => assert!(*first == found, "{execution:?}"),
        }
    }
}

#[test]
fn centres_are_reported_in_the_units_of_the_columns() {
    let content = "kg,mm\n1,1000\n2,1000\n1,3000\n2,3000\n51,1000\n52,1000\n51,3000\n52,3000\n";
    let sandbox = Sandbox::with("scaled.csv", content);
    sandbox.lehr(&["cluster", "scaled.csv", "-k", "4", "--scale", "std", "--quiet", "--threads", "1"]).succeeded();
    let mut centers: Vec<Vec<f64>> = sandbox
        .read("lehr-out/centers.csv")
        .lines()
        .skip(1)
        .map(|row| row.split(',').skip(1).take(2).map(|field| field.parse().unwrap()).collect())
        .collect();
    centers.sort_by(|a, b| a.partial_cmp(b).unwrap());
    for (center, expected) in centers.iter().zip([[1.5, 1000.0], [1.5, 3000.0], [51.5, 1000.0], [51.5, 3000.0]]) {
        assert!((center[0] - expected[0]).abs() < 1e-9 && (center[1] - expected[1]).abs() < 1e-6, "{center:?}");
    }
}

#[test]
fn on_the_sphere_centres_are_degrees_and_spreads_are_km() {
    // Two rows a degree of latitude apart, on either side of the date line: 111.19 km, so a spread of 55.6 km.
    let sandbox = Sandbox::with("points.csv", "longitude,latitude\n180,10\n-180,11\n0,-45\n");
    sandbox.lehr(&["cluster", "points.csv", "--lonlat", "-k", "2", "--quiet", "--threads", "1"]).succeeded();
    let centers = sandbox.read("lehr-out/centers.csv");
    let fields = centers.lines().nth(1).unwrap().split(',').take(5);
    let first: Vec<f64> = fields.map(|field| field.parse().unwrap()).collect();
    assert!((first[1].abs() - 180.0).abs() < 1e-9 && (first[2] - 10.5).abs() < 1e-9, "{centers}");
    assert!((first[4] - 55.6).abs() < 0.1, "{centers}");
    assert_eq!(sandbox.summary("lehr-out")["unit"]["length"], "km");
}

#[test]
fn the_report_is_one_page_that_loads_nothing() {
    let content = GROUPS.replace("name;x;y", "name;<x>;y");
    let sandbox = Sandbox::with("groups.csv", content);
    sandbox.lehr(&["cluster", "groups.csv", "--columns", "<x>,y", "-k", "3", "--quiet"]).succeeded();
    let page = sandbox.read("lehr-out/report.html");
    for outside in ["src=\"http", "href=\"", "@import", "url(", "fetch(", "import("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("10 rows in 3 clusters") && page.contains("&lt;x&gt;"));
    assert!(!page.contains("<x>"), "names of columns are text, never markup");
    let (words, figures) = sandbox.page("lehr-out/report.html");
    assert_eq!(words.matches("<tr data-cluster=").count(), 3);
    // One script may run, and nothing may be loaded.
    assert!(words.contains("content=\"default-src 'none'; script-src 'sha256-"));
    let scene = &figures["picture"];
    assert_eq!(
        (&scene["rows"], &scene["ids"], &scene["columns"][0]["name"]),
        (&10.into(), &serde_json::Value::Null, &"<x>".into())
    );
    // The axes of the picture are the columns, so the page has their values once.
    assert_eq!(scene["layouts"][0]["axes"], serde_json::json!([0, 1]));
    // Ten points: four bytes a coordinate and two a label, as base64.
    let packed = [&scene["columns"][0]["values"], &scene["groupings"][0]["of"]];
    assert_eq!(packed.map(|text| text.as_str().unwrap().len()), [56, 28]);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    let mut child = sandbox.start(&LINE);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sandbox.list("lehr-out").len(), CLUSTER_FILES.len());
}

#[test]
fn a_number_that_was_chosen_is_shown_with_its_reason_and_the_runners_up() {
    let iris = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/iris/iris.csv");
    let sandbox = Sandbox::new();
    let columns = "sepal_length,sepal_width,petal_length,petal_width";
    let shown = sandbox.lehr(&["cluster", iris, "--columns", columns, "--out", "o"]).succeeded().stdout;
    let number = sandbox.summary("o")["result"]["number"].clone();
    assert_eq!(
        (number["clusters"].as_u64(), number["rows"].as_u64(), number["needed"].as_f64()),
        (Some(2), Some(150), Some(6.0))
    );
    let reason = number["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("2 clusters: the density has a valley between every two neighbouring clusters"),
        "{reason}"
    );
    assert!(shown.contains(reason) && shown.contains("runners-up: "), "{shown}");
    assert!(shown.contains("clusters  distance  separation (nats)"), "{shown}");
    let page = std::fs::read_to_string(sandbox.path("o/report.html")).unwrap();
    assert!(page.contains("Why this number of clusters") && page.contains(reason), "{page}");
    let chosen: Vec<u64> =
        number["candidates"].as_array().unwrap().iter().filter_map(|of| of["clusters"].as_u64()).collect();
    assert!(chosen.is_sorted_by(|left, right| left > right) && chosen.contains(&2), "{chosen:?}");
    // Where the number is given nothing is said of others.
    sandbox.lehr(&["cluster", iris, "--clusters", "2", "--out", "given"]).succeeded();
    assert!(sandbox.summary("given")["result"]["number"].is_null());
    let page = std::fs::read_to_string(sandbox.path("given/report.html")).unwrap();
    assert!(!page.contains("Why this number of clusters"));
}
