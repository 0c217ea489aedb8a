//! Runs that are cancelled or stopped, or whose node ends. They continue from where they ended.

use lehr_runtime::block_on;
use lehr_services::{Code, Event, Placement, Subscribe};
use lehr_workflow::{Cancel, Remove, Resume, RunState, StepState, Stop, WORKFLOWS, Workflows};

use super::bench::{Bench, World, step};

fn held() -> String {
    [
        "name = 'held'\noutput = '${last.value}'\n".to_owned(),
        step("first", "say", "value = 7", ""),
        step("middle", "hold", "", "after = ['first']"),
        step("last", "say", "value = '${first.value}'", "after = ['middle']"),
    ]
    .concat()
}

#[test]
fn a_run_that_is_cancelled_can_be_taken_up_again() {
    let world = World::new(2);
    let run = world.begin(&held());
    assert_eq!(world.asked(2), ["first", "middle"]);
    // The call has recorded its name, but it may not have reached the gate yet.
    world.until_at_gate(1);
    block_on(world.workflows.call(Cancel { run: run.clone() })).unwrap();
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.steps["middle"].state), (RunState::Cancelled, StepState::Waiting));
    let again = block_on(world.workflows.call(Cancel { run: run.clone() })).unwrap_err();
    assert!(again.reason().contains("is over: it is cancelled"), "{again}");
    // If the cancelled call still waited at the gate, it would take the next token.
    world.until_at_gate(0);

    world.bench.gate.post(()).unwrap();
    block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.output, ended.steps["middle"].attempts()), (RunState::Done, 7.into(), 2));
    assert_eq!(world.bench.asked(), ["last", "middle"]);

    block_on(world.workflows.call(Remove { run: run.clone() })).unwrap();
    let gone = block_on(world.workflows.call(Remove { run })).unwrap_err();
    assert_eq!(gone.code(), Code::UnknownEntry);
}

#[test]
fn a_cancelled_run_cancels_its_jobs_and_a_stopped_one_finds_them_again() {
    let world = World::new(2);
    let text = ["name = 'job'\n".to_owned(), step("work", "run", "", "job = true")].concat();
    let run = world.begin(&text);
    assert_eq!(world.asked(2), ["began work-1", "waited for work-1"]);
    block_on(world.workflows.call(Stop { run: run.clone() })).unwrap();
    assert_eq!(world.end(&run).state, RunState::Stopped);
    block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    assert_eq!(world.asked(1), ["waited for work-1"]);
    block_on(world.workflows.call(Cancel { run: run.clone() })).unwrap();
    assert_eq!(world.end(&run).state, RunState::Cancelled);
    assert_eq!(world.asked(1), ["cancelled work-1"]);
}

#[test]
fn a_job_that_was_being_ordered_when_its_run_was_cancelled_is_cancelled_too() {
    let world = World::new(2);
    let text = ["name = 'job'\n".to_owned(), step("work", "run", "is_slow = true", "job = true")].concat();
    let run = world.begin(&text);
    assert_eq!(world.asked(1), ["began work-1"]);
    world.until_at_gate(1);
    block_on(world.workflows.call(Cancel { run: run.clone() })).unwrap();
    assert_eq!(world.end(&run).state, RunState::Cancelled);
    // The service answers after the run has ended.
    world.bench.gate.post(()).unwrap();
    assert_eq!(world.asked(1), ["cancelled work-1"]);
}

/// Ends the node abruptly after each change of a run in turn. The next node continues the run, and does not repeat
/// finished work.
#[test]
fn a_run_survives_the_end_of_its_node_at_every_change() {
    let text = [
        "name = 'ends'\noutput = '${sum.sum}'\n".to_owned(),
        step("list", "count", "to = 3", ""),
        step("each", "add", "numbers = ['${item}', 1]", "map = '${list.numbers}'\nparallel = 1"),
        step("sum", "add", "numbers = '${each.*.sum}'", ""),
    ]
    .concat();
    let mut changes_seen = 0;
    for lives in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let kept = || Placement::at(WORKFLOWS).keep(folder.path().join("workflows.json"));
        let bench = Bench::new();
        let world = World::with(2, &bench, kept(), Workflows::new(None));
        let (run, done) = block_on(async {
            let mut changes = world.workflows.subscribe(Subscribe::default()).await.unwrap();
            let run = world.workflows.call(lehr_workflow::Begin::new("ends.toml", text.clone())).await.unwrap().run;
            let mut seen = 0;
            loop {
                if let Event::Change(_) = changes.next().await.unwrap() {
                    seen += 1;
                }
                let state = world.workflows.get().await.unwrap();
                let is_over = state.runs.get(&run).is_some_and(|run| run.state.is_over());
                if seen == lives || is_over {
                    break (run, is_over);
                }
            }
        });
        // The dispatcher ends at once, and with it all running work.
        drop(world);
        let world = World::with(2, &bench, kept(), Workflows::new(None));
        let ended = world.end(&run);
        assert_eq!((ended.state, ended.output), (RunState::Done, 9.into()), "after {lives} changes");
        let asked = bench.asked();
        // Work that was running at the end is requested once more; all other work is requested once.
        assert!((5..=6).contains(&asked.len()), "after {lives} changes: {asked:?}");
        changes_seen = lives;
        if done {
            break;
        }
    }
    assert!(changes_seen > 10);
}

#[test]
fn a_node_can_leave_runs_to_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let kept = || Placement::at(WORKFLOWS).keep(folder.path().join("workflows.json"));
    let bench = Bench::new();
    let world = World::with(2, &bench, kept(), Workflows::new(None));
    let run = world.begin(&held());
    assert_eq!(world.asked(2), ["first", "middle"]);
    drop(world);
    let world = World::with(2, &bench, kept(), Workflows::new(None).wait_for_resume());
    let state = block_on(world.workflows.get()).unwrap();
    assert_eq!(state.runs[&run].state, RunState::Stopped);
    drop(state);
    bench.gate.post(()).unwrap();
    block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    assert_eq!(world.end(&run).output, 7);
    assert_eq!(bench.asked(), ["last", "middle"]);
}
