//! `lehr mixture`: what it leaves behind, what it refuses, and that a stopped fit goes on to the same bytes.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use lehr_data::read::{self, Selection};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress};
use lehr_mining::{Execution, mixture};

use super::sandbox::{Sandbox, census};

const COLUMNS: &str = "sepal_length,sepal_width,petal_length,petal_width";

fn iris() -> Sandbox {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/iris/iris.csv");
    Sandbox::with("iris.csv", std::fs::read(path).unwrap())
}

const LINE: [&str; 7] = ["mixture", "iris.csv", "--columns", COLUMNS, "--components", "3", "--quiet"];

#[test]
fn files_say_what_was_found() {
    let sandbox = iris();
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert_eq!(outcome.stderr, "");
    assert!(
        outcome.stdout.starts_with("150 rows in 3 components (full); log-likelihood -180.1855, BIC 580.8"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        sandbox.list("lehr-mixture"),
        ["components.csv", "labels.csv", "model.json", "report.html", "summary.json"]
    );

    let labels = sandbox.read("lehr-mixture/labels.csv");
    let rows: Vec<Vec<&str>> = labels.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows.len(), &rows[0][..]), (151, &["id", "component", "probability", "log_density"][..]));
    let sum: f64 = rows[1..].iter().map(|row| row[3].parse::<f64>().unwrap()).sum();
    let summary = sandbox.summary("lehr-mixture");
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!((number(&summary["result"]["log_likelihood"]) - sum).abs() < 1e-9 && (sum + 180.185477).abs() < 1e-5);
    assert_eq!(summary["method"], "gaussian mixture");
    assert_eq!(summary["result"]["free_parameters"], 44);
    assert_eq!(summary["mixture"]["covariances"].as_array().unwrap().len(), 3 * 10);
    assert_eq!(summary["candidates"].as_array().unwrap().len(), 1);
    assert_eq!(summary["warnings"].as_array().unwrap().len(), 0);

    // The flowers of the first species are a component of their own, of 50 rows, by mean and deviation as everybody has
    // them.
    let components = sandbox.read("lehr-mixture/components.csv");
    let first = rows[1][1];
    assert!(rows[1..51].iter().all(|row| row[1] == first));
    let line = components.lines().find(|line| line.starts_with(&format!("{first},"))).unwrap();
    let numbers: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
    assert_eq!((numbers.len(), numbers[2]), (11, 50.0));
    assert!((numbers[3] - 5.006).abs() < 1e-3 && (numbers[7] - 0.3489).abs() < 1e-3, "{line}");

    let (report, figures) = sandbox.page("lehr-mixture/report.html");
    assert!(report.contains("150 rows in 3 components"));
    // Whoever looks at the picture sees what the axes are, and which ellipse is which line of the table.
    let layout = &figures["picture"]["layouts"][0];
    assert!(
        layout["names"][0].as_str().unwrap().starts_with("first principal axis (92 % of the variance)"),
        "{}",
        layout["names"]
    );
    let groups: Vec<u64> =
        layout["outlines"].as_array().unwrap().iter().map(|outline| outline["group"].as_u64().unwrap()).collect();
    assert_eq!(groups, [0, 1, 2]);
    assert_eq!(report.matches("<tr data-cluster=").count(), 3);
}

