//! Services whose contract is known only when the program runs: because a program in another language implements them,
//! or a file describes them.
//!
//! In other services an operation is a Rust type. A dynamic service has an [`Outline`] instead: names, verbs, groups
//! and schemas, as data. The service's [`Program`] receives the bodies of requests as JSON, and its document is JSON.
//! Everything else works as in other services: the interleave, keys, versions, subscribers, files, the directory.
//! Clients with their own types call a dynamic service through bytes, as they call another build of their contract.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::pin;

use lehr_runtime::{Handlers as Branches, Snapshot};
use lehr_sync::{Arc, Mutex, OnceLock};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::call::Call;
use crate::contract::{Contract, Description, OperationDescription, Version};
use crate::fault::{Code, Fault};
use crate::handlers::{ByHandler, Handlers, Held, Install, install_concurrent, install_exclusive, look, opened};
use crate::lifecycle::Stop;
use crate::link::Pending;
use crate::main_port::MainPort;
use crate::operation::{Operation, Request};
use crate::service::{Concurrent, Exclusive, Service};
use crate::shared::Shared;
use crate::start::{Form, Starting};
use crate::verb::{self, Kind, Looks, Verb};

/// The group of an operation, which determines the handlers that may run at the same time.
///
/// # Example
/// See [`Outline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// No other handler that sees the state may run, not even while this one waits. Verbs that change the state must be
    /// in this group.
    Exclusive,
    /// Other handlers that read the state may run.
    Concurrent,
    /// All other handlers may run, because this one does not see the state.
    Independent,
}

/// An operation of a dynamic service.
///
/// # Example
/// See [`Outline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutlinedOperation {
    /// The effect of the operation on the state.
    pub verb: Verb,
    /// The group, which determines the handlers that may run at the same time as this operation's handler.
    pub group: Group,
    /// The JSON schema of the body. Lehr does not check bodies against this schema; the program has to.
    pub body: Value,
    /// The JSON schema of the reply.
    pub reply: Value,
}

/// A contract as data, with the group of each operation: the description from which the host starts a dynamic service.
///
/// # Example
/// ```
/// use lehr_services::*;
/// use serde_json::{Value, json};
///
/// struct Sums;
///
/// impl Program for Sums {
///     fn handle<'a>(&'a self, operation: &'static str, body: Value, document: Option<&'a AnyDocument>, _: &'a Call) -> Pending<'a, Result<Handled, Fault>> {
///         Box::pin(async move {
///             let sum = document.and_then(|document| document["sum"].as_i64()).unwrap_or_default();
///             match (operation, body["number"].as_i64()) {
///                 ("add", Some(number)) => Ok(Handled::changed(json!(sum + number), json!({ "sum": sum + number }))),
///                 ("half", _) => Ok(Handled::unchanged(json!(sum / 2))),
///                 _ => Err(Fault::new(Code::MessageNotSupported, "number: expected an integer")),
///             }
///         })
///     }
/// }
///
/// let operation = |verb, group| OutlinedOperation { verb, group, body: json!({}), reply: json!({ "type": "integer" }) };
/// let outline = Outline {
///     name: "example.org/sums".to_owned(),
///     version: Version::new(1, 0),
///     state: json!({ "type": "object" }),
///     operations: [
///         ("add".to_owned(), operation(Verb::Update, Group::Exclusive)),
///         ("half".to_owned(), operation(Verb::Query, Group::Concurrent)),
///     ].into(),
/// };
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let sums = host.start_dynamic("/sums", outline, json!({ "sum": 0 }), Sums).await?;
/// let add = Message {
///     action: Action::Operation("add".to_owned()),
///     verb: Verb::Update,
///     body: br#"{"number": 4}"#.to_vec(),
///     format: Format::Json,
///     accept: Format::Json,
///     options: Options::default(),
/// };
/// assert_eq!(*host.endpoint("/sums")?.send(add).await?.body, b"4");
/// assert_eq!(sums.get().await?["sum"], 4);
/// # Ok::<(), Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// The contract's name.
    pub name: String,
    /// The contract's version.
    pub version: Version,
    /// The JSON schema of the state document.
    pub state: Value,
    /// The operations by name.
    pub operations: BTreeMap<String, OutlinedOperation>,
}

/// The JSON document of a dynamic service. A document is cheap to clone, and the content of a clone never changes.
///
/// # Example
/// ```
/// use lehr_services::AnyDocument;
/// let document = AnyDocument::from(serde_json::json!({ "value": 7 }));
/// assert_eq!(document["value"], 7);
/// assert!(document.is(&document.clone()) && !document.is(&AnyDocument::from(serde_json::json!({ "value": 7 }))));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AnyDocument(Arc<Value>);

