//! The data sets that the package contains, for `lehr.datasets`.

use lehr_data::read::fasta::{Expected, sequences_from};
use lehr_data::sequences::Alphabet;
use lehr_data::{Points, datasets};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::items::Sequences;
use crate::{arrays, errors};

/// Loads a data set by name: `data`, `feature_names`, and `target` or `weight` if the data set has them.
#[pyfunction]
pub(crate) fn load_points<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let labelled = |(points, labels): (Points, Vec<u32>)| (points, Some(labels));
    let (points, target) = match name {
        "iris" => labelled(datasets::iris()),
        "wine" => labelled(datasets::wine()),
        "breast_cancer" => labelled(datasets::breast_cancer()),
        "digits" => labelled(datasets::digits()),
        "census_blocks" => (py.detach(datasets::census_blocks), None),
        other => return Err(errors::value(format!("there is no data set {other:?}"))),
    };
    let found = PyDict::new(py);
    found.set_item("feature_names", points.columns().to_vec())?;
    found.set_item("target", target.map(|labels| arrays::labels(&labels).into_pyarray(py)))?;
    found.set_item("weight", points.weights().map(|weights| weights.to_vec().into_pyarray(py)))?;
    found.set_item("data", arrays::table(py, points.values().to_vec(), points.dimension())?)?;
    Ok(found)
}

/// Loads the human Alu repeats.
#[pyfunction]
pub(crate) fn load_alu(py: Python<'_>) -> PyResult<Sequences> {
    let bytes = include_bytes!("../../../datasets/alu/alu_human.fasta.gz");
    let expected = Expected { alphabet: Some(Alphabet::Dna), is_aligned: false };
    py.detach(|| sequences_from(&bytes[..], "alu_human.fasta.gz", expected)).map(Sequences).map_err(errors::data)
}
