//! `lehr gtm` and `lehr predict`: what they leave behind, what they refuse, and that a stopped fit goes on to the same
//! bytes.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use lehr_data::read::{self, Selection};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress};
use lehr_mining::{Execution, gtm};

use super::sandbox::{Sandbox, census};

const COLUMNS: &str = "sepal_length,sepal_width,petal_length,petal_width";
const LINE: [&str; 9] = ["gtm", "iris.csv", "--columns", COLUMNS, "--nodes", "8", "--basis", "3", "--quiet"];

fn iris() -> Sandbox {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/iris/iris.csv");
    Sandbox::with("iris.csv", std::fs::read(path).unwrap())
}

/// The fields of a table, line by line, the head first.
fn fields(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn files_say_where_rows_are_and_how_the_map_was_found() {
    let sandbox = iris();
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.starts_with("150 rows on a map of 8 x 8 nodes; log-likelihood -"), "{}", outcome.stdout);
    let files = ["model.json", "nodes.csv", "places.csv", "report.html", "summary.json"];
    assert_eq!(sandbox.list("lehr-gtm"), files);

    let places = sandbox.read("lehr-gtm/places.csv");
    let rows = fields(&places);
    assert_eq!(rows[0], ["id", "z1", "z2", "node", "probability", "entropy", "log_density"]);
    assert_eq!(rows.len(), 151);
    let summary = sandbox.summary("lehr-gtm");
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let sum: f64 = rows[1..].iter().map(|row| row[6].parse::<f64>().unwrap()).sum();
    assert!((number(&summary["result"]["log_likelihood"]) - sum).abs() < 1e-9, "{sum}");
    assert_eq!(summary["method"], "generative topographic mapping");
    assert_eq!((&summary["result"]["nodes"], &summary["result"]["functions"]), (&64.into(), &10.into()));
    assert_eq!(summary["warnings"].as_array().unwrap().len(), 0);
    let temperatures = summary["temperatures"].as_array().unwrap();
    assert_eq!(number(&temperatures[temperatures.len() - 1]["temperature"]), 1.0);

    let nodes = sandbox.read("lehr-gtm/nodes.csv");
    let nodes = fields(&nodes);
    assert_eq!(nodes[0][..3], ["node", "z1", "z2"]);
    assert_eq!(nodes[0][7..], ["magnification", "rows"]);
    assert_eq!((nodes.len(), &nodes[1][..3]), (65, &["0", "-1", "-1"][..]));
    let counted: usize = nodes[1..].iter().map(|node| node[8].parse::<usize>().unwrap()).sum();
    assert_eq!(counted, 150);

    let (report, figures) = sandbox.page("lehr-gtm/report.html");
    assert!(report.contains("150 rows on a map"));
    // Each of four columns across the map, and the ground below the rows: 64 nodes.
    assert_eq!(figures["planes"]["planes"].as_array().unwrap().len(), 4);
    let layout = &figures["picture"]["layouts"][0];
    assert_eq!(layout["ground"]["shade"].as_array().unwrap().len(), 64);
    // Rows are coloured by a column, axes are those of the tables, and the ground is explained by numbers that
    // nodes.csv has.
    assert_eq!(figures["picture"]["colour"], "column:sepal_length");
    assert_eq!(layout["names"], serde_json::json!(["z1", "z2"]));
    let stretched =
        |of: fn(f64, f64) -> f64| nodes[1..].iter().map(|node| node[7].parse().unwrap()).reduce(of).unwrap();
    let ramp = layout["note"].as_str().unwrap().strip_prefix("Stretched by ").unwrap();
    let (least, most) = ramp.split_once(" to ").unwrap();
    let most: f64 = most.split_once(' ').unwrap().0.parse().unwrap();
    let near = |said: f64, exact: f64| (said / exact - 1.0).abs() < 0.01;
    assert!(near(least.parse().unwrap(), stretched(f64::min)) && near(most, stretched(f64::max)), "{least}, {most}");
}

