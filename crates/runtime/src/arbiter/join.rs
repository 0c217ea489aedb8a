//! One or more items of each of several ports, atomically.
//!
//! A join holds nothing while it waits. When one of its ports has enough it is woken, locks all its ports in ascending
//! identity, and takes from all or from none. So of two joins that want the same items one always gets on, and two joins can
//! never each hold half.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Branch, Late, Locked, Ready, claim, probe, take, unwatch, watch};
use crate::dispatch::may_go_on;
use crate::error::ReceiveError;
use crate::port::waiters::Ticket;

/// The ports of a join: a tuple of two to eight [`Branch`]es, or any number of one type in a `Vec`. Sealed.
pub trait Branches: super::sealed::Sealed + Unpin {
    /// What the join gives: the outputs in the order of declaration.
    type Output;
    #[doc(hidden)]
    type Tickets: Unpin;

    #[doc(hidden)]
    fn tickets(&self) -> Self::Tickets;
    /// Identities and names, in the order of declaration.
    #[doc(hidden)]
    fn identities(&self) -> Vec<u64>;
    #[doc(hidden)]
    fn name(&self, branch: usize) -> String;
    #[doc(hidden)]
    fn poll(
        &self,
        order: &[usize],
        tickets: &mut Self::Tickets,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::Output, ReceiveError>>;
    #[doc(hidden)]
    fn leave(&self, tickets: &mut Self::Tickets);
}

/// See [`join`] and [`join_all`].
#[must_use = "a join does nothing unless awaited"]
pub struct Join<B: Branches> {
    branches: B,
    tickets: B::Tickets,
    /// Positions of the branches, by ascending identity of their ports: the order of locking.
    order: Vec<usize>,
    fault: Option<ReceiveError>,
}

impl<B: Branches> fmt::Debug for Join<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Join").field("branches", &self.order.len()).finish_non_exhaustive()
    }
}

/// Waits until every port holds what is asked of it and takes all of it at once, in the order in which the ports are given.
///
/// `&port` asks for one item and gives it; `(&port, n)` asks for `n` and gives a `Vec`. The types of the ports may differ.
/// Cancel-safe: until it is satisfied, everything stays in the ports, visible to others.
///
/// Single receives at the same ports go first; among joins and takes, whoever looks first wins.
///
/// # Errors
/// [`ReceiveError::SamePort`] at once if a port is named twice; [`ReceiveError::Closed`] if a port is closed and lacks items.
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
    let identities = branches.identities();
    let mut order: Vec<usize> = (0..identities.len()).collect();
    order.sort_unstable_by_key(|&branch| identities[branch]);
    let fault = order
        .windows(2)
        .find(|pair| identities[pair[0]] == identities[pair[1]])
        .map(|pair| ReceiveError::SamePort { port: branches.name(pair[0]) });
    Join { tickets: branches.tickets(), branches, order, fault }
}

/// The same as [`join`] for any number of ports of one type; for none, an empty `Vec` at once.
///
/// # Errors
/// Those of [`join`].
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, join_all};
/// let ports = [Port::new(), Port::new(), Port::new()];
/// (0..3).rev().for_each(|i| ports[i].post(i).unwrap());
/// assert_eq!(block_on(join_all(&ports)), Ok(vec![0, 1, 2]));
/// ```
pub fn join_all<B: Branch + Unpin>(branches: impl IntoIterator<Item = B>) -> Join<Vec<B>> {
    join(branches.into_iter().collect::<Vec<B>>())
}

impl<B: Branches> Future for Join<B> {
    type Output = Result<B::Output, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(fault) = &this.fault {
            return Poll::Ready(Err(fault.clone()));
        }
        if !may_go_on(context) {
            return Poll::Pending;
        }
        this.branches.poll(&this.order, &mut this.tickets, context)
    }
}

impl<B: Branches> Drop for Join<B> {
    fn drop(&mut self) {
        self.branches.leave(&mut self.tickets);
    }
}

