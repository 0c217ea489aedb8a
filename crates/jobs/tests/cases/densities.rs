//! Mixtures and topographic maps as jobs. The results are bit-identical to the library's in every format. Also covers
//! missing values, stops, restarts of the node, and refused options.

use lehr_data::datasets::iris;
use lehr_jobs::datasets::{Begin, Datasets, Take};
use lehr_jobs::declared::{ColumnScale, TableOptions};
use lehr_jobs::jobs::{Cancel, Jobs, Order, Record, ResultOf, Resume, Rows, State};
use lehr_jobs::{DatasetService, Form, Handle, RowFormat, Setup, Table};
use lehr_methods::cluster::{self, Cluster};
use lehr_methods::{gtm, mixture};
use lehr_mining::Execution;
use lehr_mining::anneal::Silent;
use lehr_services::{Host, Reference};

use super::restarts::life;
use super::samples::*;
use crate::{on_hosts, on_one_host};

/// The service of data sets, and the services of the two methods.
struct Services {
    datasets: Reference<Datasets>,
    mixture: Reference<Jobs>,
    gtm: Reference<Jobs>,
}

impl Services {
    async fn on(host: &Host) -> Self {
        Self {
            datasets: host.start("/datasets", DatasetService::in_memory).await.unwrap(),
            mixture: Setup::default().start_declared(host, "/mixture", &mixture::Mixture).await.unwrap(),
            gtm: Setup::default().start_declared(host, "/gtm", &gtm::Gtm).await.unwrap(),
        }
    }

    async fn kept(host: &Host, setup: &Setup) -> Self {
        Self {
            datasets: setup.start_datasets(host, "/datasets").await.unwrap(),
            mixture: setup.start_declared(host, "/mixture", &mixture::Mixture).await.unwrap(),
            gtm: setup.start_declared(host, "/gtm", &gtm::Gtm).await.unwrap(),
        }
    }

    async fn table(&self, name: &str) -> Table {
        self.datasets.call(Take { name: name.into() }).await.unwrap().0
    }
}

/// Returns Iris as a text file: a name, the four measurements, and a weight.
fn flowers() -> String {
    let points = iris().0;
    let rows = (0..points.len()).map(|row| {
        let cells: Vec<String> = points.row(row).iter().map(f64::to_string).collect();
        format!("f{row},{},{}\n", cells.join(","), 1 + row % 3)
    });
    format!("name,{},count\n{}", points.columns().join(","), rows.collect::<String>())
}

async fn bring_flowers(services: &Services) {
    bring_flowers_to(&services.datasets).await;
}

async fn bring_flowers_to(datasets: &Reference<Datasets>) {
    let begin = Begin { weights: Some("count".into()), id: Some("name".into()), ..Begin::new("flowers", Form::Csv) };
    upload(datasets, begin, flowers().as_bytes()).await.unwrap();
}

fn weighted() -> lehr_data::Points {
    iris().0.with_weights((0..150).map(|row| (1 + row % 3) as f64).collect()).unwrap()
}

async fn done(jobs: &Reference<Jobs>, order: Order) -> Record {
    let job = run(jobs, order).await.unwrap();
    let record = wait(jobs, &job).await;
    assert_eq!((record.state, record.fault.as_ref()), (State::Done, None), "{job}");
    record
}

async fn reason(jobs: &Reference<Jobs>, order: Order) -> String {
    let job = run(jobs, order).await.unwrap();
    let record = wait(jobs, &job).await;
    assert_eq!(record.state, State::Failed, "{job}");
    record.fault.unwrap().reason().to_owned()
}

fn three() -> mixture::Options {
    mixture::Options { components: Some(3), ..mixture::Options::default() }
}

fn small() -> gtm::Options {
    gtm::Options { nodes: Some(6), basis: Some(3), ..gtm::Options::default() }
}

/// Returns table options that choose only these columns.
fn columns(names: &[&str]) -> TableOptions {
    let columns = Some(names.iter().map(|&name| name.to_owned()).collect());
    TableOptions { columns, ..TableOptions::default() }
}

