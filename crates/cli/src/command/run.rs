//! `lehr run`: runs a workflow, in this process or on a node.
//!
//! Both use the same service, [`Workflows`]; in this process its host has no address. The printed progress follows its
//! changes.

mod python;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lehr_jobs::Setup;
use lehr_jobs::reports::Reports;
use lehr_node::Client;
use lehr_node::manifest::{Manifest, Plan as Placing, Setting, apply};
use lehr_runtime::{Builder, Dispatcher, Port, block_on};
use lehr_services::{End, Event, Fault, Host, Placement, Reference, State, Subscribe};
use lehr_sources::{Fetch, PubChem, Webhook};
use lehr_workflow::{
    Begin, CachedAnswer, Plan, Progress, Resume, Review, Run, RunState, Schedule, Stop, Tell, Unschedule, WORKFLOWS,
    Workflow, WorkflowState, Workflows,
};
use serde_json::Value;

use crate::arguments::RunArguments;
use crate::command::apply::text;
use crate::command::ask::{client, failure, variable};
use crate::command::serve::kinds;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::output;
use crate::plan::shell_word;
use lehr_methods::numbers::{duration, left_aligned};
pub use python::PythonServices;

/// The folder of the files that workflows fetch, in the folder whose files they may open.
const FETCHED: &str = "fetched";

/// The longest time that services may take to end.
const GRACE: Duration = Duration::from_secs(60);

/// The events while a run is watched.
enum WatchEvent {
    Seed(State<WorkflowState>),
    /// A change, and the version of the document after it.
    Told(Box<Tell>, u64),
    Lost(End),
    Interrupt,
}

/// Runs a workflow to its end.
///
/// # Errors
/// Returns [`Kind::BadData`] with every fault of the workflow; [`Kind::NoResult`] if it failed; [`Kind::Stopped`] if it
/// was stopped, with the command that continues it.
pub fn run(arguments: RunArguments) -> Result<(), Failure> {
    let file = arguments.file.display().to_string();
    let definition = text(&arguments.file)?;
    let workflow =
        Workflow::read(&file, &definition).map_err(|found| Failure::new(Kind::BadData, found.to_string()))?;
    let parameters: BTreeMap<String, Value> =
        arguments.set.iter().map(|(name, value)| (name.clone(), workflow.typed(name, value))).collect();
    let places: BTreeMap<String, String> = arguments.place.iter().cloned().collect();
    let begin = Begin { file, definition, parameters, no_cache: arguments.no_cache, places: places.clone() };
    let client = client(&arguments.request)?;
    let mut builder = Builder::new();
    if let Some(threads) = arguments.threads {
        builder = builder.threads(threads);
    }
    let dispatcher = builder.start().map_err(|cause| Failure::new(Kind::Environment, cause.to_string()))?;
    let again = Again {
        command: resume_command(&arguments),
        is_wanted: arguments.resume,
        from: arguments.from.clone(),
        folder: arguments.node.is_none().then(|| arguments.keep.clone()),
    };
    let session = |workflows| Session {
        name: workflow.name(),
        workflows,
        dispatcher: &dispatcher,
        node: arguments.node.as_deref(),
        again: Some(&again),
        is_json: arguments.json,
        is_quiet: arguments.quiet,
    };
    let carry_out = |workflows| {
        let session = session(workflows);
        if arguments.dry_run {
            session.review(begin, &workflow)
        } else if arguments.schedule {
            session.schedule(begin)
        } else if arguments.unschedule {
            session.unschedule()
        } else {
            session.run(begin)
        }
    };
    match &arguments.node {
        Some(node) => {
            let link = client.link(&format!("{}{WORKFLOWS}", node.trim_end_matches('/')));
            let link = link.map_err(|fault| Failure::new(Kind::Usage, fault.reason()))?;
            let workflows = Reference::over(link);
            carry_out(match Duration::try_from_secs_f64(arguments.request.timeout) {
                Ok(within) => workflows.within(within),
                Err(_) => workflows,
            })
        }
        None => {
            let python = PythonServices::start(&workflow, &arguments.file)?;
            let surroundings = Surroundings {
                client,
                python: &python,
                // A dry run leaves nothing behind.
                folder: (!arguments.dry_run).then_some(arguments.keep.as_path()),
                data_root: data_root(&arguments),
                pubchem: &arguments.pubchem,
                places: &places,
                is_quiet: arguments.quiet,
            };
            surroundings.with(&dispatcher, &workflow, carry_out)
        }
    }
}

