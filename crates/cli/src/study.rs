//! The command's own work as services, for the workflows of its demonstrations: points that are built in become a data set, data sets are clustered, a model is
//! chosen, results are written.
//!
//! Points pass as data sets: within a node by their handle, between nodes as Arrow. Models stay where they are; operations pass their names. What a name stands for
//! is on a shelf that the services share: one entry in a port, so whoever has taken it is alone with it, and nobody holds a lock while he computes.

use std::collections::BTreeMap;
use std::sync::Arc;

use lehr_jobs::datasets::{Datasets, Put, Take};
use lehr_jobs::{Columns, Handle, Setup, Table};
use lehr_mining::anneal::{Control, Interrupt, Observer, Progress};
use lehr_mining::vector::{self, Model, Parameters};
use lehr_ranks::timing::Stopwatch;
use lehr_runtime::{Context, Port, blocking};
use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Host, Operation, Reference, Service, Version, verb,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::demo;
use crate::command::method::{Finished, publish};
use crate::company::Company;
use crate::exit::Failure;
use crate::folder::Folder;
use crate::output;
use crate::plan::method::MethodPlan;
use lehr_methods::cluster::Fitted;
use lehr_methods::{Data, Rows};

/// Where data sets stand.
const DATASETS: &str = "/datasets";

/// What names stand for.
struct Shelf {
    plan: MethodPlan,
    folder: Option<Folder>,
    clock: Stopwatch,
    /// Until the points were there.
    read_seconds: Option<f64>,
    /// By the checksum of the data set.
    spaces: BTreeMap<String, Arc<Rows>>,
    models: BTreeMap<String, Arc<Fitted>>,
    /// Why a result could not be written: with its exit code, which a fault has not.
    failure: Option<Failure>,
}

/// Which services of a study stand together, beside the data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    All,
    /// The points.
    Data,
    /// What is computed of them.
    Compute,
}

/// The shelf of a study.
#[derive(Clone)]
pub struct Study(Port<Box<Shelf>>);

impl Study {
    /// A study that is carried out as a plan says, with its results in a folder that has been claimed for it, if it is to have results.
    pub fn new(plan: MethodPlan, folder: Option<Folder>) -> Self {
        let shelf = Shelf {
            plan,
            folder,
            clock: Stopwatch::start(),
            read_seconds: None,
            spaces: BTreeMap::new(),
            models: BTreeMap::new(),
            failure: None,
        };
        let port = Port::named("the shelf of a study");
        // A port that is open and has no limit takes it.
        let _taken = port.post(Box::new(shelf));
        Self(port)
    }

    /// Starts the services of a part.
    ///
    /// # Errors
    /// If one of them cannot be had.
    pub async fn start(&self, host: &Host, part: Part) -> Result<(), Fault> {
        Setup::default().start_datasets(host, DATASETS).await?;
        let (points, annealing, reports) = (self.clone(), self.clone(), self.clone());
        if part != Part::Compute {
            host.start("/points", move || PointService { study: points.clone(), document: PointState::default() })
                .await?;
        }
        if part != Part::Data {
            let made = move || Annealing { study: annealing.clone(), document: AnnealingState::default() };
            host.start("/annealing", made).await?;
            host.start("/reports", move || Reports { study: reports.clone(), document: ReportState::default() })
                .await?;
        }
        Ok(())
    }

    /// Why a result could not be written, in the command's own terms.
    pub async fn failure(&self) -> Option<Failure> {
        self.with(|shelf| shelf.failure.take()).await.ok().flatten()
    }

    /// Gives the folder for results back: if it was made for them and there are none, it goes.
    pub async fn release(&self) {
        drop(self.with(|shelf| shelf.folder.take()).await);
    }

    /// Does something with the shelf, alone.
    async fn with<R>(&self, body: impl FnOnce(&mut Shelf) -> R) -> Result<R, Fault> {
        let gone = |_| Fault::new(Code::ServiceStopping, "the study is over");
        let mut shelf = self.0.receive().await.map_err(gone)?;
        let result = body(&mut shelf);
        let _taken = self.0.post(shelf);
        Ok(result)
    }

    /// The points of a data set of this node, where they are clustered.
    async fn space(&self, call: &Call, dataset: &str) -> Result<Arc<Rows>, Fault> {
        let datasets = datasets(call)?;
        let checksum = datasets.get().await?.datasets.get(dataset).map(|found| found.checksum.clone());
        let unknown = || Fault::new(Code::UnknownEntry, format!("no data set {dataset:?}"));
        let checksum = checksum.ok_or_else(unknown)?;
        let (known, frame) = self.with(|shelf| (shelf.spaces.get(&checksum).cloned(), shelf.plan.source.frame)).await?;
        if let Some(space) = known {
            return Ok(space);
        }
        let Handle(table) = datasets.call(Take { name: dataset.to_owned() }).await?;
        let made = blocking("the points of a data set", || {
            let points = table.points(dataset, &Columns::default()).map_err(|error| error.to_string())?;
            Rows::new(points, frame).map_err(|error| error.to_string())
        });
        let space = Arc::new(made.map_err(|reason| Fault::new(Code::InvalidValue, reason))?);
        let entered = space.clone();
        self.with(|shelf| {
            shelf.read_seconds = shelf.read_seconds.or(Some(shelf.clock.seconds()));
            shelf.spaces.insert(checksum, entered);
        })
        .await?;
        Ok(space)
    }
}

