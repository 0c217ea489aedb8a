//! Services whose contract is not a Rust type.

use std::time::Duration;

use lehr_runtime::Port;
use lehr_services::{
    AnyDocument, Call, Code, Contract, Event, Fault, Group, Handled, Host, Operation, Outline, OutlinedOperation,
    Pending, Placement, Program, Subscribe, Verb, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::on_hosts;

/// The document as a client with types of its own knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tally {
    sum: i64,
}

impl Contract for Tally {
    const NAME: &'static str = "test/tally";
    const VERSION: Version = Version::new(1, 1);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Tally, verb = Update, name = "add", reply = i64)]
struct Add {
    number: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Tally, verb = Query, name = "half", reply = i64)]
struct Half {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Tally, verb = Query, name = "look", reply = i64)]
struct Look {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Tally, verb = Submit, name = "ping", reply = String)]
struct Ping {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Tally, verb = Query, name = "missing", reply = i64)]
struct Missing {}

/// The program of a tally. `half` begins and then waits for a message on `go_on`.
#[derive(Clone)]
struct Counting {
    begun: Port<&'static str>,
    go_on: Port<()>,
    started_with: Port<Value>,
}

impl Counting {
    fn new() -> Self {
        Self { begun: Port::new(), go_on: Port::new(), started_with: Port::new() }
    }
}

impl Program for Counting {
    fn start<'a>(&'a self, document: &'a AnyDocument) -> Pending<'a, Result<(), Fault>> {
        self.started_with.post((**document).clone()).unwrap();
        Box::pin(std::future::ready(Ok(())))
    }

    fn handle<'a>(
        &'a self,
        operation: &'static str,
        body: Value,
        document: Option<&'a AnyDocument>,
        call: &'a Call,
    ) -> Pending<'a, Result<Handled, Fault>> {
        Box::pin(async move {
            let sum = document.and_then(|document| document["sum"].as_i64());
            match (operation, sum) {
                ("add", Some(sum)) => {
                    self.begun.post(operation).unwrap();
                    let number = body["number"].as_i64();
                    let number =
                        number.ok_or_else(|| Fault::new(Code::MessageNotSupported, "number: expected an integer"))?;
                    Ok(Handled::changed(json!(sum + number), json!({ "sum": sum + number })))
                }
                ("half", Some(sum)) => {
                    self.begun.post(operation).unwrap();
                    self.go_on.receive().await.unwrap();
                    Ok(Handled::unchanged(json!(sum / 2)))
                }
                // The program returns a new document, although a query may not change it.
                ("look", Some(sum)) => Ok(Handled::changed(json!(sum), json!({ "sum": -1 }))),
                ("ping", None) => Ok(Handled::unchanged(json!(format!("{} is here", call.path())))),
                _ => Err(Fault::new(Code::OperationFailed, format!("{operation} with {document:?}"))),
            }
        })
    }
}

fn operation(verb: Verb, group: Group) -> OutlinedOperation {
    OutlinedOperation { verb, group, body: json!({ "type": "object" }), reply: json!({}) }
}

fn outline(operations: &[(&str, Verb, Group)]) -> Outline {
    let operations = operations.iter().map(|&(name, verb, group)| (name.to_owned(), operation(verb, group)));
    Outline {
        name: Tally::NAME.to_owned(),
        version: Tally::VERSION,
        state: json!({ "type": "object" }),
        operations: operations.collect(),
    }
}

const TALLY: [(&str, Verb, Group); 4] = [
    ("add", Verb::Update, Group::Exclusive),
    ("half", Verb::Query, Group::Concurrent),
    ("look", Verb::Query, Group::Concurrent),
    ("ping", Verb::Submit, Group::Independent),
];

async fn start(host: &Host, placement: impl Into<Placement>, program: &Counting) -> Result<(), Fault> {
    host.start_dynamic(placement, outline(&TALLY), json!({ "sum": 0 }), program.clone()).await.map(drop)
}

#[test]
fn clients_with_types_of_their_own_reach_it() {
    on_hosts(async |host, _| {
        start(&host, "/tally", &Counting::new()).await.unwrap();
        let tally = host.reference::<Tally>("/tally").unwrap();
        let mut changes = tally.subscribe(Subscribe::default()).await.unwrap();
        let Ok(Event::Seed(seed)) = changes.next().await else { panic!("the state comes first") };
        assert_eq!((seed.sum, seed.version()), (0, 0));
        assert_eq!(tally.call(Add { number: 4 }).await.unwrap(), 4);
        assert_eq!(tally.call(Ping {}).await.unwrap(), "/tally is here");
        assert_eq!(tally.call(Look {}).await.unwrap(), 4);
        let state = tally.get().await.unwrap();
        assert_eq!((state.sum, state.version()), (4, 1), "only a verb that changes the state does");
        let Ok(Event::Change(change)) = changes.next().await else { panic!("a change comes next") };
        assert_eq!((change.name(), change.verb(), change.version()), ("add", Verb::Update, 1));
        assert_eq!(*change.operation::<Add>().unwrap(), Add { number: 4 });

        let late = tally.clone().if_version(0);
        assert_eq!(late.call(Add { number: 1 }).await.unwrap_err().code(), Code::PreconditionFailed);
        let keyed = tally.clone().key("once");
        assert_eq!(keyed.call(Add { number: 3 }).await.unwrap(), 7);
        assert_eq!(keyed.call(Add { number: 3 }).await.unwrap(), 7);
        let unknown = tally.call(Missing {}).await.unwrap_err();
        assert!(unknown.reason().contains("it has: add, half, look, ping"), "{unknown}");
        let info = tally.lookup().await.unwrap();
        assert_eq!((info.contract.name.as_str(), info.contract.version), (Tally::NAME, Tally::VERSION));
        assert_eq!((info.counts.repeated, info.contract.operations["add"].verb), (1, Verb::Update));
    });
}

