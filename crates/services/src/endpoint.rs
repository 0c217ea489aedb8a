//! A running service as network edges see it: requests and answers as bytes, for any types.

use std::convert::Infallible;

use lehr_runtime::{Context, Refusal};
use lehr_sync::Arc;

use crate::contract::{Contract, OperationDescription};
use crate::fault::{Fault, of_context};
use crate::format::Format;
use crate::host::WeakHost;
use crate::info::Info;
use crate::link::{Action, Answered, Events, Link, LinkEvent, Message, Options, Pending};
use crate::main_port::{Ask, Local, Unsent, Whole, ask_for, mismatch, stopping};
use crate::operation::Envelope;
use crate::publisher::Subscriber;
use crate::reference::{Cancels, State, end, stale};
use crate::subscription::{End, Event, Subscribe, Subscription};
use crate::written::Written;

/// One incarnation of a service of this process, called through bytes. After a restart of the service, requests fail:
/// make a new endpoint.
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
/// host.start("/note", Note::default).await?;
/// let note = Reference::<Note>::over(host.endpoint("/note")?); // through bytes, without leaving the process
/// note.call(Replace(Note { text: "hello".to_owned() })).await?;
/// assert_eq!(note.get().await?.text, "hello");
/// # Ok::<(), Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Endpoint {
    at: Arc<Local>,
    host: WeakHost,
}

impl Endpoint {
    pub(crate) fn new(at: Arc<Local>, host: WeakHost) -> Self {
        Self { at, host }
    }

    /// Returns the description of the service.
    pub fn info(&self) -> Info {
        Info::of(&self.at)
    }

    /// Returns the numbers that the service publishes, without the counts of its requests.
    ///
    /// # Example
    /// See [`Measures`](crate::Measures).
    pub fn measures(&self) -> crate::Measures {
        self.at.shared().measures.clone()
    }

    /// Returns the description of an operation, if there is an operation of this name.
    pub fn operation(&self, name: &str) -> Option<&OperationDescription> {
        self.at.shared().description.operations.get(name)
    }

    /// Returns the contract's name.
    pub fn contract(&self) -> &str {
        &self.at.shared().description.name
    }

    /// Returns the incarnation of the service.
    pub fn incarnation(&self) -> u64 {
        self.at.shared().incarnation
    }

    /// Checks that the client uses the service's contract, and that it means this incarnation of the service.
    fn check(&self, options: &Options) -> Result<(), Fault> {
        let shared = self.at.shared();
        if let Some((name, version)) = &options.contract
            && !shared.description.is(name, *version)
        {
            return Err(mismatch(shared, name, *version));
        }
        match options.incarnation {
            Some(wanted) if wanted != shared.incarnation => Err(stale(&shared.path)),
            _ => Ok(()),
        }
    }

    /// Creates the context in which a request runs, with its name, time limit and trace.
    fn context(&self, name: &str, options: &Options) -> Context {
        let mut builder = Context::named(format!("{name} of {}", self.at.shared().path)).cancellable();
        if let (Some(limit), Some(host)) = (options.within, self.host.upgrade()) {
            builder = builder.timeout(host.clock(), limit);
        }
        if let Some(trace) = options.trace {
            builder = builder.trace(trace);
        }
        builder.build()
    }

    fn begin(&self, message: &Message) -> Result<Pending<'static, Result<Answered, Fault>>, Fault> {
        self.check(&message.options)?;
        let (incarnation, accept) = (self.incarnation(), message.accept);
        let plain = move |body| Answered { body: Arc::new(body), version: None, incarnation };
        match &message.action {
            Action::Lookup => {
                let body = accept.encode(&self.info())?;
                Ok(Box::pin(std::future::ready(Ok(plain(body)))))
            }
            Action::Get => self.at.encoded().get(&self.at, accept),
            Action::Operation(name) => {
                let envelope = envelope(&message.options);
                let bytes = self.at.invoke(name, (message.format, &message.body), accept, envelope)?;
                Ok(Box::pin(async move { bytes.await.map(plain) }))
            }
            Action::Drop => {
                let answer = end(&self.at)?;
                Ok(Box::pin(async move { answer.await?.and_then(|()| accept.encode(&()).map(plain)) }))
            }
        }
    }
}

fn envelope(options: &Options) -> Option<Box<Envelope>> {
    let envelope = Envelope {
        caller: options.caller.as_deref().map(Box::from),
        key: options.key.as_deref().map(Box::from),
        if_version: options.if_version,
    };
    let is_empty = envelope.caller.is_none() && envelope.key.is_none() && envelope.if_version.is_none();
    (!is_empty).then(|| Box::new(envelope))
}

