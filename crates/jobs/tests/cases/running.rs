//! Jobs from the request to their end.

use std::collections::BTreeMap;
use std::time::Duration;

use lehr_data::read::{Batches, Selection, svmlight};
use lehr_data::synthetic::bit_templates;
use lehr_jobs::datasets::{Begin, Datasets, Put, Remove as RemoveDataset, Take};
use lehr_jobs::jobs::{
    Cancel, CourseOf, Ended, Input, Jobs, Named, Options as JobOptions, Order, Progressed, Remove, ResultOf, Resume,
    Rows, SplitsOf, State, Wait, WaitFor,
};
use lehr_jobs::{Columns, DatasetService, Form, Handle, Method, RowFormat, Settings, Setup, Table};
use lehr_methods::cluster::{Cluster, Options};
use lehr_methods::minibatch::Minibatch;
use lehr_mining::anneal::Silent;
use lehr_mining::vector::{Cost, Parameters, cluster};
use lehr_mining::{Execution, kmeans, minibatch};
use lehr_services::{Code, Event, Host, Reference, Subscribe};

use super::samples::*;
use crate::{on_hosts, on_one_host};

async fn data(host: &Host) -> Reference<Datasets> {
    let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
    for name in ["one", "two"] {
        let table = Handle(Table::builder().numbers("x", vec![1.0]).build().unwrap());
        datasets.call(Put { name: name.into(), table, replace: false }).await.unwrap();
    }
    datasets
}

async fn counting(host: &Host, settings: &str) -> (Counting, Reference<Jobs>) {
    let (method, settings) = (Counting::default(), settings.parse::<Settings>().unwrap());
    let jobs = started(host, "/counting", settings, method.clone()).await;
    (method, jobs)
}

async fn started(host: &Host, path: &str, settings: Settings, method: impl Method) -> Reference<Jobs> {
    let setup = Setup { settings: [(path.to_owned(), settings)].into(), ..Setup::default() };
    setup.start_method(host, path, method).await.unwrap()
}

fn steps(steps: u64) -> Order {
    let input = Input::Named(BTreeMap::from([("table".into(), "one".into()), ("other".into(), "two".into())]));
    Order { input, ..Order::new("", &Steps { steps, panics: false }) }
}

fn options(json: serde_json::Value) -> JobOptions {
    serde_json::from_value(json).unwrap()
}

#[test]
fn a_clustering_has_the_bits_of_the_librarys() {
    on_hosts(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let begin =
            Begin { weights: Some("people".into()), id: Some("site".into()), ..Begin::new("clouds", Form::Csv) };
        upload(&datasets, begin, clouds().as_bytes()).await.unwrap();
        let job = run(&clustering, Order::new("clouds", &options(serde_json::json!({ "clusters": 3 })))).await.unwrap();
        assert_eq!(job, "clustering-1");
        let done = wait(&clustering, &job).await;
        assert_eq!((done.state, done.fault.as_ref()), (State::Done, None));
        assert!(done.times.queued_unix_ms <= done.times.started_unix_ms.unwrap());

        let table = datasets.call(Take { name: "clouds".into() }).await.unwrap().0;
        let points = table.points("clouds", &Columns::default()).unwrap();
        let parameters = Parameters { clusters: Some(3), ..Parameters::default() };
        let model = cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
        let labels = datasets.call(Take { name: "clustering-1/labels".into() }).await.unwrap().0;
        let expected: Vec<u64> = model.labels.iter().map(|&label| u64::from(label)).collect();
        assert_eq!(labels.counts("cluster").unwrap(), expected);
        assert_eq!(*labels.numbers("probability").unwrap(), model.probabilities);
        assert_eq!(labels.texts("id").unwrap()[299], "s299");
        let centers = datasets.call(Take { name: "clustering-1/centers".into() }).await.unwrap().0;
        let x: Vec<f64> = model.centers.chunks_exact(2).map(|center| center[0]).collect();
        assert_eq!((&*centers.numbers("x").unwrap(), done.figures["objective"]), (&*x, model.objective));
        // The next job takes the result by its name, because centres are points with weights.
        let next = run(
            &clustering,
            Order::new("clustering-1/centers", &options(serde_json::json!({ "clusters": 2, "columns": ["x", "y"] }))),
        );
        let next = wait(&clustering, &next.await.unwrap()).await;
        assert_eq!((next.state, next.figures["clusters"]), (State::Done, 2.0));
    });
}

