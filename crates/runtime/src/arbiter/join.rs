//! Takes one or more items from each of several ports, atomically.
//!
//! A join holds nothing while it waits. When one of its ports has enough, the join is woken, locks all its ports in
//! ascending identity, and takes from all or from none. So if two joins want the same items, one of them always
//! proceeds: two joins can never each hold half.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use lehr_sync::Arc;

use super::{Branch, Late, Locked, Ready, Verdict, judge, probe, take, unwatch, watch};
use crate::context::{self, WithContext, turn};
use crate::dispatch::{Handle, may_go_on};
use crate::error::{ReceiveError, ReceiveErrorKind};
use crate::port::State;
use crate::port::persistent::{Receiver, Turns};
use crate::port::waiters::{Ticket, Want};

/// The ports of a join: a tuple of two to eight [`Branch`]es, or a `Vec` of any number of branches of one type. Sealed.
///
/// # Example
/// See [`join`].
pub trait Branches: super::sealed::Sealed + Unpin {
    /// The result of the join: the outputs in the order of declaration.
    type Output;
    /// The join's branches with their own ports instead of borrowed ports, for a task.
    #[doc(hidden)]
    type Owned: Branches<Output = Self::Output, Owned = Self::Owned>;
    #[doc(hidden)]
    type Tickets: Unpin;
    /// The positions of the branches in the order of locking: by ascending identity of their ports.
    #[doc(hidden)]
    type Order: AsRef<[usize]> + Unpin;

    #[doc(hidden)]
    fn owned(&self) -> Self::Owned;
    #[doc(hidden)]
    fn tickets(&self) -> Self::Tickets;
    #[doc(hidden)]
    fn order(&self) -> Self::Order;
    #[doc(hidden)]
    fn identity(&self, branch: usize) -> u64;
    #[doc(hidden)]
    fn name(&self, branch: usize) -> String;
    #[doc(hidden)]
    fn close(&self, branch: usize);
    #[doc(hidden)]
    fn refuse_left(&self, branch: usize);
    /// Looks at all ports, and takes the items if every port has enough and `may_take` allows it. `may_take` is called
    /// last, under the locks of all ports.
    #[doc(hidden)]
    fn poll(
        &self,
        order: &Self::Order,
        tickets: &mut Self::Tickets,
        may_take: &mut dyn FnMut() -> bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::Output, ReceiveError>>;
    #[doc(hidden)]
    fn leave(&self, tickets: &mut Self::Tickets);
}

/// The future of [`join`] and [`join_all`].
///
/// # Example
/// See [`join`].
#[must_use = "a join does nothing unless awaited"]
pub struct Join<B: Branches> {
    branches: B,
    tickets: B::Tickets,
    order: B::Order,
    /// A branch whose port another branch names too; `None` if all ports are different.
    twin: Option<usize>,
}

impl<B: Branches> fmt::Debug for Join<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Join").field("branches", &self.order.as_ref().len()).finish_non_exhaustive()
    }
}

/// Waits until every port holds the required items, and takes all of them at once, in the order of the ports.
///
/// `&port` asks for one item and gives it; `(&port, n)` asks for `n` and gives a `Vec`. The types of the ports may
/// differ. Cancel-safe: until the join is satisfied, all items stay in the ports, visible to other receivers.
///
/// Single receives at the same ports go first; among joins and takes, the first to look wins, but only up to a limit. A
/// join that has been woken and has not looked yet is passed over at most 32 times at each port. After 32 times, the
/// next waiter that would overtake this join yields, and its dispatcher runs the waiting joins first.
///
/// Cost: one lock for each port; no allocation for a tuple of ports.
///
/// # Errors
/// Returns [`ReceiveErrorKind::SamePort`](crate::ReceiveErrorKind::SamePort) at once if a port is named twice. Returns
/// [`ReceiveErrorKind::Closed`](crate::ReceiveErrorKind::Closed) if a port is closed and lacks items.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, join};
/// let (numbers, names) = (Port::new(), Port::new());
/// numbers.post(1).unwrap();
/// numbers.post(2).unwrap();
/// names.post("both").unwrap();
/// assert_eq!(block_on(join(((&numbers, 2), &names))), Ok((vec![1, 2], "both")));
/// ```
pub fn join<B: Branches>(branches: B) -> Join<B> {
    let order = branches.order();
    let twin = order.as_ref().windows(2).find(|pair| branches.identity(pair[0]) == branches.identity(pair[1]));
    let twin = twin.map(|pair| pair[0]);
    Join { tickets: branches.tickets(), branches, order, twin }
}

