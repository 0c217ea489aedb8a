//! The command and its services under a real Slurm of several machines: `make slurm` starts one and runs these tests.
//!
//! `LEHR_SLURM_PRIVATE` names a folder that each machine has for itself; the machines share all other folders.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "the environment says where the cluster is")]

#[path = "launched/node.rs"]
mod node;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lehr_jobs::datasets::Open;
use lehr_jobs::jobs::{Cancel, Named, Order, Resume, Run, State};
use lehr_jobs::{Distances, Method, distances};
use lehr_runtime::block_on;

use node::{at, made, serve, until, wait, write_genes};

const LEHR: &str = env!("CARGO_BIN_EXE_lehr");

fn output(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let done = Command::new(program).args(arguments).current_dir(folder).output();
    done.unwrap_or_else(|error| panic!("{program}: {error}; make slurm starts a cluster for these tests"))
}

#[track_caller]
fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{all}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The command of a job that takes minutes, on the census blocks.
fn command() -> Vec<String> {
    let blocks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/census/blocks_nv_ut_wv_2020.csv.gz");
    let line = "cluster BLOCKS --columns lon,lat --lonlat --weights pop --id geoid --clusters 200 -q --out";
    line.split(' ').map(|word| word.replace("BLOCKS", &blocks.display().to_string())).collect()
}

#[test]
#[ignore = "needs a Slurm cluster: make slurm"]
fn a_job_that_its_time_limit_cuts_continues_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let command = command();
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    // Slurm looks at time limits every half minute, and signals at most a minute early.
    let options = ["job", "--nodes", "2", "--time", "1", "--grace", "50", "--restarts", "50", "--"];
    let script = text(&output(folder.path(), LEHR, &[&options[..], &words, &["cut"]].concat()));
    fs::write(folder.path().join("job.sh"), script).unwrap();
    let id = text(&output(folder.path(), "sbatch", &["--parsable", "--output=log", "--wait", "job.sh"]));
    let id = id.trim();
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    let about = text(&output(folder.path(), "scontrol", &["show", "job", id]));
    assert!(about.contains("JobState=COMPLETED"), "{about}{log}");
    let restarts = about.split_once("Restarts=").unwrap().1.split(' ').next().unwrap().parse::<u32>().unwrap();
    assert!(restarts >= 1, "the run ended within its first time limit: {log}");
    assert_eq!(log.matches("checkpoint saved in cut/checkpoint").count(), restarts as usize, "{log}");
    text(&output(folder.path(), LEHR, &[&words[..], &["whole", "--threads", "2"]].concat()));
    for table in ["labels.csv", "centers.csv", "outliers.csv"] {
        let read = |out: &str| fs::read(folder.path().join(out).join(table)).unwrap();
        assert!(read("cut") == read("whole"), "{table}");
    }
}

#[test]
#[ignore = "needs a Slurm cluster: make slurm"]
fn a_cancelled_job_keeps_its_checkpoint_and_is_not_returned_to_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let command = command();
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let script = text(&output(folder.path(), LEHR, &[&["job", "--"], &words[..], &["out"]].concat()));
    fs::write(folder.path().join("job.sh"), script).unwrap();
    let id = text(&output(folder.path(), "sbatch", &["--parsable", "--output=log", "job.sh"]));
    let state = |id: &str| {
        let shown = text(&output(folder.path(), "scontrol", &["show", "job", id]));
        shown.split_once("JobState=").unwrap().1.split_whitespace().next().unwrap().to_owned()
    };
    let pause = || std::thread::sleep(std::time::Duration::from_millis(200));
    // The command saves a checkpoint from time to time.
    while !folder.path().join("out/checkpoint").exists() {
        pause();
    }
    text(&output(folder.path(), "scancel", &[id.trim()]));
    while state(id.trim()) == "COMPLETING" || state(id.trim()) == "RUNNING" {
        pause();
    }
    assert_eq!(state(id.trim()), "CANCELLED", "{}", fs::read_to_string(folder.path().join("log")).unwrap());
    assert!(folder.path().join("out/checkpoint").exists());
}