#[test]
fn k_means_has_the_bits_of_the_librarys_and_a_row_for_each_start() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let begin =
            Begin { weights: Some("people".into()), id: Some("site".into()), ..Begin::new("clouds", Form::Csv) };
        upload(&datasets, begin, clouds().as_bytes()).await.unwrap();
        let given = serde_json::json!({ "clusters": 3, "method": "kmeans", "starts": 4, "seed": 9, "sweeps": "plain" });
        let job = run(&clustering, Order::new("clouds", &options(given))).await.unwrap();
        let done = wait(&clustering, &job).await;
        assert_eq!((done.state, done.fault.as_ref()), (State::Done, None));

        let table = datasets.call(Take { name: "clouds".into() }).await.unwrap().0;
        let points = table.points("clouds", &Columns::default()).unwrap();
        let parameters = kmeans::Parameters { clusters: 3, starts: 4, seed: 9, ..kmeans::Parameters::default() };
        let model = kmeans::cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
        let taken = async |table: &str| datasets.call(Take { name: format!("{job}/{table}") }).await.unwrap().0;
        let labels = taken("labels").await;
        let expected: Vec<u64> = model.labels.iter().map(|&label| u64::from(label)).collect();
        assert_eq!(labels.counts("cluster").unwrap(), expected);
        assert!(labels.numbers("probability").unwrap().iter().all(|probability| *probability == 1.0));
        assert_eq!(*taken("history").await.numbers("sum_of_squares").unwrap(), model.starts);
        let y: Vec<f64> = model.centers.chunks_exact(2).map(|center| center[1]).collect();
        assert_eq!(*taken("centers").await.numbers("y").unwrap(), y);
        let names: Vec<&str> = done.figures.keys().map(String::as_str).collect();
        assert_eq!(names, ["clusters", "iterations", "objective", "sum_of_squares"]);
        assert_eq!(done.figures["sum_of_squares"], model.sum_of_squares);
    });
}

#[test]
fn a_sponge_labels_what_is_far_from_every_centre() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let near: String = (0..20).map(|row| format!("{}\n", row % 2 + row / 10 * 10)).collect();
        upload_csv(&datasets, "line", &format!("x\n{near}1000\n")).await.unwrap();
        let order = Order::new("line", &options(serde_json::json!({ "clusters": 2, "outlier_radius": 3.0 })));
        let job = run(&clustering, order).await.unwrap();
        let done = wait(&clustering, &job).await;
        assert_eq!((done.state, done.fault.as_ref()), (State::Done, None));
        assert_eq!((done.figures["outliers"], done.figures["outlier_weight"]), (1.0, 1.0));
        assert!((done.figures["sum_of_squares"] - 5.0).abs() < 1e-9, "{}", done.figures["sum_of_squares"]);
        let labels = datasets.call(Take { name: format!("{job}/labels") }).await.unwrap().0;
        let labels = labels.numbers("cluster").unwrap().to_vec();
        assert_eq!((labels[20], labels[0] == labels[9], labels[0] + labels[19]), (-1.0, true, 1.0));
    });
}

