//! The same as a workflow: the steps of `workflows/genes.toml` or `workflows/patients.toml`, as `lehr run` would do them, over data sets and jobs in this process.
//!
//! What the services gave is read from their data sets and from the figures of their jobs, and becomes what the report and the tables are written from. The pairs that were compared
//! are kept in the folder of the results, where they are when this process is gone; the services forget with it.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use lehr_jobs::datasets::Datasets;
use lehr_jobs::jobs::{Jobs, Record};
use lehr_jobs::{Distances, Settings, Setup, Table, fetch};
use lehr_methods::embed::Embedding;
use lehr_methods::pairwise::Pairwise;
use lehr_mining::anneal::{Split, Step};
use lehr_mining::pairwise::{Cluster, Finish, Model};
use lehr_mining::smacof::{Iteration, Map, Stop};
use lehr_runtime::{Builder, Idle, block_on};
use lehr_services::{Code, Fault, Host, Reference};
use lehr_workflow::{Begin, Run, RunState, WORKFLOWS, Workflow, Workflows};

use super::{Outcome, Stages, stopped};
use crate::application::Application;
use crate::command::ask::failure;
use crate::command::distances::{PairFacts, described};
use crate::command::run::Session;
use crate::exit::{Failure, Kind};
use crate::folder::Folder;
use crate::output;
use crate::plan::distances::DistancesPlan;
use crate::resume::{checkpoint_of, take_over};
use crate::samples::Samples;

/// How long the services may take to end: jobs that are stopped keep what is finished.
const GRACE: Duration = Duration::from_secs(60);

/// The steps by their names in the files, and the stages of the report.
const STEPS: [(&str, &str); 3] = [("compare", "comparing"), ("cluster", "clustering"), ("map", "mapping")];

/// The services of a run.
struct Services {
    datasets: Reference<Datasets>,
    distances: Reference<Jobs>,
    pairwise: Reference<Jobs>,
    embedding: Reference<Jobs>,
}

/// Runs the workflow of an application.
///
/// # Errors
/// Why there is no result: then nothing is in the folder but the pairs that were compared, if it was stopped.
pub fn carry_out(
    application: &Application,
    plan: &DistancesPlan,
    folder: &mut Folder,
    clock: &mut Stages,
) -> Result<Outcome, Failure> {
    let checkpoint = folder.checkpoint();
    application.items.compared(&plan.options, |metric| match &plan.resumed {
        // Told before anything is begun: a checkpoint of other items, or none.
        Some(resumed) => {
            let from = checkpoint_of(resumed)?;
            lehr_distances::checkpoint::Kept::open::<f32>(&from, metric)?;
            take_over(&from, &checkpoint)
        }
        // One that `--force` has given up.
        None if checkpoint.exists() => std::fs::remove_file(&checkpoint)
            .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", checkpoint.display()))),
        None => Ok(()),
    })?;
    let environment = |cause: &dyn std::fmt::Display| Failure::new(Kind::Environment, cause.to_string());
    // A worker that looks for work would keep the core from a job.
    let idle = Idle { spin: Duration::ZERO, ..Idle::default() };
    let dispatcher = Builder::new().idle(idle).start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let distances = Distances::logging_to(&checkpoint);
    let services = block_on(start(&host, plan.execution.threads, distances.clone()));
    let services = services.map_err(|fault| failure(&fault))?;
    let workflows = block_on(host.start(WORKFLOWS, || Workflows::new(None))).map_err(|fault| failure(&fault))?;

    let (file, definition) = application.subject.workflow();
    let read = Workflow::read(file, definition);
    let workflow = read.map_err(|found| Failure::new(Kind::NoResult, found.to_string()))?;
    let mut begin = Begin::new(file, definition);
    begin.parameters = BTreeMap::from([
        ("items".to_owned(), application.ids.len().into()),
        ("clusters".to_owned(), application.clustering.clusters.into()),
        ("dimension".to_owned(), application.embedding.dimension.into()),
        ("seed".to_owned(), application.clustering.seed.into()),
    ]);
    let name = workflow.name();
    let (again, is_json, is_quiet) = (None, false, plan.quiet);
    let session = Session { name, workflows, dispatcher: &dispatcher, node: None, again, is_json, is_quiet };
    let ended = session.carry_out(begin).and_then(|(_, run)| match run.state {
        RunState::Done => {
            clock.told(&STEPS.map(|(step, stage)| (stage, seconds(&run, step))));
            let given = block_on(given(&services, &run)).map_err(|fault| failure(&fault))?;
            outcome(application, plan, &given)
        }
        RunState::Failed | RunState::Running => Err(failure(&first_fault(&run))),
        RunState::Stopped | RunState::Cancelled => Err(Failure::new(Kind::Stopped, "")),
    });
    // Jobs that still run keep what is finished and end.
    drop(block_on(host.shutdown(GRACE)));
    if checkpoint.is_file() {
        folder.keep();
    }
    let unkept = distances.unkept();
    match ended {
        Err(ended) if ended.kind == Kind::Stopped => Err(stopped(application, plan, folder, unkept.as_deref())),
        Ok(outcome) => {
            if let Some(reason) = unkept {
                output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            }
            Ok(outcome)
        }
        ended => ended,
    }
}

