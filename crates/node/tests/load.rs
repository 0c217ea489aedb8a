//! Load: many subscribers and requests, more than the limits allow, and a client that does not read.
//!
//! The sizes are small enough for daily runs. `make load` runs the same tests with a thousand subscribers and ten
//! thousand requests.

use std::io::{Read, Write};
use std::net::TcpStream;

use lehr_node::{Client, Limits, Node, Settings};
use lehr_runtime::block_on;
use lehr_services::{Code, Event, Fault, Host, Placement, Reference, Replace, Subscribe};

use crate::behaviours::samples::*;
use crate::behaviours::{Any, begin, together};
use crate::{FOR_EVER, dispatcher, settings};

/// The maximum number of open requests on one connection.
const STREAMS: usize = 1000;

/// The maximum memory of the process for each request or subscriber. The kernel's buffers of connections do not count
/// here.
const BYTES_EACH: usize = 64 << 10;

/// The number of changes of 200 kB that one of the subscribers does not read.
const LARGE_CHANGES: usize = 60;

/// Returns clients with one connection each, enough for the given number of requests.
fn clients(node: &Node, requests: usize) -> Vec<Reference<Ledger>> {
    let reference = |_| {
        let link = Client::new(None).unwrap().link(&format!("http://{}/books", node.address())).unwrap();
        Reference::over(link).within(FOR_EVER)
    };
    (0..requests.div_ceil(STREAMS)).map(reference).collect()
}

/// Returns the memory of the process in bytes, if the system tells it.
fn resident_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_whitespace().nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}

/// Sends `taken` requests that wait at the same time, and `more` requests that are refused. Every accepted request is
/// carried out, and no refused request is.
fn requests_in_flight(taken: usize, more: usize, is_alone: bool) {
    let (workers, _) = dispatcher(2);
    let limits = Limits { requests: taken + more + 1000, ..settings().limits };
    let node = Node::start(Host::new(workers.handle()), Settings { limits, ..settings() }).unwrap();
    block_on(async {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        let place = Placement::at("/books").queue(taken);
        let books = node.host().start(place, move || keeper.clone()).await.unwrap();
        let mut holding: Any<'_, _> = Box::pin(books.call(hold_alone("first")));
        begin(&mut holding).await;
        assert_eq!(begun.receive().await.unwrap(), "first");

        let before = resident_bytes().filter(|_| is_alone);
        let clients = clients(&node, taken + more);
        let mut calls: Vec<Any<'_, Result<i64, Fault>>> = Vec::new();
        for number in 0..taken + more {
            let client = clients[number % clients.len()].clone();
            let key = format!("{number:06}");
            calls.push(Box::pin(async move { client.call(put(&key, 1)).await.map(|()| 1) }));
        }
        let refused = std::cell::Cell::new(0);
        let calls = calls.into_iter().map(|call| -> Any<'_, Result<i64, Fault>> {
            let (refused, gate) = (&refused, &gate);
            Box::pin(async move {
                let outcome = call.await;
                if outcome.is_err() {
                    refused.set(refused.get() + 1);
                }
                // A refusal means that the queue is full. While the gate is closed, no request leaves the queue, so all
                // other requests wait there.
                if refused.get() == more && outcome.is_err() {
                    let _ = gate.post(());
                }
                outcome
            })
        });
        let outcomes = together(calls.collect()).await;
        holding.await.unwrap();
        if let (Some(before), Some(after)) = (before, resident_bytes()) {
            let grown = after.saturating_sub(before);
            assert!(grown < (taken + more) * BYTES_EACH, "{grown} bytes for {} requests", taken + more);
        }
        let (mut done, mut faults) = (0, Vec::new());
        for outcome in outcomes {
            match outcome {
                Ok(count) => done += count,
                Err(fault) => faults.push(fault),
            }
        }
        assert_eq!((done as usize, faults.len()), (taken, more));
        for fault in &faults {
            assert_eq!(fault.code(), Code::QueuingLimitExceeded);
            assert!(fault.retry_hint().is_some(), "when to come again");
        }
        let state = books.get().await.unwrap();
        assert_eq!(state.entries.len(), taken, "what was answered was done, and nothing else");
    });
    block_on(node.shutdown(FOR_EVER));
}