held! {
    Mixture "lehr.mixture" mixture::Mixture, &["points"], &[];
    Gtm "lehr.gtm" gtm::Gtm, &["points"], &[];
}

fn counts(labels: &[u32]) -> Vec<u64> {
    labels.iter().map(|&label| u64::from(label)).collect()
}

#[test]
fn a_mixture_and_a_map_have_the_bits_of_the_library() {
    let points = weighted();
    let execution = Execution::default();
    let model = lehr_mining::mixture::fit(&points, &three().parameters(), &execution, &mut Silent).unwrap();
    let map = lehr_mining::gtm::fit(&points, &small().parameters(), &execution, &mut Silent).unwrap();
    on_hosts(async |host| {
        let services = Services::on(&host).await;
        bring_flowers(&services).await;
        let fitted = done(&services.mixture, Order::new("flowers", &three())).await;
        let labels = services.table(&fitted.outputs["labels"]).await;
        assert_eq!(labels.counts("component").unwrap(), counts(&model.labels));
        assert_eq!(*labels.numbers("probability").unwrap(), model.probabilities);
        assert_eq!(*labels.numbers("log_density").unwrap(), model.log_densities);
        assert_eq!(labels.texts("id").unwrap()[149], "f149");
        let components = services.table(&fitted.outputs["components"]).await;
        assert_eq!(components.numbers("weight").unwrap().into_owned(), model.mixture.weights());
        let means: Vec<f64> = (0..3).map(|k| model.mixture.mean(k)[2]).collect();
        assert_eq!(*components.numbers("petal_length").unwrap(), means);
        assert_eq!(components.counts("rows").unwrap().iter().sum::<u64>(), 150);
        let covariances = services.table(&fitted.outputs["covariances"]).await;
        assert_eq!(covariances.rows(), 3 * 10);
        // The second row has the covariance of the first and the second column, of the first component.
        let texts = |name: &str| covariances.texts(name).unwrap()[1].clone();
        assert_eq!((texts("column"), texts("with")), ("sepal_length".to_owned(), "sepal_width".to_owned()));
        assert_eq!(covariances.numbers("covariance").unwrap()[1], model.mixture.covariance(0)[1]);
        assert_eq!(fitted.figures["log_likelihood"], model.criteria.log_likelihood);
        assert_eq!((fitted.figures["bic"], fitted.figures["components"]), (model.criteria.bic, 3.0));
        let history = services.table(&fitted.outputs["history"]).await;
        assert_eq!(*history.numbers("log_likelihood_per_weight").unwrap(), model.ascent);

        let laid = done(&services.gtm, Order::new("flowers", &small())).await;
        let places = services.table(&laid.outputs["places"]).await;
        for (axis, name) in ["z1", "z2"].into_iter().enumerate() {
            let expected: Vec<f64> = (0..150).map(|row| map.places.position(row)[axis]).collect();
            assert_eq!(*places.numbers(name).unwrap(), expected, "{name}");
        }
        assert_eq!(places.counts("node").unwrap(), counts(&map.places.modes));
        assert_eq!(*places.numbers("entropy").unwrap(), map.places.entropies);
        let nodes = services.table(&laid.outputs["nodes"]).await;
        let image = map.map.at(&map.map.node(7));
        assert_eq!(nodes.numbers("petal_width").unwrap()[7], image[3]);
        assert_eq!(nodes.counts("rows").unwrap().iter().sum::<u64>(), 150);
        let candidates = services.table(&laid.outputs["candidates"]).await;
        assert_eq!(candidates.texts("start").unwrap(), ["annealed", "plane"]);
        assert_eq!(candidates.counts("kept").unwrap().iter().sum::<u64>(), 1);
        let found: Vec<f64> = map.candidates.iter().map(|candidate| candidate.log_likelihood).collect();
        assert_eq!(*candidates.numbers("log_likelihood").unwrap(), found);
        assert_eq!((laid.figures["log_likelihood"], laid.figures["order"]), (map.log_likelihood, map.order));
        assert_eq!(services.table(&laid.outputs["history"]).await.rows(), map.history.len());
    });
}

