//! Several nodes, and the connections between them.

use std::net::TcpListener;

use lehr_node::{Client, Node};
use lehr_runtime::{Context, Port, block_on};
use lehr_services::{
    Call, Code, Concurrent, Contract, Event, Fault, Handlers, Host, Operation, Reference, Service, Subscribe, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behaviours::samples::*;
use crate::behaviours::{Any, begin, together};
use crate::breaking::proxy;
use crate::{FOR_EVER, dispatcher, everywhere, settings};

// Catalogue: 91
#[test]
fn what_was_on_its_way_when_the_connection_broke_is_sent_again_only_if_that_is_harmless() {
    let (dispatcher, _clock) = dispatcher(2);
    let node = Node::start(Host::new(dispatcher.handle()), settings()).unwrap();
    block_on(async {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        let over = |cut: usize| {
            let address = proxy(node.address(), move |number| (number < cut).then_some(0));
            let link = Client::new(None).unwrap().link(&format!("http://{address}/books")).unwrap();
            Reference::<Ledger>::over(link).within(FOR_EVER)
        };
        let fault = over(1).call(enter("ada", 1)).await.unwrap_err();
        assert_eq!(fault.code(), Code::Unavailable);
        assert!(fault.reason().contains("may or may not have been done"), "{fault}");
        assert_eq!(books.get().await.unwrap().log, ["enter ada"]); // only once, because the client did not send it again

        over(1).key("enter bob").call(enter("bob", 2)).await.unwrap();
        assert_eq!(books.get().await.unwrap().log, ["enter ada", "enter bob"]);
        assert_eq!(node.host().counts("/books").unwrap().repeated, 1);

        assert_eq!(over(1).call(Sum {}).await.unwrap(), 3); // a query may be sent again
    });
}

/// A service that calls the books on another node.
#[derive(Clone)]
pub struct Teller {
    slip: Slip,
    books: Reference<Ledger>,
}

impl Teller {
    pub fn new(books: Reference<Ledger>) -> Self {
        Self { slip: Slip::default(), books }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Slip {}

impl Contract for Slip {
    const NAME: &'static str = "test/slip";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Slip, verb = Submit, name = "withdraw", reply = i64)]
pub struct Withdraw {
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Slip, verb = Submit, name = "trace", reply = (String, String))]
pub struct Trace {}

impl Service for Teller {
    type Document = Slip;

    fn document(&self) -> &Slip {
        &self.slip
    }

    fn document_mut(&mut self) -> &mut Slip {
        &mut self.slip
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Withdraw>().concurrent::<Trace>();
    }
}

impl Concurrent<Withdraw> for Teller {
    async fn handle(&self, Withdraw { key }: Withdraw, _: &Call) -> Result<i64, Fault> {
        let struck = self.books.call(Strike { key }).await;
        struck.map_err(|fault| {
            Fault::new(Code::InvalidValue, "nothing to withdraw").caused_by(&fault).log("at the counter")
        })
    }
}

fn trace(call: &Call) -> String {
    call.trace().map(|trace| trace.to_string()).unwrap_or_default()
}

/// A service that returns the trace context of the call.
#[derive(Clone, Default)]
pub struct Tracer {
    slip: Slip,
    /// The trace contexts that the service has returned.
    seen: Port<String>,
}

impl Service for Tracer {
    type Document = Slip;

    fn document(&self) -> &Slip {
        &self.slip
    }

    fn document_mut(&mut self) -> &mut Slip {
        &mut self.slip
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Trace>();
    }
}

impl Concurrent<Trace> for Tracer {
    async fn handle(&self, _: Trace, call: &Call) -> Result<(String, String), Fault> {
        self.seen.post(trace(call)).unwrap();
        Ok((trace(call), String::new()))
    }
}

impl Concurrent<Trace> for Teller {
    async fn handle(&self, _: Trace, call: &Call) -> Result<(String, String), Fault> {
        let tracer = Reference::<Slip>::over(self.tracer());
        Ok((trace(call), tracer.call(Trace {}).await?.0))
    }
}

impl Teller {
    /// Returns a link to the tracer, which runs on the node of the books.
    fn tracer(&self) -> lehr_node::HttpLink {
        let shown = format!("{:?}", self.books);
        let address = shown.split("http://").nth(1).unwrap().split("/books").next().unwrap();
        Client::new(None).unwrap().link(&format!("http://{address}/tracer")).unwrap()
    }
}

/// Runs a behaviour with two nodes: a teller on the first, and the books on the second.
fn two_nodes(behaviour: impl AsyncFn(Reference<Slip>)) {
    let (here, there) = (dispatcher(2), dispatcher(2));
    let start =
        |dispatcher: &lehr_runtime::Dispatcher| Node::start(Host::new(dispatcher.handle()), settings()).unwrap();
    let (near, far) = (start(&here.0), start(&there.0));
    block_on(async {
        far.host().start("/books", Bookkeeper::new).await.unwrap();
        far.host().start("/tracer", Tracer::default).await.unwrap();
        let client = Client::new(None).unwrap();
        let books = Reference::over(client.link(&format!("http://{}/books", far.address())).unwrap()).within(FOR_EVER);
        near.host().start("/teller", move || Teller::new(books.clone())).await.unwrap();
        let teller = client.link(&format!("http://{}/teller", near.address())).unwrap();
        behaviour(Reference::over(teller).within(FOR_EVER)).await;
    });
}

// Catalogue: 95
#[test]
fn a_fault_keeps_its_chain_over_two_nodes() {
    two_nodes(async |teller| {
        let fault = teller.call(Withdraw { key: "ada".to_owned() }).await.unwrap_err();
        assert_eq!((fault.code(), fault.reason()), (Code::InvalidValue, "nothing to withdraw"));
        let causes: Vec<(Code, &str)> =
            fault.causes().iter().map(|cause| (cause.code, cause.reason.as_str())).collect();
        assert_eq!(causes, [(Code::UnknownEntry, "no entry \"ada\"")]);
        assert!(fault.causality().is_some() && fault.log_text().is_none());
    });
}

// Catalogue: 120
#[test]
fn a_question_over_two_nodes_is_one_trace() {
    two_nodes(async |teller| {
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = Context::named("test").trace(header.parse().unwrap()).build();
        let (near, far) = context.scope(teller.call(Trace {})).await.unwrap();
        for seen in [&near, &far] {
            assert!(seen.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && seen.ends_with("-01"), "{seen}");
        }
        assert!(near != far && near != header, "each request is a span of its own");
    });
}

// Catalogue: 120
#[test]
fn a_post_and_a_question_to_another_node_are_of_the_trace_of_their_sender() {
    let (dispatcher, _clock) = dispatcher(2);
    let node = Node::start(Host::new(dispatcher.handle()), settings()).unwrap();
    block_on(async {
        let tracer = Tracer::default();
        let seen = tracer.seen.clone();
        node.host().start("/tracer", move || tracer.clone()).await.unwrap();
        let link = Client::new(None).unwrap().link(&format!("http://{}/tracer", node.address())).unwrap();
        let far = Reference::<Slip>::over(link).within(FOR_EVER);
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = Context::named("test").trace(header.parse().unwrap()).build();
        context.scope(far.post(Trace {})).await.unwrap();
        // Over a link, a post returns when the request was handled. This is how its sender knows that it arrived.
        let posted = seen.try_receive().expect("it has been handled");
        let (asked, _) = context.scope(far.call(Trace {})).await.unwrap();
        for span in [&posted, &asked] {
            assert!(span.starts_with("00-0af7651916cd43dd8448eb211c80319c-"), "{span}");
        }
        assert_ne!(posted, asked);
    });
}

// Catalogue: 126
#[test]
fn a_node_whose_service_hangs_ends_by_its_limit_names_it_and_answers_who_waits() {
    let (dispatcher, clock) = dispatcher(2);
    let node = Node::start(Host::new(dispatcher.handle()), settings()).unwrap();
    let address = node.address();
    block_on(async {
        let keeper = Bookkeeper::new();
        let begun = keeper.begun.clone();
        node.host().start("/hung", move || keeper.clone()).await.unwrap();
        let link = Client::new(None).unwrap().link(&format!("http://{address}/hung")).unwrap();
        let hung = Reference::<Ledger>::over(link).within(FOR_EVER);
        let mut call: Any<'_, _> = Box::pin(hung.call(hold_alone("for ever")));
        begin(&mut call).await;
        assert_eq!(begun.receive().await.unwrap(), "for ever");
        let limit = std::time::Duration::from_secs(60);
        let mut ending: Any<'_, _> = Box::pin(node.shutdown(limit));
        begin(&mut ending).await;
        clock.advance(limit);
        let report = ending.await;
        assert_eq!((report.stopped.len(), report.cut_off.as_slice()), (0, ["/hung".to_owned()].as_slice()));
        assert_eq!(call.await.unwrap_err().code(), Code::OperationFailed);
        assert_eq!(begun.receive().await.unwrap(), "end of for ever");
        // The port is free again for another process.
        drop(TcpListener::bind(address).unwrap());
    });
}

// Catalogue: 118
#[test]
fn a_service_that_is_slow_holds_up_neither_its_neighbours_nor_memory() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        let placement = lehr_services::Placement::at("/slow").queue(8);
        world.host().start(placement, move || keeper.clone()).await.unwrap();
        world.host().start("/fast", Bookkeeper::new).await.unwrap();
        let (slow, fast) = (world.to::<Ledger>("/slow"), world.to::<Ledger>("/fast"));
        let mut calls: Vec<Any<'_, Result<(), Code>>> = Vec::new();
        calls.push(Box::pin(async { slow.call(hold_alone("first")).await.map(|_| ()).map_err(|fault| fault.code()) }));
        for number in 0..100 {
            let slow = slow.clone();
            calls.push(Box::pin(async move { slow.call(put("key", number)).await.map_err(|fault| fault.code()) }));
        }
        calls.push(Box::pin(async {
            assert_eq!(begun.receive().await.unwrap(), "first");
            for number in 0..20 {
                fast.call(put("key", number)).await.unwrap(); // the same connection carries these calls
            }
            gate.post(()).unwrap();
            Ok(())
        }));
        let outcomes = together(calls).await;
        let refused = outcomes.iter().filter(|outcome| **outcome == Err(Code::QueuingLimitExceeded)).count();
        assert!(outcomes.iter().all(|outcome| outcome.is_ok() || *outcome == Err(Code::QueuingLimitExceeded)));
        let done = world.to::<Ledger>("/slow").get().await.unwrap().log.len() - 1;
        assert_eq!(done + refused, 100);
    });
}

#[test]
fn a_subscriber_hears_that_its_node_has_gone() {
    let (dispatcher, _clock) = dispatcher(2);
    let node = Node::start(Host::new(dispatcher.handle()), settings()).unwrap();
    block_on(async {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let client = Client::new(None).unwrap();
        let books = Reference::<Ledger>::over(client.link(&format!("http://{}/books", node.address())).unwrap());
        let mut watched = books.subscribe(Subscribe::default()).await.unwrap();
        assert!(matches!(watched.next().await, Ok(Event::Seed(_))));
        node.shutdown(FOR_EVER).await;
        assert_eq!(watched.next().await.unwrap_err(), lehr_services::End::Stopped);
        assert_eq!(books.call(Sum {}).await.unwrap_err().code(), Code::Unavailable);
    });
}
