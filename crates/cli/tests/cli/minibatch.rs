//! `lehr minibatch`: what a stream leaves behind, from a file and from standard input, stopped and gone on with, and
//! what is refused.

use std::io::Write;
use std::ops::Range;
use std::process::{Child, Command, Output, Stdio};

use super::sandbox::{Outcome, Sandbox};

/// Three groups of rows in turns, and every fifth row weighs nothing.
fn rows(numbers: Range<u32>) -> String {
    let rows = numbers.map(|row| {
        let (x, y) = [(0, 0), (100, 0), (0, 100)][row as usize % 3];
        format!("{},{},{}\n", x + row % 2, f64::from(y) + f64::from(row % 7) / 8.0, u32::from(row % 5 > 0))
    });
    rows.collect()
}

fn table(count: u32) -> String {
    format!("x,y,w\n{}", rows(0..count))
}

const LINE: [&str; 8] = ["minibatch", "t.csv", "--weights", "w", "-k", "3", "--batch-rows", "40"];

#[test]
fn files_say_what_can_be_checked_on_paper() {
    // A sample of 0, 1, 10 and 11, then 2 and 14: the centres are 1 and 35/3.
    let sandbox = Sandbox::with("t.csv", "x\n0\n1\n10\n11\n2\n14\n");
    let outcome = sandbox.lehr(&["minibatch", "t.csv", "-k", "2", "--batch-rows", "4", "--quiet"]).succeeded();
    assert_eq!(outcome.stderr, "");
    assert_eq!(sandbox.list("lehr-minibatch"), ["centers.csv", "model.json", "report.html", "summary.json"]);
    let said: Vec<&str> = outcome.stdout.lines().collect();
    // 4 rows at 0.5 from their centre, then 1.5 and 3.5.
    assert_eq!(said[0], "6 rows in 2 clusters; root mean square distance to the centre 1.607");
    assert_eq!(
        said[1],
        "an approximation: distances are those of 2 batches as they arrived, each row from its centre at that time; of the last batch 2.693"
    );
    let centers = sandbox.read("lehr-minibatch/centers.csv");
    let numbers: Vec<Vec<f64>> =
        centers.lines().skip(1).map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect();
    let mut found: Vec<(f64, f64, f64)> = numbers.iter().map(|line| (line[1], line[2], line[3])).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    for ((x, weight, spread), expected) in found.iter().zip([(1.0, 2.75f64), (35.0 / 3.0, 12.75)]) {
        assert!((x - expected.0).abs() < 1e-12 && *weight == 3.0, "{centers}");
        assert!((spread - (expected.1 / 3.0).sqrt()).abs() < 1e-12, "{centers}");
    }
    let summary = sandbox.summary("lehr-minibatch");
    assert_eq!(summary["method"], "mini-batch k-means");
    assert_eq!((&summary["input"]["rows"], &summary["input"]["batches"]), (&6.into(), &2.into()));
    let result = &summary["result"];
    assert_eq!((&result["is_approximation"], &result["clusters"]), (&true.into(), &2.into()));
    assert!((result["objective"].as_f64().unwrap() - 15.5 / 6.0).abs() < 1e-12, "{result}");
    assert!((result["objective_of_last_batch"].as_f64().unwrap() - 14.5 / 2.0).abs() < 1e-12, "{result}");
    // The model places rows as every other does.
    let placed = sandbox.lehr(&["predict", "lehr-minibatch/model.json", "t.csv"]).succeeded().stdout;
    let clusters: Vec<&str> = placed.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!(clusters[0] == clusters[1] && clusters[2] == clusters[3] && clusters[0] != clusters[2], "{placed}");
    assert!(clusters[4] == clusters[0] && clusters[5] == clusters[2], "{placed}");
}

