//! An overlay network (paper 001, table 4 and figure 15 f): nodes that know a few other nodes, and relay messages that
//! are not for them.
//!
//! Eight nodes are at the corners of a cube. Each node has its own dispatcher with one worker, so that every message
//! goes from thread to thread. A node knows only its three neighbours. A node passes a message on along the lowest bit
//! in which its own number differs from the destination's number. The destination sends an answer back in the same way.
//!
//! Checked: every message and every answer arrives, after exactly as many hops as there are different bits. `cargo run
//! --release -p lehr-runtime --example overlay`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, Port, Receiver, block_on};

const DIMENSIONS: usize = 3;
const NODES: usize = 1 << DIMENSIONS;
const ROUNDS: usize = 500;

#[derive(Clone, Copy)]
struct Message {
    from: usize,
    to: usize,
    hops: u32,
    is_answer: bool,
}

/// Starts a node, which relays messages for other nodes, answers its own messages, and posts the answers to its own
/// requests to `answers`.
fn start_node(own: usize, dispatcher: &Dispatcher, ports: &[Port<Message>], answers: &Port<Message>) -> Receiver {
    let neighbours: [Port<Message>; DIMENSIONS] = std::array::from_fn(|bit| ports[own ^ (1 << bit)].clone());
    let answers = answers.clone();
    let relay = move |mut message: Message| {
        message.hops += 1;
        neighbours[(own ^ message.to).trailing_zeros() as usize].post(message).unwrap();
    };
    ports[own].on(dispatcher.handle(), 1, move |message: Message| {
        if message.to != own {
            relay(message);
        } else if message.is_answer {
            answers.post(message).unwrap();
        } else {
            let answer = Message { from: own, to: message.from, hops: message.hops, is_answer: true };
            if answer.to == own { answers.post(answer).unwrap() } else { relay(answer) }
        }
        async {}
    })
}

fn main() {
    let dispatchers: Vec<Dispatcher> = (0..NODES).map(|_| Dispatcher::new(1).unwrap()).collect();
    let ports: Vec<Port<Message>> = (0..NODES).map(|_| Port::new()).collect();
    let answers = Port::new();
    let nodes: Vec<Receiver> =
        dispatchers.iter().enumerate().map(|(own, dispatcher)| start_node(own, dispatcher, &ports, &answers)).collect();

    let start = Instant::now();
    for _ in 0..ROUNDS {
        for from in 0..NODES {
            for to in 0..NODES {
                ports[from].post(Message { from, to, hops: 0, is_answer: false }).unwrap();
            }
        }
    }
    let seen = block_on(answers.take(ROUNDS * NODES * NODES)).unwrap();
    let seconds = start.elapsed().as_secs_f64();

    let mut pairs = [[0; NODES]; NODES];
    let mut hops = 0;
    for answer in &seen {
        // The hops of the message and of its answer.
        assert_eq!(answer.hops, 2 * (answer.from ^ answer.to).count_ones(), "from {} to {}", answer.to, answer.from);
        pairs[answer.to][answer.from] += 1;
        hops += answer.hops as usize;
    }
    assert_eq!(pairs, [[ROUNDS; NODES]; NODES], "every question was answered once");
    assert_eq!(hops, ROUNDS * NODES * NODES * DIMENSIONS, "half the bits differ on average, there and back");
    assert!(answers.is_empty() && ports.iter().all(Port::is_empty), "nothing is left on the way");
    drop(nodes);
    println!(
        "{} questions and answers among {NODES} dispatchers: {hops} hops, {:.2} million hops/s",
        seen.len(),
        hops as f64 / seconds / 1e6
    );
}
