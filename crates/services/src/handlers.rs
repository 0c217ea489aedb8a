//! Turns handlers into branches of an interleave, and adds the steps that are the same around every handler.
//!
//! Before a handler runs, its request is checked. For example, the client may expect another version, or the request
//! may have been carried out already under the same key. After a handler has changed the state, the version is
//! incremented and subscribers receive the change. Then the client gets the answer. A panic also becomes an answer.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context as Polling, Poll};

use lehr_runtime::{
    Exclusive as ExclusiveGuard, Handlers as Branches, Order, Overflow, Port, Reply, Snapshot, blocking,
};
use lehr_sync::Arc;
use pin_project_lite::pin_project;

use crate::call::Call;
use crate::contract::OperationDescription;
use crate::fault::{Code, Fault};
use crate::lifecycle::Stop;
use crate::main_port::MainPort;
use crate::operation::{Envelope, Operation, Replace, Request};
use crate::publisher::Change;
use crate::running::{Watched, watched};
use crate::service::{Concurrent, Exclusive, Independent, Service};
use crate::shared::{Remembered, Shared, StopRequest};
use crate::verb::{Kind, Looks};

/// Names that an operation may not have, because network edges use them for the fixed verbs.
const RESERVED: [&str; 6] = ["lookup", "get", "subscribe", "drop", "events", "create"];

/// The state that the interleave of a service manages.
pub(crate) struct Held<S> {
    pub(crate) service: S,
    /// The version of the document: the number of changes in this incarnation.
    pub(crate) revision: u64,
    /// The call that all requests without an envelope share, so that it need not be created for each request.
    plain: Call,
}

impl<S> Held<S> {
    pub(crate) fn new(service: S, shared: Arc<Shared>) -> Self {
        Self { service, revision: 0, plain: Call::new(shared, None) }
    }

    /// Returns the call of a request with an envelope; `None` for other requests, which use `plain`.
    fn call(&self, envelope: Option<Box<Envelope>>) -> Option<Call> {
        envelope.map(|envelope| Call::new(self.plain.shared().clone(), Some(envelope)))
    }
}

impl<S: Clone> Clone for Held<S> {
    fn clone(&self) -> Self {
        let plain = Call::new(self.plain.shared().clone(), None);
        Self { service: self.service.clone(), revision: self.revision, plain }
    }
}

/// A function that creates the port and the branch of an operation, under the name of the operation.
pub(crate) type Install<S> =
    fn(&'static str, &Arc<Shared>, usize, Branches<Held<S>>, &mut MainPort) -> Branches<Held<S>>;

struct Registration<S> {
    name: &'static str,
    description: OperationDescription,
    install: Install<S>,
}

/// The operations that a service has handlers for; see [`Service::handlers`].
///
/// # Example
/// See the page of the crate.
pub struct Handlers<S: Service> {
    registrations: Vec<Registration<S>>,
    pub(crate) order: Order,
    pub(crate) max_concurrent: Option<usize>,
    pub(crate) is_permanent: bool,
}

impl<S: Service> fmt::Debug for Handlers<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.registrations.iter().map(|registration| registration.name).collect();
        formatter.debug_struct("Handlers").field("operations", &names).finish_non_exhaustive()
    }
}

impl<S: Service> Handlers<S> {
    /// Returns the handlers of `S`.
    ///
    /// # Errors
    /// Returns one fault that lists all problems in the names, separated by semicolons.
    pub(crate) fn of_service() -> Result<Self, Fault> {
        let mut handlers = Self::none();
        S::handlers(&mut handlers);
        handlers.checked()
    }

    pub(crate) fn none() -> Self {
        Self { registrations: Vec::new(), order: Order::default(), max_concurrent: None, is_permanent: false }
    }

    /// Returns the handlers if their names are valid.
    ///
    /// # Errors
    /// Returns one fault that lists all problems in the names, separated by semicolons.
    pub(crate) fn checked(self) -> Result<Self, Fault> {
        let mut faults = Vec::new();
        for (index, registration) in self.registrations.iter().enumerate() {
            let name = registration.name;
            let is_word = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
            if name.is_empty() || !is_word || RESERVED.contains(&name) {
                let rule = "expected lower case letters, digits and underscores, and no name of a fixed verb";
                faults.push(format!("operation {name:?}: {rule}"));
            }
            if self.registrations[..index].iter().any(|other| other.name == name) {
                faults.push(format!("operation {name:?} is registered twice"));
            }
        }
        if faults.is_empty() { Ok(self) } else { Err(Fault::new(Code::StartFailed, faults.join("; "))) }
    }

