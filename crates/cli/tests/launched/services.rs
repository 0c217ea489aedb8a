//! Services whose jobs run in processes that `mpiexec` starts: the bytes of one process whatever the method, cancels,
//! faults, and the end of a node.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;

use lehr_jobs::datasets::{Datasets, Open};
use lehr_jobs::jobs::{Cancel, Input, Jobs, Named, Order, Resume, Run, State};
use lehr_jobs::{Distances, Method, Settings, Setup, distances};
use lehr_methods::cluster::{self, Cluster};
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{Code, Event, Host, Reference, Subscribe, Version};

use super::node::{LONG, at, made, serve, until, wait, write_genes};

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
    on_a_host_with(folder, layouts.iter().map(spread).collect(), behaviour);
}

/// Tries something on a host whose services have these settings.
fn on_a_host_with(folder: &Path, settings: BTreeMap<String, Settings>, behaviour: impl AsyncFn(Host, Setup)) {
    let keep = Some(folder.join("keep"));
    let setup = Setup { keep, data_root: Some(folder.into()), settings, ..Setup::default() };
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
    let (mut node, url) =
        serve(folder.path(), "lehr.clustering", &format!("layout=1x2x1,launcher={}", launcher.display()));
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
    let (mut node, url) = serve(folder.path(), "lehr.distances", &format!("layout=1x2x1,launcher={}", mpiexec()));
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

#[cfg(unix)]
#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn processes_of_a_service_are_placed_on_hosts() {
    use std::os::unix::fs::PermissionsExt;

    let folder = super::folder();
    // A stand-in for ssh notes the host, and runs the command here, in one line of a shell as ssh does.
    let script = r#"#!/bin/sh
while [ "$1" = -x ]; do shift; done
echo "$1" >> "$(dirname "$0")/calls"
shift
exec sh -c "$*"
"#;
    let launcher = format!(
        "#!/bin/sh\nPATH='{}':$PATH UCX_TLS=self,sm,tcp exec '{}' -launcher ssh \"$@\"\n",
        folder.path().display(),
        mpiexec()
    );
    for (name, text) in [("ssh", script), ("launcher", &launcher)] {
        fs::write(folder.path().join(name), text).unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let launcher = folder.path().join("launcher");
    let hostfile = folder.path().join("hosts");
    fs::write(&hostfile, "alpha:1\nbeta slots=2 # the larger one\n").unwrap();
    let settings = Settings {
        layout: Some("1x3x1".into()),
        launcher: Some(launcher),
        hostfile: Some(hostfile),
        program: Some(env!("CARGO_BIN_EXE_lehr").into()),
        ..Settings::default()
    };
    let setup = [("/spread-clustering".to_owned(), settings)].into();
    on_a_host_with(folder.path(), setup, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        datasets.call(Open { weights: Some("weight".into()), ..Open::new("table", "table.csv") }).await.unwrap();
        same(&host, &setup, "lehr.clustering", "clustering", &one("table"), r#"{ "clusters": 6 }"#).await;
    });
    let mut calls: Vec<String> =
        fs::read_to_string(folder.path().join("calls")).unwrap().lines().map(str::to_owned).collect();
    calls.sort();
    assert_eq!(calls, ["alpha", "beta"]);
}
