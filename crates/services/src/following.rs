//! Subscriptions that survive interruptions: they are renewed when the service or the connection comes back.
//!
//! A [`Subscription`] ends with its connection. A [`Following`] subscribes again, after pauses that grow. A `Following`
//! reports an interruption in the same way as changes that a slow subscriber missed: first a gap, then the state. If no
//! change can have been missed, it reports nothing.

use std::fmt;
use std::time::Duration;

use lehr_runtime::Clock;

use crate::contract::Contract;
use crate::fault::{Code, Fault};
use crate::reference::{Reference, State};
use crate::subscription::{End, Event, Subscribe, Subscription};

/// The first pause between two attempts to subscribe.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two attempts to subscribe.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// A subscription to the changes of a service that continues after interruptions of the service or the connection.
/// Dropping this value unsubscribes.
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
/// let mut changes = note.follow(Subscribe::default(), host.clock());
/// assert!(matches!(changes.next().await, Ok(Event::Seed(_))));
///
/// note.drop_service().await?;
/// host.start("/note", || Note { text: "another life".to_owned() }).await?;
/// assert!(matches!(changes.next().await, Ok(Event::Gap { .. })));
/// let Ok(Event::Seed(seed)) = changes.next().await else { panic!("behind a gap comes the state") };
/// assert_eq!(seed.text, "another life");
/// # Ok::<(), Fault>(())
/// # }).unwrap();
/// ```
#[must_use = "dropping it unsubscribes"]
pub struct Following<D: Contract> {
    reference: Reference<D>,
    wishes: Subscribe,
    clock: Clock,
    /// The time at which the subscription ends by itself, if it has a limit.
    until: Option<Duration>,
    pause: Duration,
    subscription: Option<Subscription<D>>,
    /// The incarnation and the version that were received last.
    last: Option<(u64, u64)>,
    /// Whether the next state will be the first state of a renewed subscription.
    is_anew: bool,
    /// The state that follows a reported gap.
    seed: Option<State<D>>,
}

impl<D: Contract> fmt::Debug for Following<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Following")
            .field("reference", &self.reference)
            .field("is_subscribed", &self.subscription.is_some())
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl<D: Contract> Following<D> {
    pub(crate) fn new(reference: Reference<D>, wishes: Subscribe, clock: &Clock) -> Self {
        let until = wishes.time().map(|time| clock.now() + time);
        let (clock, pause) = (clock.clone(), PAUSE);
        Self { reference, wishes, clock, until, pause, subscription: None, last: None, is_anew: false, seed: None }
    }

    /// Returns the next event. Waits while the service is away: 1 s between the first two attempts, then twice as long
    /// each time, up to 30 s.
    ///
    /// After an interruption, [`Event::Gap`] comes first if anything was or may have been missed, then [`Event::Seed`].
    /// Without a filter, the gap contains the number of missed changes within one incarnation of the service, and 1 if
    /// the incarnation has changed. With a filter, the gap contains 0.
    ///
    /// Cancel-safe: if you drop the future while it waits, no event is lost.
    ///
    /// # Errors
    /// Returns [`End`] when the subscription is over for good. Its count or its time may be used up, or another
    /// subscriber may have taken its name. It may also have been too slow, if its settings end a slow subscription. The
    /// subscription is also over if the node answers and refuses, for example because no service was ever at the path.
    pub async fn next(&mut self) -> Result<Event<D>, End> {
        loop {
            if let Some(seed) = self.seed.take() {
                self.last = Some((seed.incarnation(), seed.version()));
                return Ok(Event::Seed(seed));
            }
            let Some(subscription) = &mut self.subscription else {
                self.subscribe().await?;
                continue;
            };
            let heard = subscription.next().await;
            match heard {
                Ok(Event::Seed(seed)) => {
                    let at = (seed.incarnation(), seed.version());
                    let before = self.last.filter(|_| std::mem::take(&mut self.is_anew));
                    if before == Some(at) {
                        continue;
                    }
                    if let Some(before) = before {
                        let missed = self.missed(before, at);
                        self.seed = Some(seed);
                        return Ok(Event::Gap { missed });
                    }
                    self.last = Some(at);
                    return Ok(Event::Seed(seed));
                }
                Ok(Event::Change(change)) => {
                    self.last = Some((change.incarnation(), change.version()));
                    self.wishes.heard_one();
                    return Ok(Event::Change(change));
                }
                Ok(gap @ Event::Gap { .. }) => return Ok(gap),
                Err(End::Lost(_) | End::Stopped) => self.subscription = None,
                Err(end) => return Err(end),
            }
        }
    }

    /// Returns the number of changes between two states, as far as it can be known.
    fn missed(&self, (life, version): (u64, u64), (life_now, version_now): (u64, u64)) -> u64 {
        match (self.wishes.is_filtered(), life == life_now) {
            (true, _) => 0,
            (false, true) => version_now.saturating_sub(version).max(1),
            (false, false) => 1,
        }
    }

    /// Tries to subscribe. If the service is away, waits before the next attempt.
    async fn subscribe(&mut self) -> Result<(), End> {
        if let Some(until) = self.until {
            let left = until.saturating_sub(self.clock.now());
            if left.is_zero() {
                return Err(End::Expired);
            }
            self.wishes = self.wishes.clone().expires(left);
        }
        match self.reference.subscribe(self.wishes.clone()).await {
            Ok(subscription) => {
                self.is_anew = self.last.is_some();
                self.subscription = Some(subscription);
                self.pause = PAUSE;
                Ok(())
            }
            Err(fault) if self.may_come(&fault) => {
                self.clock.sleep(self.pause).await;
                self.pause = (2 * self.pause).min(PAUSE_MAX);
                Ok(())
            }
            Err(fault) => Err(End::Lost(fault)),
        }
    }

    /// Returns whether a later attempt may find the service.
    fn may_come(&self, fault: &Fault) -> bool {
        match fault.code() {
            Code::ResponseTimeout | Code::OperationCancelled => true,
            // A path that had a service may have one again.
            Code::UnknownService => self.last.is_some(),
            code => code.may_pass(),
        }
    }
}
