//! The runner of a method's service: runs the jobs in the document on separate threads, and writes their outcomes into
//! the document.
//!
//! Three parties exchange messages. *Handlers* change the document. Handlers create a job's signal when the job starts,
//! and set the signal when a client cancels the job. The *follower* is a thread that wakes up when the document may
//! have changed. The follower reads the document, asks the service to start a job and, once the start is recorded,
//! creates a *job's thread*. The job's thread takes the inputs, computes, stores the outputs, removes the signal, and
//! only then reports the end. So a signal always belongs to the run in the document, and no request to cancel reaches a
//! later run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use lehr_runtime::{Clock, Port, block_on};
use lehr_services::{Beginning, Code, Fault, Reference, Starting};
use lehr_sync::{Arc, Mutex, thread::spawn_detached};

use crate::cores::bind_to;
use crate::datasets::{Datasets, Put, Take};
use crate::handle::Handle;
use crate::job::{Job, Listener, Progress, Saved, Signal, Split, Stop};
use crate::jobs::{Ended, Jobs, Named, Outcome, Progressed, Report, Start, State};
use crate::method::{AnyMethod, Failure, Inputs, MODEL, Outputs, REPORT, text_of};
use crate::processes;
use crate::settings::Settings;

/// The delay before the runner tries again, if the service could not store a change.
const AGAIN: Duration = Duration::from_secs(1);

/// The service's handle to its runner. The runner ends when the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Runner(Arc<Shared>);

impl Drop for Runner {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Deref for Runner {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The state that handlers, the follower and the threads of jobs share.
pub(crate) struct Shared {
    method: Arc<dyn AnyMethod>,
    settings: Settings,
    keep: Option<PathBuf>,
    /// Signals to the follower that a job may be ready to start.
    news: Port<()>,
    /// Signals that the thread of a job has ended.
    ended: Port<()>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The running jobs, by id.
    signals: BTreeMap<String, Signal>,
    /// The saved states of jobs, when nothing is kept on disk.
    saved: BTreeMap<String, Saved>,
    threads: usize,
    is_stopping: bool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runner").field("method", &self.method.facts().name).finish_non_exhaustive()
    }
}

/// The services that the follower and the threads of jobs call.
#[derive(Clone)]
struct Surroundings {
    own: Reference<Jobs>,
    datasets: Reference<Datasets>,
    clock: Clock,
}

impl Runner {
    pub(crate) fn new(method: Arc<dyn AnyMethod>, settings: Settings, keep: Option<PathBuf>) -> Self {
        let (news, ended) = (Port::named("news for the runner"), Port::named("threads that have ended"));
        Self(Arc::new(Shared { method, settings, keep, news, ended, table: Mutex::default() }))
    }