/// Does the same as [`join`] for any number of ports of one type; without ports, it gives an empty `Vec` at once.
///
/// # Errors
/// Fails as [`join`] does.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, join_all};
/// let ports = [Port::new(), Port::new(), Port::new()];
/// (0..3).rev().for_each(|i| ports[i].post(i).unwrap());
/// assert_eq!(block_on(join_all(&ports)), Ok(vec![0, 1, 2]));
/// ```
pub fn join_all<B: Branch>(branches: impl IntoIterator<Item = B>) -> Join<Vec<B>> {
    join(branches.into_iter().collect::<Vec<B>>())
}

impl<B: Branches> Join<B> {
    /// Also returns the [`Context`](crate::Context) of the items. If the items have several contexts, returns a new
    /// unnamed context. Its parent is the first context, and the other contexts are [linked](crate::Context::links). So
    /// an error in the returned context reaches the sink of each context, once.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Context, Port, block_on, join};
    /// let port = Port::new();
    /// let other = Port::new();
    /// Context::named("0").build().run(|| port.post(0)).unwrap();
    /// Context::named("1").build().run(|| other.post(1)).unwrap();
    /// let (items, context) = block_on(join((&port, &other)).with_context()).unwrap();
    /// assert_eq!((items, context.unwrap().links()[0].name()), ((0, 1), Some("1")));
    /// ```
    #[track_caller]
    pub fn with_context(self) -> WithContext<Self> {
        WithContext::new(self)
    }

    /// Registers a handler for every set of items that satisfies the join, beginning with the items already in the
    /// ports.
    ///
    /// This method does for several ports what [`Port::on`](crate::Port::on) does for one port. At most `concurrency`
    /// turns of the handler run at the same time, on the workers of `dispatcher`; with 1 they never overlap. Items for
    /// which no turn is free stay in their ports. Dropping the receiver ends the registration. The registration ends by
    /// itself when a port is closed and cannot satisfy the join.
    ///
    /// Cost: each set of items costs as much as a join; each turn needs a task, which is made once.
    ///
    /// # Errors
    /// Returns [`ReceiveErrorKind::SamePort`](crate::ReceiveErrorKind::SamePort) if a port is named twice.
    ///
    /// # Panics
    /// Panics if `concurrency` is 0.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, block_on, join};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let (names, ages, lines) = (Port::new(), Port::new(), Port::new());
    /// let out = lines.clone();
    /// let receiver = join((&names, &ages))
    ///     .on(dispatcher.handle(), 1, move |(name, age)| {
    ///         let out = out.clone();
    ///         async move { out.post(format!("{name}: {age}")).unwrap() }
    ///     })
    ///     .unwrap();
    /// names.post("Ada").unwrap();
    /// ages.post(36).unwrap();
    /// assert_eq!(block_on(lines.receive()).unwrap(), "Ada: 36");
    /// ages.close();
    /// assert!(block_on(receiver.ended()).is_ok());
    /// ```
    pub fn on<H, F>(&self, dispatcher: &Handle, concurrency: usize, handler: H) -> Result<Receiver, ReceiveError>
    where
        B::Owned: Send + Sync + 'static,
        <B::Owned as Branches>::Tickets: Send,
        <B::Owned as Branches>::Order: Send,
        B::Output: Send,
        H: Fn(B::Output) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send,
    {
        assert!(concurrency > 0, "a receiver that may run no handler would never receive");
        if let Some(twin) = self.twin {
            return Err(ReceiveErrorKind::SamePort { port: self.branches.name(twin) }.into());
        }
        let handler = Arc::new(handler);
        let turns = Turns::new(self.name(), concurrency);
        let tasks = (0..concurrency).map(|_| {
            let (branches, handler, turns) = (self.branches.owned(), handler.clone(), turns.clone());
            context::current::detached(|| {
                dispatcher.spawn(async move {
                    let mut join = join(branches);
                    while let Ok((items, context)) = WithContext::new(&mut join).await {
                        let turn = turn(context, || handler(items)).await;
                        turn.inspect_err(|message| turns.lose("a handler", message))?;
                    }
                    Ok(())
                })
            })
        });
        Ok(Receiver::of(tasks.collect()))
    }
}

impl<B: Branches> Join<B> {
    /// Returns the error of a join that names a port twice.
    pub(crate) fn fault(&self) -> Option<ReceiveError> {
        self.twin.map(|twin| ReceiveErrorKind::SamePort { port: self.branches.name(twin) }.into())
    }

    /// Returns the same branches with their own ports, for a task.
    pub(crate) fn owned(&self) -> B::Owned {
        self.branches.owned()
    }

