//! Rendezvous with active messages (paper 001, table 4 and figure 15 d): a message names the code that handles it, and
//! no receiver waits.
//!
//! A table is spread over ranks. Every rank updates random entries of the table by sending a message to the rank that
//! has the entry. The message says which handler to run, with which values. The owner of an entry never asks for a
//! message. A handler may send messages itself: `add_opposite` sends an `add` for another entry.
//!
//! Checked: the table, by comparison with the same updates made one after the other (they commute), and the number of
//! handled messages. `cargo run --release -p lehr-runtime --example active_messages`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "an example measures and prints, and its ranks keep their part behind a lock that nobody else asks for"
)]

use std::sync::{Arc, Mutex};
use std::time::Instant;

use lehr_runtime::{Dispatcher, Port, all, block_on};

const RANKS: usize = 4;
const ENTRIES: usize = 1 << 12;
const UPDATES: usize = 100_000;

/// The data that a handler may use: the part of the table that its rank has, and the ports of all ranks.
struct Place<'a> {
    part: &'a mut [u64],
    ports: &'a [Port<Message>],
}

/// A message: the handler, and its arguments.
struct Message {
    handler: fn(&mut Place<'_>, usize, u64),
    entry: usize,
    value: u64,
}

fn owner(entry: usize) -> usize {
    entry / (ENTRIES / RANKS)
}

fn send(ports: &[Port<Message>], entry: usize, value: u64, handler: fn(&mut Place<'_>, usize, u64)) {
    ports[owner(entry)].post(Message { handler, entry, value }).unwrap();
}

/// Adds a value to an entry.
fn add(place: &mut Place<'_>, entry: usize, value: u64) {
    let here = entry % (ENTRIES / RANKS);
    place.part[here] = place.part[here].wrapping_add(value);
}

/// Adds to the opposite entry of the table. Only this handler has to know which entry is opposite, and the sender need
/// not.
fn add_opposite(place: &mut Place<'_>, entry: usize, value: u64) {
    send(place.ports, ENTRIES - 1 - entry, value, add);
}

/// Returns the updates of a rank: the entry, the value, and whether the update goes to the opposite entry.
fn updates(rank: usize) -> impl Iterator<Item = (usize, u64, bool)> {
    let mut state = rank as u64 + 1;
    (0..UPDATES).map(move |_| {
        // xorshift
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state % ENTRIES as u64) as usize, state >> 32, state.is_multiple_of(3))
    })
}

fn main() {
    let mut expected = vec![0_u64; ENTRIES];
    let mut messages = 0;
    for (entry, value, is_opposite) in (0..RANKS).flat_map(updates) {
        let entry = if is_opposite { ENTRIES - 1 - entry } else { entry };
        expected[entry] = expected[entry].wrapping_add(value);
        messages += 1 + usize::from(is_opposite);
    }

    for threads in [1, 2] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let ports: Arc<[Port<Message>]> = (0..RANKS).map(|_| Port::new()).collect();
        let parts: Vec<Arc<Mutex<Vec<u64>>>> =
            (0..RANKS).map(|_| Arc::new(Mutex::new(vec![0; ENTRIES / RANKS]))).collect();
        let handled = Port::new();
        let start = Instant::now();
        let receivers: Vec<_> = (0..RANKS)
            .map(|rank| {
                let (all, part, done) = (ports.clone(), parts[rank].clone(), handled.clone());
                // With a concurrency of 1, the handlers of a rank never overlap, so the lock is always free.
                ports[rank].on(dispatcher.handle(), 1, move |message: Message| {
                    let mut part = part.lock().unwrap();
                    (message.handler)(&mut Place { part: &mut part, ports: &all }, message.entry, message.value);
                    done.post(()).unwrap();
                    async {}
                })
            })
            .collect();
        let senders = (0..RANKS)
            .map(|rank| {
                let ports = ports.clone();
                dispatcher.spawn(async move {
                    for (i, (entry, value, is_opposite)) in updates(rank).enumerate() {
                        send(&ports, entry, value, if is_opposite { add_opposite } else { add });
                        if i % 256 == 255 {
                            lehr_runtime::yield_now().await;
                        }
                    }
                })
            })
            .collect();
        assert!(block_on(all(senders)).iter().all(Result::is_ok));
        block_on(handled.take(messages)).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        drop(receivers);
        let table: Vec<u64> = parts.iter().flat_map(|part| part.lock().unwrap().clone()).collect();
        assert_eq!(table, expected, "every update was made once");
        assert!(handled.is_empty() && ports.iter().all(Port::is_empty), "no message was handled twice or is left");
        println!(
            "{messages} active messages among {RANKS} ranks, {threads} workers: {:.2} million messages/s",
            messages as f64 / seconds / 1e6
        );
    }
}
