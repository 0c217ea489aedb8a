//! A reference to a service: its methods are the same whether the service is in this process or behind a network edge.
//!
//! In this process an operation is moved into the main port: nothing is copied or encoded, and only the reply is
//! allocated on the heap. Behind a [`Link`] the operation travels as bytes. The guarantees are the same: each request
//! gets one answer, in the order of the calls. If there is no result, the answer is a fault that gives the reason.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context as Polling, Poll};
use std::time::Duration;

use lehr_runtime::{Answer, Clock, Context, Snapshot, consume_budget, in_place};
use lehr_sync::Arc;

use crate::contract::{Contract, Version, body_schema, schema_difference};
use crate::endpoint::Endpoint;
use crate::fault::{Code, Fault, of_context};
use crate::following::Following;
use crate::format::Format;
use crate::handlers::Held;
use crate::host::{Host, WeakHost};
use crate::info::Info;
use crate::link::{Action, Link, Message, Options, Pending};
use crate::main_port::{Local, Unsent, mismatch, other_contract, settled, stopping};
use crate::operation::{Envelope, Operation};
use crate::running::{time_left, waiting_for};
use crate::service::Service;
use crate::shared::StopRequest;
use crate::subscription::{Subscribe, Subscription};
use crate::verb::{Kind, Verb};

/// The state of a service at one version. A `State` never changes, no matter how long you keep it.
///
/// For a service in this process, a `State` is the state itself and not a copy. While you keep it, the service copies
/// the state before the next change.
///
/// # Example
/// See [`Reference::get`].
pub struct State<D> {
    held: Arc<dyn Shows<D>>,
    version: u64,
    incarnation: u64,
}

/// Access to the document of a service, whatever the type of the service.
trait Shows<D>: Send + Sync {
    fn document(&self) -> &D;
}

impl<S: Service> Shows<S::Document> for Snapshot<Held<S>> {
    fn document(&self) -> &S::Document {
        self.service.document()
    }
}

struct Owned<D>(D);

impl<D: Send + Sync> Shows<D> for Owned<D> {
    fn document(&self) -> &D {
        &self.0
    }
}

impl<D> State<D> {
    pub(crate) fn of<S: Service<Document = D>>(held: Snapshot<Held<S>>, incarnation: u64) -> Self
    where
        D: Contract,
    {
        Self { version: held.revision, incarnation, held: Arc::new(held) }
    }

    pub(crate) fn owned(document: D, version: u64, incarnation: u64) -> Self
    where
        D: Contract,
    {
        Self { held: Arc::new(Owned(document)), version, incarnation }
    }

    /// Returns the number of changes in this incarnation. If the service keeps no document on disk, an exclusive
    /// operation that panics or is cancelled also counts.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the incarnation of the service that the state belongs to.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }
}

impl<D> Clone for State<D> {
    fn clone(&self) -> Self {
        Self { held: self.held.clone(), version: self.version, incarnation: self.incarnation }
    }
}

impl<D> Deref for State<D> {
    type Target = D;

    fn deref(&self) -> &D {
        self.held.document()
    }
}

impl<D: fmt::Debug> fmt::Debug for State<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("State")
            .field("version", &self.version)
            .field("document", &**self)
            .finish_non_exhaustive()
    }
}

/// A service with the contract `D`, in this process or elsewhere. Cheap to clone.
///
/// Requests that one client sends are admitted in the order of its calls, whatever their verbs.
///
/// # Example
/// See the page of the crate.
pub struct Reference<D: Contract> {
    target: Target,
    options: Option<Arc<Options>>,
    /// Whether a missing service counts as a temporary fault.
    is_partner: bool,
    _document: PhantomData<fn() -> D>,
}

#[derive(Clone)]
enum Target {
    Local(Arc<Local>, WeakHost),
    Link(Arc<dyn Link>),
}

impl<D: Contract> Clone for Reference<D> {
    fn clone(&self) -> Self {
        let (target, options) = (self.target.clone(), self.options.clone());
        Self { target, options, is_partner: self.is_partner, _document: PhantomData }
    }
}