/// The surroundings of a run in this process.
pub struct Surroundings<'a> {
    /// The client for services of other nodes.
    pub client: Client,
    /// The services in Python.
    pub python: &'a PythonServices,
    /// The folder that keeps the run and the states of its services; `None` keeps nothing.
    pub folder: Option<&'a Path>,
    /// The folder whose files may be opened as data sets.
    pub data_root: PathBuf,
    /// The base URL of PubChem.
    pub pubchem: &'a str,
    /// The services that other nodes have instead of this process, with the addresses of the nodes.
    pub places: &'a BTreeMap<String, String>,
    /// Whether to show no notes.
    pub is_quiet: bool,
}

impl Surroundings<'_> {
    /// Starts the services of a workflow, does something with the service that runs workflows, and ends them.
    ///
    /// # Errors
    /// Returns a failure if a service cannot be started, and the failures of `carry_out`.
    pub fn with<T>(
        self,
        dispatcher: &Dispatcher,
        workflow: &Workflow,
        carry_out: impl FnOnce(Reference<WorkflowState>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Self { client, python, folder, data_root, pubchem, places, is_quiet } = self;
        let host = Host::new(dispatcher.handle());
        let reach = client.clone();
        host.reach_by(move |address| reach.link(address));
        let keep = folder.map(Path::to_path_buf);
        kinds(&host, &Setup { keep, data_root: Some(data_root.clone()), ..Setup::default() });
        PubChem::register(&host, pubchem);
        Webhook::register(&host, variable);
        // `/datasets` opens the files from there.
        Fetch::register(&host, data_root.join(FETCHED));
        if let Some(folder) = folder {
            // A browser cannot open pages of this process, so reports are written to files.
            let folder = folder.to_path_buf();
            host.register(move || Reports::writing(folder.clone()));
        }
        let made = folder.filter(|folder| !folder.exists());
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(|cause| {
                Failure::new(Kind::Environment, format!("{}: cannot be made: {cause}", folder.display()))
            })?;
        }
        let done = block_on(start(&host, workflow, client, (python, places), folder))
            .map_err(|fault| failure(&fault))
            .and_then(carry_out);
        let report = block_on(host.shutdown(GRACE));
        if !report.cut_off.is_empty() {
            output::warning(&format!("cut off after {} s: {}", GRACE.as_secs(), report.cut_off.join(", ")));
        }
        // Keeps a folder that is not empty: `remove_dir` fails then.
        if let Some(folder) = made
            && std::fs::remove_dir(folder).is_err()
            && !is_quiet
        {
            output::note(&format!("the run and the states of its services are kept in {}", folder.display()));
        }
        done
    }
}

/// Starts the services of the file, and the one that runs workflows.
async fn start(
    host: &Host,
    workflow: &Workflow,
    client: Client,
    (python, places): (&PythonServices, &BTreeMap<String, String>),
    folder: Option<&Path>,
) -> Result<Reference<WorkflowState>, Fault> {
    host.ready().await;
    // This process starts the services that neither a process of Python nor another node has.
    let of_file = workflow.services().services().iter();
    let own = of_file.filter(|(path, _)| !python.addresses().contains_key(*path) && !places.contains_key(*path));
    let wanted = &Manifest::new(own.map(|(path, record)| (path.clone(), record.clone())));
    let setting = Setting {
        kind: &|contract| host.kind(contract),
        contracts: host.constructors(),
        running: BTreeMap::new(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        keeps: true,
    };
    let nothing = Manifest::default();
    let plan = Placing::new(wanted, &nothing, &setting)?;
    apply(host, &plan, wanted, &nothing, folder).await?;
    let placement = Placement::at(WORKFLOWS);
    let placement = match folder {
        Some(folder) => placement.keep(folder.join("workflows.json")),
        None => placement,
    };
    let addresses = python.addresses().clone();
    let made = move || {
        let workflows = Workflows::new(Some(client.clone()));
        let with = |workflows: Workflows, (path, address): (&String, &String)| workflows.with(path, address);
        // The command line decides whether an earlier run continues.
        addresses.iter().fold(workflows, with).wait_for_resume()
    };
    host.start(placement, made).await
}

/// How Lehr resumes a run.
pub struct Again {
    /// The command that resumes the run.
    pub command: String,
    /// Whether the user typed `--resume`.
    pub is_wanted: bool,
    /// The step from which on everything is repeated.
    pub from: Option<String>,
    /// The folder that keeps the run, if it is on this machine.
    pub folder: Option<PathBuf>,
}

/// A run and its watchers.
pub struct Session<'a> {
    /// The workflow.
    pub name: &'a str,
    /// The service that runs the workflow.
    pub workflows: Reference<WorkflowState>,
    /// The dispatcher of the tasks that listen for changes.
    pub dispatcher: &'a Dispatcher,
    /// The node where the workflow runs, if it is another one.
    pub node: Option<&'a str>,
    /// How to resume the run; `None` if it cannot be resumed.
    pub again: Option<&'a Again>,
    /// Whether to print the whole run.
    pub is_json: bool,
    /// Whether to show no progress.
    pub is_quiet: bool,
}

