//! Runs that are neither cancelled nor stopped.

use lehr_runtime::block_on;
use lehr_services::{Event, Subscribe};
use lehr_workflow::{Resume, RunState, StepState, Tell};
use serde_json::json;

use super::bench::{World, step};

#[test]
fn values_go_from_step_to_step_through_pipes_fans_joins_and_lists() {
    for threads in [1, 2, 8] {
        let world = World::new(threads);
        let text = [
            "name = 'sums'\noutput = { total = '${join.sum}', each = '${double.*.sum}', text = 'n = ${list.numbers.2}' }\n[parameters]\nto = 4\n"
                .to_owned(),
            step("list", "count", "to = '${parameters.to}'", ""),
            step("double", "add", "numbers = ['${item}', '${item}']", "map = '${list.numbers}'\nparallel = 2"),
            step("left", "add", "numbers = '${list.numbers}'", ""),
            step("right", "say", "value = { at = ['${double.0.sum}', '${double.3.sum}'] }", ""),
            step("join", "add", "numbers = ['${left.sum}', '${right.value.at.0}', '${right.value.at.1}']", ""),
        ]
        .concat();
        let run = world.run(&text);
        assert_eq!(run.state, RunState::Done, "{run:#?}");
        assert_eq!(run.output, json!({ "total": 10 + 2 + 8, "each": [2, 4, 6, 8], "text": "n = 3" }));
        assert_eq!(world.bench.asked(), ["double", "double", "double", "double", "join", "left", "list", "right"]);
        assert!(run.steps.values().all(|step| step.state == StepState::Done && step.ended_ms >= step.started_ms));
    }
}

#[test]
fn a_list_of_nothing_is_done_at_once() {
    let world = World::new(2);
    let text = ["name = 'none'\noutput = '${each}'\n".to_owned(), step("each", "say", "value = '${item}'", "map = []")]
        .concat();
    let run = world.run(&text);
    assert_eq!((run.state, run.output), (RunState::Done, json!([])));
    assert!(world.bench.asked().is_empty());
}

#[test]
fn a_step_is_tried_again_after_waits_that_grow() {
    let world = World::new(2);
    let retry = "retry = { count = 3, backoff_seconds = 10, factor = 3 }";
    let text = ["name = 'again'\n".to_owned(), step("shaky", "fail", "times = 2", retry)].concat();
    let run = world.begin(&text);
    for wait in [10, 30] {
        world.clock.wait_for_timers(1);
        let before = world.clock.now();
        assert!(world.clock.advance_to_next());
        assert_eq!((world.clock.now() - before).as_secs(), wait);
    }
    let run = world.end(&run);
    assert_eq!((run.state, run.steps["shaky"].attempts(), run.elapsed_ms), (RunState::Done, 3, 40_000));
    assert_eq!(world.bench.asked(), ["shaky"; 3]);
}

#[test]
fn a_step_takes_as_long_as_its_answer_does() {
    let world = World::new(2);
    let text =
        ["name = 'long'\n".to_owned(), step("long", "hold", "", ""), step("next", "say", "", "after = ['long']")];
    let run = world.begin(&text.concat());
    assert_eq!(world.asked(1), ["long"]);
    world.clock.advance(std::time::Duration::from_secs(5));
    world.bench.gate.post(()).unwrap();
    let run = world.end(&run);
    let times = |step: &str| (run.steps[step].started_ms, run.steps[step].ended_ms);
    assert_eq!((times("long"), times("next")), ((Some(0), Some(5000)), (Some(5000), Some(5000))));
}

#[test]
fn a_failure_that_stands_ends_the_run_and_what_runs_comes_to_its_end() {
    let world = World::new(2);
    let text = [
        "name = 'fails'\n".to_owned(),
        step("slow", "hold", "", ""),
        step("bad", "fail", "times = 9", ""),
        step("after", "say", "value = '${slow.name}'", ""),
    ]
    .concat();
    let run = world.begin(&text);
    assert_eq!(world.asked(2), ["bad", "slow"]);
    // The document shows the failure before the other step ends.
    block_on(async {
        let mut changes = world.workflows.subscribe(Subscribe::default()).await.unwrap();
        while world.workflows.get().await.unwrap().runs[&run].steps["bad"].state != StepState::Failed {
            changes.next().await.unwrap();
        }
    });
    world.bench.gate.post(()).unwrap();
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.fault.as_ref().map(|fault| fault.reason())), (RunState::Failed, Some("not yet")));
    assert_eq!((ended.steps["slow"].state, ended.steps["after"].state), (StepState::Done, StepState::Waiting));

    // The resumed run does not repeat finished steps.
    assert!(world.bench.asked().is_empty());
    for _ in 0..8 {
        block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
        assert_eq!(world.end(&run).state, RunState::Failed);
    }
    block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    assert_eq!(world.end(&run).state, RunState::Done);
    assert_eq!(world.bench.asked().iter().filter(|name| *name == "slow").count(), 0);
}