#[test]
fn outlines_are_those_of_the_components_as_the_picture_shows_them() {
    let sandbox = iris();
    // Two columns as they are, two that are scaled, one column, and principal axes.
    let pictures = [
        ("petal_length,petal_width", "none"),
        ("sepal_length,sepal_width", "std"),
        ("petal_length", "none"),
        (COLUMNS, "none"),
    ];
    for (columns, scale) in pictures {
        let line = ["mixture", "iris.csv", "--columns", columns, "--scale", scale, "--components", "2", "--quiet"];
        sandbox.lehr(&line).succeeded();
        let (_, figures) = sandbox.page("lehr-mixture/report.html");
        let layout = &figures["picture"]["layouts"][0];
        let outlines = layout["outlines"].as_array().unwrap();
        assert_eq!(outlines.len(), 2, "{columns}");
        if columns == "petal_length" {
            assert_eq!(
                layout["names"],
                serde_json::json!(["petal_length", ""]),
                "the height of one column means nothing"
            );
            // Of a Gaussian in one dimension; what ellipses hold is less.
            let note = layout["note"].as_str().unwrap();
            assert!(note.contains("Solid lines hold 68 % ") && !note.contains("ellipses hold"), "{note}");
        }
        let components = sandbox.read("lehr-mixture/components.csv");
        for (outline, line) in outlines.iter().zip(components.lines().skip(1)) {
            let of = |name: &str, at: usize| outline[name][at].as_f64().unwrap();
            let covariance = [0, 1, 2].map(|at| of("covariance", at));
            assert!(covariance[0] > 0.0 && covariance[0] * covariance[2] >= covariance[1].powi(2) - 1e-12, "{columns}");
            if columns != COLUMNS {
                // Columns are drawn as they are: means and deviations are those of the table.
                let told: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
                let drawn = columns.split(',').count();
                for axis in 0..drawn {
                    assert!((of("mean", axis) - told[3 + axis]).abs() < 1e-9, "{columns}: {outline} {line}");
                    assert!((of("covariance", 2 * axis).sqrt() - told[3 + drawn + axis]).abs() < 1e-9, "{columns}");
                }
            }
        }
    }
}

#[test]
fn the_number_with_the_least_bic_is_taken_and_all_are_shown() {
    let sandbox = iris();
    let line = ["mixture", "iris.csv", "--columns", COLUMNS, "--max-components", "4", "--quiet"];
    let outcome = sandbox.lehr(&line).succeeded();
    let summary = sandbox.summary("lehr-mixture");
    let candidates = summary["candidates"].as_array().unwrap();
    let asked: Vec<u64> = candidates.iter().map(|candidate| candidate["asked"].as_u64().unwrap()).collect();
    assert_eq!(asked, [1, 2, 3, 4]);
    // As is known of iris: BIC sees two groups, of which one is two species.
    assert_eq!(summary["result"]["components"], 2);
    assert!(outcome.stdout.contains("BIC by number of components, the lowest is best: 1: "), "{}", outcome.stdout);
    let (_, figures) = sandbox.page("lehr-mixture/report.html");
    let curve = &figures["criteria"]["lines"][0];
    assert_eq!(
        (&curve["title"], &curve["x"], &curve["best"]),
        (&"BIC".into(), &serde_json::json!([1, 2, 3, 4]), &1.into())
    );
    assert!((curve["y"][1].as_f64().unwrap() - 574.0178).abs() < 1e-4, "{curve}");
}

#[test]
fn results_are_the_same_bytes_on_every_engine() {
    let sandbox = iris();
    sandbox.lehr(&LINE).succeeded();
    let read = |folder: &str| {
        ["labels.csv", "components.csv", "model.json"].map(|name| sandbox.read(&format!("{folder}/{name}")))
    };
    for (engine, threads) in [("ranks", "7"), ("loop", "2"), ("ports", "2"), ("map-reduce", "3")] {
        sandbox.lehr(&[&LINE[..], &["--out", engine, "--engine", engine, "--threads", threads]].concat()).succeeded();
        assert!(read(engine) == read("lehr-mixture"), "{engine}");
        let found = |folder: &str| {
            let mut summary = sandbox.summary(folder);
            summary.as_object_mut().unwrap().retain(|key, _| key != "execution" && key != "seconds");
            summary
        };
        assert_eq!(found(engine), found("lehr-mixture"), "{engine}");
    }
}

#[test]
fn scaled_columns_come_back_in_their_own_units() {
    let sandbox = iris();
    let line = [&LINE[..], &["--covariance", "spherical", "--scale", "std"]].concat();
    sandbox.lehr(&line).succeeded();
    let summary = sandbox.summary("lehr-mixture");
    let component = &summary["components"][0];
    let mean = component["mean"]["sepal_length"].as_f64().unwrap();
    assert!((4.0..8.0).contains(&mean), "{component}");
    // One variance in every direction of the scaled columns: deviations in proportion to the columns' own.
    let deviation = |column: &str| component["deviations"][column].as_f64().unwrap();
    let ratio = deviation("petal_length") / deviation("sepal_width");
    assert!((ratio - 1.7594 / 0.4344).abs() < 0.01, "{ratio}");
}

