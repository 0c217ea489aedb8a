//! Sample services for the tests.

use std::collections::BTreeMap;

use lehr_runtime::Port;
use lehr_services::{
    Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Independent, Operation, Service, Stop, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Entries by key, and a log of the callers that changed them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    pub entries: BTreeMap<String, i64>,
    pub log: Vec<String>,
}

impl Contract for Ledger {
    const NAME: &'static str = "test/ledger";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Insert, name = "enter", key = key)]
pub struct Enter {
    pub key: String,
    pub value: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Update, name = "correct", reply = i64, key = key)]
pub struct Correct {
    pub key: String,
    pub value: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Upsert, name = "put", key = key)]
pub struct Put {
    pub key: String,
    pub value: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Delete, name = "strike", reply = i64, key = key)]
pub struct Strike {
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Query, name = "sum", reply = i64)]
pub struct Sum {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Submit, name = "hold", reply = String)]
pub struct Hold {
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Update, name = "hold_alone", reply = String)]
pub struct HoldAlone {
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Submit, name = "ping", reply = String)]
pub struct Ping {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Submit, name = "break")]
pub struct Break {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Update, name = "break_alone")]
pub struct BreakAlone {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Query, name = "who", reply = Option<String>)]
pub struct Who {}

// This operation belongs to the contract, but no service offers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Ledger, verb = Query, name = "nowhere")]
pub struct Nowhere {}

/// Keeps a ledger. Some of its handlers wait at a gate.
#[derive(Clone)]
pub struct Bookkeeper {
    pub ledger: Ledger,
    /// The names of the handlers that have begun to wait or have ended.
    pub begun: Port<String>,
    /// The gate at which handlers wait.
    pub gate: Port<()>,
    /// The reasons why services were stopped.
    pub stopped: Port<Stop>,
}

impl Bookkeeper {
    pub fn new() -> Self {
        let ledger = Ledger::default();
        Self { ledger, begun: Port::new(), gate: Port::new(), stopped: Port::new() }
    }
}

impl Service for Bookkeeper {
    type Document = Ledger;

    fn document(&self) -> &Ledger {
        &self.ledger
    }

    fn document_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Enter>().exclusive::<Correct>().exclusive::<Put>().exclusive::<Strike>().concurrent::<Sum>();
        on.concurrent::<Hold>().exclusive::<HoldAlone>().independent::<Ping>().concurrent::<Break>();
        on.exclusive::<BreakAlone>().concurrent::<Who>().replaceable();
    }

    async fn stop(self, why: Stop) {
        self.stopped.post(why).unwrap();
    }
}

fn unknown(key: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("no entry {key:?}"))
}

impl Exclusive<Enter> for Bookkeeper {
    async fn handle(&mut self, Enter { key, value }: Enter, _: &Call) -> Result<(), Fault> {
        if self.ledger.entries.contains_key(&key) {
            return Err(Fault::new(Code::DuplicateEntry, format!("entry {key:?} is there")));
        }
        self.ledger.log.push(format!("enter {key}"));
        self.ledger.entries.insert(key, value);
        Ok(())
    }
}

impl Exclusive<Correct> for Bookkeeper {
    async fn handle(&mut self, Correct { key, value }: Correct, _: &Call) -> Result<i64, Fault> {
        let entry = self.ledger.entries.get_mut(&key).ok_or_else(|| unknown(&key))?;
        let before = std::mem::replace(entry, value);
        self.ledger.log.push(format!("correct {key}"));
        Ok(before)
    }
}

impl Exclusive<Put> for Bookkeeper {
    async fn handle(&mut self, Put { key, value }: Put, _: &Call) -> Result<(), Fault> {
        self.ledger.log.push(format!("put {key}"));
        self.ledger.entries.insert(key, value);
        Ok(())
    }
}

impl Exclusive<Strike> for Bookkeeper {
    async fn handle(&mut self, Strike { key }: Strike, _: &Call) -> Result<i64, Fault> {
        let value = self.ledger.entries.remove(&key).ok_or_else(|| unknown(&key))?;
        self.ledger.log.push(format!("strike {key}"));
        Ok(value)
    }
}

impl Concurrent<Sum> for Bookkeeper {
    async fn handle(&self, _: Sum, _: &Call) -> Result<i64, Fault> {
        Ok(self.ledger.entries.values().sum())
    }
}

/// Posts a message when it is dropped, whether the handler ends or is cancelled.
struct Gone(Port<String>, String);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.post(format!("end of {}", self.1));
    }
}

impl Concurrent<Hold> for Bookkeeper {
    async fn handle(&self, Hold { name }: Hold, _: &Call) -> Result<String, Fault> {
        let _gone = Gone(self.begun.clone(), name.clone());
        self.begun.post(name.clone()).unwrap();
        self.gate.receive().await.unwrap();
        Ok(name)
    }
}

impl Exclusive<HoldAlone> for Bookkeeper {
    async fn handle(&mut self, HoldAlone { name }: HoldAlone, _: &Call) -> Result<String, Fault> {
        let _gone = Gone(self.begun.clone(), name.clone());
        self.begun.post(name.clone()).unwrap();
        self.gate.receive().await.unwrap();
        self.ledger.log.push(format!("hold_alone {name}"));
        Ok(name)
    }
}

impl Independent<Ping> for Bookkeeper {
    async fn handle(_: Ping, call: &Call) -> Result<String, Fault> {
        Ok(call.path().to_owned())
    }
}

impl Concurrent<Break> for Bookkeeper {
    async fn handle(&self, _: Break, _: &Call) -> Result<(), Fault> {
        panic!("index 7 of 3")
    }
}

impl Exclusive<BreakAlone> for Bookkeeper {
    async fn handle(&mut self, _: BreakAlone, _: &Call) -> Result<(), Fault> {
        self.ledger.log.push("half".to_owned());
        panic!("index 7 of 3")
    }
}

impl Concurrent<Who> for Bookkeeper {
    async fn handle(&self, _: Who, call: &Call) -> Result<Option<String>, Fault> {
        Ok(call.caller().map(str::to_owned))
    }
}

/// A service with a document and no operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    pub left: Vec<u64>,
    pub right: Vec<u64>,
}

impl Contract for Pair {
    const NAME: &'static str = "test/pair";
    const VERSION: Version = Version::new(1, 0);
}

impl Service for Pair {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.replaceable();
    }
}

pub fn enter(key: &str, value: i64) -> Enter {
    Enter { key: key.to_owned(), value }
}

pub fn correct(key: &str, value: i64) -> Correct {
    Correct { key: key.to_owned(), value }
}

pub fn put(key: &str, value: i64) -> Put {
    Put { key: key.to_owned(), value }
}

pub fn hold(name: &str) -> Hold {
    Hold { name: name.to_owned() }
}

pub fn hold_alone(name: &str) -> HoldAlone {
    HoldAlone { name: name.to_owned() }
}