#[test]
fn a_run_is_done_again_from_a_step() {
    let world = World::new(2);
    let text = [
        "name = 'again'\noutput = '${c.value}'\n".to_owned(),
        step("a", "say", "value = 1", ""),
        step("b", "say", "value = '${a.value}'", ""),
        step("c", "say", "value = '${b.value}'", ""),
        step("d", "say", "value = '${a.value}'", ""),
    ]
    .concat();
    let run = world.begin(&text);
    assert_eq!((world.end(&run).output, world.bench.asked().len()), (json!(1), 4));
    block_on(world.workflows.call(Resume { run: run.clone(), from: Some("b".to_owned()) })).unwrap();
    let again = world.end(&run);
    assert_eq!((again.state, again.output, again.part), (RunState::Done, json!(1), 2));
    assert_eq!(world.bench.asked(), ["b", "c"]);
    let no_step = block_on(world.workflows.call(Resume { run: run.clone(), from: Some("x".to_owned()) })).unwrap_err();
    assert!(no_step.reason().contains("no step \"x\""), "{no_step}");
    assert!(block_on(world.workflows.call(Resume { run, from: None })).is_err());
}

#[test]
fn a_step_of_a_job_ends_when_the_job_does() {
    let world = World::new(2);
    let text = ["name = 'jobs'\noutput = '${work.job}'\n".to_owned(), step("work", "run", "", "job = true")].concat();
    world.bench.gate.post(()).unwrap();
    let run = world.run(&text);
    assert_eq!((run.state, run.output), (RunState::Done, json!("work-1")));
    let text = ["name = 'jobs'\n".to_owned(), step("bad", "run", "", "job = true")].concat();
    world.bench.gate.post(()).unwrap();
    let run = world.run(&text);
    assert_eq!(run.state, RunState::Failed);
    assert!(run.fault.unwrap().reason().contains("job bad-2 has failed"));
}

#[test]
fn an_answer_that_is_too_large_for_a_document_is_a_fault() {
    let world = World::new(2);
    let text = ["name = 'large'\n".to_owned(), step("list", "count", "to = 1000000", "")].concat();
    let run = world.run(&text);
    assert_eq!(run.state, RunState::Failed);
    assert!(run.fault.unwrap().reason().contains("pass it by the name of a data set"));
}

#[test]
fn who_hears_the_changes_has_the_document() {
    let world = World::new(8);
    let text = [
        "name = 'heard'\noutput = '${b}'\n".to_owned(),
        step("first", "hold", "", ""),
        step("a", "count", "to = 5", "after = ['first']"),
        step("b", "say", "value = '${item}'", "map = '${a.numbers}'"),
    ]
    .concat();
    let id = world.begin(&text);
    world.asked(1);
    block_on(async {
        let mut changes = world.workflows.subscribe(Subscribe::default().keys([&id])).await.unwrap();
        let Event::Seed(state) = changes.next().await.unwrap() else { panic!("the state comes first") };
        let mut mine = state.runs[&id].clone();
        assert_eq!((mine.state, mine.steps["first"].state), (RunState::Running, StepState::Running));
        world.bench.gate.post(()).unwrap();
        while !mine.state.is_over() {
            let Event::Change(change) = changes.next().await.unwrap() else { panic!("a queue of 256 holds this run") };
            let tell = change.operation::<Tell>().unwrap();
            mine.apply(&tell.progress, tell.at_ms);
        }
        let state = world.workflows.get().await.unwrap();
        assert_eq!(Some(&mine), state.runs.get(&id));
        assert_eq!(mine.output.as_array().map(Vec::len), Some(5));
    });
}
