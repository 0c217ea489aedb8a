//! The sessions that the guide shows are run, and must print what it says.

use std::fs;
use std::path::Path;

use lehr_data::synthetic::{Component, gaussian_mixture};

use super::sandbox::Sandbox;

/// Lines without how long it took.
fn timeless(text: &str) -> String {
    let line = |line: &str| line.split_once(" after ").map_or(line, |(line, _)| line).trim_end().to_owned() + "\n";
    text.trim_end().lines().map(line).collect()
}

#[test]
fn the_guide_to_maps_shows_what_the_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sandbox = Sandbox::with("iris.csv", fs::read(root.join("datasets/iris/iris.csv")).unwrap());
    let guide = fs::read_to_string(root.join("docs/guide/maps.md")).unwrap();
    let sessions: Vec<&str> = guide
        .split("```console\n")
        .skip(1)
        .flat_map(|block| block.split("```").next().unwrap().split("$ lehr ").skip(1))
        .collect();
    assert_eq!(sessions.len(), 3, "distances, pairwise, embed");
    for session in sessions {
        let (line, expected) = session.split_once('\n').unwrap();
        let words: Vec<&str> = line.split_whitespace().chain(["--quiet"]).collect();
        let outcome = sandbox.lehr(&words).succeeded();
        assert_eq!(timeless(&outcome.stdout), timeless(expected), "lehr {line}");
    }
    assert!(sandbox.list("iris-map").contains(&"report.html".to_owned()));
}

/// The words of a line, as a shell parts them: quotes keep spaces.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    parts.fold(vec![String::new()], |mut words, (place, part)| {
        if place % 2 == 1 {
            words.last_mut().unwrap().push_str(part);
        } else {
            let mut pieces = part.split(' ');
            words.last_mut().unwrap().push_str(pieces.next().unwrap_or_default());
            words.extend(pieces.map(str::to_owned));
        }
        words
    })
}

/// What a line of a guide prints on a terminal: `lehr …`, `head -N FILE`, or the first `| head -N` of either.
fn printed(sandbox: &Sandbox, line: &str) -> String {
    let (line, head) = line.split_once(" | head -").map_or((line, None), |(line, count)| (line, Some(count)));
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let text = match words[..] {
        ["lehr", ref arguments @ ..] => {
            let outcome = sandbox.lehr(arguments).succeeded();
            // Progress is shown of runs that take a while.
            let is_progress =
                |line: &str| line.contains(" %, annealing, ") || line.starts_with("choosing the number, ");
            let told = outcome.stderr.lines().filter(|line| !is_progress(line));
            told.map(|line| format!("{line}\n")).collect::<String>() + &outcome.stdout
        }
        ["head", count, file] => {
            let count: usize = count.trim_start_matches('-').parse().unwrap();
            sandbox.read(file).lines().take(count).map(|line| format!("{line}\n")).collect()
        }
        _ => panic!("{line}"),
    };
    match head {
        Some(count) => text.lines().take(count.parse().unwrap()).map(|line| format!("{line}\n")).collect(),
        None => text,
    }
}

/// Runs the sessions of a page; with `UPDATE_EXPECT=1` writes what they print into it. Says how many there were.
fn check_page(name: &str, sandbox: &Sandbox) -> usize {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(name);
    let guide = fs::read_to_string(&page).unwrap();
    let mut blocks = guide.split("```console\n");
    let mut found = blocks.next().unwrap().to_owned();
    let mut commands = 0;
    for block in blocks {
        let (session, rest) = block.split_once("```").unwrap();
        let line = session.lines().next().unwrap();
        commands += 1;
        let text = printed(sandbox, line.strip_prefix("$ ").unwrap());
        found += &format!("```console\n{line}\n{}```{rest}", timeless(&text));
    }
    expect_test::expect_file![page].assert_eq(&found);
    commands
}

#[test]
fn the_guide_to_the_number_of_clusters_shows_what_the_commands_print() {
    let iris = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/iris/iris.csv");
    let sandbox = Sandbox::with("iris.csv", fs::read(iris).unwrap());
    let one = Component { center: vec![0.0, 0.0], deviation: 1.0, weight: 1.0 };
    let (cloud, _) = gaussian_mixture(500, &[one], 0);
    let rows: String = cloud.values().chunks_exact(2).map(|row| format!("{:.4},{:.4}\n", row[0], row[1])).collect();
    sandbox.write("cloud.csv", format!("x,y\n{rows}"));
    assert_eq!(check_page("clusters.md", &sandbox), 2);
}

#[test]
fn the_guide_to_a_first_table_shows_what_the_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sandbox = Sandbox::new();
    for name in ["penguins.csv", "next_season.csv"] {
        sandbox.write(name, fs::read(root.join("datasets/penguins").join(name)).unwrap());
    }
    let commands = check_page("first-table.md", &sandbox);
    assert!((4..10).contains(&commands), "{commands}");
    assert!(sandbox.list("penguins").contains(&"report.html".to_owned()));
    // What the page says of the result: 218 of 224 birds are with their species, and so many of the next season.
    let together = |table: &str, labels: &str| -> usize {
        let species = table.lines().skip(1).map(|line| line.split(',').nth(2).unwrap());
        let clusters = labels.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
        let pairs: Vec<(&str, &str)> = species.zip(clusters).collect();
        let of = |species: &str, cluster: &str| pairs.iter().filter(|pair| **pair == (species, cluster)).count();
        let all = |species: &str| ["0", "1", "2"].map(|cluster| of(species, cluster)).into_iter().max().unwrap();
        let names: std::collections::BTreeSet<&str> = pairs.iter().map(|pair| pair.0).collect();
        names.into_iter().map(all).sum()
    };
    assert_eq!(together(&sandbox.read("penguins.csv"), &sandbox.read("penguins/labels.csv")), 218);
    let next = printed(&sandbox, "lehr predict penguins/model.json next_season.csv --id \"Individual ID\"");
    assert_eq!(together(&sandbox.read("next_season.csv"), &next), 117);
}