impl AnyDocument {
    /// Returns whether both documents are the same object in memory, not merely equal.
    ///
    /// # Example
    /// See [`AnyDocument`].
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Value> for AnyDocument {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl Deref for AnyDocument {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Serialize for AnyDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AnyDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for AnyDocument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyDocument".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Value::json_schema(generator)
    }
}

impl Contract for AnyDocument {
    /// This name and version stand for all dynamic services; each service's outline names its own contract.
    const NAME: &'static str = "lehr/dynamic";
    const VERSION: Version = Version::new(1, 0);
}

/// The outcome of an operation.
///
/// # Example
/// See [`Outline`].
#[derive(Clone, Debug)]
pub struct Handled {
    /// The reply.
    pub reply: Value,
    /// The new document, if the operation changes it; ignored for other operations.
    pub document: Option<AnyDocument>,
}

impl Handled {
    /// Creates the outcome of an operation that changes nothing.
    ///
    /// # Example
    /// See [`Outline`].
    pub fn unchanged(reply: Value) -> Self {
        Self { reply, document: None }
    }

    /// Creates the outcome of an operation that changes the document.
    ///
    /// # Example
    /// See [`Outline`].
    pub fn changed(reply: Value, document: impl Into<AnyDocument>) -> Self {
        Self { reply, document: Some(document.into()) }
    }
}

/// The program of a dynamic service.
///
/// # Example
/// See [`Outline`].
pub trait Program: Send + Sync + 'static {
    /// Prepares the program before the first operation. The document is the one that the service was started with, or
    /// the one that was kept on disk. Default: nothing to do.
    ///
    /// # Errors
    /// If this fails, the service is not started.
    fn start<'a>(&'a self, _document: &'a AnyDocument) -> Pending<'a, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Handles an operation. Whether the handler gets the document depends on its group; an independent handler gets no
    /// document.
    ///
    /// If the program returns a fault, it must not have changed anything. If a change cannot be written to disk, Lehr
    /// undoes it after this method has returned, and the next call gets the earlier document. A program that keeps the
    /// state in its own form must detect this with [`AnyDocument::is`].
    ///
    /// Lehr drops the future if the client cancels the request or the deadline passes.
    ///
    /// # Errors
    /// The client gets the fault as its answer.
    fn handle<'a>(
        &'a self,
        operation: &'static str,
        body: Value,
        document: Option<&'a AnyDocument>,
        call: &'a Call,
    ) -> Pending<'a, Result<Handled, Fault>>;

    /// Ends the program. Lehr calls this method when none of the program's exclusive and concurrent handlers runs any
    /// more. Independent handlers may still run. Default: nothing to do.
    fn stop(&self, _why: Stop) -> Pending<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A dynamic service in the form that the host runs: its document and its program.
#[derive(Clone)]
pub(crate) struct Dynamic {
    document: AnyDocument,
    program: Arc<dyn Program>,
}

impl fmt::Debug for Dynamic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Dynamic").finish_non_exhaustive()
    }
}

impl Service for Dynamic {
    type Document = AnyDocument;

    fn document(&self) -> &AnyDocument {
        &self.document
    }

    fn document_mut(&mut self) -> &mut AnyDocument {
        &mut self.document
    }

    /// Adds nothing, because the operations come from the outline.
    fn handlers(_: &mut Handlers<Self>) {}

    async fn start(&mut self, _: &Starting) -> Result<(), Fault> {
        self.program.start(&self.document).await
    }

    async fn stop(self, why: Stop) {
        self.program.stop(why).await;
    }
}

/// A request for an operation of a dynamic service; the type parameter is the verb of the operation.
struct Loose<V> {
    name: &'static str,
    body: Value,
    _verb: PhantomData<fn() -> V>,
}

impl<V> Clone for Loose<V> {
    fn clone(&self) -> Self {
        Self { name: self.name, body: self.body.clone(), _verb: PhantomData }
    }
}

impl<V> Serialize for Loose<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.serialize(serializer)
    }
}

impl<'de, V> Deserialize<'de> for Loose<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|body| Self { name: "", body, _verb: PhantomData })
    }
}

impl<V> JsonSchema for Loose<V> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Operation".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Value::json_schema(generator)
    }
}

impl<V: Kind> Operation for Loose<V> {
    type Contract = AnyDocument;
    type Verb = V;
    type Reply = Value;
    /// Empty, because the outline gives each operation its name.
    const NAME: &'static str = "";

