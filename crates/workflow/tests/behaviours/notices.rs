//! Messages about the end of a run.

use lehr_runtime::block_on;
use lehr_services::Code;
use lehr_workflow::{Begin, Cancel, Resume, Review, RunState};

use super::bench::{World, step};

fn notice(name: &str, operation: &str, more: &str) -> String {
    format!("[notify.{name}]\nservice = '/bench'\noperation = '{operation}'\n{more}\n")
}

#[test]
fn each_end_is_told_once_to_those_who_asked() {
    let world = World::new(2);
    let text = [
        "name = 'told'\noutput = '${shaky.name}'\n".to_owned(),
        notice("all", "say", "with = { name = '${run.name} is ${run.state}: ${run.fault} ${shaky.name | \"\"}' }"),
        notice("good", "say", "on = ['done']\nwith = { name = 'output ${run.output}, ${parameters.who}' }"),
        notice("bad", "say", "on = ['failed', 'cancelled']\nwith = { name = 'failed: ${run.failed.shaky}' }"),
        "[parameters]\nwho = 'me'\n".to_owned(),
        step("shaky", "fail", "times = 1", ""),
    ]
    .concat();
    let run = world.begin(&text);
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.ends), (RunState::Failed, 1));
    assert_eq!(ended.notices.keys().collect::<Vec<_>>(), ["all", "bad"]);
    assert!(ended.notices.values().all(Option::is_none));
    assert_eq!(world.bench.asked(), ["failed: not yet", "shaky", "told-1 is failed: not yet "]);
    block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.ends, ended.notices.len()), (RunState::Done, 2, 2));
    assert_eq!(world.bench.asked(), ["output shaky, me", "shaky", "told-1 is done: null shaky"]);
}

#[test]
fn a_message_that_cannot_be_sent_is_recorded_and_changes_nothing_else() {
    let world = World::new(2);
    let text = [
        "name = 'mute'\noutput = 'well'\n".to_owned(),
        notice("twice", "fail", "with = { name = 'twice', times = 2 }"),
        notice("never", "fail", "with = { name = 'never', times = 9 }"),
        step("say", "say", "", ""),
    ]
    .concat();
    let run = world.begin(&text);
    let mut asked = world.asked(3);
    assert_eq!(asked, ["never", "say", "twice"]);
    // Waits of two and four seconds before the second and the third attempt, for each of the two messages. An attempt
    // that is under way has twenty seconds.
    for wait in [2, 4] {
        for _ in 0..2 {
            let next = loop {
                world.clock.advance(std::time::Duration::from_secs(wait));
                match world.bench.log.try_receive() {
                    Some(name) => break name,
                    None => std::thread::sleep(std::time::Duration::from_millis(200)),
                }
            };
            asked.push(next);
        }
    }
    asked.sort();
    assert_eq!(asked, ["never", "never", "never", "say", "twice", "twice", "twice"]);
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.output), (RunState::Done, "well".into()));
    assert_eq!(ended.notices["twice"], None);
    assert_eq!(ended.notices["never"].as_ref().map(|fault| fault.reason()), Some("not yet"));
    assert!(world.bench.asked().is_empty());
}

#[test]
fn whoever_cancels_while_a_message_is_sent_does_not_wait_for_it() {
    let world = World::new(2);
    let text =
        ["name = 'slow'\n".to_owned(), notice("held", "hold", "with = { name = 'held' }"), step("say", "say", "", "")];
    let run = world.begin(&text.concat());
    world.until_at_gate(1);
    block_on(world.workflows.call(Cancel { run: run.clone() })).unwrap();
    let ended = world.end(&run);
    let fault = ended.notices["held"].as_ref().unwrap();
    assert_eq!((ended.state, fault.code()), (RunState::Done, Code::OperationCancelled));
    assert_eq!(world.bench.asked(), ["held", "say"]);
}

#[test]
fn messages_are_checked_before_anything_runs() {
    let world = World::new(2);
    let text = [
        "name = 'faults'\noutput = '${run.name}'\n".to_owned(),
        notice("one", "sag", ""),
        notice("two", "say", "with = { nam = 1, value = '${run.stat} ${say.no}' }"),
        step("say", "say", "value = '${run.state}'", ""),
    ]
    .concat();
    let fault = block_on(world.workflows.call(Review(Begin::new("a.toml", text.clone())))).unwrap_err();
    assert_eq!(
        fault.reason(),
        "a.toml, line 2, output: expected ${run.name} in a message of notify only\n\
         a.toml, line 14, steps.say.with.value: expected ${run.state} in a message of notify only"
    );
    let text = text.replace("output = '${run.name}'", "").replace("${run.state}", "");
    let fault = block_on(world.workflows.call(Review(Begin::new("a.toml", text)))).unwrap_err();
    assert_eq!(fault.code(), Code::InvalidValue);
    for part in [
        "notify.one.operation: expected an operation of example.org/bench (add, cancel, count, fail, hold, run, say, wait), found \"sag\"",
        "notify.two.with.nam",
        "expected a field of the run (name, workflow, state, seconds, trigger, output, fault, failed), found ${run.stat}",
        "notify.two.with.value: expected a field of the answer of say",
    ] {
        assert!(fault.reason().contains(part), "{part}: {}", fault.reason());
    }
}
