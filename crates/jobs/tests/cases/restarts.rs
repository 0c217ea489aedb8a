//! Nodes that end and begin again in the same folder. The tests of the crate `lehr` end real processes by `kill -9`.

use std::path::Path;

use lehr_jobs::datasets::{Append, Begin, Finish, Put, Take};
use lehr_jobs::declared::TableOptions;
use lehr_jobs::jobs::{Cancel, Order, Resume, State};
use lehr_jobs::{Bytes, Form, Handle, Setup, Table};
use lehr_methods::cluster::{Cluster, Options};
use lehr_runtime::{Builder, Clock, block_on};
use lehr_services::{Code, Host};

use super::samples::*;

/// Runs a test on a node whose data are kept in a folder, and ends the node.
pub fn life(folder: &Path, workers: usize, behaviour: impl AsyncFn(Host, Setup)) {
    let dispatcher = Builder::new().threads(workers).clock(Clock::virtual_time()).start().unwrap();
    let host = Host::new(dispatcher.handle());
    let setup = Setup { keep: Some(folder.into()), ..Setup::default() };
    block_on(behaviour(host.clone(), setup));
    let report = block_on(host.shutdown(std::time::Duration::from_secs(3600)));
    assert_eq!(report.cut_off, Vec::<String>::new());
    drop(dispatcher);
    // A thread that reads an upload may be the last to hold the lock of the folder. The next node begins when the lock
    // is released.
    let Ok(lock) = std::fs::File::open(folder.join("datasets/contents/lock")) else { return };
    let is_free = || {
        lock.try_lock().is_ok() || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }
    };
    assert!((0..6000).any(|_| is_free()), "somebody holds the folder of a life that has ended");
}

fn one_and_two() -> lehr_jobs::jobs::Input {
    let names = [("table", "one"), ("other", "one")].map(|(name, dataset)| (name.to_owned(), dataset.to_owned()));
    lehr_jobs::jobs::Input::Named(names.into())
}

#[test]
fn jobs_uploads_and_data_sets_are_there_in_the_next_life() {
    for workers in [1, 2, 8] {
        let folder = tempfile::tempdir().unwrap();
        let method = Counting::default();
        life(folder.path(), workers, async |host, setup| {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            let table = Handle(Table::builder().numbers("x", vec![1.5]).build().unwrap());
            datasets.call(Put { name: "one".into(), table, replace: false }).await.unwrap();
            datasets.call(Begin::new("late", Form::Csv)).await.unwrap();
            let data = Bytes::from(b"x\n1\n".to_vec());
            datasets.call(Append { name: "late".into(), offset: 0, data }).await.unwrap();
            let jobs = setup.start_method(&host, "/counting", method.clone()).await.unwrap();
            let order = |steps| Order { input: one_and_two(), ..Order::new("", &Steps { steps, panics: false }) };
            run(&jobs, order(3)).await.unwrap();
            run(&jobs, order(2)).await.unwrap();
            run(&jobs, order(1)).await.unwrap();
            method.gate.post(()).unwrap();
            assert_eq!(method.begun.receive().await.unwrap(), ("counting-1".into(), 0));
            assert_eq!(method.begun.receive().await.unwrap(), ("counting-1".into(), 1));
            jobs.call(Cancel::of(named("counting-3"))).await.unwrap();
        });
        life(folder.path(), workers, async |host, setup| {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            let state = datasets.get().await.unwrap();
            assert_eq!((state.datasets["one"].rows, state.uploads["late"].offset), (1, 4));
            drop(state);
            let data = Bytes::from(b"2\n".to_vec());
            datasets.call(Append { name: "late".into(), offset: 4, data }).await.unwrap();
            assert_eq!(datasets.call(Finish { name: "late".into() }).await.unwrap().rows, 2);
            assert_eq!(*datasets.call(Take { name: "one".into() }).await.unwrap().0.numbers("x").unwrap(), [1.5]);
            let jobs = setup.start_method(&host, "/counting", method.clone()).await.unwrap();
            // The running job continues first, automatically, and from its checkpoint.
            assert_eq!(method.begun.receive().await.unwrap(), ("counting-1".into(), 1));
            for _ in 0..4 {
                method.gate.post(()).unwrap();
            }
            assert_eq!(wait(&jobs, "counting-1").await.state, State::Done);
            assert_eq!(wait(&jobs, "counting-2").await.state, State::Done);
            assert_eq!(wait(&jobs, "counting-3").await.state, State::Cancelled);
            while method.begun.try_receive().is_some() {}
        });
        life(folder.path(), workers, async |host, setup| {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            let numbers = datasets.call(Take { name: "counting-1/numbers".into() }).await.unwrap().0;
            assert_eq!(numbers.counts("number").unwrap(), [0, 1, 2]);
            let jobs = setup.start_method(&host, "/counting", method.clone()).await.unwrap();
            let order = Order { input: one_and_two(), ..Order::new("", &Steps::default()) };
            assert_eq!(run(&jobs, order).await.unwrap(), "counting-4");
            assert_eq!(wait(&jobs, "counting-4").await.state, State::Done);
        });
    }
}

