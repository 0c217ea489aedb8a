//! Steps that take the answer of an earlier run.

use lehr_jobs::datasets::{Datasets, Put, Remove};
use lehr_jobs::{DatasetService, Handle, Table};
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{Host, Placement, Reference};
use lehr_workflow::{Begin, Resume, Run, RunState, WORKFLOWS, Wait, WorkflowState, Workflows};
use serde_json::json;

use super::bench::{Bench, step};

/// A host with a bench, data sets and workflows; the runs are kept in a folder.
struct World {
    _host: Host,
    bench: Bench,
    datasets: Reference<Datasets>,
    workflows: Reference<WorkflowState>,
    // Dropped last, after the host.
    _dispatcher: Dispatcher,
}

impl World {
    fn new(folder: &std::path::Path) -> Self {
        let dispatcher = Dispatcher::new(2).unwrap();
        let (host, bench) = (Host::new(dispatcher.handle()), Bench::new());
        let made = bench.clone();
        let (datasets, workflows) = block_on(async {
            host.start("/bench", move || made.clone()).await.unwrap();
            let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
            let placement = Placement::at(WORKFLOWS).keep(folder.join("workflows.json"));
            (datasets, host.start(placement, || Workflows::new(None)).await.unwrap())
        });
        Self { _host: host, bench, datasets, workflows, _dispatcher: dispatcher }
    }

    fn run(&self, begin: Begin) -> Run {
        let run = block_on(self.workflows.call(begin)).unwrap().run;
        block_on(self.workflows.call(Wait::for_run(run))).unwrap()
    }

    fn put(&self, name: &str, value: f64) {
        let table = Table::builder().numbers("x", vec![value]).build().unwrap();
        block_on(self.datasets.call(Put { name: name.to_owned(), table: Handle(table), replace: true })).unwrap();
    }
}

fn sums(more: &str) -> Begin {
    let text = [
        format!("name = 'sums'\ncache = true\noutput = '${{total.sum}}'\n[parameters]\nto = 3\n{more}"),
        step("list", "count", "to = '${parameters.to}'", ""),
        step("double", "add", "numbers = ['${item}', '${item}']", "map = '${list.numbers}'"),
        step("total", "add", "numbers = '${double.*.sum}'", ""),
        step("note", "say", "value = '${total.sum}'", "cache = false"),
    ]
    .concat();
    Begin::new("sums.toml", text)
}

#[test]
fn unchanged_steps_take_the_answer_of_an_earlier_run_even_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    let first = world.run(sums(""));
    assert_eq!((first.state, first.output), (RunState::Done, json!(12)), "{:?}", first.fault);
    assert_eq!(world.bench.asked(), ["double", "double", "double", "list", "note", "total"]);
    drop(world);
    let world = World::new(folder.path());
    let second = world.run(sums(""));
    assert_eq!(second.output, json!(12));
    assert_eq!(world.bench.asked(), ["note"]);
    let from = |run: &Run, step: &str| {
        run.steps[step].items.as_ref().unwrap()[0].cached.as_ref().and_then(|cached| cached.from.clone())
    };
    assert_eq!((from(&second, "total"), from(&second, "note")), (Some("sums-1".to_owned()), None));
    // One more item: the step over the items does only this one.
    let mut begin = sums("");
    begin.parameters.insert("to".into(), 4.into());
    assert_eq!(world.run(begin).output, json!(20));
    assert_eq!(world.bench.asked(), ["double", "list", "note", "total"]);
    // A client can refuse old answers, for a whole run and from a step on.
    let again = world.run(Begin { no_cache: true, ..sums("") });
    assert_eq!(world.bench.asked(), ["double", "double", "double", "list", "note", "total"]);
    let run = format!("sums-{}", again.number);
    block_on(world.workflows.call(Resume { run: run.clone(), from: Some("total".into()) })).unwrap();
    block_on(world.workflows.call(Wait::for_run(run))).unwrap();
    assert_eq!(world.bench.asked(), ["note", "total"]);
}

#[test]
fn changed_data_are_not_taken_for_the_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    let begin = || {
        let text = [
            "name = 'data'\ncache = true\noutput = '${look.value}'\n".to_owned(),
            step("look", "say", "value = { input = 'sites', more = ['out'] }", ""),
        ];
        Begin::new("data.toml", text.concat())
    };
    let asked = |expected: usize, what: &str| {
        world.run(begin());
        assert_eq!(world.bench.asked().len(), expected, "{what}");
    };
    asked(1, "the first run");
    asked(0, "nothing has changed");
    world.put("sites", 1.0);
    asked(1, "the input is there now");
    asked(0, "nothing has changed");
    world.put("sites", 2.0);
    asked(1, "the input has changed");
    world.put("sites", 1.0);
    asked(0, "the input is as it was");
    // The answer names both data sets, so both must have the contents of that time.
    world.put("out", 1.0);
    asked(1, "an output is there now");
    asked(0, "nothing has changed");
    block_on(world.datasets.call(Remove { name: "out".into() })).unwrap();
    asked(0, "as before the output was there");
    world.put("out", 2.0);
    asked(1, "the output has changed");
}

#[test]
fn an_answer_does_not_count_if_its_data_changed_while_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    let text = [
        "name = 'hold'\ncache = true\n".to_owned(),
        "[steps.sites]\nservice = '/bench'\noperation = 'hold'\nwith = { name = 'sites' }\n".to_owned(),
    ]
    .concat();
    world.put("sites", 1.0);
    let run = block_on(world.workflows.call(Begin::new("hold.toml", text.clone()))).unwrap().run;
    block_on(world.bench.log.take(1)).unwrap();
    // The bench has the request with the old data, and answers after they have changed.
    world.put("sites", 2.0);
    world.bench.gate.post(()).unwrap();
    let ended = block_on(world.workflows.call(Wait::for_run(run))).unwrap();
    assert_eq!((ended.state, &ended.steps["sites"].items.as_ref().unwrap()[0].cached), (RunState::Done, &None));
    for (asked, what) in [(1, "the answer of the old data does not count"), (0, "this one does")] {
        world.bench.gate.post(()).unwrap();
        world.run(Begin::new("hold.toml", text.clone()));
        assert_eq!(world.bench.asked().len(), asked, "{what}");
    }
}

#[test]
fn the_answer_that_begins_a_job_is_not_the_answer_of_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    let begin = |more: &str| {
        let text =
            ["name = 'work'\ncache = true\noutput = '${work.state}'\n".to_owned(), step("work", "run", "", more)];
        Begin::new("work.toml", text.concat())
    };
    assert_eq!(world.run(begin("")).output, json!("queued"));
    for _ in 0..2 {
        // The cache asks whether the job is still there.
        world.bench.gate.post(()).unwrap();
        world.bench.gate.post(()).unwrap();
        assert_eq!(world.run(begin("job = true")).output, json!("done"));
    }
    let asked = world.bench.asked();
    assert_eq!(asked.iter().filter(|asked| asked.starts_with("began")).count(), 2, "{asked:?}");
    assert_eq!(world.run(begin("")).output, json!("queued"));
}
