//! Runs the stages of an application as jobs of services, and collects the results of the jobs for the report and the
//! tables.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_jobs::datasets::Datasets;
use lehr_jobs::jobs::{Jobs, Record};
use lehr_jobs::{Distances, Fits, Settings, Setup, fetch};
use lehr_methods::embed::{self, Embedding};
use lehr_methods::pairwise::{self, Pairwise};
use lehr_mining::pairwise::Model;
use lehr_mining::smacof::Map;
use lehr_services::{Code, Fault, Host, Reference};
use lehr_workflow::Run;

use crate::samples::Samples;

/// The services of a run.
pub struct Services {
    datasets: Reference<Datasets>,
    distances: Reference<Jobs>,
    fits: Fits,
}

/// Starts the services at the paths that the workflows name. Each service uses all threads, because the stages run one
/// at a time.
///
/// # Errors
/// Returns an error if a service cannot be started.
pub async fn start(host: &Host, threads: usize, distances: Distances) -> Result<Services, Fault> {
    let settings = Settings { threads: Some(threads), ..Settings::default() };
    let settings = ["/distances", "/pairwise", "/embedding"].map(|path| (path.to_owned(), settings.clone()));
    let setup = Setup { settings: settings.into(), ..Setup::default() };
    let datasets = setup.start_datasets(host, "/datasets").await?;
    host.start("/samples", Samples::default).await?;
    let distances = setup.start_method(host, "/distances", distances).await?;
    let fits = Fits::default();
    setup.start_keeping(host, "/pairwise", &Pairwise, &fits).await?;
    setup.start_keeping(host, "/embedding", &Embedding, &fits).await?;
    Ok(Services { datasets, distances, fits })
}

/// Returns the seconds that a step took.
pub fn seconds(run: &Run, step: &str) -> f64 {
    let times = run.steps.get(step).and_then(|step| step.started_ms.zip(step.ended_ms));
    times.map_or(0.0, |(started, ended)| ended.saturating_sub(started) as f64 / 1000.0)
}

/// Returns the fault of the first failed job, or otherwise the reason why the run failed.
pub fn first_fault(run: &Run) -> Fault {
    let of_steps = run.steps.values().find_map(|step| step.fault.clone());
    of_steps.or_else(|| run.fault.clone()).unwrap_or_else(|| Fault::new(Code::OperationFailed, "the run has failed"))
}

/// Returns the id of the job that ran a step.
fn job<'a>(run: &'a Run, step: &str) -> Result<&'a String, Fault> {
    let items = run.steps.get(step).and_then(|step| step.items.as_ref());
    let id = items.and_then(|items| items.first()?.job.as_ref());
    id.ok_or_else(|| Fault::new(Code::UnknownEntry, format!("no job has done the step {step}")))
}

/// The results of a run's services.
pub struct ServiceResults {
    /// The number of pairs without a value.
    pub missing: u64,
    /// The largest dissimilarity.
    pub largest: f64,
    /// The mean dissimilarity.
    pub mean: f64,
    /// The dissimilarities of all pairs.
    pub matrix: Dissimilarities,
    /// The clusters.
    pub model: Model,
    /// The map.
    pub map: Map,
}

/// Reads the results of a run's jobs.
///
/// # Errors
/// Returns an error if a job has no result of its method.
pub async fn given(services: &Services, run: &Run) -> Result<ServiceResults, Fault> {
    let compared = job(run, "compare")?;
    let state = services.distances.get().await?;
    let Record { figures, outputs, .. } = state.jobs.get(compared).ok_or_else(|| missing("record", compared))?;
    let figure = |name: &str| figures.get(name).copied().ok_or_else(|| missing("figure", name));
    let matrix = outputs.get("matrix").ok_or_else(|| missing("table", "matrix"))?;
    let matrix = fetch(&services.datasets, matrix).await?.dissimilarities("matrix");
    let fit = |step| {
        let job = job(run, step)?;
        services.fits.get(job).ok_or_else(|| missing("result", job))
    };
    let (clustered, mapped) = (fit("cluster")?, fit("map")?);
    let clustered = clustered.as_any().downcast_ref::<pairwise::Fitted>();
    let mapped = mapped.as_any().downcast_ref::<embed::Fitted>();
    Ok(ServiceResults {
        missing: figure("missing_pairs")? as u64,
        largest: figure("largest")?,
        mean: figure("mean")?,
        matrix: matrix.map_err(|error| Fault::new(Code::OperationFailed, error.to_string()))?,
        model: clustered.ok_or_else(|| missing("clustering", "cluster"))?.model.clone(),
        map: mapped.ok_or_else(|| missing("map", "map"))?.map.clone(),
    })
}

fn missing(what: &str, name: &str) -> Fault {
    Fault::new(Code::OperationFailed, format!("a job has given no {what} {name:?}"))
}
