//! A document that several contracts share, whose names are known only when the services start. Also operations that a
//! service completes.

use lehr_services::{
    Call, Code, Contract, Description, Event, Exclusive, Fault, Handlers, Host, Need, Operation, Partners, Placement,
    Reference, Service, Starting, Subscribe, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Resolving;
use super::samples::{Bookkeeper, Ledger};
use crate::{everywhere, on_hosts};

/// The document of any instrument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    unit: String,
    value: i64,
}

impl Contract for Reading {
    const NAME: &'static str = "test/reading";
    const VERSION: Version = Version::new(1, 0);
    const IS_SHARED: bool = true;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Reading, verb = Update, name = "show", reply = String)]
pub struct Show {
    pub value: i64,
    pub unit: Option<String>,
}

#[derive(Clone, Debug)]
struct Instrument {
    shows: Reading,
}

impl Service for Instrument {
    type Document = Reading;

    fn document(&self) -> &Reading {
        &self.shows
    }

    fn document_mut(&mut self) -> &mut Reading {
        &mut self.shows
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Show>();
    }
}

impl Exclusive<Show> for Instrument {
    fn complete(&self, show: Show) -> Result<Show, Fault> {
        assert!(show.value != 13, "an unlucky number");
        match show.unit.as_deref() {
            None => Ok(Show { unit: Some(self.shows.unit.clone()), ..show }),
            Some(unit) if unit == self.shows.unit => Ok(show),
            Some(unit) => {
                Err(Fault::new(Code::InvalidValue, format!("unit: expected {}, found {unit}", self.shows.unit)))
            }
        }
    }

    async fn handle(&mut self, show: Show, _: &Call) -> Result<String, Fault> {
        self.shows.value = show.value;
        Ok(format!("{} {}", show.value, show.unit.unwrap_or_default()))
    }
}

async fn start(host: &Host, placement: impl Into<Placement>, name: &'static str, unit: &str) -> Reference<Reading> {
    let instrument = Instrument { shows: Reading { unit: unit.to_owned(), value: 0 } };
    let describe = move |shared| Description { name: name.to_owned(), version: Version::new(3, 1), ..shared };
    host.start_as(placement, describe, move || instrument.clone()).await.unwrap()
}

#[test]
fn services_of_several_contracts_are_reached_by_one_type() {
    everywhere(async |world| {
        let host = world.host();
        start(host, "/scale", "test/scale", "kg").await;
        start(host, "/clock", "test/clock", "s").await;
        host.start("/books", Bookkeeper::new).await.unwrap();
        let (scale, clock) = (world.to::<Reading>("/scale"), world.to::<Reading>("/clock"));
        assert_eq!(scale.call(Show { value: 7, unit: None }).await.unwrap(), "7 kg");
        assert_eq!(clock.call(Show { value: 9, unit: None }).await.unwrap(), "9 s");
        assert_eq!(*clock.get().await.unwrap(), Reading { unit: "s".to_owned(), value: 9 });
        let contracts = [scale.lookup().await.unwrap().contract, clock.lookup().await.unwrap().contract];
        assert_eq!(contracts.each_ref().map(|contract| contract.name.as_str()), ["test/scale", "test/clock"]);
        assert_eq!(contracts[0].version, Version::new(3, 1));
        assert_ne!(contracts[0].hash, contracts[1].hash);
        // A client can demand one of the contracts. In this process this is checked at once, over a link with the first
        // request.
        let only = |name: &str| world.to::<Reading>("/scale").of_contract(name, Version::new(3, 0));
        assert_eq!(only("test/scale").unwrap().get().await.unwrap().value, 7);
        let fault = match only("test/clock") {
            Ok(other) => other.call(Show { value: 0, unit: None }).await.unwrap_err(),
            Err(fault) => fault,
        };
        assert_eq!(fault.code(), Code::ContractMismatch);
        assert_eq!(fault.reason(), "/scale speaks test/scale 3.1; the request is for test/clock 3.0");
        // A service with another document is not accepted as an instrument.
        let fault = host.reference::<Reading>("/books").unwrap_err();
        assert_eq!(fault.code(), Code::ContractMismatch);
        let books = Reference::<Reading>::over(Resolving::new(host, "/books"));
        let fault = books.call(Show { value: 0, unit: None }).await.unwrap_err();
        assert_eq!(fault.code(), Code::ActionNotSupported);
    });
}

