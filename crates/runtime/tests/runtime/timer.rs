use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lehr_runtime::{
    Builder, Clock, Context, Elapsed, MissedTick, Port, all, block_on, choice, every, post_after, sleep, timeout,
};

use crate::on_each;

const SECOND: Duration = Duration::from_secs(1);

/// Like `on_each`, with a virtual clock.
fn on_each_clock(test: impl Fn(&lehr_runtime::Dispatcher, &Clock)) {
    for threads in [1, 2, 8] {
        let clock = Clock::virtual_time();
        test(&Builder::new().name("test").threads(threads).clock(clock.clone()).start().unwrap(), &clock);
    }
}

// Catalogue: 66
#[test]
fn real_timers_fire_in_order_and_never_early() {
    on_each(|dispatcher| {
        let ended = Port::new();
        let tasks = [20, 10, 1].map(|milliseconds| {
            let out = ended.clone();
            dispatcher.spawn(async move {
                let clock = Clock::current();
                let begin = clock.now();
                sleep(Duration::from_millis(milliseconds)).await;
                let waited = clock.now() - begin;
                assert!(waited >= Duration::from_millis(milliseconds), "{milliseconds} ms fired after {waited:?}");
                out.post(milliseconds).unwrap();
            })
        });
        assert!(block_on(all(tasks.into())).iter().all(Result::is_ok));
        assert_eq!(ended.len(), 3);
    });
}

// Catalogue: 66
#[test]
fn a_clock_fires_by_deadline_and_then_by_registration() {
    let (clock, fired) = (Clock::virtual_time(), Port::new());
    let plan = [(2, 'c'), (1, 'a'), (2, 'd'), (3, 'f'), (1, 'b'), (2, 'e')];
    let postings: Vec<_> =
        plan.iter().map(|&(seconds, name)| clock.post_after(SECOND * seconds, &fired, name)).collect();
    clock.advance(SECOND - Duration::from_nanos(1));
    assert!(fired.is_empty(), "a nanosecond before is before");
    clock.advance(Duration::from_nanos(1));
    assert_eq!(fired.drain(), ['a', 'b']);
    clock.advance(SECOND * 9);
    assert_eq!(fired.drain(), ['c', 'd', 'e', 'f']);
    assert_eq!(clock.pending(), 0);
    assert!(postings.iter().all(|posting| posting.outcome().is_none()));
}

// Catalogue: 66
#[test]
fn a_busy_worker_delays_no_timer() {
    on_each(|dispatcher| {
        // Every worker is inside a poll until the timer has fired, so the timer must fire on another thread.
        let tasks = (0..dispatcher.threads()).map(|_| {
            dispatcher.spawn(async {
                let port = Port::new();
                let _posting = post_after(Duration::from_millis(1), &port, ());
                crate::until(|| port.try_receive().is_some());
            })
        });
        assert!(block_on(all(tasks.collect())).iter().all(Result::is_ok));
    });
}

// Catalogue: 67
#[test]
fn the_loser_of_a_choice_with_a_timeout_leaves_nothing_registered() {
    on_each_clock(|dispatcher, clock| {
        let port = Port::new();
        let inbox = port.clone();
        let task = dispatcher.spawn(async move {
            let mut results = Vec::new();
            for _ in 0..2 {
                results.push(choice! {
                    item = inbox.receive() => item.ok(),
                    _ = sleep(SECOND) => None,
                });
                assert_eq!((Clock::current().pending(), inbox.waiting()), (0, 0));
            }
            results
        });
        clock.wait_for_timers(1);
        port.post(7).unwrap();
        crate::until(|| port.is_empty());
        // The timer of the second round may be registered at any moment from here on.
        while !task.is_finished() {
            clock.advance(SECOND);
        }
        assert_eq!(block_on(task), Ok(vec![Some(7), None]));
        port.post(8).unwrap();
        assert_eq!(port.len(), 1, "nobody reads there any more");
    });
}

// Catalogue: 67
#[test]
fn a_timer_that_is_dropped_is_gone() {
    let (clock, port) = (Clock::virtual_time(), Port::<u8>::new());
    let mut waiting = Box::pin(clock.timeout(SECOND, port.receive()));
    assert!(crate::poll_once(waiting.as_mut()).is_pending());
    assert_eq!((clock.pending(), port.waiting()), (1, 1));
    drop(waiting);
    assert_eq!((clock.pending(), port.waiting()), (0, 0));

    let posting = clock.post_after(SECOND, &port, 1);
    drop(posting);
    clock.advance(SECOND * 2);
    assert!(port.is_empty());
}

// Catalogue: 67
#[test]
fn what_is_done_in_time_counts_even_if_nobody_looked_in_time() {
    let (clock, port) = (Clock::virtual_time(), Port::new());
    let mut waiting = Box::pin(clock.timeout(SECOND, port.receive()));
    assert!(crate::poll_once(waiting.as_mut()).is_pending());
    port.post(5).unwrap();
    clock.advance(SECOND);
    assert_eq!(block_on(waiting), Ok(Ok(5)));
    let late = clock.timeout(SECOND, port.receive());
    clock.advance(SECOND);
    assert_eq!(block_on(late), Err(Elapsed));
}

