//! The command in several processes, started by `mpiexec`: the same bytes on any layout, one voice, one end.
//!
//! `LEHR_MPIEXEC` names the launcher; `make mpi` installs one and sets it. `cargo test` alone has none, and leaves
//! these tests out.
#![allow(clippy::disallowed_methods, reason = "the environment says which launcher the tests use")]

#[path = "launched/node.rs"]
mod node;
#[path = "launched/services.rs"]
mod services;
#[path = "cli/trace_file.rs"]
mod trace_file;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A folder with a table of six groups.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "x,y,weight\n".to_owned();
    for row in 0..3000_u32 {
        // Around six places, spread by a fixed pattern.
        let (group, spread) = (row % 6, row.wrapping_mul(2_654_435_761) >> 16);
        let (x, y) = (group * 7 % 5 * 10, group * 11 % 7 * 10);
        let (dx, dy) = (spread & 0xff, spread >> 8 & 0xff);
        table += &format!("{}.{dx:03},{}.{dy:03},{}\n", x, y, 1 + row % 3);
    }
    fs::write(folder.path().join("table.csv"), table).unwrap();
    folder
}

/// `lehr` in so many processes, in a folder.
fn command(folder: &Path, processes: usize, arguments: &[&str]) -> Command {
    let launcher = std::env::var("LEHR_MPIEXEC")
        .expect("LEHR_MPIEXEC names an mpiexec whose library has the MPI standard ABI; run make mpi");
    let mut command = Command::new(launcher);
    command.args(["-n", &processes.to_string(), env!("CARGO_BIN_EXE_lehr")]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn lehr(folder: &Path, processes: usize, arguments: &[&str]) -> Output {
    command(folder, processes, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn expect_success(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

/// The results whose bytes must not depend on the layout, in `out`.
fn tables(folder: &Path, out: &str) -> [Vec<u8>; 2] {
    ["labels.csv", "centers.csv"].map(|name| fs::read(folder.join(out).join(name)).unwrap())
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn results_have_the_same_bytes_on_any_layout() {
    let folder = folder();
    let (texts, _) = lehr_data::synthetic::topics(6, 50, 300, 20, 1);
    let text = |row: usize| {
        let (columns, values) = texts.row(row);
        columns.iter().zip(values).map(|(column, value)| format!(" {column}:{value}")).collect::<String>()
    };
    let lines: String = (0..texts.len()).map(|row| format!("1{}\n", text(row))).collect();
    fs::write(folder.path().join("texts.svm"), lines).unwrap();
    let table = ["table.csv", "--weights", "weight"];
    for (name, input, method) in [
        ("da", &table[..], &["--method", "da"][..]),
        ("kmeans", &table, &["--method", "kmeans"]),
        ("sponge", &table, &["--outlier-radius", "0.15"]),
        ("sparse", &["texts.svm"], &["--method", "da"]),
    ] {
        let run = |layout: &str, processes: usize| {
            let out = format!("{name}-{layout}");
            let arguments =
                [&["cluster"][..], input, &["-k", "6", "-q"], method, &["--out", &out, "--layout", layout]].concat();
            if processes == 1 {
                let mut alone = Command::new(env!("CARGO_BIN_EXE_lehr"));
                expect_success(&alone.args(arguments).current_dir(&folder).output().unwrap());
            } else {
                expect_success(&lehr(folder.path(), processes, &arguments));
            }
            let summary: serde_json::Value =
                serde_json::from_slice(&fs::read(folder.path().join(&out).join("summary.json")).unwrap()).unwrap();
            assert_eq!(summary["execution"]["layout"], layout);
            (tables(folder.path(), &out), summary["result"].clone())
        };
        let one = run("1x1x1", 1);
        for (layout, processes) in [("4x1x1", 1), ("1x4x1", 4), ("2x2x1", 2), ("1x1x3", 3)] {
            assert!(run(layout, processes) == one, "{name}: {layout} gives the bytes of 1x1x1");
        }
    }
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn mixtures_have_the_same_bytes_on_any_layout() {
    let folder = folder();
    let run = |layout: &str, processes: usize| {
        let arguments =
            ["mixture", "table.csv", "--weights", "weight", "-k", "4", "-q", "--out", layout, "--layout", layout];
        if processes == 1 {
            let alone = Command::new(env!("CARGO_BIN_EXE_lehr")).args(arguments).current_dir(&folder).output().unwrap();
            expect_success(&alone);
        } else {
            expect_success(&lehr(folder.path(), processes, &arguments));
        }
        ["labels.csv", "components.csv"].map(|name| fs::read(folder.path().join(layout).join(name)).unwrap())
    };
    let one = run("1x1x1", 1);
    for (layout, processes) in [("1x4x1", 4), ("2x2x1", 2), ("1x1x3", 3)] {
        assert!(run(layout, processes) == one, "{layout} gives the bytes of 1x1x1");
    }
    // What is wrong is said once, and all end.
    let refused = lehr(folder.path(), 3, &["mixture", "table.csv", "-k", "4000", "-q", "--out", "refused"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    assert_eq!(text(&refused.stderr).matches("error: ").count(), 1, "{}", text(&refused.stderr));
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn maps_have_the_same_bytes_on_any_layout() {
    let folder = folder();
    let run = |layout: &str, processes: usize| {
        let arguments = [
            "gtm",
            "table.csv",
            "--weights",
            "weight",
            "--nodes",
            "6",
            "--basis",
            "3",
            "-q",
            "--out",
            layout,
            "--layout",
            layout,
        ];
        if processes == 1 {
            let alone = Command::new(env!("CARGO_BIN_EXE_lehr")).args(arguments).current_dir(&folder).output().unwrap();
            expect_success(&alone);
        } else {
            expect_success(&lehr(folder.path(), processes, &arguments));
        }
        ["places.csv", "nodes.csv", "model.json"].map(|name| fs::read(folder.path().join(layout).join(name)).unwrap())
    };
    let one = run("1x1x1", 1);
    for (layout, processes) in [("1x4x1", 4), ("2x2x1", 2), ("1x1x3", 3)] {
        assert!(run(layout, processes) == one, "{layout} gives the bytes of 1x1x1");
    }
    // What is wrong is said once, and all end.
    let refused = lehr(folder.path(), 3, &["gtm", "table.csv", "--dimensions", "4", "-q", "--out", "refused"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert_eq!(text(&refused.stderr).matches("error: ").count(), 1, "{}", text(&refused.stderr));
    // Before an order is given.
    let refused = lehr(folder.path(), 2, &["predict", "model.json", "table.csv"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn every_process_writes_the_rows_of_its_ranks_with_their_identifiers() {
    let folder = folder();
    let table = fs::read_to_string(folder.path().join("table.csv")).unwrap();
    let named: String = table
        .lines()
        .enumerate()
        .map(|(row, line)| if row == 0 { format!("name,{line}\n") } else { format!("\"row, {row}\",{line}\n") })
        .collect();
    fs::write(folder.path().join("named.csv"), named).unwrap();
    let line = ["cluster", "named.csv", "--id", "name", "--weights", "weight", "-k", "6", "-q", "--out"];
    let alone = Command::new(env!("CARGO_BIN_EXE_lehr"))
        .args(line)
        .args(["one", "--threads", "1"])
        .current_dir(&folder)
        .output()
        .unwrap();
    expect_success(&alone);
    expect_success(&lehr(folder.path(), 3, &[&line[..], &["three", "--ranks", "2"]].concat()));
    let one = tables(folder.path(), "one");
    assert!(text(&one[0]).contains("\"row, 3000\","));
    assert!(tables(folder.path(), "three") == one);
    let mut names: Vec<_> =
        fs::read_dir(folder.path().join("three")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let written =
        ["centers.csv", "labels.csv", "marks.csv", "model.json", "outliers.csv", "report.html", "summary.json"];
    assert_eq!(names, written, "no temporary file stays");
}

/// Relatives of one sequence, and a table with gaps.
fn items() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let letter = |at: usize| char::from(b"ACGT"[at.wrapping_mul(2_654_435_761) >> 7 & 3]);
    let genes: String = (0..150)
        .map(|row| {
            let text: String =
                (0..60).map(|at| letter(if (row * 31 + at) % 11 == 0 { row % 140 * 1000 + at } else { at })).collect();
            format!(">s{row}\n{text}\n")
        })
        .collect();
    fs::write(folder.path().join("genes.fasta"), genes).unwrap();
    let cell = |row: usize, column: usize| match (row * 7 + column * 3) % 10 {
        0 => String::new(),
        _ => format!("{}.{}", row * 13 % 29, column * 17 % 10),
    };
    let rows: String = (0..120).map(|row| format!("{},{},{}\n", cell(row, 0), cell(row, 1), cell(row, 2))).collect();
    fs::write(folder.path().join("records.csv"), format!("x,y,z\n{rows}")).unwrap();
    let prints: String =
        (0..110_u32).map(|row| format!("{:08x}\tc{row}\n", row.wrapping_mul(2_654_435_761) | 1)).collect();
    fs::write(folder.path().join("compounds.fps"), format!("#FPS1\n#num_bits=32\n{prints}")).unwrap();
    folder
}

/// The files of a matrix in `out`.
fn matrix(folder: &Path, out: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder.join(out))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn dissimilarities_have_the_same_bytes_on_any_layout() {
    let folder = items();
    for (name, line) in [
        ("genes", &["distances", "genes.fasta", "--collapse"][..]),
        ("global", &["distances", "genes.fasta", "--alignment", "global", "--metric", "kimura", "--element", "f64"]),
        ("given", &["distances", "genes.fasta", "--metric", "hamming", "--element", "u16"]),
        ("records", &["distances", "records.csv", "--standardize", "--form", "condensed"]),
        ("compounds", &["distances", "compounds.fps", "--element", "i16be"]),
    ] {
        let run = |layout: &str, processes: usize| {
            let out = format!("{name}-{layout}");
            let line = [line, &["-q", "--out", &out, "--layout", layout]].concat();
            if processes == 1 {
                let alone = Command::new(env!("CARGO_BIN_EXE_lehr")).args(line).current_dir(&folder).output().unwrap();
                expect_success(&alone);
            } else {
                expect_success(&lehr(folder.path(), processes, &line));
            }
            matrix(folder.path(), &out)
        };
        let one = run("1x1x1", 1);
        assert!(one.len() >= 3, "{one:?}");
        for (layout, processes) in [("4x1x1", 1), ("1x4x1", 4), ("2x2x1", 2)] {
            assert!(run(layout, processes) == one, "{name}: {layout} gives the bytes of 1x1x1");
        }
    }
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn dissimilarities_as_map_reduce_in_several_processes_are_the_same() {
    let folder = items();
    let line = ["distances", "genes.fasta", "-q", "--out"];
    expect_success(&lehr(folder.path(), 2, &[&line[..], &["ranks"]].concat()));
    expect_success(&lehr(folder.path(), 3, &[&line[..], &["reduced", "--engine", "map-reduce"]].concat()));
    assert!(matrix(folder.path(), "ranks") == matrix(folder.path(), "reduced"));
}

/// Runs `lehr` in as many processes as the layout has.
fn in_layout(folder: &Path, layout: &str, processes: usize, line: &[&str]) {
    let line = [line, &["-q", "--layout", layout]].concat();
    if processes == 1 {
        expect_success(&Command::new(env!("CARGO_BIN_EXE_lehr")).args(line).current_dir(folder).output().unwrap());
    } else {
        expect_success(&lehr(folder, processes, &line));
    }
}

/// The files of a run in `out`, without what depends on how it was computed and how long that took.
fn found(folder: &Path, out: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = matrix(folder, out);
    files.retain(|(name, _)| name != "report.html");
    let (_, summary) = files.iter_mut().find(|(name, _)| name == "summary.json").unwrap();
    let mut parsed: serde_json::Value = serde_json::from_slice(summary).unwrap();
    let members = parsed.as_object_mut().unwrap();
    members.remove("execution").unwrap();
    members.remove("seconds").unwrap();
    *summary = parsed.to_string().into_bytes();
    files
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn clusters_and_maps_of_a_matrix_have_the_same_bytes_on_any_layout() {
    let folder = items();
    for (out, more, runs) in [
        ("plain", &[] as &[&str], [&["pairwise", "-k", "5"][..], &["embed", "-d", "3"]]),
        (
            "weighted",
            &["--collapse", "--element", "u16", "--form", "condensed"],
            [&["pairwise", "-k", "3"], &["embed", "--weighting", "sammon"]],
        ),
        (
            "double",
            &["--element", "f64", "--form", "condensed"],
            [&["pairwise", "--max-clusters", "4"], &["embed", "--init", "random", "--n-init", "2"]],
        ),
    ] {
        let line = [&["distances", "genes.fasta", "-q", "--out", out][..], more].concat();
        expect_success(&Command::new(env!("CARGO_BIN_EXE_lehr")).args(line).current_dir(&folder).output().unwrap());
        let input = format!("{out}/dissimilarities.npy");
        for line in runs {
            let run = |layout: &str, processes: usize| {
                let out = format!("{out}-{}-{layout}", line[0]);
                in_layout(folder.path(), layout, processes, &[line, &[&input, "--out", &out]].concat());
                found(folder.path(), &out)
            };
            let one = run("1x1x1", 1);
            assert_eq!(one.len(), 4, "{one:?}");
            for (layout, processes) in [("1x3x1", 3), ("2x2x1", 2)] {
                assert!(run(layout, processes) == one, "{out}, {line:?}: {layout} gives the bytes of 1x1x1");
            }
        }
    }
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn clusters_and_maps_as_map_reduce_in_several_processes_are_the_same() {
    let folder = items();
    let line = ["distances", "records.csv", "-q", "--out", "d"];
    expect_success(&lehr(folder.path(), 2, &line));
    for line in
        [&["pairwise", "d/dissimilarities.json", "-k", "4", "-q"][..], &["embed", "d/dissimilarities.json", "-q"]]
    {
        let run = |out: &str, engine: &str| {
            expect_success(&lehr(folder.path(), 3, &[line, &["--out", out, "--engine", engine]].concat()));
            found(folder.path(), out)
        };
        let (a, b) = (format!("{}-a", line[0]), format!("{}-b", line[0]));
        assert!(run(&a, "ranks") == run(&b, "map-reduce"), "{line:?}");
    }
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn an_application_has_the_same_bytes_on_any_layout() {
    let folder = tempfile::tempdir().unwrap();
    for subject in ["genes", "patients"] {
        let run = |layout: &str, processes: usize| {
            let out = format!("{subject}-{layout}");
            let line = ["demo", subject, "--items", "100", "-k", "3", "--out", &out];
            in_layout(folder.path(), layout, processes, &line);
            found(folder.path(), &out)
        };
        let one = run("1x1x1", 1);
        assert_eq!(one.len(), 8, "{one:?}");
        for (layout, processes) in [("3x1x1", 1), ("1x3x1", 3), ("2x2x1", 2)] {
            assert!(run(layout, processes) == one, "{subject}: {layout} gives the bytes of 1x1x1");
        }
    }
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn an_interrupt_stops_a_map_in_all_processes_and_one_says_so() {
    let folder = items();
    expect_success(&lehr(folder.path(), 2, &["distances", "records.csv", "-q", "--out", "d"]));
    // More starts than anybody waits for.
    let line = [
        "embed",
        "d/dissimilarities.json",
        "--start",
        "random",
        "--n-init",
        "10000",
        "--tolerance",
        "1e-15",
        "--out",
        "e",
    ];
    let mut child = command(folder.path(), 3, &line).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    while !first.contains("iteration") {
        first.clear();
        assert_ne!(lines.read_line(&mut first).unwrap(), 0, "the run ended before it was stopped");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let said: Vec<String> = lines.lines().map(Result::unwrap).collect();
    assert!(!child.wait().unwrap().success());
    assert_eq!(said.iter().filter(|line| line.contains("checkpoint saved in")).count(), 1, "{said:?}");
    assert!(folder.path().join("e/checkpoint").is_file());
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn one_process_says_what_is_wrong_with_a_matrix_and_all_end() {
    let folder = items();
    expect_success(&lehr(folder.path(), 2, &["distances", "records.csv", "-q", "--out", "d"]));
    let refused = |line: &[&str], code: i32, words: &str| {
        let failed = lehr(folder.path(), 3, line);
        assert_eq!(failed.status.code(), Some(code), "{line:?}: {}", text(&failed.stderr));
        assert_eq!(text(&failed.stderr).matches("error: ").count(), 1, "{}", text(&failed.stderr));
        assert!(text(&failed.stderr).contains(words), "{}", text(&failed.stderr));
    };
    refused(&["pairwise", "nowhere.npy"], 4, "nowhere.npy");
    // Known only with the matrix: all processes find it.
    refused(&["pairwise", "d/dissimilarities.json", "-k", "121"], 3, "you requested 121 clusters, but only 120");
    refused(&["embed", "d/dissimilarities.json", "--engine", "loop"], 2, "--engine loop runs in one process");
    refused(&["demo", "genes", "--items", "1"], 2, "--items: expected 2 to 9892");
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn dissimilarities_are_stopped_and_gone_on_with_by_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let letter = |at: usize| char::from(b"ACGT"[at.wrapping_mul(2_654_435_761) >> 7 & 3]);
    // Some seconds of work in eleven steps.
    let genes: String = (0..640)
        .map(|row| {
            let text: String =
                (0..200).map(|at| letter(if (row * 31 + at) % 11 == 0 { row * 1000 + at } else { at })).collect();
            format!(">s{row}\n{text}\n")
        })
        .collect();
    fs::write(folder.path().join("genes.fasta"), genes).unwrap();
    let mut child = command(folder.path(), 3, &["distances", "genes.fasta", "--out", "d"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains('%') {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the run ended before it was stopped");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let said: Vec<String> = lines.lines().map(Result::unwrap).collect();
    assert!(!child.wait().unwrap().success());
    assert_eq!(said.iter().filter(|line| line.contains("what is finished is in")).count(), 1, "{said:?}");
    expect_success(&lehr(folder.path(), 2, &["distances", "genes.fasta", "--resume", "d", "-q"]));
    let whole = ["distances", "genes.fasta", "--out", "whole", "-q"];
    expect_success(&Command::new(env!("CARGO_BIN_EXE_lehr")).args(whole).current_dir(&folder).output().unwrap());
    assert!(matrix(folder.path(), "d") == matrix(folder.path(), "whole"));
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn one_process_says_what_is_wrong_with_items_and_all_end() {
    let folder = items();
    let failed = lehr(folder.path(), 3, &["distances", "nowhere.fasta"]);
    assert_eq!(failed.status.code(), Some(4), "{}", text(&failed.stderr));
    assert_eq!(text(&failed.stderr).matches("error: ").count(), 1, "{}", text(&failed.stderr));
    fs::write(folder.path().join("wrong.fasta"), ">a\nAC1T\n>b\nACGT\n").unwrap();
    let failed = lehr(folder.path(), 2, &["distances", "wrong.fasta", "--alphabet", "dna"]);
    assert_eq!(failed.status.code(), Some(3), "{}", text(&failed.stderr));
    // What needs no computing is done by the lead alone.
    fs::write(folder.path().join("group.bin"), [0, 0, 0, 9, 0, 9, 0, 0]).unwrap();
    expect_success(&lehr(folder.path(), 2, &["distances", "group.bin", "-q", "--out", "group"]));
    assert_eq!(matrix(folder.path(), "group").len(), 3);
    let done = lehr(folder.path(), 2, &["distances", "records.csv", "--out", "rows"]);
    expect_success(&done);
    assert_eq!(text(&done.stdout).matches("120 items").count(), 1, "{}", text(&done.stdout));
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn one_process_speaks() {
    let folder = folder();
    let done = lehr(folder.path(), 3, &["cluster", "table.csv", "-k", "6", "--out", "out"]);
    expect_success(&done);
    assert_eq!(text(&done.stdout).matches("report: ").count(), 1, "{}", text(&done.stdout));
    let failed = lehr(folder.path(), 3, &["cluster", "nowhere.csv", "-k", "6"]);
    assert_eq!(failed.status.code(), Some(4), "{}", text(&failed.stderr));
    assert_eq!(text(&failed.stderr).trim(), "error: nowhere.csv: no such file");
    let mistyped = lehr(folder.path(), 3, &["cluster", "table.csv", "--clutsers", "6"]);
    assert_eq!(mistyped.status.code(), Some(2));
    assert_eq!(text(&mistyped.stderr).matches("error: ").count(), 1, "{}", text(&mistyped.stderr));
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn a_layout_of_other_processes_is_refused() {
    let folder = folder();
    let failed = lehr(folder.path(), 2, &["cluster", "table.csv", "-k", "6", "--layout", "1x4x1"]);
    assert_eq!(failed.status.code(), Some(2), "{}", text(&failed.stderr));
    assert!(
        text(&failed.stderr).contains("--layout 1x4x1 has 4 processes, and mpiexec started 2"),
        "{}",
        text(&failed.stderr)
    );
    let failed = lehr(folder.path(), 2, &["cluster", "table.csv", "-k", "6", "--engine", "loop"]);
    assert_eq!(failed.status.code(), Some(2), "{}", text(&failed.stderr));
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn processes_without_a_library_do_not_compute_alone() {
    let folder = folder();
    let failed = command(folder.path(), 2, &["cluster", "table.csv", "-k", "6"])
        .env("LEHR_MPI_LIBRARY", "nowhere/libmpi_abi.so.1")
        .output()
        .unwrap();
    assert_eq!(failed.status.code(), Some(4), "{}", text(&failed.stderr));
    assert_eq!(text(&failed.stderr).matches("no MPI library").count(), 1, "{}", text(&failed.stderr));
    assert!(!folder.path().join("lehr-out").exists());
}

/// Starts a run that lasts until it is stopped, and waits until the first line of progress.
fn start(folder: &Path) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child =
        command(folder, 3, &["cluster", "table.csv", "--stop-length", "1e-9", "--out", "out"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains('%') {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the run ended before it was stopped");
    }
    (child, lines)
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn an_interrupt_stops_all_with_one_word_and_a_checkpoint() {
    let folder = folder();
    let (mut child, lines) = start(folder.path());
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let said: Vec<String> = lines.lines().map(Result::unwrap).collect();
    assert!(!child.wait().unwrap().success());
    assert_eq!(said.iter().filter(|line| line.contains("checkpoint saved in")).count(), 1, "{said:?}");
    assert!(folder.path().join("out/checkpoint").is_file());
}

/// The processes of `lehr` below a process of this system that have none below them: those that compute, each with a
/// supervisor above it.
#[cfg(target_os = "linux")]
fn computing_below(ancestor: u32) -> Vec<u32> {
    let (mut parents, mut of_lehr) = (std::collections::BTreeMap::new(), Vec::new());
    for entry in fs::read_dir("/proc").unwrap() {
        let Ok(id) = entry.unwrap().file_name().to_string_lossy().parse::<u32>() else { continue };
        // Name in parentheses, state, parent. Processes that are not ours may end meanwhile.
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        let (head, tail) = stat.rsplit_once(')').unwrap();
        parents.insert(id, tail.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap());
        if head.ends_with("(lehr") {
            of_lehr.push(id);
        }
    }
    of_lehr.retain(|&id| {
        let mut above = parents.get(&id);
        while let Some(&parent) = above.filter(|&&parent| parent != ancestor) {
            above = parents.get(&parent);
        }
        above.is_some() && !parents.values().any(|&parent| parent == id)
    });
    of_lehr
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn a_process_that_is_killed_ends_all_with_one_message_that_names_it() {
    let folder = folder();
    let (mut child, lines) = start(folder.path());
    let computing = computing_below(child.id());
    assert_eq!(computing.len(), 3, "{computing:?}");
    let victim = computing[1].to_string();
    assert!(Command::new("kill").args(["-KILL", &victim]).status().unwrap().success());
    let said: Vec<String> = lines.lines().map(Result::unwrap).collect();
    assert!(!child.wait().unwrap().success());
    let told: Vec<_> = said.iter().filter(|line| line.contains("was ended by signal 9")).collect();
    assert!(told.len() == 1 && told[0].contains(&format!(" of 3 (process ID {victim}")), "{said:?}");
    assert!(!folder.path().join("out/labels.csv").exists());
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn a_trace_has_the_ranks_of_all_processes_on_one_time() {
    let folder = folder();
    for engine in ["ranks", "map-reduce"] {
        let line = ["cluster", "table.csv", "-k", "6", "-q", "--out", engine, "--engine", engine, "--layout", "2x2x1"];
        expect_success(&lehr(folder.path(), 2, &[&line[..], &["--trace", "trace.json"]].concat()));
        let text = fs::read_to_string(folder.path().join("trace.json")).unwrap();
        let tracks = trace_file::tracks(&text);
        assert_eq!(tracks.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
        for track in tracks.values() {
            trace_file::expect_nested(track);
            for category in ["phase", "compute", "communication", "wait"] {
                assert!(track.iter().any(|span| span.0 == category), "{engine}: {category}");
            }
        }
        assert!(text.contains("process of ranks 0 to 1") && text.contains("process of ranks 2 to 3"));
        assert!(tables(folder.path(), engine) == tables(folder.path(), "ranks"));
    }
}
