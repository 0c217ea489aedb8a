//! Stopped runs: what Ctrl-C and worse leave behind, and that going on gives the same bytes as never having stopped.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output};

use super::sandbox::{CLUSTER_FILES, Outcome, Sandbox, census};

/// Census blocks with weights: long enough to be stopped in the middle.
const LINE: [&str; 9] =
    ["cluster", "blocks.csv.gz", "--columns", "lon,lat", "--weights", "pop", "--lonlat", "-k", "30"];

fn blocks() -> Sandbox {
    Sandbox::with("blocks.csv.gz", std::fs::read(census()).unwrap())
}

fn signal(child: &Child, name: &str) {
    let line = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
}

/// Starts a run, waits until it has reported `lines` lines of progress, and stops it with `SIGINT`.
fn stopped(sandbox: &Sandbox, arguments: &[&str], lines: usize) -> Outcome {
    stopped_at(sandbox, arguments, "temperature", lines)
}

/// The same of lines that contain a word.
fn stopped_at(sandbox: &Sandbox, arguments: &[&str], word: &str, lines: usize) -> Outcome {
    let mut child = sandbox.start(arguments);
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut stderr = Vec::new();
    while stderr.iter().filter(|line: &&String| line.contains(word)).count() < lines {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the run ended before it was stopped: {stderr:?}");
        stderr.push(line);
    }
    signal(&child, "INT");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    // Progress depends on the machine's speed; what is said about stopping does not.
    let said: String = rest.lines().filter(|line| !line.contains(" %, ")).map(|line| format!("{line}\n")).collect();
    Outcome::new(arguments, &Output { status, stdout, stderr: said.into_bytes() })
}

fn waits_for(path: &Path, child: &mut Child) {
    while !path.exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it had a checkpoint");
        std::thread::yield_now();
    }
}

fn tables(sandbox: &Sandbox, folder: &str) -> [String; 2] {
    ["labels.csv", "centers.csv"].map(|name| sandbox.read(&format!("{folder}/{name}")))
}

#[test]
fn ctrl_c_leaves_a_checkpoint_and_going_on_gives_the_same_bytes() {
    let sandbox = blocks();
    let outcome = stopped(&sandbox, &LINE, 1);
    outcome.matches_golden("stopped");
    assert_eq!(outcome.code, 130);
    assert_eq!(outcome.stdout, "");
    assert_eq!(sandbox.list("lehr-out"), ["checkpoint"]);
    let said = outcome.stderr.lines().find_map(|line| line.strip_prefix("hint: continue with: ")).unwrap().to_owned();

    // Started anew in the same folder, a run would lose the checkpoint: refused.
    let outcome = sandbox.lehr(&LINE);
    outcome.matches_golden("checkpoint_in_the_way");
    assert_eq!(outcome.code, 4);
    assert_eq!(sandbox.list("lehr-out"), ["checkpoint"]);

    // What was said about going on is done to the letter, on another engine.
    let line: Vec<&str> = said.split(' ').skip(1).chain(["--quiet", "--engine", "loop"]).collect();
    sandbox.lehr(&line).succeeded();
    assert_eq!(sandbox.list("lehr-out"), CLUSTER_FILES);
    assert_eq!(sandbox.summary("lehr-out")["execution"]["resumed"], true);

    sandbox.lehr(&[&LINE[..], &["--quiet", "--out", "whole"]].concat()).succeeded();
    assert!(tables(&sandbox, "lehr-out") == tables(&sandbox, "whole"), "the same bytes as without stopping");
    let found = |folder: &str| {
        let mut summary = sandbox.summary(folder);
        summary.as_object_mut().unwrap().retain(|key, _| key != "execution" && key != "seconds");
        summary
    };
    assert!(found("lehr-out") == found("whole"), "the same history, too");
}

