//! Admission, cancellation, teardown and combining of an interleave, under schedules that shuttle chooses.

use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_runtime::{
    Builder, Exclusive, Handlers, Idle, Interleave, Port, Reply, Snapshot, block_on, in_place, yield_now,
};
use shuttle::thread;

use super::explore;

/// The numbers of running handlers. They are atomics of std, because the models of this file look for overlaps of tasks
/// and not of memory accesses.
#[derive(Default)]
struct Inside {
    readers: AtomicUsize,
    writers: AtomicUsize,
}

impl Inside {
    async fn read(&self) {
        self.readers.fetch_add(1, Ordering::SeqCst);
        assert_eq!(self.writers.load(Ordering::SeqCst), 0, "a writer beside a reader");
        yield_now().await;
        assert_eq!(self.writers.load(Ordering::SeqCst), 0, "a writer beside a reader");
        self.readers.fetch_sub(1, Ordering::SeqCst);
    }

    async fn write(&self) {
        assert_eq!(self.writers.fetch_add(1, Ordering::SeqCst), 0, "two writers");
        assert_eq!(self.readers.load(Ordering::SeqCst), 0, "a reader beside a writer");
        yield_now().await;
        assert_eq!(self.readers.load(Ordering::SeqCst), 0, "a reader beside a writer");
        self.writers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn readers_a_writer_and_a_teardown_never_overlap_and_nothing_is_lost() {
    explore(2000, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let inside = std::sync::Arc::new(Inside::default());
        let (read, write, stop) = (Port::new(), Port::new(), Port::new());
        let handled = std::sync::Arc::new(AtomicUsize::new(0));
        let (readers, writers, last) = (inside.clone(), inside.clone(), inside.clone());
        let (reads, writes) = (handled.clone(), handled.clone());
        let handlers = Handlers::new()
            .concurrent(&read, move |_: Snapshot<usize>, ()| {
                let (inside, handled) = (readers.clone(), reads.clone());
                async move {
                    inside.read().await;
                    handled.fetch_add(1, Ordering::SeqCst);
                }
            })
            .exclusive(&write, move |mut state: Exclusive<usize>, ()| {
                let (inside, handled) = (writers.clone(), writes.clone());
                async move {
                    *state += 1;
                    inside.write().await;
                    handled.fetch_add(1, Ordering::SeqCst);
                }
            })
            .teardown(&stop, move |_: usize, ()| async move { last.write().await });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let posters: Vec<_> = [&read, &read, &write]
            .into_iter()
            .map(|port| {
                let port = port.clone();
                thread::spawn(move || usize::from(port.post(()).is_ok()))
            })
            .collect();
        stop.post(()).unwrap();
        let posted: usize = posters.into_iter().map(|poster| poster.join().unwrap()).sum();
        block_on(interleave.ended()).unwrap();
        let left = read.len() + write.len();
        assert_eq!(handled.load(Ordering::SeqCst) + left, posted);
        assert_eq!(read.waiting() + write.waiting() + stop.waiting(), 0);
    });
}

#[test]
fn a_cancelled_writer_gives_way() {
    explore(2000, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let (stuck, next, done) = (Port::new(), Port::new(), Port::new());
        let out = done.clone();
        let handlers = Handlers::new().exclusive(&stuck, |_: Exclusive<()>, ()| std::future::pending()).exclusive(
            &next,
            move |_: Exclusive<()>, ()| {
                out.post(()).unwrap();
                async {}
            },
        );
        let interleave = Interleave::start(dispatcher.handle(), (), handlers);
        stuck.post(()).unwrap();
        let canceller = {
            let (handle, stuck) = (interleave.handle().clone(), stuck.clone());
            thread::spawn(move || assert_eq!(handle.cancel_at(&stuck), 1))
        };
        next.post(()).unwrap();
        canceller.join().unwrap();
        block_on(done.receive()).unwrap();
        assert_eq!(block_on(interleave.stop()), Ok(()));
    });
}

#[test]
fn branches_are_added_while_their_ports_are_posted_to() {
    explore(2000, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let (a, b, done) = (Port::new(), Port::new(), Port::new());
        let interleave = Interleave::start(dispatcher.handle(), 0, Handlers::new());
        let posters: Vec<_> = [&a, &b]
            .into_iter()
            .map(|port| {
                let port = port.clone();
                thread::spawn(move || port.post(()).unwrap())
            })
            .collect();
        for port in [&a, &b] {
            let out = done.clone();
            let branch = Handlers::new().exclusive(port, move |mut state: Exclusive<usize>, ()| {
                *state += 1;
                out.post(()).unwrap();
                async {}
            });
            interleave.combine(branch).unwrap();
        }
        posters.into_iter().for_each(|poster| poster.join().unwrap());
        block_on(done.take(2)).unwrap();
        assert_eq!(block_on(interleave.stop()), Ok(2));
        assert_eq!(a.waiting() + b.waiting(), 0);
    });
}

/// Models tasks whose requests are handled in the middle of their polls, and a thread that makes requests from outside.
#[test]
fn questions_handled_in_place_are_answered_once_and_alone() {
    explore(1500, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let inside = std::sync::Arc::new(Inside::default());
        let add = Port::<Reply<usize>>::new();
        let writers = inside.clone();
        let handlers = Handlers::new().exclusive(&add, move |mut sum: Exclusive<usize>, reply: Reply<usize>| {
            let inside = writers.clone();
            async move {
                inside.write().await;
                *sum += 1;
                reply.answer(*sum).unwrap();
            }
        });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let askers: Vec<_> = (0..3)
            .map(|_| {
                let add = add.clone();
                dispatcher.spawn(async move {
                    for _ in 0..2 {
                        in_place(|| add.ask(|reply| reply).unwrap()).await.unwrap();
                    }
                })
            })
            .collect();
        let outside = thread::spawn(move || block_on(in_place(|| add.ask(|reply| reply).unwrap())).unwrap());
        askers.into_iter().for_each(|asker| block_on(asker).unwrap());
        outside.join().unwrap();
        assert_eq!(block_on(interleave.stop()), Ok(7));
    });
}

/// Models a turn that handles the items of one queue one after the other, while a thread takes items away and a
/// teardown comes.
#[test]
fn a_queue_that_one_turn_works_off_is_robbed_and_ended_and_every_item_is_somewhere() {
    explore(2000, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let (work, stop, total) = (Port::new(), Port::new(), Port::new());
        let out = total.clone();
        let handlers = Handlers::new()
            .exclusive(&work, |mut handled: Exclusive<usize>, ()| async move {
                *handled += 1;
                // The guard goes to the handler's turn, which is still being polled.
                drop(handled);
            })
            .teardown(&stop, move |handled: usize, ()| async move { out.post(handled).unwrap() });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let poster = {
            let work = work.clone();
            thread::spawn(move || (0..4).filter(|_| work.post(()).is_ok()).count())
        };
        let thief = {
            let work = work.clone();
            thread::spawn(move || usize::from(work.try_receive().is_some()))
        };
        stop.post(()).unwrap();
        let (posted, stolen) = (poster.join().unwrap(), thief.join().unwrap());
        block_on(interleave.ended()).unwrap();
        let handled = block_on(total.receive()).unwrap();
        assert_eq!(handled + stolen + work.len(), posted);
        assert_eq!(work.waiting() + stop.waiting(), 0);
    });
}
