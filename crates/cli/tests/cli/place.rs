//! `lehr place`: new items in a map of others; what it refuses, and how it is stopped and gone on with.

use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use super::distances::many;
use super::sandbox::Sandbox;

const RESULTS: [&str; 4] = ["positions.csv", "positions.npy", "report.html", "summary.json"];

/// Rows in the plane of `x` and `y`, which stands askew in three columns, with names.
fn rows(names: impl Iterator<Item = (String, f64, f64)>) -> String {
    "name,a,b,c\n".to_owned() + &names.map(|(name, x, y)| format!("{name},{x},{y},{}\n", x + y)).collect::<String>()
}

fn known() -> Vec<(String, f64, f64)> {
    (0..40).map(|i| (format!("k{i}"), f64::from(i % 8), f64::from(i / 8) * 1.5 + f64::from(i % 3) * 0.1)).collect()
}

fn new() -> Vec<(String, f64, f64)> {
    (0..25).map(|i| (format!("n{i}"), f64::from(i % 5) * 1.3 + 0.2, f64::from(i / 5) + 0.35)).collect()
}

const HOW: [&str; 4] = ["--columns", "a,b,c", "--id", "name"];

/// Known rows with a map of them in `map`, and new ones.
fn with_a_map() -> Sandbox {
    let sandbox = Sandbox::with("known.csv", rows(known().into_iter()));
    sandbox.write("new.csv", rows(new().into_iter()));
    let line = [&["distances", "known.csv", "--element", "f64", "--out", "d", "--quiet"], &HOW[..]].concat();
    sandbox.lehr(&line).succeeded();
    let line = ["embed", "d/dissimilarities.json", "--tolerance", "1e-14", "--out", "map", "--quiet"];
    sandbox.lehr(&line).succeeded();
    sandbox
}

