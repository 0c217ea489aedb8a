//! `lehr demo genes`, `lehr demo patients` and `lehr demo chemistry`: that they are three commands in one run, whether
//! that is a workflow or not, what they say of classes and features, and that they stop and go on.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use lehr_data::datasets;

use super::sandbox::Sandbox;
use super::services::Served;

const RESULTS: [&str; 9] = [
    "clusters.csv",
    "dissimilarities.json",
    "dissimilarities.npy",
    "ids.csv",
    "labels.csv",
    "positions.csv",
    "positions.npy",
    "report.html",
    "summary.json",
];

/// The files that do not say how long it took.
const TABLES: [&str; 7] = [
    "clusters.csv",
    "dissimilarities.json",
    "dissimilarities.npy",
    "ids.csv",
    "labels.csv",
    "positions.csv",
    "positions.npy",
];

fn same(sandbox: &Sandbox, a: &str, b: &str, names: &[&str]) {
    for name in names {
        let read = |folder: &str| std::fs::read(sandbox.path(&format!("{folder}/{name}"))).unwrap();
        assert!(read(a) == read(b), "{name} in {a} and {b}");
    }
}

/// Lines of a table but the head, as fields.
fn rows(sandbox: &Sandbox, name: &str) -> Vec<Vec<String>> {
    sandbox.read(name).lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn genes_are_three_commands_in_one_run() {
    let (all, subfamilies) = datasets::alu_repeats();
    let chosen = || (0..90).map(|item| item * all.len() / 90);
    let mut fasta = String::new();
    for row in chosen() {
        let letters = String::from_utf8(all.sequence(row).to_vec()).unwrap();
        writeln!(fasta, ">{} {}\n{letters}", all.ids()[row], subfamilies[row]).unwrap();
    }
    let sandbox = Sandbox::with("genes.fasta", fasta);
    let outcome = sandbox.lehr(&["demo", "genes", "--items", "90", "--quiet"]).succeeded();
    assert_eq!(sandbox.list("lehr-genes"), RESULTS);
    sandbox.lehr(&["distances", "genes.fasta", "--out", "d", "--quiet"]).succeeded();
    sandbox.lehr(&["pairwise", "d/dissimilarities.json", "-k", "3", "--out", "d", "--quiet"]).succeeded();
    let line = ["embed", "d/dissimilarities.json", "-d", "3", "--labels", "d/labels.csv", "--out", "e", "--quiet"];
    sandbox.lehr(&line).succeeded();
    same(&sandbox, "lehr-genes", "d", &["dissimilarities.npy", "labels.csv", "clusters.csv"]);
    same(&sandbox, "lehr-genes", "e", &["positions.csv", "positions.npy"]);

    // What is known of the sequences, and how the clusters agree with it, pair by pair.
    let ids = rows(&sandbox, "lehr-genes/ids.csv");
    let families: Vec<&str> = ids.iter().map(|row| row[2].as_str()).collect();
    assert!(chosen().zip(&families).all(|(row, family)| subfamilies[row].starts_with(family)));
    let clusters: Vec<String> =
        rows(&sandbox, "lehr-genes/labels.csv").into_iter().map(|mut row| row.remove(1)).collect();
    let (mut both, mut ours, mut theirs, mut pairs) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..90 {
        for j in i + 1..90 {
            let (same, akin) = (clusters[i] == clusters[j], families[i] == families[j]);
            pairs += 1.0;
            both += f64::from(same && akin);
            ours += f64::from(same);
            theirs += f64::from(akin);
        }
    }
    let index = (both - ours * theirs / pairs) / ((ours + theirs) / 2.0 - ours * theirs / pairs);
    let summary = sandbox.summary("lehr-genes");
    let agreement = &summary["agreement"];
    assert!((agreement["adjusted_rand"].as_f64().unwrap() - index).abs() < 1e-12, "{agreement} and {index}");
    assert_eq!((&agreement["with"], &agreement["classes"][2]), (&"family".into(), &"AluY".into()));
    let count = |cluster: &str, family: &str| {
        let members = clusters.iter().zip(&families);
        members.filter(|(of, class)| of.as_str() == cluster && **class == family).count()
    };
    assert_eq!(agreement["counts"][1][0], count("1", "AluJ"));
    let stages: Vec<&str> =
        summary["seconds"]["stages"].as_array().unwrap().iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["reading", "comparing", "clustering", "mapping", "writing the tables", "writing the report"]);
    assert!(
        outcome.stdout.starts_with("90 sequences in 3 clusters, a map in 3 dimensions of stress "),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("clusters and known family agree by an adjusted Rand index of "));

    let page = sandbox.read("lehr-genes/report.html");
    for words in
        ["AluJ", "Clusters and known classes", "The time of each stage", "\"names\":[\"AluJ\"", "Shepard diagram"]
    {
        assert!(page.contains(words), "{words}");
    }
    let (words, _) = sandbox.page("lehr-genes/report.html");
    assert!(!words.contains("http://") && !words.contains("https://"));
}

