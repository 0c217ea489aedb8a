//! A node whose disk is full while a job writes. It takes the rights of root to make one that is small: `make
//! isolation`.

use lehr_jobs::Form;
use lehr_jobs::datasets::{Begin, Open};
use lehr_jobs::jobs::{Named, Order, Record, Resume, Run, State};
use lehr_methods::cluster::Options;
use lehr_node::Client;
use lehr_runtime::block_on;
use lehr_services::Code;

use super::jobs::{all_of, clouds, clustering, datasets, wait};
use super::nodes::Disk;
use super::sandbox::Sandbox;
use super::services::Served;

const ROWS: usize = 20_000;

fn order(output: &str) -> Order {
    let options: Options = serde_json::from_str(r#"{ "clusters": 6 }"#).unwrap();
    Order { output: Some(output.into()), ..Order::new("clouds", &options) }
}

fn assert_full(record: &Record) {
    let fault = record.fault.as_ref().expect("a job that has failed says why");
    assert_eq!((record.state, fault.code()), (State::Failed, Code::InsufficientResources), "{fault}");
    assert_eq!(fault.reason(), "the data could not be kept: no space left on the disk of the node");
}

#[test]
#[ignore = "mounts a file system, which takes the rights of root; make isolation runs it"]
fn isolated_a_job_fails_where_the_disk_is_full_and_goes_on_when_there_is_room() {
    let sandbox = Sandbox::with("root/clouds.csv", clouds(ROWS));
    // Room for the data (16 bytes a row), for documents and a checkpoint; the labels are 16 bytes a row again.
    let disk = Disk::new(&sandbox.path("disk"), 16 * ROWS / 1024 + 160);
    let (keep, root) = (sandbox.path("disk"), sandbox.path("root"));
    let serve = || Served::start(&["--keep", keep.to_str().unwrap(), "--data-root", root.to_str().unwrap()]);
    let client = Client::new(None).unwrap();
    let mut node = serve();
    let job = block_on(async {
        let (datasets, jobs) = (datasets(&client, &node), clustering(&client, &node));
        datasets.call(Open::new("clouds", "clouds.csv")).await.unwrap();
        let job = jobs.call(Run::of(order("regions"))).await.unwrap().job;
        assert_full(&wait(&jobs, &job).await);
        // Its large table is not there, not even in part.
        assert!(!datasets.get().await.unwrap().datasets.contains_key("regions/labels"));
        // It goes on answering, and takes what there is room for.
        datasets.call(Begin::new("other", Form::Csv)).await.unwrap();
        jobs.call(Resume::of(Named::new(&job))).await.unwrap();
        assert_full(&wait(&jobs, &job).await);
        job
    });

    // What was acknowledged is there in the next life.
    node.kill();
    let node = serve();
    block_on(async {
        let (datasets, jobs) = (datasets(&client, &node), clustering(&client, &node));
        assert_full(&wait(&jobs, &job).await);
        let state = datasets.get().await.unwrap();
        assert_eq!((state.datasets["clouds"].rows, state.uploads.contains_key("other")), (ROWS as u64, true));
        assert_eq!(all_of(&datasets, "clouds").await.lines().count(), ROWS + 1);

        disk.grow(64 << 10);
        jobs.call(Resume::of(Named::new(&job))).await.unwrap();
        let done = wait(&jobs, &job).await;
        assert_eq!((done.state, done.fault), (State::Done, None));
        let labels = all_of(&datasets, "regions/labels").await;
        assert_eq!(labels.lines().count(), ROWS + 1);
        // The same bytes as those of a job that never met a full disk.
        let again = jobs.call(Run::of(order("again"))).await.unwrap().job;
        assert_eq!(wait(&jobs, &again).await.state, State::Done);
        assert_eq!(all_of(&datasets, "again/labels").await, labels);
    });
    drop(node);
}
