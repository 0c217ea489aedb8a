//! The main port of a running service: a bounded port for each operation, and ports for the fixed verbs.
//!
//! With a port for each operation, messages keep their types. Messages need no conversion to an enum, and only the
//! reply is allocated on the heap. The interleave stamps arrivals, and so keeps the order of arrival across all ports.

use std::any::TypeId;
use std::fmt;

use lehr_runtime::{Answer, Gauges, Port, PostError, Reason, Refusal, Reply};
use lehr_sync::{Arc, Mutex};

use crate::contract::{Contract, Version};
use crate::endpoint::Encoded;
use crate::fault::{Code, Fault, overflow};
use crate::format::Format;
use crate::link::Pending;
use crate::operation::{Anything, Envelope, Operation, Request};
use crate::publisher::Subscriber;
use crate::reference::State;
use crate::shared::Shared;
use crate::subscription::End;
use crate::verb::{Kind, Verb};
use crate::written::Written;

/// The ports of the operations, by type and by name.
#[derive(Default)]
pub(crate) struct MainPort {
    entries: Vec<Entry>,
}

/// The reply to an encoded request, in the requested format.
pub(crate) type Bytes = Pending<'static, Result<Vec<u8>, Fault>>;

type Invoke =
    fn(&Anything, &'static str, &Arc<Shared>, (Format, &[u8]), Format, Option<Box<Envelope>>) -> Result<Bytes, Fault>;

struct Entry {
    operation: TypeId,
    name: &'static str,
    verb: Verb,
    port: Box<Anything>,
    invoke: Invoke,
    gauges: fn(&Anything) -> Option<Gauges>,
    close: fn(&Anything),
}

impl MainPort {
    pub(crate) fn add<O: Operation>(&mut self, name: &'static str, port: Port<Request<O>>) {
        self.entries.push(Entry {
            operation: TypeId::of::<O>(),
            name,
            verb: O::Verb::VERB,
            port: Box::new(port),
            invoke: invoke::<O>,
            gauges: |port| port.downcast_ref::<Port<Request<O>>>().map(Port::gauges),
            close: |port| {
                if let Some(port) = port.downcast_ref::<Port<Request<O>>>() {
                    port.close();
                    // Each waiting request is refused.
                    let left = port.drain().into_iter().filter_map(|request| request.reply);
                    left.for_each(|reply| reply.refuse(Refusal::Stopping));
                }
            },
        });
    }

    /// Returns the port of an operation. The search is linear, because there are few entries and comparing type
    /// identities is fast.
    fn of<O: Operation>(&self) -> Option<&Port<Request<O>>> {
        let entry = self.entries.iter().find(|entry| entry.operation == TypeId::of::<O>())?;
        entry.port.downcast_ref()
    }
}

/// The reason why a request could not be handed to the service.
pub(crate) enum Unsent<O> {
    /// The service is ending or has ended; the request is given back.
    Closed(O, Option<Box<Envelope>>),
    /// The contract has an operation of this name, but with the type of another build.
    Foreign(O),
    /// The request is refused for any other reason, which the fault gives.
    Fault(Fault),
}

fn invoke<O: Operation>(
    port: &Anything,
    name: &'static str,
    shared: &Arc<Shared>,
    (format, body): (Format, &[u8]),
    accept: Format,
    envelope: Option<Box<Envelope>>,
) -> Result<Bytes, Fault> {
    let operation: O = format.decode(body).map_err(Fault::here)?;
    let port = port.downcast_ref::<Port<Request<O>>>().ok_or_else(|| unsupported(shared, name))?;
    let answer = ask(port, name, shared, operation.under(name), envelope).map_err(|unsent| match unsent {
        Unsent::Fault(fault) => fault,
        Unsent::Closed(..) | Unsent::Foreign(_) => stopping(&shared.path),
    })?;
    Ok(Box::pin(async move { settled(answer.await).and_then(|reply| accept.encode(&reply)) }))
}

fn ask<O: Operation>(
    port: &Port<Request<O>>,
    name: &str,
    shared: &Shared,
    operation: O,
    envelope: Option<Box<Envelope>>,
) -> Result<Answer<Result<O::Reply, Fault>>, Unsent<O>> {
    let asked = port.ask(|reply| Request { operation, reply: Some(reply), envelope });
    asked.map_err(|refused| unsent(refused, name, shared))
}

fn post<O: Operation>(
    port: &Port<Request<O>>,
    shared: &Shared,
    operation: O,
    envelope: Option<Box<Envelope>>,
) -> Result<(), Unsent<O>> {
    port.post(Request { operation, reply: None, envelope }).map_err(|refused| unsent(refused, O::NAME, shared))
}

fn unsent<O: Operation>(refused: PostError<Request<O>>, name: &str, shared: &Shared) -> Unsent<O> {
    match overflow(&refused, &shared.path, name) {
        Some(fault) => Unsent::Fault(fault),
        None => Unsent::Closed(refused.item.operation, refused.item.envelope),
    }
}

/// Returns the fault of a request to a service that is ending.
pub(crate) fn stopping(path: &str) -> Fault {
    Fault::new(Code::ServiceStopping, format!("{path} is stopping")).here()
}

fn unsupported(shared: &Shared, operation: &str) -> Fault {
    let names: Vec<&str> = shared.description.operations.keys().map(String::as_str).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Fault::new(Code::ActionNotSupported, format!("{} has no operation {operation:?}; it has: {names}", shared.path))
        .here()
}

/// Converts an answer or a refusal to a result.
pub(crate) fn settled<T>(answer: Result<Result<T, Fault>, Refusal>) -> Result<T, Fault> {
    match answer {
        Ok(outcome) => outcome,
        Err(refusal) => Err(refusal.into()),
    }
}

/// A request for the whole state.
pub(crate) enum Ask<D> {
    /// Returns the state.
    Get(Reply<State<D>>),
    /// Subscribes: returns the state, then every later change. An existing subscriber continues from this state.
    Subscribe(Arc<Subscriber>, Reply<State<D>>),
}

/// Returns the state without a message; `None` if a message is needed.
type Glance<D> = Arc<dyn Fn() -> Option<State<D>> + Send + Sync>;

/// The port for requests for the whole state.
pub(crate) struct Whole<D> {
    pub(crate) port: Port<Ask<D>>,
    /// The function that returns the state without a message. The function is present while the service runs, and it
    /// holds the state.
    glance: Arc<Mutex<Option<Glance<D>>>>,
    /// The last state in encoded form, for all receivers.
    pub(crate) written: Arc<Written>,
}

impl<D> Clone for Whole<D> {
    fn clone(&self) -> Self {
        Self { port: self.port.clone(), glance: self.glance.clone(), written: self.written.clone() }
    }
}

impl<D> Whole<D> {
    pub(crate) fn new(port: Port<Ask<D>>) -> Self {
        Self { port, glance: Arc::default(), written: Arc::default() }
    }

    /// Allows the state to be read without a message from now on.
    pub(crate) fn show(&self, glance: impl Fn() -> Option<State<D>> + Send + Sync + 'static) {
        *self.glance.lock() = Some(Arc::new(glance));
    }

    /// Returns the state, if no handler changes it and no waiting request would change it.
    pub(crate) fn glance(&self) -> Option<State<D>> {
        let glance = self.glance.lock().clone();
        glance.and_then(|glance| glance())
    }

    /// Stops reads without a message. A message is needed from now on, and is refused.
    pub(crate) fn hide(&self) {
        let shown = self.glance.lock().take();
        // This may drop the last reference to the state, which runs the author's code.
        drop(shown);
    }
}

/// A running service, as its callers see it.
pub(crate) struct Local {
    shared: Arc<Shared>,
    main: MainPort,
    document: TypeId,
    /// A boxed `Whole<D>`.
    whole: Box<Anything>,
    encoded: Box<dyn Encoded>,
    is_permanent: bool,
}

impl fmt::Debug for Local {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(formatter)
    }
}

