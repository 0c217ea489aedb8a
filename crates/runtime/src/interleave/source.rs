//! The source of a branch's items: `&port`, or a [`Source`] with a filter, a limit or a name.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use lehr_sync::Arc;

use super::branch::{Filter, Options, Single};
use super::core::Core;
use super::guard::Kind;
use super::multi_port::MultiPortBranch;
use crate::arbiter::join::{Branches, join};
use crate::arbiter::sealed::Sealed;
use crate::error::ReceiveError;
use crate::port::Port;

/// The ports at which a branch of an interleave waits, with the branch's options. `&port` is short for `port.branch()`.
///
/// # Example
/// ```
/// use lehr_runtime::{Exclusive, Handlers, Port};
/// let updates = Port::<(u32, i64)>::named("update");
/// let handlers = Handlers::new()
///     .exclusive(updates.branch().when(|(key, _)| *key > 0).named("update of a real key"), |mut state: Exclusive<i64>, (_, value)| {
///         *state += value;
///         async {}
///     })
///     .exclusive(updates.branch().once(), |_: Exclusive<i64>, _| async { /* the first update of key 0 */ });
/// # drop(handlers);
/// ```
#[must_use = "a source does nothing until it is given to an interleave with a handler"]
pub struct Source<W> {
    pub(super) waits: W,
    pub(super) options: Options,
}

impl<W> fmt::Debug for Source<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Source").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A source of single items of a port.
///
/// # Example
/// See [`Port::branch`].
pub struct Items<T> {
    pub(super) port: Port<T>,
    pub(super) filter: Option<Filter<T>>,
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Items").field("port", &self.port).finish_non_exhaustive()
    }
}

impl<T> Port<T> {
    /// Returns a source of this port's items, one by one, for a branch of an interleave.
    ///
    /// # Example
    /// See [`Source`].
    pub fn branch(&self) -> Source<Items<T>> {
        Source { waits: Items { port: self.clone(), filter: None }, options: Options::default() }
    }
}

impl<W> Source<W> {
    /// Makes the branch take its items once and then leave the interleave.
    ///
    /// # Example
    /// See [`Source`].
    pub fn once(mut self) -> Self {
        self.options.is_once = true;
        self
    }

    /// Lets at most `count` handlers of this branch run at once. Without this limit, a concurrent or independent branch
    /// that receives has no limit of its own. A branch that takes or joins handles one item at a time. Exclusive
    /// handlers never overlap anyway.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    ///
    /// # Example
    /// See [`Source`].
    pub fn limit(mut self, count: usize) -> Self {
        assert!(count > 0, "a branch that may run no handler would never take anything");
        self.options.limit = Some(count);
        self
    }

    /// Sets the name of the branch's operation in messages; it replaces the name of the port.
    ///
    /// # Example
    /// See [`Source`].
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }
}

impl<T> Source<Items<T>> {
    /// Makes the branch take only items that `filter` accepts; other items are left to other receivers. With a second
    /// filter, both filters must accept an item.
    ///
    /// The filter runs under the port's lock, once for each item: the filter must be quick and must not use ports. If
    /// the filter panics, the item is not taken.
    ///
    /// # Example
    /// See [`Source`].
    pub fn when(mut self, filter: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self
    where
        T: 'static,
    {
        self.waits.filter = Some(match self.waits.filter.take() {
            None => Box::new(filter),
            Some(first) => Box::new(move |item| first(item) && filter(item)),
        });
        self
    }
}

/// A source of several items of one port, which the handler gets together.
///
/// # Example
/// See [`Source::take`].
pub struct Several<T> {
    port: Port<T>,
    count: usize,
    made_at: &'static Location<'static>,
}

impl<T> fmt::Debug for Several<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Several").field("port", &self.port).field("count", &self.count).finish()
    }
}

/// A source of items of several ports, which the handler gets together.
///
/// # Example
/// See [`Source::join`].
pub struct Both<B> {
    branches: B,
    made_at: &'static Location<'static>,
}

impl<B> fmt::Debug for Both<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Both").finish_non_exhaustive()
    }
}

impl<T> Source<Several<T>> {
    /// Takes `count` items of a port together, as [`Port::take`] does.
    ///
    /// The branch asks to start when the port has enough items, and takes the items when it may run. Until the branch
    /// may run, any receiver may take these items. Handlers of such a branch do not overlap, unless
    /// [`limit`](Source::limit) allows several.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Source, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (numbers, sums) = (Port::new(), Port::new());
    /// let out = sums.clone();
    /// let handlers = Handlers::new().exclusive(Source::take(&numbers, 3), move |mut total: Exclusive<u32>, three: Vec<u32>| {
    ///     *total += three.iter().sum::<u32>();
    ///     out.post(*total).unwrap();
    ///     async {}
    /// });
    /// let _interleave = Interleave::start(dispatcher.handle(), 0, handlers);
    /// (1..=4).for_each(|n| numbers.post(n).unwrap());
    /// assert_eq!(block_on(sums.receive()), Ok(6));
    /// assert_eq!(numbers.len(), 1);
    /// ```
    #[track_caller]
    pub fn take(port: &Port<T>, count: usize) -> Self {
        let waits = Several { port: port.clone(), count, made_at: Location::caller() };
        Self { waits, options: Options::default() }
    }
}

