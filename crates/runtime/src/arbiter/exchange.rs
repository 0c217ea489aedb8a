//! Takes one item from each of several named sources, out of one port, all at once.
//!
//! An exchange is the rendezvous of message-passing programs. A rank waits for the messages of its neighbours in *this*
//! stage, and one neighbour may already be a stage ahead. A take of two items could get both items from the faster
//! neighbour. With a port for every pair of ranks, n ranks would need n² ports. An exchange looks into the one port and
//! takes the oldest item of each source, or nothing.
//!
//! While an exchange waits, it leaves a [`CountingFilter`] at the port, so that it is woken once, by the item that
//! completes the set.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Late, unwatch, watch};
use crate::dispatch::may_go_on;
use crate::error::{ReceiveError, ReceiveErrorKind};
use crate::port::counting_filter::{Classify, CountingFilter};
use crate::port::predicate::caught;
use crate::port::queue::Queue;
use crate::port::waiters::{Ticket, Want};
use crate::port::{Port, State};

mod sealed {
    pub trait Sources {}
    pub trait Rule {}
}

/// The sources of an exchange: an array, whose items come as an array, or a `Vec`. Sealed.
pub trait Sources: sealed::Sources + Clone + Send + Unpin + 'static {
    /// The type of a source's name.
    type Source: PartialEq + Clone + 'static;
    /// A row with one entry for each source.
    type Row<X>: AsMut<[X]>;

    #[doc(hidden)]
    fn sources(&self) -> &[Self::Source];
    #[doc(hidden)]
    fn row<X>(&self, make: impl FnMut(usize) -> X) -> Self::Row<X>;
}

impl<S, const N: usize> sealed::Sources for [S; N] {}

impl<S: PartialEq + Clone + Send + Unpin + 'static, const N: usize> Sources for [S; N] {
    type Source = S;
    type Row<X> = [X; N];

    fn sources(&self) -> &[S] {
        self
    }

    fn row<X>(&self, make: impl FnMut(usize) -> X) -> [X; N] {
        std::array::from_fn(make)
    }
}

impl<S> sealed::Sources for Vec<S> {}

impl<S: PartialEq + Clone + Send + Unpin + 'static> Sources for Vec<S> {
    type Source = S;
    type Row<X> = Vec<X>;

    fn sources(&self) -> &[S] {
        self
    }

    fn row<X>(&self, make: impl FnMut(usize) -> X) -> Vec<X> {
        (0..self.len()).map(make).collect()
    }
}

/// The rule by which an exchange finds the source of an item, and the part of the item that it returns. Sealed.
///
/// # Example
/// See [`exchange_by`].
pub trait Rule<T>: sealed::Rule + Clone + Send + Unpin + 'static {
    /// The type of a source's name.
    type Source;
    /// The part of an item that the exchange returns.
    type Value;

    #[doc(hidden)]
    fn with_source<R>(&self, item: &T, then: impl FnOnce(&Self::Source) -> R) -> R;
    #[doc(hidden)]
    fn keep(item: T) -> Self::Value;
}

/// The rule of [`exchange`]: items are pairs of source and value.
///
/// # Example
/// See [`exchange`].
#[derive(Clone, Copy, Debug)]
pub struct BySource<S>(PhantomData<fn() -> S>);

impl<S> sealed::Rule for BySource<S> {}

impl<S: Clone + 'static, T> Rule<(S, T)> for BySource<S> {
    type Source = S;
    type Value = T;

    fn with_source<R>(&self, item: &(S, T), then: impl FnOnce(&S) -> R) -> R {
        then(&item.0)
    }

    fn keep(item: (S, T)) -> T {
        item.1
    }
}

/// The rule of [`exchange_by`]: a function names the source of an item.
///
/// # Example
/// See [`exchange_by`].
#[derive(Clone, Copy, Debug)]
pub struct ByKey<K, S>(K, PhantomData<fn() -> S>);

impl<K, S> sealed::Rule for ByKey<K, S> {}

impl<T, S: Clone + 'static, K: Fn(&T) -> S + Clone + Send + Unpin + 'static> Rule<T> for ByKey<K, S> {
    type Source = S;
    type Value = T;

    fn with_source<R>(&self, item: &T, then: impl FnOnce(&S) -> R) -> R {
        then(&(self.0)(item))
    }

    fn keep(item: T) -> T {
        item
    }
}