#[test]
fn compounds_are_three_commands_in_one_run_and_active_ones_are_counted() {
    let (all, compounds) = datasets::compounds();
    let chosen: Vec<usize> = (0..120).map(|item| item * all.len() / 120).collect();
    let (mut fps, mut screen) = (String::from("#FPS1\n#num_bits=1047\n"), String::from("id\tsmiles\tactive\n"));
    for &row in &chosen {
        let bytes = all.row(row).iter().flat_map(|word| word.to_le_bytes()).take(131);
        bytes.for_each(|byte| write!(fps, "{byte:02x}").unwrap());
        writeln!(fps, "\t{}", all.ids()[row]).unwrap();
        let is_active = u8::from(compounds[row].activity != "CI");
        writeln!(screen, "{}\t{}\t{is_active}", all.ids()[row], compounds[row].smiles).unwrap();
    }
    let sandbox = Sandbox::with("keys.fps", fps);
    sandbox.write("screen.tsv", screen);
    let outcome = sandbox.lehr(&["demo", "chemistry", "--items", "120", "-k", "4", "--quiet"]).succeeded();
    assert_eq!(sandbox.list("lehr-chemistry"), RESULTS);
    sandbox.lehr(&["distances", "keys.fps", "--out", "d", "--quiet"]).succeeded();
    sandbox.lehr(&["pairwise", "d/dissimilarities.json", "-k", "4", "--out", "d", "--quiet"]).succeeded();
    same(&sandbox, "lehr-chemistry", "d", &["dissimilarities.npy", "labels.csv", "clusters.csv"]);
    // The same compounds from files, one stage after the other.
    let line = [
        "demo",
        "chemistry",
        "--fingerprints",
        "keys.fps",
        "--activities",
        "screen.tsv",
        "--items",
        "120",
        "-k",
        "4",
        "--quiet",
        "--out",
        "own",
    ];
    sandbox.lehr(&line).succeeded();
    same(
        &sandbox,
        "lehr-chemistry",
        "own",
        &["dissimilarities.npy", "labels.csv", "clusters.csv", "positions.csv", "ids.csv"],
    );

    let clusters: Vec<String> =
        rows(&sandbox, "lehr-chemistry/labels.csv").into_iter().map(|mut row| row.remove(1)).collect();
    let is_active = |item: usize| compounds[chosen[item]].activity != "CI";
    let active = (0..120).filter(|item| is_active(*item)).count();
    assert!(active > 0, "there is something to find");
    let summary = sandbox.summary("lehr-chemistry");
    let enrichment = &summary["enrichment"];
    assert_eq!((&enrichment["items"], &enrichment["active"]), (&120.into(), &active.into()));
    for cluster in 0..4 {
        let members = || (0..120).filter(|item| clusters[*item] == cluster.to_string());
        let share = &enrichment["clusters"][cluster];
        let (count, found) = (members().count(), members().filter(|item| is_active(*item)).count());
        assert_eq!((&share["items"], &share["active"]), (&count.into(), &found.into()));
        let factor = found as f64 / count as f64 / (active as f64 / 120.0);
        assert!((share["factor"].as_f64().unwrap() - factor).abs() < 1e-9);
        assert!((0.0..=1.0).contains(&share["chance"].as_f64().unwrap()));
    }
    assert!(
        outcome.stdout.starts_with("120 compounds in 4 clusters, a map in 3 dimensions of stress "),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("times as frequent as in all"), "{}", outcome.stdout);
    let page = sandbox.read("lehr-chemistry/report.html");
    for words in [
        "Where the active compounds are",
        "class=\"words\">medoid</th>",
        "\"names\":[\"inactive\",\"active\"]",
        "The time of each stage",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("adjusted Rand") && !page.contains("{{"));
    let refused = sandbox.lehr(&["demo", "chemistry", "--fingerprints", "keys.fps", "--quiet", "--out", "n"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--activities"), "{}", refused.stderr);
}

#[test]
fn patients_are_three_commands_in_one_run_and_clusters_have_marks() {
    let all = datasets::patients();
    let mut table = format!("row,{}\n", all.columns().join(","));
    for row in (0..120).map(|item| item * all.len() / 120) {
        let field = |value: &f64| if value.is_nan() { String::new() } else { value.to_string() };
        let fields: Vec<String> = all.row(row).iter().map(field).collect();
        writeln!(table, "{},{}", all.ids().unwrap()[row], fields.join(",")).unwrap();
    }
    let sandbox = Sandbox::with("patients.csv", table);
    let line = ["demo", "patients", "--items", "120", "-k", "4", "-d", "2", "--out", "p", "--quiet"];
    sandbox.lehr(&line).succeeded();
    assert_eq!(sandbox.list("p"), RESULTS);
    let line = ["distances", "patients.csv", "--id", "row", "--standardize", "--out", "d", "--quiet"];
    sandbox.lehr(&line).succeeded();
    same(&sandbox, "p", "d", &["dissimilarities.npy", "ids.csv"]);
    let summary = sandbox.summary("p");
    assert_eq!(summary["agreement"], serde_json::Value::Null);
    let marks = summary["clusters"][0]["marks"].as_array().unwrap();
    let means: Vec<f64> = marks.iter().map(|mark| mark["mean"].as_f64().unwrap().abs()).collect();
    assert!(means.len() == 6 && means.is_sorted_by(|a, b| a >= b), "{marks:?}");
    let feature = marks[0]["feature"].as_str().unwrap();
    assert!(all.columns().iter().any(|column| column == feature));
    assert!(sandbox.read("p/report.html").contains("What marks the clusters"));
}

/// The first is a workflow over services; jobs have one engine, so the others are stage after stage.
#[test]
fn an_application_has_the_same_bytes_as_a_workflow_and_on_any_engine() {
    let sandbox = Sandbox::new();
    for (out, more) in [
        ("a", &["--threads", "1"][..]),
        ("b", &["--engine", "loop", "--threads", "2"]),
        ("c", &["--ranks", "3", "--engine", "map-reduce"]),
    ] {
        let line = ["demo", "patients", "--items", "150", "-k", "3", "--quiet", "--out", out];
        sandbox.lehr(&[&line[..], more].concat()).succeeded();
    }
    for other in ["b", "c"] {
        same(&sandbox, "a", other, &TABLES);
        let found = |folder: &str| {
            let mut summary = sandbox.summary(folder);
            let members = summary.as_object_mut().unwrap();
            members.remove("execution");
            members.remove("seconds");
            summary
        };
        assert_eq!(found("a"), found(other));
    }
}

#[test]
fn ctrl_c_keeps_the_pairs_that_were_compared() {
    let sandbox = Sandbox::new();
    let line = ["demo", "genes", "--items", "640"];
    sandbox.lehr(&[&line[..], &["--out", "whole", "--quiet"]].concat()).succeeded();
    // Stopped as a workflow and gone on with as stages, and the other way round.
    for (out, first, then) in [("g", &[][..], &["--engine", "loop"][..]), ("h", &["--engine", "loop"], &[])] {
        let typed = [&line[..], first, &["--out", out]].concat();
        let mut child = sandbox.start(&typed);
        while !sandbox.path(&format!("{out}/checkpoint")).exists() {
            assert_eq!(child.try_wait().unwrap(), None, "the run ended before it was stopped");
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
        let go_on = [&line[..], first, &["--resume", out]].concat();
        assert!(said.contains(&format!("continue with: lehr {}", go_on.join(" "))), "{said}");
        assert_eq!(sandbox.list(out), ["checkpoint"]);
        // In the way of another run; of no use for other items; gone on with, whoever computes.
        assert_eq!(sandbox.lehr(&typed).code, 4);
        let other = [&["demo", "genes", "--items", "641", "--resume", out][..], then].concat();
        let other = sandbox.lehr(&other);
        assert_eq!(other.code, 3, "{}", other.stderr);
        let again = [&line[..], then, &["--resume", out, "--quiet"]].concat();
        sandbox.lehr(&again).succeeded();
        assert_eq!(sandbox.list(out), RESULTS);
        assert_eq!(sandbox.summary(out)["execution"]["resumed"], true);
        same(&sandbox, out, "whole", &TABLES);
    }
}

/// Begins a demonstration, and interrupts it when its checkpoint has at least so many bytes. Its exit code and what it
/// said.
fn interrupted(mut child: std::process::Child, checkpoint: &Path, bytes: u64) -> (Option<i32>, String) {
    while std::fs::metadata(checkpoint).map_or(0, |file| file.len()) < bytes {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before it was stopped");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn what_was_compared_is_taken_over_into_another_folder() {
    let sandbox = Sandbox::new();
    for (out, engine) in [("a", &[][..]), ("b", &["--engine", "loop"])] {
        let line = ["demo", "genes", "--items", "640"];
        let child = sandbox.start(&[&line[..], engine, &["--out", out]].concat());
        let path = sandbox.path(&format!("{out}/checkpoint"));
        let (code, said) = interrupted(child, &path, 1);
        assert_eq!(code, Some(130), "{said}");
        // The values of the first record become one that is none of theirs: who finds it in the result knows that they
        // were not computed again.
        let mark = (1023.0f32 / 1024.0).to_le_bytes();
        let mut log = std::fs::read(&path).unwrap();
        let head = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
        let length = u64::from_le_bytes(log[head..][..8].try_into().unwrap()) as usize;
        log[head + 16..][..length].chunks_exact_mut(4).for_each(|value| value.copy_from_slice(&mark));
        let hash = xxhash_rust::xxh3::xxh3_64(&log[head + 16..][..length]);
        log[head + 8..][..8].copy_from_slice(&hash.to_le_bytes());
        std::fs::write(&path, &log).unwrap();
        let other = format!("{out}-other");
        let again = [&line[..], engine, &["--resume", out, "--out", &other, "--quiet"]].concat();
        sandbox.lehr(&again).succeeded();
        assert_eq!(sandbox.list(&other), RESULTS);
        assert_eq!(sandbox.summary(&other)["execution"]["resumed"], true);
        // What was stopped is as it was.
        assert_eq!(std::fs::read(&path).unwrap(), log);
        let array = std::fs::read(sandbox.path(&format!("{other}/dissimilarities.npy"))).unwrap();
        assert!(array.rchunks_exact(4).any(|value| *value == mark), "{other}");
    }
}

#[cfg(unix)]
#[test]
fn a_checkpoint_that_cannot_be_written_is_not_said_to_be_saved() {
    // Files of at most 100 blocks of 512 bytes: a sixteenth of the pairs.
    const LIMIT: u64 = 100 * 512;
    let sandbox = Sandbox::new();
    for (out, engine) in [("a", &[][..]), ("b", &["--engine", "loop"])] {
        let line = [&["demo", "genes", "--items", "640", "--out", out][..], engine].concat();
        let limited = format!("trap '' XFSZ; ulimit -f 100; exec '{}' {}", env!("CARGO_BIN_EXE_lehr"), line.join(" "));
        let mut command = Command::new("sh");
        command.args(["-c", &limited]).current_dir(sandbox.path(".")).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (code, said) = interrupted(child, &sandbox.path(&format!("{out}/checkpoint")), LIMIT);
        assert_eq!(code, Some(130), "{said}");
        assert!(!said.contains("saved"), "{said}");
        let expected = format!("{out}/checkpoint has only part of what was finished: {out}/checkpoint: ");
        assert!(said.contains(&expected), "{said}");
        // What it has is good.
        let again = [&["demo", "genes", "--items", "640", "--resume", out, "--quiet"][..], engine].concat();
        sandbox.lehr(&again).succeeded();
        assert_eq!(sandbox.list(out), RESULTS);
    }
}

#[test]
fn a_checkpoint_that_is_given_up_is_of_no_consequence() {
    let sandbox = Sandbox::with("g/checkpoint", "of something else");
    let line = ["demo", "patients", "--items", "60", "-k", "2", "--out", "g", "--quiet"];
    assert_eq!(sandbox.lehr(&line).code, 4);
    sandbox.lehr(&[&line[..], &["--force"]].concat()).succeeded();
    assert_eq!(sandbox.list("g"), RESULTS);
}

#[test]
fn the_workflows_of_the_applications_run_alone_and_on_a_node() {
    let node = Served::start(&[
        "--start",
        "lehr/samples=/samples",
        "--start",
        "lehr.distances=/distances",
        "--start",
        "lehr.pairwise=/pairwise",
        "--start",
        "lehr.embedding=/embedding",
    ]);
    for (name, said) in [("genes", "60 of 9892 sequences, "), ("patients", "60 of 2944 adults, ")] {
        let sandbox = Sandbox::new();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../demos/workflows/{name}.toml"));
        let line = ["run", file.to_str().unwrap(), "--set", "items=60", "--set", "clusters=2", "--set", "dimension=2"];
        let alone = sandbox.lehr(&line).succeeded();
        let there = sandbox.lehr(&[&line[..], &["--node", &node.at(""), "--timeout", "86400"]].concat()).succeeded();
        assert_eq!(alone.stdout, there.stdout);
        assert!(alone.stdout.starts_with(said), "{}", alone.stdout);
        // The clusters are those of the demonstration, with what its report has besides.
        let demo = ["demo", name, "--items", "60", "-k", "2", "-d", "2", "--out", "demo", "--quiet"];
        sandbox.lehr(&demo).succeeded();
        let (_, table) = alone.stdout.split_once("\n\n").unwrap();
        let shown = sandbox.read("demo/clusters.csv");
        assert_eq!(table.lines().count(), shown.lines().count());
        for (row, shown) in table.lines().zip(shown.lines()) {
            assert!(row.starts_with(&format!("{shown},")), "{row}\n{shown}");
        }
        let summary = sandbox.summary("demo");
        assert!(alone.stdout.contains(&format!("of stress {}\n", summary["map"]["stress"])), "{}", alone.stdout);
    }
}

#[test]
fn what_cannot_be_meant_is_refused_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    for (line, code, words) in [
        (&["demo", "genes", "--items", "9893"][..], 2, "--items: expected 2 to 9892, as many as there are, found 9893"),
        (&["demo", "patients", "--items", "1"], 2, "--items: expected 2 to 2944"),
        (&["demo", "genes", "--items", "5", "-k", "6"], 3, "you requested 6 clusters, but only 5"),
        (&["demo", "genes", "-d", "65"], 2, "expected a whole number from 1 to 64"),
        (&["demo", "genes", "--resume", "nowhere"], 4, "nowhere/checkpoint: no such file"),
        (&["demo", "atlantis"], 2, "invalid value 'atlantis'"),
    ] {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{line:?}: {}", outcome.stderr);
        assert!(sandbox.list(".").is_empty(), "{line:?}: {:?}", sandbox.list("."));
    }
}