/// What a look at all ports led to.
enum Outcome<T> {
    Taken(T),
    Closed(usize),
    Waiting,
}

impl<T> Outcome<T> {
    fn into_poll(self, closed: impl FnOnce(usize) -> ReceiveError) -> Poll<Result<T, ReceiveError>> {
        match self {
            Self::Taken(output) => Poll::Ready(Ok(output)),
            Self::Closed(branch) => Poll::Ready(Err(closed(branch))),
            Self::Waiting => Poll::Pending,
        }
    }
}

impl<B: Branch> super::sealed::Sealed for Vec<B> {}

impl<B: Branch + Unpin> Branches for Vec<B> {
    type Output = Vec<B::Output>;
    type Tickets = Vec<Option<Ticket>>;

    fn tickets(&self) -> Self::Tickets {
        vec![None; self.len()]
    }

    fn identities(&self) -> Vec<u64> {
        self.iter().map(|branch| branch.port().core.identity).collect()
    }

    fn name(&self, branch: usize) -> String {
        self[branch].port().name()
    }

    fn poll(
        &self,
        order: &[usize],
        tickets: &mut Self::Tickets,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self::Output, ReceiveError>> {
        // Declared before the guards, hence dropped after them.
        let mut late: Vec<Late<B::Item>> = Vec::new();
        let mut guards: Vec<Option<Locked<'_, B::Item>>> = self.iter().map(|_| None).collect();
        for &branch in order {
            guards[branch] = Some(self[branch].port().core.state.lock());
        }
        let mut guards: Vec<Locked<'_, B::Item>> = guards.into_iter().flatten().collect();
        let ready: Vec<Ready> = self.iter().zip(&guards).map(|(branch, state)| probe(branch, state)).collect();
        let outcome = if let Some(claim) = claim(ready.iter().copied()) {
            let outputs = self.iter().zip(&mut guards).map(|(branch, state)| take(branch, state, &claim)).collect();
            Outcome::Taken(outputs)
        } else if let Some(branch) = ready.iter().position(|ready| *ready == Ready::Never) {
            Outcome::Closed(branch)
        } else {
            Outcome::Waiting
        };
        for ((branch, state), ticket) in self.iter().zip(&mut guards).zip(tickets.iter_mut()) {
            late.push(match outcome {
                Outcome::Waiting => watch(branch, state, ticket, context),
                Outcome::Taken(_) | Outcome::Closed(_) => unwatch(state, ticket),
            });
        }
        drop(guards);
        drop(late);
        outcome.into_poll(|branch| self[branch].port().closed())
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

        impl<$($branch: Branch + Unpin),+> Branches for ($($branch,)+) {
            type Output = ($($branch::Output,)+);
            type Tickets = [Option<Ticket>; $count];

            fn tickets(&self) -> Self::Tickets {
                [None; $count]
            }

            fn identities(&self) -> Vec<u64> {
                vec![$(self.$index.port().core.identity),+]
            }

            fn name(&self, branch: usize) -> String {
                match branch {
                    $($index => self.$index.port().name(),)+
                    _ => unreachable!("a join has no branch {branch}"),
                }
            }

            fn poll(
                &self,
                order: &[usize],
                tickets: &mut Self::Tickets,
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
                let ready = [$(probe(&self.$index, &$guard)),+];
                let outcome = if let Some(claim) = claim(ready) {
                    Outcome::Taken(($(take(&self.$index, &mut $guard, &claim),)+))
                } else if let Some(branch) = ready.iter().position(|ready| *ready == Ready::Never) {
                    Outcome::Closed(branch)
                } else {
                    Outcome::Waiting
                };
                // What may run user code when dropped is kept until all locks are free.
                $(let $late = match outcome {
                    Outcome::Waiting => watch(&self.$index, &mut $guard, &mut tickets[$index], context),
                    Outcome::Taken(_) | Outcome::Closed(_) => unwatch(&mut $guard, &mut tickets[$index]),
                };)+
                $(drop($guard);)+
                $(drop($late);)+
                outcome.into_poll(|branch| match branch {
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
