//! Every kind of bad input: its words, its exit code, and nothing left behind.

use super::sandbox::{Sandbox, census};

const POINTS: &str = "x,y,w\n0,0,1\n1,0,2\n0,1,1\n9,9,1\n";

/// Runs `lehr cluster` on `content` in a file `points.csv`, compares with the golden file, sees that no results are
/// left.
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
fn missing_files_have_one_exit_code() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["cluster", "nosuch.csv"][..],
        &["upload", "nosuch.csv"],
        &["ls", "--ca", "nosuch.pem"],
        &["serve", "--data-root", "nosuch"],
        &["serve", "--policy", "nosuch.json"],
        &["serve", "--cert", "nosuch.pem", "--key", "nosuch.pem"],
        &["serve", "--join", "https://127.0.0.1:1", "--ca", "nosuch.pem"],
        &["check-policy", "nosuch.json"],
        &["predict", "nosuch", "nosuch.csv"],
        &["embed", "nosuch/dissimilarities.json"],
        &["distances", "nosuch.fasta"],
        &["run", "nosuch.toml"],
        &["keep", "verify", "nosuch"],
    ] {
        let outcome = sandbox.lehr(arguments);
        assert_eq!(outcome.code, 4, "{arguments:?}: {}", outcome.stderr);
        let is_named = outcome.stderr.contains("nosuch") && outcome.stderr.contains("no such file");
        assert!(is_named, "{arguments:?}: {}", outcome.stderr);
    }
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
fn latin_1_among_utf_8() {
    let content = b"name,x\nZ\xc3\xbcrich,1\nB\xc3\xa4le,2\nGen\xe8ve,3\n";
    refuses("latin_1", content, &["--columns", "x", "--id", "name", "-k", "1"], 3);
}

#[test]
fn utf_16_is_read_and_told() {
    let content: Vec<u8> = "\u{feff}x,y\n1,2\n3,4\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let outcome =
        Sandbox::with("points.csv", content).lehr(&["cluster", "points.csv", "-k", "1", "--quiet"]).succeeded();
    assert_eq!(outcome.stderr, "warning: points.csv: read as UTF-16 (lower byte first)\n");
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
fn more_threads_or_ranks_than_a_process_can_have() {
    let sandbox = Sandbox::with("points.csv", "x,y\n1,2\n3,4\n");
    for option in ["--threads", "--ranks"] {
        for count in ["1025", "30000", "99999999999999999999"] {
            let refused = sandbox.lehr(&["cluster", "points.csv", option, count, "-k", "1"]);
            assert_eq!(refused.code, 2, "{option} {count}: {}", refused.stderr);
            assert!(refused.stderr.contains("from 1 to 1024"), "{}", refused.stderr);
        }
    }
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
    assert!(sandbox.read("out/labels.csv").starts_with("id,cluster,probability,"));
}

#[test]
fn rows_with_gaps_are_told_where_they_may_go() {
    let sandbox = Sandbox::with("gaps.csv", "x,y\n1,2\n,3\n4,5\n6,1\n");
    let hint = |line: &[&str]| {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, 3, "{}", outcome.stderr);
        let words = "gaps.csv, line 3, column 1 (\"x\"): expected a finite number, found an empty field\n";
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        outcome.stderr.lines().find_map(|line| line.strip_prefix("hint: ").map(str::to_owned)).unwrap()
    };
    let elsewhere = hint(&["cluster", "gaps.csv", "-k", "2"]);
    assert!(
        elsewhere == "--auto prepares the whole table, gaps too; --missing only fills the gaps, from the nearest rows",
        "{elsewhere}"
    );
    for command in ["mixture", "gtm"] {
        let expected = "--missing takes rows with missing values; --auto prepares the whole table";
        assert_eq!(hint(&[command, "gaps.csv"]), expected);
    }
    // What the hints say is so.
    sandbox.lehr(&["cluster", "gaps.csv", "-k", "1", "--missing", "--quiet"]).succeeded();
    sandbox.lehr(&["cluster", "gaps.csv", "-k", "1", "--auto", "--quiet", "--force"]).succeeded();
    sandbox.lehr(&["mixture", "gaps.csv", "--missing", "--components", "1", "--quiet"]).succeeded();
    // Text is no gap.
    let text = Sandbox::with("text.csv", "x,y\n1,2\na,3\n").lehr(&["cluster", "text.csv", "-k", "1"]);
    assert!(text.code == 3 && !text.stderr.contains("hint:"), "{}", text.stderr);
}

