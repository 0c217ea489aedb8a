//! rayon: handlers by spawn, regions by join.
use std::hint::black_box;
use std::time::Instant;

use lehr_port_peers::spawned::{self, Spawner};
use lehr_port_peers::{Answer, Form, Job, Pattern, serve, units};

/// Spawns on the caller's pool, which costs less than naming the pool.
#[derive(Clone)]
struct Jobs(std::sync::Arc<rayon::ThreadPool>);

impl Spawner for Jobs {
    fn spawn(&self, handler: impl FnOnce() + Send + 'static) {
        if rayon::current_thread_index().is_some() { rayon::spawn(handler) } else { self.0.spawn(handler) }
    }
}

fn main() {
    serve(&["rayon"], &["rayon::spawn", "rayon join, inside the pool"], |engine, job| match (engine, job) {
        (0, Job::Pattern(run)) if run.form == Form::Spawned || run.pattern == Pattern::None => {
            Answer::Seconds(spawned::run(run, Jobs(std::sync::Arc::new(pool(run.workers)))))
        }
        (1, Job::Regions { threads: 2, count, serial, inside }) => {
            let seconds = pool(2).install(|| {
                let start = Instant::now();
                for _ in 0..count {
                    rayon::join(|| black_box(units(1, inside)), || black_box(units(2, inside)));
                    units(1, serial);
                }
                start.elapsed().as_secs_f64()
            });
            Answer::Seconds(seconds)
        }
        _ => Answer::Absent,
    });
}

fn pool(workers: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("a pool")
}