/// The rows of a table of positions: id, x, y, and what follows.
fn positions(sandbox: &Sandbox, folder: &str) -> Vec<(String, Vec<f64>)> {
    let text = sandbox.read(&format!("{folder}/positions.csv"));
    let row = |line: &str| {
        let mut cells = line.split(',');
        let id = cells.next().unwrap().to_owned();
        // The name of the nearest item is the last cell of a placed item.
        (id, cells.filter_map(|cell| cell.parse().ok()).collect())
    };
    text.lines().skip(1).map(row).collect()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn a_sample_is_compared_and_the_whole_file_is_placed_on_its_map() {
    let sandbox = Sandbox::with("rows.csv", rows(known().into_iter().chain(new())));
    let line = ["distances", "rows.csv", "--sample", "30", "--element", "f64", "--out", "d"];
    let outcome = sandbox.lehr(&[&line[..], &HOW].concat()).succeeded();
    assert!(outcome.stdout.starts_with("30 items, a sample of 65, euclidean of 435 pairs; "), "{}", outcome.stdout);
    let header: serde_json::Value = serde_json::from_str(&sandbox.read("d/dissimilarities.json")).unwrap();
    assert_eq!((&header["items"], &header["sampled_from"]), (&30.into(), &65.into()));
    let ids = sandbox.read("d/ids.csv");
    let ids: Vec<&str> = ids.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!(ids.len() == 30 && ids.iter().any(|id| id.starts_with('k')) && ids.iter().any(|id| id.starts_with('n')));
    let line = ["embed", "d/dissimilarities.json", "--tolerance", "1e-14", "--out", "map", "--quiet"];
    sandbox.lehr(&line).succeeded();
    sandbox.lehr(&[&["place", "rows.csv", "--map", "map", "--out", "p", "--quiet"], &HOW[..]].concat()).succeeded();
    let (map, placed) = (positions(&sandbox, "map"), positions(&sandbox, "p"));
    assert_eq!(placed.len(), 65);
    for (id, at) in &placed {
        // The rows lie in a plane, so a map of two dimensions is exact.
        assert!(at[2] < 1e-4, "{id}: {at:?}");
        if let Some((_, mapped)) = map.iter().find(|(of_map, _)| of_map == id) {
            assert_eq!(mapped[..2], at[..2]);
        }
    }
    let line = ["distances", "d/dissimilarities.json", "--sample", "3", "--out", "e"];
    let refused = sandbox.lehr(&line);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--sample compares items; the input holds a matrix"), "{}", refused.stderr);
}

#[test]
fn new_rows_are_placed_where_their_distances_say() {
    let sandbox = with_a_map();
    let line =
        [&["place", "new.csv", "--map", "map", "--among", "known.csv", "--out", "p", "--quiet"], &HOW[..]].concat();
    let outcome = sandbox.lehr(&line).succeeded();
    assert!(outcome.stdout.starts_with("25 items placed in 2 dimensions among 40 items; error"), "{}", outcome.stdout);
    assert_eq!(sandbox.list("p"), RESULTS);
    assert!(sandbox.read("p/positions.csv").starts_with("id,x,y,error,nearest\nn0,"));
    let table = sandbox.read("p/positions.csv");
    for (line, (name, x, y)) in table.lines().skip(1).zip(new()) {
        // The rows are `x`, `y` and their sum.
        let apart = |a: f64, b: f64| (a * a + b * b + (a + b) * (a + b)).sqrt();
        let by_distance = known().into_iter().map(|(name, a, b)| (apart(x - a, y - b), name));
        let (_, nearest) = by_distance.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        assert!(line.starts_with(&format!("{name},")) && line.ends_with(&format!(",{nearest}")), "{line}: {nearest}");
    }
    let (map, placed) = (positions(&sandbox, "map"), positions(&sandbox, "p"));
    for ((name, at), (_, x, y)) in placed.iter().zip(new()) {
        for ((_, place), (_, a, b)) in map.iter().zip(known()) {
            let (x, y) = (x - a, y - b);
            let distance = (x * x + y * y + (x + y) * (x + y)).sqrt();
            assert!((apart(at, place) - distance).abs() < 1e-4, "{name}: {} for {distance}", apart(at, place));
        }
        assert!(at[2] < 1e-4, "{name}: {}", at[2]);
    }
    let summary = sandbox.summary("p");
    assert_eq!(summary["input"]["items_of_the_map"], 40);
    assert_eq!(summary["input"]["metric"], "euclidean");

    // Whoever computes, the same bytes; --json says the summary.
    let line = [&line[..], &["--threads", "3", "--json"]].concat();
    let line: Vec<&str> = line.into_iter().map(|word| if word == "p" { "q" } else { word }).collect();
    let json: serde_json::Value = serde_json::from_str(&sandbox.lehr(&line).succeeded().stdout).unwrap();
    assert_eq!(json["result"], summary["result"]);
    for name in &RESULTS[..2] {
        let read = |folder: &str| std::fs::read(sandbox.path(&format!("{folder}/{name}"))).unwrap();
        assert!(read("p") == read("q"), "{name}");
    }
}

#[test]
fn new_items_have_the_classes_of_their_nearest_items_if_the_map_has_classes_32() {
    let sandbox = with_a_map();
    // The half of each known item, but for one, which has none.
    let half = |name: &str, x: f64| match name {
        "k9" => "",
        _ if x < 3.5 => "left",
        _ => "right",
    };
    let halves: String = known().iter().map(|(name, x, _)| format!("{name},{},{x}\n", half(name, *x))).collect();
    sandbox.write("halves.csv", format!("id,half,x\n{halves}"));
    let line =
        ["embed", "d/dissimilarities.json", "--labels", "halves.csv", "--by", "half,x", "--out", "map", "--quiet"];
    sandbox.lehr(&line).succeeded();
    sandbox.lehr(&["place", "new.csv", "--map", "map", "--among", "known.csv", "--out", "p", "--quiet"]).succeeded();
    let table = sandbox.read("p/positions.csv");
    // Classes may have the name of a coordinate.
    assert!(sandbox.read("map/positions.csv").starts_with("id,x,y,stress,half,x_\n"));
    assert!(table.starts_with("id,x,y,error,nearest,nearest_half,nearest_x\n"), "{table}");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    for row in &rows {
        let (name, x, _) = known().into_iter().find(|(name, ..)| name == row[4]).unwrap();
        assert_eq!((row[5], row[6].parse()), (half(&name, x), Ok(x)), "{row:?}");
    }
    for class in ["", "left", "right"] {
        assert!(rows.iter().any(|row| row[5] == class), "{class}: {table}");
    }
    assert!(page(&sandbox, "p").contains("its half</th>"));
}

#[test]
fn items_of_the_map_stay_where_they_are_and_are_found_in_the_file_itself() {
    let sandbox = with_a_map();
    // Those of the map between others, in another order.
    let mut all: Vec<_> = known().into_iter().rev().zip(new()).flat_map(|(a, b)| [a, b]).collect();
    all.extend(known().into_iter().take(15));
    sandbox.write("all.csv", rows(all.into_iter()));
    let line = [&["place", "all.csv", "--map", "map", "--out", "p", "--quiet"], &HOW[..]].concat();
    sandbox.lehr(&line).succeeded();
    let (map, placed) = (positions(&sandbox, "map"), positions(&sandbox, "p"));
    assert_eq!(placed.len(), 65);
    for (id, at) in &map {
        let again = placed.iter().find(|(name, _)| name == id).unwrap();
        assert_eq!(again.1[..2], at[..2], "{id}");
    }
}

#[test]
fn standardised_rows_are_scaled_as_those_of_the_map() {
    let sandbox = Sandbox::with("known.csv", rows(known().into_iter()));
    sandbox.write("new.csv", rows(known().into_iter().skip(3).take(1)));
    let how = [&HOW[..], &["--standardize"]].concat();
    sandbox
        .lehr(&[&["distances", "known.csv", "--element", "f64", "--out", "d", "--quiet"], &how[..]].concat())
        .succeeded();
    sandbox.lehr(&["embed", "d/dissimilarities.json", "--out", "map", "--quiet"]).succeeded();
    let line =
        [&["place", "new.csv", "--map", "map", "--among", "known.csv", "--out", "p", "--quiet"], &how[..]].concat();
    sandbox.lehr(&line).succeeded();
    // By its own mean and deviation one row would be 0 everywhere.
    assert_eq!(positions(&sandbox, "p")[0].1[..2], positions(&sandbox, "map")[3].1[..2]);
}

#[test]
fn what_does_not_belong_to_the_map_is_told() {
    let sandbox = with_a_map();
    let place =
        |more: &[&str]| sandbox.lehr(&[&["place", "new.csv", "--map", "map", "--out", "p"], &HOW[..], more].concat());
    let told = |more: &[&str], code: i32, words: &[&str]| {
        let outcome = place(more);
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        words.iter().for_each(|word| assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr));
        assert!(!sandbox.path("p").exists());
    };
    told(&[], 3, &["new.csv: expected the items of the map in map; 40 of 40 are missing: k0, k1", "k9, …", "--among"]);
    told(
        &["--among", "known.csv", "--metric", "manhattan"],
        2,
        &["--metric: the map in map uses euclidean, but you requested manhattan", "hint: leave this option out"],
    );
    told(&["--among", "known.csv", "--neighbours", "2"], 2, &["--neighbours 2: expected more than the 2 dimensions"]);
    told(
        &["--among", "known.csv", "--metric", "hamming"],
        2,
        &["--metric: expected one of rows, found hamming, which is one of sequences"],
    );
    told(&["--among", "known.csv", "--metric", "gower"], 2, &["found gower, whose ranges are those of all rows"]);
    sandbox.write("new.csv", "name,a,b,c\nn1,,,\n");
    told(&["--among", "known.csv"], 3, &["new.csv: no item has enough known dissimilarities", "to be placed: n1"]);
    sandbox.write("new.csv", "name,a,b\nn0,1,2\n");
    told(&["--among", "known.csv"], 3, &["column", "c"]);
    sandbox.write("map/summary.json", "{}");
    told(&["--among", "known.csv"], 3, &["expected the summary of a map that lehr embed made"]);
    std::fs::remove_file(sandbox.path("map/summary.json")).unwrap();
    told(&["--among", "known.csv"], 4, &["--map takes the folder that lehr embed wrote"]);
    let matrix = sandbox.lehr(&["place", "d/dissimilarities.json", "--map", "map"]);
    assert_eq!(matrix.code, 2);
    assert!(matrix.stderr.contains("expected items, found a matrix"), "{}", matrix.stderr);
}