/// The services at the paths that the workflows name, each with all threads: one stage at a time.
async fn start(host: &Host, threads: usize, distances: Distances) -> Result<Services, Fault> {
    let settings = Settings { threads: Some(threads), ..Settings::default() };
    let settings = ["/distances", "/pairwise", "/embedding"].map(|path| (path.to_owned(), settings.clone()));
    let setup = Setup { settings: settings.into(), ..Setup::default() };
    let datasets = setup.start_datasets(host, "/datasets").await?;
    host.start("/samples", Samples::default).await?;
    let distances = setup.start_method(host, "/distances", distances).await?;
    let pairwise = setup.start_declared(host, "/pairwise", &Pairwise).await?;
    let embedding = setup.start_declared(host, "/embedding", &Embedding).await?;
    Ok(Services { datasets, distances, pairwise, embedding })
}

/// How long a step took.
fn seconds(run: &Run, step: &str) -> f64 {
    let times = run.steps.get(step).and_then(|step| step.started_ms.zip(step.ended_ms));
    times.map_or(0.0, |(started, ended)| ended.saturating_sub(started) as f64 / 1000.0)
}

/// Why a run has failed: the fault of the job, if a job has.
fn first_fault(run: &Run) -> Fault {
    let of_steps = run.steps.values().find_map(|step| step.fault.clone());
    of_steps.or_else(|| run.fault.clone()).unwrap_or_else(|| Fault::new(Code::OperationFailed, "the run has failed"))
}

/// The job that did a step.
async fn job(jobs: &Reference<Jobs>, run: &Run, step: &str) -> Result<Record, Fault> {
    let items = run.steps.get(step).and_then(|step| step.items.as_ref());
    let id = items.and_then(|items| items.first()?.job.as_ref());
    let state = jobs.get().await?;
    let found = id.and_then(|id| state.jobs.get(id).cloned());
    found.ok_or_else(|| Fault::new(Code::UnknownEntry, format!("no job has done the step {step}")))
}

/// What the jobs of a run have given, in the order of the stages.
async fn given(services: &Services, run: &Run) -> Result<[Done; 3], Fault> {
    Ok([
        Done::of(&services.datasets, job(&services.distances, run, "compare").await?).await?,
        Done::of(&services.datasets, job(&services.pairwise, run, "cluster").await?).await?,
        Done::of(&services.datasets, job(&services.embedding, run, "map").await?).await?,
    ])
}