// Catalogue: 67
#[test]
fn who_sleeps_through_a_jump_sees_no_time_in_between() {
    on_each_clock(|dispatcher, clock| {
        let sleeper = |span: Duration| {
            dispatcher.spawn(async move {
                sleep(span).await;
                Clock::current().now()
            })
        };
        let sleepers = [SECOND, 2 * SECOND].map(sleeper);
        clock.wait_for_timers(2);
        clock.jump(36_000 * SECOND);
        sleepers.into_iter().for_each(|task| assert_eq!(block_on(task), Ok(36_000 * SECOND)));
        assert_eq!(clock.pending(), 0);
    });
}

// Catalogue: 68
#[test]
fn on_a_scaled_virtual_clock_ten_seconds_pass_in_one() {
    for threads in [1, 2, 8] {
        let clock = Clock::virtual_time();
        let dispatcher = Builder::new().threads(threads).clock(clock.scaled(0.1)).start().unwrap();
        let silent = Port::<u8>::new();
        let task = dispatcher.spawn(async move { timeout(SECOND * 10, silent.receive()).await });
        clock.wait_for_timers(1);
        clock.advance(SECOND - Duration::from_nanos(1));
        assert_eq!(clock.pending(), 1, "not before its time");
        clock.advance(Duration::from_nanos(1));
        assert_eq!(block_on(task), Ok(Err(Elapsed)));
    }
}

// Catalogue: 68
#[test]
fn a_day_of_ticks_takes_no_real_time() {
    on_each_clock(|dispatcher, clock| {
        let ticks = Port::new();
        let out = ticks.clone();
        let task = dispatcher.spawn(async move {
            let mut hours = every(SECOND * 3600, MissedTick::Burst);
            for _ in 0..24 {
                out.post(hours.tick().await).unwrap();
            }
        });
        while !task.is_finished() {
            crate::until(|| clock.pending() > 0 || task.is_finished());
            clock.advance_to_next();
        }
        assert_eq!(block_on(task), Ok(()));
        assert_eq!(ticks.drain(), (1..=24).map(|hour| SECOND * 3600 * hour).collect::<Vec<_>>());
        assert_eq!(clock.now(), SECOND * 3600 * 24);
    });
}

#[test]
fn missed_ticks_burst_are_skipped_or_delay_the_next() {
    for (missed, expected) in [
        (MissedTick::Burst, [10, 20, 30, 40]),
        (MissedTick::Skip, [10, 40, 50, 60]),
        (MissedTick::Delay, [10, 45, 55, 65]),
    ] {
        let clock = Clock::virtual_time();
        let mut ticks = clock.every(SECOND * 10, missed);
        clock.advance(SECOND * 35);
        let mut due = Vec::new();
        for _ in 0..4 {
            let mut tick = Box::pin(ticks.tick());
            while crate::poll_once(tick.as_mut()).is_pending() {
                clock.advance(SECOND * 5);
            }
            drop(tick);
            // This is the time of the tick that the next round gets.
            due.push(ticks.next_tick().as_secs());
        }
        let given: Vec<u64> = std::iter::once(10).chain(due[..3].iter().copied()).collect();
        assert_eq!(given, expected, "{missed:?}");
    }
}

#[test]
fn a_hundred_thousand_timers_fire_or_are_dropped_once_each() {
    on_each_clock(|dispatcher, clock| {
        const MANY: usize = 100_000;
        let fired = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..MANY)
            .map(|i| {
                let fired = fired.clone();
                dispatcher.spawn(async move {
                    sleep(SECOND * u32::try_from(1 + i % 100).unwrap()).await;
                    fired.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        clock.wait_for_timers(MANY);
        let (kept, dropped): (Vec<_>, Vec<_>) = tasks.into_iter().enumerate().partition(|(i, _)| i % 2 == 0);
        drop(dropped);
        crate::until(|| clock.pending() <= MANY / 2);
        clock.advance(SECOND * 100);
        let kept = kept.into_iter().map(|(_, task)| task).collect();
        assert!(block_on(all(kept)).iter().all(Result::is_ok));
        assert_eq!((fired.load(Ordering::Relaxed), clock.pending()), (MANY / 2, 0));
    });
}

#[test]
fn a_posting_carries_the_context_it_was_made_in() {
    let (clock, port) = (Clock::virtual_time(), Port::new());
    Context::named("asked").build().run(|| clock.post_after(SECOND, &port, 1).detach());
    clock.advance(SECOND);
    let (item, context) = block_on(port.receive().with_context()).unwrap();
    assert_eq!((item, context.unwrap().name()), (1, Some("asked")));
}