#[test]
fn both_beginnings_are_told_and_one_alone_can_be_asked_for() {
    let sandbox = iris();
    let outcome = sandbox.lehr(&LINE).succeeded();
    let both = sandbox.summary("lehr-gtm");
    let candidates = both["candidates"].as_array().unwrap();
    let starts: Vec<&str> = candidates.iter().map(|candidate| candidate["start"].as_str().unwrap()).collect();
    assert_eq!((starts, &both["parameters"]["start"]), (vec!["annealed", "plane"], &serde_json::Value::Null));
    let of = |candidate: &serde_json::Value| candidate["log_likelihood"].as_f64().unwrap();
    let best = candidates.iter().max_by(|a, b| of(a).total_cmp(&of(b))).unwrap();
    assert_eq!(
        (&both["result"]["start"], &both["result"]["log_likelihood"]),
        (&best["start"], &best["log_likelihood"])
    );
    assert!(outcome.stdout.contains(" annealed from a point (order "), "{}", outcome.stdout);
    assert!(sandbox.read("lehr-gtm/report.html").contains("which was kept for its log-likelihood of "));
    for start in ["annealed", "plane"] {
        let outcome = sandbox.lehr(&[&LINE[..], &["--start", start, "--out", start]].concat()).succeeded();
        let alone = sandbox.summary(start);
        assert_eq!((alone["candidates"].as_array().unwrap().len(), &alone["result"]["start"]), (1, &start.into()));
        assert!(!outcome.stdout.contains("was kept"), "{}", outcome.stdout);
        let is_kept = both["result"]["start"] == start;
        assert_eq!(sandbox.read(&format!("{start}/places.csv")) == sandbox.read("lehr-gtm/places.csv"), is_kept);
    }
}

#[test]
fn rows_of_the_fit_are_placed_where_the_fit_placed_them() {
    let sandbox = iris();
    sandbox.lehr(&[&LINE[..], &["--scale", "std"]].concat()).succeeded();
    let outcome = sandbox.lehr(&["predict", "lehr-gtm/model.json", "iris.csv"]).succeeded();
    let fitted = sandbox.read("lehr-gtm/places.csv");
    let (fitted, placed) = (fields(&fitted), fields(&outcome.stdout));
    assert_eq!((placed.len(), &placed[0]), (151, &fitted[0]));
    for (placed, fitted) in placed.iter().zip(&fitted).skip(1) {
        assert_eq!((placed[0], placed[3]), (fitted[0], fitted[3]));
        for at in [1, 2, 4, 5, 6] {
            let number = |row: &[&str]| row[at].parse::<f64>().unwrap();
            assert!((number(placed) - number(fitted)).abs() < 1e-9, "{placed:?} for {fitted:?}");
        }
    }
}

#[test]
fn other_rows_are_placed_with_their_identifiers_and_gaps_into_a_file() {
    let sandbox = iris();
    sandbox.lehr(&LINE).succeeded();
    sandbox.write("new.csv", "petals,name,width,sepal,swidth\n1.4,a,0.2,5.1,3.5\n,b,,5.1,3.5\n6.0,c,2.5,6.3,3.3\n");
    let line = ["predict", "lehr-gtm/model.json", "new.csv", "--columns", "sepal,swidth,petals,width", "--id", "name"];
    let refused = sandbox.lehr(&line);
    assert_eq!(refused.code, 3, "without --missing a gap is a fault: {}", refused.stderr);
    let outcome = sandbox.lehr(&[&line[..], &["--missing", "--out", "placed.csv"]].concat()).succeeded();
    assert_eq!(outcome.stdout, "3 rows placed on the map\nwritten to placed.csv\n");
    let placed = sandbox.read("placed.csv");
    let placed = fields(&placed);
    let ids: Vec<&str> = placed[1..].iter().map(|row| row[0]).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    let number = |row: usize, at: usize| placed[row][at].parse::<f64>().unwrap();
    // Whoever has all of its cells is where it is without the option, though the columns stand in another order than
    // the model's.
    sandbox.write("whole.csv", "petals,name,width,sepal,swidth\n1.4,a,0.2,5.1,3.5\n6.0,c,2.5,6.3,3.3\n");
    let line =
        ["predict", "lehr-gtm/model.json", "whole.csv", "--columns", "sepal,swidth,petals,width", "--id", "name"];
    let whole = sandbox.lehr(&line).succeeded().stdout;
    let whole = fields(&whole);
    for (row, of_whole) in [(1, 1), (3, 2)] {
        let other = |at: usize| whole[of_whole][at].parse::<f64>().unwrap();
        assert!(
            (1..7).all(|at| (number(row, at) - other(at)).abs() < 1e-9),
            "{:?} for {:?}",
            placed[row],
            whole[of_whole]
        );
    }
    // The first and the third are of species that are far apart; of the second less is known.
    assert!((number(1, 1) - number(3, 1)).abs() > 0.5, "{placed:?}");
    assert!(number(2, 5) > number(1, 5), "{placed:?}");
}