    /// Polls the join, which takes only if `may_take` allows it. `may_take` is called when every port has enough. If
    /// `may_take` returns false, the join keeps waiting.
    pub(crate) fn poll_if(
        &mut self,
        may_take: &mut dyn FnMut() -> bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<B::Output, ReceiveError>> {
        self.branches.poll(&self.order, &mut self.tickets, may_take, context)
    }

    /// Returns whether the join includes the port with this identity.
    pub(crate) fn names(&self, port: u64) -> bool {
        self.order.as_ref().iter().any(|branch| self.branches.identity(*branch) == port)
    }

    /// Closes all ports of the join.
    pub(crate) fn close_ports(&self) {
        self.order.as_ref().iter().for_each(|branch| self.branches.close(*branch));
    }

    /// Refuses the items left in the ports of the join.
    pub(crate) fn refuse_left(&self) {
        self.order.as_ref().iter().for_each(|branch| self.branches.refuse_left(*branch));
    }

    /// Returns the name of the join in messages, made of the names of its ports.
    pub(crate) fn name(&self) -> String {
        let count = self.order.as_ref().len();
        (0..count).map(|branch| self.branches.name(branch)).collect::<Vec<_>>().join(" with ")
    }
}

impl<B: Branches> Future for Join<B> {
    type Output = Result<B::Output, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        context::current::settle();
        let this = &mut *self;
        if let Some(twin) = this.twin {
            return Poll::Ready(Err(ReceiveErrorKind::SamePort { port: this.branches.name(twin) }.into()));
        }
        if !may_go_on(context) {
            return Poll::Pending;
        }
        this.branches.poll(&this.order, &mut this.tickets, &mut || true, context)
    }
}

impl<B: Branches> Drop for Join<B> {
    fn drop(&mut self) {
        self.branches.leave(&mut self.tickets);
    }
}

/// Keeps or ends the registration of one branch, after all ports have been looked at.
fn stay_or_go<B: Branch>(
    verdict: &Verdict,
    ready: Ready,
    branch: &B,
    state: &mut State<B::Item>,
    ticket: &mut Option<Ticket>,
    context: &Context<'_>,
) -> Late<B::Item> {
    match verdict {
        Verdict::Take(_) | Verdict::Closed(_) => unwatch(state, ticket),
        Verdict::Yield | Verdict::Wait => {
            let yields = ready == Ready::Later && matches!(verdict, Verdict::Yield);
            watch(state, ticket, || Want::Watch(branch.needed()), yields, context)
        }
    }
}

/// Returns the output of a join's poll, once all locks are free.
fn outcome<T>(
    verdict: &Verdict,
    output: Option<T>,
    context: &Context<'_>,
    closed: impl FnOnce(usize) -> ReceiveError,
) -> Poll<Result<T, ReceiveError>> {
    match verdict {
        Verdict::Closed(branch) => Poll::Ready(Err(closed(*branch))),
        Verdict::Take(_) | Verdict::Yield | Verdict::Wait => {
            if matches!(verdict, Verdict::Yield) {
                context.waker().wake_by_ref();
            }
            output.map_or(Poll::Pending, |output| Poll::Ready(Ok(output)))
        }
    }
}

impl<B: Branch> super::sealed::Sealed for Vec<B> {}

impl<B: Branch> Branches for Vec<B> {
    type Output = Vec<B::Output>;
    type Owned = Vec<B::Owned>;
    type Tickets = Vec<Option<Ticket>>;
    type Order = Vec<usize>;

    fn owned(&self) -> Self::Owned {
        self.iter().map(Branch::owned).collect()
    }

    fn tickets(&self) -> Self::Tickets {
        vec![None; self.len()]
    }

    fn order(&self) -> Self::Order {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|&branch| self.identity(branch));
        order
    }

    fn identity(&self, branch: usize) -> u64 {
        self[branch].port().core.identity
    }

    fn name(&self, branch: usize) -> String {
        self[branch].port().name()
    }

    fn close(&self, branch: usize) {
        self[branch].port().close();
    }

    fn refuse_left(&self, branch: usize) {
        self[branch].port().refuse_left();
    }

    fn poll(
        &self,
        order: &Self::Order,
        tickets: &mut Self::Tickets,
        may_take: &mut dyn FnMut() -> bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::Output, ReceiveError>> {
        // Declared before the guards, so that these values are dropped after the locks are released.
        let mut late: Vec<Late<B::Item>> = Vec::with_capacity(self.len());
        let mut guards: Vec<Option<Locked<'_, B::Item>>> = self.iter().map(|_| None).collect();
        for &branch in order {
            guards[branch] = Some(self[branch].port().core.state.lock());
        }
        let mut guards: Vec<Locked<'_, B::Item>> = guards.into_iter().flatten().collect();
        let parts = self.iter().zip(&guards).zip(tickets.iter());
        let ready: Vec<Ready> = parts.map(|((branch, state), ticket)| probe(branch, state, *ticket)).collect();
        let verdict = judge(&ready).if_allowed(may_take);
        let parts = self.iter().zip(&mut guards);
        let output = match &verdict {
            Verdict::Take(claim) => {
                let parts = parts.zip(tickets.iter());
                Some(parts.map(|((branch, state), ticket)| take(branch, state, *ticket, claim)).collect())
            }
            Verdict::Closed(_) | Verdict::Yield | Verdict::Wait => None,
        };
        for (((branch, state), ticket), ready) in self.iter().zip(&mut guards).zip(tickets.iter_mut()).zip(&ready) {
            late.push(stay_or_go(&verdict, *ready, branch, state, ticket, context));
        }
        drop(guards);
        drop(late);
        outcome(&verdict, output, context, |branch| self[branch].port().closed())
    }

    fn leave(&self, tickets: &mut Self::Tickets) {
        for (branch, ticket) in self.iter().zip(tickets.iter_mut()) {
            if let Some(ticket) = ticket.take() {
                branch.port().leave(ticket);
            }
        }
    }
}

