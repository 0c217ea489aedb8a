//! A run: a table is read, a method runs, and its files are written into memory.

use lehr_data::describe::ColumnAccount;
use lehr_data::preparation::Wishes;
use lehr_data::read::{self, Selection, Table, TableForm};
use lehr_data::scale::Scale;
use lehr_methods::predict::{OfTable, Predicted};
use lehr_methods::prepared::{Described, Keys};
use lehr_methods::{Content, Data, Fit, Frame, Matrix, Method, ModelFile, Rows, RowsWords, Takes, Task};
use lehr_mining::anneal::Observer;
use lehr_mining::{Engine, Execution};
use lehr_ranks::Layout;
use lehr_ranks::timing::Stopwatch;
use lehr_report::Run;
use serde::Serialize;

use crate::matrix::matrix;
use crate::request::Request;

/// A file of results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its name, as the command calls it.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A finished run.
///
/// A page shows the report first. The other files may have many rows, so they are made later, by [`Ran::files`].
pub struct Ran {
    /// The facts.
    pub told: Told,
    /// `report.html`, as the command writes it.
    pub report: File,
    method: &'static dyn Method,
    given: Given,
    fit: Box<dyn Fit>,
    /// The column that names the rows.
    id: Option<String>,
}

/// The facts of a run.
#[derive(Debug, Serialize)]
pub struct Told {
    /// The result in some lines, as the command prints it.
    pub headline: String,
    /// Warnings, also about the data.
    pub warnings: Vec<String>,
    /// The number of rows.
    pub rows: usize,
    /// Seconds by phase.
    pub seconds: Vec<(String, f64)>,
    /// Numbers by name.
    pub figures: Vec<(&'static str, f64)>,
}

/// One thread, which is all that a page's worker has.
pub(crate) const ALONE: Execution = Execution { engine: Engine::Loop, ranks: 1, threads: 1, job: None };

/// The methods that the page offers. Code of the others is not linked, so the page loads faster.
const METHODS: [&dyn Method; 4] = [
    &lehr_methods::cluster::Cluster,
    &lehr_methods::mixture::Mixture,
    &lehr_methods::gtm::Gtm,
    &lehr_methods::embed::Embedding,
];

/// The method of a name.
pub(crate) fn method(name: &str) -> Result<&'static dyn Method, String> {
    let found = METHODS.into_iter().find(|method| method.about().name == name);
    found.ok_or_else(|| format!("expected the method cluster, mixture, gtm or embed, found {name:?}"))
}

/// The data of a run.
enum Given {
    Rows(Box<Rows>),
    Matrix(Box<Matrix>),
}

impl Given {
    fn data(&self) -> Data<'_> {
        match self {
            Given::Rows(rows) => Data::Rows(rows),
            Given::Matrix(matrix) => Data::Matrix(matrix),
        }
    }

    fn len(&self) -> usize {
        match self {
            Given::Rows(rows) => rows.len(),
            Given::Matrix(matrix) => matrix.ids.len(),
        }
    }

    /// How the columns of a prepared table were scaled.
    fn prepared(&self) -> Option<Scale> {
        match self {
            Given::Rows(rows) => rows.origin().map(|origin| origin.preparation.scale),
            Given::Matrix(_) => None,
        }
    }
}

/// The columns of a table, with their roles and how each would be used by itself.
///
/// # Errors
/// The faults of the table, in words.
pub fn columns(name: &str, bytes: &[u8]) -> Result<Vec<ColumnAccount>, String> {
    let frame = read::data_frame_from(bytes, name, &TableForm::default()).map_err(words)?;
    Ok(lehr_data::describe::describe_columns(&frame))
}

/// Runs a method over a table of text, an NPY array, fingerprints or sparse rows, plain or packed by gzip.
///
/// # Errors
/// The faults of the request, the table or the run, in words.
///
/// # Example
/// ```
/// use lehr_web_engine::{Request, run};
/// let request: Request = serde_json::from_str(r#"{ "name": "t.csv", "method": "cluster", "options": { "clusters": 2 } }"#)?;
/// let ran = run(&request, b"x\n0\n1\n10\n11\n", &mut lehr_mining::anneal::Silent)?;
/// let files = ran.files()?;
/// let labels = files.iter().find(|file| file.name == "labels.csv").unwrap();
/// assert!(labels.bytes.starts_with(b"id,cluster,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(request: &Request, bytes: &[u8], observer: &mut dyn Observer) -> Result<Ran, String> {
    let clock = Stopwatch::start();
    let method = method(&request.method)?;
    let about = method.about();
    let faults = method.check(&request.options);
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let scale = request.scale.map(Scale::from);
    let (given, mut warnings) = match about.takes {
        Takes::Rows(taken) => {
            let rows = rows(request, &taken, scale, bytes)?;
            let warnings = rows.warnings();
            (Given::Rows(Box::new(rows)), warnings)
        }
        Takes::Matrix(_) => {
            let (matrix, warnings) = matrix(request, bytes, observer)?;
            (Given::Matrix(Box::new(matrix)), warnings)
        }
        Takes::Stream(_) => return Err(format!("{} takes no table of rows", about.name)),
    };
    let data = given.data();
    let mut seconds = vec![("reading".to_owned(), clock.seconds())];
    let task = Task { data, checkpoint: None, execution: &ALONE, observer };
    let fit = method.run(task, &request.options).map_err(words)?;
    seconds.extend(fit.spent().phases.iter().cloned());
    warnings.extend(fit.warnings().iter().cloned());
    let clock = Stopwatch::start();
    let command = matches!(about.takes, Takes::Rows(_)).then(|| command(request));
    let run = Run {
        about,
        source: &request.name,
        command: None,
        command_without_end: command.as_deref(),
        finished: None,
        subject: None,
        weights: request.weights.as_deref(),
        ids: request.id.as_deref(),
        scale: given.prepared().or(scale).unwrap_or(Scale::None),
        engine: ALONE.engine,
        layout: Layout::threads(1),
        threads: 1,
        is_resumed: false,
        warnings: &warnings,
        phases: &seconds,
    };
    let page = lehr_report::page(&run, data, &*fit);
    seconds.push(("report".to_owned(), clock.seconds()));
    let told = Told { headline: fit.headline(data), figures: fit.figures(data), rows: given.len(), warnings, seconds };
    let report = File { name: "report.html".to_owned(), bytes: page.into_bytes() };
    Ok(Ran { told, report, method, given, fit, id: request.id.clone() })
}

