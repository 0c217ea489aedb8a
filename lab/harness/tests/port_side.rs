//! Tests the runner `lehr_port_side`: the path of a message allocates nothing, and all waiting receives are completed.

use lehr_lab::runner::{Runner, number};

fn ask(line: &str) -> serde_json::Value {
    let program = env!("CARGO_BIN_EXE_lehr_port_side");
    Runner::start("port_side", program, std::iter::empty::<&str>()).unwrap().ask(line).unwrap()
}

#[test]
fn a_message_from_its_post_to_its_handler_and_back_allocates_nothing() {
    let answer = ask("2 allocations 20000");
    assert_eq!(number(&answer, "allocations").unwrap(), 0.0);
}

#[test]
fn a_stage_of_a_rendezvous_allocates_nothing_on_one_worker() {
    for pattern in ["pipeline 1", "shift 2", "two-shifts 2", "exchange 2"] {
        let answer = ask(&format!("2 allocations rendezvous {pattern} 1 20000"));
        // Queues grow to their size only once, not in each stage.
        assert!(number(&answer, "allocations").unwrap().abs() < 0.001, "{pattern}: {answer}");
    }
}

#[test]
fn a_fresh_task_is_one_allocation_so_the_counter_counts() {
    let answer = ask("2 allocations fresh shift 2 1 20000");
    // The number of allocations that start a run differs slightly between the two runs.
    assert!(number(&answer, "allocations").unwrap() > 0.9, "{answer}");
}

#[test]
fn receives_that_wait_are_all_completed_and_take_memory() {
    for engine in [0, 1, 3] {
        let answer = ask(&format!("{engine} pending 20000"));
        assert!(number(&answer, "complete_seconds").unwrap() > 0.0, "engine {engine}: {answer}");
        assert!(number(&answer, "bytes").unwrap() < 4096.0, "engine {engine}: {answer}");
    }
}