macro_rules! branches {
    ($count:literal: $($branch:ident $guard:ident $late:ident $index:tt),+) => {
        impl<$($branch: Branch),+> super::sealed::Sealed for ($($branch,)+) {}

        impl<$($branch: Branch),+> Branches for ($($branch,)+) {
            type Output = ($($branch::Output,)+);
            type Owned = ($($branch::Owned,)+);
            type Tickets = [Option<Ticket>; $count];
            type Order = [usize; $count];

            fn owned(&self) -> Self::Owned {
                ($(self.$index.owned(),)+)
            }

            fn tickets(&self) -> Self::Tickets {
                [None; $count]
            }

            fn order(&self) -> Self::Order {
                let identities = [$(self.$index.port().core.identity),+];
                let mut order = [$($index),+];
                order.sort_unstable_by_key(|&branch: &usize| identities[branch]);
                order
            }

            fn identity(&self, branch: usize) -> u64 {
                match branch {
                    $($index => self.$index.port().core.identity,)+
                    _ => unreachable!("a join has no branch {branch}"),
                }
            }

            fn name(&self, branch: usize) -> String {
                match branch {
                    $($index => self.$index.port().name(),)+
                    _ => unreachable!("a join has no branch {branch}"),
                }
            }

            fn close(&self, branch: usize) {
                match branch {
                    $($index => self.$index.port().close(),)+
                    _ => unreachable!("a join has no branch {branch}"),
                }
            }

            fn refuse_left(&self, branch: usize) {
                match branch {
                    $($index => self.$index.port().refuse_left(),)+
                    _ => unreachable!("a join has no branch {branch}"),
                }
            }

            fn poll(
                &self,
                order: &Self::Order,
                tickets: &mut Self::Tickets,
                may_take: &mut dyn FnMut() -> bool,
                context: &mut Context<'_>,
            ) -> Poll<Result<Self::Output, ReceiveError>> {
                $(let mut $guard: Option<Locked<'_, $branch::Item>> = None;)+
                for &branch in order {
                    match branch {
                        $($index => $guard = Some(self.$index.port().core.state.lock()),)+
                        _ => unreachable!("a join has no branch {branch}"),
                    }
                }
                $(let mut $guard = $guard.expect("every branch stands in the order of locking once");)+
                let ready = [$(probe(&self.$index, &$guard, tickets[$index])),+];
                let verdict = judge(&ready).if_allowed(may_take);
                let output = match &verdict {
                    Verdict::Take(claim) => {
                        Some(($(take(&self.$index, &mut $guard, tickets[$index], claim),)+))
                    }
                    Verdict::Closed(_) | Verdict::Yield | Verdict::Wait => None,
                };
                // Values that may run user code when dropped are kept until all locks are released.
                $(let $late = {
                    let ticket = &mut tickets[$index];
                    stay_or_go(&verdict, ready[$index], &self.$index, &mut $guard, ticket, context)
                };)+
                $(drop($guard);)+
                $(drop($late);)+
                outcome(&verdict, output, context, |branch| match branch {
                    $($index => self.$index.port().closed(),)+
                    _ => unreachable!("a join has no branch {branch}"),
                })
            }

            fn leave(&self, tickets: &mut Self::Tickets) {
                $(if let Some(ticket) = tickets[$index].take() {
                    self.$index.port().leave(ticket);
                })+
            }
        }
    };
}

branches!(2: A a la 0, B b lb 1);
branches!(3: A a la 0, B b lb 1, C c lc 2);
branches!(4: A a la 0, B b lb 1, C c lc 2, D d ld 3);
branches!(5: A a la 0, B b lb 1, C c lc 2, D d ld 3, E e le 4);
branches!(6: A a la 0, B b lb 1, C c lc 2, D d ld 3, E e le 4, F f lf 5);
branches!(7: A a la 0, B b lb 1, C c lc 2, D d ld 3, E e le 4, F f lf 5, G g lg 6);
branches!(8: A a la 0, B b lb 1, C c lc 2, D d ld 3, E e le 4, F f lf 5, G g lg 6, H h lh 7);
