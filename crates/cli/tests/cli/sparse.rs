//! Sparse rows from SVMlight's text and Matrix Market files: the clusters of the same table, what the results say of
//! many columns, `lehr predict`, weights, stopping, and what is refused.

use std::fmt::Write as _;

use lehr_data::{Sparse, synthetic};

use super::sandbox::Sandbox;

const COLUMNS: usize = 120;

fn rows() -> Sparse {
    synthetic::topics(3, 40, COLUMNS, 12, 4).0
}

/// The same rows as SVMlight's text from 1 and from 0, as a Matrix Market file, and as a table of numbers.
fn sandbox() -> Sandbox {
    let rows = rows();
    let (mut from_one, mut from_zero) = (String::from("# texts\n"), String::new());
    let mut table: String = (1..=COLUMNS).map(|j| format!("{}x{j}", if j > 1 { "," } else { "" })).collect();
    let mut entries = String::new();
    table.push('\n');
    for index in 0..rows.len() {
        let (columns, values) = rows.row(index);
        let pairs = |first: u32| -> String {
            columns.iter().zip(values).map(|(column, value)| format!(" {}:{value}", column + first)).collect()
        };
        writeln!(from_one, "{}{} # text {index}", index % 3, pairs(1)).unwrap();
        writeln!(from_zero, "-1{}", pairs(0)).unwrap();
        for (column, value) in columns.iter().zip(values) {
            writeln!(entries, "{} {} {value}", index + 1, column + 1).unwrap();
        }
        let fields: Vec<String> = (0..COLUMNS).map(|j| rows.value(index, j).to_string()).collect();
        writeln!(table, "{}", fields.join(",")).unwrap();
    }
    let sandbox = Sandbox::with("texts.svm", &from_one);
    sandbox.write("zero.txt", from_zero);
    let head = "%%MatrixMarket matrix coordinate integer general\n% texts\n";
    let sizes = format!("{} {COLUMNS} {}\n", rows.len(), rows.nonzeros());
    sandbox.write("texts.mtx", format!("{head}{sizes}{entries}"));
    sandbox.write("table.csv", table);
    sandbox
}

fn column(text: &str, at: usize) -> Vec<String> {
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

#[test]
fn files_of_sparse_rows_and_a_table_of_the_same_rows_have_the_same_clusters() {
    let sandbox = sandbox();
    let outcome = sandbox.lehr(&["cluster", "texts.svm", "-k", "3", "--out", "s"]).succeeded();
    assert!(!outcome.stderr.contains("clustering by"), "a hundred names are no help: {}", outcome.stderr);
    assert!(outcome.stdout.contains("values a row"), "{}", outcome.stdout);
    for (file, out) in [("zero.txt", "z"), ("texts.mtx", "m"), ("table.csv", "t")] {
        sandbox.lehr(&["cluster", file, "-k", "3", "--out", out, "--quiet"]).succeeded();
    }
    let labels = |folder: &str| column(&sandbox.read(&format!("{folder}/labels.csv")), 1);
    let centers = |folder: &str| sandbox.read(&format!("{folder}/centers.csv"));
    for folder in ["z", "m", "t"] {
        assert_eq!(labels(folder), labels("s"), "{folder}");
    }
    assert_eq!(centers("m"), centers("s"));
    assert!(centers("s").starts_with("cluster,x1,x2,") && centers("z").starts_with("cluster,x0,x1,"));
    // A centre is the mean of each column in the rows of the cluster, and exactly 0 where none has it.
    let rows = rows();
    for cluster in 0..3 {
        let members: Vec<usize> = (0..rows.len()).filter(|row| labels("s")[*row] == cluster.to_string()).collect();
        for j in 0..COLUMNS {
            let sum: f64 = members.iter().map(|row| rows.value(*row, j)).sum();
            let mean: f64 = column(&centers("s"), 1 + j)[cluster].parse().unwrap();
            assert!((mean - sum / members.len() as f64).abs() < 1e-12 && (sum > 0.0) == (mean != 0.0), "{mean}");
        }
    }
    let (s, t) = (sandbox.summary("s"), sandbox.summary("t"));
    let squares = |summary: &serde_json::Value| summary["result"]["sum_of_squares"].as_f64().unwrap();
    assert!((squares(&s) - squares(&t)).abs() < 1e-10 * squares(&t));
    // What is not named is 0.
    let center = s["clusters"][0]["center"].as_object().unwrap();
    assert!(center.len() < COLUMNS && center.values().all(|value| value.as_f64().unwrap() != 0.0));
    let line = ["cluster", "texts.mtx", "--method", "kmeans", "-k", "3", "--out", "k", "--quiet"];
    sandbox.lehr(&line).succeeded();
    assert!((squares(&sandbox.summary("k")) - squares(&t)).abs() < 1e-10 * squares(&t), "k-means comes to the same");
}

#[test]
fn the_page_shows_axes_and_marks_and_not_a_hundred_columns() {
    let sandbox = sandbox();
    sandbox.lehr(&["cluster", "texts.svm", "-k", "3", "--quiet"]).succeeded();
    let page = sandbox.read("lehr-out/report.html");
    let share = format!("sparse rows of 120 columns, {:.1} % of whose values are not 0", 100.0 * rows().density());
    for words in [&share[..], ">values a row<", ">marks<", " (of all "] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains(">x1<"));
    let (_, figures) = sandbox.page("lehr-out/report.html");
    let note = figures["picture"]["layouts"][0]["note"].as_str().unwrap();
    assert!(note.contains("two directions in which the 120 columns vary most"), "{note}");
}

