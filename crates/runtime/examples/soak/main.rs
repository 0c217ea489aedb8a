//! A soak of the runtime: random worlds of ports, arbiters, panics, cancellations and shutdowns, checked for what was
//! lost.
//!
//! A *world* is a dispatcher of 1, 2 or 8 workers, a handful of ports with random capacities and policies, and a crowd
//! of tasks: posters, and consumers by receive, predicate, take, join, choice, gather, exchange, persistent and
//! one-time receivers, and an interleave. Some tasks panic, some are cancelled at a random moment; half of the worlds
//! are drained, the others aborted in the middle.
//!
//! The sequential model is a ledger (`ledger.rs`): an item comes into being once and ends once, and how it ended is
//! known. Consumed, left in its port, given back to its poster, or discarded and reported: those are the ends an item
//! may have. One that is only dropped has been lost. A port with a single consumer must besides give each poster's
//! items in the poster's order, and the handlers of an interleave must never overlap where their groups forbid it.
//!
//! Before the worlds it repeats some behaviours of the catalogue as often as that says, which the tests cannot take the
//! time for (`tests/runtime/rounds.rs`).
//!
//! `cargo run --release -p lehr-runtime --example soak -- [SECONDS] [SEED]`, or `make soak`. The first world that fails
//! ends the soak with its seed and a code other than 0; a world that does not end within a minute has failed too.
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

/// How long a world may take. They take a few hundredths of a second.
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
        // In a thread of its own, so that a world that hangs can be told from one that takes its time.
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

/// The catalogue's numbers of rounds; a behaviour that fails panics and ends the soak, one that hangs never lets it
/// begin.
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

/// Waits until something is so.
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
