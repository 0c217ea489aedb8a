//! Tables for `lehr.read_table`, `lehr.describe_columns` and `lehr.TablePreparation`.
//!
//! Python passes a preparation as the JSON that the command saves with a model. So estimators can pickle the
//! preparation, and the command and the package can read each other's preparations.

use std::path::PathBuf;

use lehr_data::describe::describe_columns;
use lehr_data::error::{Column, Fault, Faults, Place};
use lehr_data::frame::{Categories, DataFrame, FrameColumn, ReadAs, Values};
use lehr_data::preparation::{ColumnUse, DatePart, Missing, Preparation, Wishes};
use lehr_data::read::{TableForm, data_frame, data_frame_from};
use lehr_data::scale::Scale;
use lehr_methods::isolated;
use lehr_methods::numbers::named_rows;
use lehr_methods::origin::account_text;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde::{Deserialize, Serialize};

use crate::reading::reading;
use crate::{arrays, errors, json};

/// An immutable table of columns, each of numbers, times or texts.
#[pyclass(frozen, module = "lehr._native", name = "DataFrame")]
pub(crate) struct Table(pub(crate) DataFrame);

/// The fields of a column in the order in which Python passes them:
///
/// - its name;
/// - `numbers`, `times` (seconds since 1970 as numbers, with NaN for missing times) or `texts`;
/// - its values; for texts, their positions among the distinct texts, with -1 for missing texts;
/// - the distinct texts;
/// - how the column was read, as JSON, if this is known.
type ColumnTuple<'py> = (String, String, Bound<'py, PyAny>, Vec<String>, Option<String>);

#[pymethods]
impl Table {
    /// Builds a table of columns of equal length. Refuses infinite numbers, and reports their positions.
    #[new]
    fn new(columns: Vec<ColumnTuple<'_>>) -> PyResult<Self> {
        let columns: PyResult<Vec<FrameColumn>> = columns.into_iter().map(column).collect();
        let columns = columns?;
        let mut faults = Faults::new("X");
        for (index, column) in columns.iter().enumerate() {
            let (Values::Numbers(values) | Values::Times(values)) = &column.values else { continue };
            for (row, value) in values.iter().enumerate().filter(|(_, value)| value.is_infinite()) {
                faults.add_with(|| Fault {
                    place: Place::Row(row as u64),
                    column: Some(Column { index, name: Some(column.name.clone()) }),
                    expected: "a finite number".into(),
                    found: value.to_string(),
                });
            }
        }
        faults.or(()).map_err(errors::data)?;
        DataFrame::new("X", columns).map(Self).map_err(errors::data)
    }

