//! Every fabric of this process runs every case of `conformance/cases.rs`. A new fabric is one more [`Kind`].

use lehr_ranks::fabric::Kind;
use lehr_ranks::{Layout, run_on};
use lehr_runtime::Dispatcher;

#[path = "../conformance/cases.rs"]
mod cases;

const SIZES: [usize; 7] = [1, 2, 3, 4, 5, 7, 8];

#[test]
fn every_fabric_does_what_the_oracle_says() {
    for threads in [1, 2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        for kind in Kind::ALL {
            for size in SIZES {
                let outcome = run_on(&dispatcher, kind, Layout::threads(size), |mut comm| async move {
                    cases::all(&mut comm).await;
                });
                assert!(outcome.is_ok(), "{kind:?}, {size} ranks on {threads} threads: {outcome:?}");
            }
        }
    }
}

#[test]
fn every_fabric_does_the_same_if_calls_are_checked() {
    let dispatcher = Dispatcher::new(2).unwrap();
    for kind in Kind::ALL {
        for size in SIZES {
            let outcome = run_on(&dispatcher, kind, Layout::threads(size), |mut comm| async move {
                comm.set_checked(true);
                cases::all(&mut comm).await;
            });
            assert!(outcome.is_ok(), "{kind:?}, {size} ranks: {outcome:?}");
        }
    }
}

#[test]
fn ranks_that_spin_do_the_same_even_if_they_have_no_core() {
    let dispatcher = Dispatcher::new(4).unwrap();
    for kind in [Kind::Threads, Kind::Mail] {
        for size in [1, 2, 3, 4] {
            let ranks =
                kind.communicators(size, true).into_iter().map(|mut comm| async move { cases::all(&mut comm).await });
            let ended = dispatcher.run_all(ranks.collect());
            assert!(ended.iter().all(Result::is_ok), "{kind:?}, {size} ranks: {ended:?}");
        }
    }
}
