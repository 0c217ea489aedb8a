//! Bounded ports: places, permits, cancellation and the close, under every policy.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use lehr_runtime::{Overflow, Port, block_on};
use shuttle::thread;

use super::explore;

/// Polls a future once and drops it, which cancels the future in the middle of its wait.
fn glance<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[test]
fn everybody_who_waits_for_a_place_gets_one_in_the_end() {
    explore(1500, || {
        let port = Port::bounded(1, Overflow::Wait);
        let posters: Vec<_> = (0..2)
            .map(|poster| {
                let port = port.clone();
                thread::spawn(move || (0..2).for_each(|i| block_on(port.post_wait(2 * poster + i)).unwrap()))
            })
            .collect();
        let holder = {
            let port = port.clone();
            // One permit is used, and one permit is dropped.
            thread::spawn(move || {
                block_on(port.reserve()).unwrap().post(4);
                drop(block_on(port.reserve()).unwrap());
            })
        };
        let canceller = {
            let port = port.clone();
            thread::spawn(move || {
                drop(glance(port.reserve()));
                usize::from(glance(port.post_wait(5)).is_some())
            })
        };
        let mut seen: Vec<i32> = (0..5).map(|_| block_on(port.receive()).unwrap()).collect();
        assert!(port.len() <= 1, "never more items than places");
        // If the canceller posted its item, there is a sixth item to receive, whose poster may still wait for a place.
        if canceller.join().unwrap() == 1 {
            seen.push(block_on(port.receive()).unwrap());
        }
        for poster in posters {
            poster.join().unwrap();
        }
        holder.join().unwrap();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..seen.len() as i32));
        let gauges = port.gauges();
        assert_eq!((gauges.len, gauges.permits, gauges.posters_waiting), (0, 0, 0));
    });
}

#[test]
fn a_close_ends_every_wait_and_loses_nothing() {
    explore(1500, || {
        let port = Port::bounded(1, Overflow::Wait);
        let poster = {
            let port = port.clone();
            thread::spawn(move || (0..3).filter(|&i| block_on(port.post_wait(i)).is_ok()).count())
        };
        let holder = {
            let port = port.clone();
            thread::spawn(move || match block_on(port.reserve()) {
                Ok(permit) => {
                    permit.post(9);
                    1
                }
                Err(_) => 0,
            })
        };
        let receiver = {
            let port = port.clone();
            thread::spawn(move || std::iter::from_fn(|| block_on(port.receive()).ok()).count())
        };
        let closer = {
            let port = port.clone();
            thread::spawn(move || port.close())
        };
        block_on(port.drained());
        assert!(port.is_drained());
        let posted = poster.join().unwrap() + holder.join().unwrap();
        closer.join().unwrap();
        assert_eq!(receiver.join().unwrap(), posted);
        assert_eq!((port.waiting(), port.gauges().posters_waiting, port.gauges().permits), (0, 0, 0));
    });
}

#[test]
fn what_a_full_port_gives_up_is_reported_or_received_and_never_both() {
    explore(1500, || {
        for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
            let lost = Port::new();
            let port = Port::builder().capacity(1, overflow).discard_to(&lost).build();
            let posters: Vec<_> = (0..2)
                .map(|poster| {
                    let port = port.clone();
                    thread::spawn(move || (0..2).for_each(|i| port.post(2 * poster + i).unwrap()))
                })
                .collect();
            let receiver = {
                let port = port.clone();
                thread::spawn(move || std::iter::from_fn(|| block_on(port.receive()).ok()).collect::<Vec<i32>>())
            };
            for poster in posters {
                poster.join().unwrap();
            }
            port.close();
            let mut seen = receiver.join().unwrap();
            seen.extend(lost.drain().into_iter().map(|lost| lost.item));
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2, 3]);
        }
    });
}