#[test]
fn fingerprints_are_clustered_as_bits_with_the_bits_of_the_librarys() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let rows = bit_templates(3, 30, 72, 0.3, 0.05, 2).0;
        let digits = |row: usize| -> String {
            let bytes = rows.row(row).iter().flat_map(|word| word.to_le_bytes());
            bytes.take(9).map(|byte| format!("{byte:02x}")).collect()
        };
        let fps: String = (0..rows.len()).map(|row| format!("{}\tc{row}\n", digits(row))).collect();
        let fps = format!("#FPS1\n#num_bits=72\n{fps}");
        upload(&datasets, Begin::new("compounds", Form::Fps), fps.as_bytes()).await.unwrap();
        let taken = async |name: String| datasets.call(Take { name }).await.unwrap().0;
        for (given, method) in [
            (serde_json::json!({ "clusters": 3 }), "da"),
            (serde_json::json!({ "clusters": 3, "method": "kmeans" }), "kmeans"),
        ] {
            let job = run(&clustering, Order::new("compounds", &options(given))).await.unwrap();
            let done = wait(&clustering, &job).await;
            assert_eq!((done.state, done.fault.as_ref(), done.warnings.len()), (State::Done, None, 0));
            let (expected, centers, squares) = if method == "da" {
                let parameters = Parameters { clusters: Some(3), ..Parameters::default() };
                let model = cluster(&rows, &parameters, &Execution::default(), &mut Silent).unwrap();
                (model.labels, model.centers, model.sum_of_squares)
            } else {
                let parameters = kmeans::Parameters { clusters: 3, ..kmeans::Parameters::default() };
                let model = kmeans::cluster(&rows, &parameters, &Execution::default(), &mut Silent).unwrap();
                (model.labels, model.centers, model.sum_of_squares)
            };
            let labels = taken(format!("{job}/labels")).await;
            let expected: Vec<u64> = expected.into_iter().map(u64::from).collect();
            assert_eq!(
                (labels.counts("cluster").unwrap(), &labels.texts("id").unwrap()[89]),
                (&expected[..], &"c89".to_owned())
            );
            let last: Vec<f64> = centers.chunks_exact(72).map(|center| center[71]).collect();
            assert_eq!(*taken(format!("{job}/centers")).await.numbers("bit71").unwrap(), last);
            assert_eq!(done.figures["sum_of_squares"], squares);
        }
        // Cluster by likelihood, which only bits support.
        let by_likelihood = serde_json::json!({ "clusters": 3, "cost": "bernoulli", "prior": 0.25 });
        let job = run(&clustering, Order::new("compounds", &options(by_likelihood))).await.unwrap();
        let done = wait(&clustering, &job).await;
        assert_eq!((done.state, done.fault.as_ref()), (State::Done, None));
        let parameters =
            Parameters { clusters: Some(3), cost: Cost::Bernoulli { prior: 0.25 }, ..Parameters::default() };
        let model = cluster(&rows, &parameters, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(done.figures["objective"], model.objective);
        assert!(!done.figures.contains_key("sum_of_squares"), "there is no distance: {:?}", done.figures);
        let expected: Vec<u64> = model.labels.into_iter().map(u64::from).collect();
        assert_eq!(taken(format!("{job}/labels")).await.counts("cluster").unwrap(), &expected[..]);
        // The data set has weights beside the fingerprints, which FPS files cannot have. If the options name columns,
        // the rows are numbers.
        let weights: Vec<f64> = (0..rows.len()).map(|row| (row % 4) as f64).collect();
        let table = Table::builder()
            .texts("fingerprint", (0..rows.len()).map(digits).collect())
            .numbers("doses", weights.clone())
            .weights(Some("doses".into()))
            .build()
            .unwrap();
        datasets.call(Put { name: "doses".into(), table: Handle(table), replace: false }).await.unwrap();
        let job = run(&clustering, Order::new("doses", &options(serde_json::json!({ "clusters": 3 })))).await.unwrap();
        let done = wait(&clustering, &job).await;
        let heavy = rows.clone().with_weights(weights.clone()).unwrap();
        let parameters = Parameters { clusters: Some(3), ..Parameters::default() };
        let model = cluster(&heavy, &parameters, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(done.figures["sum_of_squares"], model.sum_of_squares);
        assert_eq!(
            taken(format!("{job}/centers")).await.numbers("weight").unwrap().iter().sum::<f64>(),
            weights.iter().sum::<f64>()
        );
        let named = serde_json::json!({ "clusters": 2, "columns": ["doses"], "weights": "doses" });
        let job = run(&clustering, Order::new("doses", &options(named))).await.unwrap();
        assert_eq!(wait(&clustering, &job).await.state, State::Done);
        assert!(taken(format!("{job}/centers")).await.numbers("bit0").is_none());
        // Options that bits do not support are reported, with the options that would work.
        for (given, words) in [
            (
                serde_json::json!({ "clusters": 3, "scale": "std" }),
                "compounds: scale: for columns of numbers, which \"columns\" names",
            ),
            (serde_json::json!({ "clusters": 3, "lonlat": true }), "compounds: lonlat: for columns of numbers"),
            (serde_json::json!({ "clusters": 3, "weights": "doses" }), "doses"),
            (serde_json::json!({ "clusters": 91 }), "compounds: you requested 91 clusters, but only 90 rows"),
        ] {
            let job = run(&clustering, Order::new("compounds", &options(given))).await.unwrap();
            let done = wait(&clustering, &job).await;
            let reason = done.fault.unwrap();
            assert!(done.state == State::Failed && reason.reason().contains(words), "{}", reason.reason());
        }
    });
}