#[test]
fn rows_of_the_fit_are_of_the_components_that_the_fit_gave_them() {
    let sandbox = iris();
    sandbox.lehr(&[&LINE[..], &["--scale", "std"]].concat()).succeeded();
    let line = ["predict", "lehr-mixture/model.json", "iris.csv"];
    let outcome = sandbox.lehr(&line).succeeded();
    let fitted = sandbox.read("lehr-mixture/labels.csv");
    assert_eq!(outcome.stdout.lines().count(), 151);
    assert_eq!(outcome.stdout.lines().next(), fitted.lines().next());
    for (said, fitted) in outcome.stdout.lines().zip(fitted.lines()).skip(1) {
        let (said, fitted): (Vec<&str>, Vec<&str>) = (said.split(',').collect(), fitted.split(',').collect());
        assert_eq!(said[..2], fitted[..2]);
        for at in [2, 3] {
            let number = |row: &[&str]| row[at].parse::<f64>().unwrap();
            assert!((number(&said) - number(&fitted)).abs() < 1e-6, "{said:?} for {fitted:?}");
        }
    }
}

#[test]
fn missing_cells_are_faults_or_told_by_the_rest_of_their_row() {
    let text = iris().read("iris.csv");
    let rows = text.lines().enumerate().map(|(line, row)| {
        // One of the four measurements of every third flower.
        let mut cells: Vec<&str> = row.split(',').collect();
        if line > 0 && line % 3 == 0 {
            cells[line / 3 % 4] = "";
        }
        cells.join(",") + "\n"
    });
    let sandbox = Sandbox::with("gaps.csv", rows.collect::<String>());
    let line = ["mixture", "gaps.csv", "--columns", COLUMNS, "--scale", "std", "-k", "3", "--quiet"];
    let refused = sandbox.lehr(&line);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("gaps.csv"), "{}", refused.stderr);
    sandbox.lehr(&[&line[..], &["--missing"]].concat()).succeeded();
    let summary = sandbox.summary("lehr-mixture");
    assert_eq!(summary["missing_cells"], 50);
    assert!(sandbox.read("lehr-mixture/report.html").contains("Rows that lack a value are drawn"));
    let outcome =
        sandbox.lehr(&["predict", "lehr-mixture/model.json", "gaps.csv", "--missing", "--memberships"]).succeeded();
    let fitted = sandbox.read("lehr-mixture/labels.csv");
    assert_eq!(outcome.stdout.lines().count(), 151);
    for (said, fitted) in outcome.stdout.lines().zip(fitted.lines()).skip(1) {
        let (said, fitted): (Vec<&str>, Vec<&str>) = (said.split(',').collect(), fitted.split(',').collect());
        assert_eq!(said[..2], fitted[..2]);
        for at in [2, 3] {
            let number = |row: &[&str]| row[at].parse::<f64>().unwrap();
            assert!((number(&said) - number(&fitted)).abs() < 1e-6, "{said:?} for {fitted:?}");
        }
        assert_eq!(said.len(), 7, "{said:?}");
    }
    let refused = sandbox.lehr(&["predict", "lehr-mixture/model.json", "gaps.csv"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let refused = sandbox.lehr(&[&line[..], &["--missing", "--weights", "label"]].concat());
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    let sandbox = iris();
    let outcome = sandbox.lehr(&["mixture", "iris.csv", "--lonlat", "--columns", "petal_length,petal_width"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("a mixture of Gaussians is one of columns"), "{}", outcome.stderr);
    let outcome = sandbox.lehr(&["mixture", "iris.csv", "-k", "3", "--regularization", "0.5"]);
    assert_eq!(outcome.code, 2);
    sandbox.write("constant.csv", "x,y\n1,5\n2,5\n4,5\n7,5\n");
    let outcome = sandbox.lehr(&["mixture", "constant.csv", "-k", "2", "--quiet"]);
    assert_eq!(outcome.code, 3);
    assert!(outcome.stderr.contains("1 of the columns are the same"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: --columns leaves columns out"), "{}", outcome.stderr);
    let outcome = sandbox.lehr(&["mixture", "constant.csv", "-k", "5", "--quiet"]);
    assert_eq!(outcome.code, 3);
    assert_eq!(sandbox.list("."), ["constant.csv", "iris.csv"], "nothing is left behind");
}

#[test]
fn results_of_a_clustering_are_not_replaced_by_those_of_a_mixture() {
    let sandbox = iris();
    sandbox.lehr(&["cluster", "iris.csv", "--columns", COLUMNS, "-k", "3", "--quiet", "--out", "here"]).succeeded();
    let line = [&LINE[..], &["--out", "here"]].concat();
    let outcome = sandbox.lehr(&line);
    assert_eq!(outcome.code, 4);
    assert!(
        outcome.stderr.contains("here: has results of lehr cluster, and lehr mixture would replace labels.csv, "),
        "{}",
        outcome.stderr
    );
    sandbox.lehr(&LINE).succeeded();
    sandbox.lehr(&LINE).succeeded();
}

/// Stops a fit after some steps.
struct Stops {
    after: usize,
    path: PathBuf,
}

impl Observer for Stops {
    fn progress(&mut self, _: &Progress) -> Control {
        self.after -= 1;
        if self.after == 0 { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        checkpoint.write(&self.path).unwrap();
    }
}

#[test]
fn a_stopped_fit_goes_on_to_the_same_bytes_and_no_option_contradicts_it() {
    let sandbox = iris();
    sandbox.write("stopped/keep", "");
    let columns = Some(COLUMNS.split(',').map(str::to_owned).collect());
    let points = read::points(&sandbox.path("iris.csv"), &Selection { columns, ..Selection::default() }).unwrap();
    let parameters = mixture::Parameters { components: Some(3), ..mixture::Parameters::default() };
    let mut stops = Stops { after: 5, path: sandbox.path("stopped/checkpoint") };
    let ended = mixture::fit(&points, &parameters, &Execution::default(), &mut stops);
    assert!(matches!(ended, Err(lehr_mining::Error::Stopped)));

    let resumed = [&LINE[..], &["--resume", "stopped"]].concat();
    let outcome = sandbox.lehr(&[&resumed[..], &["--seed", "5", "--covariance", "tied"]].concat());
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("--seed 5 contradicts the checkpoint, which has 0"), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("--covariance tied contradicts the checkpoint, which has full"),
        "{}",
        outcome.stderr
    );
    let outcome = sandbox.lehr(&["cluster", "iris.csv", "--columns", COLUMNS, "--resume", "stopped"]);
    assert_eq!(outcome.code, 3);
    assert!(outcome.stderr.contains("of the method \"mixture\", not \"vector\""), "{}", outcome.stderr);

    sandbox.lehr(&[&resumed[..], &["--engine", "loop"]].concat()).succeeded();
    sandbox.lehr(&LINE).succeeded();
    for name in ["labels.csv", "components.csv", "model.json"] {
        assert!(sandbox.read(&format!("stopped/{name}")) == sandbox.read(&format!("lehr-mixture/{name}")), "{name}");
    }
    assert_eq!(sandbox.summary("stopped")["execution"]["resumed"], true);
    assert!(!sandbox.list("stopped").contains(&"checkpoint".to_owned()));
}

#[test]
fn ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on() {
    let sandbox = Sandbox::with("blocks.csv.gz", std::fs::read(census()).unwrap());
    // More work than anybody waits for.
    let line = ["mixture", "blocks.csv.gz", "--columns", "lon,lat", "--weights", "pop", "-k", "40"];
    let mut child = sandbox.start(&line);
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains(", 40 components") {
        assert!(reader.read_line(&mut said).unwrap() > 0, "the run ended before it was stopped: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    reader.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains(&format!("continue with: lehr {} --resume lehr-mixture", line.join(" "))), "{said}");
    assert_eq!(sandbox.list("lehr-mixture"), ["checkpoint"]);
}