    /// Starts to follow the document. `jobs` are the ids of the jobs in it.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if the folder for checkpoints is missing or cannot be used, or if no thread can be
    /// started. Returns [`Code::InvalidValue`] for a layout if the method runs in one process.
    pub(crate) fn start(
        &self,
        path: &str,
        clock: Clock,
        own: Reference<Jobs>,
        datasets: Reference<Datasets>,
        jobs: Vec<String>,
        starting: &Starting,
    ) -> Result<(), Fault> {
        let failed = |error: std::io::Error| {
            Fault::new(Code::StartFailed, format!("{path} cannot start")).log(error.to_string())
        };
        let facts = self.method.facts();
        if self.settings.layout.is_some() && !facts.spreads {
            let reason = format!("{path}: expected no layout, since {} runs in one process", facts.name);
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        if self.keep.is_none() && self.settings.layout.is_some() {
            let reason = format!("{path} spreads its jobs over processes, whose files need a folder: keep its jobs");
            return Err(Fault::new(Code::StartFailed, reason));
        }
        if let Some(folder) = &self.keep {
            std::fs::create_dir_all(folder).map_err(failed)?;
            let mut unknown = BTreeSet::new();
            for entry in std::fs::read_dir(folder).map_err(failed)?.flatten() {
                let path = entry.path();
                let is_saved = path
                    .extension()
                    .and_then(|ending| ending.to_str())
                    .is_some_and(|ending| matches!(ending, "checkpoint" | "checkpoint-before" | "run" | "log"));
                let job = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                if is_saved && !jobs.iter().any(|known| known == job) {
                    unknown.insert(path);
                }
            }
            match starting.beginning() {
                Beginning::Kept | Beginning::Volatile => {
                    unknown.into_iter().for_each(|path| Saved::File(path.with_extension("checkpoint")).forget());
                }
                // Only an unchanged document shows which jobs were removed. After any other start, move the checkpoints
                // away, because new jobs may get the same ids.
                Beginning::New | Beginning::Lost | Beginning::Restored if !unknown.is_empty() => {
                    let aside = folder.join("unknown");
                    std::fs::create_dir_all(&aside).map_err(failed)?;
                    for path in &unknown {
                        std::fs::rename(path, aside.join(path.file_name().unwrap_or_default())).map_err(failed)?;
                    }
                    let (count, shown) = (unknown.len(), aside.display());
                    starting.report(format!("{count} checkpoints of unknown jobs were moved to {shown}"));
                }
                Beginning::New | Beginning::Lost | Beginning::Restored => {}
            }
        }
        let (shared, place) = (self.0.clone(), Surroundings { own, datasets, clock });
        spawn_detached(format!("lehr-runner {path}"), move || block_on(follow(&shared, &place))).map_err(failed)?;
        self.look();
        Ok(())
    }

    /// Stops the follower, has running jobs save their state, and waits until all threads have ended.
    pub(crate) async fn stop(&self) {
        self.close();
        while self.table.lock().threads > 0 {
            // The port stays open while any thread may still send.
            if self.ended.receive().await.is_err() {
                return;
            }
        }
    }
}

impl Shared {
    pub(crate) fn method(&self) -> &dyn AnyMethod {
        &*self.method
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Wakes the follower to look at the document.
    pub(crate) fn look(&self) {
        // The post fails only when the service ends. It is detached from the context of the request, which may be
        // cancelled.
        let _ = self.news.post_detached(());
    }

    /// Creates the signal of a run that is about to start.
    pub(crate) fn prepare(&self, job: &str) {
        self.table.lock().signals.insert(job.to_owned(), Signal::default());
    }

    /// Cancels a run.
    pub(crate) fn cancel(&self, job: &str) {
        if let Some(signal) = self.table.lock().signals.get(job) {
            signal.stop(Stop::Cancelled);
        }
    }

    /// Removes the checkpoints of a job.
    pub(crate) fn forget(&self, job: &str) {
        self.saved(job).forget();
        self.table.lock().saved.remove(job);
    }

    fn saved(&self, job: &str) -> Saved {
        match &self.keep {
            Some(folder) => Saved::File(folder.join(format!("{job}.checkpoint"))),
            None => {
                let mut table = self.table.lock();
                table.saved.entry(job.to_owned()).or_insert_with(|| Saved::Memory(Arc::default())).clone()
            }
        }
    }

    fn close(&self) {
        self.news.close();
        let mut table = self.table.lock();
        table.is_stopping = true;
        table.signals.values().for_each(|signal| signal.stop(Stop::Interrupted));
    }

    fn is_stopping(&self) -> bool {
        self.table.lock().is_stopping
    }
}

/// Starts waiting jobs whenever a message arrives.
async fn follow(shared: &Arc<Shared>, place: &Surroundings) {
    while shared.news.receive().await.is_ok() {
        loop {
            let Ok(state) = place.own.get().await else { return };
            let next = next_of(&state, shared.settings.concurrency);
            // Drop the state now, because a change copies it while it is held.
            drop(state);
            let Some(job) = next else { break };
            match place.own.call(Start::of(Named::new(&job))).await {
                Ok(true) => begin(shared, place, job),
                // The job is no longer the next one to start.
                Ok(false) => {}
                Err(fault) if fault.code() == Code::InsufficientResources => place.clock.sleep(AGAIN).await,
                Err(_) => return,
            }
        }
    }
}

/// Returns the next job to start: interrupted jobs first, then queued jobs, each in the order of their numbers.
fn next_of(state: &Jobs, concurrency: usize) -> Option<String> {
    let running = state.jobs.values().filter(|job| job.state == State::Running).count();
    if running >= concurrency {
        return None;
    }
    let waiting = state.jobs.iter().filter(|(_, job)| matches!(job.state, State::Queued | State::Interrupted));
    let next = waiting.min_by_key(|(_, job)| (job.state == State::Queued, job.number));
    next.map(|(id, _)| id.clone())
}

fn begin(shared: &Arc<Shared>, place: &Surroundings, job: String) {
    let signal = {
        let mut table = shared.table.lock();
        if table.is_stopping {
            return;
        }
        table.threads += 1;
        table.signals.get(&job).cloned().unwrap_or_default()
    };
    let (on_thread, at, name) = (shared.clone(), place.clone(), job.clone());
    let body = move || {
        run(&on_thread, &at, &name, &signal);
        on_thread.table.lock().threads -= 1;
        let _ = on_thread.ended.post(());
        on_thread.look();
    };
    if let Err(error) = spawn_detached(format!("lehr {job}"), body) {
        shared.table.lock().threads -= 1;
        let fault = Fault::new(Code::InsufficientResources, "no thread to run on").log(error.to_string());
        let outcome =
            Outcome { job, outputs: None, figures: BTreeMap::new(), warnings: Vec::new(), fault: Some(fault) };
        let own = place.own.clone();
        // The follower has its own thread, which may block.
        let _ = block_on(own.call(Ended::of(outcome)));
    }
}

/// Runs a job, from its inputs to its end in the document.
fn run(shared: &Shared, place: &Surroundings, job: &str, signal: &Signal) {
    let saved = shared.saved(job);
    let computed = compute(shared, place, job, signal, &saved);
    shared.table.lock().signals.remove(job);
    let outcome =
        |fault| Outcome { job: job.to_owned(), outputs: None, figures: BTreeMap::new(), warnings: Vec::new(), fault };
    let outcome = match computed {
        Ok((outputs, tables)) => {
            let Outputs { figures, warnings, .. } = outputs;
            Outcome { outputs: Some(tables), figures, warnings, ..outcome(None) }
        }
        Err(Ending::Stopped) => match signal.why() {
            Some(Stop::Cancelled) => outcome(None),
            // The document still has the job as running, and the service resumes it after a restart.
            Some(Stop::Interrupted) => return,
            None => outcome(Some(Fault::new(Code::OperationFailed, "it stopped without being asked to"))),
        },
        // If other services refuse a request because the node is stopping, the job has not failed.
        Err(Ending::Fault(_)) if shared.is_stopping() => return,
        Err(Ending::Fault(fault)) => outcome(Some(fault)),
    };
    let is_done = outcome.outputs.is_some();
    loop {
        match block_on(place.own.call(Ended::of(outcome.clone()))) {
            Ok(()) => break,
            Err(fault) if fault.code() == Code::InsufficientResources && !shared.is_stopping() => {
                block_on(place.clock.sleep(AGAIN));
            }
            Err(_) => return,
        }
    }
    if is_done {
        shared.forget(job);
    }
}

/// The reason why a run ends without a result.
enum Ending {
    Stopped,
    Fault(Fault),
}

impl From<Fault> for Ending {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

type Tables = BTreeMap<String, String>;

fn compute(
    shared: &Shared,
    place: &Surroundings,
    id: &str,
    signal: &Signal,
    saved: &Saved,
) -> Result<(Outputs, Tables), Ending> {
    let settings = &shared.settings;
    let state = block_on(place.own.get())?;
    let record = state.jobs.get(id).cloned();
    drop(state);
    let record = record.ok_or_else(|| Fault::new(Code::UnknownEntry, "the job is gone"))?;
    if !settings.cores.is_empty() {
        bind_to(&settings.cores).map_err(|error| {
            let reason = format!("the job cannot be held to the cores {:?}: {error}", settings.cores);
            Fault::new(Code::InsufficientResources, reason)
        })?;
    }
    let mut inputs = Inputs::default();
    for (name, dataset) in &record.inputs {
        let Handle(table) = block_on(place.datasets.call(Take { name: dataset.clone() }))?;
        inputs.add(name.clone(), dataset.clone(), table);
    }
    let listener = Telling { own: place.own.clone(), job: id.to_owned(), pending: None };
    let threads = settings.threads_of_job();
    let job = Job::new(id.to_owned(), threads, signal.clone(), saved.clone(), Some(Box::new(listener)));
    // With a layout, the service does not start without a folder.
    let spread = settings.spread(|| shared.keep.clone().unwrap_or_default().join(format!("{id}.run")))?;
    let computed = catch_unwind(AssertUnwindSafe(|| match &spread {
        Some(spread) => processes::run(&*shared.method, &job, spread, &inputs, &record.options),
        None => shared.method.run(&job, &inputs, &record.options),
    }));
    drop(inputs);
    let outputs = match computed {
        Ok(Ok(mut outputs)) => {
            outputs.warnings.splice(0..0, job.warnings());
            outputs
        }
        Ok(Err(Failure::Stopped)) => return Err(Ending::Stopped),
        Ok(Err(failure)) => return Err(failure.fault().into()),
        Err(panic) => {
            let log = format!("{id} panicked: {}", text_of(panic.as_ref()));
            return Err(Fault::new(Code::OperationFailed, "the method failed inside").log(log).into());
        }
    };
    let mut tables = Tables::new();
    let others = [&MODEL, &REPORT].into_iter().filter(|name| outputs.tables.contains_key(**name));
    for name in shared.method.facts().outputs.iter().chain(others) {
        let table =
            outputs.tables.get(*name).cloned().ok_or_else(|| {
                Fault::new(Code::OperationFailed, format!("the method has not made its table {name:?}"))
            })?;
        let dataset = format!("{}/{name}", record.output);
        // An earlier run may have stored this table and ended before it could report it.
        block_on(place.datasets.call(Put { name: dataset.clone(), table: Handle(table), replace: true }))?;
        tables.insert((*name).to_owned(), dataset);
    }
    Ok((outputs, tables))
}

/// A report that is being sent.
type Pending = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send>>;

/// A listener that sends the progress of a job to the service, one report at a time.
struct Telling {
    own: Reference<Jobs>,
    job: String,
    pending: Option<Pending>,
}

impl Telling {
    /// Returns whether no report is being sent. Polls without a waker, because the next report checks again.
    fn is_free(&mut self) -> bool {
        let Some(pending) = &mut self.pending else { return true };
        if pending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            self.pending = None;
        }
        self.pending.is_none()
    }
}

impl Listener for Telling {
    fn tell(&mut self, progress: &Progress, splits: &[Split]) -> bool {
        if !self.is_free() {
            return false;
        }
        let (own, report) =
            (self.own.clone(), Report { job: self.job.clone(), progress: progress.clone(), splits: splits.to_vec() });
        self.pending = Some(Box::pin(async move { own.call(Progressed::of(report)).await }));
        // Start to send now; the next call of `tell` takes the answer.
        self.is_free();
        true
    }
}
