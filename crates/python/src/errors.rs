//! Errors of the rooms as Python's exceptions, in the words that scikit-learn's users know.
//!
//! | what is wrong | exception |
//! | --- | --- |
//! | data, parameters, a checkpoint of other data | `ValueError` |
//! | files, disks | `OSError` |
//! | stopped by a callback | `lehr.Stopped` |
//! | the processes of a job, threads | `RuntimeError` |

use std::path::Path;

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};

pyo3::create_exception!(
    lehr,
    Stopped,
    PyRuntimeError,
    "A callback said stop. If the estimator has a `checkpoint`, the next `fit` on the same data goes on from it."
);

/// A parameter's name in Rust, and what estimators call it.
const NAMES: [(&str, &str); 12] = [
    ("clusters", "n_clusters"),
    ("components", "n_components"),
    ("covariance", "covariance_type"),
    ("tolerance", "tol"),
    ("most_iterations", "max_iter"),
    ("max_sweeps", "max_iter"),
    ("dimension", "n_components"),
    ("starts", "n_init"),
    ("neighbours", "n_neighbors"),
    ("latent", "n_components"),
    ("nodes", "n_nodes"),
    ("basis", "n_basis"),
];

fn name_in_python(name: &str) -> &str {
    NAMES.iter().find(|(rust, _)| *rust == name).map_or(name, |(_, python)| python)
}

/// As scikit-learn says it.
fn wrong_parameter(name: &str, expected: &str, found: &str) -> PyErr {
    PyValueError::new_err(format!("The '{}' parameter must be {expected}. Got {found} instead.", name_in_python(name)))
}

pub(crate) fn value(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

pub(crate) fn runtime(message: impl Into<String>) -> PyErr {
    PyRuntimeError::new_err(message.into())
}

/// A file that could not be read or written, as Python raises it: `FileNotFoundError` and its kind, if the system said which.
pub(crate) fn file(path: &Path, cause: &std::io::Error) -> PyErr {
    match cause.raw_os_error() {
        // With an error number `OSError` becomes the class that belongs to it.
        Some(number) => PyOSError::new_err((number, cause.to_string(), path.display().to_string())),
        None => PyOSError::new_err(format!("{}: {cause}", path.display())),
    }
}

pub(crate) fn data(error: lehr_data::Error) -> PyErr {
    let message = error.to_string();
    match error {
        lehr_data::Error::Open { path, cause } => file(Path::new(&path), &cause),
        error if error.is_environment() => PyOSError::new_err(message),
        _ => value(message),
    }
}

fn stopped() -> PyErr {
    Stopped::new_err("stopped by the callback: there is no result")
}

fn ranks(error: &lehr_ranks::Error) -> PyErr {
    runtime(error.to_string())
}

pub(crate) fn mining(error: lehr_mining::Error) -> PyErr {
    use lehr_mining::Error;
    let message = error.to_string();
    match error {
        Error::Parameter { name, expected, found } => wrong_parameter(name, expected, &found),
        Error::TooManyClusters { clusters, points } => {
            value(format!("n_samples={points} should be >= n_clusters={clusters}."))
        }
        Error::MostlyOutside { .. } => value(format!("{message}. Take a larger 'sponge', or more clusters.")),
        Error::Stopped => stopped(),
        Error::OtherData { .. } => value(format!(
            "{message}. Fit the data that the checkpoint was written for, or delete the file to start anew."
        )),
        Error::CheckpointVersion { .. } | Error::CheckpointDamaged { .. } => {
            value(format!("{message}. Delete the file to start anew."))
        }
        Error::File { path, source } => file(&path, &source),
        Error::Data(error) => data(error),
        Error::Ranks(error) => ranks(&error),
        _ => value(message),
    }
}

pub(crate) fn distances(error: lehr_distances::Error) -> PyErr {
    use lehr_distances::Error;
    let message = error.to_string();
    match error {
        Error::Parameter { name, expected, found } => wrong_parameter(name, &expected, &found),
        Error::Stopped => stopped(),
        Error::File { path, source } => file(&path, &source),
        Error::Ranks(error) => ranks(&error),
        _ => value(message),
    }
}