    /// The decisions about the whole table that Lehr made while reading it, each as a sentence.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes().iter().map(|note| words_in_python(note)).collect()
    }

    /// How the file of the table was read; `None` for a table that was not read from a file.
    #[getter]
    fn dialect<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.dialect().map(|dialect| document(py, dialect)).transpose()
    }

    /// Returns a dictionary for each column, with the fields that the constructor takes: `name`, `kind`, `values`,
    /// `levels` and `read_as`. Here, `read_as` is a dictionary instead of JSON.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = PyList::empty(py);
        for column in self.0.columns() {
            let found = PyDict::new(py);
            found.set_item("name", &column.name)?;
            match &column.values {
                Values::Numbers(values) | Values::Times(values) => {
                    let is_time = matches!(column.values, Values::Times(_));
                    found.set_item("kind", if is_time { "times" } else { "numbers" })?;
                    found.set_item("values", PyArray1::from_slice(py, values))?;
                    found.set_item("levels", PyList::empty(py))?;
                }
                Values::Categories(texts) => {
                    let code = |row| texts.code(row).map_or(-1, |code| code as i64);
                    let codes: Vec<i64> = (0..texts.len()).map(code).collect();
                    found.set_item("kind", "texts")?;
                    found.set_item("values", codes.into_pyarray(py))?;
                    found.set_item("levels", texts.levels())?;
                }
            }
            found.set_item("read_as", document(py, &column.read_as)?)?;
            columns.append(found)?;
        }
        Ok(columns)
    }

    /// Describes the columns. Returns `columns`, with a dictionary for each column, and `text` for display.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let accounts = py.detach(|| describe_columns(&self.0));
        let found = PyDict::new(py);
        found.set_item("text", account_text(&accounts, None))?;
        found.set_item("columns", told(py, &accounts, None)?)?;
        Ok(found)
    }

    /// Decides how to use the columns. `asked` has the options as JSON. Returns `preparation` as JSON, and `columns`
    /// and `text` as in `describe`, with the use of each column.
    fn prepare<'py>(&self, py: Python<'py>, asked: &str) -> PyResult<Bound<'py, PyDict>> {
        let asked: PreparationOptions =
            serde_json::from_str(asked).map_err(|cause| errors::value(format!("wishes: {cause}")))?;
        let decided = py.detach(|| {
            let accounts = describe_columns(&self.0);
            Preparation::of_accounts(&self.0, &accounts, &asked.wishes()).map(|preparation| (accounts, preparation))
        });
        let (accounts, mut preparation) = decided.map_err(in_python)?;
        for used in &mut preparation.uses {
            used.how = words_in_python(&used.how);
        }
        let found = PyDict::new(py);
        let text = serde_json::to_string(&preparation).map_err(|cause| errors::value(cause.to_string()))?;
        found.set_item("preparation", text)?;
        found.set_item("text", account_text(&accounts, Some(&preparation.uses)))?;
        found.set_item("columns", told(py, &accounts, Some(&preparation.uses))?)?;
        Ok(found)
    }

    /// Applies a preparation to the rows. Returns `features`, the number of missing values that were `filled`, and
    /// `notes`. Rows of another table (`is_other`) must not depend on each other. So if the preparation fills values in
    /// from the nearest rows, rows of another table get the median instead.
    fn apply<'py>(&self, py: Python<'py>, preparation: &str, is_other: bool) -> PyResult<Bound<'py, PyDict>> {
        let preparation = read(preparation)?;
        let missing = match preparation.missing {
            Missing::Nearest if is_other => Missing::Median,
            missing => missing,
        };
        let preparation = Preparation { missing, ..preparation };
        let prepared = py.detach(|| match is_other {
            true => preparation.apply_to_other(&self.0),
            false => preparation.apply(&self.0),
        });
        let mut prepared = prepared.map_err(errors::data)?;
        if preparation.missing != Missing::Skip
            && let Some(rows) = named_rows(&prepared.without_values)
        {
            let verb = if prepared.without_values.len() == 1 { "has" } else { "have" };
            prepared.notes.push(format!(
                "{rows} no value in any column used (counted from 1), and {verb} the features of a typical row"
            ));
        }
        let found = PyDict::new(py);
        found.set_item("features", arrays::table(py, prepared.features, preparation.features.len())?)?;
        found.set_item("filled", prepared.filled)?;
        found.set_item("notes", prepared.notes)?;
        Ok(found)
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }
}

fn column(given: ColumnTuple<'_>) -> PyResult<FrameColumn> {
    let (name, kind, values, levels, read_as) = given;
    let numbers = |values: &Bound<'_, PyAny>| -> PyResult<Vec<f64>> {
        Ok(arrays::numbers(&values.extract::<PyReadonlyArray1<'_, f64>>()?))
    };
    let values = match &*kind {
        "numbers" => Values::Numbers(numbers(&values)?),
        "times" => Values::Times(numbers(&values)?),
        "texts" => {
            let codes = values.extract::<PyReadonlyArray1<'_, i64>>()?;
            let text = |code: &i64| usize::try_from(*code).ok().and_then(|code| levels.get(code));
            Values::Categories(Categories::of(codes.as_array().iter().map(|code| text(code).map_or("", |text| text))))
        }
        other => return Err(errors::value(format!("there are no columns of {other:?}"))),
    };
    let read_as = match read_as {
        Some(read_as) => serde_json::from_str(&read_as).map_err(|cause| errors::value(format!("read_as: {cause}")))?,
        // The types of Python columns determine how they were read.
        None => match &values {
            Values::Numbers(_) => ReadAs::Number,
            Values::Times(values) => {
                let has_time = values.iter().any(|seconds| !seconds.is_nan() && seconds % 86_400.0 != 0.0);
                ReadAs::Date { form: "year-month-day".into(), has_time }
            }
            Values::Categories(_) => ReadAs::Text,
        },
    };
    Ok(FrameColumn { name, values, read_as })
}

/// The options of a preparation, as Python passes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PreparationOptions {
    columns: Option<Vec<String>>,
    exclude: Vec<String>,
    log: Vec<String>,
    scale: Option<Scale>,
    missing: Option<Missing>,
    auto: bool,
    date_parts: Vec<DatePart>,
}