#[test]
fn scaled_columns_come_back_in_their_own_units() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        // The same rows, with the second column in another unit.
        let rows = (0..60).map(|row| {
            let (x, y) = (f64::from(row % 7) + f64::from(row) / 60.0, f64::from(row % 5) + f64::from(row % 3));
            format!("{x},{}\n", 1000.0 * y)
        });
        upload_csv(&services.datasets, "rows", &format!("component,z1\n{}", rows.collect::<String>())).await.unwrap();
        let scaled = TableOptions { scale: Some(ColumnScale::Std), ..TableOptions::default() };
        let options = scaled.with(&mixture::Options { components: Some(1), ..Default::default() });
        let fitted = done(&services.mixture, Order::new("rows", &options)).await;
        let components = services.table(&fitted.outputs["components"]).await;
        // The result's own columns keep their names, and the columns of the data are renamed.
        let names: Vec<&str> = components.columns().map(|(name, _)| name).collect();
        assert_eq!(names, ["component", "weight", "rows", "component_", "z1", "sd_component_", "sd_z1"]);
        let y: Vec<f64> = (0..60).map(|row| 1000.0 * (f64::from(row % 5) + f64::from(row % 3))).collect();
        let mean = y.iter().sum::<f64>() / 60.0;
        let variance = y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / 60.0;
        let of = |name: &str| components.numbers(name).unwrap()[0];
        assert!((of("z1") - mean).abs() < 1e-9 * mean, "{}", of("z1"));
        // Each row counts as a cloud with a millionth of the variance.
        assert!((of("sd_z1") - variance.sqrt()).abs() < 1e-5 * variance.sqrt(), "{}", of("sd_z1"));
        let covariances = services.table(&fitted.outputs["covariances"]).await;
        let last = covariances.numbers("covariance").unwrap()[2];
        assert!((last - variance).abs() < 1e-5 * variance, "{last} for {variance}");
        let options = scaled.with(&small());
        let laid = done(&services.gtm, Order::new("rows", &options)).await;
        let nodes = services.table(&laid.outputs["nodes"]).await;
        let names: Vec<&str> = nodes.columns().map(|(name, _)| name).collect();
        assert_eq!(names, ["node", "z1", "z2", "component", "z1_", "magnification", "rows"]);
        let images = nodes.numbers("z1_").unwrap();
        assert!(images.iter().all(|y| (-2000.0..8000.0).contains(y)) && images.iter().any(|y| *y > 2000.0));
    });
}

#[test]
fn names_of_results_are_distinct_whatever_the_columns_are_called() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let rows: String = (0..60).map(|row| format!("{},{},{},{}\n", row % 5, row % 7, row % 3, row % 11)).collect();
        upload_csv(&services.datasets, "rows", &format!("x,sd_x,weight,weight_\n{rows}")).await.unwrap();
        let one = mixture::Options { components: Some(1), ..mixture::Options::default() };
        let fitted = done(&services.mixture, Order::new("rows", &one)).await;
        let components = services.table(&fitted.outputs["components"]).await;
        let names: Vec<&str> = components.columns().map(|(name, _)| name).collect();
        let means = ["component", "weight", "rows", "x", "sd_x_", "weight__", "weight_"];
        assert_eq!(names[..7], means);
        assert_eq!(names[7..], ["sd_x", "sd_sd_x_", "sd_weight__", "sd_weight_"]);
        assert!((components.numbers("sd_x_").unwrap()[0] - 2.95).abs() < 0.1, "the mean of the data's sd_x");
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let options = cluster::Options { clusters: Some(2), ..cluster::Options::default() };
        let found = done(&clustering, Order::new("rows", &options)).await;
        let centers = services.table(&found.outputs["centers"]).await;
        let names: Vec<&str> = centers.columns().map(|(name, _)| name).collect();
        let expected = ["cluster", "x", "sd_x", "weight__", "weight_", "weight", "spread"];
        assert_eq!(
            names,
            [&expected[..], &["probability", "silhouette", "merges_with", "joins", "joins_at", "name"]].concat()
        );
        // A column that is named twice would count twice, so the job is refused before anything is fitted.
        let twice = columns(&["x", "sd_x", "x"]);
        let found = reason(&services.gtm, Order::new("rows", &twice.with(&small()))).await;
        assert_eq!(found, "rows: expected each column to be chosen once, found \"x\" twice");
        let found = reason(&services.mixture, Order::new("rows", &twice.with(&three()))).await;
        assert_eq!(found, "rows: expected each column to be chosen once, found \"x\" twice");
    });
}