#[test]
fn sparse_rows_are_clustered_as_such_with_the_bits_of_the_librarys() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let row = |row: u32| format!("+1 {}:{}.5 {}:2 # a text\n", 1 + row % 2 * 30, row, 2 + row % 2 * 30);
        let text: String = (1..9).map(row).collect();
        upload(&datasets, Begin::new("texts", Form::Svmlight), text.as_bytes()).await.unwrap();
        let taken = async |name: String| datasets.call(Take { name }).await.unwrap().0;
        let expected = svmlight::rows_from(text.as_bytes(), "texts", None).unwrap();
        let table = taken("texts".into()).await;
        assert_eq!(table.texts("sparse").unwrap()[0], "31:1.5 32:2.0");
        assert_eq!(table.sparse("texts", &Columns::default()).unwrap().fingerprint(), expected.fingerprint());
        let given = options(serde_json::json!({ "clusters": 2 }));
        let job = run(&clustering, Order::new("texts", &given)).await.unwrap();
        let done = wait(&clustering, &job).await;
        assert_eq!((done.state, done.fault.as_ref()), (State::Done, None));
        let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
        let model = cluster(&expected, &parameters, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(done.figures["sum_of_squares"], model.sum_of_squares);
        let last: Vec<f64> = model.centers.chunks_exact(32).map(|center| center[31]).collect();
        assert_eq!(*taken(format!("{job}/centers")).await.numbers("x32").unwrap(), last);
        let given = options(serde_json::json!({ "clusters": 2, "scale": "robust" }));
        let job = run(&clustering, Order::new("texts", &given)).await.unwrap();
        let fault = wait(&clustering, &job).await.fault.unwrap();
        assert!(fault.reason().contains("texts: scale robust: for columns of numbers"), "{fault}");
    });
}

#[test]
fn a_stream_out_of_a_data_set_has_the_bits_of_the_librarys() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let jobs = Setup::default().start_declared(&host, "/minibatch", &Minibatch).await.unwrap();
        let begin =
            Begin { weights: Some("people".into()), id: Some("site".into()), ..Begin::new("clouds", Form::Csv) };
        upload(&datasets, begin, clouds().as_bytes()).await.unwrap();
        let given = options(serde_json::json!({ "clusters": 3, "batch_rows": 40, "half_life": 100 }));
        let job = run(&jobs, Order::new("clouds", &given)).await.unwrap();
        let done = wait(&jobs, &job).await;
        assert_eq!((done.state, done.fault.as_ref()), (State::Done, None));
        let columns = Some(["x", "y"].map(String::from).to_vec());
        let selection = Selection { columns, weights: Some("people".into()), ..Selection::default() };
        let text = clouds();
        let mut batches = Batches::new(text.as_bytes(), "clouds", &selection).unwrap();
        let parameters = minibatch::Parameters {
            clusters: 3,
            batch_rows: 40,
            half_life: Some(100.0),
            ..minibatch::Parameters::default()
        };
        let model = minibatch::cluster(&mut batches, &parameters, &Execution::default(), &mut Silent).unwrap();
        let centers = datasets.call(Take { name: format!("{job}/centers") }).await.unwrap().0;
        let x: Vec<f64> = model.centers.chunks_exact(2).map(|center| center[0]).collect();
        assert_eq!(*centers.numbers("x").unwrap(), x);
        assert_eq!((done.figures["objective"], done.figures["batches"]), (model.objective, model.batches as f64));
        let fault = run(&jobs, Order::new("clouds", &options(serde_json::json!({})))).await.unwrap_err();
        assert!(fault.reason().starts_with("clusters: expected a number"), "{fault}");
    });
}

#[test]
fn rows_of_a_result_come_in_each_form() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        upload_csv(&datasets, "line", "x\n0\n1\n10\n11\n").await.unwrap();
        let order = Order {
            output: Some("pairs".into()),
            ..Order::new("line", &options(serde_json::json!({ "clusters": 2 })))
        };
        let job = run(&clustering, order).await.unwrap();
        assert_eq!(wait(&clustering, &job).await.outputs["centers"], "pairs/centers");
        let rows = |table: &str, format| {
            ResultOf::of(Rows { job: job.clone(), table: table.into(), format, from: 0, to: None })
        };
        let centers = clustering.call(rows("centers", RowFormat::Csv)).await.unwrap();
        assert_eq!(
            centers.csv.unwrap(),
            "cluster,x,weight,spread,probability,silhouette,merges_with,joins,joins_at,name\n\
             0,10.5,2,0.5,1,0.949874686716792,1,,,like the average\n\
             1,0.5,2,0.5,1,0.949874686716792,0,0,1,like the average (2)\n"
        );
        let labels = clustering.call(rows("labels", RowFormat::Json)).await.unwrap().json.unwrap().objects();
        assert_eq!((labels.len(), labels[3]["cluster"].as_u64(), labels[3]["id"].as_str()), (4, Some(0), Some("3")));
        let fault = clustering.call(rows("maps", RowFormat::Csv)).await.unwrap_err();
        assert_eq!(
            fault.reason(),
            "clustering-1 has no table \"maps\"; it has centers, history, labels, marks, model, numbers, outliers, report, splits"
        );
    });
}

