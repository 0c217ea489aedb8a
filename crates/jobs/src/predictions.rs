//! Models as a service: loads models under names, and applies them to the rows of requests, at its own rate.
//!
//! The model of a job answers requests too ([`Predict`](crate::jobs::Predict)). This service is for programs that send
//! rows all day. A name stays while its model changes; each answer has the version of its model. The service limits the
//! rows of a request, the rows a second, and the requests that compute at once, so that jobs keep their cores.

mod service;
mod turns;

use std::collections::BTreeMap;
use std::fmt;

use lehr_methods::ModelFile;
use lehr_services::{Contract, Operation, Version};
use lehr_sync::Arc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bytes::Bytes;
use crate::datasets::{NAME_BYTES, NAME_PATTERN};
use crate::format::{Form, Piece, RowFormat};
use crate::jobs::Record;

pub use service::PredictionService;
pub use turns::Settings;

/// The state of a service of predictions.
///
/// # Example
/// ```
/// use lehr_jobs::predictions::{Load, Predict};
/// use lehr_jobs::{DatasetService, Setup};
/// use lehr_methods::{Learnt, ModelFile};
/// use lehr_mining::vector::Centroids;
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// host.start("/datasets", DatasetService::in_memory).await?;
/// let predictions = Setup::default().start_predictions(&host, "/predictions").await?;
/// let centroids = Centroids::new(1, vec![0.0, 9.0], 0.0).unwrap();
/// let model = ModelFile::new(&["x".to_owned()], (vec![0.0], vec![1.0]), Learnt::Clusters(centroids));
/// let model = serde_json::to_value(&model).unwrap();
/// assert_eq!(predictions.call(Load { model: Some(model), ..Load::named("sizes") }).await?.version, 1);
/// let rows = serde_json::from_str(r#"[{ "x": 8.5 }, { "x": 1.0 }]"#).unwrap();
/// let said = predictions.call(Predict { rows: Some(rows), ..Predict::named("sizes") }).await?;
/// assert_eq!((said.version, &said.rows.json.unwrap().objects()[0]["cluster"]), (1, &serde_json::json!(1)));
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Predictions {
    /// The path of the service that has the models and the rows of data sets.
    pub datasets: String,
    /// The models by name.
    pub models: BTreeMap<String, Loaded>,
    /// The versions of removed models by name, so that no version is used twice.
    #[serde(default)]
    pub(crate) removed: BTreeMap<String, u64>,
}

impl Contract for Predictions {
    const NAME: &'static str = "lehr.predictions";
    const VERSION: Version = Version::new(1, 0);
}

/// A model that is ready.
///
/// # Example
/// See [`Predictions`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Loaded {
    /// The version: 1 for the first model of a name, and one more each time another model is loaded.
    pub version: u64,
    /// The kind of model: `clusters`, `mixture`, `gtm`, `medoids`, `pairwise` or `embedding`.
    pub kind: String,
    /// The columns that rows must have.
    pub columns: Vec<String>,
    /// The data set with the model.
    pub dataset: String,
    /// Whether the service made this data set, and removes it with the model.
    pub is_own: bool,
    /// The SHA-256 of the model's text.
    pub sha256: String,
    /// The time at which the model was loaded, in milliseconds since the beginning of 1970 by the node's clock.
    pub loaded_unix_ms: u64,
}

/// Loads a model under a name. Requests in progress end with the earlier model of this name; later ones get the new
/// model. No request is refused meanwhile. If the model cannot be loaded, the earlier one stays.
///
/// Give exactly one of `job`, `dataset`, `model` and `path`.
///
/// # Example
/// See [`Predictions`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Predictions, verb = Submit, name = "load", reply = Loaded, key = name)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The name of the model.
    #[schemars(extend("pattern" = NAME_PATTERN, "maxLength" = NAME_BYTES))]
    pub name: String,
    /// The record of a job that is done, as the operation `wait` of its service returns it.
    #[serde(default)]
    pub job: Option<Record>,
    /// A data set with a model, such as `clustering-1/model`.
    #[serde(default)]
    pub dataset: Option<String>,
    /// The content of a `model.json`.
    #[serde(default)]
    pub model: Option<Value>,
    /// A `model.json` under the node's data root.
    #[serde(default)]
    pub path: Option<String>,
}

impl Load {
    /// Creates a request for a name, to which the caller adds the model.
    ///
    /// # Example
    /// See [`Predictions`].
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), job: None, dataset: None, model: None, path: None }
    }
}

/// Removes a model.
///
/// # Example
/// See [`Predictions`] for how to call operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Predictions, verb = Submit, name = "remove", key = name)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The name of the model.
    pub name: String,
}