impl Local {
    pub(crate) fn new<D: Contract>(shared: Arc<Shared>, main: MainPort, whole: Whole<D>, is_permanent: bool) -> Self {
        let encoded = Box::new(whole.clone());
        Self { shared, main, document: TypeId::of::<D>(), whole: Box::new(whole), encoded, is_permanent }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn encoded(&self) -> &dyn Encoded {
        &*self.encoded
    }

    pub(crate) fn is_permanent(&self) -> bool {
        self.is_permanent
    }

    /// Closes the ports, refuses the waiting requests, and notifies the subscribers. If a teardown has already closed
    /// the ports, this function only notifies the subscribers.
    pub(crate) fn end(&self) {
        self.main.entries.iter().for_each(|entry| (entry.close)(&*entry.port));
        self.encoded.close();
        self.shared.stop.close();
        drop(self.shared.stop.drain());
        self.shared.publisher.end(&End::Stopped);
    }

    /// Returns whether the state has the type `D` of this build.
    pub(crate) fn is_of<D: Contract>(&self) -> bool {
        self.document == TypeId::of::<D>()
    }

    /// Returns the state of the port of each operation.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (&'static str, Verb, Gauges)> {
        self.main.entries.iter().filter_map(|entry| Some((entry.name, entry.verb, (entry.gauges)(&*entry.port)?)))
    }