#[test]
fn what_cannot_be_meant_is_refused_before_it_is_queued() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        upload_csv(&datasets, "line", "x\n0\n1\n").await.unwrap();
        let refused = async |order: Order| run(&clustering, order).await.unwrap_err();
        let fault = refused(Order::new("line", &options(serde_json::json!({ "clusters": 0, "cooling": 2 })))).await;
        let reason = "clusters: expected at least 1, found 0; cooling: expected 0.5 to 0.999, found 2";
        assert_eq!(fault.reason(), reason);
        // Former names of options are still accepted, with the values that they had.
        let fault = refused(Order::new("line", &options(serde_json::json!({ "bits": 7 })))).await;
        assert!(fault.reason().contains("options.bits: "), "{fault}");
        for (given, reason) in [
            (
                serde_json::json!({ "method": "kmeans", "cooling": 0.9, "stop_length": 2.0 }),
                "stop_length: expected none with method kmeans, which takes clusters, n_init, max_iterations, algorithm, seed and precision; \
                 cooling: expected none with method kmeans, which takes clusters, n_init, max_iterations, algorithm, seed and precision; \
                 clusters: expected a number with method kmeans: only method da can tell how many there are",
            ),
            (
                serde_json::json!({ "starts": 3 }),
                "n_init: expected none with method da, which takes clusters, stop_temperature, stop_length, max_clusters, \
                 outlier_radius, cost, prior, cooling, tolerance, overshoot, patience, exact, seed and precision",
            ),
            (serde_json::json!({ "prior": 1.0 }), "prior: expected none without the cost bernoulli"),
            (
                serde_json::json!({ "cost": "bernoulli", "prior": 1.0, "stop_length": 2.0 }),
                "stop_length: expected none with the cost bernoulli, which is no distance, found 2",
            ),
            (
                serde_json::json!({ "method": "kmeans", "clusters": 2, "starts": 0 }),
                "n_init: expected 1 to 1000000, found 0",
            ),
        ] {
            assert_eq!(refused(Order::new("line", &options(given))).await.reason(), reason);
        }
        let fault = refused(Order::new("none", &Options::default())).await;
        assert_eq!((fault.code(), fault.reason()), (Code::UnknownEntry, "there is no data set \"none\""));
        let input = Input::Named(BTreeMap::from([("pints".to_owned(), "line".to_owned())]));
        let fault = refused(Order { input, ..Order::new("", &Options::default()) }).await;
        assert_eq!(fault.reason(), "input \"points\" is missing; there is no input \"pints\"");
        let fault = refused(Order { output: Some("../x".into()), ..Order::new("line", &Options::default()) }).await;
        assert_eq!(fault.code(), Code::InvalidValue);
        assert!(clustering.get().await.unwrap().jobs.is_empty());
        // Faults that only the data can show are faults of the job.
        for (given, reason) in [
            (
                serde_json::json!({ "clusters": 2, "cost": "bernoulli" }),
                "line: cost: expected rows of bits for the cost bernoulli, found rows of numbers",
            ),
            (
                serde_json::json!({ "clusters": 3 }),
                "line: you requested 3 clusters, but only 2 rows have a weight above 0: request 2 or fewer",
            ),
            (
                serde_json::json!({ "columns": ["y"] }),
                "line: expected a column \"y\", found the columns \"x\"; did you mean \"x\"?",
            ),
        ] {
            let job = run(&clustering, Order::new("line", &options(given))).await.unwrap();
            let failed = wait(&clustering, &job).await;
            assert_eq!((failed.state, failed.fault.unwrap().reason()), (State::Failed, reason));
        }
    });
}

#[test]
fn jobs_run_in_turn_and_beyond_the_bound_clients_are_told_to_come_again() {
    on_hosts(async |host| {
        let _datasets = data(&host).await;
        let (method, jobs) = counting(&host, "queue=2,concurrency=1").await;
        let first = run(&jobs, steps(1)).await.unwrap();
        assert_eq!(method.begun.receive().await.unwrap(), (first.clone(), 0));
        let second = run(&jobs, steps(1)).await.unwrap();
        let third = run(&jobs, steps(1)).await.unwrap();
        let full = run(&jobs, steps(1)).await.unwrap_err();
        assert_eq!((full.code(), full.retry_hint().is_some()), (Code::QueuingLimitExceeded, true));
        let state = jobs.get().await.unwrap();
        let states: Vec<State> = [&first, &second, &third].map(|job| state.jobs[job].state).into();
        assert_eq!(states, [State::Running, State::Queued, State::Queued]);
        drop(state);
        method.gate.post(()).unwrap();
        assert_eq!(method.begun.receive().await.unwrap(), (second.clone(), 0));
        for _ in 0..2 {
            method.gate.post(()).unwrap();
        }
        for job in [&first, &second, &third] {
            assert_eq!(wait(&jobs, job).await.state, State::Done);
        }
    });
}