fn datasets(call: &Call) -> Result<Reference<Datasets>, Fault> {
    call.host()?.reference(DATASETS)
}

/// Stops when nobody wants the answer any more.
struct Wanted(Option<Context>);

impl Observer for Wanted {
    fn progress(&mut self, _: &Progress) -> Control {
        if self.0.as_ref().is_some_and(Context::is_cancelled) { Control::Stop } else { Control::Continue }
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let context = self.0.clone()?;
        Some(Interrupt::when(move || context.is_cancelled()))
    }
}

macro_rules! service {
    ($state:ident, $name:literal, $service:ident: $($operation:ident)*) => {
        #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
        struct $state {}

        impl Contract for $state {
            const NAME: &'static str = $name;
            const VERSION: Version = Version::new(1, 0);
        }

        #[derive(Clone)]
        struct $service {
            study: Study,
            document: $state,
        }

        impl Service for $service {
            type Document = $state;

            fn document(&self) -> &$state {
                &self.document
            }

            fn document_mut(&mut self) -> &mut $state {
                &mut self.document
            }

            fn handlers(on: &mut Handlers<Self>) {
                $(on.concurrent::<$operation>();)*
            }
        }
    };
}

macro_rules! operation {
    ($operation:ident($name:literal) of $state:ident { $($field:ident: $type:ty),* } -> $reply:ty) => {
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        struct $operation {
            $($field: $type),*
        }

        impl Operation for $operation {
            type Contract = $state;
            type Verb = verb::Submit;
            type Reply = $reply;
            const NAME: &'static str = $name;
        }
    };
}

service!(PointState, "lehr/points", PointService: Read);
operation!(Read("read") of PointState { name: String } -> ReadPoints);

/// Points that are a data set now.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct ReadPoints {
    dataset: String,
    rows: usize,
    columns: Vec<String>,
}

impl Concurrent<Read> for PointService {
    async fn handle(&self, Read { name }: Read, call: &Call) -> Result<ReadPoints, Fault> {
        let found = self.study.with(|shelf| shelf.plan.source.built_in().filter(|found| demo::name(*found) == name));
        let unknown = || Fault::new(Code::UnknownEntry, format!("no points {name:?} are built in"));
        let found = found.await?.ok_or_else(unknown)?;
        let points = blocking("points that are built in", || demo::points(found));
        let (rows, columns) = (points.len(), points.columns().to_vec());
        let table = Handle(Table::of_points(&points)?);
        datasets(call)?.call(Put { name: name.clone(), table, replace: true }).await?;
        Ok(ReadPoints { dataset: name, rows, columns })
    }
}

service!(AnnealingState, "lehr/annealing", Annealing: Watch Cluster Choose);
operation!(Watch("watch") of AnnealingState { dataset: String, clusters_max: usize } -> Watched);
operation!(Cluster("cluster") of AnnealingState { dataset: String, clusters: usize } -> ModelFacts);
operation!(Choose("choose") of AnnealingState { lasted: Vec<Lasted>, models: Vec<ModelFacts> } -> Chosen);

/// Which numbers of clusters lasted while the temperature fell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Watched {
    lasted: Vec<Lasted>,
}

/// How long a number of clusters lasted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Lasted {
    clusters: usize,
    /// The natural logarithm of the range of temperatures.
    range: f64,
}

/// A model on the shelf.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct ModelFacts {
    model: String,
    clusters: usize,
    /// The weighted mean squared distance.
    objective: f64,
}

/// The model that was chosen.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Chosen {
    model: String,
    clusters: usize,
    range: f64,
}

impl Annealing {
    async fn anneal(&self, call: &Call, dataset: &str, parameters: &Parameters) -> Result<Model, Fault> {
        let space = self.study.space(call, dataset).await?;
        let execution = self.study.with(|shelf| shelf.plan.execution).await?;
        let mut wanted = Wanted(Context::current());
        let model = blocking("annealing", || vector::cluster(space.points(), parameters, &execution, &mut wanted));
        model.map_err(|error| match error {
            lehr_mining::Error::Stopped => {
                Fault::new(Code::OperationCancelled, "the clustering was not wanted any more")
            }
            error => Fault::new(Code::InvalidValue, error.to_string()),
        })
    }
}

impl Concurrent<Watch> for Annealing {
    async fn handle(&self, Watch { dataset, clusters_max }: Watch, call: &Call) -> Result<Watched, Fault> {
        // Growth is all that is wanted: no second branch, no swaps.
        let parameters =
            Parameters { clusters: Some(clusters_max), overshoot: 1.0, patience: 0, ..Parameters::default() };
        let model = self.anneal(call, &dataset, &parameters).await?;
        // A number may come again; then it lasted for all of its ranges together.
        let mut ranges: BTreeMap<usize, f64> = BTreeMap::new();
        for pair in model.history.windows(2).take_while(|pair| pair[0].clusters < clusters_max) {
            *ranges.entry(pair[0].clusters).or_default() += (pair[0].temperature / pair[1].temperature).ln();
        }
        Ok(Watched { lasted: ranges.into_iter().map(|(clusters, range)| Lasted { clusters, range }).collect() })
    }
}

