//! The inspector of a node, which shows what is stuck, and its log.

use std::time::Duration;

use lehr_node::{INSPECTOR, Inspector, LOG, Log, Logging, Look, Node, SeenService, Settings};
use lehr_runtime::{Port, block_on};
use lehr_services::{
    Call, Concurrent, Contract, Exclusive, Fault, Handlers, Host, Operation, Reference, Service, Starting, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::behaviours::samples::*;
use crate::behaviours::{Any, begin};
use crate::raw::ask;
use crate::{FOR_EVER, dispatcher, settings};

/// A service that does everything by calling the books.
#[derive(Clone)]
struct Clerk {
    desk: Desk,
    books: Option<Reference<Ledger>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Desk {}

impl Contract for Desk {
    const NAME: &'static str = "test/desk";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Desk, verb = Update, name = "book")]
pub struct Book {
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Desk, verb = Query, name = "read")]
pub struct Read {}

impl Service for Clerk {
    type Document = Desk;

    fn document(&self) -> &Desk {
        &self.desk
    }

    fn document_mut(&mut self) -> &mut Desk {
        &mut self.desk
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Book>().concurrent::<Read>();
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.books = Some(starting.host().reference("/books")?);
        Ok(())
    }
}

impl Exclusive<Book> for Clerk {
    async fn handle(&mut self, Book { key }: Book, _: &Call) -> Result<(), Fault> {
        self.books.as_ref().unwrap().call(hold_alone(&key)).await.map(|_| ())
    }
}

impl Concurrent<Read> for Clerk {
    async fn handle(&self, _: Read, _: &Call) -> Result<(), Fault> {
        Ok(())
    }
}

// Catalogue: 124
#[test]
fn a_service_that_is_stuck_is_shown_with_its_handler_what_that_waits_for_and_the_queue_behind() {
    for workers in [1, 2, 8] {
        let (workers, clock) = dispatcher(workers);
        let node = Node::start(Host::new(workers.handle()), settings()).unwrap();
        block_on(async {
            let host = node.host();
            let keeper = Bookkeeper { gate: Port::named("the gate"), ..Bookkeeper::new() };
            host.watch_port(&keeper.gate);
            let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
            let books = host.start("/books", move || keeper.clone()).await.unwrap();
            let clerk = host.start("/clerk", || Clerk { desk: Desk::default(), books: None }).await.unwrap();
            let inspector = host.start(INSPECTOR, Inspector::default).await.unwrap();

            let mut booked: Any<'_, _> = Box::pin(clerk.call(Book { key: "ada".to_owned() }));
            begin(&mut booked).await;
            assert_eq!(begun.receive().await.unwrap(), "ada");
            let mut behind: Vec<Any<'_, Result<(), Fault>>> = Vec::new();
            for _ in 0..3 {
                behind.push(Box::pin(books.call(put("bob", 1))));
            }
            for waiting in &mut behind {
                begin(waiting).await;
            }
            let mut read: Any<'_, _> = Box::pin(clerk.call(Read {}));
            begin(&mut read).await;
            // The handlers have begun. The test looks again until each handler also shows what it waits for.
            while !["/books", "/clerk"].into_iter().all(|path| {
                let services = host.inspect().services;
                let found = services.iter().find(|service| service.path == path);
                found.and_then(|service| service.running.first()).is_some_and(|handler| !handler.waits_for.is_empty())
            }) {
                std::thread::yield_now();
            }
            clock.advance(Duration::from_secs(90));
            let seen = inspector.call(Look { older_than_ms: 90_000, ..Look::default() }).await.unwrap();
            let [books_seen, clerk_seen] = seen.services.as_slice() else { panic!("only what is stuck: {seen:?}") };
            let handler = &books_seen.running[0];
            assert_eq!((handler.operation.as_str(), handler.age_ms), ("hold_alone", 90_000));
            assert_eq!(handler.waits_for, ["receive at port \"the gate\" since 0ns"]);
            let waits = |service: &SeenService, name: &str| {
                let port = service.ports.iter().find(|port| port.name == name).unwrap();
                assert_eq!(port.posted - port.taken, port.waiting as u64, "{port:?}");
                port.waiting
            };
            assert_eq!(waits(books_seen, "put"), 3);
            let handler = &clerk_seen.running[0];
            assert_eq!(handler.operation, "book");
            assert_eq!(handler.waits_for, ["the answer to \"hold_alone\" of /books"]);
            assert_eq!(waits(clerk_seen, "read"), 1);
            assert!(
                seen.ports.iter().any(|port| port.name.contains("the gate") && port.waiting == 0),
                "{:?}",
                seen.ports
            );
            let [services] = seen.dispatchers.as_slice() else { panic!("{:?}", seen.dispatchers) };
            assert_eq!(services.workers.len(), seen.workers);
            assert!(services.workers.iter().map(|worker| worker.jobs).sum::<usize>() > 0);
            // The result over HTTP is the same, and contains only the requested service.
            let page = ask(node.address(), "GET /inspector:look?path=/clerk", "", "").json();
            assert_eq!(page["services"][0]["running"][0]["operation"], json!("book"));
            assert_eq!(page["services"].as_array().unwrap().len(), 1);

            gate.post(()).unwrap();
            booked.await.unwrap();
            for waiting in behind {
                waiting.await.unwrap();
            }
            read.await.unwrap();
            let seen = inspector.call(Look { path: "/books".to_owned(), ..Look::default() }).await.unwrap();
            assert!(
                seen.services[0].running.is_empty() && seen.services[0].ports.iter().all(|port| port.waiting == 0),
                "{seen:?}"
            );
        });
        block_on(node.shutdown(FOR_EVER));
    }
}

#[test]
fn a_handler_that_is_cancelled_or_panics_is_no_longer_shown() {
    let (workers, clock) = dispatcher(2);
    let host = Host::new(workers.handle());
    block_on(async {
        let keeper = Bookkeeper::new();
        let begun = keeper.begun.clone();
        let books = host.start("/books", move || keeper.clone()).await.unwrap();
        let limited = books.clone().within(Duration::from_secs(5));
        let mut held: Any<'_, _> = Box::pin(limited.call(hold("ada")));
        begin(&mut held).await;
        assert_eq!(begun.receive().await.unwrap(), "ada");
        clock.advance(Duration::from_secs(5));
        held.await.unwrap_err();
        assert_eq!(begun.receive().await.unwrap(), "end of ada");
        books.call(Break {}).await.unwrap_err();
        books.call(put("ada", 1)).await.unwrap();
        // The drop of the handler's future has posted the last message, but the drop may not be complete yet.
        while host.inspect().services.iter().any(|service| !service.running.is_empty()) {
            std::thread::yield_now();
        }
    });
}

/// Runs a behaviour on a node whose log goes into a port.
fn logged(filters: &str, behaviour: impl AsyncFn(&Node, &Port<Value>)) {
    let lines = Port::<Value>::new();
    let sink = lines.clone();
    let log = Log::new(filters, move |line| sink.post(serde_json::from_str(line).unwrap()).unwrap()).unwrap();
    let (workers, _) = dispatcher(2);
    let node = Node::start(Host::new(workers.handle()), Settings { log: Some(log.clone()), ..settings() }).unwrap();
    block_on(async {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        node.host().start(LOG, move || Logging::new(log.clone())).await.unwrap();
        behaviour(&node, &lines).await;
    });
    block_on(node.shutdown(FOR_EVER));
}

// Catalogue: 125
#[test]
fn the_filters_of_the_log_are_changed_while_the_node_runs() {
    logged("off", async |node, lines| {
        let at = node.address();
        let filter = |filters: &str| {
            let body = json!({ "filters": filters }).to_string();
            ask(at, "POST /log:filter", "content-type: application/json\r\n", &body).status
        };
        ask(at, "GET /books", "", "");
        assert_eq!(filter("off,/books=info"), 200);
        ask(at, "GET /books:sum?secret=of-the-client", "", "");
        let line = lines.receive().await.unwrap();
        let shown = ["level", "path", "contract", "method", "caller", "status"].map(|name| line[name].clone());
        let expected =
            [json!("info"), json!("/books:sum"), json!("test/ledger"), json!("GET"), json!("anonymous"), json!(200)];
        assert_eq!(shown, expected);
        assert!(!line.to_string().contains("of-the-client"));
        assert_eq!(filter("loud"), 422);
        assert_eq!(filter("off,test/ledger=warn"), 200);
        ask(at, "GET /books", "", "");
        ask(at, "POST /books:fly", "content-type: application/json\r\n", "{}");
        let line = lines.receive().await.unwrap();
        assert_eq!((&line["level"], &line["code"]), (&json!("warn"), &json!("action_not_supported")));
        assert_eq!(ask(at, "GET /log", "", "").json(), json!({ "filters": "off,test/ledger=warn" }));
    });
}

#[test]
fn the_log_has_the_text_that_the_client_does_not_get_and_no_secret() {
    logged("error", async |node, lines| {
        let header = "content-type: application/json\r\nauthorization: Bearer this-is-nobodys-business\r\n";
        let answer = ask(node.address(), "POST /books:break", header, "{}");
        assert_eq!(answer.status, 500);
        assert!(!String::from_utf8(answer.body).unwrap().contains("index 7 of 3"));
        let line = lines.receive().await.unwrap();
        assert_eq!(line["log"], json!("/books: break panicked: index 7 of 3"));
        assert!(!line.to_string().contains("nobodys-business"));
        let state = ask(node.address(), "GET /log", "", "");
        assert!(!String::from_utf8(state.body).unwrap().contains("index 7"));
        let tail = ask(node.address(), "GET /log:tail", "", "").json();
        assert_eq!((&tail["next"], &tail["lines"][0]["fields"]["path"]), (&json!(1), &json!("/books:break")));
        assert!(!tail.to_string().contains("index 7"), "{tail}");
        let later = ask(node.address(), "GET /log:tail?from=1", "", "").json();
        assert_eq!(later["lines"], json!([]));
    });
}
