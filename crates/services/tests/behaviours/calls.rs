//! One request and its answer.

use std::time::Duration;

use lehr_runtime::block_on;
use lehr_services::{Code, Contract, Operation, Replace, Subscribe, Verb, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::samples::*;
use super::{begin, together};
use crate::everywhere;

// Catalogue: 81
#[test]
fn what_a_sender_keeps_and_what_a_reader_was_given_is_its_own() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let mut kept = enter("ada", 1);
        books.call(kept.clone()).await.unwrap();
        kept.value = 1000;
        let seen = books.get().await.unwrap();
        books.call(correct("ada", 2)).await.unwrap();
        let mut copy = (*books.get().await.unwrap()).clone();
        copy.entries.clear();
        assert_eq!((seen.entries["ada"], books.get().await.unwrap().entries["ada"]), (1, 2));
    });
}

/// The ledger as an older client knows it: without the log, and with a strike that has another form.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OldLedger {
    entries: std::collections::BTreeMap<String, i64>,
}

impl Contract for OldLedger {
    const NAME: &'static str = Ledger::NAME;
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = OldLedger, verb = Upsert, name = "put")]
pub struct OldPut {
    pub key: String,
    pub value: i64,
    pub remark: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = OldLedger, verb = Delete, name = "strike", reply = i64)]
pub struct OldStrike {
    pub number: i64,
}

/// A ledger with another major version.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextLedger {}

impl Contract for NextLedger {
    const NAME: &'static str = Ledger::NAME;
    const VERSION: Version = Version::new(2, 0);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = NextLedger, verb = Query, name = "sum", reply = i64)]
pub struct NextSum {}

// Catalogue: 82
#[test]
fn clients_of_another_build_are_understood_or_told_the_difference() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let old = world.to::<OldLedger>("/books");
        old.call(OldPut { key: "ada".to_owned(), value: 3, remark: None }).await.unwrap();
        assert_eq!(old.get().await.unwrap().entries["ada"], 3);
        let fault = old.call(OldStrike { number: 3 }).await.unwrap_err();
        assert_eq!(fault.code(), Code::MessageNotSupported);
        assert!(fault.reason().contains("key: required, and not sent; number: sent, and not known"), "{fault}");
    });
}

// Catalogue: 82
#[test]
fn another_major_version_is_another_contract() {
    crate::on_hosts(async |host, _| {
        host.start("/books", Bookkeeper::new).await.unwrap();
        assert_eq!(host.reference::<NextLedger>("/books").unwrap_err().code(), Code::ContractMismatch);
        assert_eq!(host.reference::<Pair>("/books").unwrap_err().code(), Code::ContractMismatch);
        let link = super::Resolving::new(&host, "/books");
        let next = lehr_services::Reference::<NextLedger>::over(link);
        let fault = next.call(NextSum {}).await.unwrap_err();
        assert_eq!(fault.reason(), "/books speaks test/ledger 1.0; the request is for test/ledger 2.0");
        assert_eq!(fault.code(), Code::ContractMismatch);
    });
}

// Catalogue: 84
#[test]
fn each_verb_says_what_must_be_there() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        books.call(enter("ada", 1)).await.unwrap();
        assert_eq!(books.call(enter("ada", 2)).await.unwrap_err().code(), Code::DuplicateEntry);
        assert_eq!(books.call(correct("bob", 2)).await.unwrap_err().code(), Code::UnknownEntry);
        let strike = |key: &str| Strike { key: key.to_owned() };
        assert_eq!(books.call(strike("bob")).await.unwrap_err().code(), Code::UnknownEntry);
        books.call(put("ada", 5)).await.unwrap();
        books.call(put("bob", 6)).await.unwrap();
        assert_eq!(books.call(correct("ada", 7)).await.unwrap(), 5);
        assert_eq!(books.call(strike("bob")).await.unwrap(), 6);
        assert_eq!(books.call(Sum {}).await.unwrap(), 7);
        // Operations that ended in a fault have changed nothing, not even the version.
        assert_eq!(books.get().await.unwrap().version(), 5);
    });
}

// Catalogue: 85
#[test]
fn a_get_sees_the_whole_of_one_state() {
    everywhere(async |world| {
        world.host().start("/pair", Pair::default).await.unwrap();
        let pair = world.to::<Pair>("/pair");
        let (writer, reader) = (pair.clone(), pair.clone());
        let write = async move {
            for round in 0..50_u64 {
                let half = vec![round; 20];
                writer.call(Replace(Pair { left: half.clone(), right: half })).await.unwrap();
            }
        };
        let read = async move {
            let mut version = 0;
            while version < 50 {
                let state = reader.get().await.unwrap();
                assert_eq!(state.left, state.right);
                assert!(state.version() >= version, "a later get sees no earlier state");
                version = state.version();
            }
        };
        together::<()>(vec![Box::pin(write), Box::pin(read)]).await;
    });
}