impl Concurrent<Cluster> for Annealing {
    async fn handle(&self, Cluster { dataset, clusters }: Cluster, call: &Call) -> Result<ModelFacts, Fault> {
        let parameters = Parameters { clusters: Some(clusters), ..Parameters::default() };
        let model = self.anneal(call, &dataset, &parameters).await?;
        let facts = ModelFacts { model: format!("{dataset}/{clusters}"), clusters, objective: model.objective };
        let name = facts.model.clone();
        let clustered = Arc::new(Fitted::annealed(model, parameters));
        self.study.with(|shelf| shelf.models.insert(name, clustered)).await?;
        Ok(facts)
    }
}

impl Concurrent<Choose> for Annealing {
    async fn handle(&self, Choose { lasted, models }: Choose, _: &Call) -> Result<Chosen, Fault> {
        choose(&lasted, &models).ok_or_else(|| {
            let asked: Vec<String> = models.iter().map(|model| model.clusters.to_string()).collect();
            Fault::new(
                Code::UnknownEntry,
                format!("none of {} clusters lasted over a range of temperatures", asked.join(", ")),
            )
        })
    }
}

/// The model whose number of clusters lasted over the widest range of temperatures, the smallest of equals: the rule by which the
/// library suggests a number, among those that were asked for.
fn choose(lasted: &[Lasted], models: &[ModelFacts]) -> Option<Chosen> {
    let mut chosen: Option<Chosen> = None;
    let mut models: Vec<&ModelFacts> = models.iter().collect();
    models.sort_by_key(|model| model.clusters);
    for model in models {
        let range = lasted.iter().filter(|lasted| lasted.clusters == model.clusters).map(|lasted| lasted.range).sum();
        if range > chosen.as_ref().map_or(0.0, |chosen| chosen.range) {
            chosen = Some(Chosen { model: model.model.clone(), clusters: model.clusters, range });
        }
    }
    chosen
}

service!(ReportState, "lehr/reports", Reports: Write);
operation!(Write("write") of ReportState { dataset: String, model: String } -> Written);

/// Results that are in their folder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Written {
    /// What a person is shown, or the summary as JSON.
    text: String,
    /// The page with the map.
    report: String,
}

impl Concurrent<Write> for Reports {
    async fn handle(&self, Write { dataset, model }: Write, call: &Call) -> Result<Written, Fault> {
        let space = self.study.space(call, &dataset).await?;
        let write = |shelf: &mut Shelf| -> Result<Written, Fault> {
            let found = shelf.models.get(&model).cloned();
            let clustered = found.ok_or_else(|| Fault::new(Code::UnknownEntry, format!("no model {model:?}")))?;
            let own: f64 = clustered.phases.iter().map(|(_, seconds)| seconds).sum();
            // The others, and waiting for them.
            let read = shelf.read_seconds.unwrap_or_default();
            let others = (shelf.clock.seconds() - read - own).max(0.0);
            let mut phases = vec![("reading".to_owned(), read), ("other numbers of clusters".to_owned(), others)];
            phases.extend(clustered.phases.iter().cloned());
            let mut warnings = space.warnings();
            warnings.extend(clustered.warnings.iter().cloned());
            warnings.iter().for_each(|warning| output::warning(warning));
            let finished = Finished { plan: &shelf.plan, data: Data::Rows(&space), fit: &*clustered, warnings, phases };
            let Some(folder) = shelf.folder.as_mut() else {
                return Err(Fault::new(Code::ActionNotSupported, "this part of the study has no folder for results"));
            };
            let report = folder.path().join(crate::folder::REPORT).display().to_string();
            let written = blocking("writing results", || publish(finished, folder, &Company::new(None), None));
            written.map(|text| Written { text, report }).map_err(|failure| {
                let fault = Fault::new(Code::OperationFailed, failure.message.clone());
                shelf.failure = Some(failure);
                fault
            })
        };
        self.study.with(write).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_that_lasts_longest_is_chosen_and_the_smaller_of_equals() {
        let lasted = |clusters, range| Lasted { clusters, range };
        let model = |clusters: usize| ModelFacts { model: format!("m/{clusters}"), clusters, objective: 1.0 };
        let table = [lasted(2, 3.0), lasted(4, 0.5), lasted(4, 0.25), lasted(6, 0.75), lasted(9, 0.5)];
        let chosen = |numbers: &[usize]| {
            let models: Vec<ModelFacts> = numbers.iter().copied().map(model).collect();
            choose(&table, &models).map(|chosen| chosen.clusters)
        };
        assert_eq!(chosen(&[9, 4, 6]), Some(4));
        assert_eq!(chosen(&[9, 2]), Some(2));
        assert_eq!(chosen(&[3, 9]), Some(9));
        assert_eq!(chosen(&[3, 5]), None);
    }
}