    /// Adds an operation whose handler reads the state.
    pub fn concurrent<O>(&mut self) -> &mut Self
    where
        O: Operation<Contract = S::Document>,
        O::Verb: Looks,
        S: Concurrent<O>,
    {
        self.add::<O>(install_concurrent::<S, O>)
    }

    /// Adds an operation whose handler has exclusive access to the state.
    pub fn exclusive<O>(&mut self) -> &mut Self
    where
        O: Operation<Contract = S::Document>,
        S: Exclusive<O>,
    {
        self.add::<O>(install_exclusive::<S, O, ByHandler>)
    }

    /// Adds an operation whose handler needs no state and never has to wait for another handler.
    ///
    /// If a service has independent operations, the first change of each exclusive handler copies the state.
    pub fn independent<O>(&mut self) -> &mut Self
    where
        O: Operation<Contract = S::Document>,
        O::Verb: Looks,
        S: Independent<O>,
    {
        self.add::<O>(install_independent::<S, O>)
    }

    /// Lets clients replace the state by another document: adds [`Replace`].
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    /// struct Note { text: String }
    ///
    /// impl Contract for Note { const NAME: &'static str = "example.org/note"; const VERSION: Version = Version::new(1, 0); }
    ///
    /// impl Service for Note {
    ///     type Document = Self;
    ///     fn document(&self) -> &Self { self }
    ///     fn document_mut(&mut self) -> &mut Self { self }
    ///     fn handlers(on: &mut Handlers<Self>) { on.replaceable(); }
    /// }
    ///
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = Host::new(dispatcher.handle());
    /// lehr_runtime::block_on(async {
    ///     let note = host.start("/note", Note::default).await?;
    ///     note.call(Replace(Note { text: "hello".to_owned() })).await?;
    ///     assert_eq!(note.get().await?.text, "hello");
    ///     Ok::<(), Fault>(())
    /// }).unwrap();
    /// ```
    pub fn replaceable(&mut self) -> &mut Self {
        self.add::<Replace<S::Document>>(install_exclusive::<S, Replace<S::Document>, ByReplacing>)
    }

    /// Sets the order in which waiting handlers start when a handler ends. Default: in order of arrival.
    pub fn order(&mut self, order: Order) -> &mut Self {
        self.order = order;
        self
    }

    /// Sets the maximum number of concurrent handlers that may run at once. Default: any number.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    pub fn max_concurrent(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "a service that may run no concurrent handler would never answer");
        self.max_concurrent = Some(count);
        self
    }

    /// Refuses drop requests from clients: only the host can end the service.
    pub fn permanent(&mut self) -> &mut Self {
        self.is_permanent = true;
        self
    }

    fn add<O: Operation>(&mut self, install: Install<S>) -> &mut Self {
        self.add_as(O::NAME, OperationDescription::of::<O>(), install)
    }

    /// Adds an operation under a name and a description that differ from the name and description of its type.
    pub(crate) fn add_as(
        &mut self,
        name: &'static str,
        description: OperationDescription,
        install: Install<S>,
    ) -> &mut Self {
        self.registrations.push(Registration { name, description, install });
        self
    }

    /// Returns the operations as data.
    pub(crate) fn describe(&self) -> std::collections::BTreeMap<String, OperationDescription> {
        let described = self.registrations.iter();
        described.map(|operation| (operation.name.to_owned(), operation.description.clone())).collect()
    }

    /// Makes the ports and the branches of all operations.
    pub(crate) fn install(
        self,
        shared: &Arc<Shared>,
        limit: usize,
        branches: Branches<Held<S>>,
        main: &mut MainPort,
    ) -> Branches<Held<S>> {
        let installs = self.registrations.into_iter();
        installs
            .fold(branches, |branches, operation| (operation.install)(operation.name, shared, limit, branches, main))
    }
}

/// Creates one of the ports that make up the main port of a service.
pub(crate) fn port<T>(shared: &Shared, name: &str, limit: usize) -> Port<T> {
    Port::builder().name(format!("{name} of {}", shared.path)).capacity(limit, Overflow::Reject).build()
}

