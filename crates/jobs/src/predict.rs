//! Applies a model to other rows: the rows of a data set, of a file, or in the request itself.

use std::collections::BTreeSet;
use std::io::{Seek, Write};

use lehr_methods::ModelFile;
use lehr_methods::predict::{OfTable, Predicted, Refusal};
use lehr_runtime::blocking;
use lehr_services::{Code, Fault, Reference};
use serde_json::{Map, Value};

use crate::bytes::Bytes;
use crate::datasets::{Datasets, Take};
use crate::declared::result;
use crate::format::{self, Form, Found, Piece, Reading, RowFormat, fault_of};
use crate::handle::Handle;
use crate::jobs::Predict;
use crate::table::{Columns, Table};

/// The maximum uncompressed size of a file with rows, in bytes.
const BYTES_MAX: u64 = 1 << 30;
/// The maximum number of values in the rows of a request, over all columns.
const VALUES_MAX: usize = 1 << 25;
/// The name of a model in messages.
const MODEL: &str = "the model";
/// The name of rows without a data set in messages.
const ROWS: &str = "the rows";

fn invalid(reason: String) -> Fault {
    Fault::new(Code::InvalidValue, reason)
}

/// Reads the model of a job from the JSON that its service has stored.
pub(crate) fn model(of_job: Value) -> Result<ModelFile, Fault> {
    ModelFile::of_json(of_job, MODEL).map_err(|error| Fault::new(Code::OperationFailed, error.message))
}

/// A request for a model's result, of any service.
pub(crate) struct Asked {
    pub dataset: Option<String>,
    pub rows: Option<Vec<Map<String, Value>>>,
    pub data: Option<Bytes>,
    pub media_type: Option<String>,
    pub file_format: Option<Form>,
    pub id: Option<String>,
    pub gaps: bool,
    pub memberships: bool,
    pub format: RowFormat,
    pub from: u64,
    pub to: Option<u64>,
}

impl Asked {
    pub(crate) fn of_job(predict: Predict) -> Self {
        let Predict { dataset, rows, data, media_type, file_format, id, gaps, memberships, format, from, to, .. } =
            predict;
        Self { dataset, rows, data, media_type, file_format, id, gaps, memberships, format, from, to }
    }

    /// Returns the model's result for the rows. `admit` gets the number of rows, and may refuse them.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] for rows that do not suit the model, or unless the rows are given exactly once.
    /// Also returns the errors of `admit`, of the data sets and of [`read`](Self::read).
    pub(crate) async fn answer(
        self,
        model: &ModelFile,
        datasets: &Reference<Datasets>,
        admit: impl FnOnce(usize) -> Result<(), Fault>,
    ) -> Result<Piece, Fault> {
        let given = match (&self.dataset, &self.rows, &self.data) {
            (Some(dataset), None, None) => Some(datasets.call(Take { name: dataset.clone() }).await?.0),
            (None, Some(_), None) | (None, None, Some(_)) => None,
            (dataset, rows, data) => {
                let count = [dataset.is_some(), rows.is_some(), data.is_some()].iter().filter(|is| **is).count();
                let found = if count == 0 { "neither" } else { "several" };
                let reason = format!("dataset: expected a data set, or a file as data, or rows, found {found}");
                return Err(invalid(reason));
            }
        };
        // A request with too many rows is refused before they become a table.
        let admit = match &self.rows {
            Some(rows) => admit(rows.len()).map(|()| None)?,
            None => Some(admit),
        };
        blocking("what a model says of rows", || {
            let name = self.dataset.as_deref().unwrap_or(ROWS);
            let table = match (given, &self.rows) {
                (Some(table), _) => table,
                (None, Some(rows)) => self.of_objects(rows, model)?,
                (None, None) => self.read(model, name)?,
            };
            if let Some(admit) = admit {
                admit(table.rows())?;
            }
            let (said, warnings) = self.said(model, &table, name)?;
            let piece = format::piece(&said, self.format, self.from, self.to, None)?;
            Ok(Piece { warnings, ..piece })
        })
    }

    /// Reads the rows of the file in the request.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] with the first ten faults of the file, and [`Code::TooLarge`] if it exceeds
    /// [`BYTES_MAX`]. Returns [`Code::InsufficientResources`] if a temporary file cannot be written.
    fn read(&self, model: &ModelFile, name: &str) -> Result<Table, Fault> {
        let said = self.media_type.as_deref();
        let form = self.file_format.or_else(|| Form::of_media_type(said?)).ok_or_else(|| {
            let found = said.map_or("none".to_owned(), |said| format!("{said:?}"));
            invalid(format!(
                "file_format: expected csv, tsv, table, npy, parquet or arrow, since the media type ({found}) does not say"
            ))
        })?;
        let (form, gaps) = if model.preparation.is_some() { (Form::Table, false) } else { (form, self.gaps) };
        let bytes = self.data.as_ref().map_or(&[][..], |data| data.as_slice());
        let reading = |id: Option<String>| -> Result<Found, Fault> {
            let failed = |error: std::io::Error| {
                Fault::new(Code::InsufficientResources, "the rows could not be kept while they are read")
                    .log(error.to_string())
            };
            let mut file = tempfile::tempfile().map_err(failed)?;
            file.write_all(bytes).and_then(|()| file.rewind()).map_err(failed)?;
            // A model that prepares columns reports missing columns itself.
            let columns = model.preparation.is_none().then(|| model.columns.clone());
            let reading = Reading { columns, id, gaps, ..Reading::default() };
            format::read(file, form, &reading, name, BYTES_MAX)
        };
        let known = model.id.clone().filter(|_| self.id.is_none());
        match (reading(self.id.clone().or(known.clone())), known) {
            // The file lacks the model's column of ids.
            (Err(fault), Some(id)) if fault.reason().contains(&format!("expected a column {id:?}")) => reading(None),
            (read, _) => read,
        }
        .map(|found| found.table)
    }

