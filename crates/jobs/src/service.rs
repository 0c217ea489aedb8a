//! The service of a method. The operations of the service change the document, and the runner acts on the changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use lehr_services::{
    Call, Code, Concurrent, Description, Event, Exclusive, Fault, Handlers, Independent, Measure, Measures, Partners,
    Reference, Service, Starting, Stop as ServiceStop, Subscribe,
};
use lehr_sync::{Arc, Mutex, unix_ms};
use serde_json::{Value, json};

use crate::datasets::{Datasets, Read, Take};
use crate::format::Piece;
use crate::handle::Handle;
use crate::job::{Progress, Split};
use crate::jobs::*;
use crate::method::{AnyMethod, Facts, MODEL, REPORT};
use crate::predict::{self, Asked};
use crate::runner::Runner;
use crate::settings::Settings;

/// The suggested delay for a client that finds the queue full.
const RETRY: Duration = Duration::from_secs(5);

/// The most reports of a running job that are remembered. Beyond that, every second one is dropped.
const COURSE_MAX: usize = 2000;

/// The service of a method; see [`Jobs`].
#[derive(Clone, Debug)]
pub(crate) struct MethodService {
    document: Jobs,
    runner: Arc<Runner>,
    datasets: Option<Reference<Datasets>>,
    measures: Measures,
    /// The course of each job that is not done. All copies of the service share it.
    courses: Arc<Mutex<BTreeMap<String, Course>>>,
}

/// The course of a job so far.
#[derive(Clone, Debug, Default)]
struct Course {
    /// The progress that the job has reported.
    progress: Vec<Progress>,
    /// The divisions of its annealing.
    splits: Vec<Split>,
}

/// The metric for the number of jobs in each state.
const JOBS: Measure = Measure { name: "lehr_jobs", help: "Jobs by state.", is_counter: false };
/// The metric for the maximum number of jobs that may wait.
const ROOM: Measure =
    Measure { name: "lehr_jobs_queue_limit", help: "How many jobs may wait; more are refused.", is_counter: false };
/// The metric for the number of runs that have ended.
const ENDED: Measure =
    Measure { name: "lehr_job_runs_total", help: "Runs of jobs that have ended, by how.", is_counter: true };
/// The metric for the total duration of ended runs.
const SECONDS: Measure = Measure {
    name: "lehr_job_run_seconds_total",
    help: "Seconds that those runs took, by how they ended.",
    is_counter: true,
};
/// The metric for the total time that jobs waited before their first run.
const WAITED: Measure = Measure {
    name: "lehr_job_wait_seconds_total",
    help: "Seconds that jobs waited before they first ran.",
    is_counter: true,
};

const STATES: [State; 6] =
    [State::Queued, State::Running, State::Done, State::Failed, State::Cancelled, State::Interrupted];

impl MethodService {
    /// Creates a service with these settings that keeps the checkpoints of its jobs in this folder.
    pub(crate) fn new(method: Arc<dyn AnyMethod>, settings: Settings, keep: Option<PathBuf>) -> Self {
        let runner = Arc::new(Runner::new(method, settings, keep));
        Self {
            document: Jobs::default(),
            runner,
            datasets: None,
            measures: Measures::default(),
            courses: Arc::default(),
        }
    }

    fn datasets(&self) -> Result<&Reference<Datasets>, Fault> {
        self.datasets
            .as_ref()
            .ok_or_else(|| Fault::new(Code::Unavailable, "the service of the data sets has not started"))
    }

    fn job(&mut self, job: &str) -> Result<&mut Record, Fault> {
        self.document.jobs.get_mut(job).ok_or_else(|| unknown(job))
    }

    /// Returns the data set of an output of a job. `lost` gives the message if a finished job has no such output.
    fn output(&self, job: &str, name: &str, lost: impl FnOnce(&Record) -> String) -> Result<String, Fault> {
        let record = self.document.jobs.get(job).ok_or_else(|| unknown(job))?;
        record.outputs.get(name).cloned().ok_or_else(|| {
            let reason = match (record.state, &record.fault) {
                (State::Done, _) => lost(record),
                (State::Failed, Some(fault)) => format!("{job} has failed: {}", fault.reason()),
                (state, _) => format!("{job} is {}: it has no result", name_of(state)),
            };
            Fault::new(Code::UnknownEntry, reason)
        })
    }