impl<D: Contract> fmt::Debug for Reference<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Reference");
        match &self.target {
            Target::Local(at, _) => shown.field("local", at),
            Target::Link(link) => shown.field("link", link),
        };
        shown.field("contract", &D::NAME).finish()
    }
}

impl<D: Contract> Reference<D> {
    pub(crate) fn local(at: Arc<Local>, host: WeakHost) -> Self {
        Self { target: Target::Local(at, host), options: None, is_partner: false, _document: PhantomData }
    }

    /// Creates a reference over a link. Whether a service exists at the other end shows only with the first request.
    ///
    /// # Example
    /// See [`Endpoint`].
    pub fn over(link: impl Link + 'static) -> Self {
        Self::linked(Arc::new(link))
    }

    pub(crate) fn linked(link: Arc<dyn Link>) -> Self {
        Self { target: Target::Link(link), options: None, is_partner: false, _document: PhantomData }
    }

    /// Returns whether the service is in this process, so that requests are moved and not encoded.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::{DIRECTORY, Directory, Host};
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(host.ready());
    /// assert!(host.reference::<Directory>(DIRECTORY).unwrap().is_local());
    /// ```
    pub fn is_local(&self) -> bool {
        matches!(&self.target, Target::Local(at, _) if at.is_of::<D>())
    }

    pub(crate) fn into_partner(mut self) -> Self {
        self.is_partner = true;
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(Arc::make_mut(self.options.get_or_insert_default()));
        self
    }

    /// Sets a time limit for requests. After this time you get [`Code::ResponseTimeout`], and the handler's future is
    /// dropped.
    ///
    /// Default: the limit of the caller's context. A handler's requests have at most the time that is
    /// [left](crate::Call::time_left) to the handler, also on other nodes. Between nodes there is always a limit; it is
    /// 30 seconds if you set none.
    ///
    /// Cost: a context and a timer for each request.
    pub fn within(self, time: Duration) -> Self {
        self.with(|options| options.within = Some(time))
    }

    /// Lets you send a request again with the same key: the service carries it out once, and then repeats its answer.
    /// It remembers 4,096 keys until it restarts. A request that failed in passing or was cancelled may be carried out
    /// again.
    pub fn key(self, key: impl Into<String>) -> Self {
        self.with(|options| options.key = Some(key.into()))
    }

    /// Allows exclusive and concurrent operations only if the state has this version. Otherwise they fail with
    /// [`Code::PreconditionFailed`]. Other requests, such as `get` and `subscribe`, ignore the version.
    pub fn if_version(self, version: u64) -> Self {
        self.with(|options| options.if_version = Some(version))
    }

    /// Binds the reference to an incarnation of the service. In this process, this is the incarnation for which the
    /// reference was made. If the service has restarted since, requests fail with [`Code::StaleReference`]. After a
    /// restart, requests fail with [`Code::StaleReference`]; a reference that is not pinned finds the restarted
    /// service.
    ///
    /// # Errors
    /// Fails if the service cannot be asked for its incarnation.
    pub async fn pinned(self) -> Result<Self, Fault> {
        let incarnation = match &self.target {
            Target::Local(at, _) => at.shared().incarnation,
            Target::Link(_) => self.lookup().await?.incarnation,
        };
        Ok(self.with(|options| options.incarnation = Some(incarnation)))
    }

