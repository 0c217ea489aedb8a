//! Applies a job's model to other rows: the rows of a data set, or of a file in the request.

use std::io::{Seek, Write};

use lehr_methods::ModelFile;
use lehr_methods::predict::{OfTable, Predicted, Refusal};
use lehr_services::{Code, Fault};

use crate::declared::result;
use crate::format::{self, Form, Found, Reading, fault_of};
use crate::jobs::Predict;
use crate::table::{Columns, Table};

/// The maximum uncompressed size of a file with rows, in bytes.
const BYTES_MAX: u64 = 1 << 30;
/// The name of a job's model in messages.
const MODEL: &str = "the model";

fn invalid(reason: String) -> Fault {
    Fault::new(Code::InvalidValue, reason)
}

/// Reads the model of a job from the JSON that its service has stored.
pub(crate) fn model(of_job: serde_json::Value) -> Result<ModelFile, Fault> {
    ModelFile::of_json(of_job, MODEL).map_err(|error| Fault::new(Code::OperationFailed, error.message))
}

/// Reads the rows of the file in a request.
///
/// # Errors
/// Returns [`Code::InvalidValue`] with the first ten faults of the file, and [`Code::TooLarge`] if it exceeds
/// [`BYTES_MAX`]. Returns [`Code::InsufficientResources`] if a temporary file cannot be written.
pub(crate) fn read(asked: &Predict, model: &ModelFile, name: &str) -> Result<Table, Fault> {
    let said = asked.media_type.as_deref();
    let form = asked.file_format.or_else(|| Form::of_media_type(said?)).ok_or_else(|| {
        let found = said.map_or("none".to_owned(), |said| format!("{said:?}"));
        invalid(format!(
            "file_format: expected csv, tsv, table, npy, parquet or arrow, since the media type ({found}) does not say"
        ))
    })?;
    let (form, gaps) = if model.preparation.is_some() { (Form::Table, false) } else { (form, asked.gaps) };
    let bytes = asked.data.as_ref().map_or(&[][..], |data| data.as_slice());
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
    let known = model.id.clone().filter(|_| asked.id.is_none());
    match (reading(asked.id.clone().or(known.clone())), known) {
        // The file lacks the model's column of ids.
        (Err(fault), Some(id)) if fault.reason().contains(&format!("expected a column {id:?}")) => reading(None),
        (read, _) => read,
    }
    .map(|found| found.table)
}

/// Returns the model's result for the rows of a table, and notes for the user.
///
/// # Errors
/// Returns [`Code::InvalidValue`] for rows that do not suit the model.
pub(crate) fn said(
    asked: &Predict,
    model: &ModelFile,
    table: &Table,
    name: &str,
) -> Result<(Table, Vec<String>), Fault> {
    let id = asked.id.clone().or_else(|| {
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
            Predicted::of_table(model, &frame, id.as_deref(), asked.memberships).map_err(refused)?;
        return Ok((result(predicted.table(ids.as_deref()))?, warnings(&predicted)));
    }
    let of_model = |columns: Option<Vec<String>>| Columns { columns, weights: None, id: id.clone() };
    let columns = of_model(Some(model.columns.clone()));
    let (predicted, ids) = if table.has_fingerprints() {
        let rows = table.fingerprints(name, &of_model(None)).map_err(|error| fault_of(&error))?;
        (Predicted::of_bits(model, &rows, asked.memberships).map_err(refused)?, Some(rows.ids().to_vec()))
    } else if table.has_sparse() {
        let rows = table.sparse(name, &of_model(None)).map_err(|error| fault_of(&error))?;
        let ids = rows.ids().map(<[String]>::to_vec);
        (Predicted::of_sparse(model, rows, asked.memberships).map_err(refused)?, ids)
    } else if table.has_gaps() {
        let rows = table.records(name, &columns).map_err(|error| fault_of(&error))?;
        let ids = id.as_deref().and_then(|id| table.texts(id));
        (Predicted::of_records(model, &rows, asked.memberships).map_err(refused)?, ids)
    } else {
        let points = table.points(name, &columns).map_err(|error| fault_of(&error))?;
        let ids = points.ids().map(<[String]>::to_vec);
        (Predicted::of_points(model, &points, asked.memberships).map_err(refused)?, ids)
    };
    Ok((result(predicted.table(ids.as_deref()))?, warnings(&predicted)))
}
