//! Chooses among several clusterings and writes the results of one: the last steps of the workflows of the census.
//!
//! The clusterings are jobs of `/clustering` in this process ([`Fits`]). The code that starts the service says which
//! files are written, and where ([`Write`]).

use std::collections::BTreeMap;

use lehr_data::Points;
use lehr_jobs::datasets::{Datasets, Take};
use lehr_jobs::jobs::Record;
use lehr_jobs::{Columns, Fits, Handle};
use lehr_methods::cluster::Fitted;
use lehr_methods::{Frame, Rows};
use lehr_ranks::timing::Stopwatch;
use lehr_runtime::blocking;
use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Operation, Partners, Reference, Service, Starting, Version,
};
use lehr_sync::Arc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Writes the results of a clustering. The last argument: seconds by phase until here.
pub type Writer = dyn Fn(&Rows, &Fitted, Vec<(String, f64)>) -> Result<Written, Fault> + Send + Sync;

/// The state: nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResultState {}

impl Contract for ResultState {
    const NAME: &'static str = "lehr/results";
    const VERSION: Version = Version::new(1, 0);
}

/// Chooses one of several clusterings.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ResultState, verb = Submit, name = "choose", reply = Chosen)]
#[serde(deny_unknown_fields)]
pub struct Choose {
    /// The job that watched which numbers of clusters last while the temperature falls.
    watched: String,
    /// The jobs to choose from.
    jobs: Vec<String>,
}

/// The clustering that was chosen.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Chosen {
    /// Its job.
    job: String,
    /// Its number of clusters.
    clusters: usize,
    /// The persistence of that number: the natural logarithm of the range of temperatures.
    range: f64,
}

/// Writes the results of a clustering.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ResultState, verb = Submit, name = "write", reply = Written)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The data set that was clustered.
    dataset: String,
    /// The job that computed it.
    job: String,
    /// All jobs over this data set, for their times.
    jobs: Vec<Record>,
}

/// Results that have been written to their folder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// The text for a person, or the summary as JSON.
    pub text: String,
    /// The page with the map.
    pub report: String,
}

/// The service.
#[derive(Clone)]
pub struct Results {
    document: ResultState,
    fits: Fits,
    writer: Arc<Writer>,
    clock: Arc<Stopwatch>,
    datasets: Option<Reference<Datasets>>,
}

impl Results {
    /// Chooses among these results, and has them written.
    pub fn new(fits: Fits, writer: Arc<Writer>) -> Self {
        Self { document: ResultState::default(), fits, writer, clock: Arc::new(Stopwatch::start()), datasets: None }
    }

    /// Does something with the clustering of a job.
    fn with<R>(&self, job: &str, body: impl FnOnce(&Fitted) -> R) -> Result<R, Fault> {
        let fit = self.fits.get(job);
        let fitted = fit.as_ref().and_then(|fit| fit.as_any().downcast_ref::<Fitted>());
        fitted.map(body).ok_or_else(|| Fault::new(Code::UnknownEntry, format!("no result of a job {job:?}")))
    }
}

impl Service for Results {
    type Document = ResultState;

    fn document(&self) -> &ResultState {
        &self.document
    }

    fn document_mut(&mut self) -> &mut ResultState {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Choose>();
        on.concurrent::<Write>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Datasets>("datasets");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.datasets = Some(starting.partner::<Datasets>("datasets")?);
        Ok(())
    }
}

impl Concurrent<Choose> for Results {
    async fn handle(&self, Choose { watched, jobs }: Choose, _: &Call) -> Result<Chosen, Fault> {
        let cooling = self.with(&watched, |fitted| {
            let history = fitted.cooled().map_or(&[][..], |annealed| &annealed.history);
            history.iter().map(|step| (step.clusters, step.temperature)).collect::<Vec<_>>()
        })?;
        let lasted = lasted(&cooling);
        let found: Vec<(usize, String)> = jobs
            .into_iter()
            .map(|job| Ok((self.with(&job, |fitted| fitted.clusters.len())?, job)))
            .collect::<Result<_, Fault>>()?;
        let asked: Vec<String> = found.iter().map(|(clusters, _)| clusters.to_string()).collect();
        longest(&lasted, found).ok_or_else(|| {
            let reason = format!("none of {} clusters lasted over a range of temperatures", asked.join(", "));
            Fault::new(Code::UnknownEntry, reason)
        })
    }
}