// Catalogue: 86
#[test]
fn lookup_and_get_are_answered_without_a_handler() {
    everywhere(async |world| {
        world.host().start("/pair", Pair::default).await.unwrap();
        let pair = world.to::<Pair>("/pair");
        assert_eq!(*pair.get().await.unwrap(), Pair::default());
        let info = pair.lookup().await.unwrap();
        assert_eq!((info.path.as_str(), info.contract.name.as_str()), ("/pair", Pair::NAME));
        let operations: Vec<(&str, Verb)> =
            info.contract.operations.iter().map(|(name, operation)| (name.as_str(), operation.verb)).collect();
        assert_eq!(operations, [("replace", Verb::Replace)]);
    });
}

/// An operation with the name of `Enter` and another type of key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Insert, name = "enter")]
struct WrongEnter {
    key: i64,
}

// Catalogue: 87
#[test]
fn what_is_not_in_the_contract_is_refused_at_once() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        world.host().start("/books", move || keeper.clone()).await.unwrap();
        let books = world.to::<Ledger>("/books");
        // The service is busy, but none of the following requests waits for it.
        let mut busy: super::Any<'_, _> = Box::pin(books.call(hold_alone("first")));
        begin(&mut busy).await;
        assert_eq!(begun.receive().await.unwrap(), "first");
        assert_eq!(books.call(Nowhere {}).await.unwrap_err().code(), Code::ActionNotSupported);
        let fault = books.call(WrongEnter { key: 3 }).await.unwrap_err();
        assert_eq!(fault.code(), Code::MessageNotSupported);
        assert!(fault.reason().contains("key: integer is sent, string is expected"), "{fault}");
        let waiting: usize = books.lookup().await.unwrap().waiting.iter().map(|waiting| waiting.requests).sum();
        assert_eq!(waiting, 0);
        gate.post(()).unwrap();
        assert_eq!(busy.await.unwrap(), "first");
    });
}

// Catalogue: 88
#[test]
fn requests_of_one_client_are_admitted_in_its_order() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        world.host().start("/books", move || keeper.clone()).await.unwrap();
        let books = world.to::<Ledger>("/books");
        for round in 0..20 {
            let replaced = Ledger { log: vec!["replaced".to_owned()], ..Ledger::default() };
            let calls: Vec<super::Any<'_, ()>> = vec![
                Box::pin(async { drop(books.call(hold_alone("first")).await.unwrap()) }),
                Box::pin(async { books.call(put("a", 1)).await.unwrap() }),
                Box::pin(async { books.call(Replace(replaced)).await.unwrap() }),
                Box::pin(async { books.call(put("b", 2)).await.unwrap() }),
                Box::pin(async {
                    let log = books.get().await.unwrap().log.clone();
                    assert_eq!(log, ["replaced", "put b"], "round {round}");
                }),
                Box::pin(async {
                    assert_eq!(begun.receive().await.unwrap(), "first");
                    gate.post(()).unwrap();
                    assert_eq!(begun.receive().await.unwrap(), "end of first");
                }),
            ];
            together(calls).await;
        }
    });
}

// Catalogue: 90
#[test]
fn when_the_time_is_up_the_caller_gets_one_fault_and_the_handler_is_dropped() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let begun = keeper.begun.clone();
        world.host().start("/books", move || keeper.clone()).await.unwrap();
        let books = world.to::<Ledger>("/books").within(Duration::from_secs(1000));
        let mut slow: super::Any<'_, _> = Box::pin(books.call(hold("slow")));
        begin(&mut slow).await;
        assert_eq!(begun.receive().await.unwrap(), "slow");
        world.clock().advance(Duration::from_secs(1000));
        assert_eq!(slow.await.unwrap_err().code(), Code::ResponseTimeout);
        assert_eq!(begun.receive().await.unwrap(), "end of slow");
        assert_eq!(world.to::<Ledger>("/books").call(Sum {}).await.unwrap(), 0);
    });
}

// Catalogue: 91
#[test]
fn with_a_key_a_request_that_is_sent_again_is_done_once() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let first = books.clone().key("transfer 7");
        first.call(enter("ada", 1)).await.unwrap();
        first.call(enter("ada", 1)).await.unwrap(); // without the key, the request is a duplicate
        assert_eq!(books.call(enter("ada", 1)).await.unwrap_err().code(), Code::DuplicateEntry);
        assert_eq!(books.get().await.unwrap().log, ["enter ada"]);
        let info = books.lookup().await.unwrap();
        assert_eq!(info.counts.repeated, 1);
        // A fault is remembered under a key too.
        let second = books.clone().key("transfer 8");
        assert_eq!(second.call(enter("ada", 1)).await.unwrap_err().code(), Code::DuplicateEntry);
        books.call(Strike { key: "ada".to_owned() }).await.unwrap();
        assert_eq!(second.call(enter("ada", 1)).await.unwrap_err().code(), Code::DuplicateEntry);
    });
}