impl Session<'_> {
    /// Shows the steps without doing them.
    fn review(&self, begin: Begin, workflow: &Workflow) -> Result<(), Failure> {
        let plan = block_on(self.workflows.call(Review(begin))).map_err(|fault| failure(&fault))?;
        show(&plan, workflow, self.is_json)
    }

    /// Lets the node begin runs by the triggers of the workflow.
    fn schedule(&self, begin: Begin) -> Result<(), Failure> {
        let scheduled = block_on(self.workflows.call(Schedule(begin))).map_err(|fault| failure(&fault))?;
        if self.is_json {
            let text = serde_json::to_string_pretty(&scheduled);
            let text = text.map_err(|cause| Failure::new(Kind::NoResult, cause.to_string()))?;
            return output::result(&format!("{text}\n"));
        }
        let mut rows = vec![["trigger", "next"].map(str::to_owned)];
        for (name, trigger) in &scheduled.triggers {
            let next = trigger
                .due_ms
                .map(|due| format!("in {}", duration(due.saturating_sub(lehr_sync::unix_ms()) as f64 / 1000.0)));
            rows.push([name.clone(), next.unwrap_or_else(|| "when the data set has changed".to_owned())]);
        }
        output::result(&left_aligned(&rows))
    }

    /// Ends what [`schedule`](Self::schedule) has begun.
    fn unschedule(&self) -> Result<(), Failure> {
        let workflow = self.name.to_owned();
        block_on(self.workflows.call(Unschedule { workflow })).map_err(|fault| failure(&fault))?;
        if !self.is_quiet {
            output::note(&format!("the node begins no further run of {}", self.name));
        }
        Ok(())
    }

    /// Runs a workflow to its end, and prints the result.
    ///
    /// # Errors
    /// Returns the same errors as [`run`].
    pub fn run(&self, begin: Begin) -> Result<(), Failure> {
        let (id, run) = self.carry_out(begin)?;
        self.end(&id, &run)
    }

    /// Runs a workflow to its end, successful or not; returns the run's name and the run.
    ///
    /// # Errors
    /// Fails if the run could not begin, or its outcome is unknown.
    pub fn carry_out(&self, begin: Begin) -> Result<(String, Run), Failure> {
        let heard = Port::named("a run");
        let interrupts = heard.clone();
        Interrupt::tell(move || drop(interrupts.post(WatchEvent::Interrupt)))?;
        let (workflows, told) = (self.workflows.clone(), heard.clone());
        let listening = self.dispatcher.spawn(async move {
            let end = listen(&workflows, &told).await;
            let _ = told.post(WatchEvent::Lost(end));
        });
        // Listens before the run begins, so that it receives every event from the first change on.
        let before = match block_on(heard.receive()) {
            Ok(WatchEvent::Seed(state)) => state,
            Ok(WatchEvent::Lost(End::Lost(fault))) => return Err(failure(&fault)),
            _ => return Err(Failure::new(Kind::Stopped, "stopped before it began")),
        };
        let id = block_on(self.begin(begin, before))?;
        let ended = self.watch(&id, &heard);
        drop(listening);
        Ok((id, ended?))
    }

    /// Begins a run, or resumes the last one; returns its name.
    async fn begin(&self, begin: Begin, state: State<WorkflowState>) -> Result<String, Failure> {
        let of_this = state.runs.iter().filter(|(_, run)| run.workflow == self.name);
        let last = of_this.max_by_key(|(_, run)| run.number);
        let has_changed = last.is_some_and(|(_, run)| run.definition != begin.definition);
        let done = |run: &Run| {
            run.steps.iter().filter(|(_, step)| step.output().is_some()).map(|(name, _)| name.clone()).collect()
        };
        let last = last.map(|(id, run)| (id.clone(), run.state, done(run)));
        drop(state);
        let Some(again) = self.again.filter(|again| again.is_wanted || again.from.is_some()) else {
            if let (Some((id, state, _)), None) = (&last, &self.node)
                && *state != RunState::Done
            {
                output::note(&format!(
                    "{id} is not done ({state}); this is another run, and --resume continues that one"
                ));
            }
            return self.workflows.call(begin).await.map(|begun| begun.run).map_err(|fault| failure(&fault));
        };
        let Some((id, state, done)) = last else {
            let message = format!("there is no run of {} to continue", self.name);
            return Err(Failure::new(Kind::Environment, message));
        };
        if has_changed {
            output::note(&format!("{id} continues as it began; the file has changed since"));
        }
        let done: Vec<String> = done;
        if !self.is_quiet && !done.is_empty() {
            output::progress(&format!("{id}: continues; done before: {}", done.join(", ")));
        }
        // On a node it may still be running: then this only watches it.
        if let (false, Some(step)) = (state.is_over(), &again.from) {
            let message = format!("{id} is under way: it begins again from {step} when it is over");
            return Err(Failure::new(Kind::Usage, message));
        }
        if state.is_over() {
            let resume = Resume { run: id.clone(), from: again.from.clone() };
            self.workflows.call(resume).await.map_err(|fault| failure(&fault))?;
        }
        Ok(id)
    }

    /// Shows the events until the run is over.
    fn watch(&self, id: &str, heard: &Port<WatchEvent>) -> Result<Run, Failure> {
        let gone = || Failure::new(Kind::NoResult, format!("{id} has been removed"));
        let state = block_on(self.workflows.get()).map_err(|fault| failure(&fault))?;
        let mut run = state.runs.get(id).cloned().ok_or_else(gone)?;
        // The document already has the changes before this version; they are only printed.
        let mut version = state.version();
        drop(state);
        let (mut first, mut is_told) = (run.part, false);
        loop {
            match block_on(heard.receive()) {
                Ok(WatchEvent::Seed(state)) => {
                    run = state.runs.get(id).cloned().ok_or_else(gone)?;
                    (version, first, is_told) = (state.version(), run.part, run.state.is_over());
                }
                Ok(WatchEvent::Told(tell, told)) if tell.run == id && tell.part >= first => {
                    if told > version {
                        run.apply(&tell.progress, tell.at_ms);
                    }
                    if let Some(line) = line(&run, &tell)
                        && !self.is_quiet
                    {
                        output::progress(&line);
                    }
                    is_told |= matches!(tell.progress, Progress::Ended { .. });
                }
                Ok(WatchEvent::Told(..)) => {}
                Ok(WatchEvent::Interrupt) => match self.node {
                    Some(node) => {
                        let failure = Failure::new(Kind::Stopped, format!("{id} continues at {node}"));
                        return Err(self.hinted(failure, "watch it with"));
                    }
                    None => {
                        // A run that has just ended has nothing to stop, and reports its end itself.
                        let _ended = block_on(self.workflows.call(Stop { run: id.to_owned() }));
                    }
                },
                Ok(WatchEvent::Lost(End::Lost(fault))) => return Err(failure(&fault)),
                Ok(WatchEvent::Lost(end)) => return Err(Failure::new(Kind::NoResult, end.to_string())),
                Err(cause) => return Err(Failure::new(Kind::NoResult, cause.to_string())),
            }
            if is_told && run.state.is_over() {
                return Ok(run);
            }
        }
    }

    /// Prints the outcome.
    ///
    /// # Errors
    /// Returns the reason why the run has no result.
    pub fn end(&self, id: &str, run: &Run) -> Result<(), Failure> {
        let json = |value: &Value| format!("{value:#}\n");
        match run.state {
            RunState::Done if self.is_json => {
                let whole =
                    serde_json::to_value(run).map_err(|cause| Failure::new(Kind::NoResult, cause.to_string()))?;
                output::result(&json(&whole))
            }
            RunState::Done => match &run.output {
                Value::Null => Ok(()),
                Value::String(text) => output::result(&format!("{}\n", text.trim_end())),
                value => output::result(&json(value)),
            },
            RunState::Stopped if self.again.is_none() => {
                Err(Failure::new(Kind::Stopped, "no results were written; there was nothing to save yet"))
            }
            RunState::Stopped => {
                let failure = Failure::new(Kind::Stopped, format!("{id} is stopped, and what is done is kept"));
                Err(self.hinted(failure, "continue with"))
            }
            state => {
                let mut lines =
                    vec![format!("{id} {}", if state == RunState::Failed { "has failed" } else { "was cancelled" })];
                for (name, step) in &run.steps {
                    let fault =
                        step.fault.as_ref().map(|fault| format!("step {name}: {} ({})", fault.reason(), fault.code()));
                    lines.extend(fault);
                    let causes = step.fault.iter().flat_map(|fault| fault.causes());
                    lines.extend(causes.map(|cause| format!("because {} ({})", cause.reason, cause.code)));
                }
                if lines.len() == 1
                    && let Some(fault) = &run.fault
                {
                    lines.push(format!("{} ({})", fault.reason(), fault.code()));
                }
                let failure = Failure::new(Kind::NoResult, lines.join("\n"));
                let Some(again) = self.again else { return Err(failure) };
                let anew = again
                    .folder
                    .as_ref()
                    .map(|folder| format!("; to start again, remove the folder {}", folder.display()));
                let hint =
                    format!("finished steps are kept; continue with: {}{}", again.command, anew.unwrap_or_default());
                Err(failure.with_hint(hint))
            }
        }
    }

    fn hinted(&self, failure: Failure, words: &str) -> Failure {
        match self.again {
            None => failure,
            Some(again) => failure.with_hint(format!("{words}: {}", again.command)),
        }
    }
}

