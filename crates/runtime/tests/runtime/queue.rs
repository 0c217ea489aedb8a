use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use lehr_runtime::{
    Admission, Builder, Clock, DepthOverflow, DiscardReason, Discarded, Dispatcher, Exclusive, Handlers, Interleave,
    Port, QueueError, RateOverflow, Rejection, SpawnWait, TaskError, all, block_on, yield_now,
};

use crate::{on_each, poll_once};

fn depth(max: usize, overflow: DepthOverflow) -> Admission {
    Admission::Depth { max, overflow }
}

/// A waker that counts its calls.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// Catalogue: 15, 55
#[test]
fn a_full_queue_drops_the_oldest_or_the_newest_and_says_which() {
    on_each(|dispatcher| {
        for (overflow, lost, reason) in [
            (DepthOverflow::DropOldest, 0, DiscardReason::Oldest),
            (DepthOverflow::DropNewest, 2, DiscardReason::Newest),
        ] {
            let told = Arc::new(Mutex::new(Vec::new()));
            let sink = told.clone();
            let name = format!("{overflow:?}");
            let queue = dispatcher
                .queue(&name)
                .admission(depth(2, overflow))
                .on_discard(move |discarded| sink.lock().unwrap().push(discarded))
                .suspended()
                .build()
                .unwrap();
            let ran = Arc::new(Mutex::new(Vec::new()));
            let tasks: Vec<_> = (0..3)
                .map(|i| {
                    let ran = ran.clone();
                    queue.spawn(async move { ran.lock().unwrap().push(i) }).unwrap()
                })
                .collect();
            assert_eq!(*told.lock().unwrap(), [Discarded { queue: name, reason }]);
            assert!(tasks[lost].is_finished(), "a discarded task is answered at once");
            assert_eq!((queue.counters().depth, queue.counters().discarded), (2, 1));
            queue.resume();
            for (i, outcome) in block_on(all(tasks)).into_iter().enumerate() {
                assert_eq!(outcome, if i == lost { Err(TaskError::Discarded) } else { Ok(()) });
            }
            let mut kept = ran.lock().unwrap().clone();
            if dispatcher.threads() > 1 {
                kept.sort_unstable();
            }
            assert_eq!(kept, (0..3).filter(|&i| i != lost).collect::<Vec<_>>());
        }
    });
}

