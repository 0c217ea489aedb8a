//! `lehr pairwise` and `lehr embed`: from a table over its distances to clusters and a map; what they refuse.

use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use lehr_data::read;
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress};
use lehr_mining::{Execution, pairwise, smacof};

use super::sandbox::Sandbox;

/// Two groups of rows, far apart.
fn table() -> String {
    let rows = (0..24).map(|i| {
        let (x, y) = (f64::from(i % 4), f64::from(i / 4 % 3));
        format!("r{i},{},{}\n", x + if i < 12 { 0.0 } else { 40.0 }, y)
    });
    "name,x,y\n".to_owned() + &rows.collect::<String>()
}

fn with_distances() -> Sandbox {
    let sandbox = Sandbox::with("points.csv", table());
    let line =
        ["distances", "points.csv", "--columns", "x,y", "--id", "name", "--element", "f64", "--out", "d", "--quiet"];
    sandbox.lehr(&line).succeeded();
    sandbox
}

#[test]
fn a_table_becomes_distances_clusters_and_a_map() {
    let sandbox = with_distances();
    let matrix = "d/dissimilarities.json";
    let outcome = sandbox.lehr(&["pairwise", matrix, "--clusters", "2", "--out", "p", "--quiet"]).succeeded();
    assert_eq!(sandbox.list("p"), ["clusters.csv", "labels.csv", "model.json", "report.html", "summary.json"]);
    assert!(outcome.stdout.starts_with("24 items in 2 clusters; cost "), "{}", outcome.stdout);
    let labels = sandbox.read("p/labels.csv");
    let cluster = |line: &str| line.split(',').nth(1).unwrap().to_owned();
    let clusters: Vec<String> = labels.lines().skip(1).map(cluster).collect();
    assert!(labels.starts_with("id,cluster,probability\nr0,0,"), "{labels}");
    assert!(clusters[..12].iter().all(|k| k == "0") && clusters[12..].iter().all(|k| k == "1"), "{clusters:?}");
    let summary = sandbox.summary("p");
    assert_eq!(summary["result"]["clusters"], 2);
    assert_eq!(summary["clusters"][0]["items"], 12);
    assert!(
        sandbox
            .read("p/clusters.csv")
            .starts_with("cluster,medoid,items,weight,medoid_mean,mean_within,mean_nearest\n0,r")
    );

    let line = ["embed", matrix, "--labels", "p/labels.csv", "--out", "e", "--quiet", "--tolerance", "1e-12"];
    let outcome = sandbox.lehr(&line).succeeded();
    assert_eq!(sandbox.list("e"), ["model.json", "positions.csv", "positions.npy", "report.html", "summary.json"]);
    assert!(outcome.stdout.starts_with("24 items in 2 dimensions; stress "), "{}", outcome.stdout);
    let positions: Vec<Vec<String>> =
        sandbox.read("e/positions.csv").lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert_eq!(positions[0], ["id", "x", "y", "stress", "cluster"]);
    let at = |row: usize, column: usize| positions[row + 1][column].parse::<f64>().unwrap();
    let apart = |a: usize, b: usize| (at(a, 1) - at(b, 1)).hypot(at(a, 2) - at(b, 2));
    assert!((apart(0, 3) - 3.0).abs() < 1e-4 && (apart(0, 12) - 40.0).abs() < 1e-4);
    assert!(sandbox.summary("e")["result"]["stress"].as_f64().unwrap() < 1e-10);
    assert_eq!(positions[24][4], "1");
    for report in ["p/report.html", "e/report.html"] {
        let (words, figures) = sandbox.page(report);
        // All that is drawn is in the page.
        assert!(!words.contains("http://") && !words.contains("https://"), "{report}");
        let drawn = if report.starts_with('p') { &figures["heat"]["ids"] } else { &figures["picture"]["ids"] };
        assert_eq!(drawn.as_array().unwrap().len(), 24, "items have names");
    }
}

#[test]
fn results_do_not_depend_on_engine_and_threads() {
    let sandbox = with_distances();
    let run = |out: &str, more: &[&str]| {
        for (command, extra) in [("pairwise", ["-k", "2"]), ("embed", ["-d", "3"])] {
            let folder = format!("{command}-{out}");
            let mut line = vec![command, "d/dissimilarities.npy", "--quiet", "--out", &folder];
            line.extend(extra);
            line.extend(more);
            sandbox.lehr(&line).succeeded();
        }
    };
    run("a", &["--threads", "1"]);
    run("b", &["--engine", "loop", "--threads", "2"]);
    for name in ["labels.csv", "clusters.csv"] {
        assert_eq!(sandbox.read(&format!("pairwise-a/{name}")), sandbox.read(&format!("pairwise-b/{name}")));
    }
    assert_eq!(sandbox.read("embed-a/positions.csv"), sandbox.read("embed-b/positions.csv"));
}