impl PreparationOptions {
    fn wishes(self) -> Wishes {
        let Self { columns, exclude, log, scale, missing, auto, date_parts } = self;
        // Clusterings of the command handle missing values in the same way.
        let missing_of_method = Missing::Nearest;
        Wishes {
            columns,
            exclude,
            log,
            scale,
            missing,
            is_auto: auto,
            missing_of_method,
            date_parts,
            reserved: Vec::new(),
        }
    }
}

/// Replaces the command's options in a text by the parameters of the package.
fn words_in_python(words: &str) -> String {
    words
        .replace("--columns", "`columns`")
        .replace("; --id names the rows by it", "")
        .replace("--as-text makes", "text in place of its numbers makes")
        .replace("(--as-number)", "(`number`)")
}

fn in_python(error: lehr_data::Error) -> PyErr {
    match error {
        lehr_data::Error::Shape { what, expected, found } => {
            errors::data(lehr_data::Error::Shape { what, expected, found: words_in_python(&found) })
        }
        error => errors::data(error),
    }
}

/// Converts the descriptions of columns to dictionaries, with the use of each column if `uses` is given. The entry
/// `shown` says in words how a column was read.
fn told<'py>(
    py: Python<'py>,
    accounts: &[lehr_data::describe::ColumnAccount],
    uses: Option<&[ColumnUse]>,
) -> PyResult<Bound<'py, PyList>> {
    let columns = PyList::empty(py);
    for (index, account) in accounts.iter().enumerate() {
        let found = document(py, account)?;
        found.set_item("shown", account.read_as.to_string())?;
        if let Some(used) = uses.map(|uses| &uses[index]) {
            found.set_item("is_used", used.is_used)?;
            found.set_item("how", &used.how)?;
        }
        columns.append(found)?;
    }
    Ok(columns)
}

/// Converts a serialisable value to dictionaries and lists.
pub(crate) fn document<'py>(py: Python<'py>, of: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(of).map_err(|cause| errors::value(cause.to_string()))?;
    json::object(py, &value)
}

fn read(preparation: &str) -> PyResult<Preparation> {
    let read: Result<Preparation, _> = serde_json::from_str(preparation);
    read.ok()
        .filter(|preparation| !preparation.features.is_empty())
        .ok_or_else(|| errors::value("expected a preparation, as lehr.TablePreparation and the command save it"))
}

/// Converts rows of features (N x features) back to the units of the columns.
#[pyfunction]
pub(crate) fn back<'py>(
    py: Python<'py>,
    preparation: &str,
    x: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let preparation = read(preparation)?;
    let (width, found) = (preparation.features.len(), x.as_array().ncols());
    if width != found {
        return Err(errors::value(format!("expected {width} columns, one a feature, found {found}")));
    }
    let mut values = arrays::matrix(&x);
    values.chunks_exact_mut(width).for_each(|row| preparation.back(row));
    arrays::table(py, values, width)
}

/// Returns the indices of the isolated rows in a table of finite numbers.
#[pyfunction]
pub(crate) fn isolated_rows<'py>(py: Python<'py>, x: PyReadonlyArray2<'py, f64>) -> Bound<'py, PyArray1<i64>> {
    let (values, width) = (arrays::matrix(&x), x.as_array().ncols());
    let rows = py.detach(|| isolated::isolated(&values, width));
    rows.into_iter().map(|row| row as i64).collect::<Vec<_>>().into_pyarray(py)
}

/// Reads a table from a file or from bytes. Errors about bytes give `name` as the file. `form` has the options for
/// reading that the user gave, as JSON.
#[pyfunction]
pub(crate) fn read_table(py: Python<'_>, source: &Bound<'_, PyAny>, name: &str, form: &str) -> PyResult<Table> {
    let form: TableForm = serde_json::from_str(form).map_err(|cause| errors::value(format!("form: {cause}")))?;
    let frame = if let Ok(bytes) = source.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        py.detach(|| data_frame_from(bytes, name, &form))
    } else {
        let path: PathBuf = source.extract()?;
        let read = form.clone();
        reading(py, path, move |path| data_frame(path, &read))?
    };
    let frame = frame.and_then(|frame| frame.expect_columns(&form.text).map(|()| frame));
    frame.map(Table).map_err(errors::data)
}
