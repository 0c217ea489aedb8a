//! Predictions: models that are loaded, replaced, lost and removed, and the limits of the service.

use lehr_jobs::datasets::{Datasets, Put, Take};
use lehr_jobs::jobs::{Jobs, Order, Record, State};
use lehr_jobs::predictions::{Load, Loaded, Predict, Predicted, Predictions, Remove, Settings};
use lehr_jobs::{DatasetService, Form, Handle, RowFormat, Setup, Table};
use lehr_methods::cluster::Cluster;
use lehr_methods::mixture::Mixture;
use lehr_methods::{Learnt, ModelFile};
use lehr_mining::vector::Centroids;
use lehr_services::{Code, Fault, Host, Reference};
use serde_json::{Map, Value, json};

use super::http::{csv, on_a_node, post};
use super::restarts::life;
use super::samples::*;
use crate::on_one_host;

/// Returns a model of clusters with these centres on a line.
fn line(centers: &[f64]) -> Value {
    let centroids = Centroids::new(1, centers.to_vec(), 0.0).unwrap();
    let model = ModelFile::new(&["x".to_owned()], (vec![0.0], vec![1.0]), Learnt::Clusters(centroids));
    serde_json::to_value(&model).unwrap()
}

fn rows(text: &str) -> Option<Vec<Map<String, Value>>> {
    Some(serde_json::from_str(text).unwrap())
}

fn clusters(said: &Predicted) -> Vec<u64> {
    said.rows.json.as_ref().unwrap().objects().iter().map(|row| row["cluster"].as_u64().unwrap()).collect()
}

async fn load(predictions: &Reference<Predictions>, name: &str, model: Value) -> Result<Loaded, Fault> {
    predictions.call(Load { model: Some(model), ..Load::named(name) }).await
}

async fn clustered(host: &Host, setup: &Setup) -> (Reference<Datasets>, Record) {
    let datasets = setup.start_datasets(host, "/datasets").await.unwrap();
    let clustering = setup.start_declared(host, "/clustering", &Cluster).await.unwrap();
    upload_csv(&datasets, "clouds", &clouds()).await.unwrap();
    let options = json!({ "clusters": 3, "scale": "std" });
    let job = run(&clustering, Order::new("clouds", &options)).await.unwrap();
    (datasets, wait(&clustering, &job).await)
}

#[test]
fn the_model_of_a_job_says_of_its_rows_what_the_job_said() {
    on_one_host(async |host| {
        let setup = Setup::default();
        let (datasets, job) = clustered(&host, &setup).await;
        assert_eq!(job.state, State::Done);
        let predictions = setup.start_predictions(&host, "/predictions").await.unwrap();
        let loaded = predictions.call(Load { job: Some(job.clone()), ..Load::named("sites") }).await.unwrap();
        assert_eq!((loaded.version, &*loaded.kind, loaded.is_own), (1, "clusters", false));
        assert_eq!(loaded.dataset, job.outputs["model"]);
        let labels = datasets.call(Take { name: job.outputs["labels"].clone() }).await.unwrap().0;
        let expected = labels.counts("cluster").unwrap().to_vec();

        let of_dataset = Predict { dataset: Some("clouds".into()), ..Predict::named("sites") };
        let said = predictions.call(of_dataset.clone()).await.unwrap();
        assert_eq!((said.version, said.rows.rows, clusters(&said)), (1, 300, expected.clone()));
        // The service of the method gives a bit-identical answer.
        let clustering = host.reference::<Jobs>("/clustering").unwrap();
        let of_job = json!({ "job": "clustering-1", "dataset": "clouds" });
        let of_job: lehr_jobs::jobs::Predict = serde_json::from_value(of_job).unwrap();
        assert_eq!(clustering.call(of_job).await.unwrap(), said.rows);

        // The same rows as a file, and as objects.
        let file = Predict {
            data: Some(clouds().into_bytes().into()),
            file_format: Some(Form::Csv),
            ..Predict::named("sites")
        };
        assert_eq!(predictions.call(file).await.unwrap(), said);
        let table = datasets.call(Take { name: "clouds".into() }).await.unwrap().0;
        let columns: Vec<_> = loaded.columns.iter().map(|name| (name, table.numbers(name).unwrap())).collect();
        let object = |row: usize| columns.iter().map(|(name, values)| ((*name).clone(), json!(values[row]))).collect();
        let objects = Predict { rows: Some((0..300).map(object).collect()), ..Predict::named("sites") };
        assert_eq!(clusters(&predictions.call(objects).await.unwrap()), expected);
        let lines = predictions.call(Predict { format: RowFormat::Csv, to: Some(2), ..of_dataset }).await.unwrap();
        assert_eq!(lines.rows.csv.unwrap().lines().count(), 3);
    });
}

