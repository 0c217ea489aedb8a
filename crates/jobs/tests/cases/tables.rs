//! Ordinary tables as data sets. Every column is kept and described, jobs prepare the columns as the command does, and
//! a model prepares the next table in the same way.

use lehr_data::read::{TableForm, data_frame_from};
use lehr_jobs::datasets::{Begin, Datasets, Read, Take};
use lehr_jobs::declared::{Gaps, TableOptions};
use lehr_jobs::jobs::{Jobs, Order, Predict, State};
use lehr_jobs::{DatasetService, Dialect, Form, RowFormat, Setup};
use lehr_methods::cluster::{Cluster, Fitted, Options};
use lehr_methods::prepared::{Described, Keys};
use lehr_methods::{Data, Task};
use lehr_mining::Execution;
use lehr_mining::anneal::Silent;
use lehr_services::{Code, Fault, Reference};
use serde_json::Value;

use super::samples::*;
use crate::on_one_host;

/// Returns two groups of customers with amounts of money, missing values, dates and texts, in the form of a German
/// export.
fn customers() -> String {
    let row = |row: usize| {
        let is_large = row % 2 == 1;
        let factor = if is_large { 1000.0 } else { 10.0 };
        let revenue = format!("{:.2}", factor * (1.0 + (row * 37 % 101) as f64 / 100.0)).replace('.', ",");
        let revenue = if revenue.len() > 6 { format!("{}.{}", &revenue[..1], &revenue[1..]) } else { revenue };
        let visits = if row % 9 == 4 { "-".to_owned() } else { (if is_large { 40 } else { 4 } + row % 5).to_string() };
        let (day, country) = (1 + row % 28, ["DE", "CH", "AT"][row % 3]);
        format!("K{row:03};{country};{day:02}.04.2021;{revenue} €;{visits};ja\n")
    };
    let rows: String = (0..120).map(row).collect();
    format!("Kunde;Land;Beitritt;Umsatz;Besuche;Aktiv\n{}", rows.replacen(";ja", ";nein", 7))
}

/// Returns the same table in JSON, with the values in the form that a program writes.
fn as_json(text: &str) -> String {
    let frame = data_frame_from(text.as_bytes(), "customers.csv", &TableForm::default()).unwrap();
    let texts: Vec<Vec<String>> = frame.columns().iter().map(|column| frame.texts(&column.name).unwrap()).collect();
    let line = |row: usize| {
        let fields = frame.columns().iter().zip(&texts).map(|(column, texts)| {
            let is_number = matches!(column.name.as_str(), "Umsatz" | "Besuche");
            let value = match &*texts[row] {
                "" => "null".to_owned(),
                number if is_number => number.to_owned(),
                "ja" if column.name == "Aktiv" => "true".to_owned(),
                "nein" if column.name == "Aktiv" => "false".to_owned(),
                text => format!("{text:?}"),
            };
            format!("{:?}:{value}", column.name)
        });
        format!("{{{}}}\n", fields.collect::<Vec<_>>().join(","))
    };
    (0..frame.rows()).map(line).collect()
}

fn auto() -> TableOptions {
    TableOptions { auto: true, id: Some("Kunde".into()), ..TableOptions::default() }
}

async fn labels(datasets: &Reference<Datasets>, jobs: &Reference<Jobs>, dataset: &str) -> (String, Vec<u64>) {
    let job = run(jobs, Order::new(dataset, &auto().with(&Options { clusters: Some(2), ..Options::default() }))).await;
    let job = job.unwrap();
    let record = wait(jobs, &job).await;
    assert_eq!((record.state, record.fault.as_ref()), (State::Done, None));
    let table = datasets.call(Take { name: record.outputs["labels"].clone() }).await.unwrap().0;
    (job, table.counts("cluster").unwrap().to_vec())
}

