//! Subscriptions to changes.

use std::time::Duration;

use lehr_services::{End, Event, Replace, Slow, Subscribe, Subscription};

use super::samples::*;
use super::{Any, together};
use crate::everywhere;

/// Returns the version and the state of the next event, which must be a state.
async fn seed(subscription: &mut Subscription<Ledger>) -> (u64, Ledger) {
    match subscription.next().await.unwrap() {
        Event::Seed(state) => (state.version(), (*state).clone()),
        other => panic!("expected the state, found {other:?}"),
    }
}

/// Returns the version and the name of the next event, which must be a change.
async fn change(subscription: &mut Subscription<Ledger>) -> (u64, String) {
    match subscription.next().await.unwrap() {
        Event::Change(change) => (change.version(), change.name().to_owned()),
        other => panic!("expected a change, found {other:?}"),
    }
}

// Catalogue: 105
#[test]
fn the_state_and_the_changes_after_it_have_nothing_between_them() {
    everywhere(async |world| {
        const CHANGES: u64 = 400;
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let (books, watched) = (world.to::<Ledger>("/books"), world.to::<Ledger>("/books"));
        let write = async {
            for value in 0..CHANGES {
                books.call(put("key", value as i64)).await.unwrap();
            }
        };
        let watch = async {
            for _ in 0..10 {
                let mut subscription = watched.subscribe(Subscribe::default().capacity(1000)).await.unwrap();
                let (mut version, state) = seed(&mut subscription).await;
                assert_eq!(state.log.len() as u64, version);
                let last = CHANGES.min(version + 20);
                while version < last {
                    let Event::Change(change) = subscription.next().await.unwrap() else { panic!("a gap") };
                    version += 1;
                    assert_eq!(change.version(), version);
                    assert_eq!(change.operation::<Put>().unwrap().value as u64, version - 1);
                }
            }
        };
        together::<()>(vec![Box::pin(write), Box::pin(watch)]).await;
    });
}

// Catalogue: 106
#[test]
fn a_filter_lets_through_what_it_names() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let wishes = [
            Subscribe::default(),
            Subscribe::default().operations(["strike"]),
            Subscribe::default().keys(["ada"]),
            Subscribe::default().pattern("^b").operations(["put"]),
        ];
        let mut subscriptions = Vec::new();
        for wishes in wishes {
            subscriptions.push(books.subscribe(wishes).await.unwrap());
        }
        books.call(put("ada", 1)).await.unwrap();
        books.call(put("bob", 2)).await.unwrap();
        books.call(Strike { key: "ada".to_owned() }).await.unwrap();
        books.call(Strike { key: "bob".to_owned() }).await.unwrap();
        books.call(Replace(Ledger::default())).await.unwrap(); // has no key, so every filter by keys passes it
        let heard: [&[u64]; 4] = [&[1, 2, 3, 4, 5], &[3, 4], &[1, 3, 5], &[2]];
        for (subscription, expected) in subscriptions.iter_mut().zip(heard) {
            assert_eq!(seed(subscription).await.0, 0);
            for version in expected {
                assert_eq!(change(subscription).await.0, *version);
            }
        }
    });
}

// Catalogue: 107
#[test]
fn a_subscription_ends_after_its_count_or_its_time_and_says_so() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let mut two = books.subscribe(Subscribe::default().count(2)).await.unwrap();
        let mut hour = books.subscribe(Subscribe::default().expires(Duration::from_secs(3600))).await.unwrap();
        seed(&mut two).await;
        seed(&mut hour).await;
        books.call(put("a", 1)).await.unwrap();
        assert_eq!(change(&mut hour).await.0, 1);
        world.clock().advance(Duration::from_secs(3600));
        for value in 2..4 {
            books.call(put("a", value)).await.unwrap();
        }
        assert_eq!((change(&mut two).await.0, change(&mut two).await.0), (1, 2));
        assert_eq!(two.next().await.unwrap_err(), End::Completed);
        assert_eq!(two.next().await.unwrap_err(), End::Completed);
        assert_eq!(hour.next().await.unwrap_err(), End::Expired);
        assert_eq!(books.lookup().await.unwrap().subscribers, 0);
    });
}