#[test]
fn a_document_that_an_older_node_has_kept_is_read_with_the_defaults_of_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let job = |number: u64, state: &str, options: &str| {
        format!(
            r#""clustering-{number}":{{"state":"{state}","options":{options},"inputs":{{"points":"points"}},"outputs":{{}},"output":"clustering-{number}","times":{{"queued_unix_ms":{number}}},"is_cancelled":false,"number":{number}}}"#
        )
    };
    let jobs = [
        job(1, "cancelled", r#"{"clusters":2,"cooling":0.9}"#),
        job(2, "cancelled", r#"{"clusters":2,"temperature_of_old":1.0}"#),
        job(3, "queued", r#"{"clusters":2}"#),
    ];
    let text = format!(r#"{{"datasets":"/datasets","jobs":{{{}}},"count":3}}"#, jobs.join(","));
    let checksum = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
    let header = format!(
        r#"{{"lehr_state":1,"contract":"lehr.clustering","version":{{"major":1,"minor":0}},"checksum":"{checksum:016x}"}}"#
    );
    std::fs::create_dir(folder.path().join("clustering")).unwrap();
    let document = folder.path().join("clustering/document.json");
    std::fs::write(&document, format!("{header}\n{text}")).unwrap();
    life(folder.path(), 2, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        upload_csv(&datasets, "points", "x\n1\n2\n9\n").await.unwrap();
        let jobs = setup.start_declared(&host, "/clustering", &Cluster).await.unwrap();
        assert_eq!(wait(&jobs, "clustering-3").await.state, State::Done);
        let read = wait(&jobs, "clustering-1").await.options::<serde_json::Value>().unwrap();
        assert_eq!((&read["clusters"], &read["cooling"], &read["patience"]), (&2.into(), &0.9.into(), &4.into()));
        // A job with outdated options stays, and an error is reported when the options are needed.
        let old = wait(&jobs, "clustering-2").await.options;
        assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"clusters":2,"temperature_of_old":1.0}"#);
        jobs.call(Resume::of(named("clustering-2"))).await.unwrap();
        let fault = wait(&jobs, "clustering-2").await.fault.unwrap();
        assert!(fault.reason().contains("options: unknown field `temperature_of_old`"), "{fault}");
    });
    // The document has the options in the form of the method's own type.
    let kept = std::fs::read_to_string(document).unwrap();
    let options = TableOptions::default().with(&Options { clusters: Some(2), cooling: 0.9, ..Options::default() });
    let options = format!(r#""options":{},"#, serde_json::to_string(&options).unwrap());
    assert!(
        kept.contains(r#"{"lehr_state":2,"contract":"lehr.clustering","version":{"major":1,"minor":0},"#),
        "{kept}"
    );
    assert!(kept.contains(&options), "{kept}");
}

#[test]
fn a_clustering_that_is_stopped_by_the_end_of_its_node_has_the_same_bits() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = || serde_json::from_str::<Options>(r#"{ "clusters": 12 }"#).unwrap();
    let order = || Order { output: Some("twelve".into()), ..Order::new("clouds", &options()) };
    let tables = async |host: &Host| {
        let datasets = host.reference::<lehr_jobs::datasets::Datasets>("/datasets").unwrap();
        let state = datasets.get().await.unwrap();
        ["labels", "centers", "history"].map(|table| state.datasets[&format!("twelve/{table}")].checksum.clone())
    };
    let begin = async |host: &Host, setup: &Setup| {
        let datasets = setup.start_datasets(host, "/datasets").await.unwrap();
        if !datasets.get().await.unwrap().datasets.contains_key("clouds") {
            let csv = Begin { columns: Some(vec!["x".into(), "y".into()]), ..Begin::new("clouds", Form::Csv) };
            upload(&datasets, csv, clouds().as_bytes()).await.unwrap();
        }
        setup.start_declared(host, "/clustering", &Cluster).await.unwrap()
    };
    let undisturbed = std::cell::RefCell::default();
    life(whole.path(), 2, async |host, setup| {
        let jobs = begin(&host, &setup).await;
        let job = run(&jobs, order()).await.unwrap();
        assert_eq!(wait(&jobs, &job).await.state, State::Done);
        *undisturbed.borrow_mut() = Some(tables(&host).await);
    });
    // End the node repeatedly, each time as soon as it has begun, until the upload is read.
    life(parts.path(), 2, async |host, setup| {
        let jobs = begin(&host, &setup).await;
        run(&jobs, order()).await.unwrap();
    });
    for _ in 0..5 {
        life(parts.path(), 2, async |host, setup| {
            let jobs = begin(&host, &setup).await;
            let mut changes = jobs.subscribe(lehr_services::Subscribe::default()).await.unwrap();
            // Receive the state, and perhaps one change.
            let _ = changes.next().await;
            let state = jobs.get().await.unwrap().jobs["clustering-1"].state;
            if state != State::Done {
                let _ = changes.next().await;
            }
        });
    }
    life(parts.path(), 2, async |host, setup| {
        let jobs = begin(&host, &setup).await;
        assert_eq!(wait(&jobs, "clustering-1").await.state, State::Done);
        assert_eq!(Some(tables(&host).await), undisturbed.borrow().clone());
    });
}

#[test]
fn a_content_that_was_damaged_on_disk_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    life(folder.path(), 2, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        upload_csv(&datasets, "x", "x\n1\n2\n").await.unwrap();
    });
    let contents = folder.path().join("datasets/contents");
    let file = std::fs::read_dir(contents).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "arrow")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    // Flip the lowest bit of the first number, 1.0, in little-endian order.
    let at = bytes.windows(8).position(|window| window == 1f64.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    life(folder.path(), 2, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        assert!(host.reports().is_empty());
        for _ in 0..2 {
            let fault = datasets.call(Take { name: "x".into() }).await.unwrap_err();
            assert_eq!(fault.code(), Code::OperationFailed);
            assert!(fault.reason().contains("is damaged: remove it, and bring it in again"), "{fault}");
            // Later `/ready` and the directory say so too.
            assert_eq!(host.reports()["/datasets"], [fault.reason()]);
        }
        let directory = host.reference::<lehr_services::Directory>(lehr_services::DIRECTORY).unwrap();
        while directory.get().await.unwrap().services["/datasets"].reports.is_empty() {}
    });
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn copied(from: &Path, to: &Path) {
    for file in files(from) {
        let copy = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(file, copy).unwrap();
    }
}

/// Damages a file: flips a bit, or cuts, empties or removes the file.
fn damage(file: &Path, kind: &str) {
    let mut bytes = std::fs::read(file).unwrap();
    match kind {
        "flipped" if !bytes.is_empty() => {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        }
        "cut" => bytes.truncate(bytes.len() * 2 / 3),
        "emptied" => bytes.clear(),
        "longer" => bytes.push(b'x'),
        _ => return std::fs::remove_file(file).unwrap(),
    }
    std::fs::write(file, bytes).unwrap();
}

const LATE: [&[u8]; 2] = [b"x\n1\n2\n", b"3\n"];

/// Stores a data set, a result of a job, a job that has not ended, and the first piece of an upload.
fn keep_something(folder: &Path, method: &Counting) {
    life(folder, 2, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        upload_csv(&datasets, "one", "x\n1\n2\n").await.unwrap();
        datasets.call(Begin::new("late", Form::Csv)).await.unwrap();
        let data = Bytes::from(LATE[0].to_vec());
        datasets.call(Append { name: "late".into(), offset: 0, data }).await.unwrap();
        let jobs = setup.start_method(&host, "/counting", method.clone()).await.unwrap();
        let order = |steps| Order { input: one_and_two(), ..Order::new("", &Steps { steps, panics: false }) };
        method.gate.post(()).unwrap();
        let done = run(&jobs, order(1)).await.unwrap();
        assert_eq!(wait(&jobs, &done).await.state, State::Done);
        run(&jobs, order(2)).await.unwrap();
        method.gate.post(()).unwrap();
        // The second step of the job has begun, so the first step is saved.
        while method.begun.receive().await.unwrap() != ("counting-2".to_owned(), 1) {}
    });
}

