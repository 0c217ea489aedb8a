//! Publish and subscribe (paper 001, table 4 and figure 15 e): senders do not know the receivers, and receivers do not
//! know the senders.
//!
//! A broker is a handler at one port. Subscriptions come through the same port as the news, so a subscriber gets all
//! news that is published after its subscription, in order. A subscriber names a topic and, optionally, a condition.
//! One subscriber is slow and its port has few places. It loses the oldest news, can see how many it lost, and delays
//! no other subscriber.
//!
//! Checked: each subscriber got the news that it wanted, in order, and no other news. The numbers of news that the slow
//! subscriber got and lost add up. `cargo run --release -p lehr-runtime --example publish_subscribe`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "an example measures and prints, and its broker keeps its list behind a lock that nobody else asks for"
)]

use std::sync::Mutex;
use std::time::Instant;

use lehr_runtime::{Dispatcher, Overflow, Port, Reply, block_on};

const NEWS: usize = 100_000;
const TOPICS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
struct News {
    topic: usize,
    number: usize,
}

type Condition = Box<dyn Fn(&News) -> bool + Send>;

/// A message to the broker.
enum Message {
    Subscribe {
        topic: usize,
        condition: Condition,
        port: Port<News>,
        done: Reply<()>,
    },
    Publish(News),
    /// No more news will be published: the broker closes the subscribers' ports.
    End,
}

/// Publishes all news and checks the news that each subscriber got. Returns the number of news that the slow subscriber
/// lost.
pub fn publish(dispatcher: &Dispatcher) -> usize {
    let broker = Port::new();
    let subscribers: Mutex<Vec<(usize, Condition, Port<News>)>> = Mutex::new(Vec::new());
    let brokering = broker.on(dispatcher.handle(), 1, move |message: Message| {
        let mut subscribers = subscribers.lock().unwrap();
        match message {
            Message::Subscribe { topic, condition, port, done } => {
                subscribers.push((topic, condition, port));
                // A subscriber that no longer waits for the answer is subscribed nevertheless.
                let _ = done.answer(());
            }
            Message::Publish(news) => {
                // A subscriber whose port is closed has left.
                subscribers.retain(|(topic, condition, port)| {
                    *topic != news.topic || !condition(&news) || port.post(news).is_ok()
                });
            }
            Message::End => subscribers.iter().for_each(|(_, _, port)| port.close()),
        }
        async {}
    });
    let subscribe = |topic: usize, port: &Port<News>, condition: Condition| {
        let port = port.clone();
        let answer = broker.ask(|done| Message::Subscribe { topic, condition, port, done }).unwrap();
        block_on(answer).unwrap();
    };

    let everything: Vec<Port<News>> = (0..TOPICS).map(|_| Port::new()).collect();
    everything.iter().enumerate().for_each(|(topic, port)| subscribe(topic, port, Box::new(|_| true)));
    let rounds = Port::new();
    subscribe(0, &rounds, Box::new(|news| news.number % 1000 == 0));
    let slow = Port::bounded(8, Overflow::DropOldest);
    subscribe(1, &slow, Box::new(|_| true));
    let gone = Port::new();
    subscribe(2, &gone, Box::new(|_| true));
    gone.close();

    let publisher = {
        let broker = broker.clone();
        dispatcher.spawn(async move {
            for number in 0..NEWS {
                broker.post(Message::Publish(News { topic: number % TOPICS, number })).unwrap();
                if number % 256 == 255 {
                    lehr_runtime::yield_now().await;
                }
            }
            broker.post(Message::End).unwrap();
        })
    };
    block_on(publisher).unwrap();
    let all = |port: &Port<News>| {
        block_on(async {
            let mut news = Vec::new();
            while let Ok(one) = port.receive().await {
                news.push(one.number);
            }
            news
        })
    };
    for (topic, port) in everything.iter().enumerate() {
        assert!(all(port).into_iter().eq((topic..NEWS).step_by(TOPICS)), "all news of topic {topic}, in order");
    }
    assert!(all(&rounds).into_iter().eq((0..NEWS).step_by(1000)), "what meets the condition, in order");
    // The slow subscriber has not received anything until now.
    let newest = all(&slow);
    assert!(newest.iter().copied().eq((1..NEWS).step_by(TOPICS).skip(NEWS / TOPICS - 8)), "the newest eight");
    let lost = slow.gauges().discarded as usize;
    assert_eq!(newest.len() + lost, NEWS / TOPICS, "what it got and what it lost");
    assert!(gone.is_empty(), "who has gone gets nothing");
    drop(brokering);
    lost
}

fn main() {
    let dispatcher = Dispatcher::new(2).unwrap();
    let start = Instant::now();
    let lost = publish(&dispatcher);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{NEWS} news to {} subscribers on 2 workers: {:.2} million news/s; the slow one kept 8 and lost {lost}",
        TOPICS + 3,
        NEWS as f64 / seconds / 1e6
    );
}