#[test]
fn rows_with_gaps_are_warned_of_as_whole_ones_are() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let row = |at: i32, x: String| format!("{at},{x},{}\n", 1e5 * f64::from(at * at % 13));
        let whole: String = (0..60).map(|at| row(at, (at % 7).to_string())).collect();
        let gaps: String =
            (0..60).map(|at| row(at, if at % 7 == 3 { String::new() } else { (at % 7).to_string() })).collect();
        upload_csv(&services.datasets, "whole", &format!("n,x,y\n{whole}")).await.unwrap();
        let begin = Begin { gaps: true, ..Begin::new("gaps", Form::Csv) };
        upload(&services.datasets, begin, format!("n,x,y\n{gaps}").as_bytes()).await.unwrap();
        let (begins, counts) =
            ("the spread of column \"y\" (standard deviation ", "column \"n\" counts the rows (0, 1, 2, ...)");
        for name in ["whole", "gaps"] {
            let warnings = done(&services.gtm, Order::new(name, &small())).await.warnings;
            assert!(
                warnings[0].starts_with(begins) && warnings[0].contains(" times that of \"x\" ("),
                "{name}: {warnings:?}"
            );
            assert!(warnings[1].starts_with(counts), "{name}: {warnings:?}");
            let scaled = TableOptions { scale: Some(ColumnScale::Std), ..TableOptions::default() }.with(&small());
            let warnings = done(&services.gtm, Order::new(name, &scaled)).await.warnings;
            assert!(warnings.iter().all(|warning| !warning.starts_with("the spread")), "{name}: {warnings:?}");
        }
    });
}

#[test]
fn results_are_rows_in_each_form() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        bring_flowers(&services).await;
        done(&services.gtm, Order::new("flowers", &small())).await;
        done(&services.mixture, Order::new("flowers", &three())).await;
        let rows = |job: &str, table: &str, format| Rows {
            job: job.into(),
            table: table.into(),
            format,
            from: 3,
            to: Some(5),
        };
        let csv = services.gtm.call(ResultOf::of(rows("gtm-1", "places", RowFormat::Csv))).await.unwrap().csv.unwrap();
        assert!(csv.starts_with("f3,") && csv.lines().count() == 2, "only the first piece has a head: {csv}");
        let json = services.mixture.call(ResultOf::of(rows("mixture-1", "labels", RowFormat::Json))).await.unwrap();
        let json = json.json.unwrap();
        let json = json.objects();
        assert_eq!((json.len(), &json[1]["id"]), (2, &serde_json::json!("f4")));
        let arrow = services.mixture.call(ResultOf::of(rows("mixture-1", "labels", RowFormat::Arrow))).await.unwrap();
        let begin = Begin::new("again", Form::Arrow);
        upload(&services.datasets, begin, arrow.arrow.unwrap().as_slice()).await.unwrap();
        assert_eq!(services.table("again").await, services.table("mixture-1/labels").await.slice(3, 2));
    });
}

