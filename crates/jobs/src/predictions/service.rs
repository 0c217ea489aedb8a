//! The service of predictions.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;

use lehr_methods::ModelFile;
use lehr_runtime::blocking;
use lehr_services::{
    Call, Code, Concurrent, Exclusive, Fault, Handlers, Independent, Measure, Measures, Partners, Reference, Service,
    Starting,
};
use lehr_sync::{Arc, unix_ms};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::turns::{Settings, Turns};
use super::{Forget, Load, Loaded, ModelOf, Predict, Predicted, Predictions, ReadFile, Remove, ReplaceModel, Replaced};
use crate::datasets::root::Root;
use crate::datasets::{self, Datasets, Put, check_name};
use crate::handle::Handle;
use crate::jobs::{Record, State};
use crate::method::MODEL;
use crate::predict::{Asked, text_of};
use crate::service::name_of;
use crate::table::Table;

/// The metric for the number of requests for predictions.
const REQUESTS: Measure = Measure {
    name: "lehr_prediction_requests_total",
    help: "Requests for predictions, by whether they were answered.",
    is_counter: true,
};
/// The metric for the number of rows with predictions.
const ROWS: Measure = Measure {
    name: "lehr_prediction_rows_total",
    help: "Rows in answered requests for predictions.",
    is_counter: true,
};

/// The maximum size of a model, in bytes.
const MODEL_BYTES: u64 = 1 << 28;

/// The service of predictions.
///
/// # Example
/// See [`Predictions`].
#[derive(Clone, Debug)]
pub struct PredictionService {
    document: Predictions,
    /// The models by name. A model whose data set is lost is missing here.
    models: BTreeMap<String, Arc<ModelFile>>,
    root: Option<Arc<Root>>,
    turns: Arc<Turns>,
    datasets: Option<Reference<Datasets>>,
    measures: Measures,
}

fn invalid(reason: impl Into<String>) -> Fault {
    Fault::new(Code::InvalidValue, reason)
}

fn unknown(name: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("there is no model {name:?}"))
}

fn check_own(call: &Call) -> Result<(), Fault> {
    if call.caller().is_none() {
        return Ok(());
    }
    Err(Fault::new(Code::PermissionDenied, "the service sends this to itself only"))
}

/// Reads the text of a model.
fn parse(text: &str, name: &str) -> Result<ModelFile, Fault> {
    let shown = format!("the model {name:?}");
    let value = serde_json::from_str(text)
        .map_err(|cause| invalid(format!("{shown}: expected a model, found no JSON ({cause})")))?;
    ModelFile::of_json(value, &shown).map_err(|error| invalid(error.message))
}

impl PredictionService {
    /// Creates a service with these limits, which may load models under the data root.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] for invalid limits; [`Code::StartFailed`] if the data root is not a folder.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::predictions::{PredictionService, Settings};
    /// assert!(PredictionService::new(Settings { rows: 0, ..Settings::default() }, None).is_err());
    /// ```
    pub fn new(settings: Settings, data_root: Option<PathBuf>) -> Result<Self, Fault> {
        settings.check()?;
        let root = data_root.map(|path| Root::new(&path)).transpose()?.map(Arc::new);
        let (document, models) = (Predictions::default(), BTreeMap::new());
        Ok(Self { document, models, root, turns: Turns::new(settings), datasets: None, measures: Measures::default() })
    }

    fn datasets(&self) -> Result<&Reference<Datasets>, Fault> {
        self.datasets
            .as_ref()
            .ok_or_else(|| Fault::new(Code::Unavailable, "the service of the data sets has not started"))
    }

    /// Returns a model and its entry.
    fn model(&self, name: &str) -> Result<(&Loaded, Arc<ModelFile>), Fault> {
        let loaded = self.document.models.get(name).ok_or_else(|| unknown(name))?;
        let model = self.models.get(name).cloned().ok_or_else(|| {
            let reason = format!("the model {name:?} was lost with the data set {:?}: load it again", loaded.dataset);
            Fault::new(Code::OperationFailed, reason)
        })?;
        Ok((loaded, model))
    }

    fn measure(&self, is_answered: bool, rows: u64) {
        self.measures.add(REQUESTS, Some(("state", if is_answered { "answered" } else { "refused" })), 1.0);
        self.measures.add(ROWS, None, rows as f64);
    }
}