/// Over how wide a range of temperatures each number of clusters lasted, in ln T, until the largest number was there. A number may come again; then it lasted for all of its ranges together.
fn lasted(cooling: &[(usize, f64)]) -> BTreeMap<usize, f64> {
    let most = cooling.iter().map(|step| step.0).max();
    let mut lasted = BTreeMap::new();
    for pair in cooling.windows(2).take_while(|pair| Some(pair[0].0) < most) {
        *lasted.entry(pair[0].0).or_default() += libm::log(pair[0].1 / pair[1].1);
    }
    lasted
}

/// The requested clustering whose number of clusters lasted over the widest range of temperatures, the smallest of
/// equals.
fn longest(lasted: &BTreeMap<usize, f64>, mut found: Vec<(usize, String)>) -> Option<Chosen> {
    let mut chosen: Option<Chosen> = None;
    found.sort();
    for (clusters, job) in found {
        let range = lasted.get(&clusters).copied().unwrap_or(0.0);
        if range > chosen.as_ref().map_or(0.0, |chosen| chosen.range) {
            chosen = Some(Chosen { job, clusters, range });
        }
    }
    chosen
}

/// Seconds from the first beginning of jobs to the last end.
fn span(jobs: &[Record]) -> f64 {
    let first = jobs.iter().filter_map(|job| job.times.started_unix_ms).min();
    let last = jobs.iter().filter_map(|job| job.times.ended_unix_ms).max();
    first.zip(last).map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1000.0)
}

impl Concurrent<Write> for Results {
    async fn handle(&self, Write { dataset, job, jobs }: Write, _: &Call) -> Result<Written, Fault> {
        let datasets = self.datasets.as_ref();
        let datasets =
            datasets.ok_or_else(|| Fault::new(Code::Unavailable, "the service of the data sets has not started"))?;
        let Handle(table) = datasets.call(Take { name: dataset.clone() }).await?;
        let rows = || {
            let points: Points = table.points(&dataset, &Columns::default())?;
            Rows::new(points, Frame::Sphere)
        };
        blocking("writing results", || {
            let rows = rows().map_err(|error| Fault::new(Code::InvalidValue, error.to_string()))?;
            self.with(&job, |fitted| {
                let own: f64 = fitted.phases.iter().map(|(_, seconds)| seconds).sum();
                let span = span(&jobs);
                let read = (self.clock.seconds() - span).max(0.0);
                let others = (span - own).max(0.0);
                let mut phases = vec![("reading".to_owned(), read), ("other numbers of clusters".to_owned(), others)];
                phases.extend(fitted.phases.iter().cloned());
                (self.writer)(&rows, fitted, phases)
            })?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_that_lasts_longest_is_chosen_and_the_smaller_of_equals() {
        let lasted = BTreeMap::from([(2, 3.0), (4, 0.75), (6, 0.75), (9, 0.5)]);
        let chosen = |numbers: &[usize]| {
            let found = numbers.iter().map(|clusters| (*clusters, format!("job-{clusters}"))).collect();
            longest(&lasted, found).map(|chosen| chosen.job)
        };
        assert_eq!(chosen(&[9, 4, 6]).as_deref(), Some("job-4"));
        assert_eq!(chosen(&[9, 2]).as_deref(), Some("job-2"));
        assert_eq!(chosen(&[3, 9]).as_deref(), Some("job-9"));
        assert_eq!(chosen(&[3, 5]), None);
    }
}