    /// Sends an operation and waits for the answer.
    ///
    /// The operation is sent when the future is first polled. Dropping the future afterwards does not undo the request.
    /// Over a link, and with [`within`](Self::within), the service is asked to cancel the request. Cost, in this
    /// process: a post, and one allocation for the reply.
    ///
    /// # Errors
    /// Returns the fault of the service, or the reason why the request could not be sent.
    pub async fn call<O: Operation<Contract = D>>(&self, operation: O) -> Result<O::Reply, Fault> {
        match &self.target {
            Target::Local(at, host) if at.is_of::<D>() => {
                let limit = self.options.as_ref().and_then(|options| options.within);
                let (context, sent) = match limit {
                    // The caller waits from here on, so the handler may run in its place.
                    None => (None, in_place(|| self.hand_over(at, host, operation))),
                    Some(limit) => {
                        let context = context(O::NAME, host, limit);
                        let sent = context.run(|| self.hand_over(at, host, operation));
                        (Some(context), sent)
                    }
                };
                match (sent, context) {
                    (Ok(answer), None) => settled(waiting_for(|| awaited(O::NAME, at), answer).await),
                    (Ok(answer), Some(context)) => waiting_for(|| awaited(O::NAME, at), wait(context, answer)).await,
                    (Err(NotSent::Foreign(operation)), _) => {
                        self.send(&Endpoint::new(at.clone(), host.clone()), operation).await
                    }
                    (Err(NotSent::Fault(fault)), _) => Err(fault),
                }
            }
            Target::Local(at, host) => self.send(&Endpoint::new(at.clone(), host.clone()), operation).await,
            Target::Link(link) => self.send(&**link, operation).await,
        }
    }