impl Ran {
    /// Returns the tables, the arrays and the model that the command would write beside the report.
    ///
    /// # Errors
    /// Returns the reason in words if a file cannot be written.
    pub fn files(&self) -> Result<Vec<File>, String> {
        let Self { method, given, fit, id, .. } = self;
        let (data, mut files) = (given.data(), Vec::new());
        for name in method.about().files {
            let mut bytes = Vec::new();
            match fit.file(name, data) {
                Some(Content::Table(table)) => table.write_csv(&mut bytes).map_err(words)?,
                Some(Content::Text(text)) => bytes = text.into_bytes(),
                Some(Content::Array { values, columns }) => {
                    lehr_data::write::npy::array(&mut bytes, values, columns).map_err(words)?;
                }
                None => continue,
            }
            files.push(File { name: (*name).to_owned(), bytes });
        }
        if let Some(model) = fit.model_file(data) {
            let text = model.with_id(id.clone()).text().map_err(words)?;
            files.push(File { name: "model.json".to_owned(), bytes: text.into_bytes() });
        }
        Ok(files)
    }
}

/// Labels the rows of a table by a model that was fitted before, here or by the command or Python.
///
/// # Errors
/// The faults of the model or the table, in words.
pub fn predict(model: &[u8], name: &str, bytes: &[u8]) -> Result<File, String> {
    let value = serde_json::from_slice(model).map_err(words)?;
    let model = ModelFile::of_json(value, "the model").map_err(words)?;
    let form = model.form_with(None, None, None);
    let mut written = Vec::new();
    if model.preparation.is_some() {
        let frame = read::data_frame_from(bytes, name, &form).map_err(words)?;
        let OfTable { said, ids } = Predicted::of_table(&model, &frame, None, false).map_err(words)?;
        said.table(ids.as_deref()).write_csv(&mut written).map_err(words)?;
    } else {
        let selection = Selection { columns: Some(model.columns.clone()), ..Selection::default() };
        let points = read::points_from(bytes, name, &selection).map_err(words)?;
        let said = Predicted::of_points(&model, &points, false).map_err(words)?;
        said.table(points.ids()).write_csv(&mut written).map_err(words)?;
    }
    Ok(File { name: "labels.csv".to_owned(), bytes: written })
}

/// Reads and prepares the rows.
fn rows(request: &Request, words_of_rows: &RowsWords, scale: Option<Scale>, bytes: &[u8]) -> Result<Rows, String> {
    let Request { name, columns, weights, id, .. } = request;
    let chosen = (!columns.is_empty()).then(|| columns.clone());
    if request.auto {
        let mut form = TableForm::default();
        form.text.extend(id.clone());
        let frame = read::data_frame_from(bytes, name, &form).map_err(words)?;
        let wishes = Wishes {
            columns: chosen,
            exclude: request.exclude.clone(),
            scale,
            is_auto: true,
            missing_of_method: words_of_rows.missing_of_method(),
            ..Wishes::default()
        };
        let keys = Keys { id: id.as_deref(), weights: weights.as_deref() };
        let decided = Described::new(frame, &keys).prepare(&wishes).map_err(words)?;
        return decided.rows(keys, words_of_rows.sets_aside).map_err(words);
    }
    let frame = if request.lonlat { Frame::Sphere } else { Frame::Columns(scale.unwrap_or(Scale::None)) };
    let selection = Selection { columns: chosen, weights: weights.clone(), id: id.clone(), ..Selection::default() };
    match read::table_from(bytes, name, &selection, None).map_err(words)? {
        Table::Numbers(points) => Rows::new(points, frame).map_err(words),
        _ if !words_of_rows.takes_bits_and_sparse => Err(format!("{name}: this method takes tables of numbers")),
        Table::Bits(rows) => Ok(Rows::of_bits(rows)),
        Table::Sparse(rows) => Ok(Rows::of_sparse(rows, frame.scale())),
    }
}

