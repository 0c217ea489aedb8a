//! Several messaging models in one program and on one dispatcher: paper 001 (section 5) requires this of a runtime for
//! many cores.
//!
//! A spawned search, ranks that meet at every stage, a queued simulation and publish-subscribe share two workers. Each
//! model runs alone first, then all four models run at once, with the same ports, handlers and checks.
//!
//! Checked: the results of each model, alone and together, as in its own example. Printed: the time of each model
//! alone, the time of all models together, and the loss compared with running them one after the other on the same
//! workers. `cargo run --release -p lehr-runtime --example messaging_models`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

#[allow(dead_code, reason = "an example of its own, of which this one uses a part")]
#[path = "discrete_event_simulation.rs"]
mod discrete_event_simulation;
#[allow(dead_code, reason = "an example of its own, of which this one uses a part")]
#[path = "publish_subscribe.rs"]
mod publish_subscribe;
#[allow(dead_code, reason = "an example of its own, of which this one uses a part")]
#[path = "rendezvous.rs"]
mod rendezvous;
#[allow(dead_code, reason = "an example of its own, of which this one uses a part")]
#[path = "tree_search.rs"]
mod tree_search;

use std::time::Instant;

use lehr_runtime::Dispatcher;

const QUEENS: u32 = 12;
const RANKS: usize = 8;
const STAGES: usize = 40_000;
const RUNS: usize = 5;

/// A model: its name, and a function that runs it on a dispatcher and checks its result.
type Model<'a> = (&'a str, Box<dyn Fn(&Dispatcher) + Sync + 'a>);

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

fn main() {
    let departures = discrete_event_simulation::sequential();
    let rod = rendezvous::sequential(RANKS, STAGES);
    let models: [Model<'_>; 4] = [
        ("spawned: tree search", Box::new(|on| assert_eq!(tree_search::search(on, QUEENS).0, 14_200))),
        ("rendezvous: ranks on a ring", Box::new(|on| assert_eq!(rendezvous::run(on, RANKS, STAGES), rod))),
        (
            "queued: simulation",
            Box::new(|on| {
                discrete_event_simulation::check(&discrete_event_simulation::simulate(on), &departures);
            }),
        ),
        ("publish and subscribe", Box::new(|on| assert_eq!(publish_subscribe::publish(on), 24_992))),
    ];

    let dispatcher = Dispatcher::new(2).unwrap();
    let mut alone = [f64::INFINITY; 4];
    let mut together = f64::INFINITY;
    for _ in 0..RUNS {
        for ((_, model), best) in models.iter().zip(&mut alone) {
            *best = best.min(seconds(|| model(&dispatcher)));
        }
        let all = seconds(|| {
            std::thread::scope(|scope| {
                // Each caller has its own thread; the models run on the two workers, which they share.
                let callers: Vec<_> = models.iter().map(|(_, model)| scope.spawn(|| model(&dispatcher))).collect();
                callers.into_iter().for_each(|caller| caller.join().expect("every model checks its own result"));
            });
        });
        together = together.min(all);
    }
    for ((name, _), seconds) in models.iter().zip(alone) {
        println!("{name:30} alone {:8.1} ms", seconds * 1e3);
    }
    let sum: f64 = alone.iter().sum();
    println!(
        "all four at once on the same 2 workers: {:.1} ms; one after the other {:.1} ms; loss {:+.1} %",
        together * 1e3,
        sum * 1e3,
        (together / sum - 1.0) * 1e2
    );
}