/// Makes the port of an operation, and adds it to the main port.
pub(crate) fn opened<O: Operation>(
    name: &'static str,
    shared: &Shared,
    limit: usize,
    main: &mut MainPort,
) -> Port<Request<O>> {
    let port = port(shared, name, limit);
    main.add::<O>(name, port.clone());
    port
}

pub(crate) fn install_concurrent<S: Concurrent<O>, O: Operation<Contract = S::Document>>(
    name: &'static str,
    shared: &Arc<Shared>,
    limit: usize,
    branches: Branches<Held<S>>,
    main: &mut MainPort,
) -> Branches<Held<S>> {
    let port = opened::<O>(name, shared, limit, main);
    branches.concurrent(&port, move |held: Snapshot<Held<S>>, request: Request<O>| async move {
        let Request { operation, reply, envelope } = request;
        let own = held.call(envelope);
        let call = own.as_ref().unwrap_or(&held.plain);
        let handler = pin!(async { pin!(S::handle(&held.service, operation, call)).await });
        look::<O>(call, name, reply, Some(held.revision), handler).await;
    })
}

fn install_independent<S: Independent<O>, O: Operation<Contract = S::Document>>(
    name: &'static str,
    shared: &Arc<Shared>,
    limit: usize,
    branches: Branches<Held<S>>,
    main: &mut MainPort,
) -> Branches<Held<S>> {
    let port = opened::<O>(name, shared, limit, main);
    let shared = shared.clone();
    branches.independent(&port, move |held: Snapshot<Held<S>>, request: Request<O>| {
        // The handler may run for long: don't keep a state alive that it does not see.
        drop(held);
        let shared = shared.clone();
        async move {
            let Request { operation, reply, envelope } = request;
            let call = Call::new(shared, envelope);
            let handler = pin!(async { pin!(S::handle(operation, &call)).await });
            look::<O>(&call, name, reply, None, handler).await;
        }
    })
}

/// Handles a request that changes nothing: `handler` runs if the request is admitted.
pub(crate) async fn look<O: Operation>(
    call: &Call,
    name: &'static str,
    reply: Option<Reply<Result<O::Reply, Fault>>>,
    version: Option<u64>,
    handler: Pin<&mut impl Future<Output = Result<O::Reply, Fault>>>,
) {
    match admit::<O>(call, name, version) {
        Err(known) => answer(call, reply, known),
        Ok(keyed) => {
            let outcome = caught(call, name, handler).await.outcome(call, name).0;
            keyed.settle(&outcome);
            answer(call, reply, outcome);
        }
    }
}

/// The effect of an operation on the state of a service.
pub(crate) trait Changes<S: Service, O: Operation>: 'static {
    /// Returns the operation in its complete form, as the handler gets it.
    fn complete(_service: &S, operation: O) -> Result<O, Fault> {
        Ok(operation)
    }

    fn change(service: &mut S, operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send;
}

/// The change is made by the author's handler.
pub(crate) struct ByHandler;

impl<S: Exclusive<O>, O: Operation<Contract = S::Document>> Changes<S, O> for ByHandler {
    fn complete(service: &S, operation: O) -> Result<O, Fault> {
        service.complete(operation)
    }

