//! kanal on threads, on tokio's workers and on tokio's current-thread runtime.
use lehr_port_peers::rendezvous::{on_tasks, on_threads, on_tokio};
use lehr_port_peers::{Answer, Form, Job, asynchronous, blocking, serve};

blocking!(Threads, kanal::Sender<u64>, kanal::Receiver<u64>, kanal::bounded(2));
asynchronous!(
    Tasks,
    kanal::AsyncSender<u64>,
    kanal::AsyncReceiver<u64>,
    kanal::bounded_async(2),
    |s, v| s.send(v).await.expect("a receiver"),
    |r| r.recv().await.expect("a sender")
);

fn main() {
    let engines = ["kanal, threads", "kanal async on tokio", "kanal async on tokio current_thread"];
    serve(&["kanal", "tokio"], &engines, |engine, job| match (engine, job) {
        (0, Job::Pattern(run)) if run.is_for_threads() => Answer::Seconds(on_threads::<Threads>(run)),
        (1, Job::Pattern(run)) if run.form == Form::Rendezvous => {
            Answer::Seconds(on_tasks::<Tasks>(run, |ranks| on_tokio(run.workers, ranks)))
        }
        (2, Job::Pattern(run)) if run.form == Form::Rendezvous && run.workers == 1 => {
            Answer::Seconds(on_tasks::<Tasks>(run, |ranks| on_tokio(0, ranks)))
        }
        _ => Answer::Absent,
    });
}
