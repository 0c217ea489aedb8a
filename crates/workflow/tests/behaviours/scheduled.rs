//! Runs that a node begins by itself.

use std::time::Duration;

use lehr_jobs::datasets::{Datasets, Put, Remove};
use lehr_jobs::{DatasetService, Handle, Table};
use lehr_runtime::{Builder, Clock, Dispatcher, block_on};
use lehr_services::{Code, Fault, Host, Placement, Reference, Subscribe};
use lehr_workflow::{Begin, Run, RunState, Schedule, Scheduled, Unschedule, WORKFLOWS, WorkflowState, Workflows};

use super::bench::{Bench, step};

/// A node with a bench, data sets and workflows, all kept in a folder.
struct World {
    _host: Host,
    bench: Bench,
    datasets: Reference<Datasets>,
    workflows: Reference<WorkflowState>,
    clock: Clock,
    // Dropped last, after the host.
    _dispatcher: Dispatcher,
}

impl World {
    fn at(folder: &std::path::Path, clock: Clock) -> Self {
        let dispatcher = Builder::new().threads(2).clock(clock.clone()).start().unwrap();
        let (host, bench) = (Host::new(dispatcher.handle()), Bench::new());
        let made = bench.clone();
        let (datasets, workflows) = block_on(async {
            host.start("/bench", move || made.clone()).await.unwrap();
            let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
            let placement = Placement::at(WORKFLOWS).keep(folder.join("workflows.json"));
            (datasets, host.start(placement, || Workflows::new(None)).await.unwrap())
        });
        Self { _host: host, bench, datasets, workflows, clock, _dispatcher: dispatcher }
    }

    fn schedule(&self, text: &str) -> Result<Scheduled, Fault> {
        block_on(self.workflows.call(Schedule(Begin::new("test.toml", text))))
    }

    /// Waits until the document is as wanted.
    fn until(&self, is_wanted: impl Fn(&WorkflowState) -> bool) {
        block_on(async {
            let mut changes = self.workflows.subscribe(Subscribe::default()).await.unwrap();
            while !is_wanted(&self.workflows.get().await.unwrap()) {
                changes.next().await.unwrap();
            }
        });
    }

    fn until_runs(&self, count: usize) -> Vec<Run> {
        self.until(|state| state.runs.len() == count && state.runs.values().all(|run| run.state.is_over()));
        let state = block_on(self.workflows.get()).unwrap();
        let mut runs: Vec<Run> = state.runs.values().cloned().collect();
        runs.sort_by_key(|run| run.number);
        runs
    }

    /// Waits for a request to the bench.
    fn asked_one(&self) -> String {
        block_on(self.bench.log.take(1)).unwrap().remove(0)
    }

    fn put(&self, name: &str, value: f64) {
        let table = Table::builder().numbers("x", vec![value]).build().unwrap();
        block_on(self.datasets.call(Put { name: name.to_owned(), table: Handle(table), replace: true })).unwrap();
    }

    /// Advances the clock when the task of the schedules waits for a timer.
    fn advance(&self, seconds: u64) {
        self.clock.wait_for_timers(1);
        self.clock.advance(Duration::from_secs(seconds));
    }
}

const HOUR: u64 = 3_600_000;

#[test]
fn a_node_begins_runs_at_their_times_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path(), Clock::virtual_time());
    let text = [
        "name = 'often'\n[triggers.hourly]\nevery_seconds = 3600\n[triggers.early]\nat = '00:30'\ndays = ['thursday']\n".to_owned(),
        step("hold", "hold", "", ""),
    ]
    .concat();
    // The virtual clock begins on Thursday, 1970-01-01.
    let scheduled = world.schedule(&text).unwrap();
    assert_eq!((scheduled.triggers["hourly"].due_ms, scheduled.triggers["early"].due_ms), (Some(HOUR), Some(HOUR / 2)));
    for _ in 0..30 {
        assert!(block_on(world.workflows.get()).unwrap().runs.is_empty());
        world.advance(60);
    }
    world.until(|state| state.runs.len() == 1);
    assert_eq!(world.asked_one(), "hold");
    // The hour is over while the run is under way, and again an hour later: one run waits.
    for _ in 0..91 {
        world.advance(60);
    }
    world.until(|state| state.schedules["often"].pending.is_some());
    world.until(|state| state.schedules["often"].triggers["hourly"].due_ms == Some(3 * HOUR));
    assert_eq!(block_on(world.workflows.get()).unwrap().runs.len(), 1);
    world.bench.gate.post(()).unwrap();
    assert_eq!(world.asked_one(), "hold");
    world.bench.gate.post(()).unwrap();
    let runs = world.until_runs(2);
    let triggers: Vec<_> = runs.iter().map(|run| (run.trigger.as_deref(), run.state)).collect();
    assert_eq!(triggers, [(Some("early"), RunState::Done), (Some("hourly"), RunState::Done)]);
    assert_eq!(runs[0].begun_ms, HOUR / 2);
    assert!(block_on(world.workflows.get()).unwrap().schedules["often"].pending.is_none());
    block_on(world.workflows.call(Unschedule { workflow: "often".into() })).unwrap();
    let fault = block_on(world.workflows.call(Unschedule { workflow: "often".into() })).unwrap_err();
    assert_eq!((fault.code(), fault.reason()), (Code::UnknownEntry, "no schedule of \"often\" (there are none)"));
}