#[test]
fn what_cannot_be_meant_is_refused_and_leaves_nothing() {
    let sandbox = with_distances();
    let refused = |line: &[&str], code: i32, words: &str| {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{line:?}: {}", outcome.stderr);
        assert!(sandbox.list("o").is_empty(), "{line:?}");
    };
    let matrix = "d/dissimilarities.json";
    refused(&["pairwise", "none.npy", "--out", "o"], 4, "none.npy");
    refused(&["pairwise", matrix, "-k", "25", "--out", "o", "--quiet"], 3, "you requested 25 clusters, but only 24");
    refused(&["pairwise", matrix, "-k", "2", "--stop-temperature", "1", "--out", "o"], 2, "cannot be used with");
    refused(&["pairwise", matrix, "--resume", "d"], 4, "d/checkpoint: no such file");
    refused(&["embed", matrix, "-d", "65", "--out", "o", "--quiet"], 2, "'--dimensions <L>': expected 1 to 64");
    refused(&["embed", matrix, "--labels", "points.csv", "--out", "o", "--quiet"], 3, "points.csv");
    let line = ["embed", matrix, "--labels", "d/ids.csv", "--by", "family", "--out", "o", "--quiet"];
    refused(&line, 3, "family");
    sandbox.write("other.csv", "id,cluster\ns0,1\n");
    refused(
        &["embed", matrix, "--labels", "other.csv", "--out", "o", "--quiet"],
        3,
        "found none for any of them: r0, r1",
    );
    // Some are enough: the others are grey.
    sandbox.write("other.csv", "id,cluster\nr0,1\n");
    let outcome = sandbox.lehr(&["embed", matrix, "--labels", "other.csv", "--out", "o"]).succeeded();
    assert!(
        outcome.stderr.contains("23 of 24 items have no cluster; the map shows them in grey"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn items_that_share_a_name_have_the_classes_of_their_own_rows_or_are_told() {
    // Two rows called r3, of different groups.
    let sandbox = Sandbox::with("points.csv", table().replace("r15,", "r3,"));
    let line = ["distances", "points.csv", "--columns", "x,y", "--id", "name", "--out", "d", "--quiet"];
    sandbox.lehr(&line).succeeded();
    let matrix = "d/dissimilarities.json";
    sandbox.lehr(&["pairwise", matrix, "-k", "2", "--out", "p", "--quiet"]).succeeded();
    // The labels of this matrix are in the order of its items.
    let embed = ["embed", matrix, "--quiet", "--labels"];
    sandbox.lehr(&[&embed[..], &["p/labels.csv", "--out", "e"]].concat()).succeeded();
    let positions = sandbox.read("e/positions.csv");
    let classes: Vec<&str> =
        positions.lines().filter(|line| line.starts_with("r3,")).map(|line| &line[line.len() - 1..]).collect();
    assert_eq!(classes, ["0", "1"]);
    // In another order nobody knows which is which.
    let mut lines: Vec<String> = sandbox.read("p/labels.csv").lines().map(str::to_owned).collect();
    lines[1..].reverse();
    sandbox.write("other.csv", lines.join("\n"));
    let outcome = sandbox.lehr(&[&embed[..], &["other.csv", "--out", "o"]].concat());
    assert_eq!(outcome.code, 3);
    let words =
        "error: other.csv, line 22, column 2 (\"cluster\"): expected \"1\" for \"r3\", as in line 10, found \"0\"\n";
    assert_eq!(outcome.stderr, words);
    assert!(!sandbox.path("o").exists());
}

#[test]
fn a_folder_knows_which_command_wrote_it_and_no_other_replaces_that() {
    let sandbox = with_distances();
    let matrix = "d/dissimilarities.json";
    let pairwise = ["pairwise", matrix, "-k", "2", "--out", "p", "--quiet"];
    let embed = ["embed", matrix, "--out", "p", "--quiet"];
    sandbox.lehr(&pairwise).succeeded();
    let before: Vec<String> = sandbox.list("p").iter().map(|name| sandbox.read(&format!("p/{name}"))).collect();
    let outcome = sandbox.lehr(&embed);
    outcome.matches_golden("other_results_in_the_way");
    assert_eq!(outcome.code, 4);
    let after: Vec<String> = sandbox.list("p").iter().map(|name| sandbox.read(&format!("p/{name}"))).collect();
    assert!(before == after);
    // The other way about, and with clusters of points.
    sandbox.lehr(&["embed", matrix, "--out", "e", "--quiet"]).succeeded();
    let outcome = sandbox.lehr(&["cluster", "points.csv", "-k", "2", "--out", "e", "--quiet"]);
    assert_eq!(outcome.code, 4);
    assert!(
        outcome.stderr.contains("e: has results of lehr embed, and lehr cluster would replace model.json, report.html")
    );
    // The same command replaces its own; none of the names of a matrix is one of a map.
    assert_eq!(sandbox.lehr(&pairwise).succeeded().stderr, "note: replaced the results of an earlier run in p\n");
    sandbox.lehr(&["embed", matrix, "--out", "d", "--quiet"]).succeeded();
    // Whoever wants to, can.
    let outcome = sandbox.lehr(&[&embed[..], &["--force"]].concat()).succeeded();
    assert_eq!(
        outcome.stderr,
        "note: replaced results of lehr pairwise in p, of which labels.csv, clusters.csv stayed\n"
    );
    assert!(sandbox.summary("p")["result"]["stress"].is_number());
}

#[test]
fn labels_that_are_any_numbers_or_words_colour_the_map() {
    let sandbox = with_distances();
    let labels: String = (0..24).map(|i| format!("r{i},{}\n", if i < 12 { 4_000_000_000u32 } else { 7 })).collect();
    sandbox.write("known.csv", "id,cluster\n".to_owned() + &labels);
    let line = ["embed", "d/dissimilarities.json", "--labels", "known.csv", "-d", "3", "--out", "e", "--quiet"];
    sandbox.lehr(&line).succeeded();
    let page = sandbox.read("e/report.html");
    assert!(page.contains(r#""names":["7","4000000000"]"#), "{}", page.len());
    assert!(sandbox.read("e/positions.csv").lines().nth(1).unwrap().ends_with(",4000000000"));
    let words: String = (0..24).map(|i| format!("{i},r{i},{}\n", ["left, or so", "right"][i / 12])).collect();
    let words = words.replace("left, or so", "\"left, or so\"");
    sandbox.write("words.csv", format!("number,id,side\n{words}"));
    let line = ["embed", "d/dissimilarities.json", "--labels", "words.csv", "--by", "side", "--out", "w", "--quiet"];
    sandbox.lehr(&line).succeeded();
    assert!(sandbox.read("w/report.html").contains(r#""names":["left, or so","right"]"#));
    assert!(sandbox.read("w/positions.csv").starts_with("id,x,y,stress,side\nr0,"));
    assert!(sandbox.read("w/positions.csv").contains(",\"left, or so\"\n"));
}

/// Writes the checkpoint of a run that it stops.
struct Stops {
    after: usize,
    path: std::path::PathBuf,
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
fn a_stopped_run_goes_on_to_the_same_bytes_and_no_option_contradicts_it() {
    let sandbox = with_distances();
    let input = "d/dissimilarities.json";
    let matrix = read::dissimilarities::matrix(&sandbox.path(input)).unwrap();
    sandbox.write("p/keep", "");
    sandbox.write("e/keep", "");
    let mut stops = Stops { after: 3, path: sandbox.path("p/checkpoint") };
    let parameters = pairwise::Parameters { clusters: Some(3), ..pairwise::Parameters::default() };
    let stopped = pairwise::cluster(&matrix, None, &parameters, &Execution::default(), &mut stops);
    assert!(matches!(stopped, Err(lehr_mining::Error::Stopped)));
    let mut stops = Stops { after: 3, path: sandbox.path("e/checkpoint") };
    let parameters = smacof::Parameters { start: smacof::Start::Random, ..smacof::Parameters::default() };
    let stopped = smacof::embed(&smacof::Input::new(&matrix), &parameters, &Execution::default(), &mut stops);
    assert!(matches!(stopped, Err(lehr_mining::Error::Stopped)));

    let refused = |line: &[&str], code: i32, words: &str| {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{line:?}: {}", outcome.stderr);
    };
    let words = "--clusters 4 contradicts the checkpoint, which has 3";
    refused(&["pairwise", input, "--resume", "p", "-k", "4"], 2, words);
    let words = "--init classical contradicts the checkpoint, which has random";
    refused(&["embed", input, "--resume", "e", "--init", "classical", "--anneal"], 2, words);
    refused(&["embed", input, "--resume", "e", "--anneal"], 2, "--anneal true contradicts the checkpoint");
    refused(&["embed", input, "--resume", "p"], 3, "p/checkpoint");
    refused(&["pairwise", input, "-k", "2", "--out", "p"], 4, "the checkpoint of an unfinished run is in the way");
    let other = ["distances", "points.csv", "--columns", "x,y", "--metric", "manhattan", "--out", "m", "--quiet"];
    sandbox.lehr(&other).succeeded();
    refused(&["pairwise", "m/dissimilarities.npy", "--resume", "p"], 3, "--resume needs the matrix");

    sandbox.lehr(&["pairwise", input, "-k", "3", "--resume", "p", "--quiet", "--engine", "loop"]).succeeded();
    sandbox.lehr(&["pairwise", input, "-k", "3", "--out", "whole-p", "--quiet"]).succeeded();
    sandbox.lehr(&["embed", input, "--resume", "e", "--quiet", "--threads", "3"]).succeeded();
    sandbox.lehr(&["embed", input, "--init", "random", "--out", "whole-e", "--quiet"]).succeeded();
    for (name, ours, whole) in
        [("labels.csv", "p", "whole-p"), ("clusters.csv", "p", "whole-p"), ("positions.csv", "e", "whole-e")]
    {
        assert!(sandbox.read(&format!("{ours}/{name}")) == sandbox.read(&format!("{whole}/{name}")), "{name}");
    }
    assert!(sandbox.list("p").iter().chain(&sandbox.list("e")).all(|name| name != "checkpoint"));
    assert_eq!(sandbox.summary("p")["execution"]["resumed"], true);
}

#[test]
fn ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on() {
    let sandbox = with_distances();
    // More starts than anybody waits for.
    let line = ["embed", "d/dissimilarities.json", "--init", "random", "--n-init", "10000", "--tolerance", "1e-15"];
    let mut child = sandbox.start(&[&line[..], &["--out", "e"]].concat());
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    assert!(reader.read_line(&mut first).unwrap() > 0, "the run ended before it was stopped");
    assert!(first.contains("iteration 0, stress "), "{first}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("no results were written; checkpoint saved in e/checkpoint"), "{rest}");
    assert!(rest.contains(&format!("continue with: lehr {} --resume e", line.join(" "))), "{rest}");
    assert_eq!(sandbox.list("e"), ["checkpoint"]);
}

#[test]
fn equal_items_that_became_one_count_as_many() {
    let rows: String = (0..40).map(|i| format!("{},{}\n", i % 4 + i % 2 * 30, i % 4)).collect();
    let sandbox = Sandbox::with("points.csv", "x,y\n".to_owned() + &rows);
    let distances = |out: &str, more: &[&str]| {
        let line =
            ["distances", "points.csv", "--metric", "squared-euclidean", "--element", "f64", "--quiet", "--out", out];
        sandbox.lehr(&[&line[..], more].concat()).succeeded();
    };
    distances("all", &[]);
    distances("few", &["--collapse"]);
    let run = |folder: &str| {
        let matrix = format!("{folder}/dissimilarities.json");
        let outcome = sandbox.lehr(&["pairwise", &matrix, "-k", "2", "--out", folder]).succeeded();
        let summary = sandbox.summary(folder);
        let weights: Vec<f64> = (0..2).map(|k| summary["clusters"][k]["weight"].as_f64().unwrap()).collect();
        (weights, summary["result"]["cost"].as_f64().unwrap(), outcome.stderr)
    };
    let (all, few) = (run("all"), run("few"));
    assert_eq!((&all.0, &few.0), (&vec![20.0, 20.0], &vec![20.0, 20.0]));
    assert!((all.1 - few.1).abs() < 1e-9 * all.1, "{} and {}", all.1, few.1);
    assert!(few.2.contains("each item counts as many times as there were equal ones") && !all.2.contains("weighted"));

    // The table of items may be edited, but its order is that of the matrix.
    let table = std::fs::read_to_string(sandbox.path("all/ids.csv")).unwrap();
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    lines.swap(1, 3);
    sandbox.write("all/ids.csv", &(lines.join("\n") + "\n"));
    let outcome = sandbox.lehr(&["pairwise", "all/dissimilarities.json", "-k", "2", "--out", "sorted"]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("all/ids.csv, line 2, column 1 (\"item\"): expected 0, found 2"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("sort them by the column item"), "{}", outcome.stderr);
    lines.swap(1, 3);
    lines.iter_mut().enumerate().for_each(|(row, line)| *line += if row == 0 { ",abundance" } else { ",2" });
    sandbox.write("all/ids.csv", &(lines.join("\n") + "\n"));
    let outcome = sandbox.lehr(&["pairwise", "all/dissimilarities.json", "-k", "2", "--out", "more"]).succeeded();
    assert!(
        outcome.stderr.contains("Lehr does not use the columns abundance; a column named weight gives"),
        "{}",
        outcome.stderr
    );
}