    fn count(&self, is: impl Fn(State) -> bool) -> usize {
        self.document.jobs.values().filter(|job| is(job.state)).count()
    }

    /// Updates the number of jobs in each state.
    fn measure(&self) {
        for state in STATES {
            self.measures.set(JOBS, Some(("state", name_of(state))), self.count(|other| other == state) as f64);
        }
    }

    /// Removes the oldest ended jobs beyond the limit.
    fn forget(&mut self) {
        while self.count(State::has_ended) > self.runner.settings().remembered {
            let ended = self.document.jobs.iter().filter(|(_, job)| job.state.has_ended());
            let Some((oldest, _)) = ended.min_by_key(|(_, job)| job.number) else { return };
            let oldest = oldest.clone();
            self.document.jobs.remove(&oldest);
            self.runner.forget(&oldest);
            self.courses.lock().remove(&oldest);
        }
    }
}

/// Returns the description of a method's service, derived from the description of all methods.
pub(crate) fn described(method: &dyn AnyMethod, shared: Description) -> Description {
    let (facts, options) = (method.facts(), method.options_schema());
    let mut described = Description { name: facts.name.to_owned(), version: facts.version, ..shared };
    let complete = |schema: &mut Value| {
        options.put_into(schema);
        name_inputs(schema, &facts);
    };
    complete(&mut described.state);
    for operation in described.operations.values_mut() {
        complete(&mut operation.body);
        complete(&mut operation.reply);
    }
    described
}

/// Names the inputs of a method in a schema that contains them. Client generators turn an object with named fields into
/// a type. The code that client generators make for a choice between a text and a map does not compile.
fn name_inputs(schema: &mut Value, facts: &Facts) {
    let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) else { return };
    let Some(by_name) = definitions.get_mut("Input").and_then(|input| input.pointer_mut("/anyOf/1")) else { return };
    let mut inputs = by_name.take();
    *by_name = json!({ "$ref": "#/$defs/Inputs" });
    let named = facts.inputs.iter().chain(facts.inputs_optional);
    inputs["properties"] = named.map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    definitions.insert("Inputs".to_owned(), inputs);
}

fn unknown(job: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("there is no job {job:?}"))
}

fn check_own(call: &Call) -> Result<(), Fault> {
    if call.caller().is_none() {
        return Ok(());
    }
    Err(Fault::new(Code::PermissionDenied, "the service sends this to itself only"))
}

impl Service for MethodService {
    type Document = Jobs;

    fn document(&self) -> &Jobs {
        &self.document
    }

    fn document_mut(&mut self) -> &mut Jobs {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Run>().independent::<Wait>().concurrent::<ResultOf>().concurrent::<ModelOf>();
        on.concurrent::<ReportOf>().concurrent::<CourseOf>().concurrent::<SplitsOf>().concurrent::<Predict>();
        on.exclusive::<Cancel>().exclusive::<Resume>().exclusive::<Remove>();
        on.exclusive::<Start>().exclusive::<Progressed>().exclusive::<Ended>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Datasets>("datasets");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.runner.settings().check()?;
        let datasets = starting.partner::<Datasets>("datasets")?;
        self.document.datasets = datasets.lookup().await?.path;
        self.datasets = Some(datasets.clone());
        for job in self.document.jobs.values_mut() {
            // An older node may have stored the job without newer options. If its options can no longer be read, the
            // job reports this when it runs.
            if let Ok(options) = self.runner.method().complete(&job.options) {
                job.options = options;
            }
            if matches!(job.state, State::Running | State::Interrupted) {
                job.state = if job.is_cancelled { State::Cancelled } else { State::Interrupted };
            }
        }
        self.measures = starting.measures();
        self.measures.set(ROOM, None, self.runner.settings().queue as f64);
        self.measure();
        let jobs = self.document.jobs.keys().cloned().collect();
        self.runner.start(starting.path(), starting.host().clock().clone(), starting.own()?, datasets, jobs, starting)
    }

    async fn stop(self, _: ServiceStop) {
        self.runner.stop().await;
    }
}

impl Exclusive<Run> for MethodService {
    fn complete(&self, run: Run) -> Result<Run, Fault> {
        let options = self.runner.method().complete(&run.body.options)?;
        Ok(Run::of(Order { options, ..run.body }))
    }

