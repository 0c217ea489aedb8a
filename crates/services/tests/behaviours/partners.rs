//! Services that need other services.

use std::time::Duration;

use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Host, Operation, Partners, Placement, Reference, Service,
    Starting, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::samples::*;
use super::{Any, Resolving, begin};
use crate::on_hosts;

/// The document of a desk, which has only the path of its partner.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Desk {
    pub partner: Option<String>,
}

impl Contract for Desk {
    const NAME: &'static str = "test/desk";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Desk, verb = Query, name = "total", reply = i64)]
pub struct Total {}

/// A desk whose books a partner keeps. `HOW` says how the desk finds the partner.
#[derive(Clone, Default)]
pub struct Clerk<const HOW: u8> {
    desk: Desk,
    books: Option<Reference<Ledger>>,
}

const EXISTING: u8 = 0;
const OR_CREATE: u8 = 1;
const CREATE: u8 = 2;
pub const BOUND: u8 = 3;
const OPTIONAL: u8 = 4;

impl<const HOW: u8> Service for Clerk<HOW> {
    type Document = Desk;

    fn document(&self) -> &Desk {
        &self.desk
    }

    fn document_mut(&mut self) -> &mut Desk {
        &mut self.desk
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Total>();
    }

    fn partners(needs: &mut Partners) {
        match HOW {
            EXISTING => _ = needs.existing::<Ledger>("books"),
            OR_CREATE => _ = needs.existing_or_create::<Ledger>("books"),
            CREATE => _ = needs.create::<Ledger>("books"),
            BOUND => _ = needs.bound::<Ledger>("books"),
            _ => _ = needs.existing::<Ledger>("books").optional(),
        }
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.books = starting.find_partner("books")?;
        if let Some(books) = &self.books {
            self.desk.partner = Some(books.lookup().await?.path);
        }
        Ok(())
    }
}

impl<const HOW: u8> Concurrent<Total> for Clerk<HOW> {
    async fn handle(&self, _: Total, _: &Call) -> Result<i64, Fault> {
        match &self.books {
            Some(books) => books.call(Sum {}).await,
            None => Err(Fault::new(Code::Unavailable, "no books")),
        }
    }
}

async fn partner<const HOW: u8>(host: &Host, placement: Placement) -> Option<String> {
    let desk = host.start(placement, Clerk::<HOW>::default).await.unwrap();
    desk.get().await.unwrap().partner.clone()
}

// Catalogue: 99
#[test]
fn each_way_of_finding_a_partner_binds_what_it_says() {
    on_hosts(async |host, _| {
        host.register(Bookkeeper::new);
        let found = |path: &str| Some(path.to_owned());
        assert_eq!(partner::<CREATE>(&host, "/x/a".into()).await, found("/x/a/books"));
        host.reference::<Ledger>("/x/a/books").unwrap().drop_service().await.unwrap();
        assert_eq!(partner::<OR_CREATE>(&host, "/x/b".into()).await, found("/x/b/books"));
        assert_eq!(partner::<OR_CREATE>(&host, "/x/c".into()).await, found("/x/b/books"));
        host.start("/many/2", Bookkeeper::new).await.unwrap();
        host.start("/many/1", Bookkeeper::new).await.unwrap();
        assert_eq!(partner::<EXISTING>(&host, "/x/d".into()).await, found("/many/1"));
        assert_eq!(partner::<OPTIONAL>(&host, "/x/e".into()).await, found("/many/1"));
        assert_eq!(partner::<CREATE>(&host, "/x/f".into()).await, found("/x/f/books"));
        let bound = |path| Placement::at(path).bind("books", "/many/2");
        assert_eq!(partner::<BOUND>(&host, bound("/x/g")).await, found("/many/2"));
        assert_eq!(partner::<CREATE>(&host, bound("/x/h")).await, found("/many/2"));
        let wrong = Placement::at("/x/i").bind("bucks", "/many/2");
        let fault = host.start(wrong, Clerk::<BOUND>::default).await.unwrap_err();
        assert_eq!(fault.reason(), "/x/i has no partner \"bucks\" to bind");
    });
}

// Catalogue: 100
#[test]
fn a_partner_that_is_missing_fails_the_start_when_patience_ends() {
    on_hosts(async |host, clock| {
        let patience = Duration::from_secs(30);
        let placement = |path| Placement::at(path).patience(patience);
        let mut starting: Any<'_, _> = Box::pin(host.start(placement("/desk"), Clerk::<EXISTING>::default));
        begin(&mut starting).await;
        clock.wait_for_timers(1);
        clock.advance(patience);
        let fault = starting.await.unwrap_err();
        assert_eq!(fault.reason(), "partner \"books\" (test/ledger) of /desk does not exist");

        let mut starting: Any<'_, _> = Box::pin(host.start(placement("/desk"), Clerk::<OPTIONAL>::default));
        begin(&mut starting).await;
        clock.wait_for_timers(1);
        clock.advance(patience);
        assert_eq!(starting.await.unwrap().get().await.unwrap().partner, None);

        // A partner that starts in time is found.
        let mut starting: Any<'_, _> = Box::pin(host.start(placement("/other"), Clerk::<EXISTING>::default));
        begin(&mut starting).await;
        host.start("/books", Bookkeeper::new).await.unwrap();
        assert_eq!(starting.await.unwrap().get().await.unwrap().partner.as_deref(), Some("/books"));
    });
}

/// Two kinds of services that each always create a partner of the other kind.
macro_rules! circle {
    ($($name:ident $text:literal wants $other:ident;)*) => {$(
        #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
        struct $name {}

        impl Contract for $name {
            const NAME: &'static str = $text;
            const VERSION: Version = Version::new(1, 0);
        }

        impl Service for $name {
            type Document = Self;

            fn document(&self) -> &Self {
                self
            }

            fn document_mut(&mut self) -> &mut Self {
                self
            }

            fn handlers(_: &mut Handlers<Self>) {}

            fn partners(needs: &mut Partners) {
                needs.create::<$other>("other");
            }
        }
    )*};
}

circle! {
    Hen "test/hen" wants Egg;
    Egg "test/egg" wants Hen;
}

// Catalogue: 101
#[test]
fn partners_that_go_round_in_a_circle_are_refused_with_the_circle() {
    on_hosts(async |host, _| {
        host.register(Hen::default);
        host.register(Egg::default);
        let fault = host.create(Hen::NAME, "/hen").await.unwrap_err();
        let deepest = fault.causes().last().unwrap();
        assert!(deepest.reason.ends_with("round in a circle: test/hen -> test/egg -> test/hen"), "{fault}");
        assert_eq!(host.paths(), ["/directory"]);
    });
}

// Catalogue: 102
#[test]
fn a_partner_that_goes_and_comes_back_is_found_again() {
    on_hosts(async |host, _| {
        let books = host.start("/books", Bookkeeper::new).await.unwrap();
        let desk = host.start("/desk", Clerk::<EXISTING>::default).await.unwrap();
        books.call(put("ada", 4)).await.unwrap();
        assert_eq!(desk.call(Total {}).await.unwrap(), 4);
        books.drop_service().await.unwrap();
        assert_eq!(desk.call(Total {}).await.unwrap_err().code(), Code::Unavailable);
        host.start("/books", Bookkeeper::new).await.unwrap();
        assert_eq!(desk.call(Total {}).await.unwrap(), 0);
    });
}

#[test]
fn a_partner_may_be_bound_to_an_address_if_the_host_reaches_others() {
    on_hosts(async |host, _| {
        let books = host.start("/books", Bookkeeper::new).await.unwrap();
        books.call(put("ada", 4)).await.unwrap();
        let bound = |path: &str, to: &str| Placement::at(path).bind("books", to);
        let start = async |placement: Placement| host.start(placement, Clerk::<BOUND>::default).await;
        let fault = start(bound("/desk", "test://there/books")).await.unwrap_err();
        assert_eq!(
            fault.causes()[0].reason,
            "this host reaches no other nodes, and test://there/books is a service of one"
        );
        let far = host.clone();
        host.reach_by(move |address| Ok(Resolving::new(&far, address.trim_start_matches("test://there"))));
        let desk = start(bound("/desk", "test://there/books")).await.unwrap();
        assert_eq!(desk.get().await.unwrap().partner.as_deref(), Some("/books"));
        assert_eq!(desk.call(Total {}).await.unwrap(), 4);
        // A partner with another contract is refused at the start, and not at the first request.
        let fault = start(bound("/other", "test://there/directory")).await.unwrap_err();
        assert_eq!(
            fault.causes()[0].reason,
            "test://there/directory speaks lehr/directory 1.0; expected test/ledger 1.0"
        );
        // The partner may end and start again, like a partner on this host.
        books.drop_service().await.unwrap();
        let fault = desk.call(Total {}).await.unwrap_err();
        assert_eq!((fault.code(), fault.causes()[0].code), (Code::Unavailable, Code::UnknownService));
        host.start("/books", Bookkeeper::new).await.unwrap();
        assert_eq!(desk.call(Total {}).await.unwrap(), 0);
    });
}