#[test]
fn missing_cells_are_faults_or_left_out() {
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
    let line = ["gtm", "gaps.csv", "--columns", COLUMNS, "--scale", "std", "--nodes", "8", "--basis", "3", "--quiet"];
    let refused = sandbox.lehr(&line);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("gaps.csv"), "{}", refused.stderr);
    sandbox.lehr(&[&line[..], &["--missing"]].concat()).succeeded();
    assert_eq!(sandbox.summary("lehr-gtm")["missing_cells"], 50);
    let outcome = sandbox.lehr(&["predict", "lehr-gtm/model.json", "gaps.csv", "--missing"]).succeeded();
    let fitted = sandbox.read("lehr-gtm/places.csv");
    let (fitted, placed) = (fields(&fitted), fields(&outcome.stdout));
    for (placed, fitted) in placed.iter().zip(&fitted).skip(1) {
        let number = |row: &[&str], at: usize| row[at].parse::<f64>().unwrap();
        assert!((1..3).all(|at| (number(placed, at) - number(fitted, at)).abs() < 1e-9), "{placed:?} for {fitted:?}");
    }
    let refused = sandbox.lehr(&[&line[..], &["--missing", "--weights", "label"]].concat());
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

#[test]
fn an_array_with_missing_cells_gives_its_columns_and_identifiers_as_a_table_does() {
    let rows: Vec<[f64; 5]> = (0..60)
        .map(|row| {
            let (n, x) = (f64::from(row), f64::from(row * row % 17));
            [1000.0 - n, n, x, if row % 7 == 3 { f64::NAN } else { n + x }, 5.0 * x]
        })
        .collect();
    let mut array = Vec::new();
    lehr_data::write::npy::array(&mut array, &rows.concat(), 5).unwrap();
    let sandbox = Sandbox::with("rows.npy", array);
    let line = |row: &[f64; 5]| {
        let fields = row.iter().map(|x| if x.is_nan() { String::new() } else { x.to_string() });
        fields.collect::<Vec<_>>().join(",") + "\n"
    };
    sandbox.write("rows.csv", format!("x0,x1,x2,x3,x4\n{}", rows.iter().map(line).collect::<String>()));
    for (file, out) in [("rows.csv", "table"), ("rows.npy", "array")] {
        let line =
            ["gtm", file, "--missing", "--columns", "x3,1", "--id", "x0", "--nodes", "6", "--basis", "3", "--quiet"];
        sandbox.lehr(&[&line[..], &["--out", out]].concat()).succeeded();
    }
    for file in ["places.csv", "nodes.csv", "model.json"] {
        assert_eq!(sandbox.read(&format!("array/{file}")), sandbox.read(&format!("table/{file}")), "{file}");
    }
    assert!(sandbox.read("array/places.csv").lines().nth(1).unwrap().starts_with("1000,"));
    let refused = sandbox.lehr(&["gtm", "rows.npy", "--missing", "--columns", "x1,year", "--quiet"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("rows.npy: expected a column \"year\", found the columns"), "{}", refused.stderr);
}

#[test]
fn names_of_results_are_distinct_whatever_the_columns_are_called() {
    let rows: String = (0..60).map(|row| format!("{},{},{},{}\n", row % 5, row % 7, row % 3, row % 11)).collect();
    let sandbox = Sandbox::with("rows.csv", format!("x,sd_x,weight,z1\n{rows}"));
    sandbox.lehr(&["mixture", "rows.csv", "-k", "1", "--quiet", "--out", "m"]).succeeded();
    let first = |name: &str| sandbox.read(name).lines().next().unwrap().to_owned();
    let names = "component,weight,rows,x,sd_x_,weight_,z1,sd_x,sd_sd_x_,sd_weight_,sd_z1";
    assert_eq!(first("m/components.csv"), names);
    sandbox.lehr(&["cluster", "rows.csv", "-k", "2", "--quiet", "--out", "c"]).succeeded();
    assert_eq!(
        first("c/centers.csv"),
        "cluster,x,sd_x,weight_,z1,weight,spread,probability,silhouette,merges_with,joins,joins_at,name"
    );
    sandbox.lehr(&["gtm", "rows.csv", "--nodes", "6", "--basis", "3", "--quiet", "--out", "g"]).succeeded();
    assert_eq!(first("g/nodes.csv"), "node,z1,z2,x,sd_x,weight,z1_,magnification,rows");
    sandbox.write("told.csv", format!("probability,silhouette,merges_with,name\n{rows}"));
    sandbox.lehr(&["cluster", "told.csv", "-k", "2", "--quiet", "--out", "told"]).succeeded();
    let names = "cluster,probability_,silhouette_,merges_with_,name_,weight,spread,probability,silhouette,merges_with,joins,joins_at,name";
    assert_eq!(first("told/centers.csv"), names);
    // Of the same name in the table itself: the first keeps it, and the second is numbered when the table is read.
    sandbox.write("twice.csv", format!("x,y,x,z\n{rows}"));
    sandbox.lehr(&["cluster", "twice.csv", "-k", "2", "--quiet", "--out", "t"]).succeeded();
    assert!(first("t/centers.csv").starts_with("cluster,x,y,x 2,z,weight,spread,probability,"));
    for command in ["cluster", "mixture", "gtm"] {
        let refused = sandbox.lehr(&[command, "rows.csv", "--columns", "x,sd_x,0", "--quiet"]);
        assert_eq!(refused.code, 3);
        let expected = "rows.csv: expected each column to be chosen once, found \"x\" twice";
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
}

#[test]
fn rows_with_missing_cells_are_warned_of_by_what_is_there() {
    // The spread of what is there of y is 2000 times that of x; with the mean in its gaps it would be 900 times that.
    let rows: String = (0..200)
        .map(|row| {
            format!("{},{}\n", row % 2, if row % 5 > 0 { String::new() } else { (2000 * (row / 5 % 2)).to_string() })
        })
        .collect();
    let sandbox = Sandbox::with("gaps.csv", format!("x,y\n{rows}"));
    let outcome =
        sandbox.lehr(&["gtm", "gaps.csv", "--missing", "--nodes", "6", "--basis", "3", "--quiet"]).succeeded();
    let expected = "the spread of column \"y\" (standard deviation 1000) is 2000 times that of \"x\" (0.5)";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    assert!(sandbox.summary("lehr-gtm")["warnings"][0].as_str().unwrap().starts_with(expected));
}

#[test]
fn the_page_says_which_of_two_beginnings_was_kept() {
    // On rows that lie on a line the annealed map folds its ends back, and the plane does not.
    let rows: String = (0..40).map(|row| format!("{row},{}\n", 2 * row)).collect();
    let sandbox = Sandbox::with("line.csv", format!("x,y\n{rows}"));
    let both = ["gtm", "line.csv", "--dimensions", "1", "--quiet"];
    sandbox.lehr(&both).succeeded();
    assert_eq!(sandbox.summary("lehr-gtm")["result"]["start"], "plane");
    let page = sandbox.read("lehr-gtm/report.html");
    assert!(
        page.contains("Lehr kept the map that began as the principal plane")
            && !page.contains("there was one temperature")
    );
    sandbox.lehr(&[&both[..], &["--init", "plane"]].concat()).succeeded();
    assert!(sandbox.read("lehr-gtm/report.html").contains("It was not annealed: there was one temperature."));
    let sandbox = iris();
    sandbox.lehr(&LINE).succeeded();
    let page = sandbox.read("lehr-gtm/report.html");
    let kept = if sandbox.summary("lehr-gtm")["result"]["start"] == "annealed" {
        "Lehr kept this map, which was annealed from a point."
    } else {
        "Lehr kept the map that began as the principal plane"
    };
    assert!(page.contains(kept));
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    let sandbox = iris();
    let refusals: [(&[&str], i32, &str); 7] = [
        (&["gtm", "iris.csv", "--lonlat", "--columns", "petal_length,petal_width"], 2, "a map is made of many columns"),
        (&["gtm", "iris.csv", "--dimensions", "4", "--quiet"], 2, "'--dimensions <L>': expected 1 to 3"),
        (&["gtm", "iris.csv", "--width", "0.01", "--quiet"], 2, "'--width <WIDTH>': expected 0.1 to 10"),
        (&["gtm", "iris.csv", "--nodes", "3", "--quiet"], 2, "basis: expected at most as many functions"),
        (&["predict", "iris.csv", "iris.csv"], 3, "found no JSON"),
        (&["predict", "nowhere.json", "iris.csv"], 4, "nowhere.json"),
        (&["gtm", "equal.csv", "--quiet"], 3, "2 of the columns are the same"),
    ];
    sandbox.write("equal.csv", "x,y\n1,2\n1,2\n1,2\n");
    for (line, code, expected) in refusals {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{line:?}: {}", outcome.stderr);
    }
    assert_eq!(sandbox.list("."), ["equal.csv", "iris.csv"], "nothing is left behind");
    sandbox.lehr(&LINE).succeeded();
    let outcome = sandbox.lehr(&["predict", "lehr-gtm/model.json", "equal.csv"]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("sepal_length"), "{}", outcome.stderr);
    let outcome = sandbox.lehr(&["predict", "lehr-gtm/model.json", "equal.csv", "--columns", "x,y"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("expected 4 columns, as the model has, found 2"), "{}", outcome.stderr);
}

#[test]
fn results_of_a_clustering_are_not_replaced_by_those_of_a_map() {
    let sandbox = iris();
    sandbox.lehr(&["cluster", "iris.csv", "--columns", COLUMNS, "-k", "3", "--quiet", "--out", "here"]).succeeded();
    let outcome = sandbox.lehr(&[&LINE[..], &["--out", "here"]].concat());
    assert_eq!(outcome.code, 4);
    assert!(
        outcome.stderr.contains("here: has results of lehr cluster, and lehr gtm would replace model.json, "),
        "{}",
        outcome.stderr
    );
    sandbox.lehr(&LINE).succeeded();
    sandbox.lehr(&LINE).succeeded();
}

#[test]
fn maps_of_one_and_three_dimensions_have_pages_too() {
    let sandbox = iris();
    for (dimensions, nodes, cells) in [("1", "12", 12), ("3", "4", 0)] {
        let line = ["gtm", "iris.csv", "--columns", COLUMNS, "--dimensions", dimensions, "--nodes", nodes, "--quiet"];
        sandbox.lehr(&line).succeeded();
        let (report, figures) = sandbox.page("lehr-gtm/report.html");
        let layout = &figures["picture"]["layouts"][0];
        assert_eq!(layout["ground"]["shade"].as_array().map_or(0, Vec::len), cells, "{dimensions}");
        assert_eq!(layout["axes"].as_array().unwrap().len(), if dimensions == "3" { 3 } else { 2 });
        assert!(!report.contains("NaN") && !report.contains("inf\""), "{dimensions}");
    }
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
    let parameters = gtm::Parameters { nodes: Some(8), basis: Some(3), ..gtm::Parameters::default() };
    let mut stops = Stops { after: 5, path: sandbox.path("stopped/checkpoint") };
    let ended = gtm::fit(&points, &parameters, &Execution::default(), &mut stops);
    assert!(matches!(ended, Err(lehr_mining::Error::Stopped)));

    let resumed = [&LINE[..], &["--resume", "stopped"]].concat();
    let outcome = sandbox.lehr(&[&resumed[..], &["--width", "2", "--init", "plane"]].concat());
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("--width 2 contradicts the checkpoint, which has 1"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--init plane contradicts the checkpoint, which has both"), "{}", outcome.stderr);
    let outcome = sandbox.lehr(&["cluster", "iris.csv", "--columns", COLUMNS, "--resume", "stopped"]);
    assert_eq!(outcome.code, 3);
    assert!(outcome.stderr.contains("of the method \"gtm\", not \"vector\""), "{}", outcome.stderr);

    sandbox.lehr(&[&resumed[..], &["--engine", "loop"]].concat()).succeeded();
    sandbox.lehr(&LINE).succeeded();
    for name in ["places.csv", "nodes.csv", "model.json"] {
        assert!(sandbox.read(&format!("stopped/{name}")) == sandbox.read(&format!("lehr-gtm/{name}")), "{name}");
    }
    assert_eq!(sandbox.summary("stopped")["execution"]["resumed"], true);
    assert!(!sandbox.list("stopped").contains(&"checkpoint".to_owned()));
}

#[test]
fn ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on() {
    let sandbox = Sandbox::with("blocks.csv.gz", std::fs::read(census()).unwrap());
    // More work than anybody waits for.
    let line = ["gtm", "blocks.csv.gz", "--columns", "lon,lat", "--weights", "pop", "--nodes", "12", "--basis", "4"];
    let mut child = sandbox.start(&line);
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains(" %, annealing, temperature") {
        assert!(reader.read_line(&mut said).unwrap() > 0, "the run ended before it was stopped: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    reader.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains(&format!("continue with: lehr {} --resume lehr-gtm", line.join(" "))), "{said}");
    assert_eq!(sandbox.list("lehr-gtm"), ["checkpoint"]);
}
