//! Records: documents by key, for what services and people leave for each other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lehr_services::{Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Operation, Service, Version, verb};
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
    /// The documents.
    pub records: BTreeMap<String, Value>,
}

impl Contract for Records {
    const NAME: &'static str = "lehr/records";
    const VERSION: Version = Version::new(1, 0);
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($text:literal) { $($(#[$note:meta])* $field:ident: $type:ty),* } $verb:ident -> $reply:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $name {
            $($(#[$note])* pub $field: $type),*
        }

        impl Operation for $name {
            type Contract = Records;
            type Verb = verb::$verb;
            type Reply = $reply;
            const NAME: &'static str = $text;

            fn key(&self) -> Option<Cow<'_, str>> {
                Some(Cow::Borrowed(&self.key))
            }
        }
    )*};
}

operations! {
    /// The document under a key.
    Find("find") {
        /// The key.
        key: String
    } Query -> Value;
    /// Adds a document under a key that is free.
    Insert("insert") {
        /// The key.
        key: String,
        /// The document.
        value: Value
    } Insert -> ();
    /// Puts another document under a key that is taken. The answer is the one before.
    Update("update") {
        /// The key.
        key: String,
        /// The document.
        value: Value
    } Update -> Value;
    /// Puts a document under a key.
    Upsert("upsert") {
        /// The key.
        key: String,
        /// The document.
        value: Value
    } Upsert -> ();
    /// Removes the document under a key. The answer is that document.
    Delete("delete") {
        /// The key.
        key: String
    } Delete -> Value;
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
