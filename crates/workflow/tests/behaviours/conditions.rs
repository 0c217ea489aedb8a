//! Steps that are skipped, because of their condition or because they need a skipped step.

use lehr_runtime::block_on;
use lehr_services::Code;
use lehr_workflow::{Begin, Resume, Review, Run, RunState, StepState};
use serde_json::json;

use super::bench::{World, step};

fn states(run: &Run) -> Vec<(&str, StepState)> {
    run.steps.iter().map(|(name, step)| (name.as_str(), step.state)).collect()
}

/// A fork: one of two branches runs, and a join takes the answer of the branch that ran.
fn fork(least: i64) -> String {
    [
        format!("name = 'fork'\noutput = {{ value = '${{join.value}}', large = '${{large}}', text = 'small: ${{small.sum}}' }}\n[parameters]\nleast = {least}\n"),
        step("list", "count", "to = 4", ""),
        step("total", "add", "numbers = '${list.numbers}'", ""),
        step("large", "say", "value = '${total.sum}'", "when = { value = '${total.sum}', at_least = '${parameters.least}' }"),
        step("small", "add", "numbers = [1]", "when = { value = '${total.sum}', below = '${parameters.least}' }"),
        step("next", "say", "value = '${large.value}'", ""),
        step("later", "say", "value = 1", "after = ['large']"),
        step("join", "say", "value = '${large.value | small.sum}'", ""),
        step("literal", "say", "value = '${large.value | 0}'", ""),
    ]
    .concat()
}

#[test]
fn a_condition_chooses_between_two_branches_and_a_join_takes_the_one_that_ran() {
    for threads in [1, 2, 8] {
        let world = World::new(threads);
        let run = world.run(&fork(10));
        assert_eq!(run.state, RunState::Done, "{run:#?}");
        assert_eq!(
            run.output,
            json!({ "value": 10, "large": { "value": 10, "name": "large" }, "text": "small: (skipped)" })
        );
        assert_eq!(run.steps["small"].state, StepState::Skipped);
        assert_eq!(run.steps["small"].skipped.as_deref(), Some("10 is not below 10"));
        assert_eq!(run.steps["next"].state, StepState::Done);

        let run = world.run(&fork(11));
        assert_eq!(run.output, json!({ "value": 1, "large": null, "text": "small: 1" }));
        let (done, skipped) = (StepState::Done, StepState::Skipped);
        assert_eq!(
            states(&run),
            [
                ("join", done),
                ("large", skipped),
                ("later", done),
                ("list", done),
                ("literal", done),
                ("next", skipped),
                ("small", done),
                ("total", done),
            ]
        );
        assert_eq!(run.steps["large"].skipped.as_deref(), Some("10 is not at least 11"));
        assert_eq!(run.steps["next"].skipped.as_deref(), Some("it needs large, which was skipped"));
        assert_eq!(run.steps["literal"].output().unwrap()["value"], 0);
    }
}

#[test]
fn a_skipped_step_stays_skipped_when_the_run_resumes_and_is_decided_anew_when_it_is_repeated() {
    let world = World::new(2);
    let text = [
        "name = 'resumed'\n".to_owned(),
        step("flag", "say", "value = false", ""),
        step("never", "say", "", "when = '${flag.value}'"),
        step("shaky", "fail", "times = 1", "after = ['never']"),
    ]
    .concat();
    let run = world.begin(&text);
    assert_eq!(world.end(&run).state, RunState::Failed);
    block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.steps["never"].state), (RunState::Done, StepState::Skipped));
    assert_eq!(world.bench.asked(), ["flag", "shaky", "shaky"]);
    block_on(world.workflows.call(Resume { run: run.clone(), from: Some("flag".into()) })).unwrap();
    let ended = world.end(&run);
    assert_eq!(
        (ended.state, ended.steps["never"].skipped.as_deref()),
        (RunState::Done, Some("${flag.value} is false"))
    );
    assert_eq!(world.bench.asked(), ["flag", "shaky"]);
}

#[test]
fn a_condition_without_true_or_false_fails_its_step() {
    let world = World::new(2);
    let text = [
        "name = 'odd'\n".to_owned(),
        step("say", "say", "value = 3", ""),
        step("next", "say", "", "when = '${say.value}'"),
    ];
    let run = world.run(&text.concat());
    assert_eq!(run.state, RunState::Failed);
    assert_eq!(run.fault.unwrap().reason(), "expected true or false for ${say.value}, found 3");
    assert_eq!(world.bench.asked(), ["say"]);
}

#[test]
fn conditions_and_alternatives_are_checked_before_anything_runs() {
    let world = World::new(2);
    let text = [
        "name = 'faults'\noutput = '${add.sum | add.summe}'\n".to_owned(),
        step("add", "add", "numbers = [1]", "when = { value = 3 }"),
        step("list", "count", "to = '${add.sum | say.name}'", "when = '${add.sum}'"),
        step("say", "say", "", "when = 'yes'"),
        step("last", "say", "", "when = { value = '${add.no}', is = 1, more = 2 }"),
    ]
    .concat();
    let fault = block_on(world.workflows.call(Review(Begin::new("a.toml", text.clone())))).unwrap_err();
    assert_eq!(fault.code(), Code::InvalidValue);
    // Faults of form come first.
    assert!(fault.reason().contains("steps.last.when"), "{}", fault.reason());
    let text = text.replace(", more = 2", "").replace("when = 'yes'", "").replace("when = { value = 3 }", "");
    let fault = block_on(world.workflows.call(Review(Begin::new("a.toml", text)))).unwrap_err();
    assert_eq!(
        fault.reason(),
        "a.toml, line 2, output: expected a field of the answer of add (sum), found \"summe\": ${add.summe}\n\
         a.toml, line 11, steps.list.with.to: expected a whole number, found a reference to a text: ${add.sum | say.name}\n\
         a.toml, line 12, steps.list.when: expected true or false, found a reference to a whole number: ${add.sum}\n\
         a.toml, line 22, steps.last.when.value: expected a field of the answer of add (sum), found \"no\": ${add.no}"
    );
    assert!(world.bench.asked().is_empty());
}