/// `count` subscribers get every change in order, although one more subscriber reads nothing.
fn subscribers_at_once(count: usize, changes: usize, is_alone: bool) {
    let (workers, _) = dispatcher(2);
    let limits = Limits { subscriptions: count + 2, ..settings().limits };
    let node = Node::start(Host::new(workers.handle()), Settings { limits, ..settings() }).unwrap();
    block_on(async {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        let before = resident_bytes().filter(|_| is_alone);
        // This subscriber has no filter, and does not read its events.
        let mut deaf = TcpStream::connect(node.address()).unwrap();
        write!(deaf, "GET /books:events?capacity=8 HTTP/1.1\r\nhost: {}\r\n\r\n", node.address()).unwrap();
        deaf.read_exact(&mut [0; 1]).unwrap();
        let clients = clients(&node, 10 * count);
        let mut heard = Vec::new();
        for number in 0..count {
            let wishes = Subscribe::default().operations(["put"]).capacity(changes);
            heard.push(clients[number % clients.len()].subscribe(wishes).await.unwrap());
        }
        // These changes are larger than the buffers of its connection.
        let large = "x".repeat(200_000);
        for number in 0..LARGE_CHANGES {
            books.call(enter(&format!("{large}{number}"), 1)).await.unwrap();
        }
        books.call(Replace(Ledger::default())).await.unwrap();
        for number in 0..changes {
            books.call(put(&number.to_string(), 1)).await.unwrap();
        }
        for subscription in &mut heard {
            assert!(matches!(subscription.next().await, Ok(Event::Seed(seed)) if seed.version() == 0));
            for number in 1..=changes as u64 {
                let Ok(Event::Change(change)) = subscription.next().await else { panic!("it takes what comes") };
                assert_eq!(change.version(), LARGE_CHANGES as u64 + 1 + number);
            }
        }
        let seen = node.host().inspect();
        let service = seen.services.iter().find(|service| service.path == "/books").unwrap();
        assert_eq!(service.subscribers.len(), count + 1);
        assert!(service.subscribers.iter().all(|subscriber| subscriber.queued <= 8), "none waits but for the deaf one");
        if let (Some(before), Some(after)) = (before, resident_bytes()) {
            let (grown, bound) =
                (after.saturating_sub(before), (count + 1) * BYTES_EACH + 10 * LARGE_CHANGES * large.len());
            assert!(grown < bound, "{grown} bytes for {count} subscribers");
        }
        // The subscriber that did not read got more events than its buffers hold. When it reads at last, it gets a gap.
        let mut told = Vec::new();
        while !told.windows(10).any(|window| window == b"event: gap") {
            let mut piece = [0; 1 << 16];
            let count = deaf.read(&mut piece).unwrap();
            assert!(count > 0, "its subscription goes on");
            told.drain(..told.len().saturating_sub(9));
            told.extend_from_slice(&piece[..count]);
        }
        drop(deaf);
    });
    block_on(node.shutdown(FOR_EVER));
}

#[test]
fn what_is_taken_is_done_and_what_is_refused_is_told_when_to_come_again() {
    requests_in_flight(1500, 100, false);
}

#[test]
fn one_who_does_not_listen_slows_none_of_many_subscribers() {
    subscribers_at_once(100, 50, false);
}

#[test]
fn beyond_the_places_of_the_node_requests_are_answered_503_and_nothing_is_done() {
    let (workers, _) = dispatcher(2);
    let limits = Limits { requests: 4, ..settings().limits };
    let node = Node::start(Host::new(workers.handle()), Settings { limits, ..settings() }).unwrap();
    block_on(async {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        let books = node.host().start("/books", move || keeper.clone()).await.unwrap();
        let client = &clients(&node, 1)[0];
        let holds: Vec<Any<'_, Result<String, Fault>>> = (0..4)
            .map(|number| Box::pin(async move { client.call(hold(&number.to_string())).await }) as Any<'_, _>)
            .collect();
        let more = async {
            for _ in 0..4 {
                begun.receive().await.unwrap();
            }
            let answer = crate::raw::ask(
                node.address(),
                "POST /books:put",
                "content-type: application/json\r\n",
                r#"{"key":"a","value":1}"#,
            );
            assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
            (0..4).for_each(|_| gate.post(()).unwrap());
            Ok(String::new())
        };
        let mut all = holds;
        all.push(Box::pin(more));
        assert!(together(all).await.iter().all(Result::is_ok));
        assert_eq!(books.get().await.unwrap().entries.len(), 0);
    });
    block_on(node.shutdown(FOR_EVER));
}

#[test]
#[ignore = "takes a gigabyte and a minute; make load runs it"]
fn full_size_ten_thousand_requests_wait_at_once() {
    requests_in_flight(10_000, 500, true);
}

#[test]
#[ignore = "takes a gigabyte and a minute; make load runs it"]
fn full_size_a_thousand_subscribers_listen_at_once() {
    subscribers_at_once(1000, 100, true);
}
