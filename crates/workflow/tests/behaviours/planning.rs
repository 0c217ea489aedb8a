//! Lehr reports all faults of a workflow before running it, in one report.

use lehr_runtime::block_on;
use lehr_services::Code;
use lehr_workflow::{Begin, Review};

use super::bench::{World, step};

fn faults(world: &World, text: &str) -> String {
    let fault = block_on(world.workflows.call(Begin::new("a.toml", text))).unwrap_err();
    assert_eq!(fault.code(), Code::InvalidValue);
    fault.reason().to_owned()
}

#[test]
fn services_operations_and_types_are_told_with_line_and_field() {
    let world = World::new(2);
    let text = "\
name = 'wrong'
output = '${sum.total}'

[parameters]
to = 'many'

[steps.list]
service = '/bench'
operation = 'count'
with = { name = 'list', to = '${parameters.to}', from = 1 }

[steps.sum]
service = '/bench'
operation = 'add'
with = { name = 5, numbers = '${list.name}' }

[steps.each]
service = '/bench'
operation = 'multiply'

[steps.there]
service = '/nowhere'
operation = 'say'

[steps.far]
service = '/bench'
operation = 'say'
with = { name = '${list.numbers}' }
map = '${sum.sum}'
job = true
";
    assert_eq!(
        faults(&world, text),
        "a.toml, line 2, output: expected a field of the answer of sum (sum), found \"total\": ${sum.total}\n\
         a.toml, line 10, steps.list.with.to: expected a whole number, found a reference to a text: ${parameters.to}\n\
         a.toml, line 10, steps.list.with.from: expected one of the fields name, to, found an unknown one\n\
         a.toml, line 15, steps.sum.with.name: expected a text, found 5\n\
         a.toml, line 15, steps.sum.with.numbers: expected a field of the answer of list (numbers), found \"name\": ${list.name}\n\
         a.toml, line 19, steps.each.operation: expected an operation of example.org/bench (add, cancel, count, fail, hold, run, say, wait), found \"multiply\"\n\
         a.toml, line 22, steps.there.service: expected a service, found none: there is no service at /nowhere\n\
         a.toml, line 28, steps.far.with.name: expected a text, found a reference to a list: ${list.numbers}\n\
         a.toml, line 29, steps.far.map: expected a list, found a reference to a whole number: ${sum.sum}"
    );
    // No request reached the bench.
    assert!(world.bench.asked().is_empty());
    assert!(block_on(world.workflows.get()).unwrap().runs.is_empty());
}

#[test]
fn more_than_ten_faults_are_counted() {
    let world = World::new(2);
    let steps: Vec<String> = (0..12).map(|number| step(&format!("s{number}"), "nothing", "", "")).collect();
    let found = faults(&world, &format!("name = 'many'\n{}", steps.concat()));
    assert_eq!(found.lines().count(), 11);
    assert!(found.ends_with("12 faults in all; the first 10 are shown"), "{found}");
}

#[test]
fn a_plan_says_what_would_be_done_and_does_nothing() {
    let world = World::new(2);
    let text =
        ["name = 'plan'\n".to_owned(), step("b", "say", "value = '${a.value}'", ""), step("a", "say", "", "")].concat();
    let plan = block_on(world.workflows.call(Review(Begin::new("a.toml", text)))).unwrap();
    let steps: Vec<(&str, usize)> = plan.steps.iter().map(|step| (step.name.as_str(), step.needs.len())).collect();
    assert_eq!(steps, [("a", 0), ("b", 1)]);
    assert!(world.bench.asked().is_empty());
}

#[test]
fn parameters_that_are_missing_or_unknown_are_told() {
    let world = World::new(2);
    let text = [
        "name = 'a'\n[parameters]\nto = { type = 'integer' }\n".to_owned(),
        step("a", "count", "to = '${parameters.to}'", ""),
    ]
    .concat();
    let mut begin = Begin::new("a.toml", text);
    begin.parameters.insert("ot".to_owned(), 3.into());
    let fault = block_on(world.workflows.call(begin.clone())).unwrap_err();
    assert_eq!(
        fault.reason(),
        "a.toml, line 2, parameters.ot: expected a parameter of the workflow (it has to)\n\
         a.toml, line 3, parameters.to: expected a value, which must be given (--set), found none"
    );
    begin.parameters = [("to".to_owned(), 3.into())].into();
    let run = block_on(world.workflows.call(begin)).unwrap().run;
    assert_eq!(world.end(&run).steps["a"].output().unwrap()["numbers"], serde_json::json!([1, 2, 3]));
}
