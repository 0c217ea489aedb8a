//! Records: documents by key, through which services and people exchange data.

use std::collections::BTreeMap;

use lehr_services::{Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Operation, Service, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// JSON documents by key.
///
/// # Example
/// ```
/// use lehr_node::{Find, Insert, Records};
/// use lehr_services::{Fault, Host};
/// use serde_json::json;
///
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let notes = host.start("/notes", Records::default).await?;
///     notes.call(Insert { key: "loom".to_owned(), value: json!({ "shafts": 8 }) }).await?;
///     assert_eq!(notes.call(Find { key: "loom".to_owned() }).await?["shafts"], 8);
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Records {
    /// The documents by key.
    pub records: BTreeMap<String, Value>,
}

impl Contract for Records {
    const NAME: &'static str = "lehr/records";
    const VERSION: Version = Version::new(1, 0);
}

/// Returns the document under a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Records, verb = Query, name = "find", reply = Value, key = key)]
pub struct Find {
    /// The key of the document.
    pub key: String,
}

/// Adds a document under an unused key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Records, verb = Insert, name = "insert", key = key)]
pub struct Insert {
    /// The key of the document.
    pub key: String,
    /// The new document.
    pub value: Value,
}

/// Replaces the document under a key. Returns the earlier document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Records, verb = Update, name = "update", reply = Value, key = key)]
pub struct Update {
    /// The key of the document.
    pub key: String,
    /// The new document.
    pub value: Value,
}

/// Sets the document under a key, whether the key is used or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Records, verb = Upsert, name = "upsert", key = key)]
pub struct Upsert {
    /// The key of the document.
    pub key: String,
    /// The new document.
    pub value: Value,
}

/// Removes the document under a key. Returns that document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Records, verb = Delete, name = "delete", reply = Value, key = key)]
pub struct Delete {
    /// The key of the document.
    pub key: String,
}

impl Service for Records {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Find>().exclusive::<Insert>().exclusive::<Update>().exclusive::<Upsert>().exclusive::<Delete>();
        on.replaceable();
    }
}

fn unknown(key: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("no record {key:?}"))
}

impl Concurrent<Find> for Records {
    async fn handle(&self, Find { key }: Find, _: &Call) -> Result<Value, Fault> {
        self.records.get(&key).cloned().ok_or_else(|| unknown(&key))
    }
}

impl Exclusive<Insert> for Records {
    async fn handle(&mut self, Insert { key, value }: Insert, _: &Call) -> Result<(), Fault> {
        if self.records.contains_key(&key) {
            return Err(Fault::new(Code::DuplicateEntry, format!("there is a record {key:?}")));
        }
        self.records.insert(key, value);
        Ok(())
    }
}

impl Exclusive<Update> for Records {
    async fn handle(&mut self, Update { key, value }: Update, _: &Call) -> Result<Value, Fault> {
        let record = self.records.get_mut(&key).ok_or_else(|| unknown(&key))?;
        Ok(std::mem::replace(record, value))
    }
}

impl Exclusive<Upsert> for Records {
    async fn handle(&mut self, Upsert { key, value }: Upsert, _: &Call) -> Result<(), Fault> {
        self.records.insert(key, value);
        Ok(())
    }
}

impl Exclusive<Delete> for Records {
    async fn handle(&mut self, Delete { key }: Delete, _: &Call) -> Result<Value, Fault> {
        self.records.remove(&key).ok_or_else(|| unknown(&key))
    }
}