// Catalogue: 108
#[test]
fn a_subscriber_that_does_not_read_holds_nobody_up_and_gets_the_state_anew() {
    crate::on_hosts(async |host, _| {
        let books = host.start("/books", Bookkeeper::new).await.unwrap();
        let mut slow = books.subscribe(Subscribe::default().capacity(4)).await.unwrap();
        let mut merged = books.subscribe(Subscribe::default().capacity(2).slow(Slow::Coalesce)).await.unwrap();
        let mut strict = books.subscribe(Subscribe::default().capacity(4).slow(Slow::Disconnect)).await.unwrap();
        for value in 0..10 {
            books.call(put(if value % 2 == 0 { "even" } else { "odd" }, value)).await.unwrap();
        }
        seed(&mut slow).await;
        seed(&mut merged).await;
        seed(&mut strict).await;
        assert!(matches!(slow.next().await, Ok(Event::Gap { missed: 10 })));
        let (version, state) = seed(&mut slow).await;
        assert_eq!((version, state.entries["odd"]), (10, 9));
        books.call(put("even", 11)).await.unwrap();
        assert_eq!(change(&mut slow).await, (11, "put".to_owned())); // continues without a gap
        assert_eq!((change(&mut merged).await.0, change(&mut merged).await.0), (10, 11));
        assert_eq!(strict.next().await.unwrap_err(), End::TooSlow { missed: 5 });
    });
}

// Catalogue: 110
#[test]
fn who_has_gone_is_told_nothing_and_a_name_is_one_subscriber() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let first = books.subscribe(Subscribe::default().named("screen 1")).await.unwrap();
        let mut second = books.subscribe(Subscribe::default().named("screen 1")).await.unwrap();
        assert_eq!(books.lookup().await.unwrap().subscribers, 1);
        let mut first = first;
        seed(&mut first).await;
        assert_eq!(first.next().await.unwrap_err(), End::Replaced);
        seed(&mut second).await;
        books.call(put("a", 1)).await.unwrap();
        assert_eq!(change(&mut second).await.0, 1);
        drop((first, second));
        // Over a connection, the service notices only after some time that the subscribers have gone.
        while books.lookup().await.unwrap().subscribers > 0 {}
    });
}

#[test]
fn after_a_panic_in_the_middle_of_a_change_subscribers_get_the_state_anew() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let mut watched = books.subscribe(Subscribe::default()).await.unwrap();
        seed(&mut watched).await;
        books.call(BreakAlone {}).await.unwrap_err();
        assert!(matches!(watched.next().await, Ok(Event::Gap { .. })));
        let (version, state) = seed(&mut watched).await;
        assert_eq!((version, state.log.as_slice()), (1, ["half".to_owned()].as_slice()));
        books.call(put("a", 1)).await.unwrap();
        assert_eq!(change(&mut watched).await.0, 2);
    });
}

#[test]
fn many_hear_the_same_changes() {
    everywhere(async |world| {
        world.host().start("/books", Bookkeeper::new).await.unwrap();
        let books = world.to::<Ledger>("/books");
        let mut watching: Vec<Subscription<Ledger>> = Vec::new();
        for _ in 0..50 {
            watching.push(books.subscribe(Subscribe::default()).await.unwrap());
        }
        let hear = watching.iter_mut().map(|subscription| -> Any<'_, ()> {
            Box::pin(async move {
                seed(subscription).await;
                for version in 1..=20 {
                    assert_eq!(change(subscription).await, (version, "put".to_owned()));
                }
            })
        });
        let mut all: Vec<Any<'_, ()>> = hear.collect();
        all.push(Box::pin(async {
            for value in 0..20 {
                books.call(put("a", value)).await.unwrap();
            }
        }));
        together(all).await;
    });
}