#[test]
fn an_ordinary_table_has_the_same_labels_in_every_form_and_as_in_the_library() {
    let text = customers();
    let frame = data_frame_from(text.as_bytes(), "customers.csv", &TableForm::default()).unwrap();
    let keys = Keys { id: Some("Kunde"), weights: None };
    let wishes = lehr_data::preparation::Wishes {
        is_auto: true,
        missing_of_method: lehr_data::preparation::Missing::Nearest,
        ..Default::default()
    };
    let rows = Described::new(frame, &keys).prepare(&wishes).unwrap().rows(keys, true).unwrap();
    let options = serde_json::from_str(r#"{ "clusters": 2 }"#).unwrap();
    let execution = Execution::default();
    let task = Task { data: Data::Rows(&rows), checkpoint: None, execution: &execution, observer: &mut Silent };
    let fit = lehr_methods::find("cluster").unwrap().run(task, &options).unwrap();
    let fitted = fit.as_any().downcast_ref::<Fitted>().unwrap();
    let expected: Vec<u64> = fitted.labels.iter().map(|label| u64::from(*label)).collect();
    assert!((2..120).all(|row| expected[row] == expected[row % 2]) && expected[0] != expected[1], "{expected:?}");

    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        let sent = upload(&datasets, Begin::new("csv", Form::Table), text.as_bytes()).await.unwrap();
        upload(&datasets, Begin::new("json", Form::Table), as_json(&text).as_bytes()).await.unwrap();
        let roles: Vec<&str> = sent.account.iter().map(|column| column.role.as_str()).collect();
        assert_eq!(roles, ["id", "category", "date", "measure", "measure", "category"]);
        assert_eq!(sent.account[3].read_as, "number, decimal ',', thousands '.', €");
        assert_eq!((sent.account[4].missing, sent.rows), (13, 120));
        let (job, found) = labels(&datasets, &clustering, "csv").await;
        assert_eq!(found, expected);
        assert_eq!(labels(&datasets, &clustering, "json").await.1, expected);
        // Arrow has dates as texts, which are read as dates.
        let all = Read { name: "csv".into(), format: RowFormat::Arrow, ..Read::default() };
        let arrow = datasets.call(all).await.unwrap().arrow.unwrap();
        let arrow = upload(&datasets, Begin::new("arrow", Form::Table), arrow.as_slice()).await.unwrap();
        assert_eq!(arrow.account.iter().map(|column| column.role.as_str()).collect::<Vec<_>>(), roles);
        assert_eq!(labels(&datasets, &clustering, "arrow").await.1, expected);

        // The next table has other columns in another order, and one new column.
        let next = "Neu;Besuche;Umsatz;Kunde\nx;41;1.500,00 €;A\ny;;12,50 €;B\n";
        let asked = Predict {
            data: Some(next.as_bytes().to_vec().into()),
            file_format: Some(Form::Csv),
            ..serde_json::from_str(&format!(r#"{{"job": "{job}"}}"#)).unwrap()
        };
        let said = clustering.call(asked.clone()).await.unwrap();
        // Whole numbers have no fraction.
        let cluster = |row: usize| said.json.as_ref().unwrap().objects()[row]["cluster"].clone();
        assert_eq!((cluster(0), cluster(1)), (expected[1].into(), expected[0].into()));
        assert_eq!(said.json.as_ref().unwrap().objects()[0]["id"], "A");

        // A row without any value gets no label, and is reported. All other rows get the same labels as without it.
        let gaps = Predict { data: Some(format!("{next}z;;;C\n").into_bytes().into()), ..asked.clone() };
        let with_it = clustering.call(gaps.clone()).await.unwrap();
        let rows = with_it.json.unwrap().objects();
        assert_eq!(rows[..2], said.json.as_ref().unwrap().objects()[..]);
        assert_eq!(
            (&rows[2]["id"], &rows[2]["cluster"], &rows[2]["distance"]),
            (&"C".into(), &Value::Null, &Value::Null)
        );
        let words = "the rows: row 3 has no value in any of the model's columns: no label is given";
        assert!(with_it.warnings.contains(&words.to_owned()), "{:?}", with_it.warnings);
        let lines = clustering.call(Predict { format: RowFormat::Csv, ..gaps }).await.unwrap().csv.unwrap();
        assert!(lines.starts_with(&format!("id,cluster,probability,distance,score\nA,{},", expected[1])), "{lines}");
        assert!(lines.ends_with("\nC,,,,\n"), "{lines}");
        let fault = clustering.call(Predict { data: Some(b"Kunde;Besuche\nA;3\n".to_vec().into()), ..asked }).await;
        let reason = |fault: Fault| fault.reason().to_owned();
        let fault = fault.map(|_| ()).map_err(reason).unwrap_err();
        assert!(fault.contains("Umsatz"), "{fault}");
    });
}

#[test]
fn what_cannot_be_prepared_is_refused_with_what_to_do() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await.unwrap();
        upload(&datasets, Begin::new("t", Form::Table), b"a,b,c\n1,x,\n2,y,3\n-4,x,5\n").await.unwrap();
        for (options, expected) in [
            (TableOptions { log: vec!["a".into()], missing: Some(Gaps::Median), ..TableOptions::default() }, "below 0"),
            (TableOptions { missing: Some(Gaps::Skip), ..TableOptions::default() }, "missing: this method cannot"),
            (TableOptions { exclude: vec!["z".into()], ..TableOptions::default() }, "\"z\""),
            (TableOptions { exclude: vec!["b".into()], ..TableOptions::default() }, "c"),
        ] {
            let order = Order::new("t", &options.with(&Options { clusters: Some(1), ..Options::default() }));
            let job = run(&clustering, order).await.unwrap();
            let record = wait(&clustering, &job).await;
            assert_eq!(record.state, State::Failed);
            let reason = record.fault.unwrap().reason().to_owned();
            assert!(reason.contains(expected), "{reason}");
        }
        let options = TableOptions { auto: true, lonlat: true, ..TableOptions::default() };
        let refused = run(&clustering, Order::new("t", &options.with(&Options::default()))).await.unwrap_err();
        assert!(refused.reason().contains("lonlat"), "{}", refused.reason());
    });
}

