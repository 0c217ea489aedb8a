//! Converts between JSON and Python objects, for the states, bodies and answers of services.
//!
//! A value without a JSON equivalent is an error. Examples are sets, NaN, whole numbers beyond 64 bits, and keys that
//! are not strings (Python's own writer would convert such keys).

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::errors;

/// The maximum nesting depth of lists and dictionaries, which is the limit of the reader at the other end.
const DEPTH: usize = 120;

/// Converts a JSON value to dictionaries, lists, texts and numbers.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(entries) => {
            let entries: PyResult<Vec<_>> = entries.iter().map(|entry| object(py, entry)).collect();
            PyList::new(py, entries?)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, field) in fields {
                dict.set_item(name, object(py, field)?)?;
            }
            dict.into_any()
        }
    })
}

/// Converts a Python value to JSON. Tuples become lists, and NumPy's numbers and arrays become numbers and lists.
///
/// # Errors
/// Returns `TypeError` or `ValueError` for values without a JSON equivalent.
pub(crate) fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    written(object, 0)
}

fn written(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEPTH {
        return Err(errors::value(format!("nested more than {DEPTH} deep: does something contain itself?")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // In Python, a bool is also an int, so check for bool first.
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if object.cast::<PyInt>().is_ok() {
        let number = object.extract::<i64>().map(Number::from).or_else(|_| object.extract::<u64>().map(Number::from));
        return number.map(Value::Number).map_err(|_| errors::value("a whole number beyond 64 bits"));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = Number::from_f64(number.value());
        return number.map(Value::Number).ok_or_else(|| errors::value("JSON has no NaN and no infinity"));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(text.to_cow()?.into_owned()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let mut fields = Map::new();
        // Copy the entries first, because other threads may change the dictionary meanwhile.
        for entry in dict.items() {
            let (key, field) = entry.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let Ok(name) = key.cast::<PyString>() else {
                let kind = key.get_type().name()?.to_string();
                return Err(errors::type_error(format!("the keys of an object of JSON are str, found {kind}")));
            };
            fields.insert(name.to_cow()?.into_owned(), written(&field, depth + 1)?);
        }
        return Ok(Value::Object(fields));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().map(|entry| written(&entry, depth + 1)).collect();
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().map(|entry| written(&entry, depth + 1)).collect();
    }
    if object.hasattr("tolist")? {
        return written(&object.call_method0("tolist")?, depth + 1);
    }
    Err(errors::type_error(format!("JSON has no {}", object.get_type().name()?)))
}