    /// Sends an operation now, and lets you await its answer later. Many requests can be in progress at once; they stay
    /// in order.
    ///
    /// In this process, this method sends the operation at once. Over a link, and with [`within`](Self::within), the
    /// operation is sent when the answer is first polled. If you drop the answer, a request that has been sent may
    /// still be carried out.
    ///
    /// # Errors
    /// Awaiting the answer returns the same faults as [`call`](Self::call).
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    /// # struct Note { text: String }
    /// # impl Contract for Note { const NAME: &'static str = "example.org/note"; const VERSION: Version = Version::new(1, 0); }
    /// # impl Service for Note {
    /// #     type Document = Self;
    /// #     fn document(&self) -> &Self { self }
    /// #     fn document_mut(&mut self) -> &mut Self { self }
    /// #     fn handlers(on: &mut Handlers<Self>) { on.replaceable(); }
    /// # }
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(async {
    /// let note = host.start("/note", Note::default).await?;
    /// let drafts: Vec<_> = ["one", "two"].map(|text| note.ask(Replace(Note { text: text.to_owned() }))).into();
    /// for stored in drafts {
    ///     stored.await?;
    /// }
    /// note.post(Replace(Note { text: "three".to_owned() })).await?; // and nobody waits
    /// assert_eq!(note.get().await?.text, "three"); // in the order of the calls
    /// # Ok::<(), Fault>(())
    /// # }).unwrap();
    /// ```
    pub fn ask<O: Operation<Contract = D>>(&self, operation: O) -> Asked<O::Reply> {
        let is_limited = self.options.as_ref().is_some_and(|options| options.within.is_some());
        let operation = match &self.target {
            Target::Local(at, host) if at.is_of::<D>() && !is_limited => match self.hand_over(at, host, operation) {
                Ok(answer) => return Asked(On::Answer(answer)),
                Err(NotSent::Fault(fault)) => return Asked(On::Refused(Some(fault))),
                Err(NotSent::Foreign(operation)) => operation,
            },
            _ => operation,
        };
        let reference = self.clone();
        Asked(On::Call(Box::pin(async move { reference.call(operation).await })))
    }

    /// Sends an operation without waiting for its answer; returns when the service has accepted it.
    ///
    /// The outcome shows only in the counts, and subscribers get the change. Over a link, this method waits for the
    /// answer, because only an answer shows that the request has arrived. A fault of the service then becomes the fault
    /// of this call. The operation is sent when the future is first polled.
    ///
    /// Cost, in this process: a post, without an allocation.
    ///
    /// # Errors
    /// Returns the reason why the operation could not be sent; [`Code::QueuingLimitExceeded`] if too many requests are
    /// waiting already.
    ///
    /// # Example
    /// See [`ask`](Self::ask).
    pub async fn post<O: Operation<Contract = D>>(&self, operation: O) -> Result<(), Fault> {
        let operation = match &self.target {
            Target::Local(at, host) if at.is_of::<D>() => {
                let unsent = match at.post(operation, self.envelope()) {
                    Err(Unsent::Closed(operation, envelope)) => self.anew(at, host)?.post(operation, envelope),
                    sent => sent,
                };
                match unsent {
                    Ok(()) => return Ok(()),
                    Err(Unsent::Foreign(operation)) => operation,
                    Err(Unsent::Fault(fault)) => return Err(fault),
                    Err(Unsent::Closed(..)) => return Err(stopping(&at.shared().path)),
                }
            }
            _ => operation,
        };
        self.call(operation).await.map(drop)
    }

    /// Moves an operation into the main port.
    fn hand_over<O: Operation>(
        &self,
        at: &Arc<Local>,
        host: &WeakHost,
        operation: O,
    ) -> Result<Answer<Result<O::Reply, Fault>>, NotSent<O>> {
        let unsent = match at.ask(operation, self.envelope()) {
            Ok(answer) => return Ok(answer),
            Err(Unsent::Closed(operation, envelope)) => {
                let anew = self.anew(at, host).map_err(NotSent::Fault)?;
                match anew.ask(operation, envelope) {
                    Ok(answer) => return Ok(answer),
                    Err(unsent) => unsent,
                }
            }
            Err(unsent) => unsent,
        };
        Err(match unsent {
            Unsent::Foreign(operation) => NotSent::Foreign(operation),
            Unsent::Fault(fault) => NotSent::Fault(fault),
            Unsent::Closed(..) => NotSent::Fault(stopping(&at.shared().path)),
        })
    }

    /// Returns the service that now exists at the path of a service that has ended.
    fn anew(&self, at: &Arc<Local>, host: &WeakHost) -> Result<Arc<Local>, Fault> {
        let path = &at.shared().path;
        let host = host.upgrade().ok_or_else(|| stopping(path))?;
        let found = host.find(path).map_err(|fault| self.absent(fault))?;
        if found.shared().incarnation == at.shared().incarnation {
            return Err(self.absent(stopping(path)));
        }
        let pinned = self.options.as_ref().and_then(|options| options.incarnation);
        if pinned.is_some_and(|pinned| pinned != found.shared().incarnation) {
            return Err(stale(path));
        }
        self.check_contract(&found)?;
        if found.is_of::<D>() { Ok(found) } else { Err(other_contract::<D>(found.shared())) }
    }

    /// Turns the fault of a missing partner into a temporary fault.
    fn absent(&self, fault: Fault) -> Fault {
        if self.is_partner && matches!(fault.code(), Code::UnknownService | Code::ServiceStopping) {
            return Fault::new(Code::Unavailable, "the partner is not available now").caused_by(&fault).here();
        }
        fault
    }

    /// Accepts the service at the other end only if it has this contract: for documents that many contracts
    /// [share](Contract::IS_SHARED).
    ///
    /// # Errors
    /// Returns [`Code::ContractMismatch`] if the service is in this process and has another contract. A service behind
    /// a link answers requests with this fault instead.
    ///
    /// # Example
    /// See [`Host::start_as`](crate::Host::start_as).
    pub fn of_contract(self, name: &str, version: Version) -> Result<Self, Fault> {
        let only = self.with(|options| options.contract = Some((name.to_owned(), version)));
        if let Target::Local(at, _) = &only.target {
            only.check_contract(at)?;
        }
        Ok(only)
    }

    fn check_contract(&self, at: &Local) -> Result<(), Fault> {
        match self.options.as_ref().and_then(|options| options.contract.as_ref()) {
            Some((name, version)) if !at.shared().description.is(name, *version) => {
                Err(mismatch(at.shared(), name, *version))
            }
            _ => Ok(()),
        }
    }

    fn envelope(&self) -> Option<Box<Envelope>> {
        let options = self.options.as_ref()?;
        if options.key.is_none() && options.if_version.is_none() {
            return None;
        }
        let key = options.key.as_deref().map(Box::from);
        Some(Box::new(Envelope { caller: None, key, if_version: options.if_version }))
    }

    /// Sends an encoded operation over a link.
    async fn send<O: Operation<Contract = D>>(&self, link: &dyn Link, operation: O) -> Result<O::Reply, Fault> {
        let body = Format::MessagePack.encode(&operation)?;
        let sent = link.send(self.message(Action::Operation(O::NAME.to_owned()), O::Verb::VERB, body));
        match waiting_for(|| format!("the answer to {:?} over {link:?}", O::NAME), sent).await {
            Ok(answered) => Format::MessagePack.decode(&answered.body),
            Err(fault) if fault.code() == Code::MessageNotSupported => Err(self.explain::<O>(link, fault).await),
            Err(fault) => Err(self.absent(fault)),
        }
    }

    /// Adds the differences between the two builds to the fault of a body that was not understood.
    async fn explain<O: Operation>(&self, link: &dyn Link, fault: Fault) -> Fault {
        if D::IS_SHARED {
            // Services that share a document may need more fields than these types have, and each service may need
            // different fields.
            return fault;
        }
        let Ok(info) = self.ask_info(link).await else { return fault };
        let Some(expected) = info.contract.operations.get(O::NAME) else { return fault };
        let lines = schema_difference(&body_schema::<O>(), &expected.body);
        if lines.is_empty() {
            return fault;
        }
        let versions = format!("{} is sent, {} is expected", D::VERSION, info.contract.version);
        let reason = format!("{:?} of {} ({versions}): {}", O::NAME, D::NAME, lines.join("; "));
        Fault::new(Code::MessageNotSupported, reason).caused_by(&fault)
    }

    fn message(&self, action: Action, verb: Verb, body: Vec<u8>) -> Message {
        let mut options = self.options.as_deref().cloned().unwrap_or_default();
        if !D::IS_SHARED {
            options.contract = Some((D::NAME.to_owned(), D::VERSION));
        }
        options.trace = Context::current().and_then(|context| context.traces().first().copied());
        // Requests of a handler have at most the time for which the handler's caller waits. In this process the context
        // enforces this limit; over a link, the option `within` does.
        if let Some(left) = time_left() {
            options.within = Some(options.within.map_or(left, |within| within.min(left)));
        }
        Message { action, verb, body, format: Format::MessagePack, accept: Format::MessagePack, options }
    }

    /// Returns the whole state.
    ///
    /// # Errors
    /// Returns the reason why the request could not be sent.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    /// # struct Note { text: String }
    /// # impl Contract for Note { const NAME: &'static str = "example.org/note"; const VERSION: Version = Version::new(1, 0); }
    /// # impl Service for Note {
    /// #     type Document = Self;
    /// #     fn document(&self) -> &Self { self }
    /// #     fn document_mut(&mut self) -> &mut Self { self }
    /// #     fn handlers(on: &mut Handlers<Self>) { on.replaceable(); }
    /// # }
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(async {
    /// let note = host.start("/note", Note::default).await?;
    /// let state = note.get().await?;
    /// assert_eq!((state.version(), state.text.as_str()), (0, ""));
    /// note.if_version(state.version()).call(Replace(Note { text: "hello".to_owned() })).await?;
    /// # Ok::<(), Fault>(())
    /// # }).unwrap();
    /// ```
    pub async fn get(&self) -> Result<State<D>, Fault> {
        match &self.target {
            Target::Local(at, host) if at.is_of::<D>() => {
                if let Some(state) = at.glance::<D>() {
                    consume_budget().await;
                    return Ok(state);
                }
                let begin = || match at.get::<D>() {
                    Ok(answer) => Ok(answer),
                    Err(Unsent::Fault(fault)) => Err(fault),
                    Err(Unsent::Closed(..)) => self.anew(at, host)?.get::<D>().map_err(|unsent| match unsent {
                        Unsent::Fault(fault) => fault,
                        Unsent::Closed(..) | Unsent::Foreign(()) => stopping(&at.shared().path),
                    }),
                    Err(Unsent::Foreign(())) => Err(stopping(&at.shared().path)),
                };
                match self.options.as_ref().and_then(|options| options.within) {
                    None => in_place(begin)?.await.map_err(Fault::from),
                    Some(limit) => {
                        let context = context("get", host, limit);
                        let answer = context.run(begin)?;
                        let outcome = context.call(async { Ok::<_, Infallible>(answer.await) }).await;
                        outcome.map_err(|error| of_context(&error))?.map_err(Fault::from)
                    }
                }
            }
            Target::Local(at, host) => self.get_over(&Endpoint::new(at.clone(), host.clone())).await,
            Target::Link(link) => self.get_over(&**link).await,
        }
    }

    async fn get_over(&self, link: &dyn Link) -> Result<State<D>, Fault> {
        let answered =
            link.send(self.message(Action::Get, Verb::Get, Vec::new())).await.map_err(|fault| self.absent(fault))?;
        let document = Format::MessagePack.decode(&answered.body)?;
        // An unchanged state is available at once, so a caller that reads it in a loop must let other tasks run.
        consume_budget().await;
        Ok(State::owned(document, answered.version.unwrap_or_default(), answered.incarnation))
    }

    /// Returns a description of the service: contract, path, operations, phase.
    ///
    /// # Errors
    /// Returns the reason why the request could not be sent.
    pub async fn lookup(&self) -> Result<Info, Fault> {
        match &self.target {
            Target::Local(at, host) => {
                let host = host.upgrade().ok_or_else(|| stopping(&at.shared().path))?;
                let found = host.find(&at.shared().path).map_err(|fault| self.absent(fault))?;
                Ok(Info::of(&found))
            }
            Target::Link(link) => self.ask_info(&**link).await.map_err(|fault| self.absent(fault)),
        }
    }

    async fn ask_info(&self, link: &dyn Link) -> Result<Info, Fault> {
        let mut options = self.message(Action::Lookup, Verb::Lookup, Vec::new()).options;
        options.contract = None;
        Info::over(link, options).await
    }

    /// Subscribes to the changes of the service; the first event is its state.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if `wishes` is invalid, or the reason why the request could not be sent.
    ///
    /// # Example
    /// See [`Subscription`].
    pub async fn subscribe(&self, wishes: Subscribe) -> Result<Subscription<D>, Fault> {
        match &self.target {
            Target::Local(at, host) if at.is_of::<D>() => {
                let clock = host.upgrade().ok_or_else(|| stopping(&at.shared().path))?.clock().clone();
                let subscriber = Arc::new(wishes.subscriber(&clock)?);
                let (at, answer) = match at.subscribe::<D>(&subscriber) {
                    Ok(answer) => (at.clone(), answer),
                    Err(Unsent::Fault(fault)) => return Err(fault),
                    Err(Unsent::Closed(..) | Unsent::Foreign(())) => {
                        let found = self.anew(at, host)?;
                        let answer = found.subscribe::<D>(&subscriber).map_err(|_| stopping(&at.shared().path))?;
                        (found, answer)
                    }
                };
                let seed = answer.await?;
                Ok(Subscription::local(at, subscriber, seed))
            }
            Target::Local(at, host) => {
                let endpoint = Endpoint::new(at.clone(), host.clone());
                self.subscribe_over(&endpoint, wishes).await
            }
            Target::Link(link) => self.subscribe_over(&**link, wishes).await,
        }
    }

    /// Subscribes, and subscribes again whenever the service or the connection comes back. Nothing is sent before you
    /// ask for the first event; `clock` measures the pauses.
    ///
    /// # Example
    /// See [`Following`].
    pub fn follow(&self, wishes: Subscribe, clock: &Clock) -> Following<D> {
        Following::new(self.clone(), wishes, clock)
    }

    async fn subscribe_over(&self, link: &dyn Link, wishes: Subscribe) -> Result<Subscription<D>, Fault> {
        let options = self.message(Action::Get, Verb::Get, Vec::new()).options;
        let events = link.subscribe(wishes, Format::MessagePack, options).await.map_err(|fault| self.absent(fault))?;
        Ok(Subscription::remote(events))
    }

    /// Ends the service. When you get the answer, nothing of the service remains: later requests get
    /// [`Code::UnknownService`].
    ///
    /// Running operations finish, waiting operations are refused with [`Code::ServiceStopping`], then [`Service::stop`]
    /// runs. Don't wait for the answer in a handler of the service itself: the end would wait for the handler.
    ///
    /// # Errors
    /// Returns [`Code::ActionNotSupported`] if only the host may end the service.
    ///
    /// # Example
    /// See [`Subscription`].
    pub async fn drop_service(&self) -> Result<(), Fault> {
        match &self.target {
            Target::Local(at, host) => {
                let found = if at.shared().stop.is_closed() { self.anew(at, host)? } else { at.clone() };
                end(&found)?.await?
            }
            Target::Link(link) => {
                link.send(self.message(Action::Drop, Verb::Drop, Vec::new()))
                    .await
                    .map_err(|fault| self.absent(fault))?;
                Ok(())
            }
        }
    }
}

/// Describes the wait of a handler that has asked another service.
fn awaited(operation: &str, at: &Local) -> String {
    format!("the answer to {operation:?} of {}", at.shared().path)
}

/// The answer of an operation that is being sent; see [`Reference::ask`].
#[must_use = "an answer that is not awaited is given up, and over a link nothing is sent"]
pub struct Asked<T>(On<T>);

/// The state of a request that is being sent.
enum On<T> {
    Answer(Answer<Result<T, Fault>>),
    Call(Pending<'static, Result<T, Fault>>),
    /// The fault of a request that could not be sent; `None` once the fault has been returned.
    Refused(Option<Fault>),
}

impl<T> fmt::Debug for Asked<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Asked").field("is_refused", &matches!(self.0, On::Refused(_))).finish_non_exhaustive()
    }
}

impl<T> Future for Asked<T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Result<T, Fault>> {
        match &mut self.0 {
            On::Answer(answer) => Pin::new(answer).poll(polling).map(settled),
            On::Call(call) => call.as_mut().poll(polling),
            On::Refused(fault) => match fault.take() {
                Some(fault) => Poll::Ready(Err(fault)),
                None => Poll::Pending,
            },
        }
    }
}

/// The reason why an operation was not moved into a main port.
enum NotSent<O> {
    /// The service comes from another build, which may understand the operation as bytes.
    Foreign(O),
    Fault(Fault),
}

/// Asks a service to end.
pub(crate) fn end(at: &Local) -> Result<Answer<Result<(), Fault>>, Fault> {
    if at.is_permanent() {
        let reason = format!("{} is ended by its node only", at.shared().path);
        return Err(Fault::new(Code::ActionNotSupported, reason).here());
    }
    let why = crate::lifecycle::Stop::Dropped;
    at.shared().stop.ask(|reply| StopRequest { why, reply }).map_err(|_| stopping(&at.shared().path))
}

/// Returns the fault of a reference to an earlier incarnation of a service.
pub(crate) fn stale(path: &str) -> Fault {
    let reason = format!("{path} has been restarted since the reference was made; look it up again");
    Fault::new(Code::StaleReference, reason).here()
}

/// Returns a context for one request with a time limit.
fn context(name: &str, host: &WeakHost, limit: Duration) -> Context {
    let builder = Context::named(name).cancellable();
    match host.upgrade() {
        Some(host) => builder.timeout(Host::clock(&host), limit).build(),
        None => builder.build(),
    }
}

/// Cancels its context when this value is dropped, because then the result is no longer wanted.
pub(crate) struct Cancels(pub(crate) Context);

impl Drop for Cancels {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Waits for an answer until the context ends.
async fn wait<T>(context: Context, answer: Answer<Result<T, Fault>>) -> Result<T, Fault> {
    let cancels = Cancels(context);
    let outcome = cancels.0.call(async { Ok::<_, Infallible>(answer.await) }).await;
    settled(outcome.map_err(|error| of_context(&error))?)
}