/// Returns a model: the content of a `model.json`.
///
/// # Example
/// See [`Predictions`] for how to call operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Predictions, verb = Query, name = "model", reply = Value, key = name)]
#[serde(deny_unknown_fields)]
pub struct ModelOf {
    /// The name of the model.
    pub name: String,
}

/// The rows to which a model is applied: the rows of a data set, of a file, or in the request itself.
///
/// Over HTTP, the body may be the file itself, or a form that contains it. The query then has the other fields:
///
/// ```console
/// $ curl -H 'content-type: text/csv' -H 'accept: text/csv' --data-binary @new.csv 'http://127.0.0.1:8420/predictions:predict?name=sites'
/// ```
///
/// # Example
/// See [`Predictions`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(deny_unknown_fields)]
#[operation(
    contract = Predictions,
    verb = Query,
    name = "predict",
    reply = Predicted,
    key = name,
    raw(
        "text/csv",
        "text/tab-separated-values",
        "application/x-npy",
        "application/vnd.apache.parquet",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.arrow.file",
        "application/octet-stream",
    )
)]
pub struct Predict {
    /// The name of the model.
    pub name: String,
    /// The version that the model must have. Default: any.
    #[serde(default)]
    pub version: Option<u64>,
    /// The data set with the rows, if the request has neither a file nor rows.
    #[serde(default)]
    pub dataset: Option<String>,
    /// The rows themselves: an object for each row, with a number or a text for each column.
    #[serde(default)]
    pub rows: Option<Vec<Map<String, Value>>>,
    /// A file with the rows.
    #[serde(default)]
    pub data: Option<Bytes>,
    /// The format of the file, as a media type.
    #[serde(default)]
    pub media_type: Option<String>,
    /// The format of the file. This field overrides the media type.
    #[serde(default)]
    pub file_format: Option<Form>,
    /// The column of ids. Default: the model's column of ids if the rows have it, or otherwise the row number.
    #[serde(default)]
    pub id: Option<String>,
    /// Whether values of the file or the rows may be missing; mixtures and maps accept such rows. Default: no.
    #[serde(default)]
    pub gaps: bool,
    /// Whether to return the membership of each row in each cluster or component too. Default: no.
    #[serde(default)]
    pub memberships: bool,
    /// The format of the rows in the answer. Default: JSON.
    #[serde(default)]
    pub format: RowFormat,
    /// The number of the first row, counted from 0. Default: 0.
    #[serde(default)]
    pub from: u64,
    /// The end of the rows, exclusive. Default: the number of the given rows.
    #[serde(default)]
    pub to: Option<u64>,
}

impl Predict {
    /// Creates a request for a model, to which the caller adds the rows.
    ///
    /// # Example
    /// See [`Predictions`].
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: None,
            dataset: None,
            rows: None,
            data: None,
            media_type: None,
            file_format: None,
            id: None,
            gaps: false,
            memberships: false,
            format: RowFormat::default(),
            from: 0,
            to: None,
        }
    }
}

/// A model's result for rows, and the version of the model.
///
/// # Example
/// See [`Predictions`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// The version of the model.
    pub version: u64,
    /// The result.
    #[serde(flatten)]
    pub rows: Piece,
}

/// Returns the text of a file under the data root. Only the service itself may send this request.
///
/// # Example
/// See [`Predictions`] for how to call operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Predictions, verb = Query, name = "read_file", reply = String)]
pub struct ReadFile {
    /// The path of the file.
    pub path: String,
}

/// Records that a model has been loaded, and returns the earlier model of this name. Only the service itself may send
/// this request.
///
/// # Example
/// See [`Predictions`] for how to call operations.
#[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Predictions, verb = Upsert, name = "replace_model", reply = Replaced, key = name)]
pub struct ReplaceModel {
    /// The name of the model.
    pub name: String,
    /// The model; its version is set by the service.
    pub loaded: Loaded,
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) model: Option<Arc<ModelFile>>,
}

impl fmt::Debug for ReplaceModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ReplaceModel").field("name", &self.name).field("loaded", &self.loaded).finish()
    }
}

/// Records that a model is removed, and returns it. Only the service itself may send this request.
///
/// # Example
/// See [`Predictions`] for how to call operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Predictions, verb = Delete, name = "forget", reply = Loaded, key = name)]
pub struct Forget {
    /// The name of the model.
    pub name: String,
}

/// A model that replaced an earlier one.
///
/// # Example
/// See [`Predictions`] for how to call operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replaced {
    /// The model.
    pub now: Loaded,
    /// The earlier model of this name, if there was one.
    pub before: Option<Loaded>,
}
