//! Nodes that know each other, and subscribers that survive interruptions between them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use lehr_node::{Client, FindService, Heard, Join, Joined, Joining, Leave, NODES, Node, Nodes, Reach, Refresh};
use lehr_runtime::{Clock, Dispatcher, block_on};
use lehr_services::{Code, Contract, End, Event, Fault, Host, Phase, Reference, Subscribe, Subscription};

use crate::behaviours::samples::*;
use crate::raw::ask;
use crate::wire::{State, Wire};
use crate::{FOR_EVER, dispatcher, settings};

const LEASE: Duration = Duration::from_secs(30);

/// Waits for a future. Meanwhile, the clock advances to its next timer again and again. Nothing else uses this clock.
async fn while_time_passes<T>(clock: &Clock, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|polling| match future.as_mut().poll(polling) {
        Poll::Ready(value) => Poll::Ready(value),
        Poll::Pending => {
            clock.advance_to_next();
            polling.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

/// Two nodes with a wire between them, the near one following the far one.
struct Pair {
    _workers: (Dispatcher, Dispatcher),
    clock: Clock,
    near: Node,
    far: Node,
    wire: Wire,
    nodes: Reference<Nodes>,
    /// What the near node knows about the far node so far.
    known: Joined,
    heard: Subscription<Nodes>,
}

impl Pair {
    async fn joined() -> Self {
        let ((here, clock), (there, _)) = (dispatcher(2), dispatcher(2));
        let start = |workers: &Dispatcher| Node::start(Host::new(workers.handle()), settings()).unwrap();
        let (near, far) = (start(&here), start(&there));
        let wire = Wire::to(far.address());
        let joining = Joining::new(Client::new(None).unwrap(), LEASE).with(&wire.url()).unwrap();
        let nodes = near.host().start(NODES, move || joining.clone()).await.unwrap();
        let heard = nodes.subscribe(Subscribe::default()).await.unwrap();
        Self { _workers: (here, there), clock, near, far, wire, nodes, known: Joined::default(), heard }
    }

    /// Waits until `is_so` holds for what the near node knows about the far node. Returns every state of reach until
    /// then, in order.
    async fn until(&mut self, is_so: impl Fn(Reach, &[&str]) -> bool) -> Vec<Reach> {
        let mut seen = Vec::new();
        loop {
            // A service that is still starting is known, but `Find` does not return it yet.
            let ready = self.known.services.iter().filter(|(_, record)| record.phase == Phase::Ready);
            let paths: Vec<&str> = ready.map(|(path, _)| path.as_str()).collect();
            if seen.last() != Some(&self.known.reach) {
                seen.push(self.known.reach);
            }
            if is_so(self.known.reach, &paths) {
                return seen;
            }
            self.known = match self.heard.next().await.unwrap() {
                Event::Seed(state) => state.nodes[&self.wire.url()].clone(),
                Event::Change(change) => change.operation::<Heard>().unwrap().node.clone(),
                Event::Gap { .. } => panic!("it keeps up"),
            };
        }
    }

    async fn refresh(&self) {
        self.nodes.call(Refresh { address: self.wire.url() }).await.unwrap();
    }

    async fn found(&self) -> Vec<String> {
        self.nodes.call(FindService { contract: Ledger::NAME.to_owned() }).await.unwrap()
    }
}

#[test]
fn the_services_of_a_joined_node_come_and_go_with_it() {
    block_on(async {
        let mut pair = Pair::joined().await;
        pair.far.host().start("/books", Bookkeeper::new).await.unwrap();
        pair.near.host().start("/own", Bookkeeper::new).await.unwrap();
        pair.until(|reach, paths| reach == Reach::Up && paths.contains(&"/books")).await;
        let far_books = format!("{}/books", pair.wire.url());
        assert_eq!(pair.found().await, ["/own", &far_books]);
        let link = Client::new(None).unwrap().link(&far_books).unwrap();
        assert_eq!(Reference::<Ledger>::over(link).within(FOR_EVER).call(Sum {}).await.unwrap(), 0);

        pair.far.host().reference::<Ledger>("/books").unwrap().drop_service().await.unwrap();
        pair.until(|_, paths| !paths.contains(&"/books")).await;
        assert_eq!(pair.found().await, ["/own"]);
    });
}

#[test]
fn a_partition_longer_than_the_lease_takes_the_services_and_its_end_brings_them_back() {
    block_on(async {
        let mut pair = Pair::joined().await;
        pair.far.host().start("/books", Bookkeeper::new).await.unwrap();
        pair.until(|_, paths| paths.contains(&"/books")).await;

        pair.wire.be(State::Silent);
        let clock = pair.clock.clone();
        let began = clock.now();
        let seen = while_time_passes(&clock, pair.until(|reach, _| reach == Reach::Gone)).await;
        assert!(clock.now() - began >= LEASE);
        assert_eq!(seen, [Reach::Up, Reach::Silent, Reach::Gone], "a node that is silent is not gone yet");
        assert_eq!(pair.found().await, Vec::<String>::new());

        // Afterwards, the near node learns what happened on the far node in the meantime.
        pair.far.host().start("/more", Bookkeeper::new).await.unwrap();
        pair.wire.be(State::Whole);
        pair.refresh().await;
        pair.until(|reach, paths| reach == Reach::Up && paths.contains(&"/more") && paths.contains(&"/books")).await;
    });
}

#[test]
fn a_partition_shorter_than_the_lease_takes_nothing() {
    block_on(async {
        let mut pair = Pair::joined().await;
        pair.far.host().start("/books", Bookkeeper::new).await.unwrap();
        pair.until(|_, paths| paths.contains(&"/books")).await;
        // The second loss has the same fault text as the first, and it must still count as a change.
        for _ in 0..2 {
            pair.wire.be(State::Cut);
            pair.until(|reach, paths| {
                assert!(paths.contains(&"/books") && reach != Reach::Gone);
                reach == Reach::Silent
            })
            .await;
            pair.wire.be(State::Whole);
            pair.refresh().await;
            pair.until(|reach, paths| {
                assert!(paths.contains(&"/books") && reach != Reach::Gone);
                reach == Reach::Up
            })
            .await;
        }
    });
}

/// Starts a service on the far node. Until the near node learns of it, the far node is known to be up.
async fn it_is_up_and_starts_a_service(pair: &Pair, heard: &mut Subscription<Nodes>) {
    pair.far.host().start("/books", Bookkeeper::new).await.unwrap();
    loop {
        let Ok(Event::Change(change)) = heard.next().await else { panic!("it was told of no gap") };
        let node = change.operation::<Heard>().unwrap().node.clone();
        assert_eq!(node.reach, Reach::Up, "{:?}", node.fault);
        if node.services.contains_key("/books") {
            break;
        }
    }
}

/// A jump of the clock as after a machine was asleep.
const TEN_HOURS: Duration = Duration::from_secs(36_000);

#[test]
fn a_clock_that_jumps_ends_no_lease_of_a_node_that_answers() {
    block_on(async {
        let mut pair = Pair::joined().await;
        pair.until(|reach, _| reach == Reach::Up).await;
        let mut heard = pair.nodes.subscribe(Subscribe::default()).await.unwrap();
        assert!(matches!(heard.next().await, Ok(Event::Seed(_))));
        // The follower waits for its next request.
        pair.clock.wait_for_timers(1);
        pair.clock.jump(TEN_HOURS);
        it_is_up_and_starts_a_service(&pair, &mut heard).await;
    });
}

#[test]
fn a_clock_that_jumps_while_a_node_is_asked_ends_no_lease_either() {
    block_on(async {
        let mut pair = Pair::joined().await;
        pair.until(|reach, _| reach == Reach::Up).await;
        let mut heard = pair.nodes.subscribe(Subscribe::default()).await.unwrap();
        assert!(matches!(heard.next().await, Ok(Event::Seed(_))));
        pair.wire.be(State::Held);
        pair.refresh().await;
        pair.wire.wait_until_held();
        pair.clock.jump(TEN_HOURS);
        // The follower no longer waits for the first answer.
        pair.clock.wait_for_timers(1);
        pair.wire.be(State::Whole);
        it_is_up_and_starts_a_service(&pair, &mut heard).await;
    });
}

#[test]
fn a_node_that_dies_and_comes_back_is_found_in_its_next_life() {
    block_on(async {
        let mut pair = Pair::joined().await;
        pair.far.host().start("/books", Bookkeeper::new).await.unwrap();
        pair.until(|_, paths| paths.contains(&"/books")).await;
        let first = pair.nodes.get().await.unwrap().nodes[&pair.wire.url()].services["/books"].incarnation;
        let (workers, _) = dispatcher(2);
        let next = Node::start(Host::new(workers.handle()), settings()).unwrap();
        next.host().start("/books", Bookkeeper::new).await.unwrap();
        std::mem::replace(&mut pair.far, next).shutdown(FOR_EVER).await;
        pair.until(|reach, _| reach == Reach::Silent).await;
        pair.wire.lead_to(pair.far.address());
        pair.refresh().await;
        pair.until(|reach, _| reach == Reach::Up).await;
        let second = pair.nodes.get().await.unwrap().nodes[&pair.wire.url()].services["/books"].incarnation;
        assert_ne!(first, second);
    });
}

#[test]
fn a_node_that_says_where_it_is_is_followed_in_turn() {
    block_on(async {
        let ((here, _), (there, _)) = (dispatcher(2), dispatcher(2));
        let start = |workers: &Dispatcher| Node::start(Host::new(workers.handle()), settings()).unwrap();
        let (near, far) = (start(&here), start(&there));
        let (near_url, far_url) = (format!("http://{}", near.address()), format!("http://{}", far.address()));
        let client = || Client::new(None).unwrap();
        let (alone, lease) = (Joining::new(client(), LEASE), LEASE);
        let far_nodes = far.host().start(NODES, move || alone.clone()).await.unwrap();
        let joining = Joining::new(client(), lease).with(&far_url).unwrap().advertise(&near_url).unwrap();
        near.host().start(NODES, move || joining.clone()).await.unwrap();
        let mut heard = far_nodes.subscribe(Subscribe::default()).await.unwrap();
        while far_nodes.get().await.unwrap().nodes.get(&near_url).is_none_or(|node| node.reach != Reach::Up) {
            heard.next().await.unwrap();
        }
        assert!(far_nodes.get().await.unwrap().nodes[&near_url].services.contains_key(NODES));
        near.shutdown(FOR_EVER).await;
        far.shutdown(FOR_EVER).await;
    });
}

#[test]
fn what_cannot_be_joined_is_refused_and_nobody_else_writes_what_is_heard() {
    block_on(async {
        let pair = Pair::joined().await;
        let code = |outcome: Result<String, Fault>| outcome.unwrap_err().code();
        let join = |address: &str| pair.nodes.call(Join { address: address.to_owned() });
        assert_eq!(code(join("ftp://x").await), Code::InvalidValue);
        assert_eq!(code(join("http://127.0.0.1:1/path?query").await), Code::InvalidValue);
        assert_eq!(code(join(&pair.wire.url()).await), Code::DuplicateEntry);
        pair.nodes.call(Leave { address: pair.wire.url() }).await.unwrap();
        assert_eq!(pair.nodes.call(Leave { address: pair.wire.url() }).await.unwrap_err().code(), Code::UnknownEntry);
        assert_eq!(join(&pair.wire.url()).await.unwrap(), pair.wire.url());
        let body = format!(r#"{{"address":"{}","node":{{"reach":"gone","services":{{}}}}}}"#, pair.wire.url());
        let forged = ask(pair.near.address(), "POST /nodes:heard", "content-type: application/json\r\n", &body);
        assert_eq!(forged.status, 403);
    });
}

// Catalogue: 109
#[test]
fn after_a_break_longer_than_its_pauses_a_subscriber_hears_of_the_gap_and_gets_the_state_anew() {
    for workers in [1, 2, 8] {
        let (workers, _) = dispatcher(workers);
        let node = Node::start(Host::new(workers.handle()), settings()).unwrap();
        block_on(async {
            let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
            let wire = Wire::to(node.address());
            let link = Client::new(None).unwrap().link(&format!("{}/books", wire.url())).unwrap();
            // The subscriber takes the times of its pauses from its own clock.
            let clock = Clock::virtual_time();
            let mut heard = Reference::<Ledger>::over(link).follow(Subscribe::default(), &clock);
            assert!(matches!(heard.next().await, Ok(Event::Seed(_))));
            books.call(put("ada", 1)).await.unwrap();
            assert!(matches!(heard.next().await, Ok(Event::Change(change)) if change.version() == 1));

            wire.be(State::Cut);
            let mut next = Box::pin(heard.next());
            poll_fn(|polling| {
                assert!(next.as_mut().poll(polling).is_pending(), "there is nothing to hear");
                clock.advance_to_next();
                polling.waker().wake_by_ref();
                // The node stays away for several pauses.
                if wire.refused() >= 5 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            for (name, value) in [("bob", 2), ("cleo", 3), ("dan", 4)] {
                books.call(put(name, value)).await.unwrap();
            }
            wire.be(State::Whole);
            let first = while_time_passes(&clock, next).await;
            assert!(matches!(first, Ok(Event::Gap { missed: 3 })), "{first:?}");
            let Ok(Event::Seed(seed)) = heard.next().await else { panic!("behind the gap comes the state") };
            assert_eq!((seed.version(), seed.entries.len()), (4, 4));
            books.call(put("eve", 5)).await.unwrap();
            assert!(matches!(heard.next().await, Ok(Event::Change(change)) if change.version() == 5));

            // An interruption without a change gives no event.
            wire.be(State::Cut);
            wire.be(State::Whole);
            let mut next = Box::pin(heard.next());
            let mut rounds = 0;
            poll_fn(|polling| {
                assert!(next.as_mut().poll(polling).is_pending(), "nothing has happened");
                clock.advance_to_next();
                polling.waker().wake_by_ref();
                rounds += 1;
                let is_back = node
                    .host()
                    .inspect()
                    .services
                    .iter()
                    .any(|one| one.path == "/books" && !one.subscribers.is_empty());
                if is_back && rounds > 1000 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            books.call(put("fay", 6)).await.unwrap();
            let news = while_time_passes(&clock, next).await;
            // The next event is the change, or a gap with the state after it, if the change came before the new
            // subscription.
            assert!(
                matches!(&news, Ok(Event::Change(change)) if change.version() == 6)
                    || matches!(&news, Ok(Event::Gap { missed: 1 }))
            );
        });
        block_on(node.shutdown(FOR_EVER));
    }
}

#[test]
fn who_follows_what_was_never_there_or_not_allowed_is_told() {
    let (workers, _) = dispatcher(1);
    let node = Node::start(Host::new(workers.handle()), settings()).unwrap();
    block_on(async {
        node.host().ready().await;
        let link = Client::new(None).unwrap().link(&format!("http://{}/nothing", node.address())).unwrap();
        let mut heard = Reference::<Ledger>::over(link).follow(Subscribe::default(), &Clock::virtual_time());
        let Err(End::Lost(fault)) = heard.next().await else { panic!("nothing stands there") };
        assert_eq!(fault.code(), Code::UnknownService);
    });
}