// Catalogue: 15
#[test]
fn a_task_of_a_queue_is_answered_once_whatever_it_does() {
    on_each(|dispatcher| {
        let queue = dispatcher.queue("all ends").build().unwrap();
        let stages = Arc::new(AtomicUsize::new(0));
        let count = stages.clone();
        let three = queue.spawn(async move {
            for _ in 0..3 {
                yield_now().await;
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(block_on(three.unwrap()), Ok(()));
        assert_eq!(stages.load(Ordering::Relaxed), 3);
        let fails = queue.spawn(async {
            yield_now().await;
            panic!("after a wait")
        });
        assert_eq!(
            block_on::<_>(fails.unwrap()),
            Err::<(), _>(TaskError::Panicked { message: "after a wait".to_owned() })
        );
        let never = Port::<()>::new();
        let waits = never.clone();
        let waiting = queue.spawn(async move { waits.receive().await }).unwrap();
        assert_eq!(block_on(waiting.cancel()), Err(TaskError::Cancelled));
        let counters = queue.counters();
        assert_eq!((counters.scheduled, counters.finished, counters.aborted), (3, 2, 1));
    });
}

// Catalogue: 56
#[test]
fn a_spawn_that_waits_is_woken_when_a_place_is_free_and_can_be_cancelled() {
    on_each(|dispatcher| {
        let queue = dispatcher.queue("narrow").admission(depth(2, DepthOverflow::Wait)).suspended().build().unwrap();
        let held: Vec<_> = (0..2).map(|i| queue.spawn(async move { i }).unwrap()).collect();
        assert_eq!(queue.spawn(async { 2 }).unwrap_err().reason, Rejection::Full);
        let bells: [Arc<Bell>; 4] = std::array::from_fn(|_| Arc::default());
        let mut waiting: Vec<_> = (0..4).map(|i| Box::pin(queue.spawn_wait(async move { 10 + i }))).collect();
        for (spawn, bell) in waiting.iter_mut().zip(&bells) {
            let waker = Waker::from(bell.clone());
            assert!(spawn.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(queue.counters().waiting, 4);
        let rung = || bells.each_ref().map(|bell| bell.0.load(Ordering::Relaxed));
        drop(waiting.remove(0));
        assert_eq!((rung(), queue.counters().waiting), ([0; 4], 3));
        // Two places become free at once, for the first two waiters in the line.
        assert_eq!(queue.clear(), 2);
        assert_eq!(rung(), [0, 1, 1, 0]);
        // The places belong to these waiters before they are polled again.
        assert_eq!(queue.spawn(async { 3 }).unwrap_err().reason, Rejection::Full);
        assert!(poll_once(pin!(queue.spawn_wait(async { 4 }))).is_pending());
        // One waiter takes its place. The other waiter is dropped, and its place goes to the next waiter.
        let Poll::Ready(Ok(first)) = poll_once(waiting[0].as_mut()) else { panic!("its place was free") };
        drop(waiting.remove(1));
        assert_eq!(rung(), [0, 1, 1, 1]);
        let Poll::Ready(Ok(second)) = poll_once(waiting[1].as_mut()) else { panic!("its place was free") };
        queue.resume();
        assert_eq!((block_on(first), block_on(second)), (Ok(11), Ok(13)));
        assert_eq!(block_on(all(held)), [Err(TaskError::Discarded), Err(TaskError::Discarded)]);
        // This thread waits for places while workers make room.
        let spawned: Vec<_> = (0..100).map(|i| block_on(queue.spawn_wait(async move { i })).unwrap()).collect();
        assert_eq!(block_on(all(spawned)), (0..100).map(Ok).collect::<Vec<_>>());
        assert_eq!((queue.counters().waiting, queue.counters().depth), (0, 0));
    });
}

// Catalogue: 57
#[test]
fn a_handler_that_waits_for_a_place_in_its_own_full_queue_does_not_freeze_the_pool() {
    on_each(|dispatcher| {
        let queue = dispatcher.queue("own").admission(depth(1, DepthOverflow::Wait)).build().unwrap();
        let done = Port::new();
        for _ in 0..4 {
            let (own, done) = (queue.clone(), done.clone());
            let outer = async move {
                for i in 0..25 {
                    let done = done.clone();
                    own.spawn_wait(async move { done.post(i).unwrap() }).await.unwrap().detach();
                }
            };
            block_on(queue.spawn_wait(outer)).unwrap().detach();
        }
        let mut sums = block_on(done.take(100)).unwrap();
        sums.sort_unstable();
        assert_eq!(sums, (0..100).map(|i| i / 4).collect::<Vec<_>>());
    });
}

// Catalogue: 59
#[test]
fn a_suspended_queue_runs_nothing_and_then_all_in_order() {
    on_each(|dispatcher| {
        let queue = dispatcher.queue("held").build().unwrap();
        let (wakes, ran) = (Port::new(), Arc::new(Mutex::new(Vec::new())));
        let (items, seen) = (wakes.clone(), ran.clone());
        let begun = queue.spawn(async move {
            items.receive().await.unwrap();
            seen.lock().unwrap().push(0);
        });
        crate::until(|| wakes.waiting() != 0);
        queue.suspend();
        queue.suspend();
        let mut tasks = vec![begun.unwrap()];
        // Wakes a task of the suspended queue, which then waits in the queue.
        wakes.post(()).unwrap();
        // If the task is still in the poll in which it began to wait, it counts as woken only at the end of this poll.
        crate::until(|| queue.counters().woken == 1);
        for i in 1..20 {
            let seen = ran.clone();
            tasks.push(queue.spawn(async move { seen.lock().unwrap().push(i) }).unwrap());
            assert_eq!((queue.counters().depth, queue.counters().woken), (i, 1));
        }
        // The dispatcher still runs its own tasks.
        for i in 0..50 {
            assert_eq!(block_on(dispatcher.spawn(async move { i })), Ok(i));
        }
        assert!(ran.lock().unwrap().is_empty() && queue.is_suspended());
        queue.resume();
        block_on(all(tasks));
        let mut ran = ran.lock().unwrap().clone();
        if dispatcher.threads() > 1 {
            ran.sort_unstable();
        }
        assert_eq!(ran, (0..20).collect::<Vec<_>>());
    });
}

// Catalogue: 59
#[test]
fn timers_that_fire_while_a_queue_is_suspended_run_their_tasks_after_it() {
    for threads in [1, 2, 8] {
        let clock = Clock::virtual_time();
        let dispatcher = Builder::new().threads(threads).clock(clock.clone()).start().unwrap();
        let queue = dispatcher.queue("held").build().unwrap();
        let ran = Port::new();
        let sleepers: Vec<_> = (1..=3)
            .map(|second| {
                let ran = ran.clone();
                let sleeping = async move {
                    lehr_runtime::sleep(Duration::from_secs(second)).await;
                    ran.post(second).unwrap();
                };
                queue.spawn(sleeping).unwrap()
            })
            .collect();
        crate::until(|| clock.pending() == 3);
        queue.suspend();
        let last = {
            let ran = ran.clone();
            queue.spawn(async move { ran.post(4).unwrap() }).unwrap()
        };
        for second in 1..=2 {
            clock.advance(Duration::from_secs(1));
            crate::until(|| queue.counters().woken == second);
        }
        // The workers are free, but run no task of the queue.
        block_on(dispatcher.spawn(async {})).unwrap();
        assert_eq!((queue.counters().depth, queue.counters().woken, clock.pending(), ran.len()), (1, 2, 1, 0));
        queue.resume();
        block_on(last).unwrap();
        let mut seen = block_on(ran.take(3)).unwrap();
        if threads > 1 {
            seen.sort_unstable();
            assert_eq!(seen, [1, 2, 4]);
        } else {
            assert_eq!(seen, [4, 1, 2], "the order in which they came into the queue");
        }
        clock.advance(Duration::from_secs(1));
        assert!(block_on(all(sleepers)).iter().all(Result::is_ok));
        assert_eq!(ran.drain(), [3]);
    }
}

// Catalogue: 60
#[test]
fn a_closed_queue_runs_or_reports_every_task_and_takes_no_more() {
    on_each(|dispatcher| {
        for is_cleared in [false, true] {
            let told = Arc::new(AtomicUsize::new(0));
            let sink = told.clone();
            let queue = dispatcher
                .queue("ending")
                .on_discard(move |discarded| {
                    assert_eq!(discarded.reason, DiscardReason::Cleared);
                    sink.fetch_add(1, Ordering::Relaxed);
                })
                .build()
                .unwrap();
            assert_eq!(
                dispatcher.queue("ending").build().unwrap_err(),
                QueueError::NameTaken { name: "ending".to_owned() }
            );
            let tasks: Vec<_> = (0..200).map(|i| queue.spawn(async move { i }).unwrap()).collect();
            queue.close();
            let cleared = if is_cleared { queue.clear() } else { 0 };
            assert_eq!(queue.spawn(async {}).unwrap_err().reason, Rejection::Closed);
            assert_eq!(block_on(queue.spawn_wait(async {})).unwrap_err().reason, Rejection::Closed);
            assert_eq!(block_on(queue.handle().spawn(async {})), Err(TaskError::Cancelled));
            let outcomes = block_on(all(tasks));
            let ran = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            let discarded = outcomes.iter().filter(|outcome| **outcome == Err(TaskError::Discarded)).count();
            assert_eq!((ran + discarded, discarded), (200, cleared));
            assert_eq!((told.load(Ordering::Relaxed), queue.counters().discarded), (cleared, cleared));
            // The queue ends when its last task is gone; then another queue may have its name.
            crate::until(|| queue.counters().living == 0);
        }
        crate::until(|| dispatcher.queue("ending").build().is_ok());
    });
}

// Catalogue: 60
#[test]
fn spawns_that_wait_when_the_queue_closes_get_their_futures_back() {
    on_each(|dispatcher| {
        let queue = dispatcher.queue("closing").admission(depth(1, DepthOverflow::Wait)).suspended().build().unwrap();
        let first = queue.spawn(async { 1 }).unwrap();
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let queue = queue.clone();
                std::thread::spawn(move || block_on(queue.spawn_wait(async move { i })).unwrap_err())
            })
            .collect();
        crate::until(|| queue.counters().waiting >= 3);
        queue.close();
        for (i, thread) in threads.into_iter().enumerate() {
            let rejected = thread.join().unwrap();
            assert_eq!((rejected.reason, block_on(rejected.future)), (Rejection::Closed, i));
        }
        queue.resume();
        assert_eq!(block_on(first), Ok(1));
    });
}

// Catalogue: 61
#[test]
fn a_discarded_task_gives_back_what_it_holds() {
    struct Permit(Port<()>);
    impl Drop for Permit {
        fn drop(&mut self) {
            self.0.post(()).unwrap();
        }
    }
    on_each(|dispatcher| {
        let queue =
            dispatcher.queue("full").admission(depth(1, DepthOverflow::DropOldest)).suspended().build().unwrap();
        let permits = Port::new();
        permits.post(()).unwrap();
        // There is one permit, which every other task takes. The next task makes the queue discard this task, so the
        // permit must be back for the task after that.
        let mut tasks = Vec::new();
        for i in 0..10 {
            let permit = permits.try_receive().map(|()| Permit(permits.clone()));
            assert_eq!(permit.is_some(), i % 2 == 0);
            tasks.push(
                queue
                    .spawn(async move {
                        drop(permit);
                        i
                    })
                    .unwrap(),
            );
        }
        queue.resume();
        let outcomes = block_on(all(tasks));
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        assert_eq!((permits.len(), queue.counters().discarded), (1, 9));
    });
}

// Catalogue: 61
#[test]
fn a_discarded_task_that_held_the_exclusivity_of_an_interleave_gives_it_back() {
    on_each(|dispatcher| {
        let queue =
            dispatcher.queue("full").admission(depth(1, DepthOverflow::DropOldest)).suspended().build().unwrap();
        let (add, tasks) = (Port::new(), Port::new());
        let (jobs, out) = (queue.clone(), tasks.clone());
        let handlers = Handlers::new().exclusive(&add, move |mut total: Exclusive<u32>, number: u32| {
            *total += number;
            // The guard is moved into a task that will never begin.
            let task = jobs.spawn(async move { drop(total) }).unwrap();
            out.post(task).unwrap_or_else(|_| unreachable!("the port is open"));
            async {}
        });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        (1..=2).for_each(|number| add.post(number).unwrap());
        let first = block_on(tasks.receive()).unwrap_or_else(|_| unreachable!("the port is open"));
        assert_eq!((interleave.activity().exclusive, interleave.activity().pending_exclusive), (1, 1));
        // This spawn makes the queue discard the task that has the guard.
        queue.spawn(async {}).unwrap().detach();
        assert_eq!(block_on(first), Err(TaskError::Discarded));
        let second = block_on(tasks.receive()).unwrap_or_else(|_| unreachable!("the port is open"));
        queue.resume();
        assert_eq!(block_on(second), Ok(()));
        assert_eq!(block_on(interleave.stop()), Ok(3));
    });
}

#[test]
fn a_queue_handle_stands_where_a_dispatcher_is_asked_for() {
    on_each(|dispatcher| {
        let queue = dispatcher.queue("items").admission(depth(1, DepthOverflow::DropOldest)).build().unwrap();
        let (items, out) = (Port::new(), Port::new());
        let answers = out.clone();
        let receiver = items.on(queue.handle(), 2, move |item: usize| {
            let answers = answers.clone();
            async move { answers.post(item).unwrap() }
        });
        queue.suspend();
        // Later tasks do not make the queue discard the receiver's turns.
        let tasks: Vec<_> = (0..5).map(|_| queue.spawn(async {}).unwrap()).collect();
        (0..50).for_each(|item| items.post(item).unwrap());
        queue
            .handle()
            .execute({
                let out = out.clone();
                move || out.post(50).unwrap()
            })
            .ok()
            .unwrap();
        assert!(out.is_empty());
        queue.resume();
        let mut seen = block_on(out.take(51)).unwrap();
        seen.sort_unstable();
        assert_eq!(seen, (0..=50).collect::<Vec<_>>());
        items.close();
        assert_eq!(block_on(receiver.ended()), Ok(()));
        assert_eq!(block_on(all(tasks)).iter().filter(|outcome| outcome.is_ok()).count(), 1);
    });
}

#[test]
fn settings_that_admit_nobody_are_refused() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let refused = dispatcher.queue("none").admission(depth(0, DepthOverflow::Reject)).build().unwrap_err();
    assert_eq!(refused.to_string(), "queue \"none\": a depth of 0 admits no task");
    let never = lehr_runtime::Priority::Share { weight: 0 };
    assert!(dispatcher.queue("never").priority(never).build().is_err());
    let handle = dispatcher.handle().clone();
    drop(dispatcher);
    assert_eq!(handle.queue("late").build().unwrap_err(), QueueError::Closed);
}

/// Polls every waiting spawn, and adds the outputs of the admitted spawns. Returns the number of spawns admitted so
/// far.
fn take_admitted<F>(spawns: &mut Vec<Pin<Box<SpawnWait<'_, F>>>>, admitted: &mut Vec<F::Output>) -> usize
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawns.retain_mut(|spawn| match poll_once(spawn.as_mut()) {
        Poll::Pending => true,
        Poll::Ready(task) => {
            admitted.push(block_on(task.unwrap()).unwrap());
            false
        }
    });
    admitted.len()
}

// Catalogue: 58
#[test]
fn a_rate_lets_a_burst_in_and_then_one_a_turn_however_long_it_was_idle() {
    for threads in [1, 2, 8] {
        let clock = Clock::virtual_time();
        let dispatcher = Builder::new().threads(threads).clock(clock.clone()).start().unwrap();
        let rate = |overflow| Admission::Rate { per_sec: 10.0, burst: 5, overflow };
        let dropping = dispatcher.queue("dropping").admission(rate(RateOverflow::Drop)).build().unwrap();
        let waiting = dispatcher.queue("waiting").admission(rate(RateOverflow::Wait)).build().unwrap();
        clock.advance(Duration::from_secs(3600));

        let tasks = (0..100).map(|i| dropping.spawn(async move { i }).unwrap()).collect();
        let outcomes = block_on(all(tasks));
        assert_eq!(outcomes[..5], [Ok(0), Ok(1), Ok(2), Ok(3), Ok(4)]);
        assert!(outcomes[5..].iter().all(|outcome| *outcome == Err(TaskError::Discarded)));

        let mut spawns: Vec<_> = (0..100).map(|i| Box::pin(waiting.spawn_wait(async move { i }))).collect();
        let mut admitted = Vec::new();
        assert_eq!(take_admitted(&mut spawns, &mut admitted), 5);
        assert_eq!(waiting.spawn(async {}).unwrap_err().reason, Rejection::Rate);
        for turn in 1..=90 {
            clock.advance(Duration::from_millis(99));
            assert_eq!(take_admitted(&mut spawns, &mut admitted), 4 + turn);
            clock.advance(Duration::from_millis(1));
            assert_eq!(take_admitted(&mut spawns, &mut admitted), 5 + turn);
        }
        // The first spawn in the line is dropped, so the next spawn gets its turn.
        drop(spawns.remove(0));
        clock.advance(Duration::from_millis(100));
        assert_eq!(take_admitted(&mut spawns, &mut admitted), 96);
        // A spawn that is dropped after it got its turn passes the turn on.
        clock.advance(Duration::from_millis(100));
        drop(spawns.remove(0));
        assert_eq!(take_admitted(&mut spawns, &mut admitted), 97);
        waiting.close();
        for spawn in spawns {
            assert_eq!(block_on(spawn).unwrap_err().reason, Rejection::Closed);
        }
        assert_eq!(admitted, (0..95).chain([96, 98]).collect::<Vec<_>>());
        assert_eq!(waiting.counters().waiting, 0);
    }
}