#[test]
fn gaps_are_left_out_of_a_map_and_of_a_mixture() {
    // Every seventh value is missing.
    let points = iris().0;
    let missing = |at: usize| at % 7 == 3;
    let cells = points.values().iter().enumerate().map(|(at, &x)| if missing(at) { f64::NAN } else { x });
    let records = lehr_data::Incomplete::new(cells.collect(), 4).unwrap();
    let map = lehr_mining::gtm::fit(&records, &small().parameters(), &Execution::default(), &mut Silent).unwrap();
    let fitted =
        lehr_mining::mixture::fit(&records, &three().parameters(), &Execution::default(), &mut Silent).unwrap();
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let rows = (0..150).map(|row| {
            let cells: Vec<String> =
                records.row(row).iter().map(|x| if x.is_nan() { String::new() } else { x.to_string() }).collect();
            format!("f{row},{}\n", cells.join(","))
        });
        let text = format!("name,{}\n{}", points.columns().join(","), rows.collect::<String>());
        let begin = Begin { gaps: true, id: Some("name".into()), ..Begin::new("gaps", Form::Csv) };
        upload(&services.datasets, begin, text.as_bytes()).await.unwrap();
        let laid = done(&services.gtm, Order::new("gaps", &small())).await;
        let places = services.table(&laid.outputs["places"]).await;
        let expected: Vec<f64> = (0..150).map(|row| map.places.position(row)[0]).collect();
        assert_eq!(*places.numbers("z1").unwrap(), expected);
        assert_eq!((places.texts("id").unwrap()[3].as_str(), laid.figures["missing_cells"]), ("f3", 86.0));
        let found = done(&services.mixture, Order::new("gaps", &three())).await;
        let labels = services.table(&found.outputs["labels"]).await;
        assert_eq!(*labels.numbers("log_density").unwrap(), fitted.log_densities);
        assert_eq!((labels.texts("id").unwrap()[3].as_str(), found.figures["missing_cells"]), ("f3", 86.0));
        let options = TableOptions { weights: Some("sepal_width".into()), ..TableOptions::default() }.with(&small());
        let found = reason(&services.gtm, Order::new("gaps", &options)).await;
        assert_eq!(found, "gaps: weights: expected none of a data set with gaps, found \"sepal_width\"");
    });
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        upload_csv(&services.datasets, "few", "x,y,same\n0,1,7\n2,3,7\n4,0,7\n").await.unwrap();
        // These options are refused before the job is queued.
        for (options, expected) in [
            (gtm::Options { dimensions: 4, ..small() }, "dimensions: expected 1 to 3, found 4"),
            (
                gtm::Options { basis: Some(9), ..small() },
                "basis: expected at most as many functions as there are nodes",
            ),
            (gtm::Options { tolerance: 0.0, ..small() }, "tolerance: expected 1e-12 to 0.01, found 0"),
        ] {
            let fault = run(&services.gtm, Order::new("few", &options)).await.unwrap_err();
            assert!(fault.reason().contains(expected), "{fault}");
        }
        for (options, expected) in [
            (mixture::Options { components: Some(0), ..three() }, "components: expected at least 1, found 0"),
            (mixture::Options { max_components: Some(4), ..three() }, "max_components: expected without components"),
            (mixture::Options { cooling: 1.0, ..three() }, "cooling: expected 0.5 to 0.999, found 1"),
        ] {
            let fault = run(&services.mixture, Order::new("few", &options)).await.unwrap_err();
            assert!(fault.reason().contains(expected), "{fault}");
        }
        // These options are refused once the data are read, because the number of nodes depends on the rows.
        let finest = gtm::Options { basis: Some(15), ..gtm::Options::default() };
        let found = reason(&services.gtm, Order::new("few", &finest.clone())).await;
        let expected = "few: basis: expected at most as many functions as there are nodes, found 226 functions, the constant one included, for 225 nodes";
        assert_eq!(found, expected);
        let line: String = (0..2000).map(|row| format!("{row},{}\n", row * row % 7)).collect();
        upload_csv(&services.datasets, "many", &format!("x,y\n{line}")).await.unwrap();
        // The plane is laid out in a single iteration.
        let once = gtm::Options { init: gtm::Start::Plane, max_iterations: 1, ..finest };
        assert_eq!(done(&services.gtm, Order::new("many", &once)).await.figures["nodes"], 400.0);
        let found = reason(&services.gtm, Order::new("few", &columns(&["x"]).with(&small()))).await;
        let expected =
            "few: a map of 2 dimensions needs as many columns, found 1: ask for fewer dimensions, or use more columns";
        assert_eq!(found, expected);
        let found = reason(&services.gtm, Order::new("few", &columns(&["z"]).with(&small()))).await;
        assert!(found.contains("few") && found.contains("\"z\"") && found.contains("same"), "{found}");
        let options = columns(&["x"]).with(&mixture::Options { components: Some(9), ..three() });
        let found = reason(&services.mixture, Order::new("few", &options)).await;
        assert_eq!(found, "few: you requested 9 components, but only 3 rows have a weight above 0: request 3 or fewer");
        let found = reason(&services.mixture, Order::new("few", &three())).await;
        assert!(found.starts_with("few: 1 of the columns are the same in all rows"), "{found}");
        assert!(found.contains(": same; expected columns that vary"), "{found}");
    });
}

