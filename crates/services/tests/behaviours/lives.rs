//! The start, end and restart of services, and the directory.

use std::time::Duration;

use lehr_runtime::Port;
use lehr_services::{
    ByContract, Code, Contract, DIRECTORY, Directory, Event, Fault, Handlers, Phase, Placement, Restart, Service,
    Starting, Stop, Subscribe,
};

use super::samples::*;
use super::{Any, begin, together};
use crate::{everywhere, on_hosts};

// Catalogue: 83
#[test]
fn a_reference_finds_the_next_life_or_is_stale_as_it_was_told() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let pinned = books.clone().pinned().await.unwrap();
        pinned.call(put("ada", 1)).await.unwrap();
        let first = books.get().await.unwrap().incarnation();
        let taken = world.host().start("/books", Bookkeeper::new).await.unwrap_err();
        assert_eq!(taken.code(), Code::DuplicateEntry);
        books.drop_service().await.unwrap();
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        assert_eq!(pinned.call(put("ada", 2)).await.unwrap_err().code(), Code::StaleReference);
        let state = books.get().await.unwrap();
        assert_eq!((state.version(), state.incarnation() > first), (0, true));
        books.call(put("ada", 3)).await.unwrap();
    });
}

// Catalogue: 89
#[test]
fn after_a_drop_nothing_is_left() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let stopped = keeper.stopped.clone();
        world.host().start("/books", move || keeper.clone()).await.unwrap();
        let (books, directory) = (world.to::<Ledger>("/books"), world.to::<Directory>(DIRECTORY));
        assert!(directory.get().await.unwrap().services.contains_key("/books"));
        books.drop_service().await.unwrap();
        assert_eq!(stopped.try_receive(), Some(Stop::Dropped));
        assert_eq!(books.call(Sum {}).await.unwrap_err().code(), Code::UnknownService);
        assert_eq!(books.get().await.unwrap_err().code(), Code::UnknownService);
        assert_eq!(books.drop_service().await.unwrap_err().code(), Code::UnknownService);
        assert!(!directory.get().await.unwrap().services.contains_key("/books"));
        assert_eq!(directory.drop_service().await.unwrap_err().code(), Code::ActionNotSupported);
    });
}

/// A service that cannot start: it waits, and then returns a fault or panics.
#[derive(Clone)]
struct Failing {
    pair: Pair,
    gate: Port<bool>,
}

impl Service for Failing {
    type Document = Pair;

    fn document(&self) -> &Pair {
        &self.pair
    }

    fn document_mut(&mut self) -> &mut Pair {
        &mut self.pair
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.replaceable();
    }

    async fn start(&mut self, _: &Starting) -> Result<(), Fault> {
        if self.gate.receive().await.unwrap() {
            panic!("no luck")
        }
        Err(Fault::new(Code::InsufficientResources, "no memory"))
    }
}

// Catalogue: 96
#[test]
fn a_start_that_fails_leaves_nothing_and_tells_who_waits() {
    on_hosts(async |host, _| {
        for panics in [false, true] {
            let gate = Port::new();
            let wait = gate.clone();
            let mut starting: Any<'_, _> =
                Box::pin(host.start("/pair", move || Failing { pair: Pair::default(), gate: wait.clone() }));
            begin(&mut starting).await;
            // Requests wait until the service is ready.
            let pair = loop {
                match host.reference::<Pair>("/pair") {
                    Ok(pair) => break pair,
                    Err(fault) => assert_eq!(fault.code(), Code::Unavailable),
                }
            };
            let mut early: Any<'_, _> = Box::pin(pair.get());
            begin(&mut early).await;
            gate.post(panics).unwrap();
            let fault = starting.await.unwrap_err();
            assert_eq!(fault.code(), Code::StartFailed);
            let cause = fault.causes().first().map(|cause| cause.code);
            assert_eq!(cause, (!panics).then_some(Code::InsufficientResources));
            assert_eq!(early.await.unwrap_err().code(), Code::ServiceStopping);
            assert_eq!((host.phase("/pair"), host.paths()), (None, vec![DIRECTORY.to_owned()]));
            let directory = host.reference::<Directory>(DIRECTORY).unwrap();
            assert_eq!(directory.get().await.unwrap().services.len(), 1);
        }
    });
}