#[test]
fn two_run_at_once_where_two_may() {
    on_hosts(async |host| {
        let _datasets = data(&host).await;
        let (method, jobs) = counting(&host, "concurrency=2").await;
        let mut ids = [run(&jobs, steps(1)).await.unwrap(), run(&jobs, steps(1)).await.unwrap()];
        let mut begun = [method.begun.receive().await.unwrap().0, method.begun.receive().await.unwrap().0];
        ids.sort();
        begun.sort();
        assert_eq!(ids, begun);
        method.gate.post(()).unwrap();
        method.gate.post(()).unwrap();
        for job in ids {
            assert_eq!(wait(&jobs, &job).await.outputs["numbers"], format!("{job}/numbers"));
        }
    });
}

#[test]
fn a_job_is_cancelled_while_it_waits_and_while_it_runs_and_goes_on_when_resumed() {
    on_hosts(async |host| {
        let datasets = data(&host).await;
        let (method, jobs) = counting(&host, "").await;
        let running = run(&jobs, steps(3)).await.unwrap();
        let waiting = run(&jobs, steps(1)).await.unwrap();
        method.gate.post(()).unwrap();
        assert_eq!(method.begun.receive().await.unwrap().1, 0);
        assert_eq!(method.begun.receive().await.unwrap().1, 1);
        jobs.call(Cancel::of(named(&waiting))).await.unwrap();
        assert_eq!(wait(&jobs, &waiting).await.state, State::Cancelled);
        let early = jobs.call(Remove::of(named(&running))).await.unwrap_err();
        assert_eq!(early.reason(), "counting-1 is running: cancel it first");
        jobs.call(Cancel::of(named(&running))).await.unwrap();
        assert_eq!(wait(&jobs, &running).await.state, State::Cancelled);
        let none = jobs.call(ResultOf::of(Rows {
            job: running.clone(),
            table: "numbers".into(),
            format: RowFormat::Json,
            from: 0,
            to: None,
        }));
        assert_eq!(none.await.unwrap_err().reason(), "counting-1 is cancelled: it has no result");
        jobs.call(Resume::of(named(&running))).await.unwrap();
        // The job continues from its checkpoint, not from the beginning.
        assert_eq!(method.begun.receive().await.unwrap(), (running.clone(), 1));
        method.gate.post(()).unwrap();
        method.gate.post(()).unwrap();
        assert_eq!(wait(&jobs, &running).await.state, State::Done);
        assert_eq!(datasets.call(Take { name: "counting-1/numbers".into() }).await.unwrap().0.rows(), 3);
        let done = jobs.call(Resume::of(named(&running))).await.unwrap_err();
        assert_eq!(done.reason(), "counting-1 is done: only what was cancelled or has failed is resumed");
        // Cancelling a job that has ended has no effect, and is not a fault.
        jobs.call(Cancel::of(named(&running))).await.unwrap();
        jobs.call(Remove::of(named(&running))).await.unwrap();
        assert_eq!(jobs.call(Wait::of(WaitFor::new(&running))).await.unwrap_err().code(), Code::UnknownEntry);
        assert!(datasets.call(Take { name: "counting-1/numbers".into() }).await.is_ok());
    });
}

#[test]
fn a_method_that_panics_fails_its_job_and_the_next_one_runs() {
    on_hosts(async |host| {
        let _datasets = data(&host).await;
        let (method, jobs) = counting(&host, "").await;
        let order = Order { options: JobOptions::of(&Steps { steps: 1, panics: true }), ..steps(1) };
        let job = run(&jobs, order).await.unwrap();
        method.gate.post(()).unwrap();
        let failed = wait(&jobs, &job).await;
        let fault = failed.fault.unwrap();
        assert_eq!(
            (failed.state, fault.reason(), fault.log_text()),
            (State::Failed, "the method failed inside", Some("counting-1 panicked: asked to"))
        );
        let next = run(&jobs, steps(1)).await.unwrap();
        method.gate.post(()).unwrap();
        assert_eq!(wait(&jobs, &next).await.state, State::Done);
    });
}