    /// Converts rows in JSON to a table. A column whose values are all numbers or null is one of numbers; any other
    /// column has texts.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if a row lacks a number that the model needs, or has a list or an object.
    fn of_objects(&self, rows: &[Map<String, Value>], model: &ModelFile) -> Result<Table, Fault> {
        let mut names: BTreeSet<&String> = rows.iter().flat_map(Map::keys).collect();
        if names.is_empty() {
            return Err(invalid("rows: expected at least one object with a value for each column, found none".into()));
        }
        let id = self.id.as_ref().or(model.id.as_ref()).filter(|id| names.contains(id));
        if model.preparation.is_none() {
            if let Some(lost) = model.columns.iter().find(|column| !names.contains(column)) {
                return Err(invalid(format!("{ROWS}: expected a column {lost:?}, found none in any row")));
            }
            names.retain(|name| model.columns.contains(name) || Some(*name) == id);
        }
        if names.len().saturating_mul(rows.len()) > VALUES_MAX {
            let reason = format!(
                "{ROWS}: {} rows with {} different names are too many values in one request: at most {VALUES_MAX} are \
                 allowed",
                rows.len(),
                names.len()
            );
            return Err(Fault::new(Code::TooLarge, reason));
        }
        let may_miss = self.gaps || model.preparation.is_some();
        let mut table = Table::builder().gaps(may_miss);
        for name in names {
            let values = || rows.iter().map(|row| row.get(name).unwrap_or(&Value::Null));
            if let Some(row) = values().position(|value| value.is_array() || value.is_object()) {
                let reason =
                    format!("{ROWS}: row {row} (counted from 0), column {name:?}: expected a number or a text");
                return Err(invalid(reason));
            }
            let is_number = Some(name) != id && values().all(|value| value.is_number() || value.is_null());
            if !is_number {
                let text = |value: &Value| match value {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                };
                table = table.texts(name.clone(), values().map(text).collect());
                continue;
            }
            let lost = values().position(Value::is_null).filter(|_| !may_miss);
            if let Some(row) = lost {
                let hint = "gaps allows missing values";
                let reason = format!(
                    "{ROWS}: row {row} (counted from 0), column {name:?}: expected a number, found none ({hint})"
                );
                return Err(invalid(reason));
            }
            table = table.numbers(name.clone(), values().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect());
        }
        table.id(id.cloned()).build()
    }

    /// Returns the model's result for the rows of a table, and notes for the user.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] for rows that do not suit the model.
    fn said(&self, model: &ModelFile, table: &Table, name: &str) -> Result<(Table, Vec<String>), Fault> {
        let id = self.id.clone().or_else(|| {
            let is_there = |id: &&String| table.columns().any(|(column, _)| column == *id);
            model.id.as_ref().filter(is_there).cloned().or_else(|| table.id().map(str::to_owned))
        });
        let refused = |refusal: Refusal| match refusal {
            Refusal::Data(error) => fault_of(&error),
            refusal => invalid(format!("{name}: {refusal}")),
        };
        let warnings = |predicted: &Predicted| predicted.notes().iter().map(|note| format!("{name}: {note}")).collect();
        if model.preparation.is_some() {
            let form = model.form_with(id.as_deref(), None, None);
            let frame = table.frame(name, &form).map_err(|error| fault_of(&error))?;
            let OfTable { said: predicted, ids } =
                Predicted::of_table(model, &frame, id.as_deref(), self.memberships).map_err(refused)?;
            return Ok((result(predicted.table(ids.as_deref()))?, warnings(&predicted)));
        }
        let of_model = |columns: Option<Vec<String>>| Columns { columns, weights: None, id: id.clone() };
        let columns = of_model(Some(model.columns.clone()));
        let (predicted, ids) = if table.has_fingerprints() {
            let rows = table.fingerprints(name, &of_model(None)).map_err(|error| fault_of(&error))?;
            (Predicted::of_bits(model, &rows, self.memberships).map_err(refused)?, Some(rows.ids().to_vec()))
        } else if table.has_sparse() {
            let rows = table.sparse(name, &of_model(None)).map_err(|error| fault_of(&error))?;
            let ids = rows.ids().map(<[String]>::to_vec);
            (Predicted::of_sparse(model, rows, self.memberships).map_err(refused)?, ids)
        } else if table.has_gaps() {
            let rows = table.records(name, &columns).map_err(|error| fault_of(&error))?;
            let ids = id.as_deref().and_then(|id| table.texts(id));
            (Predicted::of_records(model, &rows, self.memberships).map_err(refused)?, ids)
        } else {
            let points = table.points(name, &columns).map_err(|error| fault_of(&error))?;
            let ids = points.ids().map(<[String]>::to_vec);
            (Predicted::of_points(model, &points, self.memberships).map_err(refused)?, ids)
        };
        Ok((result(predicted.table(ids.as_deref()))?, warnings(&predicted)))
    }
}

/// Returns the text of a model that a data set holds.
///
/// # Errors
/// Returns [`Code::InvalidValue`] if the data set holds no model, and the errors of [`Take`].
pub(crate) async fn text_of(datasets: &Reference<Datasets>, dataset: &str) -> Result<String, Fault> {
    let Handle(table) = datasets.call(Take { name: dataset.to_owned() }).await?;
    let text = table.texts(crate::method::MODEL).and_then(|texts| texts.into_iter().next());
    text.ok_or_else(|| {
        invalid(format!("dataset: expected a model, such as {{job}}/model, found {dataset:?} without a column model"))
    })
}
