//! A node as its clients see it, and what its jobs made.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lehr_jobs::datasets::Datasets;
use lehr_jobs::jobs::{Jobs, Progressed, Record, State, Wait, WaitFor};
use lehr_node::Client;
use lehr_services::{Event, Reference, Subscribe, Version};

/// Longer than any machine takes.
pub const LONG: Duration = Duration::from_secs(3000);

pub async fn wait(jobs: &Reference<Jobs>, job: &str) -> Record {
    jobs.call(Wait::of(WaitFor::new(job))).await.unwrap()
}

/// What a job made: the checksums of its tables, its figures and its warnings.
pub type Made = (BTreeMap<String, String>, BTreeMap<String, f64>, Vec<String>);

pub async fn made(datasets: &Reference<Datasets>, done: Record) -> Made {
    assert_eq!((done.state, done.fault), (State::Done, None));
    let state = datasets.get().await.unwrap();
    // A report says how long the job took, and on how many threads.
    let compared = done.outputs.into_iter().filter(|(output, _)| output != "report");
    let sums = compared.map(|(table, name)| (table, state.datasets[&name].checksum.clone()));
    (sums.collect(), done.figures, done.warnings)
}

/// Sequences that take some seconds to compare, in eleven steps.
pub fn write_genes(folder: &Path) {
    let letter = |at: usize| char::from(b"ACGT"[at.wrapping_mul(2_654_435_761) >> 7 & 3]);
    let text = |row: usize| -> String {
        (0..200).map(|at| letter(if (row * 31 + at).is_multiple_of(11) { row * 1000 + at } else { at })).collect()
    };
    let genes: String = (0..640).map(|row| format!(">s{row}\n{}\n", text(row))).collect();
    fs::write(folder.join("genes.fasta"), genes).unwrap();
}

/// Waits until jobs tell that they have done such a share of their work, and gives what the first of these told.
pub async fn until(jobs: &Reference<Jobs>, share: f64) -> f64 {
    let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
    loop {
        if let Event::Change(change) = changes.next().await.unwrap() {
            let fraction = change.operation::<Progressed>().unwrap().body.progress.fraction;
            if fraction >= share {
                return fraction;
            }
        }
    }
}

/// A node with a folder, in which a method has these settings.
pub fn serve(folder: &Path, method: &str, settings: &str) -> (Child, String) {
    let settings = format!("{method}=/jobs,{settings}");
    let mut node = Command::new(env!("CARGO_BIN_EXE_lehr"));
    node.args(["serve", "--listen", "127.0.0.1:0", "--start", &settings]).arg("--keep").arg(folder.join("keep"));
    let mut node = node.arg("--data-root").arg(folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(node.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (node, url.trim().to_owned())
}

pub fn at(url: &str, contract: &str, version: Version) -> (Reference<Datasets>, Reference<Jobs>) {
    let client = Client::new(None).unwrap();
    let to = |path: &str| client.link(&format!("{url}{path}")).unwrap();
    let jobs = Reference::over(to("/jobs")).within(LONG).of_contract(contract, version).unwrap();
    (Reference::over(to("/datasets")).within(LONG), jobs)
}
