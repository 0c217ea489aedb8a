//! Lehr as a separate runner (`make peers-ports` puts it beside the peers), for measurements that need a new process or
//! a counting allocator.
//!
//! ```text
//! about                            -> {"libraries": {}, "engines": [...]}
//! 0 pending 1000000                -> {"bytes": B, "create_seconds": S, "complete_seconds": S}
//!                                     engine 0: a task and a port each; 1: a task each, a thousand at a port; 3: Port::once, a thousand at a port
//! 2 allocations 100000             -> {"allocations": N}     heap allocations a message, from a post to a handler
//! 2 allocations FORM PATTERN RANKS WORKERS STAGES  -> {"allocations": N}     a stage and rank; FORM rendezvous, persistent, closures or fresh
//! ```
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_macros,
    reason = "a program of the lab, with its own counters and its own door to printing"
)]
#![deny(unsafe_op_in_unsafe_fn)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_lab::measure::timed;
use lehr_lab::ports::pattern::{Form, Pattern, Run};
use lehr_lab::ports::{rendezvous, spawned};
use lehr_runtime::{Dispatcher, Port, block_on};

/// The system's allocator with a counter.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it came, which keeps the contract; the count touches no
// memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Relaxed: the counter is read after all threads that increment it have ended.
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is `System`'s.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Relaxed: as in `alloc`.
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is `System`'s.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RECEIVES_A_PORT: usize = 1000;

/// The number of messages that warm up queues and lists before allocations are counted.
const WARMING: usize = 1000;

const ENGINES: [&str; 4] =
    ["lehr receive, a port each", "lehr receive, shared ports", "lehr Port::on", "lehr once, shared ports"];

fn main() {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the lab keeps the pipe open");
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match words[..] {
            ["about"] => format!("{{\"libraries\": {{}}, \"engines\": {ENGINES:?}}}"),
            ["0", "pending", count] => pending(number(count), 1),
            ["1", "pending", count] => pending(number(count), RECEIVES_A_PORT),
            ["3", "pending", count] => pending_once(number(count), RECEIVES_A_PORT),
            ["2", "allocations", count] => {
                let count = number(count);
                format!("{{\"allocations\": {:e}}}", allocations(count) as f64 / (2 * count) as f64)
            }
            ["2", "allocations", form, pattern, ranks, workers, stages] => {
                let (ranks, workers, stages) = (number(ranks), number(workers), number(stages));
                let pattern = pattern_of(pattern);
                let run = Run { form: Form::Rendezvous, pattern, ranks, workers, units: 0, stages };
                format!("{{\"allocations\": {:e}}}", allocations_a_stage(form, run))
            }
            _ => "{\"absent\": true}".to_string(),
        };
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("the lab reads the answer");
    }
}

fn number(word: &str) -> usize {
    word.parse().expect("a count")
}

fn pattern_of(word: &str) -> Pattern {
    match word {
        "pipeline" => Pattern::Pipeline,
        "shift" => Pattern::Shift,
        "two-shifts" => Pattern::TwoShifts,
        "exchange" => Pattern::Exchange,
        other => panic!("no pattern {other}"),
    }
}

/// Measures tasks that each wait at a port. The figure includes task, receive and port. It excludes the vector of ports
/// to which the messages are posted, and memory that the dispatcher had before.
fn pending(count: usize, receives_a_port: usize) -> String {
    let dispatcher = Dispatcher::new(0).expect("a dispatcher");
    let mut ports: Vec<Option<Port<u64>>> = Vec::new();
    // The vector is touched now, so that its pages do not count as the receives' memory.
    ports.resize_with(count.div_ceil(receives_a_port), || None);
    let left = Arc::new(AtomicUsize::new(count));
    let waiting = Arc::new(AtomicUsize::new(0));
    let before = resident_bytes();
    let (create, ()) = timed(|| {
        for index in 0..count {
            let port = ports[index / receives_a_port].get_or_insert_with(Port::new).clone();
            let (left, waiting) = (left.clone(), waiting.clone());
            dispatcher
                .spawn(async move {
                    // Relaxed: this only counts; the ports themselves synchronise the data.
                    waiting.fetch_add(1, Ordering::Relaxed);
                    assert_eq!(port.receive().await, Ok(1));
                    left.fetch_sub(1, Ordering::Relaxed);
                })
                .detach();
        }
        while waiting.load(Ordering::Relaxed) < count {
            std::hint::spin_loop();
        }
    });
    let bytes = (resident_bytes() - before) / count as f64;
    let (complete, ()) = timed(|| {
        for index in 0..count {
            ports[index / receives_a_port].as_ref().expect("made above").post(1).expect("open");
        }
        while left.load(Ordering::Relaxed) > 0 {
            std::hint::spin_loop();
        }
    });
    format!("{{\"bytes\": {bytes}, \"create_seconds\": {create:e}, \"complete_seconds\": {complete:e}}}")
}