#[test]
fn an_order_with_a_key_is_one_job_however_often_it_is_sent() {
    on_one_host(async |host| {
        let _datasets = data(&host).await;
        let (method, jobs) = counting(&host, "").await;
        let order = || Order { key: Some("monday".into()), ..steps(1) };
        let job = run(&jobs, order()).await.unwrap();
        assert_eq!(run(&jobs, order()).await.unwrap(), job);
        method.gate.post(()).unwrap();
        wait(&jobs, &job).await;
        assert_eq!(run(&jobs, order()).await.unwrap(), job);
        assert_eq!(jobs.get().await.unwrap().jobs.len(), 1);
    });
}

#[test]
fn two_jobs_do_not_make_the_same_names() {
    on_one_host(async |host| {
        let datasets = data(&host).await;
        let (method, jobs) = counting(&host, "").await;
        let order = || Order { output: Some("numbers".into()), ..steps(1) };
        let job = run(&jobs, order()).await.unwrap();
        assert_eq!(run(&jobs, order()).await.unwrap_err().reason(), "another job is to make \"numbers\"");
        method.gate.post(()).unwrap();
        wait(&jobs, &job).await;
        let there = run(&jobs, order()).await.unwrap_err();
        assert!(there.reason().starts_with("there is a data set \"numbers/numbers\""), "{there}");
        datasets.call(RemoveDataset { name: "numbers/numbers".into() }).await.unwrap();
        assert!(run(&jobs, order()).await.is_ok());
        assert_eq!(method.begun.receive().await.unwrap().0, "counting-1");
        method.gate.post(()).unwrap();
    });
}

#[test]
fn who_waits_no_longer_is_told_how_far_the_job_is() {
    on_one_host(async |host| {
        let _datasets = data(&host).await;
        let (method, jobs) = counting(&host, "").await;
        let job = run(&jobs, steps(1)).await.unwrap();
        method.begun.receive().await.unwrap();
        // With a timeout of 0, the wait ends at once, even on a virtual clock.
        let wait_for = WaitFor { timeout_ms: Some(0), ..WaitFor::new(&job) };
        assert_eq!(jobs.call(Wait::of(wait_for)).await.unwrap().state, State::Running);
        let late = jobs.clone().within(Duration::ZERO).call(Wait::of(WaitFor::new(&job))).await.unwrap_err();
        assert_eq!(late.code(), Code::ResponseTimeout);
        method.gate.post(()).unwrap();
        assert_eq!(wait(&jobs, &job).await.state, State::Done);
    });
}

#[test]
fn subscribers_hear_of_each_step_of_a_jobs_life() {
    on_one_host(async |host| {
        let _datasets = data(&host).await;
        let (method, jobs) = counting(&host, "").await;
        let mut changes = jobs.subscribe(Subscribe::default()).await.unwrap();
        assert!(matches!(changes.next().await.unwrap(), Event::Seed(_)));
        let job = run(&jobs, steps(2)).await.unwrap();
        method.gate.post(()).unwrap();
        method.gate.post(()).unwrap();
        let mut names = Vec::new();
        let outcome = loop {
            let Event::Change(change) = changes.next().await.unwrap() else { panic!("a gap") };
            names.push(change.name().to_owned());
            if let Ok(progressed) = change.operation::<Progressed>() {
                assert_eq!((&progressed.body.job, progressed.body.progress.stage.as_str()), (&job, "counting"));
            }
            if let Ok(ended) = change.operation::<Ended>() {
                break ended.body.clone();
            }
        };
        assert_eq!(
            (&names[..2], names.last().unwrap().as_str()),
            (&["run".to_owned(), "start".to_owned()][..], "ended")
        );
        assert!(names.contains(&"progressed".to_owned()), "{names:?}");
        assert_eq!(outcome.outputs.unwrap()["numbers"], "counting-1/numbers");
    });
}