#[test]
fn a_model_says_of_sparse_rows_what_it_says_of_the_table() {
    let sandbox = sandbox();
    sandbox.lehr(&["cluster", "texts.svm", "-k", "3", "--quiet"]).succeeded();
    let predict = |rest: &[&str]| {
        sandbox.lehr(&[&["predict", "lehr-out/model.json"][..], rest, &["--memberships"]].concat()).succeeded().stdout
    };
    let of_text = predict(&["texts.svm"]);
    assert_eq!(of_text, predict(&["texts.mtx"]));
    assert_eq!(column(&of_text, 1), column(&sandbox.read("lehr-out/labels.csv"), 1));
    let of_table = predict(&["table.csv"]);
    for at in 2..=7 {
        for (found, expected) in column(&of_text, at).iter().zip(column(&of_table, at)) {
            let (found, expected): (f64, f64) = (found.parse().unwrap(), expected.parse().unwrap());
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
    }
    // Columns are numbered as those of the model, and what a file does not come to is 0.
    sandbox.write("new.svm", "1 1:2 3:1\n1\n");
    assert_eq!(predict(&["new.svm"]).lines().count(), 3);
    sandbox.write("wide.svm", "1 1:2\n1 2:1 121:4\n");
    let outcome = sandbox.lehr(&["predict", "lehr-out/model.json", "wide.svm"]);
    assert_eq!(outcome.code, 3);
    let words = "wide.svm, row 2, column 121 (\"x121\"): expected 120 columns, found a value of 4";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    sandbox.lehr(&["cluster", "zero.txt", "-k", "3", "--quiet", "--out", "z"]).succeeded();
    // Without a column 0 in it, this file would seem to count from 1.
    sandbox.write("tail.svm", "1 119:2 4:1\n");
    sandbox.lehr(&["predict", "z/model.json", "tail.svm"]).succeeded();
    let outcome = sandbox.lehr(&["predict", "lehr-out/model.json", "zero.txt"]);
    assert!(
        outcome.code == 3 && outcome.stderr.contains("expected columns from 1 on, found \"0:"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn columns_that_no_row_has_a_value_in_take_no_place_and_new_rows_may_have_them() {
    // A stray number of a column: 28 bytes of input once became 870 MB of results.
    let sandbox = Sandbox::with("stray.svm", "1 1:1 16777216:2\n1 2:7\n");
    let outcome = sandbox.lehr(&["cluster", "stray.svm", "-k", "2"]).succeeded();
    let words = "stray.svm: 16,777,213 columns of 16,777,216 are 0 in all rows. Lehr leaves them out.";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    for file in ["centers.csv", "model.json", "summary.json"] {
        assert!(sandbox.read(&format!("lehr-out/{file}")).len() < 100_000, "{file}");
    }
    assert_eq!(sandbox.summary("lehr-out")["warnings"][0], words);
    // Centres are 0 in columns that the model does not have: 3 and 4 away from the last, whose own columns are equal.
    let centers = sandbox.read("lehr-out/centers.csv");
    let head: Vec<&str> = centers.lines().next().unwrap().split(',').collect();
    let at = head.iter().position(|name| *name == "x1").unwrap();
    assert_eq!(head[at..at + 3], ["x1", "x2", "x16777216"]);
    let second = column(&centers, at + 1);
    sandbox.write("new.svm", "1 2:7 50:3 9000:4\n1 1:1 16777216:2\n");
    let said = sandbox.lehr(&["predict", "lehr-out/model.json", "new.svm"]).succeeded().stdout;
    let labels = column(&said, 1);
    let of_row = |row: usize| second[labels[row].parse::<usize>().unwrap()].as_str();
    assert_eq!([of_row(0), of_row(1)], ["7", "0"], "{said}");
    let at = said.lines().next().unwrap().split(',').position(|name| name == "distance").unwrap();
    assert_eq!(column(&said, at), ["5", "0"]);
}

#[test]
fn columns_are_divided_by_their_deviations_as_those_of_a_table_are() {
    let sandbox = sandbox();
    for (file, out) in [("texts.svm", "s"), ("table.csv", "t")] {
        sandbox.lehr(&["cluster", file, "-k", "3", "--scale", "std", "--out", out, "--quiet"]).succeeded();
    }
    let labels = |folder: &str| column(&sandbox.read(&format!("{folder}/labels.csv")), 1);
    let squares = |folder: &str| sandbox.summary(folder)["result"]["sum_of_squares"].as_f64().unwrap();
    assert!((squares("s") - squares("t")).abs() < 1e-9 * squares("t"));
    assert_eq!(labels("s"), labels("t"));
    // Centres are told in the columns' own units.
    let mean = |folder: &str, at: usize| {
        column(&sandbox.read(&format!("{folder}/centers.csv")), at)[0].parse::<f64>().unwrap()
    };
    (1..=COLUMNS).for_each(|at| assert!((mean("s", at) - mean("t", at)).abs() < 1e-12));
    let predicted = sandbox.lehr(&["predict", "s/model.json", "texts.mtx"]).succeeded().stdout;
    assert_eq!(column(&predicted, 1), labels("s"));
    let outcome = sandbox.lehr(&["predict", "t/model.json", "texts.svm"]);
    assert_eq!(outcome.code, 3);
    assert!(outcome.stderr.contains("the columns that the model shifts, found sparse rows"), "{}", outcome.stderr);
}

#[test]
fn weights_in_a_table_beside_are_those_of_the_rows() {
    let sandbox = sandbox();
    let weight = |row: usize| (row % 4) as f64 / 2.0;
    // By the row's number, from 0, in another order; and row by row.
    let by_id: String = (0..125).rev().map(|row| format!("{row},{}\n", weight(row))).collect();
    sandbox.write("by_id.csv", format!("text,count\n{by_id}"));
    let in_order: String = (0..120).map(|row| format!("{}\n", weight(row))).collect();
    sandbox.write("weights.txt", format!("count\n{in_order}"));
    let cluster = |rest: &[&str], out: &str| {
        sandbox
            .lehr(
                &[&["cluster", "texts.svm", "-k", "3", "--weights", "count", "--quiet", "--out", out][..], rest]
                    .concat(),
            )
            .succeeded();
    };
    cluster(&["--weights-from", "by_id.csv", "--id", "text"], "i");
    cluster(&["--weights-from", "weights.txt"], "o");
    assert_eq!(sandbox.read("i/centers.csv"), sandbox.read("o/centers.csv"));
    let input = &sandbox.summary("i")["input"];
    assert_eq!((&input["total_weight"], &input["rows_of_weight_zero"]), (&serde_json::json!(90.0), &30.into()));
    let told = sandbox.lehr(&["cluster", "texts.svm", "-k", "3", "--weights", "count"]);
    assert!(told.code == 2 && told.stderr.contains("--weights-from names a table"), "{}", told.stderr);
}

#[test]
fn engine_ranks_and_threads_do_not_change_a_byte_and_a_sponge_takes_what_is_far() {
    let sandbox = sandbox();
    sandbox.write("more.svm", format!("{}1 7:90\n", sandbox.read("texts.svm")));
    let run = |rest: &[&str], out: &str| {
        let line = ["cluster", "more.svm", "-k", "3", "--outlier-radius", "20", "--quiet", "--out", out];
        sandbox.lehr(&[&line[..], rest].concat()).succeeded();
        (sandbox.read(&format!("{out}/labels.csv")), sandbox.read(&format!("{out}/centers.csv")))
    };
    let one = run(&["--threads", "1"], "a");
    assert_eq!(one, run(&["--ranks", "3"], "b"));
    assert_eq!(one, run(&["--engine", "loop", "--threads", "2"], "c"));
    let outside: Vec<usize> = (0..121).filter(|row| column(&one.0, 1)[*row] == "-1").collect();
    assert_eq!(outside, [120]);
}

#[test]
fn what_sparse_rows_cannot_be_asked_is_told_and_nothing_is_left_behind() {
    let sandbox = sandbox();
    sandbox.write("bad.svm", "1 1:2\n1 1:2 1:3\nx 2:a\n");
    sandbox.write("half.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 1 1\n");
    for (line, code, words) in [
        (&["cluster", "texts.svm", "-k", "2", "--scale", "robust"][..], 2, "--scale robust: subtracts medians"),
        (
            &["cluster", "texts.svm", "-k", "2", "--lonlat"][..],
            2,
            "--lonlat: for tables of numbers; the file has sparse rows",
        ),
        (&["cluster", "texts.mtx", "-k", "2", "--columns", "x1"][..], 2, "--columns: for tables of numbers"),
        (&["cluster", "texts.mtx", "-k", "2", "--id", "x1"][..], 2, "--id: for tables of numbers"),
        (&["cluster", "zero.txt", "-k", "2", "--first-column", "1"][..], 3, "zero.txt, line "),
        (
            &["cluster", "table.csv", "-k", "2", "--first-column", "1"][..],
            2,
            "--first-column: for SVMlight's text, which table.csv is not",
        ),
        (&["cluster", "texts.svm", "-k", "121"][..], 3, "you requested 121 clusters, but only 120 rows"),
        (&["cluster", "bad.svm", "-k", "2"][..], 3, "bad.svm, line 2: expected each column once, found column 1 again"),
        (&["cluster", "bad.svm", "-k", "2"][..], 3, "bad.svm: 3 faults in all"),
        (&["cluster", "half.mtx", "-k", "2"][..], 3, "found a symmetric one"),
        (
            &["mixture", "texts.svm", "-k", "2"][..],
            3,
            "texts.svm: expected a table of text, an NPY or a Parquet file, found SVMlight's text, which has sparse rows",
        ),
        (&["gtm", "texts.mtx"][..], 3, "found a Matrix Market file, which has sparse rows"),
    ] {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{line:?}: {}", outcome.stderr);
        assert!(!sandbox.path("lehr-out").exists(), "{line:?}");
    }
}