/// Returns the folder whose files may be opened: paths in a workflow are relative to it.
fn data_root(arguments: &RunArguments) -> PathBuf {
    let of_the_file = || match arguments.file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    arguments.data_root.clone().unwrap_or_else(of_the_file)
}

/// Returns the command that resumes a run.
fn resume_command(arguments: &RunArguments) -> String {
    let path = |path: &Path| shell_word(&path.to_string_lossy());
    let mut words = vec!["lehr run".to_owned(), path(&arguments.file)];
    if let Some(node) = &arguments.node {
        words.push(format!("--node {}", shell_word(node)));
    } else if arguments.keep != Path::new("lehr-run") {
        words.push(format!("--keep {}", path(&arguments.keep)));
    }
    let request = &arguments.request;
    let files = [
        ("--data-root", &arguments.data_root),
        ("--token", &request.token),
        ("--ca", &request.ca),
        ("--cert", &request.cert),
        ("--key", &request.key),
    ];
    words.extend(files.into_iter().filter_map(|(name, file)| Some(format!("{name} {}", path(file.as_deref()?)))));
    words.push("--resume".to_owned());
    words.join(" ")
}

/// Passes on the events of all runs until the subscription ends.
async fn listen(workflows: &Reference<WorkflowState>, told: &Port<WatchEvent>) -> End {
    let wishes = Subscribe::default().operations(["tell"]).capacity(4096);
    let mut changes = match workflows.subscribe(wishes).await {
        Ok(changes) => changes,
        Err(fault) => return End::Lost(fault),
    };
    loop {
        let heard = match changes.next().await {
            Ok(Event::Seed(state)) => Some(WatchEvent::Seed(state)),
            Ok(Event::Change(change)) => match change.operation::<Tell>() {
                Ok(tell) => Some(WatchEvent::Told(Box::new((*tell).clone()), change.version())),
                Err(fault) => return End::Lost(fault),
            },
            // A new state follows.
            Ok(Event::Gap { .. }) => None,
            Err(end) => return end,
        };
        if let Some(heard) = heard
            && told.post(heard).is_err()
        {
            return End::Completed;
        }
    }
}

