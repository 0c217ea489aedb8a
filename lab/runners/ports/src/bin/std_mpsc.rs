//! std::sync::mpsc on threads; std::thread::scope as the parallel region; std::sync::Barrier.
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use lehr_port_peers::rendezvous::{on_threads, span};
use lehr_port_peers::{Answer, Job, blocking, pin, serve, units};

blocking!(Mpsc, std::sync::mpsc::Sender<u64>, std::sync::mpsc::Receiver<u64>, std::sync::mpsc::channel());

fn main() {
    serve(&[], &["std mpsc, threads", "std::thread::scope", "std::sync::Barrier, threads"], |engine, job| {
        match (engine, job) {
            (0, Job::Pattern(run)) if run.is_for_threads() => Answer::Seconds(on_threads::<Mpsc>(run)),
            (1, Job::Regions { threads, count, serial, inside }) => {
                let start = Instant::now();
                for _ in 0..count {
                    std::thread::scope(|scope| {
                        for part in 1..threads {
                            scope.spawn(move || black_box(units(part as u64, inside)));
                        }
                        black_box(units(0, inside));
                    });
                    units(1, serial);
                }
                Answer::Seconds(start.elapsed().as_secs_f64())
            }
            (2, Job::Barrier { ranks, rounds, .. }) => Answer::Seconds(barrier(ranks, rounds)),
            _ => Answer::Absent,
        }
    });
}

fn barrier(ranks: usize, rounds: usize) -> f64 {
    let (barrier, gate) = (Arc::new(Barrier::new(ranks)), Arc::new(Barrier::new(ranks)));
    let threads = (0..ranks).map(|index| {
        let (barrier, gate) = (barrier.clone(), gate.clone());
        std::thread::spawn(move || {
            pin(index);
            gate.wait();
            let start = Instant::now();
            for _ in 0..rounds {
                barrier.wait();
            }
            (start, Instant::now())
        })
    });
    span(threads.collect())
}