#[test]
fn a_name_keeps_answering_while_its_model_is_replaced() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let predictions = Setup::default().start_predictions(&host, "/predictions").await.unwrap();
        load(&predictions, "line", line(&[0.0, 10.0])).await.unwrap();
        // Even versions have one centre more, so an answer shows which model made it.
        let asker = predictions.clone();
        let asking = host.dispatcher().spawn(async move {
            let mut versions = Vec::new();
            while versions.last() != Some(&9) {
                let asked = Predict { rows: rows(r#"[{ "x": 99 }]"#), ..Predict::named("line") };
                let said = asker.call(asked).await.unwrap();
                assert_eq!(clusters(&said), [1 + (said.version + 1) % 2]);
                versions.push(said.version);
            }
            assert!(versions.is_sorted());
        });
        {
            for version in 2..=9 {
                let model = if version % 2 == 0 { line(&[0.0, 10.0, 90.0]) } else { line(&[0.0, 10.0]) };
                assert_eq!(load(&predictions, "line", model).await.unwrap().version, version);
            }
        }
        asking.await.unwrap();
        // Only the data set of the last model is left.
        let own = || async {
            let names: Vec<String> = datasets.get().await.unwrap().datasets.keys().cloned().collect();
            names.into_iter().filter(|name| name.starts_with("predictions.line/")).count()
        };
        assert_eq!(own().await, 1);

        let pinned =
            |version| Predict { rows: rows(r#"[{ "x": 1 }]"#), version: Some(version), ..Predict::named("line") };
        assert_eq!(predictions.call(pinned(8)).await.unwrap_err().code(), Code::PreconditionFailed);
        assert_eq!(predictions.call(pinned(9)).await.unwrap().version, 9);
        // A model that cannot be loaded leaves the earlier one.
        let newer = {
            let mut model = line(&[1.0]);
            model["format"] = json!(2);
            model["version"] = json!("9.9");
            model
        };
        let fault = load(&predictions, "line", newer).await.unwrap_err();
        assert!(fault.reason().contains("found format 2: Lehr 9.9 wrote it"), "{fault}");
        assert_eq!(predictions.call(pinned(9)).await.unwrap().version, 9);
        // No version is used twice, not even after the model was removed.
        predictions.call(Remove { name: "line".into() }).await.unwrap();
        assert_eq!(own().await, 0);
        assert_eq!(predictions.call(pinned(9)).await.unwrap_err().code(), Code::UnknownEntry);
        assert_eq!(load(&predictions, "line", line(&[0.0])).await.unwrap().version, 10);
    });
}

#[test]
fn models_are_there_in_the_next_life_and_a_lost_one_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("model.json"), line(&[0.0, 10.0]).to_string()).unwrap();
    let one = || Predict { rows: rows(r#"[{ "x": 9.5 }]"#), ..Predict::named("file") };
    life(folder.path(), 2, async |host, setup| {
        let setup = Setup { data_root: Some(root.path().into()), ..setup };
        let (datasets, job) = clustered(&host, &setup).await;
        let predictions = setup.start_predictions(&host, "/predictions").await.unwrap();
        let of_file = Load { path: Some("model.json".into()), ..Load::named("file") };
        assert_eq!(predictions.call(of_file.clone()).await.unwrap().columns, ["x"]);
        predictions.call(Load { dataset: Some(job.outputs["model"].clone()), ..Load::named("job") }).await.unwrap();
        let outside = predictions.call(Load { path: Some("../model.json".into()), ..of_file }).await.unwrap_err();
        assert_eq!(outside.code(), Code::InvalidValue, "{outside}");
        datasets.call(lehr_jobs::datasets::Remove { name: job.outputs["model"].clone() }).await.unwrap();
        // The model in memory still answers.
        let asked = Predict { dataset: Some("clouds".into()), ..Predict::named("job") };
        assert_eq!(predictions.call(asked).await.unwrap().rows.rows, 300);
    });
    life(folder.path(), 2, async |host, setup| {
        setup.start_datasets(&host, "/datasets").await.unwrap();
        let predictions = setup.start_predictions(&host, "/predictions").await.unwrap();
        let said = predictions.call(one()).await.unwrap();
        assert_eq!((said.version, clusters(&said)), (1, vec![1]));
        let asked = Predict { dataset: Some("clouds".into()), ..Predict::named("job") };
        let lost = predictions.call(asked).await.unwrap_err();
        assert!(lost.reason().contains("\"clustering-1/model\": load it again"), "{lost}");
        // The node has no data root now.
        let of_file = predictions.call(Load { path: Some("model.json".into()), ..Load::named("x") }).await.unwrap_err();
        assert_eq!(of_file.code(), Code::PermissionDenied);
    });
}

#[test]
fn what_does_not_suit_is_refused_in_words() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let limits = Settings { rows: 3, ..Settings::default() };
        let setup = Setup { predictions: [("/predictions".to_owned(), limits)].into(), ..Setup::default() };
        let predictions = setup.start_predictions(&host, "/predictions").await.unwrap();
        load(&predictions, "line", line(&[0.0, 10.0])).await.unwrap();
        let table = Table::builder().numbers("x", vec![1.0]).build().unwrap();
        datasets.call(Put { name: "one".into(), table: Handle(table), replace: false }).await.unwrap();
        let asked = |text: &str| Predict { rows: rows(text), ..Predict::named("line") };
        for (predict, code, expected) in [
            (
                asked("[{ \"x\": 1 }, {}]"),
                Code::InvalidValue,
                "row 1 (counted from 0), column \"x\": expected a number",
            ),
            (asked("[{ \"y\": 1 }]"), Code::InvalidValue, "\"x\""),
            (asked("[{ \"x\": \"tall\" }]"), Code::InvalidValue, "x"),
            (asked("[{ \"x\": [1] }]"), Code::InvalidValue, "expected a number or a text"),
            (asked("[]"), Code::InvalidValue, "expected at least one object"),
            (Predict::named("line"), Code::InvalidValue, "found neither"),
            (Predict { dataset: Some("one".into()), ..asked("[{ \"x\": 1 }]") }, Code::InvalidValue, "found several"),
            (
                asked("[{ \"x\": 1 }, { \"x\": 1 }, { \"x\": 1 }, { \"x\": 1 }]"),
                Code::TooLarge,
                "at most 3 are allowed",
            ),
            (Predict { name: "other".into(), ..asked("[{ \"x\": 1 }]") }, Code::UnknownEntry, "no model \"other\""),
        ] {
            let fault = predictions.call(predict).await.unwrap_err();
            assert!(fault.code() == code && fault.reason().contains(expected), "{fault}");
        }
        for (order, expected) in [
            (Load::named("line"), "found none"),
            (Load { dataset: Some("one".into()), ..Load::named("line") }, "without a column model"),
            (Load { path: Some("a".into()), model: Some(line(&[0.0])), ..Load::named("line") }, "found several"),
            (Load { model: Some(json!({})), ..Load::named("line") }, "expected a model"),
            (Load { model: Some(line(&[0.0])), ..Load::named("..") }, "name: "),
        ] {
            let fault = predictions.call(order).await.unwrap_err();
            assert!(fault.reason().contains(expected), "{fault}");
        }
    });
}