    fn change(service: &mut S, operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send {
        service.handle(operation, call)
    }
}

/// The change replaces the state by another document.
struct ByReplacing;

impl<S: Service> Changes<S, Replace<S::Document>> for ByReplacing {
    async fn change(service: &mut S, operation: Replace<S::Document>, _: &Call) -> Result<(), Fault> {
        // The replaced document is dropped here, where the handler would run.
        *service.document_mut() = operation.0;
        Ok(())
    }
}

pub(crate) fn install_exclusive<S: Service, O: Operation<Contract = S::Document>, C: Changes<S, O>>(
    name: &'static str,
    shared: &Arc<Shared>,
    limit: usize,
    branches: Branches<Held<S>>,
    main: &mut MainPort,
) -> Branches<Held<S>> {
    let port = opened::<O>(name, shared, limit, main);
    branches.exclusive(&port, move |mut held: ExclusiveGuard<Held<S>>, request: Request<O>| async move {
        let Request { operation, reply, envelope } = request;
        let own = held.call(envelope);
        // The request is checked before the state is touched, so that a request that is not admitted changes nothing.
        let admitted = match &own {
            None => Ok(Keyed::without(name)),
            Some(call) => match admit::<O>(call, name, Some(held.revision)) {
                Err(known) => Err((call, known)),
                Ok(keyed) => Ok(keyed),
            },
        };
        match admitted {
            Err((call, known)) => {
                drop(held);
                answer(call, reply, known);
            }
            Ok(keyed) => {
                let Held { service, revision, plain } = &mut *held;
                let call = own.as_ref().unwrap_or(plain);
                let mut change = None;
                let attempt = Attempt::of::<O>(name, service, revision, call);
                let ended = {
                    let handler = pin!(async {
                        let operation = C::complete(attempt.service, operation)?;
                        change = told(call, name, &operation);
                        pin!(C::change(attempt.service, operation, call)).await
                    });
                    caught(call, name, handler).await
                };
                let outcome = attempt.end(call, ended, change);
                keyed.settle(&outcome);
                answer(call, reply, outcome);
            }
        }
    })
}

/// Returns the change that subscribers will get for this operation, if it succeeds. Returns `None` if the operation
/// changes nothing or there are no subscribers. Subscribers join in the concurrent group, so no subscriber joins while
/// an exclusive handler runs.
fn told<O: Operation>(call: &Call, name: &str, operation: &O) -> Option<Change> {
    let shared = call.shared();
    let is_told = <O::Verb as Kind>::VERB.changes_state() && shared.publisher.is_watched();
    is_told.then(|| Change::typed(shared.incarnation, name, operation.clone()))
}

/// A running exclusive handler: if it does not finish, its effect on the state is unknown.
struct Attempt<'a, S: Service> {
    service: &'a mut S,
    revision: &'a mut u64,
    shared: &'a Shared,
    operation: &'static str,
    changes: bool,
    /// The earlier document, if the service keeps its document on disk. This document is restored after a failure, so
    /// that memory and disk agree.
    before: Option<S::Document>,
    is_settled: bool,
}

impl<'a, S: Service> Attempt<'a, S> {
    fn of<O: Operation>(name: &'static str, service: &'a mut S, revision: &'a mut u64, call: &'a Call) -> Self {
        let changes = <O::Verb as Kind>::VERB.changes_state();
        let shared: &Shared = call.shared();
        let before = shared.store.is_some().then(|| service.document().clone());
        Self { service, revision, shared, operation: name, changes, before, is_settled: false }
    }

    /// Returns the handler's outcome, or a fault if the change cannot be saved. After a success, first saves and
    /// publishes the change. After a panic, first asks the service to stop if it may be restarted.
    fn end<T>(mut self, call: &Call, ended: Ended<T>, told: Option<Change>) -> Result<T, Fault> {
        let (outcome, panic) = ended.outcome(call, self.operation);
        match panic {
            None => {
                if self.changes
                    && outcome.is_ok()
                    && let Err(fault) = self.keep()
                {
                    // Not settled: dropping this attempt undoes the change.
                    return Err(fault.here());
                }
                self.is_settled = true;
                if outcome.is_ok() && self.changes {
                    *self.revision += 1;
                    if let Some(change) = told {
                        self.shared.publisher.publish(change.at(*self.revision));
                    }
                }
            }
            Some(message) => {
                if self.shared.stops_on_panic {
                    let (reply, _) = Reply::new();
                    // The port refuses this request if the service is ending already.
                    let _ = self.shared.stop.post(StopRequest { why: Stop::Crashed { message }, reply });
                }
            }
        }
        outcome
    }

    /// Writes the state to disk, if the service keeps it there.
    fn keep(&self) -> Result<(), Fault> {
        let Some(store) = &self.shared.store else { return Ok(()) };
        blocking("the disk", || store.save(self.service.document()))
    }
}

impl<S: Service> Drop for Attempt<'_, S> {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        // The handler panicked or was cancelled, or the change could not be kept.
        match self.before.take() {
            Some(before) => *self.service.document_mut() = before,
            None => {
                // The state now counts as a new version, which all subscribers must load again.
                *self.revision += 1;
                self.shared.publisher.reset();
            }
        }
    }
}

/// A request that is being carried out, with its key if it has one. If this value is dropped before it is settled, the
/// request counts as never made.
struct Keyed<T: Clone + Send + 'static> {
    operation: &'static str,
    /// The service and the key; `None` for a request without a key.
    key: Option<(Arc<Shared>, Box<str>)>,
    _outcome: std::marker::PhantomData<fn() -> T>,
}