/// What the report and the tables are written from.
fn outcome(application: &Application, plan: &DistancesPlan, given: &[Done; 3]) -> Result<Outcome, Failure> {
    let [compared, clustered, mapped] = given;
    let facts = compared.pair_facts().map_err(|fault| failure(&fault))?;
    let header =
        application.items.compared(&plan.options, |metric| Ok::<_, Failure>(described(plan, facts, metric, None)))?;
    let matrix = compared.table("matrix").map_err(|fault| failure(&fault))?.dissimilarities("matrix");
    let matrix = matrix.map_err(|error| Failure::new(Kind::NoResult, error.to_string()))?;
    let model = model(&application.ids, clustered).map_err(|fault| failure(&fault))?;
    let map = map(mapped).map_err(|fault| failure(&fault))?;
    Ok(Outcome { header, matrix, model, map })
}

/// What a job has given.
struct Done {
    figures: BTreeMap<String, f64>,
    warnings: Vec<String>,
    tables: BTreeMap<String, Table>,
}

impl Done {
    async fn of(datasets: &Reference<Datasets>, job: Record) -> Result<Self, Fault> {
        let Record { figures, warnings, outputs, .. } = job;
        let mut tables = BTreeMap::new();
        for (table, dataset) in outputs {
            tables.insert(table, fetch(datasets, &dataset).await?);
        }
        Ok(Self { figures, warnings, tables })
    }

    fn pair_facts(&self) -> Result<PairFacts, Fault> {
        let missing = self.figure("missing_pairs")? as u64;
        Ok(PairFacts { missing, largest: self.figure("largest")?, mean: self.figure("mean")? })
    }

    fn figure(&self, name: &str) -> Result<f64, Fault> {
        self.figures.get(name).copied().ok_or_else(|| missing("figure", name))
    }

    fn table(&self, name: &str) -> Result<&Table, Fault> {
        self.tables.get(name).ok_or_else(|| missing("table", name))
    }

    fn numbers(&self, table: &str, column: &str) -> Result<Vec<f64>, Fault> {
        let found = self.table(table)?.numbers(column).map(|numbers| numbers.into_owned());
        found.ok_or_else(|| missing("column of numbers", column))
    }

    fn counts(&self, table: &str, column: &str) -> Result<&[u64], Fault> {
        self.table(table)?.counts(column).ok_or_else(|| missing("column of counts", column))
    }

    fn texts(&self, table: &str, column: &str) -> Result<Vec<String>, Fault> {
        self.table(table)?.texts(column).ok_or_else(|| missing("column of texts", column))
    }
}

fn missing(what: &str, name: &str) -> Fault {
    Fault::new(Code::OperationFailed, format!("a job has given no {what} {name:?}"))
}

/// Clusters as the method found them. What a service does not tell, seconds and loads of its threads, is not there.
fn model(ids: &[String], done: &Done) -> Result<Model, Fault> {
    let place: HashMap<&str, usize> = ids.iter().enumerate().map(|(item, id)| (id.as_str(), item)).collect();
    let item = |id: &str| place.get(id).copied().ok_or_else(|| missing("item", id));
    let parts = ["inner", "middle", "outer"].map(|part| done.texts("clusters", part));
    let [inner, middle, outer] = parts;
    let (inner, middle, outer) = (inner?, middle?, outer?);
    let (items, medoids) = (done.counts("clusters", "items")?, done.counts("clusters", "medoid_item")?);
    let weights = done.numbers("clusters", "weight")?;
    let medoid_means = done.numbers("clusters", "medoid_mean")?;
    let within = done.numbers("clusters", "mean_within")?;
    let nearest = done.numbers("clusters", "mean_nearest")?;
    let clusters = (0..items.len()).map(|k| {
        Ok(Cluster {
            items: items[k],
            weight: weights[k],
            medoid: medoids[k] as usize,
            medoid_mean: medoid_means[k],
            representatives: [item(&inner[k])?, item(&middle[k])?, item(&outer[k])?],
            mean_within: within[k],
            mean_nearest: nearest[k],
        })
    });
    Ok(Model {
        labels: done.counts("labels", "cluster")?.iter().map(|label| *label as u32).collect(),
        probabilities: done.numbers("labels", "probability")?,
        clusters: clusters.collect::<Result<_, Fault>>()?,
        cost: done.figure("cost")?,
        free_energy: done.figure("free_energy")?,
        last_temperature: done.figure("last_temperature")?,
        critical_temperature: done.figure("critical_temperature")?,
        iterations: done.figure("iterations")? as u64,
        history: history(done)?,
        splits: splits(done)?,
        // Applications say how many clusters they want.
        suggestion: None,
        finish: Finish {
            plain: done.figure("finish_plain").ok(),
            overshot: done.figure("finish_overshot").ok(),
            moved: done.figure("finish_moved")? as u64,
        },
        is_damped: done.figure("damped")? != 0.0,
        missing_pairs: done.figure("missing_pairs")? as u64,
        phases: Vec::new(),
        timers: Vec::new(),
        warnings: done.warnings.clone(),
        imbalance: 1.0,
    })
}