// Catalogue: 92
#[test]
fn those_that_look_overlap_and_those_that_change_do_not() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        world.host().start("/books", move || keeper.clone()).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let calls: Vec<super::Any<'_, ()>> = vec![
            Box::pin(async { drop(books.call(hold("left")).await.unwrap()) }),
            Box::pin(async { drop(books.call(hold("right")).await.unwrap()) }),
            Box::pin(async { drop(books.call(hold_alone("alone")).await.unwrap()) }),
            Box::pin(async {
                let mut both = begun.take(2).await.unwrap();
                both.sort();
                assert_eq!(both, ["left", "right"]);
                // Independent handlers wait for no other handler. Handlers that change the state wait for both readers.
                assert_eq!(books.call(Ping {}).await.unwrap(), "/books");
                assert!(begun.is_empty());
                gate.post(()).unwrap();
                gate.post(()).unwrap();
                let mut ended = begun.take(2).await.unwrap();
                ended.sort();
                assert_eq!(ended, ["end of left", "end of right"]);
                assert_eq!(begun.receive().await.unwrap(), "alone");
                assert_eq!(books.call(Ping {}).await.unwrap(), "/books");
                gate.post(()).unwrap();
            }),
        ];
        together(calls).await;
    });
}

// Catalogue: 93
#[test]
fn beyond_the_bound_senders_are_told_and_nothing_that_was_taken_is_lost() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        let placement = lehr_services::Placement::at("/books").queue(3);
        world.host().start(placement, move || keeper.clone()).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let mut busy: super::Any<'_, _> = Box::pin(books.call(hold_alone("first")));
        begin(&mut busy).await;
        assert_eq!(begun.receive().await.unwrap(), "first");
        let puts = (0..10).map(|number| -> super::Any<'_, _> {
            let books = books.clone();
            Box::pin(async move { books.call(put("key", number)).await })
        });
        let mut calls: Vec<super::Any<'_, _>> = puts.collect();
        calls.push(Box::pin(async {
            // Open the gate when the ten requests have been sent.
            while books.lookup().await.unwrap().waiting.iter().map(|waiting| waiting.requests).sum::<usize>() < 3 {}
            gate.post(()).unwrap();
            Ok(())
        }));
        let outcomes = together(calls).await;
        assert_eq!(busy.await.unwrap(), "first");
        let refused: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        assert!(refused.iter().all(|fault| fault.code() == Code::QueuingLimitExceeded && fault.retry_hint().is_some()));
        let done = books.get().await.unwrap().log.len() - 1;
        assert_eq!((done + refused.len(), done >= 3), (10, true));
    });
}

// Catalogue: 94
#[test]
fn a_handler_that_panics_is_a_fault_at_once_and_the_service_goes_on() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books").within(Duration::from_secs(1000));
        let fault = books.call(Break {}).await.unwrap_err();
        assert_eq!((fault.code(), fault.reason()), (Code::OperationFailed, "the operation failed inside the service"));
        assert!(fault.causality().is_some());
        assert_eq!(books.call(BreakAlone {}).await.unwrap_err().code(), Code::OperationFailed);
        // The change before the panic remains, but the state has another version, so nobody takes it for the earlier
        // state.
        let state = books.get().await.unwrap();
        assert_eq!((state.version(), state.log.as_slice()), (1, ["half".to_owned()].as_slice()));
        books.call(put("ada", 1)).await.unwrap();
        assert_eq!(world.host().counts("/books").unwrap().panics, 2);
    });
}

#[test]
fn a_change_for_another_version_is_not_made() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let state = books.get().await.unwrap();
        let at = books.clone().if_version(state.version());
        at.call(put("ada", 1)).await.unwrap();
        let fault = at.call(put("ada", 2)).await.unwrap_err();
        assert_eq!(fault.code(), Code::PreconditionFailed);
        assert_eq!(books.call(Sum {}).await.unwrap(), 1);
    });
}

#[test]
fn wishes_that_cannot_be_meant_are_refused_with_every_fault() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let wishes = Subscribe::default().pattern("(").capacity(0).count(0);
        let fault = world.to::<Ledger>("/books").subscribe(wishes).await.unwrap_err();
        assert_eq!(fault.code(), Code::InvalidValue);
        for part in ["pattern:", "capacity: expected 1 to 65536, found 0", "count: expected at least 1, found 0"] {
            assert!(fault.reason().contains(part), "{fault}");
        }
    });
}

#[test]
fn a_reference_says_what_it_is_for() {
    crate::on_hosts(async |host, _| {
        let books = host.start("/books", Bookkeeper::new).await.unwrap();
        assert!(format!("{books:?}").contains("/books"));
        assert_eq!(block_on(std::future::ready(host.paths())), ["/books", "/directory"]);
    });
}