#[test]
fn a_changed_data_set_begins_a_run_and_an_unchanged_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path(), Clock::virtual_time());
    let text = ["name = 'data'\n[triggers.new]\ndataset = 'sites'\n".to_owned(), step("say", "say", "", "")].concat();
    world.put("sites", 1.0);
    world.schedule(&text).unwrap();
    world.put("others", 1.0);
    world.put("sites", 1.0);
    world.put("sites", 2.0);
    let runs = world.until_runs(1);
    assert_eq!(runs[0].trigger.as_deref(), Some("new"));
    block_on(world.datasets.call(Remove { name: "sites".into() })).unwrap();
    world.put("sites", 2.0);
    world.put("sites", 3.0);
    world.until_runs(2);
    assert_eq!(world.bench.asked(), ["say", "say"]);
}

#[test]
fn a_node_that_was_down_begins_what_was_due_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        "name = 'kept'\n[triggers.hourly]\nevery_seconds = 3600\n[triggers.new]\ndataset = 'sites'\n".to_owned(),
        step("say", "say", "", ""),
    ]
    .concat();
    {
        let world = World::at(folder.path(), Clock::virtual_time());
        world.schedule(&text).unwrap();
    }
    // Five hours later; nothing happens at the start before the data set is there.
    let clock = Clock::virtual_time();
    clock.advance(Duration::from_secs(5 * 3600 + 60));
    let world = World::at(folder.path(), clock);
    let runs = world.until_runs(1);
    assert_eq!((runs[0].trigger.as_deref(), runs[0].begun_ms), (Some("hourly"), 5 * HOUR + 60_000));
    assert_eq!(block_on(world.workflows.get()).unwrap().schedules["kept"].triggers["hourly"].due_ms, Some(6 * HOUR));
    world.put("sites", 1.0);
    assert_eq!(world.until_runs(2)[1].trigger.as_deref(), Some("new"));
}

#[test]
fn a_schedule_that_is_sent_again_forgets_no_change_and_never_runs_twice_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path(), Clock::virtual_time());
    let text = |about: &str| {
        let head = format!("name = 'again'\nabout = '{about}'\n[triggers.new]\ndataset = 'sites'\n");
        [head, step("hold", "hold", "", "")].concat()
    };
    world.schedule(&text("first")).unwrap();
    world.put("sites", 1.0);
    assert_eq!(world.asked_one(), "hold");
    // Another change comes while the run is under way; the schedule is replaced, and removed and set again.
    world.put("sites", 2.0);
    world.until(|state| state.schedules["again"].pending.is_some());
    world.schedule(&text("second")).unwrap();
    assert!(block_on(world.workflows.get()).unwrap().schedules["again"].pending.is_some());
    block_on(world.workflows.call(Unschedule { workflow: "again".into() })).unwrap();
    world.schedule(&text("third")).unwrap();
    world.put("sites", 3.0);
    world.until(|state| state.schedules["again"].pending.is_some());
    assert_eq!(block_on(world.workflows.get()).unwrap().runs.len(), 1);
    world.bench.gate.post(()).unwrap();
    assert_eq!(world.asked_one(), "hold");
    world.bench.gate.post(()).unwrap();
    let runs = world.until_runs(2);
    assert!(runs[1].definition.contains("third"));
}

#[test]
fn a_run_that_cannot_begin_is_in_the_history_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        "name = 'broken'\n[triggers.hourly]\nevery_seconds = 3600\n[notify.me]\nservice = '/bench'\noperation = 'say'\n\
         with = { name = '${run.state} by ${run.trigger}: ${run.fault}' }\n"
            .to_owned(),
        step("read", "say", "", "").replace("/bench", "/datasets").replace("say", "read").replace("with = { name = 'read',  }", "with = { name = 'sites' }"),
    ]
    .concat();
    let world = World::at(folder.path(), Clock::virtual_time());
    world.schedule(&text).unwrap();
    block_on(world.datasets.drop_service()).unwrap();
    for _ in 0..60 {
        world.advance(60);
    }
    let runs = world.until_runs(1);
    let fault =
        "test.toml, line 9, steps.read.service: expected a service, found none: there is no service at /datasets";
    assert_eq!((runs[0].state, runs[0].fault.as_ref().map(|fault| fault.reason())), (RunState::Failed, Some(fault)));
    assert_eq!(world.bench.asked(), [format!("failed by hourly: {fault}")]);
}

#[test]
fn a_schedule_needs_triggers_and_each_says_one_thing() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path(), Clock::virtual_time());
    let one = step("say", "say", "", "");
    let fault = world.schedule(&format!("name = 'none'\n{one}")).unwrap_err();
    assert_eq!(
        (fault.code(), fault.reason()),
        (Code::InvalidValue, "test.toml: expected a table triggers that says when a run begins, found none")
    );
    let text =
        format!("name = 'odd'\n[triggers.a]\nat = '25:00'\n[triggers.b]\nevery_seconds = 1\ndataset = 'x'\n{one}");
    let fault = world.schedule(&text).unwrap_err();
    assert_eq!(
        fault.reason(),
        "test.toml, line 2, triggers.a: expected a time of the day from 00:00 to 23:59, found \"25:00\"\n\
         test.toml, line 4, triggers.b: expected one of every_seconds, at and dataset"
    );
}