#[test]
fn a_mixture_takes_rows_with_gaps_if_they_are_allowed() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let mixture = Setup::default().start_declared(&host, "/mixture", &Mixture).await.unwrap();
        let predictions = Setup::default().start_predictions(&host, "/predictions").await.unwrap();
        upload_csv(&datasets, "clouds", &clouds()).await.unwrap();
        let job = run(&mixture, Order::new("clouds", &json!({ "components": 3 }))).await.unwrap();
        let job = wait(&mixture, &job).await;
        let columns = predictions.call(Load { job: Some(job), ..Load::named("m") }).await.unwrap().columns;
        let row: Map<String, Value> = columns.iter().skip(1).map(|name| (name.clone(), json!(0.5))).collect();
        let asked = Predict { rows: Some(vec![row]), ..Predict::named("m") };
        // A column that no row has may be misspelt, so it needs a null.
        for gaps in [false, true] {
            let fault = predictions.call(Predict { gaps, ..asked.clone() }).await.unwrap_err();
            assert!(fault.reason().contains("expected a column"), "{fault}");
        }
        let mut with_null = asked.rows.clone().unwrap();
        with_null[0].insert(columns[0].clone(), Value::Null);
        let with_null = Predict { rows: Some(with_null), ..asked };
        let fault = predictions.call(with_null.clone()).await.unwrap_err();
        assert!(fault.reason().contains("gaps allows missing values"), "{fault}");
        let said = predictions.call(Predict { gaps: true, ..with_null }).await.unwrap();
        assert!(said.rows.json.unwrap().objects()[0]["log_density"].is_number());
    });
}