/// The `lehr part` processes of jobs in this folder, without the supervisor above each, with the machine of each.
fn computing(folder: &Path) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let Ok(id) = entry.unwrap().file_name().to_string_lossy().parse::<u32>() else { continue };
        let read = |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
        let line = read("cmdline");
        if !line.starts_with(LEHR) || !line.contains("\0part\0") || !line.contains(&folder.display().to_string()) {
            continue;
        }
        let machine =
            read("environ").split('\0').find_map(|set| set.strip_prefix("SLURMD_NODENAME=").map(str::to_owned));
        parents
            .push(read("stat").rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap());
        found.push((id, machine.unwrap_or_default()));
    }
    found.retain(|(id, _)| !parents.contains(id));
    found.sort_by(|one, other| one.1.cmp(&other.1));
    found
}

#[test]
#[ignore = "needs a Slurm cluster: make slurm"]
fn jobs_of_a_service_run_on_their_hosts_and_a_killed_process_ends_them() {
    let folder = tempfile::tempdir().unwrap();
    write_genes(folder.path());
    let settings = "layout=1x1x2,launcher=srun,hosts=node3+node1";
    let (mut node, url) = serve(folder.path(), Distances::NAME, settings);
    block_on(async {
        let (datasets, jobs) = at(&url, Distances::NAME, Distances::VERSION);
        datasets.call(Open::new("genes", "genes.fasta")).await.unwrap();
        let order = || Run::of(Order::new("genes", &distances::Options::default()));
        let job = jobs.call(order()).await.unwrap().job;
        until(&jobs, 0.1).await;
        let machines = computing(folder.path());
        assert_eq!(machines.iter().map(|(_, machine)| machine.as_str()).collect::<Vec<_>>(), ["node1", "node3"]);
        // The process on node1 is the second one.
        assert!(Command::new("kill").args(["-KILL", &machines[0].0.to_string()]).status().unwrap().success());
        let failed = wait(&jobs, &job).await;
        assert_eq!(failed.state, State::Failed);
        let reason = failed.fault.unwrap().reason().to_owned();
        assert!(reason.contains("process 1 of 2") && reason.contains("was ended by signal 9"), "{reason}");
        jobs.call(Resume::of(Named::new(&job))).await.unwrap();
        until(&jobs, 0.2).await;
        jobs.call(Cancel::of(Named::new(&job))).await.unwrap();
        assert_eq!(wait(&jobs, &job).await.state, State::Cancelled);
        jobs.call(Resume::of(Named::new(&job))).await.unwrap();
        let spread = made(&datasets, wait(&jobs, &job).await).await;
        assert!(computing(folder.path()).is_empty());
        // The same job on another layout, in one process.
        fs::create_dir(folder.path().join("alone")).unwrap();
        let (mut alone, url) = serve(&folder.path().join("alone"), Distances::NAME, "threads=2");
        let (datasets, jobs) = at(&url, Distances::NAME, Distances::VERSION);
        fs::copy(folder.path().join("genes.fasta"), folder.path().join("alone/genes.fasta")).unwrap();
        datasets.call(Open::new("genes", "genes.fasta")).await.unwrap();
        let job = jobs.call(order()).await.unwrap().job;
        assert_eq!(made(&datasets, wait(&jobs, &job).await).await, spread);
        alone.kill().unwrap();
        alone.wait().unwrap();
    });
    node.kill().unwrap();
    node.wait().unwrap();
}

#[test]
#[ignore = "needs a Slurm cluster: make slurm"]
fn a_folder_that_the_first_host_does_not_have_is_reported() {
    let private = PathBuf::from(std::env::var("LEHR_SLURM_PRIVATE").expect("make slurm sets it"));
    let folder = tempfile::tempdir_in(private).unwrap();
    write_genes(folder.path());
    let (mut node, url) = serve(folder.path(), Distances::NAME, "layout=1x1x2,launcher=srun,hosts=node1+node2");
    block_on(async {
        let (datasets, jobs) = at(&url, Distances::NAME, Distances::VERSION);
        datasets.call(Open::new("genes", "genes.fasta")).await.unwrap();
        let job = jobs.call(Run::of(Order::new("genes", &distances::Options::default()))).await.unwrap().job;
        let reason = wait(&jobs, &job).await.fault.unwrap().reason().to_owned();
        assert!(
            reason.starts_with("host node1: ") && reason.contains("is not the folder of the node's job"),
            "{reason}"
        );
    });
    node.kill().unwrap();
    node.wait().unwrap();
}