    async fn handle(&mut self, run: Run, call: &Call) -> Result<Named, Fault> {
        let Order { input, options, output, key } = run.body;
        if let Some(key) = &key
            && let Some((job, _)) = self.document.jobs.iter().find(|(_, job)| job.key.as_ref() == Some(key))
        {
            return Ok(Named::new(job));
        }
        let facts = self.runner.method().facts();
        let inputs = match input {
            Input::One(dataset) => BTreeMap::from([(facts.inputs[0].to_owned(), dataset)]),
            Input::Named(inputs) => inputs,
        };
        let mut faults = self.runner.method().check(&options)?;
        faults.extend(
            facts
                .inputs
                .iter()
                .filter(|name| !inputs.contains_key(**name))
                .map(|name| format!("input {name:?} is missing")),
        );
        let is_known = |name: &&String| facts.inputs.iter().chain(facts.inputs_optional).any(|known| known == name);
        faults.extend(inputs.keys().filter(|name| !is_known(name)).map(|name| format!("there is no input {name:?}")));
        if !faults.is_empty() {
            return Err(Fault::new(Code::InvalidValue, faults.join("; ")));
        }
        let waiting = self.count(|state| matches!(state, State::Queued | State::Interrupted));
        if waiting >= self.runner.settings().queue {
            let reason = format!("{waiting} jobs wait already, and no more are allowed");
            return Err(Fault::new(Code::QueuingLimitExceeded, reason).retry_after(RETRY));
        }
        let there = self.datasets()?.get().await?;
        let tables_of = |output: &str| {
            let tables = facts.outputs.iter().chain([&MODEL, &REPORT]).map(|table| format!("{output}/{table}"));
            tables.into_iter().find(|name| there.datasets.contains_key(name))
        };
        // Ids begin with the path, so that services that share data sets do not use the same names. Skip the ids whose
        // tables exist: they are of jobs that an operator removed together with this service's document.
        let named = |number| format!("{}-{number}", call.path()[1..].replace('/', "."));
        let free = (self.document.count + 1..).map(|number| (number, named(number)));
        let free = free.into_iter().find(|(_, id)| tables_of(id).is_none());
        let Some((number, id)) = free else { return Err(Fault::new(Code::OperationFailed, "no job numbers are left")) };
        let output = output.unwrap_or_else(|| id.clone());
        if let Some(missing) = inputs.values().find(|dataset| !there.datasets.contains_key(*dataset)) {
            return Err(Fault::new(Code::UnknownEntry, format!("there is no data set {missing:?}")));
        }
        if let Some(taken) = tables_of(&output) {
            let reason = format!("there is a data set {taken:?}: remove it, or choose another output");
            return Err(Fault::new(Code::DuplicateEntry, reason));
        }
        crate::datasets::check_name(&format!("{output}/x"))?;
        let is_same = |job: &Record| job.output == output && !job.state.has_ended();
        if self.document.jobs.values().any(is_same) {
            return Err(Fault::new(Code::DuplicateEntry, format!("another job is to make {output:?}")));
        }
        let times = Times { queued_unix_ms: unix_ms(), ..Times::default() };
        let record = Record {
            state: State::Queued,
            options,
            inputs,
            outputs: BTreeMap::new(),
            output,
            key,
            progress: None,
            figures: BTreeMap::new(),
            warnings: Vec::new(),
            times,
            fault: None,
            is_cancelled: false,
            number,
        };
        self.document.count = number;
        self.document.jobs.insert(id.clone(), record);
        self.measure();
        self.runner.look();
        Ok(Named::new(id))
    }
}

impl Independent<Wait> for MethodService {
    async fn handle(wait: Wait, call: &Call) -> Result<Record, Fault> {
        let WaitFor { job, timeout_ms } = wait.body;
        let own = call.own::<Jobs>()?;
        let ended = wait_for(&own, &job);
        match timeout_ms {
            None => ended.await,
            Some(time) => match call.host()?.clock().timeout(Duration::from_millis(time), ended).await {
                Ok(ended) => ended,
                Err(_) => own.get().await?.jobs.get(&job).cloned().ok_or_else(|| unknown(&job)),
            },
        }
    }
}

/// Waits until a job has ended.
async fn wait_for(own: &Reference<Jobs>, job: &str) -> Result<Record, Fault> {
    let mut changes = own.subscribe(Subscribe::default().keys([job])).await?;
    loop {
        let state = own.get().await?;
        match state.jobs.get(job) {
            None => return Err(unknown(job)),
            Some(record) if record.state.has_ended() => return Ok(record.clone()),
            Some(_) => {}
        }
        // Drop the state now, because a change copies it while it is held.
        drop(state);
        match changes.next().await {
            Ok(Event::Seed(_) | Event::Change(_) | Event::Gap { .. }) => {}
            Err(end) => return Err(Fault::new(Code::ServiceStopping, end.to_string())),
        }
    }
}

