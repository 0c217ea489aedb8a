//! Measures the cost of the basic steps of the runtime on this machine, in nanoseconds: the minimum and the median of
//! 15 runs.
//!
//! `cargo run --release -p lehr-runtime --example figures`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, ParallelLoop, Port, Reply, all, block_on, join};

const STEPS: usize = 20_000;
const SAMPLES: usize = 15;

fn report(what: &str, mut measure: impl FnMut()) {
    let mut figures: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            measure();
            start.elapsed().as_secs_f64() * 1e9 / STEPS as f64
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    println!("{what:58} {:9.1} {:9.1}", figures[0], figures[SAMPLES / 2]);
}

fn main() {
    println!("{:58} {:>9} {:>9}", "nanoseconds", "minimum", "median");
    let port = Port::new();
    report("post and try_receive, one thread", || {
        for i in 0..STEPS {
            port.post(i).unwrap();
            assert_eq!(port.try_receive(), Some(i));
        }
    });
    report("post, and a receive that finds the item", || {
        block_on(async {
            for i in 0..STEPS {
                port.post(i).unwrap();
                assert_eq!(port.receive().await, Ok(i));
            }
        });
    });
    for threads in [1, 2] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let handle = dispatcher.handle().clone();
        report(&format!("shift: two tasks post and receive, per stage, {threads} workers"), || {
            let ports = [Port::new(), Port::new()];
            let tasks = (0..2)
                .map(|rank| {
                    let (own, other) = (ports[rank].clone(), ports[1 - rank].clone());
                    dispatcher.spawn(async move {
                        for i in 0..STEPS {
                            other.post(i).unwrap();
                            assert_eq!(own.receive().await, Ok(i));
                        }
                    })
                })
                .collect();
            assert!(block_on(all(tasks)).iter().all(Result::is_ok));
        });
        report(&format!("wake: two tasks in turn, per message, {threads} workers"), || {
            let (there, back) = (Port::new(), Port::new());
            let (a, b) = (there.clone(), back.clone());
            let echo = dispatcher.spawn(async move {
                for _ in 0..STEPS / 2 {
                    b.post(a.receive().await.unwrap()).unwrap();
                }
            });
            let asker = dispatcher.spawn(async move {
                for i in 0..STEPS / 2 {
                    there.post(i).unwrap();
                    assert_eq!(back.receive().await, Ok(i));
                }
            });
            assert!(block_on(all(vec![echo, asker])).iter().all(Result::is_ok));
        });
        report(&format!("ask: a task asks another and awaits the reply, {threads} workers"), || {
            let questions = Port::<(usize, Reply<usize>)>::new();
            let inbox = questions.clone();
            let server = dispatcher.spawn(async move {
                while let Ok((number, reply)) = inbox.receive().await {
                    reply.answer(number + 1).unwrap();
                }
            });
            let asker = dispatcher.spawn(async move {
                for i in 0..STEPS {
                    assert_eq!(questions.ask(|reply| (i, reply)).unwrap().await, Ok(i + 1));
                }
                questions.close();
            });
            assert!(block_on(all(vec![server, asker])).iter().all(Result::is_ok));
        });
        report(&format!("join of two ports that have items, {threads} workers"), || {
            let task = dispatcher.spawn(async {
                let (p, q) = (Port::new(), Port::new());
                for i in 0..STEPS {
                    p.post(i).unwrap();
                    q.post(i).unwrap();
                    assert_eq!(join((&p, &q)).await, Ok((i, i)));
                }
            });
            assert!(block_on(task).is_ok());
        });
        report(&format!("spawn and run an empty task, from a task, {threads} workers"), || {
            let handle = handle.clone();
            let task = dispatcher.spawn(async move {
                let tasks = (0..STEPS).map(|_| handle.spawn(async {})).collect();
                all(tasks).await.len()
            });
            assert_eq!(block_on(task), Ok(STEPS));
        });
        let mut parallel = ParallelLoop::new(&handle);
        report(&format!("parallel region of two empty blocks, in a task, {threads} workers"), || {
            let parallel = &mut parallel;
            dispatcher.run_all(vec![async move { (0..STEPS).for_each(|_| parallel.run(0..2, 1, |_| {})) }]);
        });
        report(&format!("an index of a parallel loop, grain 64, {threads} workers"), || {
            handle.parallel_for(0..STEPS, 64, |i| {
                std::hint::black_box(i);
            });
        });
    }
}