/// Returns a line to print, if the event is worth one.
fn line(run: &Run, tell: &Tell) -> Option<String> {
    let part = |step: &str, item: usize| {
        let is_mapped = run.steps.get(step).is_some_and(|step| step.is_mapped);
        if is_mapped { format!("{step}[{item}]") } else { step.to_owned() }
    };
    let seconds = |from: Option<u64>, to: u64| duration(to.saturating_sub(from.unwrap_or(to)) as f64 / 1000.0);
    Some(match &tell.progress {
        Progress::Began { step, item } => {
            let attempts = run.steps.get(step)?.items.as_ref()?.get(*item)?.attempts;
            let again = if attempts > 1 { format!(", attempt {attempts}") } else { String::new() };
            format!("{}: begun{again}", part(step, *item))
        }
        Progress::Job { step, item, job } => format!("{}: job {job}", part(step, *item)),
        Progress::Advanced { step, item, progress } => {
            let percent = (progress.fraction * 100.0).round();
            format!("{}: {percent} %, {}", part(step, *item), progress.stage)
        }
        Progress::Failed { step, item, fault, again_ms } => {
            let name = item.map_or_else(|| step.clone(), |item| part(step, item));
            let again = again_ms.map_or_else(String::new, |ms| format!("; again in {}", duration(ms as f64 / 1000.0)));
            format!("{name}: failed: {} ({}){again}", fault.reason(), fault.code())
        }
        Progress::Succeeded { step, item, cached: Some(CachedAnswer { from: Some(from), .. }), .. } => {
            format!("{}: unchanged; its answer is from {from}", part(step, *item))
        }
        Progress::Skipped { step, reason } => format!("{step}: skipped: {reason}"),
        Progress::Noticed { fault: None, .. } => return None,
        Progress::Noticed { notice, fault: Some(fault) } => {
            format!("{notice}: the message could not be sent: {} ({})", fault.reason(), fault.code())
        }
        Progress::Succeeded { step, item, .. } => {
            let record = run.steps.get(step)?;
            let started = record.items.as_ref()?.get(*item)?.started_ms;
            format!("{}: done after {}", part(step, *item), seconds(started, tell.at_ms))
        }
        Progress::Ended { state, .. } => {
            format!("{}: {state} after {}", tell.run, duration(tell.at_ms as f64 / 1000.0))
        }
        Progress::Expanded { .. } | Progress::Completed { .. } => return None,
    })
}