/// Returns the checksums of all results.
/// Reports are left out, because they contain the duration of the job.
async fn made(datasets: &Reference<Datasets>) -> Vec<(String, String)> {
    let state = datasets.get().await.unwrap();
    let made = state.datasets.iter().filter(|(name, _)| name.contains('/') && !name.ends_with("/report"));
    made.map(|(name, dataset)| (name.clone(), dataset.checksum.clone())).collect()
}

/// Requests a mixture and a map of the flowers. Repeated requests do not start further jobs.
async fn order_both(datasets: &Reference<Datasets>, mixture: &Reference<Jobs>, gtm: &Reference<Jobs>) {
    if !datasets.get().await.unwrap().datasets.contains_key("flowers") {
        bring_flowers_to(datasets).await;
    }
    let key = |name: &str| Some(name.to_owned());
    let options = mixture::Options { max_components: Some(6), ..mixture::Options::default() };
    let order = Order { output: key("m"), key: key("m"), ..Order::new("flowers", &options) };
    run(mixture, order).await.unwrap();
    let options = gtm::Options { nodes: Some(10), basis: Some(4), ..gtm::Options::default() };
    let order = Order { output: key("g"), key: key("g"), ..Order::new("flowers", &options) };
    run(gtm, order).await.unwrap();
}

#[test]
fn a_fit_that_is_cancelled_goes_on_to_the_same_bits() {
    on_hosts(async |host| {
        let services = Services::on(&host).await;
        bring_flowers(&services).await;
        let options = || gtm::Options { nodes: Some(10), basis: Some(4), ..gtm::Options::default() };
        let whole = done(&services.gtm, Order::new("flowers", &options())).await;
        let whole = services.table(&whole.outputs["places"]).await.checksum();
        let method = Held::<Gtm>::default();
        let held = Setup::default().start_method(&host, "/held", method.clone()).await.unwrap();
        method.holds.post(()).unwrap();
        let job = run(&held, Order::new("flowers", &options())).await.unwrap();
        assert_eq!(method.begun.receive().await.unwrap(), (job.clone(), false));
        held.call(Cancel::of(named(&job))).await.unwrap();
        assert_eq!(wait(&held, &job).await.state, State::Cancelled);
        held.call(Resume::of(named(&job))).await.unwrap();
        // The job continues from its checkpoint, not from the beginning.
        assert_eq!(method.begun.receive().await.unwrap(), (job.clone(), true));
        let record = wait(&held, &job).await;
        assert_eq!(record.state, State::Done);
        assert_eq!(services.table(&record.outputs["places"]).await.checksum(), whole);
    });
}