impl<B: Branches<Owned = B>> Source<Both<B>> {
    /// Takes items from several ports together, as [`join`](crate::join()) does. In all other respects, this source
    /// works as [`take`](Source::take) does.
    ///
    /// # Errors
    /// Returns [`ReceiveErrorKind::SamePort`](crate::ReceiveErrorKind::SamePort) if a port is named twice.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Handlers, Interleave, Port, Snapshot, Source, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (names, ages, lines) = (Port::new(), Port::new(), Port::new());
    /// let out = lines.clone();
    /// let both = Source::join((&names, &ages)).unwrap();
    /// let handlers = Handlers::new().concurrent(both.once(), move |greeting: Snapshot<&'static str>, (name, age): (&str, u32)| {
    ///     out.post(format!("{} {name} of {age}", *greeting)).unwrap();
    ///     async {}
    /// });
    /// let _interleave = Interleave::start(dispatcher.handle(), "Good day,", handlers);
    /// names.post("Ada").unwrap();
    /// ages.post(36).unwrap();
    /// assert_eq!(block_on(lines.receive()).unwrap(), "Good day, Ada of 36");
    /// ```
    #[track_caller]
    pub fn join<P: Branches<Owned = B>>(ports: P) -> Result<Self, ReceiveError> {
        let (join, made_at) = (join(ports), Location::caller());
        match join.fault() {
            Some(fault) => Err(fault),
            None => Ok(Self { waits: Both { branches: join.owned(), made_at }, options: Options::default() }),
        }
    }
}

/// A source of items that an interleave can wait for. This trait is sealed.
pub trait Waits: Sealed + Send + 'static {
    /// The item that the handlers get.
    type Item: Send + 'static;
    #[doc(hidden)]
    fn install<S, K, H, F>(source: Source<Self>, core: &Arc<Core<S>>, handler: H)
    where
        Self: Sized,
        S: Send + Sync + 'static,
        K: Kind<S>,
        H: Fn(K::Guard, Self::Item) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static;
}

impl<T> Sealed for Items<T> {}

impl<T: Send + 'static> Waits for Items<T> {
    type Item = T;

    fn install<S, K, H, F>(source: Source<Self>, core: &Arc<Core<S>>, handler: H)
    where
        S: Send + Sync + 'static,
        K: Kind<S>,
        H: Fn(K::Guard, T) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let Source { waits: Items { port, filter }, options } = source;
        Single::<S, T, K, H>::install(core, port, filter, options, handler);
    }
}

impl<T> Sealed for Several<T> {}

impl<T: Send + 'static> Waits for Several<T> {
    type Item = Vec<T>;

    fn install<S, K, H, F>(source: Source<Self>, core: &Arc<Core<S>>, handler: H)
    where
        S: Send + Sync + 'static,
        K: Kind<S>,
        H: Fn(K::Guard, Vec<T>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let Source { waits: Several { port, count, made_at }, options } = source;
        // A join of one port.
        let handler = move |guard, mut items: Vec<Vec<T>>| handler(guard, items.pop().unwrap_or_default());
        MultiPortBranch::<S, Vec<(Port<T>, usize)>, K, _>::install(
            core,
            vec![(port, count)],
            made_at,
            options,
            handler,
        );
    }
}

impl<B> Sealed for Both<B> {}

impl<B> Waits for Both<B>
where
    B: Branches<Owned = B> + Send + Sync + 'static,
    B::Tickets: Send + Sync,
    B::Order: Send + Sync,
    B::Output: Send + 'static,
{
    type Item = B::Output;

    fn install<S, K, H, F>(source: Source<Self>, core: &Arc<Core<S>>, handler: H)
    where
        S: Send + Sync + 'static,
        K: Kind<S>,
        H: Fn(K::Guard, B::Output) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let Source { waits: Both { branches, made_at }, options } = source;
        MultiPortBranch::<S, B, K, H>::install(core, branches, made_at, options, handler);
    }
}

/// Types that convert to a [`Source`]: a source itself, or a port. This trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a branch of an interleave can wait for",
    note = "give `&port`, `port.branch()` with options, `Source::take(&port, n)` or `Source::join((&a, &b))`"
)]
pub trait IntoSource: Sealed {
    /// The kind of source, which determines the items that the handlers get.
    type Waits: Waits;
    #[doc(hidden)]
    fn into_source(self) -> Source<Self::Waits>;
}

impl<T: Send + 'static> IntoSource for &Port<T> {
    type Waits = Items<T>;

    fn into_source(self) -> Source<Items<T>> {
        self.branch()
    }
}

impl<W> Sealed for Source<W> {}

impl<W: Waits> IntoSource for Source<W> {
    type Waits = W;

    fn into_source(self) -> Self {
        self
    }
}

/// The type of the items of a source.
pub type Item<I> = <<I as IntoSource>::Waits as Waits>::Item;