#[test]
fn other_columns_than_the_maps_are_told() {
    let sandbox = with_a_map();
    let line = ["place", "new.csv", "--map", "map", "--among", "known.csv", "--out", "p", "--id", "name", "--quiet"];
    let told = |more: &[&str], code: i32, words: &str| {
        let outcome = sandbox.lehr(&[&line[..], more].concat());
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with(&format!("error: {words}")), "{}", outcome.stderr);
        assert!(!sandbox.path("p").exists());
    };
    // Both files have them; the map is of others.
    told(&["--columns", "a,b"], 2, "--columns: the map in map uses the columns a, b, c, but you requested a, b\n");
    told(
        &["--standardize"],
        2,
        "--standardize: the map in map uses columns as they are, but you requested columns to be scaled\n",
    );
    // More than the map's in the new file, then in both: those of the map are compared.
    let more = |text: String| {
        text.replacen("a,b,c", "a,b,c,d", 1).replacen("\n", "\t", 1).replace('\n', ",1\n").replacen('\t', "\n", 1)
    };
    sandbox.write("new.csv", more(rows(new().into_iter())));
    sandbox.lehr(&line).succeeded();
    let placed = sandbox.read("p/positions.csv");
    sandbox.write("known.csv", more(rows(known().into_iter())));
    sandbox.lehr(&line).succeeded();
    assert_eq!(sandbox.read("p/positions.csv"), placed);
    std::fs::remove_dir_all(sandbox.path("p")).unwrap();
    told(
        &["--columns", "a,b,c,d"],
        2,
        "--columns: the map in map uses the columns a, b, c, but you requested a, b, c, d\n",
    );
    // The same in another order are the same distances.
    sandbox.lehr(&[&line[..], &["--columns", "c,a,b"]].concat()).succeeded();
}