#[test]
fn a_file_for_another_command_is_told_with_that_command() {
    let sandbox = Sandbox::with("genes.fasta", ">a\nACGTACGT\n>b\nACGTACGA\n>c\nACGAACGA\n");
    sandbox.write("reads.fastq", "@a\nACGT\n+\nIIII\n");
    sandbox.write("compounds.smi", "CCO\tethanol\nCCN\tethylamine\n");
    sandbox.write(
        "compounds.sdf",
        "ethanol\n\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n    0.0    0.0    0.0 C   0  0\n",
    );
    sandbox.write("keys.fps", "#FPS1\n0f\tone\nf0\ttwo\n");
    sandbox.write("texts.svm", "1 1:2 4:1\n0 2:1 3:1\n");
    sandbox.write("table.csv", POINTS);
    sandbox.lehr(&["distances", "genes.fasta", "--out", "d", "--quiet"]).succeeded();
    let rows = b"\x93NUMPY\x01\x00\x39\x00{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2)}";
    sandbox.write("rows.npy", [&rows[..], &[1, 2, 3, 4, 5, 6]].concat());
    let (table, matrix) =
        ("expected a table of text, an NPY or a Parquet file, found", "expected an NPY array of dissimilarities");
    for (line, words, hint) in [
        (["cluster", "genes.fasta"], [table, "sequences in FASTA"], "lehr distances compares sequences"),
        (["gtm", "genes.fasta"], [table, "sequences in FASTA"], "lehr distances compares sequences"),
        (["cluster", "reads.fastq"], [table, "in FASTQ"], "lehr distances takes FASTA"),
        (["distances", "reads.fastq"], [table, "in FASTQ"], "lehr distances takes FASTA"),
        (["mixture", "compounds.smi"], [table, "molecules"], "lehr cluster and lehr distances take molecules"),
        (["mixture", "compounds.sdf"], [table, "molecules"], "lehr cluster and lehr distances take molecules"),
        (["mixture", "keys.fps"], [table, "fingerprints in FPS"], "lehr cluster takes fingerprints"),
        (["mixture", "texts.svm"], [table, "SVMlight's text"], "lehr cluster takes sparse rows"),
        (["cluster", "d/dissimilarities.npy"], [table, "dissimilarities of all pairs"], "lehr pairwise and lehr embed"),
        (
            ["cluster", "d/dissimilarities.json"],
            [table, "dissimilarities of all pairs"],
            "lehr pairwise and lehr embed",
        ),
        (["pairwise", "table.csv"], [matrix, "found a table of text"], "lehr distances computes the dissimilarities"),
        (["embed", "genes.fasta"], [matrix, "found sequences in FASTA"], "lehr distances compares sequences"),
        (
            ["embed", "keys.fps"],
            [matrix, "found fingerprints in FPS"],
            "lehr cluster takes fingerprints, and lehr distances",
        ),
        (["pairwise", "rows.npy"], ["expected a square array", "an array of 3 x 2"], "lehr distances computes"),
    ] {
        let outcome = sandbox.lehr(&[&line[..], &["--out", "o", "--quiet"]].concat());
        assert_eq!(outcome.code, 3, "{line:?}: {}", outcome.stderr);
        assert!(words.iter().all(|words| outcome.stderr.contains(words)), "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(&format!("\nhint: {hint}")), "{line:?}: {}", outcome.stderr);
        assert!(!sandbox.path("o").exists(), "{line:?}");
    }
}

#[test]
fn a_square_of_distances_without_a_header_is_clustered_with_a_warning() {
    let rows: String = (0..6)
        .map(|i| {
            let row: Vec<String> = (0..6).map(|j: i32| (i - j).abs().to_string()).collect();
            row.join(",") + "\n"
        })
        .collect();
    let sandbox = Sandbox::with("square.csv", &rows);
    let outcome = sandbox.lehr(&["cluster", "square.csv", "-k", "2", "--quiet"]).succeeded();
    assert!(
        outcome.stderr.contains("warning: the table has as many rows as columns, is symmetric and 0 on the diagonal"),
        "{}",
        outcome.stderr
    );
    sandbox.write("other.csv", rows.replacen("0,1", "0,2", 1));
    let outcome = sandbox.lehr(&["cluster", "other.csv", "-k", "2", "--quiet"]).succeeded();
    assert!(!outcome.stderr.contains("symmetric"), "{}", outcome.stderr);
}

#[test]
fn decimal_commas() {
    refuses("decimal_commas", "name;price\na;3,14\nb;2,x\n", &["-k", "2"], 3);
}

#[test]
fn columns_that_are_no_numbers_are_left_out_with_a_word_and_those_with_some_numbers_with_a_warning() {
    let table = "name;share;x;y;note\na;5%;1;2;\nb;high;5;2;\nc;low;9;4;\n";
    let sandbox = Sandbox::with("points.csv", table);
    let outcome = sandbox.lehr(&["cluster", "points.csv", "-k", "2"]).succeeded();
    let note = "note: clustering by x, y; --columns chooses others\n      left out, without a number: name (\"a\"), \
                share (\"5%\", with a percent sign), note (empty)\n";
    let warning = "warning: points.csv: left out share (\"5%\", with a percent sign), note (empty)\n";
    assert!(outcome.stderr.contains(note) && outcome.stderr.contains(warning), "{}", outcome.stderr);
    assert_eq!(sandbox.summary("lehr-out")["warnings"].as_array().unwrap().len(), 1);
    for line in [["distances", "points.csv"], ["gtm", "points.csv"]] {
        let outcome = sandbox.lehr(&[&line[..], &["--quiet"]].concat()).succeeded();
        assert!(outcome.stderr.contains(warning) && !outcome.stderr.contains("note:"), "{}", outcome.stderr);
    }
    let outcome =
        sandbox.lehr(&["cluster", "points.csv", "-k", "2", "--columns", "x,y", "--out", "chosen"]).succeeded();
    assert!(!outcome.stderr.contains("left out"), "{}", outcome.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn an_array_beyond_all_memory_is_refused_before_it_is_read() {
    let sandbox = Sandbox::new();
    let head = b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (137438953472, 2)} ";
    let mut head = head.to_vec();
    head.resize(10 + 0x46, b' ');
    sandbox.write("large.npy", &head);
    // Two TiB of zeros that take no room on the disk.
    let file = std::fs::OpenOptions::new().write(true).open(sandbox.path("large.npy")).unwrap();
    file.set_len(head.len() as u64 + (1 << 41)).unwrap();
    for command in ["cluster", "mixture", "distances"] {
        let outcome = sandbox.lehr(&[command, "large.npy", "--out", "o"]);
        assert_eq!(outcome.code, 4, "{}", outcome.stderr);
        let words =
            "error: large.npy: expected rows that fit in memory, found 2.0 TiB of numbers\nhint: with --spill FOLDER";
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        assert!(!sandbox.path("o").exists());
    }
}
