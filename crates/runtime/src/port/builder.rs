//! Builds a port whose settings differ from the defaults: [`Port::builder`].

use std::fmt;
use std::num::NonZeroUsize;

use lehr_sync::Arc;

use super::Port;
use super::options::{Arrivals, DiscardedItem, Limit, Options, Overflow, Sink};

/// Settings for a port that is still to be created.
///
/// # Example
/// ```
/// use lehr_runtime::{Overflow, Port};
/// let port = Port::<u8>::builder().name("frames").capacity(30, Overflow::DropOldest).measure_age().fair().build();
/// assert_eq!((port.name().as_str(), port.capacity()), ("port \"frames\"", Some(30)));
/// ```
#[must_use = "no port is made before `build`"]
pub struct PortBuilder<T> {
    name: Option<Box<str>>,
    limit: Option<Limit>,
    sink: Option<Sink<T>>,
    is_fair: bool,
    measures_age: bool,
}

impl<T> fmt::Debug for PortBuilder<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PortBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<T> Default for PortBuilder<T> {
    fn default() -> Self {
        Self { name: None, limit: None, sink: None, is_fair: false, measures_age: false }
    }
}

impl<T> PortBuilder<T> {
    /// Sets the port's name in messages.
    ///
    /// # Example
    /// See [`PortBuilder`].
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into().into_boxed_str());
        self
    }

    /// Sets the number of places for items and permits, and the policy for posts when all places are taken. Default: no
    /// limit.
    ///
    /// # Panics
    /// Panics if `capacity` is 0, because nothing could ever be posted.
    ///
    /// # Example
    /// See [`Overflow`].
    pub fn capacity(mut self, capacity: usize, overflow: Overflow) -> Self {
        let capacity = NonZeroUsize::new(capacity).expect("a port without a place would never take an item");
        self.limit = Some(Limit { capacity, overflow });
        self
    }

    /// Makes several persistent receivers of the port take turns. An item goes to the receiver that has waited longest
    /// since its last item, not to the receiver that was registered first. Single receives take turns anyway, because
    /// each of them registers again.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (port, seen) = (Port::builder().fair().build(), Port::new());
    /// let receivers = ["left", "right"].map(|name| {
    ///     let out = seen.clone();
    ///     port.on(dispatcher.handle(), 1, move |item: u8| {
    ///         out.post((name, item)).unwrap();
    ///         std::future::ready(())
    ///     })
    /// });
    /// (0..2).for_each(|item| port.post(item).unwrap());
    /// assert_eq!(block_on(seen.take(2)).unwrap().len(), 2);
    /// # drop(receivers);
    /// ```
    pub fn fair(mut self) -> Self {
        self.is_fair = true;
        self
    }

    /// Records when items arrive, for [`Gauges::age_of_oldest`](super::gauges::Gauges::age_of_oldest).
    ///
    /// Cost: for each item, a clock read and 16 to 32 bytes.
    ///
    /// # Example
    /// See [`Gauges`](super::gauges::Gauges).
    pub fn measure_age(mut self) -> Self {
        self.measures_age = true;
        self
    }

    /// Sets the sink that gets each item that the port gives up. The sink runs on the thread whose call makes the port
    /// give up the item, such as a post or dropping the port. No lock is held while the sink runs. If the sink panics,
    /// the call that makes the port give up the item panics too, but still takes effect. Default: no sink; the items
    /// are only counted.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Discard, DiscardedItem, Overflow, Port};
    /// let lost = Port::new();
    /// let out = lost.clone();
    /// let port = Port::builder()
    ///     .capacity(1, Overflow::DropNewest)
    ///     .on_discard(move |DiscardedItem { item, reason }| out.post((item, reason)).unwrap())
    ///     .build();
    /// port.post(1).unwrap();
    /// port.post(2).unwrap();
    /// assert_eq!(lost.try_receive(), Some((2, Discard::Newest)));
    /// ```
    pub fn on_discard(mut self, sink: impl Fn(DiscardedItem<T>) + Send + Sync + 'static) -> Self {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// Posts each item that the port gives up to `sink`, as long as `sink` accepts items.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Overflow, Port};
    /// let lost = Port::new();
    /// let port = Port::builder().capacity(1, Overflow::DropOldest).discard_to(&lost).build();
    /// (1..=2).for_each(|i| port.post(i).unwrap());
    /// assert_eq!(lost.try_receive().map(|lost| lost.item), Some(1));
    /// ```
    pub fn discard_to(self, sink: &Port<DiscardedItem<T>>) -> Self
    where
        T: Send + 'static,
    {
        let sink = sink.clone();
        self.on_discard(move |discarded| {
            // If the sink is closed or full, the item is dropped; the port has counted it.
            let _ = sink.post(discarded);
        })
    }

    /// Creates an open, empty port with the settings of this builder.
    ///
    /// # Example
    /// See [`PortBuilder`].
    pub fn build(self) -> Port<T> {
        let Self { name, limit, sink, is_fair, measures_age } = self;
        let is_plain = limit.is_none() && sink.is_none() && !is_fair && !measures_age;
        let options = (!is_plain).then(|| {
            let mut options = Box::new(Options::default());
            (options.limit, options.sink, options.is_fair) = (limit, sink, is_fair);
            options.arrivals = measures_age.then(Arrivals::default);
            options
        });
        Port::with(name, options)
    }
}

impl<T> Port<T> {
    /// Creates an open, empty port with a capacity.
    ///
    /// # Panics
    /// Panics if `capacity` is 0.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Overflow, Port, Reason};
    /// let port = Port::bounded(1, Overflow::Reject);
    /// port.post("first").unwrap();
    /// let refused = port.post("second").unwrap_err();
    /// assert_eq!((refused.item, refused.reason), ("second", Reason::Full));
    /// ```
    pub fn bounded(capacity: usize, overflow: Overflow) -> Self {
        Self::builder().capacity(capacity, overflow).build()
    }

    /// Returns a builder for a port's settings: name, capacity, the sink for discarded items, turns among receivers,
    /// age of items.
    ///
    /// # Example
    /// See [`PortBuilder`].
    pub fn builder() -> PortBuilder<T> {
        PortBuilder::default()
    }
}