#[test]
fn whichever_file_is_damaged_nothing_acknowledged_is_lost_or_changed_without_a_word() {
    let whole = tempfile::tempdir().unwrap();
    keep_something(whole.path(), &Counting::default());
    let kept = files(whole.path());
    assert!(kept.len() >= 10, "{kept:?}");
    for file in kept.iter().filter(|file| !file.ends_with("lock")) {
        for kind in ["flipped", "cut", "emptied", "longer", "removed"] {
            let case = format!("{} {kind}", file.strip_prefix(whole.path()).unwrap().display());
            let folder = tempfile::tempdir().unwrap();
            copied(whole.path(), folder.path());
            damage(&folder.path().join(file.strip_prefix(whole.path()).unwrap()), kind);
            let method = Counting::default();
            // Only start the node, as a supervisor does that restarts it automatically.
            life(folder.path(), 2, async |host, setup| {
                setup.start_datasets(&host, "/datasets").await.unwrap();
                setup.start_method(&host, "/counting", method.clone()).await.unwrap();
            });
            life(folder.path(), 2, async |host, setup| {
                let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
                let jobs = setup.start_method(&host, "/counting", method.clone()).await.unwrap();
                (0..2).for_each(|_| method.gate.post(()).unwrap());
                let is_reported = |fault: &lehr_services::Fault| fault.reason().contains("is damaged");
                match datasets.call(Take { name: "one".into() }).await {
                    Ok(Handle(table)) => assert_eq!(table.checksum(), one(), "{case}"),
                    Err(fault) => assert!(is_reported(&fault), "{case}: {fault}"),
                }
                let data = Bytes::from(LATE[1].to_vec());
                let rest = Append { name: "late".into(), offset: LATE[0].len() as u64, data };
                let late = match datasets.call(rest).await {
                    Ok(_) => datasets.call(Finish { name: "late".into() }).await,
                    Err(fault) => Err(fault),
                };
                match late {
                    Ok(late) => assert_eq!((late.rows, late.checksum), (3, three()), "{case}"),
                    Err(fault) => assert!(is_reported(&fault), "{case}: {fault}"),
                }
                let state = jobs.get().await.unwrap();
                assert_eq!(state.jobs.keys().collect::<Vec<_>>(), ["counting-1", "counting-2"], "{case}");
                assert_eq!(state.jobs["counting-1"].state, State::Done, "{case}");
                drop(state);
                let done = wait(&jobs, "counting-2").await;
                let is_input_damaged = done.fault.as_ref().is_some_and(is_reported);
                assert!(done.state == State::Done || is_input_damaged, "{case}: {done:?}");
            });
        }
    }
}