#[test]
fn a_table_is_read_as_its_sender_says() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let text = "code,class,day,x\n00042,1,03.04.2021,\"1,234\"\n00007,2,05.06.2021,-9\n";
        let read = async |name: &str, dialect: &str| {
            let begin = Begin { dialect: serde_json::from_str(dialect).unwrap(), ..Begin::new(name, Form::Table) };
            upload(&datasets, begin, text.as_bytes()).await
        };
        let found = read("found", "null").await.unwrap();
        assert_eq!(found.account[0].read_as, "text");
        assert_eq!(found.account[2].read_as, "date, day.month.year");
        let said =
            r#"{ "as_number": ["code"], "as_text": ["class"], "dates": "month_first", "decimal": ",", "na": ["-9"] }"#;
        let asked = read("asked", said).await.unwrap();
        let read_as: Vec<&str> = asked.account.iter().map(|column| column.read_as.as_str()).collect();
        assert_eq!(read_as, ["number", "text", "date, month.day.year", "number, decimal ','"]);
        assert_eq!(asked.account[3].missing, 1);
        for wrong in [r#"{ "as_text": ["kode"] }"#, r#"{ "as_number": ["kode"] }"#, r#"{ "decimal": ";" }"#] {
            assert_eq!(read("wrong", wrong).await.unwrap_err().code(), Code::InvalidValue, "{wrong}");
        }
        let csv = Begin { dialect: Some(Dialect::default()), ..Begin::new("csv", Form::Csv) };
        let refused = upload(&datasets, csv, text.as_bytes()).await.unwrap_err();
        assert_eq!(refused.reason(), "dialect: expected with table only");
    });
}
