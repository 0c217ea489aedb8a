//! What a branch waits for, and how: `&port`, or a [`Source`] with a filter, a limit or a name.

use std::fmt;
use std::future::Future;

use super::branch::{Filter, Options, Single};
use super::core::Core;
use super::guard::Kind;
use crate::arbiter::sealed::Sealed;
use crate::port::Port;
use crate::sync::Arc;

/// What a branch of an interleave waits for, with its options. `&port` is the short form of `port.branch()`.
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
    /// A source of this port's items, one by one, for a branch of an interleave.
    ///
    /// # Example
    /// See [`Source`].
    pub fn branch(&self) -> Source<Items<T>> {
        Source { waits: Items { port: self.clone(), filter: None }, options: Options::default() }
    }
}

impl<W> Source<W> {
    /// Takes once what it waits for, then leaves: nothing of the branch stays behind.
    pub fn once(mut self) -> Self {
        self.options.is_once = true;
        self
    }

    /// Lets at most so many handlers of this branch run at once. Without it, a branch of the concurrent or of the independent
    /// group has no limit of its own. Exclusive handlers never overlap anyway.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn limit(mut self, count: usize) -> Self {
        assert!(count > 0, "a branch that may run no handler would never take anything");
        self.options.limit = Some(count);
        self
    }

    /// What messages call its operation, in place of the name of its port.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }
}

impl<T> Source<Items<T>> {
    /// Takes only items that `filter` accepts; the others are left to other receivers. A second filter narrows the first.
    ///
    /// The filter runs under the port's lock, once for each item: it must be quick and must not use ports. If it panics, the item
    /// is not taken.
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

/// What an interleave can wait for. Sealed.
pub trait Waits: Sealed + Send + 'static {
    /// What its handlers are given.
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

/// What may be given for a [`Source`]: one, or a port. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a branch of an interleave can wait for",
    note = "give `&port`, `port.branch()` with options, `Source::take(&port, n)` or `Source::join((&a, &b))`"
)]
pub trait IntoSource: Sealed {
    /// What it waits for.
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

/// The type of what a source gives.
pub type Item<I> = <<I as IntoSource>::Waits as Waits>::Item;