// Catalogue: 97
#[test]
fn a_service_that_crashes_again_and_again_is_left_down() {
    on_hosts(async |host, clock| {
        let policy = Restart::OnPanic { max: 3, within: Duration::from_secs(10) };
        let books = host.start(Placement::at("/books").restart(policy), Bookkeeper::new).await.unwrap();
        let directory = host.reference::<Directory>(DIRECTORY).unwrap();
        let mut watched = directory.subscribe(Subscribe::default().keys(["/books"])).await.unwrap();
        let Ok(Event::Seed(_)) = watched.next().await else { panic!("the state comes first") };
        for life in 0..4 {
            clock.advance(Duration::from_secs(1));
            assert_eq!(books.call(BreakAlone {}).await.unwrap_err().code(), Code::OperationFailed);
            if life == 3 {
                break;
            }
            // The service is ready again after three announcements: restarting, starting, ready.
            let mut phases = Vec::new();
            while phases.last() != Some(&Phase::Ready) {
                let Ok(Event::Change(change)) = watched.next().await else { panic!("a change") };
                phases.push(change.operation::<lehr_services::Announce>().unwrap().record.phase);
            }
            assert_eq!(phases, [Phase::Restarting, Phase::Starting, Phase::Ready]);
            assert!(books.get().await.unwrap().log.is_empty(), "half a change is gone with the life it was in");
        }
        let Ok(Event::Change(change)) = watched.next().await else { panic!("a change") };
        assert_eq!(change.name(), "withdraw");
        assert_eq!(host.phase("/books"), Some(Phase::Failed));
        let fault = books.call(Sum {}).await.unwrap_err();
        assert_eq!((fault.code(), fault.causes()[0].reason.as_str()), (Code::StartFailed, "it has crashed too often"));
        // Another service can start at the path.
        host.start("/books", Bookkeeper::new).await.unwrap();
        books.call(put("ada", 1)).await.unwrap();
    });
}

// Catalogue: 98
#[test]
fn a_drop_waits_for_what_runs_refuses_what_waits_and_cleans_up_last() {
    everywhere(async |world| {
        let keeper = Bookkeeper::new();
        let (gate, begun, stopped) = (keeper.gate.clone(), keeper.begun.clone(), keeper.stopped.clone());
        world.host().start("/books", move || keeper.clone()).await.unwrap();
        let (books, ender) = (world.to::<Ledger>("/books"), world.to::<Ledger>("/books"));
        let calls: Vec<Any<'_, ()>> = vec![
            Box::pin(async { assert_eq!(books.call(hold_alone("running")).await.unwrap(), "running") }),
            Box::pin(async {
                assert_eq!(begun.receive().await.unwrap(), "running");
                let waiting: Vec<Any<'_, ()>> = vec![
                    Box::pin(async {
                        assert_eq!(books.call(put("ada", 1)).await.unwrap_err().code(), Code::ServiceStopping);
                    }),
                    Box::pin(async { assert_eq!(books.get().await.unwrap_err().code(), Code::ServiceStopping) }),
                    Box::pin(async {
                        // Wait until both requests wait, and then send the drop request.
                        let host = world.host();
                        while host
                            .endpoint("/books")
                            .unwrap()
                            .info()
                            .waiting
                            .iter()
                            .all(|waiting| waiting.requests == 0)
                        {
                            lehr_runtime::yield_now().await;
                        }
                        let mut ending: Any<'_, _> = Box::pin(ender.drop_service());
                        begin(&mut ending).await;
                        while ender.call(Ping {}).await.is_err() {}
                        assert!(stopped.is_empty(), "what runs has not ended");
                        gate.post(()).unwrap();
                        ending.await.unwrap();
                        assert_eq!(begun.try_receive().unwrap(), "end of running");
                        assert_eq!(stopped.try_receive(), Some(Stop::Dropped));
                    }),
                ];
                together(waiting).await;
            }),
        ];
        together(calls).await;
    });
}

