//! The sessions that the guide shows are run, and must print what it says.

use std::fs;
use std::path::Path;

use super::sandbox::Sandbox;

/// Lines without how long it took.
fn timeless(text: &str) -> String {
    let line = |line: &str| line.split_once(" after ").map_or(line, |(line, _)| line).trim_end().to_owned() + "\n";
    text.trim_end().lines().map(line).collect()
}

/// A folder with the data sets, as a clone of the repository has them.
fn with_datasets() -> Sandbox {
    let sandbox = Sandbox::new();
    let datasets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    sandbox.shell(&format!("ln -s '{}' datasets", datasets.display())).succeeded();
    sandbox
}

/// Is a line of standard error part of a note or a warning? Others are the progress of a run that takes a while.
fn is_told(line: &str) -> bool {
    ["note: ", "warning: ", "      "].iter().any(|start| line.starts_with(start))
}

/// What a line of a guide prints on a terminal, without its progress.
fn printed(sandbox: &Sandbox, line: &str) -> String {
    let outcome = sandbox.shell(line).succeeded();
    let told = outcome.stderr.lines().filter(|line| is_told(line));
    told.map(|line| format!("{line}\n")).collect::<String>() + &outcome.stdout
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
        found += "```console\n";
        for line in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
            commands += 1;
            found += &format!("$ {line}\n{}", timeless(&printed(sandbox, line)));
        }
        found += &format!("```{rest}");
    }
    expect_test::expect_file![page].assert_eq(&found);
    commands
}

/// A picture that a page shows is the one that its command drew; with `UPDATE_EXPECT=1` it is replaced.
fn check_picture(name: &str, sandbox: &Sandbox) {
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/pictures").join(name);
    expect_test::expect_file![picture].assert_eq(&sandbox.read(name));
}

#[test]
fn guides_show_what_their_commands_print() {
    for page in ["clusters.md", "distances.md", "streams.md", "fingerprints.md", "sparse.md", "large-tables.md"] {
        assert!(check_page(page, &with_datasets()) > 1, "{page}");
    }
}

#[test]
fn guides_show_the_pictures_that_their_commands_draw() {
    for (page, picture) in [("maps.md", "iris-map.svg"), ("mixtures.md", "mixture.svg"), ("gtm.md", "wine-map.svg")] {
        let sandbox = with_datasets();
        assert!(check_page(page, &sandbox) > 1, "{page}");
        check_picture(picture, &sandbox);
    }
}

/// Is a line of a page among the printed lines? `…` stands for the words that the page leaves out.
fn is_among(shown: &str, printed: &str) -> bool {
    let parts: Vec<&str> = shown.split('…').map(str::trim).collect();
    printed.lines().any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn the_readme_shows_what_the_commands_print() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let (_, section) = readme.split_once("\n## The command\n").unwrap();
    let (section, _) = section.split_once("<!-- demo output: begin").unwrap();
    let sandbox = with_datasets();
    let mut text = String::new();
    for block in section.split("```console\n").skip(1) {
        for line in timeless(block.split_once("```").unwrap().0).lines() {
            match line.strip_prefix("$ ") {
                Some(command) => text += &timeless(&printed(&sandbox, command)),
                None => assert!(is_among(line, &text), "not printed: {line}\n{text}"),
            }
        }
    }
    assert!(sandbox.list("map").contains(&"report.html".to_owned()));
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
    // What the page says of the result: 217 of the 223 birds with a label are with their species, and so many of the
    // next season.
    let together = |table: &str, labels: &str| -> usize {
        let species = table.lines().skip(1).map(|line| line.split(',').nth(2).unwrap());
        let clusters = labels.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
        let pairs: Vec<(&str, &str)> = species.zip(clusters).collect();
        let of = |species: &str, cluster: &str| pairs.iter().filter(|pair| **pair == (species, cluster)).count();
        let all = |species: &str| ["0", "1", "2"].map(|cluster| of(species, cluster)).into_iter().max().unwrap();
        let names: std::collections::BTreeSet<&str> = pairs.iter().map(|pair| pair.0).collect();
        names.into_iter().map(all).sum()
    };
    assert_eq!(together(&sandbox.read("penguins.csv"), &sandbox.read("penguins/labels.csv")), 217);
    let next = printed(&sandbox, "lehr predict penguins/model.json next_season.csv --id \"Individual ID\" --quiet");
    assert_eq!(together(&sandbox.read("next_season.csv"), &next), 117);
}
