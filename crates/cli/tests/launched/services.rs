//! Services whose jobs run in processes that `mpiexec` starts: the bytes of one process whatever the method, cancels,
//! faults, and the end of a node.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lehr_jobs::datasets::{Datasets, Open};
use lehr_jobs::jobs::{Cancel, Input, Jobs, Named, Order, Progressed, Record, Resume, Run, State, Wait, WaitFor};
use lehr_jobs::{Distances, Method, Settings, Setup, distances};
use lehr_methods::cluster::{self, Cluster};
use lehr_node::Client;
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{Code, Event, Host, Reference, Subscribe, Version};

/// Longer than any machine takes.
const LONG: Duration = Duration::from_secs(3000);

fn mpiexec() -> String {
    std::env::var("LEHR_MPIEXEC").expect("LEHR_MPIEXEC names an mpiexec; run make mpi")
}

/// Tries something on a host whose services at these paths spread their jobs over these layouts.
fn on_a_host(folder: &Path, layouts: &[(&str, &str)], behaviour: impl AsyncFn(Host, Setup)) {
    let spread = |&(path, layout): &(&str, &str)| {
        let settings = Settings {
            layout: Some(layout.into()),
            launcher: Some(mpiexec().into()),
            program: Some(env!("CARGO_BIN_EXE_lehr").into()),
            ..Settings::default()
        };
        (path.to_owned(), settings)
    };
    let setup = Setup {
        keep: Some(folder.join("keep")),
        data_root: Some(folder.into()),
        settings: layouts.iter().map(spread).collect(),
        ..Setup::default()
    };
    let dispatcher = Dispatcher::new(2).unwrap();
    let host = Host::new(dispatcher.handle());
    block_on(behaviour(host.clone(), setup));
    let report = block_on(host.shutdown(LONG));
    assert_eq!(report.cut_off, Vec::<String>::new());
}

async fn run(jobs: &Reference<Jobs>, input: &Input, options: &str) -> String {
    let options: serde_json::Value = serde_json::from_str(options).unwrap();
    jobs.call(Run::of(Order { input: input.clone(), ..Order::new("", &options) })).await.unwrap().job
}

async fn wait(jobs: &Reference<Jobs>, job: &str) -> Record {
    jobs.call(Wait::of(WaitFor::new(job))).await.unwrap()
}

/// What a job made: the checksums of its tables, its figures and its warnings.
type Made = (BTreeMap<String, String>, BTreeMap<String, f64>, Vec<String>);

async fn made(datasets: &Reference<Datasets>, done: Record) -> Made {
    assert_eq!((done.state, done.fault), (State::Done, None));
    let state = datasets.get().await.unwrap();
    // A report says how long the job took, and on how many threads.
    let compared = done.outputs.into_iter().filter(|(output, _)| output != "report");
    let sums = compared.map(|(table, name)| (table, state.datasets[&name].checksum.clone()));
    (sums.collect(), done.figures, done.warnings)
}

/// Runs a method in this process, and at `/spread-NAME`: both make the same. The first job here.
async fn same(host: &Host, setup: &Setup, contract: &str, name: &str, input: &Input, options: &str) -> String {
    let datasets = host.reference::<Datasets>("/datasets").unwrap();
    let start = async |path: String| {
        assert!(setup.start(host, contract, path.as_str()).await.unwrap());
        host.reference::<Jobs>(&path).unwrap()
    };
    let (here, spread) = (start(format!("/{name}")).await, start(format!("/spread-{name}")).await);
    let job = run(&here, input, options).await;
    let expected = made(&datasets, wait(&here, &job).await).await;
    let other = run(&spread, input, options).await;
    assert_eq!(made(&datasets, wait(&spread, &other).await).await, expected, "{name}");
    job
}