/// The page of a folder.
fn page(sandbox: &Sandbox, folder: &str) -> String {
    sandbox.read(&format!("{folder}/report.html"))
}

#[test]
fn the_maps_own_options_are_taken_where_none_are_given_32() {
    let sandbox = Sandbox::with("old.fasta", many());
    let of = |first: usize, count: usize| -> String {
        let text = sandbox.read("old.fasta");
        let records: Vec<&str> = text.split_inclusive('>').collect();
        // What follows the k-th `>`, which itself ends the piece before.
        let records = records[first..=first + count].concat();
        format!(">{}", records.trim_matches('>'))
    };
    sandbox.write("sample.fasta", of(1, 60));
    sandbox.write("new.fasta", of(61, 5));
    let how = ["--alignment", "semi-global", "--gap-open", "7", "--gap-extend", "2", "--matrix", "5/-4"];
    sandbox.lehr(&[&["distances", "sample.fasta", "--out", "d", "--quiet"], &how[..]].concat()).succeeded();
    sandbox.lehr(&["embed", "d/dissimilarities.json", "--out", "map", "--quiet"]).succeeded();
    let line = ["place", "new.fasta", "--map", "map", "--among", "sample.fasta", "--quiet", "--out"];
    let outcome = sandbox.lehr(&[&line[..], &["p"]].concat()).succeeded();
    assert!(outcome.stdout.ends_with("report: p/report.html\n"), "{}", outcome.stdout);
    sandbox.lehr(&[&line[..], &["q"], &how[..]].concat()).succeeded();
    assert_eq!(sandbox.read("p/positions.csv"), sandbox.read("q/positions.csv"));
    let parameters = &sandbox.summary("p")["input"]["metric_parameters"];
    assert!(parameters["alignment"] == "semi-global" && parameters["gap_open"] == 7, "{parameters}");
    // One that differs is named.
    let outcome = sandbox.lehr(&[&line[..], &["r", "--gap-open", "14"]].concat());
    let said = "error: --gap-open: the map in map uses 7, but you requested 14\n\
                hint: leave this option out: lehr place compares items as the map does\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (2, said));
    // Items of another kind than the map's.
    sandbox.write("rows.csv", rows(new().into_iter()));
    let outcome = sandbox.lehr(&["place", "rows.csv", "--map", "map", "--among", "sample.fasta"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("rows.csv: expected items of the kind in the map in map, found rows"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_page_has_old_and_new_items_with_their_names_and_errors_32() {
    let sandbox = with_a_map();
    // Ids and columns are those of the map.
    sandbox.lehr(&["place", "new.csv", "--map", "map", "--among", "known.csv", "--out", "p", "--quiet"]).succeeded();
    let text = page(&sandbox, "p");
    for part in [
        "25 items placed among 40",
        "\"of the map\",\"new\"",
        "\"rows\":65",
        "\"k39\",\"n0\"",
        "nearest item of the map",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // Beside the new item 0.2, 0.35 the nearest of the map is the first.
    assert!(text.contains("<td class=\"words\">n0</td>"));
    assert!(text.split("<td class=\"words\">n0</td>").nth(1).unwrap().contains("<td class=\"words\">k0</td>"));
    // A file that has the items of the map too: each is drawn once.
    let all: Vec<_> = known().into_iter().chain(new()).collect();
    sandbox.write("all.csv", rows(all.into_iter()));
    sandbox.lehr(&["place", "all.csv", "--map", "map", "--out", "q", "--quiet"]).succeeded();
    assert!(page(&sandbox, "q").contains("\"rows\":65"));
}

#[test]
fn an_item_that_too_little_is_known_of_is_left_out_and_named_32() {
    let sandbox = with_a_map();
    let line = ["place", "new.csv", "--map", "map", "--among", "known.csv", "--quiet", "--out"];
    let text = sandbox.read("new.csv");
    sandbox.lehr(&[&line[..], &["whole"]].concat()).succeeded();
    sandbox.write("new.csv", text.clone() + "odd,,,\n");
    let outcome = sandbox.lehr(&[&line[..], &["p"]].concat()).succeeded();
    let warning = "warning: 1 item has too few known dissimilarities to the map, and no position: odd\n";
    assert_eq!(outcome.stderr, warning);
    assert!(outcome.stdout.starts_with("25 items placed in 2 dimensions"), "{}", outcome.stdout);
    assert_eq!(sandbox.read("p/positions.csv"), sandbox.read("whole/positions.csv") + "odd,,,,\n");
    let summary = sandbox.summary("p");
    assert!(summary["input"]["items"] == 26 && summary["result"]["placed"] == 25, "{summary}");
    assert!(page(&sandbox, "p").contains("1 without a position"));
}

#[test]
fn items_of_the_map_that_cannot_be_told_apart_are_told() {
    let sandbox = with_a_map();
    let place = |map: &str, among: &str| {
        sandbox
            .lehr(&[&["place", "new.csv", "--map", map, "--among", among, "--out", "p", "--quiet"], &HOW[..]].concat())
    };
    // Another k7, and one that is the same.
    let mut twice = known();
    twice.push(("k7".to_owned(), 30.0, 1.0));
    sandbox.write("twice.csv", rows(twice.into_iter()));
    let outcome = place("map", "twice.csv");
    assert_eq!(outcome.code, 3);
    let words = "error: twice.csv: expected each id once, since items of the map are found by them; found \"k7\" in rows 8 and 41\n";
    assert_eq!(outcome.stderr, words);
    let mut same = known();
    same.push(known()[7].clone());
    sandbox.write("same.csv", rows(same.into_iter()));
    place("map", "same.csv").succeeded();
    // A map of items that share an id can be placed in by the file that it was made of alone.
    let shared: Vec<_> = known().into_iter().map(|(name, x, y)| (name.replace("k39", "k0"), x, y)).collect();
    sandbox.write("shared.csv", rows(shared.clone().into_iter()));
    sandbox
        .lehr(&[&["distances", "shared.csv", "--element", "f64", "--out", "s", "--quiet"], &HOW[..]].concat())
        .succeeded();
    sandbox.lehr(&["embed", "s/dissimilarities.json", "--out", "shared", "--quiet"]).succeeded();
    place("shared", "shared.csv").succeeded();
    sandbox.write("turned.csv", rows(shared.into_iter().rev()));
    let outcome = place("shared", "turned.csv");
    assert_eq!(outcome.code, 3);
    assert!(
        outcome.stderr.contains("shared/positions.csv: expected each id once")
            && outcome.stderr.contains("rows 1 and 40"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn ctrl_c_keeps_what_is_placed_and_going_on_gives_the_same_bytes() {
    let sandbox = Sandbox::with("many.fasta", many());
    let text = sandbox.read("many.fasta");
    let sample: Vec<&str> = text.split_inclusive('>').collect();
    // What follows the k-th `>`, which itself ends the piece before.
    let sample: String = sample[..=120].concat();
    sandbox.write("sample.fasta", sample.trim_end_matches('>'));
    sandbox.lehr(&["distances", "sample.fasta", "--out", "d", "--quiet"]).succeeded();
    sandbox.lehr(&["embed", "d/dissimilarities.json", "--out", "map", "--quiet"]).succeeded();
    let line = ["place", "many.fasta", "--map", "map", "--among", "sample.fasta", "--out", "p", "--threads", "1"];
    let mut child = sandbox.start(&line);
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    assert!(reader.read_line(&mut first).unwrap() > 0, "the run ended before it was stopped");
    assert!(first.contains(" of 640 items"), "{first}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("continue with: lehr place many.fasta --map map"), "{rest}");
    assert_eq!(sandbox.list("p"), ["checkpoint"]);

    // In the way of another run; of no use with other options; gone on with.
    assert_eq!(sandbox.lehr(&line).code, 4);
    let resume = ["place", "many.fasta", "--map", "map", "--among", "sample.fasta", "--resume", "p", "--quiet"];
    let other = sandbox.lehr(&[&resume[..], &["--neighbours", "12"]].concat());
    assert_eq!(other.code, 3, "{}", other.stderr);
    assert!(other.stderr.contains("other items, another map or other options"), "{}", other.stderr);
    sandbox.lehr(&resume).succeeded();
    assert_eq!(sandbox.list("p"), RESULTS);
    let whole: Vec<&str> = line.iter().map(|word| if *word == "p" { "whole" } else { *word }).collect();
    sandbox.lehr(&[&whole[..], &["--quiet"]].concat()).succeeded();
    for name in &RESULTS[..2] {
        let read = |folder: &str| std::fs::read(sandbox.path(&format!("{folder}/{name}"))).unwrap();
        assert!(read("p") == read("whole"), "{name}");
    }
}