    /// Sends an operation and returns its answer.
    pub(crate) fn ask<O: Operation>(
        &self,
        operation: O,
        envelope: Option<Box<Envelope>>,
    ) -> Result<Answer<Result<O::Reply, Fault>>, Unsent<O>> {
        self.with_port(operation, |port, operation| ask(port, O::NAME, &self.shared, operation, envelope))
    }

    /// Sends an operation without waiting for the answer.
    pub(crate) fn post<O: Operation>(&self, operation: O, envelope: Option<Box<Envelope>>) -> Result<(), Unsent<O>> {
        self.with_port(operation, |port, operation| post(port, &self.shared, operation, envelope))
    }

    fn with_port<O: Operation, T>(
        &self,
        operation: O,
        send: impl FnOnce(&Port<Request<O>>, O) -> Result<T, Unsent<O>>,
    ) -> Result<T, Unsent<O>> {
        match self.main.of::<O>() {
            Some(port) => send(port, operation),
            None if self.main.entries.iter().any(|entry| entry.name == O::NAME) => Err(Unsent::Foreign(operation)),
            None => Err(Unsent::Fault(unsupported(&self.shared, O::NAME))),
        }
    }

    /// Decodes an operation that came as bytes, and sends it.
    pub(crate) fn invoke(
        &self,
        name: &str,
        body: (Format, &[u8]),
        accept: Format,
        envelope: Option<Box<Envelope>>,
    ) -> Result<Bytes, Fault> {
        let entry = self.main.entries.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| unsupported(&self.shared, name))?;
        (entry.invoke)(&*entry.port, entry.name, &self.shared, body, accept, envelope)
    }

    fn whole<D: Contract>(&self) -> Option<&Whole<D>> {
        self.whole.downcast_ref()
    }

    /// Returns the state, if it is available without a message: no handler changes it, and no waiting request would
    /// change it.
    pub(crate) fn glance<D: Contract>(&self) -> Option<State<D>> {
        let state = self.whole::<D>()?.glance()?;
        self.shared.counters.handled.add(1);
        Some(state)
    }

    /// Requests the state. Fails if the service has ended.
    pub(crate) fn get<D: Contract>(&self) -> Result<Answer<State<D>>, Unsent<()>> {
        let Some(whole) = self.whole::<D>() else { return Err(Unsent::Fault(other_contract::<D>(&self.shared))) };
        ask_for(&whole.port, &self.shared.path, Ask::Get)
    }

    /// Requests the state on behalf of a subscriber.
    pub(crate) fn subscribe<D: Contract>(&self, subscriber: &Arc<Subscriber>) -> Result<Answer<State<D>>, Unsent<()>> {
        let Some(whole) = self.whole::<D>() else { return Err(Unsent::Fault(other_contract::<D>(&self.shared))) };
        ask_for(&whole.port, &self.shared.path, |reply| Ask::Subscribe(subscriber.clone(), reply))
    }

    /// Returns the state for a subscriber that missed changes.
    pub(crate) async fn seed<D: Contract>(&self, subscriber: &Arc<Subscriber>) -> Result<State<D>, Fault> {
        match self.subscribe::<D>(subscriber) {
            Ok(answer) => answer.await.map_err(Fault::from),
            Err(Unsent::Fault(fault)) => Err(fault),
            Err(Unsent::Closed(..) | Unsent::Foreign(())) => Err(stopping(&self.shared.path)),
        }
    }
}

/// Posts a request for the whole state.
pub(crate) fn ask_for<D: Contract>(
    asks: &Port<Ask<D>>,
    path: &str,
    question: impl FnOnce(Reply<State<D>>) -> Ask<D>,
) -> Result<Answer<State<D>>, Unsent<()>> {
    asks.ask(question).map_err(|refused| match refused.reason {
        Reason::Closed => Unsent::Closed((), None),
        _ => overflow(&refused, path, "get").map_or_else(|| Unsent::Closed((), None), Unsent::Fault),
    })
}

/// Returns the fault of a reference whose type `D` is not the type of the service's document.
pub(crate) fn other_contract<D: Contract>(shared: &Shared) -> Fault {
    mismatch(shared, D::NAME, D::VERSION)
}

/// Returns the fault of a request for a contract that the service does not have.
pub(crate) fn mismatch(shared: &Shared, name: &str, version: Version) -> Fault {
    let (path, found) = (&shared.path, &shared.description);
    let reason = format!("{path} speaks {} {}; the request is for {name} {version}", found.name, found.version);
    Fault::new(Code::ContractMismatch, reason).here()
}