fn one(name: &str) -> Input {
    Input::One(name.into())
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn services_of_every_method_have_the_same_bytes_over_processes() {
    let (folder, items) = (super::folder(), super::items());
    for name in ["genes.fasta", "records.csv"] {
        fs::copy(items.path().join(name), folder.path().join(name)).unwrap();
    }
    let layouts = [
        ("/spread-clustering", "2x2x1"),
        ("/spread-kmeans", "1x3x1"),
        ("/spread-mixture", "1x3x1"),
        ("/spread-gtm", "2x2x1"),
        ("/spread-gaps", "1x2x1"),
        ("/spread-distances", "1x3x1"),
        ("/spread-records", "2x2x1"),
        ("/spread-kmedoids", "1x3x1"),
        ("/spread-pairwise", "1x1x3"),
        ("/spread-embedding", "2x2x1"),
    ];
    on_a_host(folder.path(), &layouts, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        datasets.call(Open { weights: Some("weight".into()), ..Open::new("table", "table.csv") }).await.unwrap();
        datasets.call(Open { gaps: true, ..Open::new("records", "records.csv") }).await.unwrap();
        datasets.call(Open::new("genes", "genes.fasta")).await.unwrap();
        let (table, records, genes) = (one("table"), one("records"), one("genes"));
        // Options that the command does not have go along.
        let options = r#"{ "clusters": 6, "scale": "std", "cooling": 0.9, "bits": 32 }"#;
        same(&host, &setup, "lehr.clustering", "clustering", &table, options).await;
        let options =
            r#"{ "clusters": 6, "method": "kmeans", "n_init": 3, "algorithm": "plain", "max_iterations": 50 }"#;
        same(&host, &setup, "lehr.clustering", "kmeans", &table, options).await;
        same(&host, &setup, "lehr.mixture", "mixture", &table, r#"{ "components": 4, "cooling": 0.9 }"#).await;
        same(&host, &setup, "lehr.gtm", "gtm", &table, r#"{ "nodes": 6, "basis": 3 }"#).await;
        same(&host, &setup, "lehr.gtm", "gaps", &records, r#"{ "nodes": 5, "basis": 3, "scale": "std" }"#).await;
        let options = r#"{ "collapse": true }"#;
        let compared = same(&host, &setup, "lehr.distances", "distances", &genes, options).await;
        same(&host, &setup, "lehr.distances", "records", &records, r#"{ "standardize": true, "bits": 64 }"#).await;
        let names = [("matrix", format!("{compared}/matrix")), ("items", format!("{compared}/items"))];
        let input = Input::Named(names.map(|(name, dataset)| (name.to_owned(), dataset)).into());
        same(&host, &setup, "lehr.kmedoids", "kmedoids", &input, r#"{ "clusters": 5 }"#).await;
        same(&host, &setup, "lehr.pairwise", "pairwise", &input, r#"{ "clusters": 5 }"#).await;
        same(&host, &setup, "lehr.embedding", "embedding", &input, r#"{ "dimension": 3, "weighting": "sammon" }"#)
            .await;
    });
    // What the processes had is gone.
    for (path, _) in layouts {
        let kept = fs::read_dir(folder.path().join(format!("keep{path}/checkpoints"))).unwrap();
        assert_eq!(kept.count(), 0, "{path}");
    }
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn a_fault_in_the_processes_of_a_service_is_the_one_of_one_process() {
    let folder = super::folder();
    on_a_host(folder.path(), &[("/clustering", "2x2x1"), ("/embedding", "1x2x1")], async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        datasets.call(Open::new("table", "table.csv")).await.unwrap();
        let clustering = setup.start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let job = run(&clustering, &one("table"), r#"{ "clusters": 3001 }"#).await;
        let fault = wait(&clustering, &job).await.fault.unwrap();
        let reason =
            "table: you requested 3001 clusters, but only 3000 rows have a weight above 0: request 3000 or fewer";
        assert_eq!((fault.code(), fault.reason()), (Code::InvalidValue, reason));
        let embedding = setup.start_declared(&host, "/embedding", &lehr_methods::embed::Embedding).await.unwrap();
        let job = run(&embedding, &one("table"), "{}").await;
        let fault = wait(&embedding, &job).await.fault.unwrap();
        assert!(fault.reason().starts_with("table: expected dissimilarities of all pairs"), "{fault}");
    });
}

/// Sequences that take some seconds to compare, in eleven steps.
fn write_genes(folder: &Path) {
    let letter = |at: usize| char::from(b"ACGT"[at.wrapping_mul(2_654_435_761) >> 7 & 3]);
    let text = |row: usize| -> String {
        (0..200).map(|at| letter(if (row * 31 + at).is_multiple_of(11) { row * 1000 + at } else { at })).collect()
    };
    let genes: String = (0..640).map(|row| format!(">s{row}\n{}\n", text(row))).collect();
    fs::write(folder.join("genes.fasta"), genes).unwrap();
}

/// Waits until jobs tell that they have done such a share of their work, and gives what the first of these told.
async fn until(jobs: &Reference<Jobs>, share: f64) -> f64 {
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

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn processes_of_a_service_are_cancelled_and_gone_on_with_to_the_same_bytes() {
    let folder = super::folder();
    write_genes(folder.path());
    on_a_host(folder.path(), &[("/spread", "1x2x1"), ("/clustering", "2x2x1")], async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        datasets.call(Open::new("genes", "genes.fasta")).await.unwrap();
        let here = setup.start_method(&host, "/here", Distances::default()).await.unwrap();
        let spread = setup.start_method(&host, "/spread", Distances::default()).await.unwrap();
        let job = run(&spread, &one("genes"), "{}").await;
        until(&spread, 0.2).await;
        spread.call(Cancel::of(Named::new(&job))).await.unwrap();
        assert_eq!(wait(&spread, &job).await.state, State::Cancelled);
        spread.call(Resume::of(Named::new(&job))).await.unwrap();
        // It does not begin anew.
        assert!(until(&spread, 0.0).await > 0.2);
        let resumed = made(&datasets, wait(&spread, &job).await).await;
        let job = run(&here, &one("genes"), "{}").await;
        assert_eq!(made(&datasets, wait(&here, &job).await).await, resumed);

        // One that lasts until it is stopped.
        datasets.call(Open::new("table", "table.csv")).await.unwrap();
        let clustering = setup.start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let mut changes = clustering.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
        let job = run(&clustering, &one("table"), r#"{ "stop_length": 1e-9 }"#).await;
        while !matches!(changes.next().await.unwrap(), Event::Change(_)) {}
        clustering.call(Cancel::of(Named::new(&job))).await.unwrap();
        assert_eq!(wait(&clustering, &job).await.state, State::Cancelled);
    });
}

/// A node with a folder, in which a method has its own launcher.
fn serve(folder: &Path, method: &str, launcher: &Path) -> (Child, String) {
    let settings = format!("{method}=/jobs,layout=1x2x1,launcher={}", launcher.display());
    let mut node = Command::new(env!("CARGO_BIN_EXE_lehr"));
    node.args(["serve", "--listen", "127.0.0.1:0", "--start", &settings]).arg("--keep").arg(folder.join("keep"));
    let mut node = node.arg("--data-root").arg(folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(node.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (node, url.trim().to_owned())
}

fn at(url: &str, contract: &str, version: Version) -> (Reference<Datasets>, Reference<Jobs>) {
    let client = Client::new(None).unwrap();
    let to = |path: &str| client.link(&format!("{url}{path}")).unwrap();
    let jobs = Reference::over(to("/jobs")).within(LONG).of_contract(contract, version).unwrap();
    (Reference::over(to("/datasets")).within(LONG), jobs)
}

#[cfg(unix)]
#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn the_processes_of_a_service_end_with_a_node_that_is_killed() {
    use std::os::unix::fs::PermissionsExt;

    let folder = super::folder();
    let (alive, launcher) = (folder.path().join("alive"), folder.path().join("launcher"));
    assert!(Command::new("mkfifo").arg(&alive).status().unwrap().success());
    // Whoever waits at the other end of `alive` hears when mpiexec has ended, which its processes have then.
    fs::write(&launcher, format!("#!/bin/sh\nexec '{}' \"$@\" 7<>'{}'\n", mpiexec(), alive.display())).unwrap();
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
    let (mut node, url) = serve(folder.path(), "lehr.clustering", &launcher);
    block_on(async {
        let (datasets, jobs) = at(&url, "lehr.clustering", Version::new(1, 0));
        datasets.call(Open { weights: Some("weight".into()), ..Open::new("table", "table.csv") }).await.unwrap();
        let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
        // One that lasts until it is stopped.
        let options: cluster::Options = serde_json::from_str(r#"{ "stop_length": 1e-9 }"#).unwrap();
        jobs.call(Run::of(Order::new("table", &options))).await.unwrap();
        while !matches!(changes.next().await.unwrap(), Event::Change(_)) {}
    });
    let mut alive = File::open(&alive).unwrap();
    node.kill().unwrap();
    node.wait().unwrap();
    assert_eq!(alive.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn a_process_of_a_service_that_is_killed_is_named_and_the_job_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    write_genes(folder.path());
    let (mut node, url) = serve(folder.path(), "lehr.distances", Path::new(&mpiexec()));
    block_on(async {
        let (datasets, jobs) = at(&url, Distances::NAME, Distances::VERSION);
        datasets.call(Open::new("genes", "genes.fasta")).await.unwrap();
        let job = jobs.call(Run::of(Order::new("genes", &distances::Options::default()))).await.unwrap().job;
        until(&jobs, 0.1).await;
        let computing = super::computing_below(node.id());
        assert_eq!(computing.len(), 2, "{computing:?}");
        assert!(Command::new("kill").args(["-KILL", &computing[1].to_string()]).status().unwrap().success());
        let failed = wait(&jobs, &job).await;
        let reason = failed.fault.unwrap().reason().to_owned();
        assert!(reason.contains("was ended by signal 9"), "{reason}");
        jobs.call(Resume::of(Named::new(&job))).await.unwrap();
        assert_eq!(wait(&jobs, &job).await.state, State::Done);
    });
    node.kill().unwrap();
    node.wait().unwrap();
}