/// Measures handlers that each wait at a port for one item, without a task. The figure includes the receiver and its
/// share of the port's list.
fn pending_once(count: usize, receives_a_port: usize) -> String {
    let dispatcher = Dispatcher::new(0).expect("a dispatcher");
    let mut ports: Vec<Option<Port<u64>>> = Vec::new();
    ports.resize_with(count.div_ceil(receives_a_port), || None);
    let left = Arc::new(AtomicUsize::new(count));
    let before = resident_bytes();
    let (create, ()) = timed(|| {
        for index in 0..count {
            let port = ports[index / receives_a_port].get_or_insert_with(Port::new);
            let left = left.clone();
            port.once(dispatcher.handle(), move |value| {
                assert_eq!(value, 1);
                // Relaxed: this only counts; the ports themselves synchronise the data.
                left.fetch_sub(1, Ordering::Relaxed);
            })
            .detach();
        }
    });
    let bytes = (resident_bytes() - before) / count as f64;
    let (complete, ()) = timed(|| {
        for index in 0..count {
            ports[index / receives_a_port].as_ref().expect("made above").post(1).expect("open");
        }
        while left.load(Ordering::Relaxed) > 0 {
            std::hint::spin_loop();
        }
    });
    format!("{{\"bytes\": {bytes}, \"create_seconds\": {create:e}, \"complete_seconds\": {complete:e}}}")
}

/// Returns the heap allocations of a pattern for each stage and rank. It compares a run with a run of twice as many
/// stages, so the allocations of starting a run do not count.
fn allocations_a_stage(form: &str, run: Run) -> f64 {
    let side = match form {
        "rendezvous" => rendezvous::run,
        "persistent" => spawned::persistent,
        "closures" => spawned::closures,
        "fresh" => spawned::fresh,
        other => panic!("no form {other}"),
    };
    let of = |stages: usize| {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        side(&Run { stages, ..run }).expect("a right result");
        (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64
    };
    let (once, twice) = (of(run.stages), of(2 * run.stages));
    (twice - once) / (run.stages * run.ranks) as f64
}

/// Counts the heap allocations while `count` messages are posted one by one to a persistent receiver, each answered
/// before the next: the uncontended path, after a warm-up.
fn allocations(count: usize) -> usize {
    let dispatcher = Dispatcher::new(1).expect("a dispatcher");
    let (asked, answered) = (Port::new(), Port::new());
    let to = answered.clone();
    let receiver = asked.on(dispatcher.handle(), 1, move |value: u64| {
        to.post(value + 1).expect("open");
        std::future::ready(())
    });
    let client = dispatcher.spawn(async move {
        let mut before = 0;
        for message in 0..(count + WARMING) as u64 {
            if message == WARMING as u64 {
                before = ALLOCATIONS.load(Ordering::Relaxed);
            }
            asked.post(message).expect("open");
            assert_eq!(answered.receive().await, Ok(message + 1));
        }
        ALLOCATIONS.load(Ordering::Relaxed) - before
    });
    let allocations = block_on(client).expect("the client ends");
    drop(receiver);
    allocations
}

/// Returns the resident memory of this process, in bytes.
fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib * 1024.0)
}