#[test]
fn programs_send_rows_over_http_and_are_told_when_to_come_again_28() {
    on_a_node(async |host, _, url| {
        let limits = Settings { rows_per_second: Some(1), ..Settings::default() };
        let setup = Setup { predictions: [("/predictions".to_owned(), limits)].into(), ..Setup::default() };
        setup.start_predictions(host, "/predictions").await.unwrap();
        let body = json!({ "name": "line", "model": line(&[0.0, 10.0]) }).to_string();
        let (status, loaded) = post(&url, "/predictions:load", "application/json", body.as_bytes());
        assert_eq!((status, &loaded["version"]), (200, &json!(1)), "{loaded}");
        let (head, lines) = csv(&url, "/predictions:predict?name=line", "text/csv", "x\n9\n1\n2\n");
        assert!(head.contains("lehr-version: 1") && head.contains("lehr-rows: 0-3/3"), "{head}");
        assert_eq!(
            lines.lines().map(|line| line.split(',').nth(1).unwrap()).collect::<Vec<_>>(),
            ["cluster", "1", "0", "0"]
        );
        // A thousand rows take the rate of a thousand seconds, however slow this machine is.
        let many = "x\n".to_owned() + &"9\n".repeat(1000);
        loop {
            let (head, _) = csv(&url, "/predictions:predict?name=line", "text/csv", &many);
            if head.starts_with("http/1.1 200") {
                break;
            }
            assert!(head.starts_with("http/1.1 429"), "{head}");
        }
        let (head, _) = csv(&url, "/predictions:predict?name=line", "text/csv", "x\n9\n");
        let after: u64 = head.split("retry-after: ").nth(1).unwrap().lines().next().unwrap().trim().parse().unwrap();
        assert!(head.starts_with("http/1.1 429") && (900..=1001).contains(&after), "{head}");
        // Operations of the service itself are refused from others.
        let replace = json!({ "name": "line", "loaded": loaded }).to_string();
        let (status, fault) = post(&url, "/predictions:replace_model", "application/json", replace.as_bytes());
        assert_eq!(status, 403, "{fault}");
        let (status, _) = post(&url, "/predictions:read_file", "application/json", br#"{ "path": "x" }"#);
        assert_eq!(status, 403);
    });
}
