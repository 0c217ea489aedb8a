//! Subscriptions to changes: a snapshot of the state, then every change after it in order. A gap is always reported.

use std::fmt;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use lehr_sync::Arc;
use regex_lite::Regex;
use serde::{Deserialize, Serialize};

use crate::contract::Contract;
use crate::fault::{Code, Fault};
use crate::link::{Events, LinkEvent};
use crate::main_port::Local;
use crate::publisher::{Change, Next, Subscriber};
use crate::reference::State;

/// The default for the maximum number of changes that may wait for a subscriber.
const CAPACITY: usize = 256;

/// The upper limit for the capacity that a subscriber may set.
const CAPACITY_MAX: usize = 65_536;

/// The way in which a subscriber whose queue is full is handled.
///
/// # Example
/// See [`Subscribe`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slow {
    /// The waiting changes are dropped. The subscriber learns the number of dropped changes, and gets the state again.
    #[default]
    Reseed,
    /// A newer change always replaces a waiting change with the same operation and key. If the queue is full
    /// nevertheless, the subscriber is handled as for [`Slow::Reseed`].
    Coalesce,
    /// The subscription ends.
    Disconnect,
}

/// The changes that a subscriber wants, and how it receives them. The default is all changes, and the state again after
/// a gap.
///
/// # Example
/// ```
/// use lehr_services::{Slow, Subscribe};
/// let wishes = Subscribe::default().operations(["add"]).keys(["ada"]).capacity(16).slow(Slow::Coalesce).count(3);
/// assert!(wishes.check().is_ok());
/// assert!(Subscribe::default().pattern("(").check().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Subscribe {
    name: Option<String>,
    operations: Vec<String>,
    keys: Vec<String>,
    pattern: Option<String>,
    capacity: Option<usize>,
    slow: Slow,
    count: Option<u64>,
    expires_ms: Option<u64>,
}

impl Subscribe {
    /// Names the subscription. A later subscription with this name replaces it.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Selects changes by these operations only. Without names, all operations are selected.
    pub fn operations<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.operations = names.into_iter().map(Into::into).collect();
        self
    }

    /// Selects changes by these keys only. Changes without a key are always included, because they may concern any key.
    pub fn keys<T: Into<String>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Selects changes whose key matches this regular expression, and all changes without a key. If
    /// [`keys`](Self::keys) is also set, a change needs to satisfy only one of the two filters.
    pub fn pattern(mut self, pattern: impl Into<String>) -> Self {
        self.pattern = Some(pattern.into());
        self
    }

    /// Sets the maximum number of changes that may wait for the subscriber, from 1 to 65,536. Otherwise the
    /// subscription fails with `Code::InvalidValue`. Default: 256.
    pub fn capacity(mut self, changes: usize) -> Self {
        self.capacity = Some(changes);
        self
    }

    /// Sets how the subscriber is handled when its queue is full. Default: [`Slow::Reseed`].
    pub fn slow(mut self, slow: Slow) -> Self {
        self.slow = slow;
        self
    }

    /// Ends the subscription after this many changes. Default: never.
    pub fn count(mut self, changes: u64) -> Self {
        self.count = Some(changes);
        self
    }

    /// Ends the subscription after this time, on the host's clock. Default: never.
    pub fn expires(mut self, after: Duration) -> Self {
        self.expires_ms = Some(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Returns the time after which the subscription ends by itself, if it has such a limit.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.expires_ms.map(Duration::from_millis)
    }

    /// Returns whether a filter excludes some changes.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.operations.is_empty() || !self.keys.is_empty() || self.pattern.is_some()
    }

    /// Counts one received change, for a subscription that continues this one. The count stays at least 1, because the
    /// last change would have ended the subscription.
    pub(crate) fn heard_one(&mut self) {
        self.count = self.count.map(|count| count.saturating_sub(1).max(1));
    }

    /// Checks whether the settings are valid.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`], with every invalid field.
    pub fn check(&self) -> Result<(), Fault> {
        self.filter().map(|_| ())
    }

    fn filter(&self) -> Result<Filter, Fault> {
        let mut faults = Vec::new();
        let pattern = self.pattern.as_deref().map(Regex::new).transpose();
        let pattern = pattern.unwrap_or_else(|error| {
            faults.push(format!("pattern: {error}"));
            None
        });
        if self.capacity.is_some_and(|capacity| !(1..=CAPACITY_MAX).contains(&capacity)) {
            faults.push(format!("capacity: expected 1 to {CAPACITY_MAX}, found {}", self.capacity.unwrap_or_default()));
        }
        if self.count == Some(0) {
            faults.push("count: expected at least 1, found 0".to_owned());
        }
        if faults.is_empty() {
            Ok(Filter { operations: self.operations.clone(), keys: self.keys.clone(), pattern })
        } else {
            Err(Fault::new(Code::InvalidValue, faults.join("; ")))
        }
    }

    /// Creates the subscriber for these settings.
    pub(crate) fn subscriber(&self, clock: &lehr_runtime::Clock) -> Result<Subscriber, Fault> {
        let expires = self.expires_ms.map(|after| (clock.clone(), clock.now() + Duration::from_millis(after)));
        let queue = (self.capacity.unwrap_or(CAPACITY), self.slow);
        Ok(Subscriber::new(self.name.clone(), self.filter()?, queue, self.count, expires))
    }
}