/// Waits until the port holds an item from each of the named sources, and takes the oldest item of each source, all at
/// once. The items come in the order in which the sources are named; a source that is named twice gives its two oldest
/// items.
///
/// All other items stay in the port: later items of the same sources, for the next stage, and items of other sources.
/// Cancel-safe: until the set is complete, all items stay in the port, visible to other receivers. You may await the
/// exchange again, through `&mut`, for the items of the next stage; with an array of sources, this allocates nothing.
///
/// Sources are compared under the port's lock, as by a predicate.
///
/// Cost: one lock and one wake-up, by the item that completes the set. Each item that waits in the port, up to the last
/// item taken, is compared with each source that is still missing. With an array of sources, the first wait of an
/// exchange makes three small allocations.
///
/// # Errors
/// Returns [`ReceiveErrorKind::Closed`](crate::ReceiveErrorKind::Closed) if the port is closed and lacks an item of a
/// source. Returns [`ReceiveErrorKind::Predicate`](crate::ReceiveErrorKind::Predicate) if a comparison panics.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, exchange};
/// let port = Port::new();
/// port.post(("left", 1)).unwrap();
/// port.post(("left", 2)).unwrap(); // the left neighbour is a stage ahead
/// port.post(("right", 10)).unwrap();
/// let mut neighbours = exchange(&port, ["left", "right"]);
/// assert_eq!(block_on(&mut neighbours), Ok([1, 10]));
/// port.post(("right", 20)).unwrap();
/// assert_eq!(block_on(&mut neighbours), Ok([2, 20]));
/// ```
pub fn exchange<T, L: Sources>(
    port: &Port<(L::Source, T)>,
    sources: L,
) -> Exchange<'_, (L::Source, T), L, BySource<L::Source>> {
    Exchange::new(port, sources, BySource(PhantomData))
}

/// Does the same as [`exchange`] for items that name their source themselves. This exchange returns whole items: first
/// the item whose `key` is the first source, then the item of the second source, and so on.
///
/// `key` runs under the port's lock: it must be quick and must not use ports.
///
/// # Errors
/// Fails as [`exchange`] does.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, exchange_by};
/// let port = Port::new();
/// ["beta 1", "beta 2", "alpha 1"].into_iter().for_each(|line| port.post(line).unwrap());
/// let first = |line: &&str| line.chars().next();
/// assert_eq!(block_on(exchange_by(&port, vec![Some('a'), Some('b')], first)), Ok(vec!["alpha 1", "beta 1"]));
/// assert_eq!(port.try_receive(), Some("beta 2"));
/// ```
pub fn exchange_by<T, L: Sources, K>(port: &Port<T>, sources: L, key: K) -> Exchange<'_, T, L, ByKey<K, L::Source>>
where
    K: Fn(&T) -> L::Source + Clone + Send + Unpin + 'static,
{
    Exchange::new(port, sources, ByKey(key, PhantomData))
}

/// The future of [`exchange`] and [`exchange_by`].
///
/// # Example
/// See [`exchange`].
#[must_use = "an exchange does nothing unless awaited"]
pub struct Exchange<'a, T, L: Sources, R: Rule<T, Source = L::Source>> {
    port: &'a Port<T>,
    sources: L,
    rule: R,
    ticket: Option<Ticket>,
    /// The counting filter that the exchange leaves at the port while it waits, kept from one stage to the next.
    sorter: Option<Box<CountingFilter<T>>>,
}

impl<T, L: Sources, R: Rule<T, Source = L::Source>> fmt::Debug for Exchange<'_, T, L, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources = self.sources.sources().len();
        formatter.debug_struct("Exchange").field("port", self.port).field("sources", &sources).finish_non_exhaustive()
    }
}

/// For each source, the position of its oldest item, if the port holds one.
type Places<L> = <L as Sources>::Row<Option<usize>>;

impl<'a, T, L: Sources, R: Rule<T, Source = L::Source>> Exchange<'a, T, L, R> {
    fn new(port: &'a Port<T>, sources: L, rule: R) -> Self {
        Self { port, sources, rule, ticket: None, sorter: None }
    }

    /// Finds the oldest available item of each source; returns the number of sources without an item.
    ///
    /// # Errors
    /// Returns the panic's message if a comparison or `key` panics.
    fn find(&self, queue: &Queue<T>, places: &mut Places<L>) -> Result<usize, String> {
        let sources = self.sources.sources();
        let places = places.as_mut();
        // Unwind safety: the positions are not used after a panic.
        caught(|| {
            let mut missing = sources.len();
            for (place, item) in queue.available_items() {
                if missing == 0 {
                    break;
                }
                let found = self.rule.with_source(item, |source| {
                    (0..sources.len()).find(|&i| places[i].is_none() && sources[i] == *source)
                });
                if let Some(found) = found {
                    places[found] = Some(place);
                    missing -= 1;
                }
            }
            missing
        })
    }

