//! A soak of the runtime: random worlds of ports, arbiters, panics, cancellations and shutdowns, checked for lost
//! items.
//!
//! A *world* is a dispatcher of 1, 2 or 8 workers, some ports with random capacities and policies, and many tasks. The
//! tasks post, and consume by receive, predicate, take, join, choice, gather, exchange, persistent and one-time
//! receivers, and an interleave. Some tasks panic, and some are cancelled at a random moment. Half of the worlds are
//! drained, and the other worlds are aborted in the middle.
//!
//! The sequential model is a ledger (`ledger.rs`): an item is made once and ends once, in a known way. An item may be
//! consumed, left in its port, given back to its poster, discarded and reported, or withdrawn with a cancelled post. An
//! item that is only dropped has been lost. In addition, a port with a single consumer must give each poster's items in
//! the poster's order. The handlers of an interleave must never overlap if their groups forbid it.
//!
//! Before the worlds, the soak repeats some behaviours of the catalogue as often as the catalogue requires, for which
//! the tests have no time (`tests/runtime/rounds.rs`).
//!
//! `cargo run --release -p lehr-runtime --example soak -- [SECONDS] [SEED]`, or `make soak`. The first world that fails
//! ends the soak, which prints the world's seed and exits with a code other than 0. A world that does not end within a
//! minute has failed too.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "an example prints, reads a clock, and counts from threads of its own"
)]

mod ledger;
#[path = "../../tests/runtime/rounds.rs"]
mod rounds;
mod world;

use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The maximum time for a world; a world usually takes a few hundredths of a second.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(60, |text| text.parse().expect("how many seconds"));
    let first: u64 = arguments.next().map_or(1, |text| text.parse().expect("the seed of the first world"));
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<&str>().copied();
        if text != Some(world::INJECTED) {
            usual(panic);
        }
    }));
    if seconds > 0 {
        for threads in [1, 2, 8] {
            repeat(threads);
        }
    }
    let start = Instant::now();
    let (mut worlds, mut sum, mut shown) = (0_u64, ledger::Summary::default(), start);
    for seed in first.. {
        if start.elapsed() >= Duration::from_secs(seconds) && worlds > 0 {
            break;
        }
        // Each world runs in its own thread, so that a world that hangs is noticed.
        let (told, tell) = mpsc::channel();
        std::thread::spawn(move || {
            let _ = told.send(std::panic::catch_unwind(|| world::run(seed)));
        });
        match tell.recv_timeout(PATIENCE) {
            Ok(Ok(Ok(summary))) => sum.add(&summary),
            Ok(Ok(Err(fault))) => fail(seed, &fault),
            Ok(Err(_)) => fail(seed, "a check of the world itself panicked"),
            Err(_) => fail(seed, "the world did not end within a minute"),
        }
        worlds += 1;
        if shown.elapsed() >= Duration::from_secs(10) {
            shown = Instant::now();
            println!("{:5} s, {worlds} worlds: {sum}", start.elapsed().as_secs());
        }
    }
    println!("soaked {} s, {worlds} worlds, nothing lost and nothing twice: {sum}", start.elapsed().as_secs());
}

/// Runs the numbers of rounds in the catalogue. A behaviour that fails panics and ends the soak; a behaviour that hangs
/// prevents the worlds from starting.
fn repeat(threads: usize) {
    const ROUNDS: usize = 1_000_000;
    let dispatcher = lehr_runtime::Dispatcher::new(threads).expect("threads");
    for (name, behaviour) in [
        ("competing joins (23)", rounds::competing_joins as fn(&lehr_runtime::Dispatcher, usize)),
        ("takes of two (25)", rounds::takes_of_two),
        ("interleaves on a busy port (18)", rounds::interleaves_on_a_busy_port),
    ] {
        let start = Instant::now();
        behaviour(&dispatcher, ROUNDS);
        println!("{ROUNDS} rounds of {name} on {threads} workers: {:.1} s", start.elapsed().as_secs_f64());
    }
}

/// Waits until `is_so` returns true.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_micros(20));
    }
}

fn fail(seed: u64, fault: &str) -> ! {
    eprintln!("world {seed} failed: {fault}");
    eprintln!("again: cargo run --release -p lehr-runtime --example soak -- 0 {seed}");
    std::process::exit(1);
}
