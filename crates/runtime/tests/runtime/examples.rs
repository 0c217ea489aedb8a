//! Runs every example to its end. The examples check their own results, so a wrong one ends with an error.
//!
//! Cargo builds the examples before it runs all tests of a package. If you ask for this test program alone, there may be
//! no examples, and these tests pass.

use std::process::Command;

/// Runs an example, and returns what it printed; `None` if it was not built.
fn run(name: &str) -> Option<String> {
    let tests = std::env::current_exe().expect("a test knows its program");
    let example = tests.parent()?.parent()?.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if !example.exists() {
        return None;
    }
    let output = Command::new(&example).output().expect("an example starts");
    let (printed, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {}\n{printed}{complaint}", output.status);
    Some(printed.into_owned())
}

fn prints(name: &str, expected: &[&str]) {
    let Some(printed) = run(name) else { return };
    for part in expected {
        assert!(printed.contains(part), "{name} printed no {part:?}:\n{printed}");
    }
}

#[test]
fn spawned_rendezvous_queued_and_published_messages_share_a_runtime() {
    prints("messaging_models", &["spawned", "rendezvous", "queued", "publish and subscribe", "all four at once"]);
}

#[test]
fn a_search_spawns_its_tree() {
    prints("tree_search", &["10 queens, 1 workers: 724 solutions", "12 queens, 2 workers: 14200 solutions"]);
}

#[test]
fn ranks_meet_at_every_stage() {
    prints("rendezvous", &[]);
}

#[test]
fn events_are_simulated_in_the_order_of_their_times() {
    prints("discrete_event_simulation", &[]);
}

#[test]
fn subscribers_get_what_is_published() {
    prints("publish_subscribe", &[]);
}

#[test]
fn questions_find_their_way_over_an_overlay() {
    prints("overlay", &["32000 questions and answers among 8 dispatchers"]);
}

#[test]
fn a_stream_flows_through_its_stages() {
    prints("streamed_dataflow", &[]);
}

#[test]
fn messages_bring_their_handlers() {
    prints("active_messages", &[]);
}

#[test]
fn the_examples_that_measure_end() {
    for name in ["figures", "interleave_rates", "pending_receives"] {
        prints(name, &[]);
    }
}
