//! Parquet files as input: the results of the same rows as text, in memory, in a file and as a stream.

use super::sandbox::Sandbox;

/// 3,000 rows in three groups that Polars wrote: `x` is the row modulo 7, `y` a tenth of it, rounded down.
const GROUPS: &[u8] = include_bytes!("../../../data/tests/data/parquet/polars_groups.parquet");
/// Five rows with columns of every type, of which one has gaps.
const TYPES: &[u8] = include_bytes!("../../../data/tests/data/parquet/polars.parquet");

fn sandbox() -> Sandbox {
    let rows: String = (0..3000).map(|row| format!("{},{}\n", row % 7, row / 10)).collect();
    let sandbox = Sandbox::with("t.csv", format!("x,y\n{rows}"));
    sandbox.write("t.parquet", GROUPS);
    sandbox
}

#[test]
fn results_are_those_of_the_same_rows_as_text() {
    let sandbox = sandbox();
    for (out, input, more) in
        [("text", "t.csv", &[][..]), ("columns", "t.parquet", &[][..]), ("spilled", "t.parquet", &["--spill", "."][..])]
    {
        let line = [&["cluster", input, "-k", "4", "--quiet", "--out", out][..], more].concat();
        sandbox.lehr(&line).succeeded();
        for table in ["labels.csv", "centers.csv"] {
            assert!(
                sandbox.read(&format!("{out}/{table}")) == sandbox.read(&format!("text/{table}")),
                "{out}, {table}"
            );
        }
    }
    let placed = |input: &str| sandbox.lehr(&["predict", "text/model.json", input]).succeeded().stdout;
    assert_eq!(placed("t.parquet"), placed("t.csv"));
    for (method, input, out) in [("mixture", "t.csv", "m-text"), ("mixture", "t.parquet", "m-columns")] {
        sandbox.lehr(&[method, input, "-k", "2", "--quiet", "--out", out]).succeeded();
    }
    assert!(sandbox.read("m-text/labels.csv") == sandbox.read("m-columns/labels.csv"));
    for (input, out) in [("t.csv", "s-text"), ("t.parquet", "s-columns")] {
        sandbox.lehr(&["minibatch", input, "-k", "3", "--batch-rows", "700", "--quiet", "--out", out]).succeeded();
    }
    assert!(sandbox.read("s-text/centers.csv") == sandbox.read("s-columns/centers.csv"));
}

#[test]
fn columns_that_are_no_numbers_are_told_and_gaps_have_their_way() {
    let sandbox = Sandbox::with("t.parquet", TYPES);
    let outcome = sandbox
        .lehr(&["cluster", "t.parquet", "--columns", "x,is_open", "--id", "site", "-k", "2", "--out", "first"])
        .succeeded();
    assert!(!outcome.stderr.contains("left out"), "{}", outcome.stderr);
    assert!(sandbox.read("first/labels.csv").contains("\nc,"), "{}", sandbox.read("first/labels.csv"));
    let refused = sandbox.lehr(&["cluster", "t.parquet", "-k", "2", "--out", "other"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let words = "error: t.parquet, row 2, column 8 (\"gap\"): expected a finite number, found no value\n";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    let outcome = sandbox.lehr(&["mixture", "t.parquet", "-k", "1", "--missing", "--regularization", "0.1"]);
    assert!(outcome.stderr.contains("left out, without a number: site (\"a\"), day (dates)"), "{}", outcome.stderr);
    let date = sandbox.lehr(&["cluster", "t.parquet", "--columns", "day", "-k", "2", "--out", "other"]);
    assert_eq!(date.code, 3);
    let words = "error: t.parquet, column 6 (\"day\"): expected a column of numbers, found dates\n";
    assert!(date.stderr.starts_with(words), "{}", date.stderr);
    assert_eq!(sandbox.list(".").iter().filter(|name| *name == "other").count(), 0);
}