/// The changes that a subscriber receives.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    operations: Vec<String>,
    keys: Vec<String>,
    pattern: Option<Regex>,
}

impl Filter {
    pub(crate) fn accepts(&self, change: &Change) -> bool {
        let names = self.operations.is_empty() || self.operations.iter().any(|name| name == change.name());
        let Some(key) = change.key() else { return names };
        let wants_all = self.keys.is_empty() && self.pattern.is_none();
        let wants = || {
            self.keys.iter().any(|wanted| wanted == key)
                || self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(key))
        };
        names && (wants_all || wants())
    }
}

/// The reason why a subscription is over.
///
/// # Example
/// See [`Subscription`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// The subscriber received as many changes as it wanted.
    Completed,
    /// The time of the subscription is up.
    Expired,
    /// Another subscription with the same name has replaced it.
    Replaced,
    /// The subscriber did not take its changes in time, and its settings say that the subscription ends in this case.
    TooSlow {
        /// The number of missed changes.
        missed: u64,
    },
    /// The service has ended.
    Stopped,
    /// The service cannot be reached any more, or its state could not be transferred.
    Lost(Fault),
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => formatter.write_str("it received the number of changes that it requested"),
            Self::Expired => formatter.write_str("its time has passed"),
            Self::Replaced => formatter.write_str("another subscription of its name has taken its place"),
            Self::TooSlow { missed } => write!(formatter, "it was too slow, and has missed {missed} changes"),
            Self::Stopped => formatter.write_str("the service has ended"),
            Self::Lost(fault) => write!(formatter, "the service cannot be reached: {fault}"),
        }
    }
}

impl std::error::Error for End {}

/// An event of a subscription.
///
/// # Example
/// See [`Subscription`].
#[derive(Debug)]
pub enum Event<D> {
    /// The whole state, which comes first and after each gap.
    Seed(State<D>),
    /// A change. The change's version is one more than the version of the event before, unless the subscription has a
    /// filter or coalesces changes.
    Change(Arc<Change>),
    /// Changes are missing here; the state comes next.
    Gap {
        /// A lower bound of the number of missing changes.
        missed: u64,
    },
}

/// The changes of a service, beginning with a snapshot of its state. Dropping this value unsubscribes.
///
/// # Example
/// ```
/// # use lehr_services::*;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
/// let mut changes = note.subscribe(Subscribe::default()).await?;
/// note.call(Replace(Note { text: "hello".to_owned() })).await?;
///
/// let Ok(Event::Seed(seed)) = changes.next().await else { panic!("the state comes first") };
/// assert_eq!((seed.version(), seed.text.as_str()), (0, ""));
/// let Ok(Event::Change(change)) = changes.next().await else { panic!("then the change") };
/// assert_eq!((change.version(), change.operation::<Replace<Note>>()?.0.text.as_str()), (1, "hello"));
///
/// note.drop_service().await?;
/// assert_eq!(changes.next().await.unwrap_err(), End::Stopped);
/// # Ok::<(), Fault>(())
/// # }).unwrap();
/// ```
#[must_use = "dropping a subscription unsubscribes"]
pub struct Subscription<D: Contract> {
    source: Source<D>,
}

