//! Every kind of bad input: its words, its exit code, and nothing left behind.

use super::sandbox::{Sandbox, census};

const POINTS: &str = "x,y,w\n0,0,1\n1,0,2\n0,1,1\n9,9,1\n";

/// Runs `lehr cluster` on `content` in a file `points.csv`, compares with the golden file, sees that no results are left.
fn refuses(name: &str, content: impl AsRef<[u8]>, options: &[&str], code: i32) {
    let sandbox = Sandbox::with("points.csv", content);
    refuses_in(&sandbox, name, "points.csv", options, code);
}

fn refuses_in(sandbox: &Sandbox, name: &str, input: &str, options: &[&str], code: i32) {
    let arguments: Vec<&str> = ["cluster", input].into_iter().chain(options.iter().copied()).collect();
    let outcome = sandbox.lehr(&arguments);
    outcome.matches_golden(name);
    assert_eq!(outcome.code, code, "{}", outcome.stderr);
    assert!(outcome.stdout.is_empty(), "nothing on standard output: {}", outcome.stdout);
    assert!(!sandbox.path("lehr-out").exists(), "no folder for results that do not exist");
}

#[test]
fn missing_file() {
    refuses_in(&Sandbox::new(), "missing_file", "nowhere.csv", &["-k", "2"], 4);
}

#[test]
fn a_directory_instead_of_a_file() {
    let sandbox = Sandbox::with("folder/points.csv", POINTS);
    refuses_in(&sandbox, "directory_as_input", "folder", &["-k", "2"], 4);
}

#[test]
fn empty_file() {
    refuses("empty_file", "", &["-k", "2"], 3);
}

#[test]
fn header_only() {
    refuses("header_only", "x,y\n", &["-k", "2"], 3);
}

#[test]
fn no_such_column() {
    refuses("no_such_column", "area,length\n1,2\n3,4\n", &["--columns", "aera,length", "-k", "2"], 3);
}

#[test]
fn no_such_weights_column() {
    refuses("no_such_weights_column", POINTS, &["--columns", "x,y", "--weights", "weight", "-k", "2"], 3);
}

#[test]
fn text_in_a_numeric_column() {
    let rows: String = (0..13).map(|row| format!("{row},n/a\n")).collect();
    refuses("text_in_a_numeric_column", format!("x,y\n1,2\n{rows}"), &["--columns", "x,y", "-k", "2"], 3);
}

#[test]
fn not_a_number_and_infinity() {
    refuses("nan_and_infinity", "x,y\n0,0\n1,NaN\ninf,2\n3,4\n", &["-k", "2"], 3);
}

#[test]
fn negative_weights() {
    refuses("negative_weights", "x,y,w\n0,0,1\n1,1,-2\n", &["--columns", "x,y", "--weights", "w", "-k", "1"], 3);
}

#[test]
fn all_weights_zero() {
    refuses("all_weights_zero", "x,y,w\n0,0,0\n1,1,0\n", &["--columns", "x,y", "--weights", "w", "-k", "1"], 3);
}

#[test]
fn more_clusters_than_points() {
    refuses("more_clusters_than_points", POINTS, &["--columns", "x,y", "--clusters", "5"], 3);
}

#[test]
fn no_clusters() {
    refuses("no_clusters", POINTS, &["--clusters", "0"], 2);
}

#[test]
fn ragged_rows() {
    refuses("ragged_rows", "x,y\n0,0\n1\n2,2\n3,3,3\n", &["-k", "2"], 3);
}

#[test]
fn latin_1() {
    refuses("latin_1", b"name,x\nGen\xe8ve,1\nBern,2\n", &["--columns", "x", "--id", "name", "-k", "1"], 3);
}

#[test]
fn utf_16() {
    let content: Vec<u8> = "\u{feff}x,y\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    refuses("utf_16", content, &["-k", "1"], 3);
}

#[test]
fn a_gzip_file_cut_short() {
    let whole = std::fs::read(census()).unwrap();
    let sandbox = Sandbox::with("blocks.csv.gz", &whole[..100_000]);
    refuses_in(&sandbox, "gzip_cut_short", "blocks.csv.gz", &["--columns", "lon,lat", "-k", "2"], 3);
}

#[test]
fn a_folder_that_cannot_be_made() {
    let sandbox = Sandbox::with("points.csv", POINTS);
    sandbox.write("plain", "a file, where a folder would have to be");
    refuses_in(&sandbox, "directory_not_writable", "points.csv", &["-k", "2", "--out", "plain/out"], 4);
    assert_eq!(sandbox.read("plain"), "a file, where a folder would have to be");
}

#[test]
fn degrees_out_of_range() {
    let content = "lon,lat\n-117,39\n-117,139\n400,39\n";
    refuses("degrees_out_of_range", content, &["--lonlat", "-k", "1"], 3);
}

#[test]
fn the_sphere_with_three_columns() {
    refuses("lonlat_three_columns", POINTS, &["--lonlat", "-k", "1"], 3);
}

#[test]
fn the_sphere_with_a_scale() {
    refuses("lonlat_with_scale", POINTS, &["--lonlat", "--scale", "std"], 2);
}

#[test]
fn a_temperature_below_zero() {
    refuses("negative_temperature", POINTS, &["--stop-temperature", "-1"], 2);
}

#[test]
fn a_misspelt_option() {
    refuses("misspelt_option", POINTS, &["--cluster", "2"], 2);
}

#[test]
fn the_input_is_never_written_to() {
    let sandbox = Sandbox::with("here/labels.csv", POINTS);
    let outcome = sandbox.lehr(&["cluster", "here/labels.csv", "-k", "2", "--out", "here", "--force"]);
    outcome.matches_golden("input_in_the_way");
    assert_eq!(outcome.code, 4);
    assert_eq!(sandbox.read("here/labels.csv"), POINTS);
    assert_eq!(sandbox.list("here"), ["labels.csv"]);
}

#[test]
fn files_that_only_look_like_results_are_protected() {
    let sandbox = Sandbox::with("points.csv", POINTS);
    sandbox.write("out/labels.csv", "mine");
    let line = ["cluster", "points.csv", "-k", "2", "--out", "out", "--quiet"];
    let outcome = sandbox.lehr(&line);
    outcome.matches_golden("files_in_the_way");
    assert_eq!(outcome.code, 4);
    assert_eq!(sandbox.read("out/labels.csv"), "mine");
    sandbox.lehr(&[&line[..], &["--force"]].concat()).succeeded();
    assert!(sandbox.read("out/labels.csv").starts_with("id,cluster,probability\n"));
}
