//! `lehr predict` with the model of `lehr cluster`: rows of the clustering are given what they were given, others their
//! nearest centre; and what is refused.

use super::sandbox::{Sandbox, census};
use super::services::Served;

/// Four corners of a square, three rows in each, and how many rows count.
fn corners() -> Sandbox {
    let row = |i: usize| {
        let (x, y) = (10 * (i % 2), 10 * (i / 2 % 2));
        format!("s{i},{}.{},{}.{}\n", x, i % 3, y, i % 5)
    };
    Sandbox::with("sites.csv", format!("site,x,y\n{}", (0..12).map(row).collect::<String>()))
}

/// The fields of a table, line by line, the head first.
fn fields(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

#[test]
fn rows_of_a_clustering_are_given_the_clusters_they_had() {
    for more in [&[][..], &["--scale", "std"], &["--precision", "f32"]] {
        let sandbox = corners();
        let line = ["cluster", "sites.csv", "--columns", "x,y", "--id", "site", "-k", "4", "--quiet"];
        sandbox.lehr(&[&line[..], more].concat()).succeeded();
        let outcome = sandbox.lehr(&["predict", "lehr-out/model.json", "sites.csv", "--id", "site"]).succeeded();
        let labels = sandbox.read("lehr-out/labels.csv");
        let (fitted, found) = (fields(&labels), fields(&outcome.stdout));
        assert_eq!(found[0], ["id", "cluster", "probability", "distance", "score"]);
        assert_eq!((found.len(), fitted.len()), (13, 13));
        for (found, fitted) in found.iter().zip(&fitted).skip(1) {
            assert_eq!(found[..2], fitted[..2], "{more:?}");
            assert!((number(found[2]) - number(fitted[2])).abs() < 1e-6, "{found:?} for {fitted:?}, {more:?}");
        }
        // Distances are in the unit that spreads have.
        let centers = sandbox.read("lehr-out/centers.csv");
        for center in fields(&centers).iter().skip(1) {
            let own = found.iter().skip(1).filter(|row| row[1] == center[0]).map(|row| number(row[3]).powi(2));
            let squares: Vec<f64> = own.collect();
            let spread = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
            assert!((spread - number(center[4])).abs() < 1e-9, "{spread} for {center:?}, {more:?}");
        }
    }
}

#[test]
fn a_model_that_a_service_made_says_what_that_of_the_command_says() {
    let sandbox = corners();
    let degrees = (0..40).map(|i| format!("{}.5,{}.25\n", 5 + i % 4 * 3, 40 + i % 5 * 2)).collect::<String>();
    sandbox.write("degrees.csv", format!("lon,lat\n{degrees}"));
    let node = Served::start(&[
        "--start",
        "lehr.mixture=/mixture",
        "--start",
        "lehr.gtm=/gtm",
        "--start",
        "lehr.kmedoids=/kmedoids",
        "--start",
        "lehr.distances=/distances",
        "--start",
        "lehr.predictions=/predictions,rows_per_second=1000000",
    ]);
    let predictions = node.at("/predictions");
    let datasets = node.at("/datasets");
    let ask = |words: &[&str]| sandbox.lehr(&[words, &["--timeout", "3000"]].concat());
    ask(&["upload", "sites.csv", &datasets, "--id", "site"]).succeeded();
    ask(&["upload", "degrees.csv", &datasets]).succeeded();
    for (method, path, data, options, line) in [
        ("cluster", "clustering", "sites", r#"{"clusters": 4}"#, &["-k", "4"][..]),
        ("cluster", "clustering", "sites", r#"{"clusters": 4, "scale": "robust"}"#, &["-k", "4", "--scale", "robust"]),
        ("cluster", "clustering", "degrees", r#"{"clusters": 5, "lonlat": true}"#, &["-k", "5", "--lonlat"]),
        (
            "cluster",
            "clustering",
            "sites",
            r#"{"clusters": 4, "method": "kmeans", "scale": "std"}"#,
            &["-k", "4", "--method", "kmeans", "--scale", "std"],
        ),
        ("mixture", "mixture", "sites", r#"{"components": 2, "scale": "std"}"#, &["-k", "2", "--scale", "std"]),
        (
            "gtm",
            "gtm",
            "sites",
            r#"{"dimensions": 1, "nodes": 8, "basis": 3}"#,
            &["--dimensions", "1", "--nodes", "8", "--basis", "3"],
        ),
    ] {
        let service = node.at(&format!("/{path}"));
        let order = format!(r#"{{"input": "{data}", "options": {options}}}"#);
        let job = ask(&["submit", &service, "run", &order]).succeeded().stdout;
        assert!(ask(&["query", &service, "wait", &job]).succeeded().stdout.contains("\"done\""), "{options}");
        sandbox.write("model.json", ask(&["query", &service, "model", &job]).succeeded().stdout);
        let file = format!("{data}.csv");
        let own = [
            &[method, &file, "--out", path, "--quiet"][..],
            line,
            if data == "sites" { &["--id", "site"] } else { &[] },
        ];
        sandbox.lehr(&own.concat()).succeeded();
        let said = |model: &str| sandbox.lehr(&["predict", model, &file]).succeeded().stdout;
        let (found, expected) = (said("model.json"), said(&format!("{path}/model.json")));
        assert_eq!(found, expected, "{options}");
        // The service of predictions, with the model of the command.
        let model = sandbox.read(&format!("{path}/model.json"));
        ask(&["submit", &predictions, "load", &format!(r#"{{"name": "m", "model": {model}}}"#)]).succeeded();
        let order = format!(r#"{{"name": "m", "dataset": "{data}", "format": "csv"}}"#);
        let said = ask(&["query", &predictions, "predict", &order]).succeeded().stdout;
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["csv"].as_str(), Some(&*expected), "{options}");
        if method == "cluster" {
            // The clusters that the command's own run gave its rows.
            let labels = sandbox.read(&format!("{path}/labels.csv"));
            let clusters = |text: &str| fields(text).iter().map(|row| row[1].to_owned()).collect::<Vec<_>>();
            assert_eq!(clusters(&found), clusters(&labels), "{options}");
        }
    }
    // The columns of a model of items are dissimilarities to its medoids.
    sandbox.write("pairs.csv", "d\n1\n9\n9\n");
    ask(&["upload", "pairs.csv", &datasets]).succeeded();
    let service = node.at("/kmedoids");
    let job = ask(&["submit", &service, "run", r#"{"input": "pairs", "options": {"clusters": 2}}"#]).succeeded().stdout;
    ask(&["query", &service, "wait", &job]).succeeded();
    sandbox.write("model.json", ask(&["query", &service, "model", &job]).succeeded().stdout);
    sandbox.write("new.csv", "2,1,0\n9,1,1\n0,9,9\n");
    let said = sandbox.lehr(&["predict", "model.json", "new.csv", "--header", "--quiet"]).succeeded().stdout;
    assert_eq!(said, "id,cluster,distance\n0,0,1\n1,1,0\n");
    // A method that learns nothing of other rows.
    let service = node.at("/distances");
    let job = ask(&["submit", &service, "run", r#"{"input": "sites"}"#]).succeeded().stdout;
    ask(&["query", &service, "wait", &job]).succeeded();
    let none = ask(&["query", &service, "model", &job]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("has no model: lehr.distances gives none"), "{}", none.stderr);
}

#[test]
fn other_rows_have_their_nearest_centre_and_a_membership_in_each() {
    let sandbox = corners();
    sandbox.lehr(&["cluster", "sites.csv", "--columns", "x,y", "-k", "4", "--quiet"]).succeeded();
    sandbox.write("new.csv", "up,name,right\n9,a,11\n0,b,1\n5.4,c,5.2\n");
    let line = ["predict", "lehr-out/model.json", "new.csv", "--columns", "right,up", "--id", "name", "--memberships"];
    let outcome = sandbox.lehr(&[&line[..], &["--out", "found.csv"]].concat()).succeeded();
    assert_eq!(
        outcome.stdout,
        "3 rows: 2 in cluster 0, 1 in cluster 3\n3 rows far out for their cluster: score above 1\nwritten to found.csv\n"
    );
    let quiet = sandbox.lehr(&[&line[..], &["--out", "again.csv", "--quiet"]].concat()).succeeded();
    assert_eq!(quiet.stdout, "");
    assert_eq!(sandbox.read("again.csv"), sandbox.read("found.csv"));
    let found = sandbox.read("found.csv");
    let found = fields(&found);
    assert_eq!(found[0][5..], ["membership0", "membership1", "membership2", "membership3"]);
    let centers = sandbox.read("lehr-out/centers.csv");
    let centers = fields(&centers);
    for (row, (x, y)) in [(1, (11.0, 9.0)), (2, (1.0, 0.0)), (3, (5.2, 5.4))] {
        let far = |k: usize| (number(centers[1 + k][1]) - x).hypot(number(centers[1 + k][2]) - y);
        let nearest = (0..4).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap();
        assert_eq!(found[row][1], nearest.to_string());
        assert!((number(found[row][3]) - far(nearest)).abs() < 1e-9);
        let memberships: Vec<f64> = found[row][5..].iter().map(|text| number(text)).collect();
        assert!((memberships.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((memberships[nearest] - number(found[row][2])).abs() < 1e-12);
    }
    // A mixture tells all memberships too.
    let fit = ["mixture", "sites.csv", "--columns", "x,y", "-k", "2", "--covariance", "spherical", "--quiet"];
    sandbox.lehr(&fit).succeeded();
    let outcome = sandbox.lehr(&["predict", "lehr-mixture/model.json", "sites.csv", "--memberships"]).succeeded();
    let told = fields(&outcome.stdout);
    assert_eq!(told[0], ["id", "component", "probability", "log_density", "membership0", "membership1"]);
    for row in &told[1..] {
        assert!((number(row[4]) + number(row[5]) - 1.0).abs() < 1e-12);
        assert_eq!(row[4 + row[1].parse::<usize>().unwrap()], row[2]);
    }
}

#[test]
fn rows_far_from_every_cluster_have_the_score_that_the_clustering_gave_them_32() {
    // Two groups, and a row far from both.
    let row = |i: u32| format!("r{i},{}.{},{}\n", 100 * (i % 2), i % 7, i % 5);
    let table = format!("name,x,y\n{}far,50,40\n", (0..60).map(row).collect::<String>());
    // Few equal rows beside many make a cluster of their own that is no group.
    let many: String = (0..600).map(row).collect();
    let few = format!("name,x,y\n{many}twin1,50,9000\n");
    for (table, more, expected) in [
        (&table, &["-k", "2"][..], "far"),
        (&table, &["-k", "2", "--outlier-radius", "20"], "far"),
        (&few, &["-k", "3"], "twin1"),
    ] {
        let sandbox = Sandbox::with("t.csv", table);
        sandbox.lehr(&[&["cluster", "t.csv", "--id", "name", "--quiet"], more].concat()).succeeded();
        let line = ["predict", "lehr-out", "t.csv", "--id", "name", "--out", "found.csv"];
        let told = sandbox.lehr(&line).succeeded().stdout;
        assert!(told.contains("\n1 row far out for its cluster: score above 1\nwritten to found.csv\n"), "{told}");
        let (found, outliers) = (sandbox.read("found.csv"), sandbox.read("lehr-out/outliers.csv"));
        let (found, outliers) = (fields(&found), fields(&outliers));
        assert_eq!((outliers.len(), outliers[1][0], outliers[0][3]), (2, expected, "score"));
        for row in &found[1..] {
            assert_eq!(number(row[4]) > 1.0, row[0] == expected, "{row:?}");
        }
        let row = found.iter().find(|row| row[0] == expected).unwrap();
        assert!((number(row[4]) - number(outliers[1][3])).abs() < 1e-9 * number(row[4]), "{row:?}: {outliers:?}");
        // A row that the clustering did not see, and the line about it without a file.
        sandbox.write("new.csv", "name,x,y\nnear,0.5,2\naway,-300,2\n");
        let line = ["predict", "lehr-out", "new.csv", "--id", "name"];
        let told = sandbox.lehr(&line).succeeded();
        let scores: Vec<bool> = fields(&told.stdout)[1..].iter().map(|row| number(row[4]) > 1.0).collect();
        assert_eq!(scores, [false, true]);
        assert!(told.stderr.starts_with("note: 2 rows: "), "{}", told.stderr);
        assert!(told.stderr.ends_with("\n      1 row far out for its cluster: score above 1\n"), "{}", told.stderr);
        assert_eq!(sandbox.lehr(&[&line[..], &["--quiet"]].concat()).succeeded().stderr, "");
    }
}

#[test]
fn positions_on_the_sphere_have_distances_in_kilometres_and_degrees_that_cannot_be_are_named() {
    let sandbox = Sandbox::with("blocks.csv.gz", std::fs::read(census()).unwrap());
    let line = ["cluster", "blocks.csv.gz", "--columns", "lon,lat", "--lonlat", "-k", "3", "--quiet"];
    sandbox.lehr(&line).succeeded();
    let centers = sandbox.read("lehr-out/centers.csv");
    let centers = fields(&centers);
    // The centre itself, and a degree of latitude to the north of it.
    let (lon, lat) = (centers[1][1], number(centers[1][2]));
    sandbox.write("places.csv", format!("lon,lat\n{lon},{lat}\n{lon},{}\n", lat + 0.1));
    let outcome = sandbox.lehr(&["predict", "lehr-out/model.json", "places.csv"]).succeeded();
    let found = fields(&outcome.stdout);
    assert_eq!((found[1][1], found[2][1]), ("0", "0"));
    // A centre is below the surface, by less than it is wide.
    let away = number(found[2][3]);
    assert!((11.1..400.0).contains(&away) && number(found[1][3]) < away, "{found:?}");
    sandbox.write("wrong.csv", "lon,lat\n10,20\n10,95\n");
    let outcome = sandbox.lehr(&["predict", "lehr-out/model.json", "wrong.csv"]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    let expected = "column 2 (\"lat\"): expected a latitude of -90 to 90 degrees, found 95";
    assert!(
        outcome.stderr.contains("wrong.csv, line 3") || outcome.stderr.contains("wrong.csv, row 2"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
}

#[test]
fn what_the_model_cannot_be_asked_is_refused_in_words() {
    let sandbox = corners();
    sandbox.lehr(&["cluster", "sites.csv", "--columns", "x,y", "-k", "2", "--quiet"]).succeeded();
    sandbox.write("other.csv", "x,z\n1,2\n");
    sandbox.write("text.csv", "x,y\n1,2\n3,north\n4,\n");
    let refusals: [(&[&str], i32, &[&str]); 5] = [
        (&["other.csv"], 3, &["other.csv", "expected a column \"y\"", "found the columns \"x\", \"z\""]),
        (&["text.csv"], 3, &["text.csv, line 3, column 2 (\"y\")", "found \"north\"", "line 4, column 2 (\"y\")"]),
        (&["sites.csv", "--columns", "x"], 2, &["expected 2 columns, as the model has, found 1", "x, y"]),
        (&["sites.csv", "--missing"], 2, &["--missing: clusters cannot label rows with missing cells"]),
        (&["nowhere.csv"], 4, &["nowhere.csv"]),
    ];
    for (more, code, words) in refusals {
        let outcome = sandbox.lehr(&[&["predict", "lehr-out/model.json"], more].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{more:?}: {}", outcome.stderr);
        for word in words {
            assert!(outcome.stderr.contains(word), "{more:?}: {word:?} is not in {}", outcome.stderr);
        }
    }
    let fit = ["gtm", "sites.csv", "--columns", "x,y", "--dimensions", "1", "--nodes", "5", "--basis", "2", "--quiet"];
    sandbox.lehr(&fit).succeeded();
    let outcome = sandbox.lehr(&["predict", "lehr-gtm/model.json", "sites.csv", "--memberships"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
}

#[test]
fn rows_whose_squares_no_number_holds_are_refused_by_densities_28() {
    let sandbox = corners();
    sandbox.write("far.csv", "x,y\n1,2\n1e200,2\n");
    for (method, folder) in [("mixture", "lehr-mixture"), ("gtm", "lehr-gtm")] {
        sandbox.lehr(&[method, "sites.csv", "--columns", "x,y", "--quiet"]).succeeded();
        let outcome = sandbox.lehr(&["predict", &format!("{folder}/model.json"), "far.csv"]);
        assert_eq!((outcome.code, &*outcome.stdout), (3, ""), "{method}: {}", outcome.stderr);
        for words in ["numbers below 1e140", "found 1e200 in row 1 (counted from 0), column \"x\""] {
            assert!(outcome.stderr.contains(words), "{method}: {}", outcome.stderr);
        }
    }
    // Centres are compared however far rows are.
    sandbox.lehr(&["cluster", "sites.csv", "--columns", "x,y", "-k", "4", "--quiet"]).succeeded();
    let outcome = sandbox.lehr(&["predict", "lehr-out/model.json", "far.csv"]).succeeded();
    assert_eq!(number(fields(&outcome.stdout)[2][3]), 1e200);
}