fn one() -> String {
    Table::builder().numbers("x", vec![1.0, 2.0]).build().unwrap().checksum()
}

fn three() -> String {
    Table::builder().numbers("x", vec![1.0, 2.0, 3.0]).build().unwrap().checksum()
}

#[test]
fn without_its_document_a_service_of_data_sets_finds_its_contents_again() {
    let folder = tempfile::tempdir().unwrap();
    keep_something(folder.path(), &Counting::default());
    let gaps = || Table::builder().numbers("merged_at", vec![f64::NAN, 2.0]).build().unwrap();
    life(folder.path(), 2, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        datasets.call(Put { name: "gaps".into(), table: Handle(gaps()), replace: false }).await.unwrap();
    });
    for name in ["document.json", "document.json.copy"] {
        std::fs::remove_file(folder.path().join("datasets").join(name)).unwrap();
    }
    let damaged = folder.path().join("datasets/contents/4321.arrow");
    std::fs::write(&damaged, "ARROW1").unwrap();
    for times in 0..2 {
        life(folder.path(), 2, async |host, setup| {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            let state = datasets.get().await.unwrap();
            assert!(state.datasets.keys().all(|name| name.starts_with("recovered/")));
            assert!(state.datasets.values().any(|dataset| dataset.checksum == one()));
            assert!(state.datasets.values().any(|dataset| dataset.checksum == gaps().checksum()));
            let name = state.datasets.iter().find(|(_, dataset)| dataset.checksum == one()).unwrap().0.clone();
            drop(state);
            let Handle(table) = datasets.call(Take { name }).await.unwrap();
            assert_eq!(table.checksum(), one());
            let reports = host.reports()["/datasets"].clone();
            assert!(
                reports[0].starts_with("the list of data sets was gone; recovered from their contents: "),
                "{reports:?}"
            );
            let lost = if times == 0 { "lost-1-4321.arrow" } else { "under other names: none" };
            assert!(reports[0].contains(lost), "{reports:?}");
        });
    }
    // The first change writes the list again. Files that it does not name stay all the same.
    for _ in 0..2 {
        life(folder.path(), 2, async |host, setup| {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            upload_csv(&datasets, &format!("new{}", host.reports().len()), "x\n1\n").await.unwrap();
        });
    }
    assert_eq!(std::fs::read(damaged.with_file_name("lost-1-4321.arrow")).unwrap(), b"ARROW1");
    let is_lost = |file: &std::path::PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap();
        name.starts_with("lost-") && name.ends_with(".part")
    };
    let parts = files(folder.path()).into_iter().filter(is_lost);
    assert_eq!(parts.map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>(), [LATE[0]]);
}

