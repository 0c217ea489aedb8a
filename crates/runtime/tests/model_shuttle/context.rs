//! Cancellation at the same time as registration, and timers at the same time as their cancellation.

use std::time::Duration;

use lehr_runtime::{Builder, Clock, Context, Idle, Port, TaskError, block_on};
use shuttle::thread;

use super::explore;

#[test]
fn a_task_spawned_while_its_context_is_cancelled_ends() {
    explore(1000, || {
        let dispatcher = Builder::new().threads(1).idle(Idle::SLEEP).start().unwrap();
        let (context, never) = (Context::named("request").cancellable().build(), Port::<u8>::new());
        let canceller = {
            let context = context.clone();
            thread::spawn(move || assert!(context.cancel()))
        };
        let below = context.child("below").cancellable().build();
        let inbox = never.clone();
        let task = below.run(|| dispatcher.spawn(async move { inbox.receive().await }));
        assert_eq!(block_on(task), Err(TaskError::Cancelled));
        canceller.join().unwrap();
        assert_eq!(never.waiting(), 0);
    });
}

#[test]
fn two_cancellers_of_a_tree_cancel_once_and_reach_every_leaf() {
    explore(1000, || {
        let root = Context::named("root").cancellable().build();
        let leaf = root.child("middle").cancellable().build().child("leaf").cancellable().build();
        let cancellers: Vec<_> = (0..2)
            .map(|_| {
                let root = root.clone();
                thread::spawn(move || usize::from(root.cancel()))
            })
            .collect();
        let late = leaf.child("late").cancellable().build();
        let cancelled: usize = cancellers.into_iter().map(|canceller| canceller.join().unwrap()).sum();
        assert_eq!((cancelled, leaf.is_cancelled(), late.is_cancelled()), (1, true, true));
    });
}

#[test]
fn a_timer_fires_or_is_cancelled_and_never_both() {
    explore(1000, || {
        let (clock, port) = (Clock::virtual_time(), Port::new());
        let posting = clock.post_after(Duration::from_secs(1), &port, 7);
        let advancer = {
            let clock = clock.clone();
            thread::spawn(move || clock.advance(Duration::from_secs(1)))
        };
        let back = posting.cancel();
        advancer.join().unwrap();
        assert_eq!((back.iter().count() + port.len(), clock.pending()), (1, 0));
    });
}

#[test]
fn a_sleeper_that_registers_while_time_passes_does_not_sleep_through() {
    explore(1000, || {
        let clock = Clock::virtual_time();
        let sleeper = {
            let sleep = clock.sleep(Duration::from_secs(1));
            thread::spawn(move || block_on(sleep))
        };
        let dropper = {
            let sleep = clock.sleep(Duration::from_secs(1));
            thread::spawn(move || drop(sleep))
        };
        clock.advance(Duration::from_secs(1));
        sleeper.join().unwrap();
        dropper.join().unwrap();
        assert_eq!(clock.pending(), 0);
    });
}