#[test]
fn handlers_keep_to_their_groups() {
    on_hosts(async |host, _| {
        let program = Counting::new();
        start(&host, "/tally", &program).await.unwrap();
        let tally = host.reference::<Tally>("/tally").unwrap();
        let (first, second) = (tally.ask(Half {}), tally.ask(Half {}));
        // Encoded requests are sent when they are polled.
        let waiting = async {
            let both = async {
                let (first, second) = both_of(first, second).await;
                (first.unwrap(), second.unwrap())
            };
            let rest = async {
                assert_eq!(program.begun.take(2).await.unwrap(), ["half", "half"]);
                let add = tally.ask(Add { number: 8 });
                let beside = async {
                    // This request does not wait behind the change, which waits until both `half` operations have
                    // ended.
                    assert_eq!(tally.call(Ping {}).await.unwrap(), "/tally is here");
                    assert!(program.begun.is_empty());
                    program.go_on.post(()).unwrap();
                    program.go_on.post(()).unwrap();
                };
                let (added, ()) = both_of(add, beside).await;
                added.unwrap()
            };
            both_of(both, rest).await
        };
        assert_eq!(waiting.await, ((0, 0), 8));
        assert_eq!(program.begun.try_receive(), Some("add"));
    });
}

/// Runs two futures to their ends.
async fn both_of<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    let (mut first, mut second) = (Box::pin(first), Box::pin(second));
    let (mut one, mut other) = (None, None);
    std::future::poll_fn(|polling| {
        if one.is_none()
            && let std::task::Poll::Ready(output) = first.as_mut().poll(polling)
        {
            one = Some(output);
        }
        if other.is_none()
            && let std::task::Poll::Ready(output) = second.as_mut().poll(polling)
        {
            other = Some(output);
        }
        if one.is_some() && other.is_some() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    (one.unwrap(), other.unwrap())
}

#[test]
fn an_outline_that_cannot_be_meant_stops_the_start() {
    on_hosts(async |host, _| {
        let wrong = [
            (&[("add", Verb::Update, Group::Concurrent)][..], "has the state to itself"),
            (&[("state", Verb::Get, Group::Concurrent)][..], "is answered without a handler"),
            (&[("get", Verb::Query, Group::Concurrent)][..], "no name of a fixed verb"),
            (&[("Add", Verb::Update, Group::Exclusive)][..], "lower case letters"),
        ];
        for (operations, expected) in wrong {
            let started = host.start_dynamic("/tally", outline(operations), json!(null), Counting::new()).await;
            let fault = started.unwrap_err();
            assert_eq!(fault.code(), Code::StartFailed);
            assert!(fault.reason().contains(expected), "{fault}");
            assert_eq!(host.phase("/tally"), None);
        }
    });
}

#[test]
fn what_is_kept_is_the_outlines_and_a_change_that_cannot_be_kept_is_not_made() {
    on_hosts(async |host, _| {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let kept = || Placement::at("/tally").keep(inner.join("tally.json"));
        start(&host, kept(), &Counting::new()).await.unwrap();
        let tally = host.reference::<Tally>("/tally").unwrap();
        tally.call(Add { number: 2 }).await.unwrap();
        let text = std::fs::read_to_string(inner.join("tally.json")).unwrap();
        assert!(
            text.starts_with("{\"lehr_state\":2,\"contract\":\"test/tally\",\"version\":{\"major\":1,\"minor\":1}")
        );

        std::fs::remove_dir_all(&inner).unwrap();
        let fault = tally.call(Add { number: 3 }).await.unwrap_err();
        assert_eq!(fault.code(), Code::InsufficientResources);
        assert_eq!(tally.get().await.unwrap().sum, 2);
        std::fs::create_dir(&inner).unwrap();
        assert_eq!(tally.call(Add { number: 5 }).await.unwrap(), 7);

        tally.drop_service().await.unwrap();
        let program = Counting::new();
        start(&host, kept(), &program).await.unwrap();
        assert_eq!(program.started_with.try_receive().unwrap(), json!({ "sum": 7 }));
        let report = host.shutdown(Duration::from_secs(3600)).await;
        assert!(report.cut_off.is_empty());
    });
}