/// The command that does the same, for the report.
fn command(request: &Request) -> String {
    let mut line = format!("lehr {} {}", request.method, request.name);
    let mut add = |option: &str, value: &str| line.push_str(&format!(" {option} {value}"));
    for (option, value) in [("--weights", &request.weights), ("--id", &request.id)] {
        value.iter().for_each(|value| add(option, value));
    }
    if !request.columns.is_empty() {
        add("--columns", &request.columns.join(","));
    }
    for (option, is_given) in [("--auto", request.auto), ("--lonlat", request.lonlat)] {
        if is_given {
            line.push_str(&format!(" {option}"));
        }
    }
    if let Some(scale) = request.scale {
        line.push_str(&format!(" --scale {}", Scale::from(scale)));
    }
    line
}

pub(crate) fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use lehr_mining::anneal::{Control, Progress, Silent};

    use super::*;

    const WINE: &[u8] = include_bytes!("../../../datasets/wine/wine.csv");
    const PENGUINS: &[u8] = include_bytes!("../../../datasets/penguins/penguins.csv");

    fn asked(request: &str) -> Request {
        serde_json::from_str(request).unwrap()
    }

    fn file(ran: &Ran, name: &str) -> String {
        let found = ran.files().unwrap().into_iter().find(|file| file.name == name);
        String::from_utf8(found.unwrap_or_else(|| panic!("there is no {name}")).bytes).unwrap()
    }

    #[test]
    fn a_run_has_the_files_of_the_command_and_its_model_gives_the_same_labels_again() {
        let request =
            asked(r#"{ "name": "wine.csv", "method": "cluster", "options": { "clusters": 3 }, "scale": "std" }"#);
        let ran = run(&request, WINE, &mut Silent).unwrap();
        assert_eq!(
            (ran.told.rows, ran.told.headline.lines().next().unwrap().split(';').next()),
            (178, Some("178 rows in 3 clusters"))
        );
        let labels = |csv: &str| csv.lines().map(|line| line.split(',').nth(1).unwrap().to_owned()).collect::<Vec<_>>();
        let again = predict(file(&ran, "model.json").as_bytes(), "wine.csv", WINE).unwrap();
        assert_eq!(labels(&file(&ran, "labels.csv")), labels(std::str::from_utf8(&again.bytes).unwrap()));
        let report = String::from_utf8(ran.report.bytes).unwrap();
        assert!(ran.report.name == "report.html" && report.contains("lehr cluster wine.csv --scale std"));
    }

    #[test]
    fn an_ordinary_table_is_prepared_and_its_warnings_are_told() {
        let request = asked(r#"{ "name": "penguins.csv", "method": "cluster", "auto": true }"#);
        let ran = run(&request, PENGUINS, &mut Silent).unwrap();
        assert!(ran.told.headline.starts_with("224 rows in 3 clusters"), "{}", ran.told.headline);
        assert!(ran.told.warnings.iter().any(|warning| warning.contains("filled 28 gaps")), "{:?}", ran.told.warnings);
        let roles: Vec<String> =
            columns("penguins.csv", PENGUINS).unwrap().iter().map(|column| column.role.to_string()).collect();
        assert_eq!((&roles[0][..], &roles[2][..], roles.len()), ("category", "category", 17));
    }

    #[test]
    fn mixtures_and_maps_run_too() {
        for (method, file_of_it) in [("mixture", "components.csv"), ("gtm", "nodes.csv")] {
            let options = if method == "gtm" { r#"{ "nodes": 6 }"# } else { r#"{ "components": 2 }"# };
            let request = asked(&format!(
                r#"{{ "name": "wine.csv", "method": "{method}", "scale": "std", "options": {options} }}"#
            ));
            let ran = run(&request, WINE, &mut Silent).unwrap();
            assert!(file(&ran, file_of_it).lines().count() > 2);
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        let fault = |request: &str, bytes: &[u8]| run(&asked(request), bytes, &mut Silent).err().unwrap();
        let unknown = fault(r#"{ "method": "hmm" }"#, WINE);
        assert_eq!(unknown, "expected the method cluster, mixture, gtm or embed, found \"hmm\"");
        let negative = fault(r#"{ "method": "cluster", "options": { "clusters": 0 } }"#, WINE);
        assert!(negative.starts_with("clusters: expected"), "{negative}");
        let empty = fault(r#"{ "name": "t.csv", "method": "cluster" }"#, b"");
        assert!(empty.starts_with("t.csv:"), "{empty}");
        assert!(predict(b"{}", "t.csv", WINE).unwrap_err().starts_with("the model: "));
    }

    #[test]
    fn a_run_is_stopped_by_its_observer() {
        struct Stop;
        impl Observer for Stop {
            fn progress(&mut self, _: &Progress) -> Control {
                Control::Stop
            }
        }
        let request = asked(r#"{ "name": "wine.csv", "method": "cluster", "options": { "clusters": 3 } }"#);
        assert!(run(&request, WINE, &mut Stop).is_err());
    }
}