#[test]
fn a_start_reports_data_sets_whose_contents_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    keep_something(folder.path(), &Counting::default());
    for times in 0..3 {
        life(folder.path(), 2, async |host, setup| {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            let reports = host.reports();
            if times == 0 {
                assert!(reports.is_empty(), "{reports:?}");
            } else {
                let expected = "the contents of a data set are gone from the disk; remove and bring in again: \"one\"";
                assert_eq!(reports["/datasets"], [expected]);
                let fault = datasets.call(Take { name: "one".into() }).await.unwrap_err();
                assert!(fault.reason().contains("is damaged"), "{fault}");
            }
        });
        if times == 0 {
            let arrows =
                files(folder.path()).into_iter().filter(|file| file.extension().is_some_and(|of| of == "arrow"));
            let number =
                |file: &std::path::PathBuf| file.file_stem().unwrap().to_str().unwrap().parse::<u64>().unwrap();
            // The first data set has the first content.
            std::fs::remove_file(arrows.min_by_key(number).unwrap()).unwrap();
        }
    }
}

#[test]
fn without_its_document_a_service_of_jobs_does_not_start_and_then_spares_what_its_jobs_have_made_28() {
    let folder = tempfile::tempdir().unwrap();
    keep_something(folder.path(), &Counting::default());
    let document = folder.path().join("counting/document.json");
    for name in ["document.json", "document.json.copy"] {
        std::fs::remove_file(document.with_file_name(name)).unwrap();
    }
    let kept = files(folder.path());
    for _ in 0..2 {
        life(folder.path(), 2, async |host, setup| {
            setup.start_datasets(&host, "/datasets").await.unwrap();
            let fault = setup.start_method(&host, "/counting", Counting::default()).await.unwrap_err();
            assert!(fault.reason().contains("document.json is gone, and so is its copy"), "{fault}");
        });
        assert_eq!(files(folder.path()), kept);
    }
    let verified = lehr_jobs::backup::verify(folder.path()).unwrap_err().to_string();
    assert_eq!(verified, format!("{}: gone, and so is its copy", document.display()));
    std::fs::remove_file(document.with_file_name(".document.json.kept")).unwrap();
    life(folder.path(), 2, async |host, setup| {
        let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
        let before = datasets.get().await.unwrap().datasets["counting-1/numbers"].checksum.clone();
        let method = Counting::default();
        let jobs = setup.start_method(&host, "/counting", method.clone()).await.unwrap();
        let reports = host.reports()["/counting"].clone();
        assert!(reports[0].contains("checkpoints of unknown jobs were moved to"), "{reports:?}");
        let order = Order { input: one_and_two(), ..Order::new("", &Steps { steps: 1, panics: false }) };
        // The tables of the first job exist; the second job had none yet.
        assert_eq!(run(&jobs, order).await.unwrap(), "counting-2");
        method.gate.post(()).unwrap();
        assert_eq!(wait(&jobs, "counting-2").await.state, State::Done);
        let datasets = datasets.get().await.unwrap();
        assert_eq!(datasets.datasets["counting-1/numbers"].checksum, before);
        assert!(datasets.datasets.contains_key("counting-2/numbers"));
    });
}
