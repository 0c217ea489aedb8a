//! Partners on other nodes. They are found by address when a service starts, cannot be reached while their node is
//! away, and are found again when it is back.

use std::time::Duration;

use lehr_node::{Client, Node};
use lehr_runtime::{Clock, Dispatcher, block_on};
use lehr_services::{Code, Host, Placement};

use crate::behaviours::partners::{BOUND, Clerk, Total};
use crate::behaviours::samples::*;
use crate::behaviours::{Any, begin};
use crate::wire::{State, Wire};
use crate::{dispatcher, settings};

/// Two nodes with a wire between them; the near node reaches other nodes.
struct Two {
    near: Node,
    far: Node,
    wire: Wire,
    /// The clock of the near node.
    clock: Clock,
    _workers: [Dispatcher; 2],
}

impl Two {
    fn new() -> Self {
        let ((here, clock), (there, _)) = (dispatcher(2), dispatcher(2));
        let start = |workers: &Dispatcher| Node::start(Host::new(workers.handle()), settings()).unwrap();
        let (near, far) = (start(&here), start(&there));
        let client = Client::new(None).unwrap();
        near.host().reach_by(move |address| client.link(address));
        let wire = Wire::to(far.address());
        Self { near, far, wire, clock, _workers: [here, there] }
    }

    /// Returns the placement of a desk whose books are on the far node.
    fn desk(&self) -> Placement {
        Placement::at("/desk").bind("books", format!("{}/books", self.wire.url()))
    }
}

#[test]
fn a_partner_of_another_node_goes_with_it_and_comes_back_with_it() {
    block_on(async {
        let two = Two::new();
        let books = two.far.host().start("/books", Bookkeeper::new).await.unwrap();
        books.call(put("ada", 4)).await.unwrap();
        let desk = two.near.host().start(two.desk(), Clerk::<BOUND>::default).await.unwrap();
        assert_eq!(desk.get().await.unwrap().partner.as_deref(), Some("/books"));
        assert_eq!(desk.call(Total {}).await.unwrap(), 4);

        two.wire.be(State::Cut);
        assert_eq!(desk.call(Total {}).await.unwrap_err().code(), Code::Unavailable);
        two.wire.be(State::Whole);
        assert_eq!(desk.call(Total {}).await.unwrap(), 4);

        // Only the service is dropped; its node stays.
        books.drop_service().await.unwrap();
        assert_eq!(desk.call(Total {}).await.unwrap_err().code(), Code::Unavailable);

        // Another node takes the place of the far node, with a new incarnation of the service.
        let (workers, _) = dispatcher(1);
        let next = Node::start(Host::new(workers.handle()), settings()).unwrap();
        next.host().start("/books", Bookkeeper::new).await.unwrap().call(put("bob", 7)).await.unwrap();
        two.wire.lead_to(next.address());
        assert_eq!(desk.call(Total {}).await.unwrap(), 7);
    });
}

#[test]
fn a_service_waits_for_its_partner_on_another_node_as_long_as_its_patience_lasts() {
    block_on(async {
        let two = Two::new();
        let patience = Duration::from_secs(30);
        let place = || two.desk().patience(patience);
        let mut starting: Any<'_, _> = Box::pin(two.near.host().start(place(), Clerk::<BOUND>::default));
        begin(&mut starting).await;
        // The start has asked once and found no service at the address. It now has two timers: the next attempt, and
        // the end of its patience.
        two.clock.wait_for_timers(2);
        two.far.host().start("/books", Bookkeeper::new).await.unwrap();
        two.clock.advance(Duration::from_millis(100));
        let desk = starting.await.unwrap();
        assert_eq!(desk.call(Total {}).await.unwrap(), 0);
        desk.drop_service().await.unwrap();

        two.wire.be(State::Cut);
        let mut starting: Any<'_, _> = Box::pin(two.near.host().start(place(), Clerk::<BOUND>::default));
        begin(&mut starting).await;
        two.clock.wait_for_timers(2);
        two.clock.advance(patience);
        let fault = starting.await.unwrap_err();
        assert_eq!(fault.reason(), "partner \"books\" (test/ledger) of /desk does not exist");
        assert!(fault.causes()[0].reason.starts_with("looked for http://"), "{fault}");
        assert!(fault.causes()[1].reason.contains("cannot be reached"), "{fault}");
        assert_eq!(two.near.host().phase("/desk"), None);
    });
}