impl Service for PredictionService {
    type Document = Predictions;

    fn document(&self) -> &Predictions {
        &self.document
    }

    fn document_mut(&mut self) -> &mut Predictions {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.independent::<Load>().independent::<Remove>();
        on.concurrent::<Predict>().concurrent::<ModelOf>().concurrent::<ReadFile>();
        on.exclusive::<ReplaceModel>().exclusive::<Forget>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Datasets>("datasets");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        let datasets = starting.partner::<Datasets>("datasets")?;
        self.document.datasets = datasets.lookup().await?.path;
        self.measures = starting.measures();
        for (name, loaded) in &self.document.models {
            // A model whose data set was removed or replaced is reported, and the others still answer.
            let read = async {
                let text = text_of(&datasets, &loaded.dataset).await?;
                if sha256(&text) != loaded.sha256 {
                    return Err(invalid(format!("the data set {:?} has another model now", loaded.dataset)));
                }
                parse(&text, name)
            };
            match read.await {
                Ok(model) => {
                    self.models.insert(name.clone(), Arc::new(model));
                }
                Err(fault) => starting.report(format!("the model {name:?} is lost: {}", fault.reason())),
            }
        }
        self.datasets = Some(datasets);
        Ok(())
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the data set with the model of a job.
fn dataset_of(job: &Record) -> Result<String, Fault> {
    if job.state != State::Done {
        let found = name_of(job.state);
        return Err(invalid(format!("job: expected one that is done, found {}, which is {found}", job.output)));
    }
    let none = || invalid(format!("job: {} has no model", job.output));
    job.outputs.get(MODEL).cloned().ok_or_else(none)
}

impl Independent<Load> for PredictionService {
    async fn handle(load: Load, call: &Call) -> Result<Loaded, Fault> {
        let Load { name, job, dataset, model, path } = load;
        check_name(&name)?;
        let own = call.own::<Predictions>()?;
        let datasets = call.host()?.reference::<Datasets>(&own.get().await?.datasets)?;
        let dataset = match (job, dataset) {
            (Some(job), None) => Some(dataset_of(&job)?),
            (None, dataset) => dataset,
            (Some(_), Some(_)) => return Err(invalid("expected one of job, dataset, model and path, found several")),
        };
        let (text, dataset) = match (dataset, model, path) {
            (Some(dataset), None, None) => (text_of(&datasets, &dataset).await?, Some(dataset)),
            (None, Some(model), None) => (model.to_string(), None),
            (None, None, Some(path)) => (own.call(ReadFile { path }).await?, None),
            (None, None, None) => return Err(invalid("expected one of job, dataset, model and path, found none")),
            _ => return Err(invalid("expected one of job, dataset, model and path, found several")),
        };
        let (model, sha256) = blocking("reading a model", || parse(&text, &name).map(|model| (model, sha256(&text))))?;
        let is_own = dataset.is_none();
        let dataset = match dataset {
            Some(dataset) => dataset,
            None => {
                // The name contains the checksum and the time. So models that are loaded at the same time do not mix, and
                // the data set of an earlier model is never that of a later one.
                let path = call.path()[1..].replace('/', ".");
                let dataset = format!("{path}.{name}/{}-{:x}/{MODEL}", &sha256[..16], unix_ms());
                let table = Handle(Table::builder().texts(MODEL, vec![text]).build()?);
                datasets.call(Put { name: dataset.clone(), table, replace: true }).await?;
                dataset
            }
        };
        let loaded = Loaded {
            version: 0,
            kind: model.model.kind().to_owned(),
            columns: model.columns.clone(),
            dataset,
            is_own,
            sha256,
            loaded_unix_ms: unix_ms(),
        };
        let Replaced { now, before } = own.call(ReplaceModel { name, loaded, model: Some(Arc::new(model)) }).await?;
        if let Some(before) = before.filter(|before| before.dataset != now.dataset) {
            // The new model is in place, so a data set that cannot be removed is no reason to report a failure.
            let _left = clear(&datasets, &before).await;
        }
        Ok(now)
    }
}

/// Removes the data set that the service made for a model.
async fn clear(datasets: &Reference<Datasets>, loaded: &Loaded) -> Result<(), Fault> {
    if !loaded.is_own {
        return Ok(());
    }
    match datasets.call(datasets::Remove { name: loaded.dataset.clone() }).await {
        // Somebody has removed it already.
        Err(fault) if fault.code() == Code::UnknownEntry => Ok(()),
        removed => removed,
    }
}

impl Exclusive<ReplaceModel> for PredictionService {
    async fn handle(&mut self, replace: ReplaceModel, call: &Call) -> Result<Replaced, Fault> {
        check_own(call)?;
        let ReplaceModel { name, loaded, model } = replace;
        let model = model.ok_or_else(|| invalid("a model without its content"))?;
        let before = self.document.models.get(&name).cloned();
        let last = before.as_ref().map(|before| before.version).or(self.document.removed.get(&name).copied());
        let now = Loaded { version: last.unwrap_or(0) + 1, ..loaded };
        self.document.removed.remove(&name);
        self.document.models.insert(name.clone(), now.clone());
        self.models.insert(name, model);
        Ok(Replaced { now, before })
    }
}

impl Independent<Remove> for PredictionService {
    async fn handle(Remove { name }: Remove, call: &Call) -> Result<(), Fault> {
        let own = call.own::<Predictions>()?;
        let datasets = call.host()?.reference::<Datasets>(&own.get().await?.datasets)?;
        let removed = own.call(Forget { name }).await?;
        clear(&datasets, &removed).await
    }
}

impl Exclusive<Forget> for PredictionService {
    async fn handle(&mut self, Forget { name }: Forget, call: &Call) -> Result<Loaded, Fault> {
        check_own(call)?;
        let removed = self.document.models.remove(&name).ok_or_else(|| unknown(&name))?;
        self.models.remove(&name);
        self.document.removed.insert(name, removed.version);
        Ok(removed)
    }
}

impl Concurrent<ReadFile> for PredictionService {
    async fn handle(&self, ReadFile { path }: ReadFile, call: &Call) -> Result<String, Fault> {
        check_own(call)?;
        let none = || Fault::new(Code::PermissionDenied, "path: this node opens no files, because it has no data root");
        let root = self.root.as_ref().ok_or_else(none)?;
        blocking("a model on disk", || {
            let mut text = String::new();
            let read = root.open(&path)?.take(MODEL_BYTES + 1).read_to_string(&mut text);
            let failed = |cause: std::io::Error| invalid(format!("{path}: expected a model, found no text ({cause})"));
            if read.map_err(failed)? as u64 > MODEL_BYTES {
                let reason = format!("{path}: a model has at most {MODEL_BYTES} bytes here");
                return Err(Fault::new(Code::TooLarge, reason));
            }
            Ok(text)
        })
    }
}

impl Concurrent<ModelOf> for PredictionService {
    async fn handle(&self, ModelOf { name }: ModelOf, _: &Call) -> Result<Value, Fault> {
        let (_, model) = self.model(&name)?;
        let failed = |cause: serde_json::Error| Fault::new(Code::OperationFailed, format!("the model: {cause}"));
        serde_json::to_value(&*model).map_err(failed)
    }
}

impl Concurrent<Predict> for PredictionService {
    async fn handle(&self, predict: Predict, call: &Call) -> Result<Predicted, Fault> {
        let said = self.said(predict, call).await;
        self.measure(said.is_ok(), said.as_ref().map_or(0, |said| said.rows.rows));
        said
    }
}

impl PredictionService {
    async fn said(&self, predict: Predict, call: &Call) -> Result<Predicted, Fault> {
        let Predict { name, version, dataset, rows, data, media_type, file_format, .. } = predict;
        let Predict { id, gaps, memberships, format, from, to, .. } = predict;
        let (loaded, model) = self.model(&name)?;
        if let Some(wanted) = version.filter(|wanted| *wanted != loaded.version) {
            let reason = format!("version: expected version {wanted} of the model {name:?}, found {}", loaded.version);
            return Err(Fault::new(Code::PreconditionFailed, reason));
        }
        let clock = call.host()?.clock().clone();
        // Rows that the rate does not allow are not even read.
        self.turns.check(clock.now())?;
        let _turn = self.turns.begin().await?;
        let asked = Asked { dataset, rows, data, media_type, file_format, id, gaps, memberships, format, from, to };
        let rows = asked.answer(&model, self.datasets()?, |rows| self.turns.admit(rows, clock.now())).await?;
        Ok(Predicted { version: loaded.version, rows })
    }
}