impl Exclusive<Cancel> for MethodService {
    async fn handle(&mut self, cancel: Cancel, _: &Call) -> Result<(), Fault> {
        let id = cancel.body.job;
        let job = self.job(&id)?;
        match job.state {
            State::Queued | State::Interrupted => {
                job.state = State::Cancelled;
                job.is_cancelled = true;
                job.times.ended_unix_ms = Some(unix_ms());
                self.forget();
            }
            State::Running => {
                job.is_cancelled = true;
                self.runner.cancel(&id);
            }
            // A job that has ended needs no cancelling.
            State::Done | State::Failed | State::Cancelled => {}
        }
        self.measure();
        Ok(())
    }
}

impl Exclusive<Resume> for MethodService {
    async fn handle(&mut self, resume: Resume, _: &Call) -> Result<(), Fault> {
        let id = resume.body.job;
        let waiting = self.count(|state| matches!(state, State::Queued | State::Interrupted));
        let queue = self.runner.settings().queue;
        let job = self.job(&id)?;
        if !matches!(job.state, State::Cancelled | State::Failed) {
            let reason = format!("{id} is {}: only what was cancelled or has failed is resumed", name_of(job.state));
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        if waiting >= queue {
            let reason = format!("{waiting} jobs wait already, and no more are allowed");
            return Err(Fault::new(Code::QueuingLimitExceeded, reason).retry_after(RETRY));
        }
        job.state = State::Queued;
        job.is_cancelled = false;
        job.fault = None;
        job.times.ended_unix_ms = None;
        self.measure();
        self.runner.look();
        Ok(())
    }
}

/// Returns the seconds between two times; 0 if the clock was set back.
fn seconds(from_ms: u64, to_ms: u64) -> f64 {
    to_ms.saturating_sub(from_ms) as f64 / 1e3
}

pub(crate) fn name_of(state: State) -> &'static str {
    match state {
        State::Queued => "queued",
        State::Running => "running",
        State::Done => "done",
        State::Failed => "failed",
        State::Cancelled => "cancelled",
        State::Interrupted => "interrupted",
    }
}

impl Exclusive<Remove> for MethodService {
    async fn handle(&mut self, remove: Remove, _: &Call) -> Result<(), Fault> {
        let id = remove.body.job;
        let job = self.job(&id)?;
        if !job.state.has_ended() {
            return Err(Fault::new(Code::InvalidValue, format!("{id} is {}: cancel it first", name_of(job.state))));
        }
        self.document.jobs.remove(&id);
        self.runner.forget(&id);
        self.courses.lock().remove(&id);
        self.measure();
        Ok(())
    }
}

impl Concurrent<ResultOf> for MethodService {
    async fn handle(&self, result: ResultOf, _: &Call) -> Result<Piece, Fault> {
        let Rows { job, table, format, from, to } = result.body;
        let name = self.output(&job, &table, |record| {
            let names: Vec<&str> = record.outputs.keys().map(String::as_str).collect();
            format!("{job} has no table {table:?}; it has {}", names.join(", "))
        })?;
        self.datasets()?.call(Read { name, format, from, to, ..Read::default() }).await
    }
}

impl Concurrent<ModelOf> for MethodService {
    async fn handle(&self, model: ModelOf, _: &Call) -> Result<Value, Fault> {
        self.model(&model.body.job).await
    }
}

impl Concurrent<CourseOf> for MethodService {
    async fn handle(&self, CourseOf { body: Named { job } }: CourseOf, _: &Call) -> Result<Vec<Progress>, Fault> {
        if !self.document.jobs.contains_key(&job) {
            return Err(unknown(&job));
        }
        Ok(self.courses.lock().get(&job).map(|course| course.progress.clone()).unwrap_or_default())
    }
}

impl Concurrent<SplitsOf> for MethodService {
    async fn handle(&self, SplitsOf { body: Named { job } }: SplitsOf, _: &Call) -> Result<Vec<Split>, Fault> {
        if !self.document.jobs.contains_key(&job) {
            return Err(unknown(&job));
        }
        Ok(self.courses.lock().get(&job).map(|course| course.splits.clone()).unwrap_or_default())
    }
}