#[test]
fn a_reference_to_one_of_the_contracts_does_not_find_another_in_its_place() {
    on_hosts(async |host, _| {
        let scale = start(&host, "/bench", "test/scale", "kg").await;
        let only = scale.clone().of_contract("test/scale", Version::new(3, 0)).unwrap();
        scale.drop_service().await.unwrap();
        start(&host, "/bench", "test/clock", "s").await;
        let show = || Show { value: 1, unit: None };
        assert_eq!(scale.call(show()).await.unwrap(), "1 s");
        assert_eq!(only.call(show()).await.unwrap_err().code(), Code::ContractMismatch);
    });
}

#[test]
fn subscribers_are_told_of_a_complete_operation_and_of_none_that_cannot_be_completed() {
    everywhere(async |world| {
        start(world.host(), "/scale", "test/scale", "kg").await;
        let scale = world.to::<Reading>("/scale");
        let mut changes = scale.subscribe(Subscribe::default()).await.unwrap();
        assert!(matches!(changes.next().await.unwrap(), Event::Seed(_)));
        let fault = scale.call(Show { value: 5, unit: Some("s".to_owned()) }).await.unwrap_err();
        assert_eq!((fault.code(), fault.reason()), (Code::InvalidValue, "unit: expected kg, found s"));
        assert_eq!(scale.get().await.unwrap().value, 0);
        scale.call(Show { value: 7, unit: None }).await.unwrap();
        let Event::Change(change) = changes.next().await.unwrap() else { panic!("no change") };
        assert_eq!(*change.operation::<Show>().unwrap(), Show { value: 7, unit: Some("kg".to_owned()) });
        // A panic in `complete` also becomes an answer.
        let fault = scale.call(Show { value: 13, unit: None }).await.unwrap_err();
        assert_eq!(fault.code(), Code::OperationFailed);
        assert_eq!(scale.call(Show { value: 14, unit: None }).await.unwrap(), "14 kg");
    });
}

/// A service that reads another instrument.
#[derive(Clone, Debug, Default)]
struct Copy {
    ledger: Ledger,
}

impl Service for Copy {
    type Document = Ledger;

    fn document(&self) -> &Ledger {
        &self.ledger
    }

    fn document_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    fn handlers(_: &mut Handlers<Self>) {}

    fn partners(needs: &mut Partners) {
        let _: &mut Need = needs.bound::<Reading>("instrument");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        let value = starting.partner::<Reading>("instrument")?.get().await?.value;
        self.ledger.entries.insert("read".to_owned(), value);
        Ok(())
    }
}

#[test]
fn any_of_the_contracts_can_be_the_partner_here_and_on_another_node() {
    on_hosts(async |host, _| {
        let scale = start(&host, "/scale", "test/scale", "kg").await;
        scale.call(Show { value: 7, unit: None }).await.unwrap();
        let far = host.clone();
        host.reach_by(move |address| Ok(Resolving::new(&far, address.trim_start_matches("test://there"))));
        for (path, instrument) in [("/here", "/scale"), ("/there", "test://there/scale")] {
            let placement = Placement::at(path).bind("instrument", instrument);
            let copy = host.start(placement, Copy::default).await.unwrap();
            assert_eq!(copy.get().await.unwrap().entries["read"], 7);
        }
        let placement = Placement::at("/none").bind("instrument", "test://there/directory");
        let fault = host.start(placement, Copy::default).await.unwrap_err();
        assert_eq!(
            fault.causes()[0].reason,
            "test://there/directory speaks lehr/directory 1.0; expected test/reading 1.0"
        );
    });
}
