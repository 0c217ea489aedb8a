//! flume on threads and on tokio.
use lehr_port_peers::rendezvous::{on_tasks, on_threads, on_tokio};
use lehr_port_peers::{Answer, Form, Job, asynchronous, blocking, serve};

blocking!(Unbounded, flume::Sender<u64>, flume::Receiver<u64>, flume::unbounded());
asynchronous!(
    Bounded,
    flume::Sender<u64>,
    flume::Receiver<u64>,
    flume::bounded(2),
    |s, v| s.send_async(v).await.expect("a receiver"),
    |r| r.recv_async().await.expect("a sender")
);

fn main() {
    serve(&["flume", "tokio"], &["flume, threads", "flume async on tokio"], |engine, job| match (engine, job) {
        (0, Job::Pattern(run)) if run.is_for_threads() => Answer::Seconds(on_threads::<Unbounded>(run)),
        (1, Job::Pattern(run)) if run.form == Form::Rendezvous => {
            Answer::Seconds(on_tasks::<Bounded>(run, |ranks| on_tokio(run.workers, ranks)))
        }
        _ => Answer::Absent,
    });
}