fn history(done: &Done) -> Result<Vec<Step>, Fault> {
    let numbers = |column| done.numbers("history", column);
    let (temperature, free_energy, mean_cost) =
        (numbers("temperature")?, numbers("free_energy")?, numbers("mean_cost")?);
    let (information, softness, max_move) = (numbers("information")?, numbers("softness")?, numbers("max_move")?);
    let next_critical = numbers("next_critical")?;
    let (index, clusters) = (done.counts("history", "index")?, done.counts("history", "clusters")?);
    let sweeps = done.counts("history", "sweeps")?;
    let step = |row: usize| Step {
        index: index[row],
        temperature: temperature[row],
        clusters: clusters[row] as usize,
        free_energy: free_energy[row],
        mean_cost: mean_cost[row],
        information: information[row],
        softness: softness[row],
        sweeps: sweeps[row],
        max_move: max_move[row],
        next_critical: next_critical[row],
        // Pairwise clusters have none.
        sponge: 0.0,
    };
    Ok((0..index.len()).map(step).collect())
}

fn splits(done: &Done) -> Result<Vec<Split>, Fault> {
    let temperature = done.numbers("splits", "temperature")?;
    let critical_temperature = done.numbers("splits", "critical_temperature")?;
    let (parent, clusters) = (done.counts("splits", "parent")?, done.counts("splits", "clusters")?);
    let split = |row: usize| Split {
        temperature: temperature[row],
        critical_temperature: critical_temperature[row],
        parent: parent[row] as usize,
        clusters: clusters[row] as usize,
    };
    Ok((0..parent.len()).map(split).collect())
}

/// The map, likewise.
fn map(done: &Done) -> Result<Map, Fault> {
    let table = done.table("positions")?;
    let axes: Vec<&str> =
        table.columns().map(|(name, _)| name).filter(|name| !matches!(*name, "id" | "stress")).collect();
    let columns: Vec<Vec<f64>> = axes.iter().map(|axis| done.numbers("positions", axis)).collect::<Result<_, _>>()?;
    let positions = (0..table.rows()).flat_map(|item| columns.iter().map(move |column| column[item])).collect();
    let temperature = done.numbers("history", "temperature")?;
    let iterations = temperature.into_iter().zip(done.numbers("history", "stress")?);
    Ok(Map {
        dimension: axes.len(),
        positions,
        stress: done.figure("stress")?,
        stress_1: done.figure("stress_1")?,
        raw_stress: done.figure("raw_stress")?,
        item_stress: done.numbers("positions", "stress")?,
        stop: if done.figure("converged")? != 0.0 { Stop::Converged } else { Stop::MostIterations },
        history: iterations.map(|(temperature, stress)| Iteration { temperature, stress }).collect(),
        stresses: done.numbers("starts", "stress")?,
        passes: done.figure("passes")? as u64,
        solver_steps: done.figure("solver_steps")? as u64,
        missing_pairs: done.figure("missing_pairs")? as u64,
        imbalance: 1.0,
        phases: Vec::new(),
        timers: Vec::new(),
        warnings: done.warnings.clone(),
    })
}