    fn under(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

impl<V: Kind> Exclusive<Loose<V>> for Dynamic {
    async fn handle(&mut self, operation: Loose<V>, call: &Call) -> Result<Value, Fault> {
        let handled = self.program.handle(operation.name, operation.body, Some(&self.document), call).await?;
        if let (true, Some(document)) = (V::VERB.changes_state(), handled.document) {
            self.document = document;
        }
        Ok(handled.reply)
    }
}

impl<V: Looks> Concurrent<Loose<V>> for Dynamic {
    async fn handle(&self, operation: Loose<V>, call: &Call) -> Result<Value, Fault> {
        let handled = self.program.handle(operation.name, operation.body, Some(&self.document), call).await?;
        Ok(handled.reply)
    }
}

/// Installs an operation of the independent group. The handler of the operation takes the program from the snapshot,
/// and drops the snapshot at once so that no old state is kept alive.
fn install_independent<V: Looks>(
    name: &'static str,
    shared: &Arc<Shared>,
    limit: usize,
    branches: Branches<Held<Dynamic>>,
    main: &mut MainPort,
) -> Branches<Held<Dynamic>> {
    let port = opened::<Loose<V>>(name, shared, limit, main);
    let shared = shared.clone();
    branches.independent(&port, move |held: Snapshot<Held<Dynamic>>, request: Request<Loose<V>>| {
        let (program, shared) = (held.service.program.clone(), shared.clone());
        drop(held);
        async move {
            let Request { operation, reply, envelope } = request;
            let call = Call::new(shared, envelope);
            let handler = pin!(async {
                program.handle(operation.name, operation.body, None, &call).await.map(|handled| handled.reply)
            });
            look::<Loose<V>>(&call, name, reply, None, handler).await;
        }
    })
}

fn looking<V: Looks>(group: Group) -> Install<Dynamic> {
    match group {
        Group::Exclusive => install_exclusive::<Dynamic, Loose<V>, ByHandler>,
        Group::Concurrent => install_concurrent::<Dynamic, Loose<V>>,
        Group::Independent => install_independent::<V>,
    }
}

fn changing<V: Kind>(name: &str, group: Group) -> Result<Install<Dynamic>, Fault> {
    if group == Group::Exclusive {
        return Ok(install_exclusive::<Dynamic, Loose<V>, ByHandler>);
    }
    let reason = format!("operation {name:?}: a handler of the verb {} has the state to itself", V::VERB);
    Err(Fault::new(Code::StartFailed, reason))
}

fn install(name: &str, operation: &OutlinedOperation) -> Result<Install<Dynamic>, Fault> {
    let group = operation.group;
    match operation.verb {
        Verb::Query => Ok(looking::<verb::Query>(group)),
        Verb::Submit => Ok(looking::<verb::Submit>(group)),
        Verb::Insert => changing::<verb::Insert>(name, group),
        Verb::Update => changing::<verb::Update>(name, group),
        Verb::Upsert => changing::<verb::Upsert>(name, group),
        Verb::Replace => changing::<verb::Replace>(name, group),
        Verb::Delete => changing::<verb::Delete>(name, group),
        fixed @ (Verb::Lookup | Verb::Get | Verb::Subscribe | Verb::Drop) => {
            let reason = format!("operation {name:?}: the verb {fixed} is answered without a handler");
            Err(Fault::new(Code::StartFailed, reason))
        }
    }
}

impl Outline {
    /// Returns the form from which the host starts the service.
    pub(crate) fn form(self, document: Value, program: impl Program) -> Form<Dynamic> {
        let service = Dynamic { document: document.into(), program: Arc::new(program) };
        let Self { name, version, state, operations } = self;
        Form {
            make: Box::new(move || service.clone()),
            handlers: Box::new(move || handlers(&operations)),
            describe: Box::new(move |operations| Description::new(&name, version, state.clone(), operations)),
        }
    }
}

fn handlers(operations: &BTreeMap<String, OutlinedOperation>) -> Result<Handlers<Dynamic>, Fault> {
    let mut handlers = Handlers::none();
    for (name, operation) in operations {
        let OutlinedOperation { verb, body, reply, .. } = operation.clone();
        let description = OperationDescription { verb, body, reply, raw: Vec::new() };
        handlers.add_as(lasting(name), description, install(name, operation)?);
    }
    handlers.checked()
}

/// Returns an operation's name as a string that lives until the process ends. Each name is stored only once, no matter
/// how often services with this operation start.
fn lasting(name: &str) -> &'static str {
    static NAMES: OnceLock<Mutex<BTreeSet<&'static str>>> = OnceLock::new();
    let mut names = NAMES.get_or_init(Mutex::default).lock();
    if let Some(&known) = names.get(name) {
        return known;
    }
    let lasting: &'static str = Box::leak(Box::from(name));
    names.insert(lasting);
    lasting
}