#[test]
fn fits_whose_node_ends_again_and_again_have_the_same_bits() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let undisturbed = std::cell::RefCell::new(Vec::new());
    life(whole.path(), 2, async |host, setup| {
        let services = Services::kept(&host, &setup).await;
        order_both(&services.datasets, &services.mixture, &services.gtm).await;
        assert_eq!(wait(&services.mixture, "mixture-1").await.state, State::Done);
        assert_eq!(wait(&services.gtm, "gtm-1").await.state, State::Done);
        *undisturbed.borrow_mut() = made(&services.datasets).await;
    });
    // The tables of each job, and its model.
    assert_eq!(undisturbed.borrow().len(), (5 + 1) + (4 + 1));
    // The checkpoints are gone.
    for service in ["mixture", "gtm"] {
        let kept = std::fs::read_dir(whole.path().join(service).join("checkpoints")).unwrap();
        assert_eq!(kept.count(), 0, "{service}");
    }
    // In each life of the node except the last, both jobs are told to stop before they have reported anything, and go
    // no further.
    for (at, is_last) in [(0, false), (1, false), (2, false), (3, true)] {
        let (mixture, gtm) = (Held::<Mixture>::default(), Held::<Gtm>::default());
        if !is_last {
            mixture.holds.post(()).unwrap();
            gtm.holds.post(()).unwrap();
        }
        life(parts.path(), 2, async |host, setup| {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            let mixtures = setup.start_method(&host, "/mixture", mixture.clone()).await.unwrap();
            let maps = setup.start_method(&host, "/gtm", gtm.clone()).await.unwrap();
            order_both(&datasets, &mixtures, &maps).await;
            assert_eq!(mixture.begun.receive().await.unwrap(), ("mixture-1".to_owned(), at > 0));
            assert_eq!(gtm.begun.receive().await.unwrap(), ("gtm-1".to_owned(), at > 0));
            if is_last {
                assert_eq!(wait(&mixtures, "mixture-1").await.state, State::Done);
                assert_eq!(wait(&maps, "gtm-1").await.state, State::Done);
                assert_eq!(made(&datasets).await, *undisturbed.borrow());
            }
        });
    }
}

#[test]
fn they_are_made_by_their_contracts_and_tell_how_far_they_are() {
    on_one_host(async |host| {
        Setup::default().register(&host);
        host.create("lehr.datasets", "/datasets").await.unwrap();
        let made = host.create("lehr.mixture", "/mixture").await.unwrap();
        assert_eq!((made.contract.name.as_str(), made.contract.version.to_string().as_str()), ("lehr.mixture", "1.0"));
        assert_eq!(host.create("lehr.gtm", "/gtm").await.unwrap().contract.name, "lehr.gtm");
        let services = Services {
            datasets: host.reference("/datasets").unwrap(),
            mixture: host.reference("/mixture").unwrap(),
            gtm: host.reference("/gtm").unwrap(),
        };
        bring_flowers(&services).await;
        let mut changes = services.gtm.subscribe(lehr_services::Subscribe::default()).await.unwrap();
        let job = run(&services.gtm, Order::new("flowers", &small())).await.unwrap();
        let mut stages = std::collections::BTreeSet::new();
        loop {
            changes.next().await.unwrap();
            let record = services.gtm.get().await.unwrap().jobs.get(&job).cloned();
            let Some(record) = record else { continue };
            if let Some(progress) = &record.progress {
                assert!((0.0..=1.0).contains(&progress.fraction));
                stages.insert(progress.stage.clone());
            }
            if record.state.has_ended() {
                break;
            }
        }
        let known = ["annealing", "fitting", "fitting from the plane", "labelling", "labelling from the plane"];
        assert!(!stages.is_empty() && stages.iter().all(|stage| known.contains(&stage.as_str())), "{stages:?}");
        let table = services.table(&format!("{job}/places")).await;
        assert_eq!(
            serde_json::from_str::<Handle>(&serde_json::to_string(&Handle(table.clone())).unwrap()).unwrap().0,
            table
        );
    });
}