/// Prints the steps of a run without running it.
fn show(plan: &Plan, workflow: &Workflow, is_json: bool) -> Result<(), Failure> {
    if is_json {
        let text =
            serde_json::to_string_pretty(plan).map_err(|cause| Failure::new(Kind::NoResult, cause.to_string()))?;
        return output::result(&format!("{text}\n"));
    }
    let mut rows = vec![["step", "service", "operation", "after"].map(str::to_owned)];
    for step in &plan.steps {
        let needs: Vec<&str> = step.needs.iter().map(String::as_str).collect();
        let mut name = step.name.clone();
        name.push_str(if step.is_mapped { " (each)" } else { "" });
        name.push_str(if step.is_conditional { " (if)" } else { "" });
        let service = format!("{}{}", step.node.as_deref().unwrap_or_default(), step.service);
        rows.push([name, service, step.operation.clone(), needs.join(", ")]);
    }
    let mut text = left_aligned(&rows);
    let values = plan.parameters.as_object().filter(|values| !values.is_empty());
    if let Some(values) = values {
        let mut rows = vec![["parameter", "value", "meaning"].map(str::to_owned)];
        let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let row = |(name, found): (&String, &Value)| [name.clone(), value(found), workflow.meaning(name).to_owned()];
        rows.extend(values.iter().map(row));
        text = format!("{text}\n{}", left_aligned(&rows));
    }
    output::result(&text)
}