#[test]
fn k_means_that_was_stopped_goes_on_too_and_knows_its_method() {
    let sandbox = blocks();
    let line = [&LINE[..], &["--method", "kmeans", "--n-init", "4", "--seed", "3"]].concat();
    let outcome = stopped_at(&sandbox, &line, "starts done", 1);
    assert_eq!((outcome.code, sandbox.list("lehr-out")), (130, vec!["checkpoint".to_owned()]));
    assert!(outcome.stderr.contains(" --method kmeans --n-init 4 --seed 3 --resume lehr-out"), "{}", outcome.stderr);

    let outcome = sandbox.lehr(&[&LINE[..], &["--method", "da", "--resume", "lehr-out"]].concat());
    assert_eq!(outcome.code, 2);
    let contradiction = "--method da contradicts the checkpoint, which has kmeans";
    assert!(outcome.stderr.contains(contradiction), "{}", outcome.stderr);
    let outcome = sandbox.lehr(&[&LINE[..], &["--n-init", "5", "--resume", "lehr-out"]].concat());
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("--n-init 5 contradicts the checkpoint, which has 4"), "{}", outcome.stderr);
    let outcome = sandbox.lehr(&[&LINE[..7], &["--stop-length", "5", "--resume", "lehr-out"]].concat());
    assert!(
        outcome.stderr.contains("--stop-length 5 contradicts the checkpoint, which has none"),
        "{}",
        outcome.stderr
    );

    // The method need not be said again.
    sandbox.lehr(&[&LINE[..7], &["--quiet", "--engine", "loop", "--resume", "lehr-out"]].concat()).succeeded();
    sandbox.lehr(&[&line[..], &["--quiet", "--out", "whole"]].concat()).succeeded();
    assert!(tables(&sandbox, "lehr-out") == tables(&sandbox, "whole"), "the same bytes as without stopping");
    assert_eq!(sandbox.summary("lehr-out")["result"], sandbox.summary("whole")["result"]);
}

#[test]
fn a_killed_run_goes_on_from_its_last_checkpoint() {
    let sandbox = blocks();
    // One thread, so that the run is long enough on any machine.
    let mut child = sandbox.start(&[&LINE[..], &["--quiet", "--threads", "1"]].concat());
    waits_for(&sandbox.path("lehr-out/checkpoint"), &mut child);
    signal(&child, "KILL");
    child.wait().unwrap();
    assert!(sandbox.list("lehr-out").iter().all(|name| name == "checkpoint" || name.starts_with('.')));
    sandbox.lehr(&[&LINE[..], &["--quiet", "--resume", "lehr-out", "--threads", "3"]].concat()).succeeded();
    assert_eq!(sandbox.list("lehr-out"), CLUSTER_FILES, "and what the killed run left half-written is gone");
    sandbox.lehr(&[&LINE[..], &["--quiet", "--out", "whole"]].concat()).succeeded();
    assert!(tables(&sandbox, "lehr-out") == tables(&sandbox, "whole"), "the same bytes as without the kill");
}

#[test]
fn a_checkpoint_is_refused_where_it_does_not_belong() {
    let sandbox = blocks();
    assert_eq!(stopped(&sandbox, &LINE, 1).code, 130);

    let outcome = sandbox.lehr(&[&LINE[..7], &["-k", "31", "--seed", "7", "--resume", "lehr-out"]].concat());
    outcome.matches_golden("resume_contradicting");
    assert_eq!(outcome.code, 2);

    let rows: String = (0..40).map(|row| format!("-1{:02},39,1\n", row * 7 % 60)).collect();
    sandbox.write("other.csv", format!("lon,lat,pop\n{rows}"));
    let other: Vec<&str> = LINE.iter().map(|word| if *word == "blocks.csv.gz" { "other.csv" } else { word }).collect();
    let outcome = sandbox.lehr(&[&other[..], &["--resume", "lehr-out"]].concat());
    outcome.matches_golden("resume_other_data");
    assert_eq!(outcome.code, 3);

    let checkpoint = std::fs::read(sandbox.path("lehr-out/checkpoint")).unwrap();
    sandbox.write("damaged/checkpoint", &checkpoint[..checkpoint.len() / 2]);
    let outcome = sandbox.lehr(&[&LINE[..], &["--resume", "damaged"]].concat());
    outcome.matches_golden("resume_damaged");
    assert_eq!(outcome.code, 3);

    let checkpoint = String::from_utf8(checkpoint).unwrap();
    let (_, after_format) = checkpoint.strip_prefix("lehr checkpoint ").unwrap().split_once(' ').unwrap();
    sandbox.write("newer/checkpoint", format!("lehr checkpoint 999 {after_format}"));
    let outcome = sandbox.lehr(&[&LINE[..], &["--resume", "newer"]].concat());
    outcome.matches_golden("resume_other_version");
    assert_eq!(outcome.code, 3);

    let outcome = sandbox.lehr(&[&LINE[..], &["--resume", "nowhere"]].concat());
    outcome.matches_golden("resume_nothing");
    assert_eq!(outcome.code, 4);
    assert_eq!(sandbox.list("lehr-out"), ["checkpoint"], "refusals leave the checkpoint alone");
}

#[test]
fn asked_twice_the_run_ends_without_results_too() {
    let sandbox = blocks();
    let mut child = sandbox.start(&[&LINE[..], &["--threads", "1"]].concat());
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("temperature") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the run ended before it was stopped");
    }
    signal(&child, "TERM");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(sandbox.list("lehr-out").iter().all(|name| name == "checkpoint" || name.starts_with('.')));
}