impl Concurrent<ReportOf> for MethodService {
    async fn handle(&self, report: ReportOf, _: &Call) -> Result<Page, Fault> {
        let (text, _) = self.text(&report.body.job, REPORT).await?;
        Ok(Page(text))
    }
}

impl MethodService {
    /// Returns the trained model of a job.
    async fn model(&self, job: &str) -> Result<Value, Fault> {
        let (text, name) = self.text(job, MODEL).await?;
        serde_json::from_str(&text).map_err(|_| lost(&name, MODEL))
    }

    /// Returns the model or the report of a job as text, and the name of the data set that holds it.
    async fn text(&self, job: &str, what: &str) -> Result<(String, String), Fault> {
        let name = self.output(job, what, |_| {
            let method = self.runner.method().facts().name;
            format!("{job} has no {what}: {method} gives none, or the job was done by an earlier version")
        })?;
        let Handle(table) = self.datasets()?.call(Take { name: name.clone() }).await?;
        let text = table.texts(what).and_then(|texts| texts.into_iter().next());
        text.map(|text| (text, name.clone())).ok_or_else(|| lost(&name, what))
    }
}

/// Returns the fault for a result whose data set was replaced by another data set.
fn lost(dataset: &str, what: &str) -> Fault {
    Fault::new(Code::OperationFailed, format!("the data set {dataset:?} has no {what} any more"))
}

impl Concurrent<Predict> for MethodService {
    async fn handle(&self, asked: Predict, _: &Call) -> Result<Piece, Fault> {
        let model = predict::model(self.model(&asked.job).await?)?;
        Asked::of_job(asked).answer(&model, self.datasets()?, |_| Ok(())).await
    }
}

impl Exclusive<Start> for MethodService {
    async fn handle(&mut self, start: Start, call: &Call) -> Result<bool, Fault> {
        check_own(call)?;
        let concurrency = self.runner.settings().concurrency;
        let is_free = self.count(|state| state == State::Running) < concurrency;
        let Some(job) = self.document.jobs.get_mut(&start.body.job) else { return Ok(false) };
        if !is_free || !matches!(job.state, State::Queued | State::Interrupted) {
            return Ok(false);
        }
        self.runner.prepare(&start.body.job);
        job.state = State::Running;
        let now = unix_ms();
        // A resumed job has already counted its wait.
        if job.times.started_unix_ms.replace(now).is_none() {
            self.measures.add(WAITED, None, seconds(job.times.queued_unix_ms, now));
        }
        self.measure();
        Ok(true)
    }
}

impl Exclusive<Progressed> for MethodService {
    async fn handle(&mut self, progressed: Progressed, call: &Call) -> Result<(), Fault> {
        check_own(call)?;
        let Report { job, progress, splits } = progressed.body;
        let record = self.job(&job)?;
        if record.state == State::Running {
            record.progress = Some(progress.clone());
            let mut courses = self.courses.lock();
            let course = courses.entry(job).or_default();
            if course.progress.len() == COURSE_MAX {
                course.progress = course.progress.iter().step_by(2).cloned().collect();
            }
            course.progress.push(progress);
            course.splits = splits;
        }
        Ok(())
    }
}

impl Exclusive<Ended> for MethodService {
    async fn handle(&mut self, ended: Ended, call: &Call) -> Result<(), Fault> {
        check_own(call)?;
        let Outcome { job, outputs, figures, warnings, fault } = ended.body;
        let record = self.job(&job)?;
        record.state = match (&outputs, &fault) {
            (Some(_), _) => State::Done,
            (None, Some(_)) => State::Failed,
            (None, None) => State::Cancelled,
        };
        record.outputs = outputs.unwrap_or_default();
        record.figures = figures;
        record.warnings = warnings;
        record.fault = fault;
        let now = unix_ms();
        record.times.ended_unix_ms = Some(now);
        let (how, took) = (record.state, record.times.started_unix_ms.map_or(0.0, |started| seconds(started, now)));
        if record.state == State::Done
            && let Some(progress) = &mut record.progress
        {
            progress.fraction = 1.0;
        }
        if how == State::Done {
            self.courses.lock().remove(&job);
        }
        self.measures.add(ENDED, Some(("state", name_of(how))), 1.0);
        self.measures.add(SECONDS, Some(("state", name_of(how))), took);
        self.forget();
        self.measure();
        Ok(())
    }
}
