//! Jobs in processes, from the view of their node. The launchers are scripts here. The tests of the command
//! (`crates/cli/tests/launched`) use real launchers.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use lehr_jobs::jobs::{Cancel, Jobs, Order, State};
use lehr_jobs::{Settings, Setup};
use lehr_methods::cluster::{Cluster, Options};
use lehr_services::{Code, Event, Fault, Host, Reference, Subscribe};

use super::restarts::life;
use super::samples::*;

/// Returns the jobs of a method whose launcher is this script. `$1 $2` are the number of processes, and `$5` is the
/// folder of the job.
async fn launched_by(host: &Host, setup: &Setup, script: &str) -> Reference<Jobs> {
    let launcher = setup.keep.as_ref().unwrap().join("launcher");
    fs::write(&launcher, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
    with(host, setup, Settings { launcher: Some(launcher), ..spread() }).await
}

fn spread() -> Settings {
    Settings { layout: Some("1x2x1".into()), program: Some("lehr".into()), ..Settings::default() }
}

async fn with(host: &Host, setup: &Setup, settings: Settings) -> Reference<Jobs> {
    let datasets = setup.start_datasets(host, "/datasets").await.unwrap();
    upload_csv(&datasets, "points", "x\n1\n2\n9\n").await.unwrap();
    let setup = Setup { settings: [("/clustering".to_owned(), settings)].into(), ..setup.clone() };
    setup.start_declared(host, "/clustering", &Cluster).await.unwrap()
}

fn two() -> Order {
    Order::new("points", &serde_json::from_str::<Options>(r#"{ "clusters": 2 }"#).unwrap())
}

/// Returns the fault of a job whose launcher is this script.
fn failed(script: &str) -> Fault {
    let (folder, fault) = (tempfile::tempdir().unwrap(), std::cell::RefCell::default());
    life(folder.path(), 2, async |host, setup| {
        let jobs = launched_by(&host, &setup, script).await;
        let job = run(&jobs, two()).await.unwrap();
        let record = wait(&jobs, &job).await;
        assert_eq!(record.state, State::Failed, "{script}");
        *fault.borrow_mut() = record.fault;
    });
    fault.into_inner().unwrap()
}

#[test]
fn what_keeps_processes_from_a_result_is_the_fault_of_the_job() {
    for (script, code, reason) in [
        ("exit 1", Code::OperationFailed, "the processes of the job ended without a word"),
        ("echo error: no room >&2; echo Abort >&2; exit 4", Code::InsufficientResources, "no room"),
        ("echo cannot find lehr >&2; exit 127", Code::OperationFailed, "cannot find lehr"),
        ("kill -9 $$", Code::OperationFailed, "the processes of the job ended without a word"),
        // An outcome that the processes wrote takes precedence over their messages.
        (
            r#"echo '{"failed":{"input":"K is 2"}}' > "$5/outcome.json"; echo error: other >&2; exit 1"#,
            Code::InvalidValue,
            "K is 2",
        ),
        (
            r#"echo '{"failed":"stopped"}' > "$5/outcome.json""#,
            Code::OperationFailed,
            "it stopped without being asked to",
        ),
        (
            r#"echo '{' > "$5/outcome.json""#,
            Code::OperationFailed,
            "what the processes made cannot be read: EOF while parsing an object at line 2 column 0",
        ),
        // The order exists, and the launcher gets as many processes as the layout has.
        (
            r#"[ "$1 $2 $3 $4" = "-n 2 lehr part" ] && grep -q "\"mark\":\"$6\"" "$5/order.json" && grep -q '"clusters":2' "$5/order.json" && test -s "$5/points.arrow" && echo error: right >&2; exit 1"#,
            Code::OperationFailed,
            "right",
        ),
    ] {
        let fault = failed(script);
        assert_eq!((fault.code(), fault.reason()), (code, reason), "{script}");
    }
}

#[test]
fn a_launcher_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    life(folder.path(), 2, async |host, setup| {
        let jobs = with(&host, &setup, Settings { launcher: Some("no/such/mpiexec".into()), ..spread() }).await;
        let job = run(&jobs, two()).await.unwrap();
        let fault = wait(&jobs, &job).await.fault.unwrap();
        assert_eq!(fault.code(), Code::InsufficientResources);
        assert!(fault.reason().starts_with("no/such/mpiexec: "), "{fault}");
    });
}

#[test]
fn processes_tell_how_far_they_are_and_hear_of_a_cancel_by_the_end_of_their_input() {
    let folder = tempfile::tempdir().unwrap();
    life(folder.path(), 2, async |host, setup| {
        let script = r#"echo "a launcher's own words"; echo '{"fraction":0.25,"stage":"testing"}'; cat > /dev/null"#;
        let jobs = launched_by(&host, &setup, script).await;
        let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
        let job = run(&jobs, two()).await.unwrap();
        while !matches!(changes.next().await.unwrap(), Event::Change(_)) {}
        let progress = jobs.get().await.unwrap().jobs[&job].progress.clone().unwrap();
        assert_eq!((progress.fraction, progress.stage.as_str()), (0.25, "testing"));
        jobs.call(Cancel::of(named(&job))).await.unwrap();
        assert_eq!(wait(&jobs, &job).await.state, State::Cancelled);
    });
}

#[test]
fn a_try_that_came_to_its_end_unseen_is_the_result() {
    let folder = tempfile::tempdir().unwrap();
    // The processes write the outcome, and then the node ends before it reads the outcome.
    let script = r#"printf '{"done":{"tables":{},"figures":{"clusters":2.0},"warnings":[]}}' > "$5/outcome.json"; echo '{"fraction":0.5,"stage":"x"}'; cat > /dev/null; rm -f "$5/outcome.json""#;
    life(folder.path(), 2, async |host, setup| {
        let jobs = launched_by(&host, &setup, script).await;
        let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
        run(&jobs, two()).await.unwrap();
        while !matches!(changes.next().await.unwrap(), Event::Change(_)) {}
        let tries = setup.keep.as_ref().unwrap().join("clustering/checkpoints/clustering-1.run");
        // The node finds another try after its restart, which is newer and complete.
        fs::create_dir(tries.join("try-2")).unwrap();
        fs::copy(tries.join("try-1/outcome.json"), tries.join("try-2/outcome.json")).unwrap();
    });
    life(folder.path(), 2, async |host, setup| {
        setup.start_datasets(&host, "/datasets").await.unwrap();
        let settings = [("/clustering".to_owned(), Settings { launcher: Some("no/such".into()), ..spread() })].into();
        let setup = Setup { settings, ..setup };
        let jobs = setup.start_declared(&host, "/clustering", &Cluster).await.unwrap();
        // Nothing is started. The missing tables are reported as for any method.
        let fault = wait(&jobs, "clustering-1").await.fault.unwrap();
        assert_eq!(fault.reason(), "the method has not made its table \"centers\"");
    });
}

#[test]
fn a_layout_is_refused_where_a_method_runs_in_one_process_and_where_nothing_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    life(folder.path(), 2, async |host, setup| {
        let settings = [("/counting".to_owned(), spread()), ("/clustering".to_owned(), spread())];
        let setup = Setup { settings: settings.into(), ..setup };
        setup.start_datasets(&host, "/datasets").await.unwrap();
        let fault = setup.start_method(&host, "/counting", Counting::default()).await.unwrap_err();
        assert!(fault.to_string().contains("expected no layout"), "{fault}");
        let fault = Setup { keep: None, ..setup }.start_declared(&host, "/clustering", &Cluster).await.unwrap_err();
        assert!(fault.to_string().contains("keep its jobs"), "{fault}");
    });
}

/// Returns the arguments that a launcher of this name gets, and the file with the hosts of the processes. The name is
/// that of the setup, and the settings have the hosts.
fn started_by(name: &str, hosts: &str) -> (String, String) {
    let (folder, said) = (tempfile::tempdir().unwrap(), std::cell::RefCell::default());
    life(folder.path(), 2, async |host, setup| {
        let launcher = setup.keep.as_ref().unwrap().join(name);
        let script = r#"#!/bin/sh
hosts=$(cat "$SLURM_HOSTFILE" 2>/dev/null | tr '\n' ' ')
echo "error: $*|$hosts" >&2
exit 1
"#;
        fs::write(&launcher, script).unwrap();
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = format!("layout=2x3x1,program=lehr{hosts}").parse().unwrap();
        let jobs = with(&host, &Setup { launcher: Some(launcher), ..setup }, settings).await;
        let job = run(&jobs, two()).await.unwrap();
        *said.borrow_mut() = wait(&jobs, &job).await.fault.unwrap().reason().to_owned();
    });
    let said = said.into_inner();
    let (arguments, hosts) = said.split_once('|').unwrap();
    (arguments.split_once("lehr part /").unwrap().0.trim().to_owned(), hosts.trim().to_owned())
}

#[test]
fn each_launcher_gets_the_hosts_in_its_own_form() {
    let of = |name, hosts| started_by(name, hosts);
    let pair = |arguments: &str, hosts: &str| (arguments.to_owned(), hosts.to_owned());
    assert_eq!(of("mpiexec", ""), pair("-n 3", ""));
    assert_eq!(of("mpiexec.hydra", ",hosts=b:2+a:1"), pair("-n 3 -host b:2,a:1", ""));
    let srun = |nodes: usize| {
        format!("--ntasks=3 --nodes={nodes} --cpus-per-task=2 --mpi=pmi2 --input=0 --overlap --kill-on-bad-exit=1")
    };
    assert_eq!(of("srun", ""), (srun(1), String::new()));
    assert_eq!(of("srun", ",hosts=b:2+a:1"), pair(&format!("{} --distribution=arbitrary", srun(2)), "b b a"));
}