impl<T: Clone + Send + 'static> Keyed<T> {
    /// Creates the value for a request without a key.
    fn without(operation: &'static str) -> Self {
        Self { operation, key: None, _outcome: std::marker::PhantomData }
    }

    fn settle(mut self, outcome: &Result<T, Fault>) {
        if let Some((shared, key)) = self.key.take() {
            // A request that failed with a temporary fault or an internal failure may be tried again. Any other answer,
            // even a fault, is final.
            let may_pass = |fault: &Fault| fault.code() == Code::OperationFailed || fault.code().may_pass();
            let is_known = !outcome.as_ref().is_err_and(may_pass);
            shared.settle(self.operation, &key, is_known.then(|| outcome.clone()));
        }
    }
}

impl<T: Clone + Send + 'static> Drop for Keyed<T> {
    fn drop(&mut self) {
        if let Some((shared, key)) = self.key.take() {
            shared.settle::<Result<T, Fault>>(self.operation, &key, None);
        }
    }
}

/// Decides whether the handler may run; if not, returns the answer.
fn admit<O: Operation>(
    call: &Call,
    name: &'static str,
    version: Option<u64>,
) -> Result<Keyed<O::Reply>, Result<O::Reply, Fault>> {
    let mut keyed = Keyed::without(name);
    let Some(envelope) = call.envelope() else { return Ok(keyed) };
    if let Some(key) = &envelope.key {
        match call.shared().remember::<Result<O::Reply, Fault>>(name, key) {
            Remembered::New => keyed.key = Some((call.shared().clone(), key.clone())),
            Remembered::Done(outcome) => {
                call.shared().counters.repeated.add(1);
                return Err(outcome);
            }
            Remembered::Running => {
                let reason = format!("a request with the key {key:?} is being done");
                let fault = Fault::new(Code::Unavailable, reason).retry_after(std::time::Duration::from_secs(1));
                return Err(Err(fault.here()));
            }
        }
    }
    match (envelope.if_version, version) {
        (Some(expected), Some(found)) if expected != found => {
            let reason = format!("the state is of version {found}; the request is for version {expected}");
            Err(Err(Fault::new(Code::PreconditionFailed, reason).here()))
        }
        _ => Ok(keyed),
    }
}

/// Counts a request and then sends its answer, so that the client sees the new count. An answer that comes too late can
/// be counted only after sending.
fn answer<T>(call: &Call, reply: Option<Reply<Result<T, Fault>>>, outcome: Result<T, Fault>) {
    let counters = &call.shared().counters;
    counters.handled.add(1);
    if outcome.is_err() {
        counters.faults.add(1);
    }
    if reply.is_some_and(|reply| reply.answer(outcome).is_err()) {
        call.shared().counters.late.add(1);
    }
}

/// The way in which a handler ended.
enum Ended<T> {
    Returned(Result<T, Fault>),
    Panicked(String),
}

impl<T> Ended<T> {
    /// Returns the answer, and the text of the panic if there was one.
    fn outcome(self, call: &Call, operation: &str) -> (Result<T, Fault>, Option<String>) {
        match self {
            Self::Returned(outcome) => (outcome.map_err(Fault::here), None),
            Self::Panicked(message) => {
                call.shared().counters.panics.add(1);
                let fault = Fault::new(Code::OperationFailed, "the operation failed inside the service")
                    .log(format!("{}: {operation} panicked: {message}", call.path()));
                (Err(fault.here()), Some(message))
            }
        }
    }
}

pin_project! {
    /// A handler whose panic becomes an output.
    struct Caught<F> {
        #[pin]
        handler: F,
    }
}

/// Returns a handler whose panic becomes an output and whose waits are recorded.
fn caught<'a, T, F>(call: &'a Call, operation: &'static str, handler: F) -> Caught<Watched<'a, F>>
where
    F: Future<Output = Result<T, Fault>>,
{
    Caught { handler: watched(call, operation, handler) }
}

impl<T, F: Future<Output = Result<T, Fault>>> Future for Caught<F> {
    type Output = Ended<T>;

    fn poll(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Ended<T>> {
        let handler = self.project().handler;
        // Unwind safety: the handler is not polled again after a panic, and the state counts as changed.
        match catch_unwind(AssertUnwindSafe(|| handler.poll(polling))) {
            Ok(polled) => polled.map(Ended::Returned),
            Err(payload) => Poll::Ready(Ended::Panicked(text_of(payload.as_ref()))),
        }
    }
}

/// Returns the text of a panic, or a standard text if the panic has none.
pub(crate) fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a text".to_owned())
}
