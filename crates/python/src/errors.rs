//! Converts the crates' errors to Python exceptions. Errors in parameters, and the error for too few rows, have
//! scikit-learn's wording.
//!
//! | problem | exception |
//! | --- | --- |
//! | data, parameters, a checkpoint of other data | `ValueError` |
//! | files, disks | `OSError` |
//! | rows that do not fit in memory | `MemoryError` |
//! | stopped by a callback | `lehr.Stopped` |
//! | processes of a job, threads | `RuntimeError` |
//! | failures of other ranks in a user's program | `lehr.ranks.RankError` |
//! | ports | `lehr.runtime.Closed`, `lehr.runtime.Full` |

use std::path::Path;

use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};

pyo3::create_exception!(
    lehr,
    Stopped,
    PyRuntimeError,
    "A callback said stop. If the estimator has a `checkpoint`, the next `fit` on the same data goes on from it."
);

pyo3::create_exception!(
    lehr,
    RankError,
    PyRuntimeError,
    "Raised by a rank that cannot continue because another rank has ended or failed, or because the program was stopped."
);

pyo3::create_exception!(
    lehr,
    Closed,
    PyRuntimeError,
    "A port is closed and does not hold what was asked of it, or an interleave has ended."
);

pyo3::create_exception!(lehr, Full, PyRuntimeError, "A port has no place for one more item.");

/// The names of parameters in Rust, and the corresponding names in estimators.
const NAMES: [(&str, &str); 17] = [
    ("max_iterations", "max_iter"),
    ("dimensions", "n_components"),
    ("sponge", "outlier_radius"),
    ("regularisation", "regularization"),
    ("clusters", "n_clusters"),
    ("components", "n_components"),
    ("covariance", "covariance_type"),
    ("tolerance", "tol"),
    ("most_iterations", "max_iter"),
    ("max_sweeps", "max_iter"),
    ("dimension", "n_components"),
    ("starts", "n_init"),
    ("centers", "init"),
    ("neighbours", "n_neighbors"),
    ("latent", "n_components"),
    ("nodes", "n_nodes"),
    ("basis", "n_basis"),
];

fn name_in_python(name: &str) -> &str {
    NAMES.iter().find(|(rust, _)| *rust == name).map_or(name, |(_, python)| python)
}

/// Returns the exception for an invalid parameter, in scikit-learn's wording.
pub(crate) fn wrong_parameter(name: &str, expected: &str, found: &str) -> PyErr {
    PyValueError::new_err(format!("The '{}' parameter must be {expected}. Got {found} instead.", name_in_python(name)))
}

pub(crate) fn value(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

pub(crate) fn runtime(message: impl Into<String>) -> PyErr {
    PyRuntimeError::new_err(message.into())
}

pub(crate) fn type_error(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

pub(crate) fn rank(message: impl Into<String>) -> PyErr {
    RankError::new_err(message.into())
}

pub(crate) fn closed(message: impl Into<String>) -> PyErr {
    Closed::new_err(message.into())
}

pub(crate) fn full(message: impl Into<String>) -> PyErr {
    Full::new_err(message.into())
}

/// Returns the exception for an error of a rank in a user's program.
pub(crate) fn of_ranks(error: &lehr_ranks::Error) -> PyErr {
    use lehr_ranks::Error;
    match error {
        Error::Mismatch { .. } | Error::Truncated { .. } | Error::Decoding { .. } | Error::Invalid { .. } => {
            value(error.to_string())
        }
        _ => rank(error.to_string()),
    }
}

/// Returns the exception for a file that could not be read or written. With an error number of the system, this is the
/// matching subclass of `OSError`, such as `FileNotFoundError`.
pub(crate) fn file(path: &Path, cause: &std::io::Error) -> PyErr {
    match cause.raw_os_error() {
        // With an error number, Python chooses the matching subclass of `OSError`.
        Some(number) => PyOSError::new_err((number, cause.to_string(), path.display().to_string())),
        None => PyOSError::new_err(format!("{}: {cause}", path.display())),
    }
}

pub(crate) fn data(error: lehr_data::Error) -> PyErr {
    let message = error.to_string();
    match error {
        lehr_data::Error::Open { path, cause } | lehr_data::Error::Write { path, cause } => {
            file(Path::new(&path), &cause)
        }
        lehr_data::Error::Memory { .. } => PyMemoryError::new_err(message),
        error if error.is_environment() => PyOSError::new_err(message),
        // Users of arrays count rows from 0, so row numbers are converted.
        lehr_data::Error::Faults(faults) => value(faults.from_zero().to_string()),
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
        Error::TooManyComponents { components, points } => {
            value(format!("n_samples={points} should be >= n_components={components}."))
        }
        Error::Stopped => stopped(),
        Error::OtherData { .. } => value(format!(
            "{message}. Fit the data that the checkpoint was written for, or delete the file to start again."
        )),
        Error::CheckpointVersion { .. } | Error::CheckpointDamaged { .. } => {
            value(format!("{message}. Delete the file to start again."))
        }
        Error::File { path, source } => file(&path, &source),
        Error::Memory { .. } => PyMemoryError::new_err(message),
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
        Error::TooLarge { .. } => PyMemoryError::new_err(message),
        Error::Ranks(error) => ranks(&error),
        _ => value(message),
    }
}
