//! crossbeam-channel on threads.
use lehr_port_peers::{Answer, Job, blocking, rendezvous::on_threads, serve};

blocking!(Bounded, crossbeam_channel::Sender<u64>, crossbeam_channel::Receiver<u64>, crossbeam_channel::bounded(2));
blocking!(Unbounded, crossbeam_channel::Sender<u64>, crossbeam_channel::Receiver<u64>, crossbeam_channel::unbounded());

fn main() {
    serve(
        &["crossbeam-channel"],
        &["crossbeam bounded, threads", "crossbeam unbounded, threads"],
        |engine, job| match (engine, job) {
            (0, Job::Pattern(run)) if run.is_for_threads() => Answer::Seconds(on_threads::<Bounded>(run)),
            (1, Job::Pattern(run)) if run.is_for_threads() => Answer::Seconds(on_threads::<Unbounded>(run)),
            (0, Job::Requests { clients, each, .. }) => Answer::Seconds(requests(clients, each)),
            _ => Answer::Absent,
        },
    );
}

/// Runs each client on its own thread with its own reply channel.
fn requests(clients: usize, each: usize) -> f64 {
    let (ask, asked) = crossbeam_channel::unbounded::<(u64, crossbeam_channel::Sender<u64>)>();
    let service = std::thread::spawn(move || {
        for (value, reply) in asked {
            reply.send(value + 1).expect("the client waits");
        }
    });
    let start = std::time::Instant::now();
    let threads: Vec<_> = (0..clients)
        .map(|_| {
            let ask = ask.clone();
            std::thread::spawn(move || {
                let (reply, replied) = crossbeam_channel::bounded(1);
                let mut x = 0;
                for _ in 0..each {
                    ask.send((x, reply.clone())).expect("the service is there");
                    x = replied.recv().expect("the service answers");
                }
                x
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("a client panicked"), each as u64);
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(ask);
    service.join().expect("the service panicked");
    seconds
}