    /// Removes the items that [`find`](Self::find) has found, and returns them in the order of the sources.
    fn take(&mut self, state: &mut State<T>, places: &mut Places<L>) -> L::Row<Option<T>> {
        state.waiters.takes(self.ticket);
        let places = places.as_mut();
        let mut items = self.sources.row(|_| None);
        // Removes the item at the last position first, so that the earlier positions stay valid.
        let mut sources = self.sources.row(|source| source);
        sources.as_mut().sort_unstable_by_key(|&source| std::cmp::Reverse(places[source]));
        for &mut source in sources.as_mut() {
            let place = places[source].expect("an item of every source was found under the same lock");
            items.as_mut()[source] = Some(state.queue.remove(place).into_item());
        }
        items
    }

    /// Returns the counting filter to leave at the port: the filter of the last stage, or a new one.
    fn new_sorter(&mut self) -> Box<CountingFilter<T>> {
        self.sorter.take().unwrap_or_else(|| {
            let (sources, rule) = (self.sources.clone(), self.rule.clone());
            let classify = move |item: &T| {
                rule.with_source(item, |source| sources.sources().iter().position(|named| named == source))
            };
            Box::new(CountingFilter::new(self.sources.sources().len(), Classify::Closure(Box::new(classify))))
        })
    }

    /// Registers at the port, or stays registered, and notes which sources are missing. A source that is named more
    /// than once counts under its first position.
    fn wait(
        &mut self,
        state: &mut State<T>,
        places: &mut Places<L>,
        yields: bool,
        context: &Context<'_>,
    ) -> Result<Late<T>, String> {
        let (named, places) = (self.sources.sources(), places.as_mut());
        let missing = |first: usize| {
            if named[..first].contains(&named[first]) {
                return 0;
            }
            (first..named.len()).filter(|&i| places[i].is_none() && named[i] == named[first]).count()
        };
        let mut lacking = caught(|| self.sources.row(missing))?;
        let sorter = if self.ticket.is_none() { Some(self.new_sorter()) } else { None };
        let want = || Want::Sort(sorter.expect("made above for one that is not registered"));
        let late = watch(state, &mut self.ticket, want, yields, context);
        let ticket = self.ticket.expect("just registered");
        if let Want::Sort(sorter) = state.waiters.want_mut(ticket) {
            sorter.lacks(lacking.as_mut().iter().copied());
        }
        Ok(late)
    }

    /// Ends the registration and keeps the counting filter, which the next stage reuses.
    fn leave(&mut self, state: &mut State<T>) -> Late<T> {
        let mut late = unwatch(state, &mut self.ticket);
        self.sorter = late.sorter().or(self.sorter.take());
        late
    }
}

impl<T, L: Sources, R: Rule<T, Source = L::Source>> Future for Exchange<'_, T, L, R> {
    type Output = Result<L::Row<R::Value>, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.ticket.is_none() && !may_go_on(context) {
            return Poll::Pending;
        }
        let port = this.port;
        let mut places: Places<L> = this.sources.row(|_| None);
        let mut state = port.core.state.lock();
        let found = match this.ticket.and_then(|ticket| state.waiters.failure(ticket)) {
            Some(message) => Err(message.to_owned()),
            _ => this.find(&state.queue, &mut places),
        };
        let mut yields = false;
        let attempt = match found {
            Err(message) => Err(message),
            Ok(0) if !state.waiters.must_yield(this.ticket) => {
                let mut items = this.take(&mut state, &mut places);
                let late = this.leave(&mut state);
                drop(state);
                drop(late);
                // Done only after the locks are released, because the parts of an item that are not kept are dropped
                // here.
                let kept = |source: usize| R::keep(items.as_mut()[source].take().expect("every source was found"));
                return Poll::Ready(Ok(this.sources.row(kept)));
            }
            Ok(missing) if missing > 0 && state.is_closed => {
                let late = this.leave(&mut state);
                drop(state);
                drop(late);
                return Poll::Ready(Err(port.closed()));
            }
            Ok(missing) => {
                yields = missing == 0;
                this.wait(&mut state, &mut places, yields, context)
            }
        };
        match attempt {
            Ok(late) => {
                drop(state);
                drop(late);
                if yields {
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }
            Err(message) => {
                let late = this.leave(&mut state);
                drop(state);
                drop(late);
                port.settle_predicates();
                Poll::Ready(Err(ReceiveErrorKind::Predicate { port: port.name(), message }.into()))
            }
        }
    }
}

impl<T, L: Sources, R: Rule<T, Source = L::Source>> Drop for Exchange<'_, T, L, R> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.port.leave(ticket);
        }
    }
}