impl Link for Endpoint {
    fn send(&self, message: Message) -> Pending<'static, Result<Answered, Fault>> {
        if message.action == Action::Get
            && self.check(&message.options).is_ok()
            && let Some(answered) = self.at.encoded().glance(&self.at, message.accept)
        {
            return Box::pin(std::future::ready(answered));
        }
        let name = match &message.action {
            Action::Lookup => "lookup",
            Action::Get => "get",
            Action::Operation(name) => name,
            Action::Drop => "drop",
        };
        let context = self.context(name, &message.options);
        let begun = context.run(|| self.begin(&message));
        // Once begun, ending a service is completed, even if the client cancels the request.
        let is_drop = message.action == Action::Drop;
        Box::pin(async move {
            let begun = begun?;
            if is_drop {
                return begun.await;
            }
            let cancels = Cancels(context);
            let outcome = cancels.0.call(async { Ok::<_, Infallible>(begun.await) }).await;
            outcome.map_err(|error| of_context(&error))?
        })
    }

    fn subscribe(
        &self,
        wishes: Subscribe,
        accept: Format,
        options: Options,
    ) -> Pending<'static, Result<Box<dyn Events>, Fault>> {
        let begin = || {
            self.check(&options)?;
            let host = self.host.upgrade().ok_or_else(|| stopping(&self.at.shared().path))?;
            let subscriber = Arc::new(wishes.subscriber(host.clock())?);
            self.at.encoded().subscribe(&self.at, subscriber, accept)
        };
        let begun = begin();
        Box::pin(async move { begun?.await })
    }
}

/// A future that returns the events of a new subscription.
type Subscribed = Pending<'static, Result<Box<dyn Events>, Fault>>;

/// Requests for the whole state of a service, for callers that do not know the state's type.
pub(crate) trait Encoded: Send + Sync {
    /// Returns the state, if it is available without a message.
    fn glance(&self, at: &Arc<Local>, accept: Format) -> Option<Result<Answered, Fault>>;

    fn get(&self, at: &Arc<Local>, accept: Format) -> Result<Pending<'static, Result<Answered, Fault>>, Fault>;

    fn subscribe(&self, at: &Arc<Local>, subscriber: Arc<Subscriber>, accept: Format) -> Result<Subscribed, Fault>;

    /// Closes the port, and refuses the requests that wait.
    fn close(&self);
}

fn unsent(at: &Local, unsent: Unsent<()>) -> Fault {
    match unsent {
        Unsent::Fault(fault) => fault,
        Unsent::Closed(..) | Unsent::Foreign(()) => stopping(&at.shared().path),
    }
}

fn answered<D: Contract>(written: &Written, state: &State<D>, accept: Format) -> Result<Answered, Fault> {
    let body = written.body(state, accept)?;
    Ok(Answered { body, version: Some(state.version()), incarnation: state.incarnation() })
}

impl<D: Contract> Encoded for Whole<D> {
    fn glance(&self, at: &Arc<Local>, accept: Format) -> Option<Result<Answered, Fault>> {
        at.glance::<D>().map(|state| answered(&self.written, &state, accept))
    }

    fn get(&self, at: &Arc<Local>, accept: Format) -> Result<Pending<'static, Result<Answered, Fault>>, Fault> {
        let answer = ask_for(&self.port, &at.shared().path, Ask::Get).map_err(|why| unsent(at, why))?;
        let written = self.written.clone();
        Ok(Box::pin(async move { answered::<D>(&written, &answer.await?, accept) }))
    }

    fn subscribe(&self, at: &Arc<Local>, subscriber: Arc<Subscriber>, accept: Format) -> Result<Subscribed, Fault> {
        let answer = ask_for(&self.port, &at.shared().path, |reply| Ask::Subscribe(subscriber.clone(), reply))
            .map_err(|why| unsent(at, why))?;
        let (at, written) = (at.clone(), self.written.clone());
        Ok(Box::pin(async move {
            let seed: State<D> = answer.await?;
            let subscription = Subscription::local(at, subscriber, seed);
            let events = EncodedEvents { subscription, accept, written };
            Ok(Box::new(events) as Box<dyn Events>)
        }))
    }

    fn close(&self) {
        self.hide();
        self.port.close();
        for ask in self.port.drain() {
            match ask {
                Ask::Get(reply) | Ask::Subscribe(_, reply) => reply.refuse(Refusal::Stopping),
            }
        }
    }
}

struct EncodedEvents<D: Contract> {
    subscription: Subscription<D>,
    accept: Format,
    written: Arc<Written>,
}

impl<D: Contract> Events for EncodedEvents<D> {
    fn next(&mut self) -> Pending<'_, Result<LinkEvent, End>> {
        Box::pin(async move {
            Ok(match self.subscription.next().await? {
                Event::Seed(state) => LinkEvent::Seed {
                    version: state.version(),
                    incarnation: state.incarnation(),
                    format: self.accept,
                    body: self.written.body(&state, self.accept).map_err(End::Lost)?,
                },
                Event::Change(change) => LinkEvent::Change(change),
                Event::Gap { missed } => LinkEvent::Gap { missed },
            })
        })
    }
}