/// Runs to its end with this on standard input.
fn fed(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> Outcome {
    let mut child = piped(sandbox, arguments);
    let mut stdin = child.stdin.take().unwrap();
    // A run that ends before it has read all ends the pipe.
    let _ = stdin.write_all(input);
    drop(stdin);
    Outcome::new(arguments, &child.wait_with_output().unwrap())
}

fn piped(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lehr"))
        .current_dir(sandbox.path(""))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The results, less what says how they were computed and from which file.
fn results(sandbox: &Sandbox, folder: &str) -> (String, String, serde_json::Value) {
    let mut summary = sandbox.summary(folder);
    summary.as_object_mut().unwrap().retain(|key, _| key != "execution" && key != "seconds");
    summary["input"]["source"] = "".into();
    let read = |name: &str| sandbox.read(&format!("{folder}/{name}"));
    (read("centers.csv"), read("model.json"), summary)
}

#[test]
fn a_file_an_array_a_pipe_and_any_layout_give_the_same_bytes() {
    let sandbox = Sandbox::with("t.csv", table(1000));
    sandbox.lehr(&[&LINE[..], &["--quiet", "--out", "first"]].concat()).succeeded();
    let first = results(&sandbox, "first");
    assert_eq!((&first.2["input"]["rows"], &first.2["input"]["batches"]), (&800.into(), &20.into()));
    // What a table is, is seen from its first bytes, wherever they come from.
    fed(&sandbox, &[&["minibatch", "-"], &LINE[2..], &["--quiet", "--out", "pipe"]].concat(), table(1000).as_bytes())
        .succeeded();
    let numbers: Vec<f64> =
        rows(0..1000).lines().flat_map(|line| line.split(',').map(|field| field.parse::<f64>().unwrap())).collect();
    let mut array = Vec::new();
    lehr_data::write::npy::array(&mut array, &numbers, 3).unwrap();
    sandbox.write("t.npy", &array);
    let of_array = ["--weights", "2", "-k", "3", "--batch-rows", "40", "--quiet", "--out"];
    sandbox.lehr(&[&["minibatch", "t.npy"], &of_array[..], &["array"]].concat()).succeeded();
    fed(&sandbox, &[&["minibatch", "-"], &of_array[..], &["array-pipe"]].concat(), &array).succeeded();
    assert_eq!(results(&sandbox, "array"), results(&sandbox, "array-pipe"));
    let numbers_of =
        |folder: &str| sandbox.read(&format!("{folder}/centers.csv")).split_once('\n').unwrap().1.to_owned();
    assert_eq!(numbers_of("array"), numbers_of("first"), "but for the names of the columns");
    for (folder, execution) in [
        ("one", ["--engine", "ranks", "--threads", "1"]),
        ("loop", ["--engine", "loop", "--threads", "3"]),
        ("ports", ["--engine", "ports", "--threads", "2"]),
        ("map-reduce", ["--engine", "map-reduce", "--ranks", "3"]),
    ] {
        sandbox.lehr(&[&LINE[..], &execution, &["--quiet", "--out", folder]].concat()).succeeded();
    }
    for folder in ["pipe", "one", "loop", "ports", "map-reduce"] {
        assert!(results(&sandbox, folder) == first, "{folder}");
    }
    assert_eq!(sandbox.summary("pipe")["input"]["source"], "standard input");
}

#[test]
fn scaled_columns_are_told_in_their_own_units() {
    let sandbox = Sandbox::with("t.csv", table(1000));
    sandbox.lehr(&[&LINE[..], &["--scale", "std", "--quiet"]].concat()).succeeded();
    let summary = sandbox.summary("lehr-minibatch");
    assert_eq!((&summary["unit"], &summary["input"]["scale"]), (&"unit of the scaled columns".into(), &"std".into()));
    let centers: Vec<[f64; 2]> = summary["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cluster| ["x", "y"].map(|name| cluster["center"][name].as_f64().unwrap()))
        .collect();
    for [x, y] in [[0.5, 0.375], [100.5, 0.375], [0.5, 100.375]] {
        assert!(centers.iter().any(|center| (center[0] - x).abs() < 0.1 && (center[1] - y).abs() < 0.1), "{centers:?}");
    }
    let placed = sandbox.lehr(&["predict", "lehr-minibatch/model.json", "t.csv"]).succeeded().stdout;
    let clusters: Vec<&str> = placed.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!((3..1000).all(|row| clusters[row] == clusters[row % 3]), "{clusters:?}");
}

/// Feeds a run until it has kept a checkpoint, and ends it with a signal. After that of Ctrl-C, which ends who feeds it
/// too, it gets half a row and the end of the pipe; after another it is fed on until it is gone. It cannot come to an
/// end by itself: there are always more rows.
fn ended_by(sandbox: &Sandbox, arguments: &[&str], signal: &str) -> (Option<i32>, String, u32) {
    let mut child = piped(sandbox, arguments);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"x,y,w\n").unwrap();
    let (mut fed, mut is_asked) = (0, false);
    let out = arguments.iter().skip_while(|word| **word != "--out").nth(1).unwrap_or(&"lehr-minibatch");
    while stdin.write_all(rows(fed..fed + 40).as_bytes()).is_ok() {
        fed += 40;
        if !is_asked && sandbox.path(&format!("{out}/checkpoint")).exists() {
            let kill = format!("kill -{signal} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
            is_asked = true;
            if signal == "INT" {
                // Gone already if it was quick.
                let _ = stdin.write_all(b"1");
                break;
            }
        }
    }
    assert!(is_asked, "the run ended by itself");
    drop(stdin);
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap(), fed)
}

const PIPE: [&str; 10] = ["minibatch", "-", "--weights", "w", "-k", "3", "--batch-rows", "40", "--half-life", "200"];

#[test]
fn ctrl_c_and_worse_leave_a_checkpoint_from_which_the_same_stream_goes_on_to_the_same_bytes() {
    for signal in ["INT", "KILL"] {
        let sandbox = Sandbox::new();
        let (code, said, count) = ended_by(&sandbox, &PIPE, signal);
        assert_eq!(sandbox.list("lehr-minibatch"), ["checkpoint"], "{said}");
        assert!(!said.contains('%'), "nobody knows how long a pipe is: {said}");
        if signal == "INT" {
            let hint = format!("hint: continue with: lehr {} --resume lehr-minibatch", PIPE.join(" "));
            assert!(code == Some(130) && said.contains(&hint), "{code:?}: {said}");
        }
        let text = table(count + 1000);
        let again = [&PIPE[..], &["--quiet", "--resume", "lehr-minibatch"]].concat();
        let other = fed(&sandbox, &again, text.replacen("101,0.125,1", "101,0.25,1", 1).as_bytes());
        assert!(other.code == 3 && other.stderr.contains("written for other data"), "{}", other.stderr);
        assert_eq!(sandbox.list("lehr-minibatch"), ["checkpoint"]);
        fed(&sandbox, &again, text.as_bytes()).succeeded();
        assert_eq!(sandbox.list("lehr-minibatch"), ["centers.csv", "model.json", "report.html", "summary.json"]);
        assert_eq!(sandbox.summary("lehr-minibatch")["execution"]["resumed"], true);
        fed(&sandbox, &[&PIPE[..], &["--quiet", "--out", "whole"]].concat(), text.as_bytes()).succeeded();
        assert!(results(&sandbox, "lehr-minibatch") == results(&sandbox, "whole"), "the same bytes after {signal}");
    }
}

#[test]
fn options_that_contradict_the_checkpoint_are_refused_by_name() {
    let sandbox = Sandbox::new();
    ended_by(&sandbox, &PIPE, "INT");
    let other = ["-k", "4", "--batch-rows", "50", "--sample-rows", "60", "--half-life", "201", "--precision", "f32"];
    let outcome = sandbox.lehr(&[&PIPE[..4], &other[..], &["--resume", "lehr-minibatch"]].concat());
    outcome.matches_golden("minibatch_contradicts_checkpoint");
    assert_eq!((outcome.code, sandbox.list("lehr-minibatch")), (2, vec!["checkpoint".to_owned()]));
    let outcome = sandbox.lehr(&["cluster", "t.csv", "--resume", "lehr-minibatch"]);
    assert!(outcome.stderr.contains("it is of the method \"minibatch\", not \"vector\""), "{}", outcome.stderr);
}

#[test]
fn bad_rows_are_told_with_their_place_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let hostile = |text: String| {
        sandbox.write("t.csv", text);
        let outcome = sandbox.lehr(&[&LINE[..], &["--quiet"]].concat());
        assert!(sandbox.list("lehr-minibatch").is_empty(), "{:?}", sandbox.list("lehr-minibatch"));
        (outcome.code, outcome.stderr)
    };
    let (code, said) = hostile(format!("{}1,NaN,1\n2,3\n", table(500)));
    assert_eq!(code, 3);
    assert!(said.contains("t.csv, line 502, column 2 (\"y\"): expected a finite number, found \"NaN\""), "{said}");
    assert!(said.contains("t.csv, line 503: expected 3 fields, found 2"), "{said}");
    let (code, said) = hostile(table(2));
    assert_eq!(code, 3);
    assert!(
        said.contains("you requested 3 clusters, but only 1 rows") && said.contains("--sample-rows takes a larger one"),
        "{said}"
    );
    let (code, said) = hostile("x,y,w\n1,2,0\n3,4,0\n".to_owned());
    assert_eq!(code, 3);
    assert!(said.contains("expected at least one weight above 0, found 0 in all 2 rows"), "{said}");
    let (code, said) = hostile(format!("{}1,,1\n", table(10)));
    assert_eq!(code, 3);
    assert!(said.contains("found an empty field\nhint: lehr distances compares rows with missing values"), "{said}");
    let (code, said) = hostile(">a\nACGT\n".to_owned());
    assert_eq!(code, 3);
    assert!(said.contains("found sequences in FASTA\nhint: lehr distances compares sequences"), "{said}");
    let (code, said) = hostile("x,y,w\n".to_owned());
    assert_eq!(code, 3);
    assert!(said.contains("found a header and no rows"), "{said}");
    sandbox.write("t.csv", table(10));
    for (options, words) in [
        (&["minibatch", "t.csv"][..], "--clusters: expected a number: only lehr cluster can tell how many there are"),
        (&["minibatch", "t.csv", "-k", "3", "--half-life", "0"], "expected above 0"),
        (&["minibatch", "t.csv", "-k", "3", "--trace", "t.json"], "--trace shows ranks"),
        (&["minibatch", "t.csv", "-k", "3", "--batch-rows", "0"], "expected 1 to 4294967295"),
        (
            &["minibatch", "endless", "-k", "3", "--batch-rows", "5000000000"],
            "'5000000000' for '--batch-rows <N>': expected 1 to 4294967295",
        ),
    ] {
        let outcome = sandbox.lehr(options);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    let outcome = sandbox.lehr(&["minibatch", "nothing.csv", "-k", "3"]);
    assert_eq!(outcome.code, 4);
    assert!(sandbox.list("lehr-minibatch").is_empty());
}

#[test]
fn columns_without_numbers_are_told() {
    let sandbox = Sandbox::with("t.csv", "x;y;share\n1;2;5%\n5;2;high\n7;3;low\n");
    let outcome = sandbox.lehr(&["minibatch", "t.csv", "-k", "1"]).succeeded();
    let told = "share (\"5%\", with a percent sign)";
    let note = "note: clustering by x, y; --columns chooses others\n      left out, without a number: ";
    assert!(outcome.stderr.contains(&format!("{note}{told}\n")), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(&format!("warning: t.csv: left out {told}\n")), "{}", outcome.stderr);
}

#[test]
fn results_of_another_method_are_not_replaced() {
    let sandbox = Sandbox::with("t.csv", table(300));
    sandbox.lehr(&["cluster", "t.csv", "--columns", "x,y", "-k", "3", "--quiet", "--out", "both"]).succeeded();
    let line = [&LINE[..], &["--quiet", "--out", "both"]].concat();
    let outcome = sandbox.lehr(&line);
    assert_eq!(outcome.code, 4);
    assert!(
        outcome.stderr.contains("both: has results of lehr cluster, and lehr minibatch would replace centers.csv, "),
        "{}",
        outcome.stderr
    );
    // Stopped after it was forced, it goes on as it says.
    let (_, said, _) = ended_by(&sandbox, &[&PIPE[..], &["--force", "--out", "both"]].concat(), "INT");
    let hint = format!("hint: continue with: lehr {} --resume both", PIPE.join(" "));
    assert!(said.contains(&hint), "{said}");
    let outcome = fed(&sandbox, &[&PIPE[..], &["--resume", "both"]].concat(), table(100_000).as_bytes()).succeeded();
    let note = "replaced results of lehr cluster in both, of which labels.csv, marks.csv, outliers.csv stayed";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    sandbox.lehr(&[&LINE[..], &["--quiet"]].concat()).succeeded();
    let outcome = sandbox.lehr(&[&LINE[..], &["--quiet", "--json"]].concat()).succeeded();
    assert!(outcome.stderr.contains("replaced the results of an earlier run"), "{}", outcome.stderr);
    let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(summary, sandbox.summary("lehr-minibatch"));
}