#[test]
fn a_host_that_is_ready_stands_in_its_own_directory() {
    // Repeat the test, because an announcement that came a moment too late would be seen only sometimes.
    for _ in 0..20 {
        everywhere(async |world| {
            world.host().ready().await;
            let listed = world.to::<Directory>(DIRECTORY).get().await.unwrap();
            assert!(listed.services.contains_key(DIRECTORY));
        });
    }
}

// Catalogue: 111
#[test]
fn the_directory_tells_of_comings_and_goings_in_order() {
    everywhere(async |world| {
        world.host().ready().await;
        let directory = world.to::<Directory>(DIRECTORY);
        let mut watched = directory.subscribe(Subscribe::default()).await.unwrap();
        let Ok(Event::Seed(_)) = watched.next().await else { panic!("the state comes first") };
        for path in ["/a", "/b"] {
            world.host().start(path, Pair::default).await.unwrap();
        }
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let pairs = ByContract { contract: Pair::NAME.to_owned() };
        assert_eq!(directory.call(pairs.clone()).await.unwrap(), ["/a", "/b"]);
        world.to::<Pair>("/a").drop_service().await.unwrap();
        assert_eq!(directory.call(pairs).await.unwrap(), ["/b"]);
        let mut heard = Vec::new();
        while heard.last() != Some(&("withdraw".to_owned(), "/a".to_owned())) {
            let Ok(Event::Change(change)) = watched.next().await else { panic!("a change") };
            heard.push((change.name().to_owned(), change.key().unwrap().to_owned()));
        }
        heard.retain(|(_, path)| path != DIRECTORY);
        let expected = ["/a", "/a", "/b", "/b", "/books", "/books"].map(|path| ("announce", path));
        let expected = expected.into_iter().chain([("withdraw", "/a")]);
        assert!(heard.iter().map(|(name, path)| (name.as_str(), path.as_str())).eq(expected), "{heard:?}");
    });
}

// Catalogue: 112
#[test]
fn what_cannot_be_made_is_one_of_several_faults_and_leaves_nothing() {
    on_hosts(async |host, _| {
        host.register(Bookkeeper::new);
        let gate = Port::new();
        gate.post(false).unwrap(); // the start fails at once
        let wait = gate.clone();
        host.register(move || Failing { pair: Pair::default(), gate: wait.clone() });
        assert_eq!(host.create(Pair::NAME, "/pair").await.unwrap_err().code(), Code::StartFailed);
        assert_eq!(host.create("test/nothing", "/a").await.unwrap_err().code(), Code::UnknownEntry);
        assert_eq!(host.create(Ledger::NAME, "no path").await.unwrap_err().code(), Code::InvalidValue);
        let info = host.create(Ledger::NAME, "/books").await.unwrap();
        assert_eq!(host.create(Ledger::NAME, "/books").await.unwrap_err().code(), Code::DuplicateEntry);
        assert_eq!((info.path.as_str(), info.phase), ("/books", Phase::Ready));
        assert_eq!(host.paths(), ["/books", DIRECTORY]);
    });
}

// Catalogue: 126
#[test]
fn a_shutdown_ends_by_its_limit_and_names_who_did_not() {
    on_hosts(async |host, clock| {
        let keeper = Bookkeeper::new();
        let begun = keeper.begun.clone();
        host.start("/hung", move || keeper.clone()).await.unwrap();
        let hung = host.reference::<Ledger>("/hung").unwrap();
        let mut call: Any<'_, _> = Box::pin(hung.call(hold_alone("for ever")));
        begin(&mut call).await;
        assert_eq!(begun.receive().await.unwrap(), "for ever");
        let limit = Duration::from_secs(60);
        let mut ending: Any<'_, _> = Box::pin(host.shutdown(limit));
        begin(&mut ending).await;
        clock.advance(limit);
        let report = ending.await;
        assert_eq!((report.stopped.len(), report.cut_off.as_slice()), (0, ["/hung".to_owned()].as_slice()));
        assert_eq!(hung.call(Sum {}).await.unwrap_err().code(), Code::UnknownService);
        assert_eq!(call.await.unwrap_err().code(), Code::OperationFailed);
        assert_eq!(begun.receive().await.unwrap(), "end of for ever");
        assert_eq!(host.start("/new", Pair::default).await.unwrap_err().code(), Code::ServiceStopping);
    });
}