enum Source<D> {
    Local { at: Arc<Local>, subscriber: Arc<Subscriber>, seed: Option<State<D>>, needs_seed: bool },
    Remote(Box<dyn Events>),
}

impl<D: Contract> fmt::Debug for Subscription<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_local = matches!(self.source, Source::Local { .. });
        formatter.debug_struct("Subscription").field("contract", &D::NAME).field("is_local", &is_local).finish()
    }
}

impl<D: Contract> Subscription<D> {
    pub(crate) fn local(at: Arc<Local>, subscriber: Arc<Subscriber>, seed: State<D>) -> Self {
        Self { source: Source::Local { at, subscriber, seed: Some(seed), needs_seed: false } }
    }

    pub(crate) fn remote(events: Box<dyn Events>) -> Self {
        Self { source: Source::Remote(events) }
    }

    /// Returns the next event.
    ///
    /// Cancel-safe: if you drop the future while it waits, no event is lost.
    ///
    /// # Errors
    /// Returns [`End`] when the subscription is over, and at every later call.
    pub async fn next(&mut self) -> Result<Event<D>, End> {
        match &mut self.source {
            Source::Remote(events) => match events.next().await? {
                LinkEvent::Seed { version, incarnation, format, body } => {
                    let document = format.decode(&body).map_err(End::Lost)?;
                    Ok(Event::Seed(State::owned(document, version, incarnation)))
                }
                LinkEvent::Change(change) => Ok(Event::Change(change)),
                LinkEvent::Gap { missed } => Ok(Event::Gap { missed }),
            },
            Source::Local { at, subscriber, seed, needs_seed } => {
                if let Some(seed) = seed.take() {
                    return Ok(Event::Seed(seed));
                }
                if *needs_seed {
                    let seed = match at.seed::<D>(subscriber).await {
                        Ok(seed) => seed,
                        Err(fault) if fault.code() == Code::ServiceStopping => return Err(End::Stopped),
                        Err(fault) => return Err(End::Lost(fault)),
                    };
                    *needs_seed = false;
                    return Ok(Event::Seed(seed));
                }
                match next(subscriber).await {
                    Ok(change) => Ok(Event::Change(change)),
                    Err(Over::Gap(missed)) => {
                        *needs_seed = true;
                        Ok(Event::Gap { missed })
                    }
                    Err(Over::End(end)) => Err(end),
                }
            }
        }
    }
}

impl<D: Contract> Drop for Subscription<D> {
    fn drop(&mut self) {
        if let Source::Local { at, subscriber, .. } = &self.source {
            at.shared().publisher.remove(subscriber);
        }
    }
}

/// The reason why [`next`] returns no change.
pub(crate) enum Over {
    /// The number of changes that were dropped.
    Gap(u64),
    /// No change will follow.
    End(End),
}

/// Returns the next change of a subscriber; ends the subscription when its time is up.
pub(crate) async fn next(subscriber: &Subscriber) -> Result<Arc<Change>, Over> {
    let taken = poll_fn(|polling| match subscriber.next(polling.waker()) {
        Next::Change(change) => Poll::Ready(Ok(change)),
        Next::Gap(missed) => Poll::Ready(Err(Over::Gap(missed))),
        Next::End(end) => Poll::Ready(Err(Over::End(end))),
        Next::Nothing => Poll::Pending,
    });
    let Some((clock, at)) = subscriber.expires() else { return taken.await };
    match clock.timeout(at.saturating_sub(clock.now()), taken).await {
        Ok(taken) => taken,
        Err(_) => {
            subscriber.end(End::Expired);
            Err(Over::End(End::Expired))
        }
    }
}
