//! Reads models in the command's format.

use lehr_data::geography;
use lehr_methods::items::{Medoids, Members, Positions};
use lehr_methods::{ModelFile, pmml};
use lehr_mining::gtm::Map;
use lehr_mining::mixture::Mixture;
use lehr_mining::vector::Centroids;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;

use crate::{arrays, errors, gtm, mixture, vector};

pub(crate) fn read<T: DeserializeOwned>(fields: &str) -> PyResult<T> {
    serde_json::from_str(fields).map_err(|cause| errors::value(format!("not a whole model ({cause})")))
}

/// Checks a model of the given kind, and returns the parts that an estimator keeps.
#[pyfunction]
pub(crate) fn learnt<'py>(py: Python<'py>, kind: &str, fields: &str) -> PyResult<Bound<'py, PyDict>> {
    let error = |error: lehr_mining::Error| errors::value(error.to_string());
    match kind {
        "clusters" => {
            let centroids: Centroids = read(fields)?;
            centroids.check().map_err(error)?;
            if centroids.is_bernoulli() {
                return Err(errors::value(
                    "clusters by likelihood (--cost bernoulli), of which no estimator knows: lehr predict places rows in them".to_owned(),
                ));
            }
            let centers = (0..centroids.len()).flat_map(|k| centroids.center(k)).copied().collect();
            let found = PyDict::new(py);
            found.set_item("cluster_centers", arrays::table(py, centers, centroids.dimension())?)?;
            found.set_item("temperature", centroids.temperature())?;
            found.set_item("sponge", centroids.sponge())?;
            found.set_item("borders", vector::borders(centroids.borders()))?;
            Ok(found)
        }
        "mixture" => {
            let mixture: Mixture = read(fields)?;
            mixture.check().map_err(error)?;
            let found = mixture::parts(py, &mixture)?;
            found.set_item("form", mixture.form().name())?;
            Ok(found)
        }
        "gtm" => {
            let map: Map = read(fields)?;
            map.check().map_err(error)?;
            gtm::parts(py, &map)
        }
        "medoids" => {
            let medoids: Medoids = read(fields)?;
            medoids.check().map_err(error)?;
            let found = PyDict::new(py);
            found.set_item("items", medoids.items())?;
            let places: Vec<i64> = medoids.medoids().iter().map(|item| *item as i64).collect();
            found.set_item("medoids", places.into_pyarray(py))?;
            Ok(found)
        }
        "pairwise" => {
            let members: Members = read(fields)?;
            members.check().map_err(error)?;
            let found = PyDict::new(py);
            let labels: Vec<i32> = members.labels().iter().map(|label| *label as i32).collect();
            found.set_item("labels", labels.into_pyarray(py))?;
            let weights = (!members.weights().is_empty()).then(|| members.weights().to_vec().into_pyarray(py));
            found.set_item("weights", weights)?;
            found.set_item("mean_within", members.mean_within().to_vec().into_pyarray(py))?;
            Ok(found)
        }
        "embedding" => {
            let map: Positions = read(fields)?;
            map.check().map_err(error)?;
            let found = PyDict::new(py);
            found.set_item("embedding", arrays::table(py, map.positions().to_vec(), map.dimensions())?)?;
            found.set_item("neighbors", map.neighbors())?;
            Ok(found)
        }
        other => Err(errors::value(format!(
            "expected clusters, a mixture, a gtm, medoids, a pairwise clustering or an embedding, found {other:?}"
        ))),
    }
}

/// Returns the checksum of the fields of a `model.json`, without its own field.
#[pyfunction]
pub(crate) fn model_checksum(content: &str) -> PyResult<String> {
    serde_json::from_str(content)
        .map(|value| lehr_methods::model_checksum(&value))
        .map_err(|cause| errors::value(cause.to_string()))
}

/// Returns the text of a `model.json` as PMML.
#[pyfunction]
pub(crate) fn pmml_of(content: &str) -> PyResult<String> {
    let value = serde_json::from_str(content).map_err(|cause| errors::value(cause.to_string()))?;
    let model = ModelFile::of_json(value, "the model").map_err(|error| errors::value(error.message))?;
    pmml::text(&model).map_err(|reason| errors::value(reason.to_string()))
}

/// Converts longitudes and latitudes in degrees, an N x 2 array, to points on the sphere, in kilometres from the centre
/// of the sphere.
#[pyfunction]
pub(crate) fn on_sphere<'py>(py: Python<'py>, x: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let places = arrays::points(x.as_any(), None)?;
    let positions = geography::on_sphere(&places).map_err(errors::data)?;
    arrays::table(py, positions.values().to_vec(), positions.dimension())
}