#[test]
fn whoever_comes_later_gets_the_course_of_a_running_job() {
    on_one_host(async |host| {
        let _datasets = data(&host).await;
        let (method, jobs) = counting(&host, "").await;
        let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
        let job = run(&jobs, steps(3)).await.unwrap();
        let course = async || jobs.call(CourseOf { body: Named { job: job.clone() } }).await.unwrap();
        let mut heard = Vec::new();
        for _ in 0..2 {
            method.gate.post(()).unwrap();
            loop {
                if let Event::Change(change) = changes.next().await.unwrap() {
                    heard.push(change.operation::<Progressed>().unwrap().body.progress.clone());
                    break;
                }
            }
        }
        let told = course().await;
        assert_eq!(told[..heard.len()], heard[..]);
        (0..2).for_each(|_| method.gate.post(()).unwrap());
        wait(&jobs, &job).await;
        // The outputs have the history now.
        assert!(course().await.is_empty());
        // A cancelled job has no history, so it keeps its course until it is removed.
        let job = run(&jobs, steps(9)).await.unwrap();
        method.gate.post(()).unwrap();
        loop {
            if let Event::Change(change) = changes.next().await.unwrap()
                && change.operation::<Progressed>().unwrap().body.job == job
            {
                break;
            }
        }
        jobs.call(Cancel::of(named(&job))).await.unwrap();
        (0..2).for_each(|_| method.gate.post(()).unwrap());
        assert_eq!(wait(&jobs, &job).await.state, State::Cancelled);
        assert!(!jobs.call(CourseOf { body: named(&job) }).await.unwrap().is_empty());
        let absent = || Named { job: "absent".to_owned() };
        assert_eq!(jobs.call(CourseOf { body: absent() }).await.unwrap_err().code(), Code::UnknownEntry);
        assert_eq!(jobs.call(SplitsOf { body: absent() }).await.unwrap_err().code(), Code::UnknownEntry);
        // This method does not anneal.
        assert_eq!(jobs.call(SplitsOf { body: named(&job) }).await.unwrap(), []);
    });
}

#[test]
fn those_that_ended_first_are_forgotten_first() {
    on_one_host(async |host| {
        let _datasets = data(&host).await;
        let (_, jobs) = counting(&host, "remembered=2").await;
        for _ in 0..11 {
            // The job has nothing to count, so it ends at once.
            let job = run(&jobs, steps(0)).await.unwrap();
            wait(&jobs, &job).await;
        }
        let state = jobs.get().await.unwrap();
        assert_eq!(state.jobs.keys().collect::<Vec<_>>(), ["counting-10", "counting-11"]);
    });
}

#[test]
fn a_service_without_data_sets_does_not_start() {
    on_one_host(async |host| {
        let placement = lehr_services::Placement::at("/clustering").patience(Duration::ZERO);
        let fault = Setup::default().start_declared(&host, placement, &Cluster).await.unwrap_err();
        assert_eq!(fault.code(), Code::StartFailed);
        assert!(fault.reason().contains("lehr.datasets"), "{fault}");
    });
}

/// Returns the cores on which the calling thread may run, such as `0-3,6`.
#[cfg(target_os = "linux")]
fn allowed() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    line.trim().to_owned()
}

/// A method that reports the cores to which its thread is bound, and those of a thread that it starts.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug, Default)]
struct Cores;

#[cfg(target_os = "linux")]
impl Method for Cores {
    const NAME: &'static str = "test.cores";
    const VERSION: lehr_services::Version = lehr_services::Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &["table"];
    const OUTPUTS: &'static [&'static str] = &["cores"];
    type Options = Steps;

    fn run(
        &self,
        job: &lehr_jobs::Job,
        _: &lehr_jobs::Inputs,
        _: &Steps,
    ) -> Result<lehr_jobs::Outputs, lehr_jobs::Failure> {
        let below = std::thread::scope(|scope| scope.spawn(allowed).join().unwrap());
        let table = Table::builder().texts("cores", vec![allowed(), below]).build()?;
        Ok(lehr_jobs::Outputs::new().table("cores", table).figure("threads", job.threads() as f64))
    }
}

#[cfg(target_os = "linux")]
#[test]
fn jobs_and_all_that_they_start_are_held_to_the_services_cores() {
    on_one_host(async |host| {
        let datasets = data(&host).await;
        let core = allowed().split([',', '-']).next().unwrap().to_owned();
        let settings: Settings = format!("cores={core}").parse().unwrap();
        let jobs = started(&host, "/cores", settings, Cores).await;
        let job = run(&jobs, Order::new("one", &Steps::default())).await.unwrap();
        let done = wait(&jobs, &job).await;
        assert_eq!((done.state, done.figures["threads"]), (State::Done, 1.0));
        let cores = datasets.call(Take { name: "cores-1/cores".into() }).await.unwrap().0;
        assert_eq!(cores.texts("cores").unwrap(), [core.clone(), core]);
        let settings: Settings = "cores=4095".parse().unwrap();
        let jobs = started(&host, "/none", settings, Cores).await;
        let job = run(&jobs, Order::new("one", &Steps::default())).await.unwrap();
        let fault = wait(&jobs, &job).await.fault.unwrap();
        assert!(fault.reason().starts_with("the job cannot be held to the cores [4095]"), "{fault}");
    });
}
